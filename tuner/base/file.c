#include "tuner/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/leftover.h"

static mt_status fail_errno(mt_error *err, const char *path, const char *verb)
{
    int code = errno;
    return MT_FAIL(err, code == ENOENT || code == ENOTDIR ? MT_ERR_NOT_FOUND : MT_ERR_IO, "%s: cannot %s: %s", path, verb, strerror(code));
}

/* Reads until the end rather than trusting st_size: pipes and /proc files say 0. */
mt_status mt_file_read_fd(int fd, size_t max_bytes, const char *name, char **data, size_t *length, mt_error *err)
{
    mt_status st = MT_OK;
    struct stat info;
    size_t limit = max_bytes ? max_bytes : (size_t)1 << 30;
    size_t capacity = 4096, used = 0;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        if ((uintmax_t)info.st_size > limit) return MT_FAIL(err, MT_ERR_IO, "%s: larger than %zu bytes", name, limit);
        capacity = (size_t)info.st_size + 2; /* the NUL, and one byte so that the last read sees the end */
    }
    char *bytes = NULL;
    for (;;) {
        if (!bytes || used + 1 >= capacity) {
            if (bytes) capacity += capacity / 2;
            char *grown = mt_realloc(bytes, capacity, 1);
            if (!grown) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory after %zu bytes", name, used));
            bytes = grown;
        }
        ssize_t got = read(fd, bytes + used, capacity - 1 - used);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) MT_LEAVE(fail_errno(err, name, "read"));
        used += (size_t)got;
        if (used > limit) MT_LEAVE(MT_FAIL(err, MT_ERR_IO, "%s: larger than %zu bytes", name, limit));
    }
    bytes[used] = '\0';
    *data = bytes;
    *length = used;
    bytes = NULL;
done:
    mt_free(bytes);
    return st;
}

mt_status mt_file_open_regular(const char *path, int *fd, mt_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO without a writer opens at once */
    if (*fd < 0) return fail_errno(err, path, "open");
    mt_status st = MT_OK;
    if (fstat(*fd, &info) != 0) st = fail_errno(err, path, "read");
    else if (!S_ISREG(info.st_mode)) st = MT_FAIL(err, MT_ERR_IO, "%s: is not a regular file", path);
    if (st == MT_OK) return MT_OK;
    close(*fd);
    *fd = -1;
    return st;
}

mt_status mt_file_read(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err)
{
    int fd;
    mt_status st = mt_file_open_regular(path, &fd, err);
    if (st != MT_OK) return st;
    st = mt_file_read_fd(fd, max_bytes, path, data, length, err);
    close(fd);
    return st;
}

int mt_fd_write_all(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length) {
        ssize_t put = write(fd, at, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -1;
        at += put;
        length -= (size_t)put;
    }
    return 0;
}

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3"; /* with its NUL */
    char begin[sizeof magic];
    mt_error ignored;
    int fd;
    if (mt_file_open_regular(path, &fd, &ignored) != MT_OK) return false;
    bool is_one = pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && memcmp(begin, magic, sizeof begin) == 0;
    close(fd);
    return is_one;
}

/* What SQLite keeps beside a database is part of it: the newest rows may lie there alone. */
static bool is_beside_database(const char *path)
{
    static const char *const suffixes[] = {"-wal", "-journal", "-shm"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t tail = strlen(suffixes[i]);
        if (length <= tail || strcmp(path + length - tail, suffixes[i]) != 0) continue;
        char *database = mt_strndup(path, length - tail);
        bool is_one = database && is_database(database);
        mt_free(database);
        return is_one;
    }
    return false;
}

/* Whether what lies there is the kernel's (/proc/self/mem, /sys/…): it looks like a regular file, and writing to it does things. What a link of /proc leads to (/dev/stdout) is where that lies. */
static bool is_of_kernel(const char *path)
{
    static const uint32_t magics[] = {
        0x00009fa0, /* proc */
        0x62656572, /* sysfs */
        0x64626720, /* debugfs */
        0x74726163, /* tracefs */
        0x73636673, /* securityfs */
        0x62656570, /* configfs */
        0x63677270, /* cgroup 2 */
        0x0027e0eb, /* cgroup */
        0x6165676c, /* pstore */
        0xcafe4a11, /* bpf */
        0xde5e81e4, /* efivarfs */
    };
    struct statfs info;
    bool is = false;
    if (statfs(path, &info) != 0) return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) is |= (uint32_t)info.f_type == magics[i];
    return is;
}

mt_status mt_file_check_output(const char *path, mt_error *err)
{
    mt_status st = mt_path_check_writable(path, err);
    if (st != MT_OK) return st;
    if (is_of_kernel(path)) return MT_FAIL(err, MT_ERR_USAGE, "%s: is a file of the kernel's, not one that holds what is written; expected another file", path);
    if (is_database(path)) return MT_FAIL(err, MT_ERR_USAGE, "%s: is an SQLite database, which is never overwritten; expected another file", path);
    if (is_beside_database(path)) return MT_FAIL(err, MT_ERR_USAGE, "%s: is part of the SQLite database beside it, which is never overwritten; expected another file", path);
    return MT_OK;
}

