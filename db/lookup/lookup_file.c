/* Which files libtunelookup reads, and how it sees that they changed. */
#include "db/lookup/lookup.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 64 };

/* ---- stamps ---- */

static int64_t ns_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Salts of a -wal, which change whenever it begins anew. Its ctime tells less: SQLite sets the owner of a -wal as it opens one as root, and so our own opening would change it. */
static uint64_t salts_of(const char *wal)
{
    enum { SALTS_AT = 16 };
    uint64_t salts = 0;
    int fd = open(wal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return 0;
    if (pread(fd, &salts, sizeof salts, SALTS_AT) != sizeof salts) salts = 0;
    close(fd);
    return salts;
}

/* ctime and inode: a copy that keeps the time of its original (cp -p, rsync, tar) is another file all the same. */
mt_lookup_stamp mt_lookup_stamp_of(const char *path)
{
    mt_lookup_stamp stamp;
    struct stat info;
    char real[PATH_MAX], wal[PATH_MAX + 8];
    memset(&stamp, 0, sizeof stamp);
    stamp.bytes = stamp.mtime_ns = stamp.ctime_ns = stamp.wal_bytes = stamp.wal_mtime_ns = -1;
    if (!realpath(path, real)) return stamp; /* a -wal lies beside the file itself, not beside a link to it */
    snprintf(wal, sizeof wal, "%s-wal", real);
    if (stat(wal, &info) == 0 && info.st_size > 0) {
        stamp.wal_inode = info.st_ino;
        stamp.wal_bytes = info.st_size;
        stamp.wal_mtime_ns = ns_of(info.st_mtim);
        stamp.wal_salts = salts_of(wal);
    }
    if (stat(real, &info) != 0) return stamp;
    stamp.device = info.st_dev;
    stamp.inode = info.st_ino;
    stamp.bytes = info.st_size;
    stamp.mtime_ns = ns_of(info.st_mtim);
    stamp.ctime_ns = ns_of(info.st_ctim);
    return stamp;
}

bool mt_lookup_stamp_equal(const mt_lookup_stamp *a, const mt_lookup_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
           a->wal_inode == b->wal_inode && a->wal_bytes == b->wal_bytes && a->wal_mtime_ns == b->wal_mtime_ns && a->wal_salts == b->wal_salts;
}

/* ---- where ---- */

/* secure_getenv: a set-user-id program must not take its database from its caller. */
static bool user_path(char out[PATH_MAX])
{
    const char *file = secure_getenv("MSDA_TUNE_DB"), *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    int length = -1;
    if (file && *file) length = snprintf(out, PATH_MAX, "%s", file);
    else if (data && *data == '/') length = snprintf(out, PATH_MAX, "%s/msda-tune/tuning.sqlite", data);
    else if (home && *home == '/') length = snprintf(out, PATH_MAX, "%s/.local/share/msda-tune/tuning.sqlite", home);
    return length > 0 && length < PATH_MAX;
}

/* Cuts the last part off, which the slash begins. False where none is left before it. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = '\0';
    return true;
}

#define SHIPPED "/share/msda-tune-shipped"

static bool is_folder_below(const char *prefix, char out[PATH_MAX])
{
    char folder[PATH_MAX];
    struct stat info;
    int length = snprintf(folder, sizeof folder, "%s" SHIPPED, prefix);
    bool is_there = length > 0 && length < PATH_MAX && realpath(folder, out) && stat(out, &info) == 0 && S_ISDIR(info.st_mode);
    if (!is_there) memcpy(out, folder, sizeof folder); /* where it was looked for */
    return is_there;
}

/* <prefix>/share/msda-tune-shipped, found from where this library lies, PREFIX/lib/ or PREFIX/lib/<triplet>/, or the program that it is linked into, PREFIX/bin/. An installed tree may be moved. No folder
 * above is looked at: what lies there belongs to something else. False: *out is where it was looked for, or empty. */
static bool shipped_folder(char out[PATH_MAX])
{
    static const char here;
    Dl_info self;
    char program[PATH_MAX], place[PATH_MAX];
    bool is_named = dladdr(&here, &self) && self.dli_fname && strchr(self.dli_fname, '/'); /* not in a static program, and a program found by PATH has no folder in its name */
    if (!realpath("/proc/self/exe", program)) *program = '\0';
    *out = '\0';
    if (!realpath(is_named ? self.dli_fname : program, place)) return false;
    bool is_library = strcmp(place, program) != 0;
    if (!go_up(place)) return false; /* its folder */
    const char *slash = strrchr(place, '/');
    bool has_triplet = is_library && slash - place >= 4 && memcmp(slash - 4, "/lib", 4) == 0;
    if (!go_up(place)) *place = '\0'; /* /bin, /lib: below the root itself */
    if (is_folder_below(place, out)) return true;
    return has_triplet && go_up(place) && is_folder_below(place, out);
}

