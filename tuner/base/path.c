#include "tuner/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

char *mt_path_join(const char *folder, const char *name)
{
    if (name[0] == '/' || folder[0] == '\0') return mt_strdup(name);
    mt_strbuf path = {0};
    mt_strbuf_add(&path, folder);
    if (folder[strlen(folder) - 1] != '/') mt_strbuf_add_char(&path, '/');
    mt_strbuf_add(&path, name);
    return mt_strbuf_take(&path);
}

char *mt_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return mt_strdup(".");
    return slash == path ? mt_strdup("/") : mt_strndup(path, (size_t)(slash - path));
}

char *mt_path_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? mt_strndup(name, (size_t)(dot - name)) : mt_strdup(name);
}

static char *join_and_free(char *folder, const char *name)
{
    char *path = folder ? mt_path_join(folder, name) : NULL;
    mt_free(folder);
    return path;
}

static char *home_folder(void)
{
    const char *home = secure_getenv("HOME");
    if (home && home[0] == '/') return mt_strdup(home);
    const struct passwd *user = getpwuid(getuid());
    return mt_strdup(user && user->pw_dir ? user->pw_dir : "/");
}

/* XDG: a relative value is to be ignored. */
static char *user_folder(const char *variable, const char *below_home)
{
    const char *base = secure_getenv(variable);
    if (base && base[0] == '/') return mt_path_join(base, "msda-tune");
    return join_and_free(home_folder(), below_home);
}

/* As libtunelookup does it, which asks no user database: programs must find what the tool wrote. */
bool mt_path_has_user_data(void)
{
    const char *base = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    return (base && base[0] == '/') || (home && home[0] == '/');
}

char *mt_path_user_data(void)
{
    return mt_path_has_user_data() ? user_folder("XDG_DATA_HOME", ".local/share/msda-tune") : NULL;
}

char *mt_path_user_cache(void)
{
    return user_folder("XDG_CACHE_HOME", ".cache/msda-tune");
}

/* The kernel marks the link when the file was replaced while running (an upgrade); the new file is at the name before the mark. */
static void drop_deleted_mark(char *path)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path), mark_length = sizeof mark - 1;
    if (length > mark_length && strcmp(path + length - mark_length, mark) == 0 && access(path, F_OK) != 0) path[length - mark_length] = '\0';
}

char *mt_path_self(void)
{
    char *path = NULL;
    for (size_t size = 256;; size *= 2) {
        char *grown = mt_realloc(path, size, 1);
        if (!grown) break;
        path = grown;
        ssize_t length = readlink("/proc/self/exe", path, size);
        if (length < 0) { /* no /proc: the name it was started by is the best there is */
            mt_free(path);
            return mt_strdup(program_invocation_name);
        }
        if ((size_t)length < size) {
            path[length] = '\0';
            drop_deleted_mark(path);
            return path;
        }
    }
    mt_free(path);
    return NULL;
}

#define SHIPPED "share/msda-tune-shipped"

char *mt_path_share(void)
{
    const char *override = secure_getenv("MSDA_TUNE_SHARE");
    if (override && override[0]) return mt_strdup(override);
    char *self = mt_path_self();
    char *folder = self ? mt_path_folder(self) : NULL;
    mt_free(self);
    if (!folder || folder[0] != '/') return join_and_free(folder, "../" SHIPPED); /* no /proc */
    char *prefix = mt_path_folder(folder); /* people read this path: without "bin/.." */
    mt_free(folder);
    return join_and_free(prefix, SHIPPED);
}

/* The path without links and "..", of as much of it as exists. */
static bool real_beginning(const char *path, char real[PATH_MAX])
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) return false;
    while (!realpath(part, real)) {
        char *slash = strrchr(part, '/');
        if (slash == part && !part[1]) return false;
        if (slash) slash[slash == part] = '\0';
        else if (strcmp(part, ".") != 0) strcpy(part, ".");
        else return false;
    }
    return true;
}

static bool lies_in(const char *real, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(real, folder, length) == 0 && (!real[length] || real[length] == '/');
}

/* A hard link has no place: whether it is one to a file that came with this tool. */
static bool is_shipped_file(const char *real)
{
    struct stat file, entry;
    bool is_one = false;
    if (stat(real, &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink < 2) return false;
    char *share = mt_path_share();
    DIR *folder = share ? opendir(share) : NULL;
    for (struct dirent *at; folder && !is_one && (at = readdir(folder));)
        is_one = fstatat(dirfd(folder), at->d_name, &entry, 0) == 0 && entry.st_dev == file.st_dev && entry.st_ino == file.st_ino;
    if (folder) closedir(folder);
    mt_free(share);
    return is_one;
}

static mt_status fail_shipped(const char *path, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_USAGE, "%s: came with msda-tune and is never written, since the next installation replaces it; expected a place of your own, or a copy there", path);
}

/* By the folder's name, so that another installation's files are as safe as one's own. */
mt_status mt_path_check_writable(const char *path, mt_error *err)
{
    char real[PATH_MAX];
    if (!real_beginning(path, real)) return MT_OK; /* whoever opens it says what is wrong */
    for (const char *at = real; (at = strchr(at, '/')); at++) {
        if (lies_in(at + 1, SHIPPED)) return fail_shipped(path, err);
    }
    return is_shipped_file(real) ? fail_shipped(path, err) : MT_OK;
}

char *mt_path_program(const char *name)
{
    const char *path = getenv("PATH");
    char *found = NULL;
    for (const char *at = path ? path : ""; *at && !found; at += strcspn(at, ":"), at += *at == ':') {
        char *folder = mt_strndup(at, strcspn(at, ":")), *candidate = folder && *folder == '/' ? mt_path_join(folder, name) : NULL;
        struct stat info;
        if (candidate && access(candidate, X_OK) == 0 && stat(candidate, &info) == 0 && S_ISREG(info.st_mode)) found = candidate;
        else mt_free(candidate);
        mt_free(folder);
    }
    return found;
}
