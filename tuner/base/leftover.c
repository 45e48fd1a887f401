#include "tuner/base/leftover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/path.h"
#include "tuner/base/strbuf.h"

static const char folder_prefix[] = "msda-tune-";
enum { RANDOM_LETTERS = 6, MOST_DESCRIPTORS = 16 };

/* Locked, and still at its name: a sweeper may have come between making and locking. */
static bool lock_ours(int fd, const char *path)
{
    struct stat own, there;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK; /* a file system without locks: nothing can be swept there either */
    return fstat(fd, &own) == 0 && lstat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/* Ours, of the kind that is looked for, and nobody holds its lock. The descriptor keeps the lock, so that of two sweepers one removes; −1 = not a leftover. */
static int take_leftover(int folder, const char *name, int type)
{
    struct stat info;
    int fd = openat(folder, name, (type == S_IFDIR ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    bool is_leftover = fstat(fd, &info) == 0 && (int)(info.st_mode & S_IFMT) == type && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (is_leftover) return fd;
    close(fd);
    return -1;
}

/* ---- folders ---- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *position)
{
    (void)info;
    (void)kind;
    (void)position;
    remove(path); /* what cannot be removed stays: a temporary folder is not worth an error */
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, MOST_DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static bool is_folder_name(const char *name)
{
    size_t length = sizeof folder_prefix - 1;
    if (strncmp(name, folder_prefix, length) != 0 || strlen(name) != length + RANDOM_LETTERS) return false;
    for (name += length; *name; name++)
        if (!isalnum((unsigned char)*name)) return false;
    return true;
}

static void sweep_folders(const char *root)
{
    DIR *dir = opendir(root);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        int fd = is_folder_name(entry->d_name) ? take_leftover(dirfd(dir), entry->d_name, S_IFDIR) : -1;
        char *path = fd >= 0 ? mt_path_join(root, entry->d_name) : NULL;
        if (path) remove_tree(path);
        mt_free(path);
        if (fd >= 0) close(fd);
    }
    if (dir) closedir(dir);
}

const char *mt_temporary_root(void)
{
    const char *root = getenv("TMPDIR");
    return root && root[0] ? root : "/tmp";
}

mt_status mt_temporary_make(const char *root, mt_temporary *temporary, mt_error *err)
{
    *temporary = (mt_temporary){.lock = -1};
    sweep_folders(root);
    for (int attempt = 0; attempt < 100; attempt++) {
        mt_strbuf name = {0};
        mt_strbuf_addf(&name, "%s/%sXXXXXX", root, folder_prefix);
        char *path = mt_strbuf_take(&name);
        if (!path) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", root);
        if (!mkdtemp(path)) {
            mt_status st = MT_FAIL(err, MT_ERR_IO, "%s: cannot make a temporary folder: %s", path, strerror(errno));
            mt_free(path);
            return st;
        }
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && lock_ours(fd, path)) {
            *temporary = (mt_temporary){path, fd};
            return MT_OK;
        }
        if (fd >= 0) close(fd);
        mt_free(path); /* a sweeper has it */
    }
    return MT_FAIL(err, MT_ERR_IO, "%s: cannot keep a temporary folder", root);
}

void mt_temporary_remove(mt_temporary *temporary)
{
    if (!temporary->path) return;
    remove_tree(temporary->path);
    if (temporary->lock >= 0) close(temporary->lock);
    mt_free(temporary->path);
    *temporary = (mt_temporary){.lock = -1};
}

/* ---- files ---- */

int mt_leftover_create_beside(const char *target, char **path)
{
    static unsigned serial;
    for (int attempt = 0; attempt < 100; attempt++) {
        mt_strbuf name = {0};
        mt_strbuf_addf(&name, "%s.tmp.%ld.%u", target, (long)getpid(), __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
        *path = mt_strbuf_take(&name);
        if (!*path) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), code = errno;
        if (fd >= 0 && lock_ours(fd, *path)) return fd;
        if (fd >= 0) close(fd);
        mt_free(*path);
        *path = NULL;
        errno = code;
        if (fd < 0 && code != EEXIST) return -1;
    }
    return -1;
}

/* "NAME.tmp.PID.N"; with `base` NAME is that. */
static bool is_file_name(const char *name, const char *base)
{
    const char *mark = NULL;
    for (const char *next = name; (next = strstr(next, ".tmp.")) != NULL; next++) mark = next;
    if (!mark || mark == name || (base && ((size_t)(mark - name) != strlen(base) || strncmp(name, base, strlen(base)) != 0))) return false;
    const char *digits = mark + 5;
    size_t pid = strspn(digits, "0123456789");
    if (!pid || digits[pid] != '.') return false;
    size_t serial = strspn(digits + pid + 1, "0123456789");
    return serial && !digits[pid + 1 + serial];
}

static void sweep_files(const char *folder, const char *base)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        int fd = is_file_name(entry->d_name, base) ? take_leftover(dirfd(dir), entry->d_name, S_IFREG) : -1;
        if (fd < 0) continue;
        unlinkat(dirfd(dir), entry->d_name, 0);
        close(fd);
    }
    if (dir) closedir(dir);
}

void mt_leftover_sweep_beside(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *folder = mt_path_folder(target);
    if (folder) sweep_files(folder, slash ? slash + 1 : target);
    mt_free(folder);
}

void mt_leftover_sweep_cache(const char *cache)
{
    for (unsigned i = 0; i < 256; i++) {
        mt_strbuf folder = {0};
        mt_strbuf_addf(&folder, "%s/%02x", cache, i);
        if (!folder.failed) sweep_files(mt_strbuf_text(&folder), NULL);
        mt_strbuf_free(&folder);
    }
}