void mt_lookup_tell_shipped(const tunelookup_db *db, char *out, size_t size)
{
    char folder[PATH_MAX];
    bool is_there = shipped_folder(folder), has_one = false;
    for (size_t i = 0; i < db->file_count; i++) has_one = has_one || db->files[i].is_shipped;
    if (!db->is_default || !size) *out = '\0';
    else if (has_one) snprintf(out, size, " and the shipped files (%s)", folder);
    else snprintf(out, size, "; shipped files were looked for in %s, which %s", *folder ? folder : "share/msda-tune-shipped beside the library", is_there ? "has none" : "is not there");
}

static bool real_folder(const char *path, char real[PATH_MAX])
{
    char place[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? snprintf(place, sizeof place, "%.*s/", (int)(slash - path), path) : snprintf(place, sizeof place, ".");
    return length > 0 && length < PATH_MAX && realpath(place, real);
}

static bool has_folder(const char *path, const char *folder)
{
    char real[PATH_MAX];
    return real_folder(path, real) && strcmp(real, folder) == 0;
}

bool mt_lookup_lies_in_shipped(const char *path)
{
    char real[PATH_MAX];
    for (const char *at = real_folder(path, real) ? real : NULL; at && (at = strstr(at, SHIPPED)); at += strlen(SHIPPED))
        if (!at[strlen(SHIPPED)] || at[strlen(SHIPPED)] == '/') return true;
    return false;
}

/* The folder alone decides, whoever names the file: what lies there came with the library, or somebody who may write there put it there. The file lies there where both its name and what it leads to do: a link in the
 * folder to a user's file is the user's, and so is a user's link to a shipped file, since the user may change where it leads. */
static bool is_shipped(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    return shipped_folder(folder) && has_folder(path, folder) && realpath(path, real) && has_folder(real, folder);
}

static bool add_file(mt_lookup_file **files, size_t *count, const char *path, bool is_optional)
{
    mt_lookup_file *grown = mt_lookup_alloc((*count + 1) * sizeof *grown);
    char *copy = mt_lookup_alloc(strlen(path) + 1);
    if (!grown || !copy) {
        free(grown);
        free(copy);
        return false;
    }
    if (*count) memcpy(grown, *files, *count * sizeof *grown);
    grown[*count] = (mt_lookup_file){ .path = strcpy(copy, path), .is_shipped = is_shipped(path), .is_optional = is_optional };
    free(*files);
    *files = grown;
    ++*count;
    return true;
}

void mt_lookup_files_free(mt_lookup_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) free(files[i].path);
    free(files);
}

static bool is_database_name(const char *name)
{
    size_t length = strlen(name);
    return *name != '.' && ((length > 7 && strcmp(name + length - 7, ".sqlite") == 0) || mt_pack_is_name(name));
}

/* Shipped files in the order of their names, so that every process sees the same. */
static tunelookup_status add_shipped(const char *folder, mt_lookup_file **files, size_t *count)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX];
    bool added = true;
    int found = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (added && *count < FILE_LIMIT && is_database_name(entries[i]->d_name) && length < PATH_MAX) added = add_file(files, count, path, false);
        free(entries[i]);
    }
    free(entries);
    return added ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

tunelookup_status mt_lookup_default_files(mt_lookup_file **files, size_t *count)
{
    tunelookup_status st = TUNELOOKUP_OK;
    char user[PATH_MAX] = "", shipped[PATH_MAX] = "";
    *files = NULL;
    *count = 0;
    if (user_path(user) && !add_file(files, count, user, true)) LOOKUP_LEAVE(mt_lookup_no_memory());
    if (shipped_folder(shipped)) LOOKUP_TRY(add_shipped(shipped, files, count));
    if (*count == 1) (*files)[0].is_optional = false; /* nothing else could answer */
    if (*count == 0 || (*count == 1 && mt_lookup_stamp_of(user).bytes < 0 && *user && !(*files)[0].is_shipped)) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "no tuning database: looked for %s and %s", *user ? user : "a user's file (no $HOME)",
                            *shipped ? shipped : "share/msda-tune-shipped beside the library");
    }
done:
    if (st != TUNELOOKUP_OK) {
        mt_lookup_files_free(*files, *count);
        *files = NULL;
        *count = 0;
    }
    return st;
}

tunelookup_status mt_lookup_given_file(const char *path, mt_lookup_file **files, size_t *count)
{
    *files = NULL;
    *count = 0;
    return add_file(files, count, path, false) ? TUNELOOKUP_OK : mt_lookup_no_memory();
}
