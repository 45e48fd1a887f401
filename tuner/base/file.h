/* Files and paths. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/path.h" /* who reads and writes files names them too */
#include "tuner/base/status.h"

/* Whole file, NUL-terminated behind the `length` bytes; the caller mt_free's *data. Refuses more than max_bytes (0 = 1 GiB).
 * Of a regular file only: a FIFO, a socket or a device, given by mistake or laid by somebody else, is refused at once rather than waited for. */
mt_status mt_file_read(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err);
mt_status mt_file_open_regular(const char *path, int *fd, mt_error *err); /* for reading, else as above; the caller closes it */
/* For appending, made where it is missing: a regular file or a pipe that somebody reads (or waits to); anything else is an IO error at once. The caller closes it. */
mt_status mt_file_open_append(const char *path, int *fd, mt_error *err);
mt_status mt_file_read_fd(int fd, size_t max_bytes, const char *name, char **data, size_t *length, mt_error *err);
/* USAGE where a file of the tool's making must not take the place of what lies there: mt_path_check_writable, a file of the kernel's (/proc, /sys), an SQLite database, or the journal beside one. The three below that write what a user names ask this. */
mt_status mt_file_check_output(const char *path, mt_error *err);
/* Writes beside the target and renames, so that readers see the old file or the new one, never a part. */
mt_status mt_file_write_atomic(const char *path, const void *data, size_t length, mt_error *err);
/* What a user's -o names: "-" is stdout (which the caller flushed), else as above. */
mt_status mt_file_write_output(const char *path, const void *data, size_t length, mt_error *err);
/* Without waiting for the disk, and in the place of whatever has the name (a link, a pipe): for caches, whose readers check what they find. After a power cut the file may be empty or torn. */
mt_status mt_file_write_cached(const char *path, const void *data, size_t length, mt_error *err);
bool mt_file_exists(const char *path);
bool mt_dir_exists(const char *path);
mt_status mt_dir_make_all(const char *path, mt_error *err); /* like mkdir -p, mode 0755 less umask */
/* Full write; retries EINTR and short writes. 0 or −1 with errno. */
int mt_fd_write_all(int fd, const void *data, size_t length);
/* A memfd with close-on-exec holding the bytes, offset 0. */
mt_status mt_memfd(const char *name, const void *data, size_t length, int *fd, mt_error *err);
