#include "tuner/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

static mt_status fail_errno(mt_error *err, const char *path, const char *verb)
{
    int code = errno;
    return MT_FAIL(err, code == ENOENT ? MT_ERR_NOT_FOUND : MT_ERR_IO, "%s: cannot %s: %s", path, verb, strerror(code));
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
            if (!grown) {
                st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory after %zu bytes", name, used);
                goto done;
            }
            bytes = grown;
        }
        ssize_t got = read(fd, bytes + used, capacity - 1 - used);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            st = fail_errno(err, name, "read");
            goto done;
        }
        used += (size_t)got;
        if (used > limit) {
            st = MT_FAIL(err, MT_ERR_IO, "%s: larger than %zu bytes", name, limit);
            goto done;
        }
    }
    bytes[used] = '\0';
    *data = bytes;
    *length = used;
    bytes = NULL;
done:
    mt_free(bytes);
    return st;
}

mt_status mt_file_read(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, path, "open");
    mt_status st = mt_file_read_fd(fd, max_bytes, path, data, length, err);
    close(fd);
    return st;
}

mt_status mt_file_open_regular(const char *path, int *fd, mt_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO without a writer opens at once */
    if (*fd < 0) return fail_errno(err, path, "open");
    mt_status st = MT_OK;
    if (fstat(*fd, &info) != 0)
        st = fail_errno(err, path, "read");
    else if (!S_ISREG(info.st_mode))
        st = MT_FAIL(err, MT_ERR_IO, "%s: is not a regular file", path);
    if (st == MT_OK) return MT_OK;
    close(*fd);
    *fd = -1;
    return st;
}

mt_status mt_file_read_regular(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err)
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

/* Creates a file beside `target` that no one else has. open() rather than mkstemp(), so that the umask decides the mode. */
static int open_beside(const char *target, char **path)
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
        int fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        mt_free(*path);
        *path = NULL;
        if (errno != EEXIST) return -1;
    }
    return -1;
}

/* Pipes and devices (/dev/stdout) can't be renamed over; they get the bytes directly. */
static mt_status write_in_place(const char *path, const void *data, size_t length, mt_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, path, "open");
    mt_status st = MT_OK;
    if (mt_fd_write_all(fd, data, length) != 0) st = fail_errno(err, path, "write");
    if (close(fd) != 0 && st == MT_OK) st = fail_errno(err, path, "write");
    return st;
}

static mt_status write_beside(const char *path, const void *data, size_t length, bool wants_sync, mt_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_in_place(path, data, length, err);
    mt_status st = MT_OK;
    char *target = realpath(path, NULL); /* a symbolic link stays one */
    char *temporary = NULL;
    const char *final = target ? target : path;
    int fd = open_beside(final, &temporary);
    if (fd < 0) {
        st = fail_errno(err, path, "create");
        goto done;
    }
    if (mt_fd_write_all(fd, data, length) != 0 || (wants_sync && fsync(fd) != 0)) {
        st = fail_errno(err, path, "write");
        goto done;
    }
    int closed = close(fd);
    fd = -1;
    if (closed != 0 || rename(temporary, final) != 0) {
        st = fail_errno(err, path, "write");
        goto done;
    }
    mt_free(temporary);
    temporary = NULL;
done:
    if (fd >= 0) close(fd);
    if (temporary) unlink(temporary);
    mt_free(temporary);
    free(target); /* realpath's own */
    return st;
}

mt_status mt_file_write_atomic(const char *path, const void *data, size_t length, mt_error *err)
{
    return write_beside(path, data, length, true, err);
}

mt_status mt_file_write_cached(const char *path, const void *data, size_t length, mt_error *err)
{
    return write_beside(path, data, length, false, err);
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
    char *copy = mt_strdup(path);
    if (!copy) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    mt_status st = MT_OK;
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