/* Blocks nowhere: a pipe that nobody reads is refused rather than waited for. */
static int open_sink(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0666);
    int status = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (status >= 0) fcntl(fd, F_SETFL, status & ~O_NONBLOCK); /* a slow reader is waited for */
    return fd;
}

static mt_status fail_sink(mt_error *err, const char *path)
{
    if (errno == ENXIO) return MT_FAIL(err, MT_ERR_IO, "%s: cannot open: nobody reads this pipe", path);
    return fail_errno(err, path, "open");
}

mt_status mt_file_open_append(const char *path, int *fd, mt_error *err)
{
    struct stat info;
    *fd = -1;
    mt_status st = mt_file_check_output(path, err);
    if (st != MT_OK) return st;
    *fd = open_sink(path, O_CREAT | O_APPEND);
    if (*fd < 0) return fail_sink(err, path);
    if (fstat(*fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode))) return MT_OK;
    close(*fd);
    *fd = -1;
    return MT_FAIL(err, MT_ERR_IO, "%s: is neither a regular file nor a pipe", path);
}

/* Pipes and devices (/dev/stdout) can't be renamed over; they get the bytes directly. */
static mt_status write_in_place(const char *path, const void *data, size_t length, mt_error *err)
{
    int fd = open_sink(path, 0);
    if (fd < 0) return fail_sink(err, path);
    mt_status st = MT_OK;
    if (mt_fd_write_all(fd, data, length) != 0) st = fail_errno(err, path, "write");
    if (close(fd) != 0 && st == MT_OK) st = fail_errno(err, path, "write");
    return st;
}

/* The lock says until the file has its name that somebody writes it. A descriptor of its own holds it, since close() may still tell an error of the disk. */
static mt_status fill_and_rename(int fd, const char *temporary, const char *target, const char *path, const void *data, size_t length, bool wants_sync, mt_error *err)
{
    mt_status st = MT_OK;
    int lock = dup(fd);
    if (mt_fd_write_all(fd, data, length) != 0 || (wants_sync && fsync(fd) != 0)) st = fail_errno(err, path, "write");
    if (close(fd) != 0 && st == MT_OK) st = fail_errno(err, path, "write");
    if (st == MT_OK && rename(temporary, target) != 0) st = fail_errno(err, path, "write");
    if (st != MT_OK) unlink(temporary);
    if (lock >= 0) close(lock);
    return st;
}

static mt_status write_beside(const char *target, const char *path, const void *data, size_t length, bool wants_sync, mt_error *err)
{
    char *temporary = NULL;
    int fd = mt_leftover_create_beside(target, &temporary);
    mt_status st = fd < 0 ? fail_errno(err, path, "create") : fill_and_rename(fd, temporary, target, path, data, length, wants_sync, err);
    mt_free(temporary);
    return st;
}

mt_status mt_file_write_atomic(const char *path, const void *data, size_t length, mt_error *err)
{
    struct stat info;
    mt_status st = mt_file_check_output(path, err);
    if (st != MT_OK) return st;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_in_place(path, data, length, err);
    char *target = realpath(path, NULL); /* a symbolic link stays one */
    st = write_beside(target ? target : path, path, data, length, true, err);
    if (st == MT_OK) mt_leftover_sweep_beside(target ? target : path);
    free(target); /* realpath's own */
    return st;
}

/* In the place of whatever lies there: a link or a pipe in a cache is nobody's wish. */
mt_status mt_file_write_cached(const char *path, const void *data, size_t length, mt_error *err)
{
    return write_beside(path, path, data, length, false, err);
}

mt_status mt_file_write_output(const char *path, const void *data, size_t length, mt_error *err)
{
    if (strcmp(path, "-") != 0) return mt_file_write_atomic(path, data, length, err);
    return mt_fd_write_all(STDOUT_FILENO, data, length) == 0 ? MT_OK : fail_errno(err, "standard output", "write");
}

bool mt_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool mt_dir_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int make_folder(const char *path)
{
    struct stat info;
    if (mkdir(path, 0755) == 0) return 0;
    int code = errno; /* a read-only parent says EROFS or EACCES even where the folder exists */
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return 0;
        code = ENOTDIR;
    }
    errno = code;
    return -1;
}

mt_status mt_dir_make_all(const char *path, mt_error *err)
{
    mt_status st = mt_path_check_writable(path, err);
    if (st != MT_OK) return st;
    char *copy = mt_strdup(path);
    if (!copy) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    for (char *at = copy; st == MT_OK && *at; at++) {
        if (*at != '/' || at == copy) continue;
        *at = '\0';
        if (make_folder(copy) != 0) st = fail_errno(err, copy, "create folder");
        *at = '/';
    }
    if (st == MT_OK && make_folder(copy) != 0) st = fail_errno(err, copy, "create folder");
    mt_free(copy);
    return st;
}

mt_status mt_memfd(const char *name, const void *data, size_t length, int *fd, mt_error *err)
{
    *fd = -1;
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) return fail_errno(err, name, "create memory file");
    if (mt_fd_write_all(file, data, length) != 0 || lseek(file, 0, SEEK_SET) != 0) {
        mt_status st = fail_errno(err, name, "write memory file");
        close(file);
        return st;
    }
    *fd = file;
    return MT_OK;
}
