#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_scratch(void)
{
    strcpy(folder, "/tmp/mt_test_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_scratch(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static char *in_scratch(const char *name)
{
    char *path = mt_path_join(folder, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

static int count_files(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void check_content(const char *path, const char *expected)
{
    char *data = NULL;
    size_t length = 0;
    mt_error err;
    ck_assert_int_eq(mt_file_read(path, 0, &data, &length, &err), MT_OK);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_str_eq(data, expected);
    mt_free(data);
}

START_TEST(write_then_read)
{
    make_scratch();
    char *path = in_scratch("a file");
    mt_error err;
    ck_assert(!mt_file_exists(path));
    ck_assert_int_eq(mt_file_write_atomic(path, "one", 3, &err), MT_OK);
    check_content(path, "one");
    ck_assert_int_eq(mt_file_write_atomic(path, "", 0, &err), MT_OK);
    check_content(path, "");
    ck_assert_int_eq(mt_file_write_atomic(path, "two", 3, &err), MT_OK);
    check_content(path, "two");
    ck_assert_int_eq(count_files(), 1); /* nothing temporary left */
    ck_assert(mt_file_exists(path));
    mt_free(path);
    remove_scratch();
}
END_TEST

START_TEST(symbolic_links_and_devices_stay)
{
    make_scratch();
    char *path = in_scratch("target"), *link = in_scratch("link");
    mt_error err;
    ck_assert_int_eq(mt_file_write_atomic(path, "old", 3, &err), MT_OK);
    ck_assert_int_eq(symlink(path, link), 0);
    ck_assert_int_eq(mt_file_write_atomic(link, "new", 3, &err), MT_OK);
    check_content(path, "new");
    struct stat info;
    ck_assert_int_eq(lstat(link, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    ck_assert_int_eq(mt_file_write_atomic("/dev/null", "x", 1, &err), MT_OK);
    ck_assert_int_eq(stat("/dev/null", &info), 0);
    ck_assert(S_ISCHR(info.st_mode));
    mt_free(path);
    mt_free(link);
    remove_scratch();
}
END_TEST

START_TEST(failures_name_the_file)
{
    char *data = NULL;
    size_t length;
    mt_error err;
    ck_assert_int_eq(mt_file_read("/nonexistent/x", 0, &data, &length, &err), MT_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/x: cannot open: No such file"));
    ck_assert_int_eq(mt_file_read("/tmp", 0, &data, &length, &err), MT_ERR_IO); /* a folder */
    ck_assert_int_ne(mt_file_write_atomic("/nonexistent/x", "a", 1, &err), MT_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/x"));
    ck_assert_ptr_null(data);
}
END_TEST

START_TEST(size_limit)
{
    make_scratch();
    char *path = in_scratch("f"), *data = NULL;
    size_t length;
    mt_error err;
    ck_assert_int_eq(mt_file_write_atomic(path, "12345", 5, &err), MT_OK);
    ck_assert_int_eq(mt_file_read(path, 4, &data, &length, &err), MT_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "larger than 4 bytes"));
    ck_assert_int_eq(mt_file_read(path, 5, &data, &length, &err), MT_OK);
    mt_free(data);
    ck_assert_int_eq(mt_file_read("/dev/zero", 100000, &data, &length, &err), MT_ERR_IO); /* says size 0, never ends */
    mt_free(path);
    remove_scratch();
}
END_TEST

START_TEST(pipes_are_read_to_the_end)
{
    int ends[2];
    mt_error err;
    char *data, block[5000];
    size_t length;
    memset(block, 'p', sizeof block);
    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(mt_fd_write_all(ends[1], block, sizeof block), 0);
    close(ends[1]);
    ck_assert_int_eq(mt_file_read_fd(ends[0], 0, "pipe", &data, &length, &err), MT_OK);
    ck_assert_uint_eq(length, 15000);
    ck_assert_uint_eq(strlen(data), 15000);
    mt_free(data);
    close(ends[0]);
    ck_assert_int_eq(mt_fd_write_all(-1, "x", 1), -1);
}
END_TEST

/* A FIFO that nobody writes, a device without an end and a folder are refused, not waited for. */
START_TEST(only_regular_files)
{
    make_scratch();
    char *path = in_scratch("fifo"), *data = NULL;
    const char *const others[] = { path, "/dev/zero", folder };
    size_t length = 0;
    mt_error err;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_int_eq(mt_file_read(others[i], 0, &data, &length, &err), MT_ERR_IO);
        ck_assert_ptr_nonnull(strstr(err.message, others[i]));
        ck_assert_ptr_nonnull(strstr(err.message, "is not a regular file"));
        ck_assert_ptr_null(data);
    }
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mt_file_read(path, 0, &data, &length, &err), MT_ERR_NOT_FOUND);
    ck_assert_int_eq(mt_file_write_output(path, "text", 4, &err), MT_OK); /* a name is a file */
    ck_assert_int_eq(mt_file_read(path, 0, &data, &length, &err), MT_OK);
    ck_assert_str_eq(data, "text");
    ck_assert(mt_dir_exists(folder) && !mt_dir_exists(path) && !mt_dir_exists("/no/such/folder"));
    mt_free(data);
    mt_free(path);
    remove_scratch();
}
END_TEST

START_TEST(appending_waits_for_nobody)
{
    make_scratch();
    char *pipe_path = in_scratch("fifo"), *path = in_scratch("lines");
    int fd;
    mt_error err;
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    ck_assert_int_eq(mt_file_open_append(pipe_path, &fd, &err), MT_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "nobody reads this pipe"));
    ck_assert_int_ne(mt_file_write_output(pipe_path, "x", 1, &err), MT_OK);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_eq(mt_file_open_append(pipe_path, &fd, &err), MT_OK);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0); /* a slow reader loses nothing */
    close(fd);
    close(reader);
    ck_assert_int_eq(mt_file_open_append("/dev/zero", &fd, &err), MT_ERR_IO);
    ck_assert_int_eq(mt_file_open_append(folder, &fd, &err), MT_ERR_IO);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(mt_file_open_append(path, &fd, &err), MT_OK);
        ck_assert_int_eq(mt_fd_write_all(fd, "x", 1), 0);
        close(fd);
    }
    check_content(path, "xx");
    mt_free(pipe_path);
    mt_free(path);
    remove_scratch();
}
END_TEST

START_TEST(a_cached_file_takes_the_place_of_anything)
{
    make_scratch();
    char *pipe_path = in_scratch("fifo"), *link = in_scratch("link"), *other = in_scratch("other");
    mt_error err;
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    ck_assert_int_eq(mt_file_write_atomic(other, "kept", 4, &err), MT_OK);
    ck_assert_int_eq(symlink(other, link), 0);
    ck_assert_int_eq(mt_file_write_cached(pipe_path, "one", 3, &err), MT_OK);
    ck_assert_int_eq(mt_file_write_cached(link, "two", 3, &err), MT_OK);
    check_content(pipe_path, "one");
    check_content(link, "two");
    check_content(other, "kept");
    mt_free(pipe_path), mt_free(link), mt_free(other);
    remove_scratch();
}
END_TEST

START_TEST(dash_is_stdout)
{
    make_scratch();
    char *path = in_scratch("out");
    mt_error err;
    int kept = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_ge(dup2(fd, STDOUT_FILENO), 0);
    mt_status st = mt_file_write_output("-", "text", 4, &err);
    ck_assert_int_ge(dup2(kept, STDOUT_FILENO), 0);
    ck_assert_int_eq(st, MT_OK);
    check_content(path, "text");
    ck_assert(!mt_file_exists("-"));
    close(fd);
    close(kept);
    mt_free(path);
    remove_scratch();
}
END_TEST

START_TEST(out_of_memory)
{
    mt_error err;
    char *data = NULL;
    size_t length;
    mt_alloc_fail_at(1);
    ck_assert_int_eq(mt_file_read("/proc/self/status", 0, &data, &length, &err), MT_ERR_NO_MEMORY);
    ck_assert_ptr_null(data);
    mt_alloc_fail_at(1);
    ck_assert_int_ne(mt_file_write_atomic("/tmp/mt_test_never", "x", 1, &err), MT_OK);
    ck_assert(!mt_file_exists("/tmp/mt_test_never"));
}
END_TEST

START_TEST(folders)
{
    make_scratch();
    char *deep = in_scratch("a/b//c/"), *file = in_scratch("f"), *below = in_scratch("f/x");
    mt_error err;
    ck_assert_int_eq(mt_dir_make_all(deep, &err), MT_OK);
    ck_assert(mt_file_exists(deep));
    ck_assert_int_eq(mt_dir_make_all(deep, &err), MT_OK);
    ck_assert_int_eq(mt_dir_make_all("/", &err), MT_OK);
    ck_assert_int_eq(mt_file_write_atomic(file, "x", 1, &err), MT_OK);
    ck_assert_int_ne(mt_dir_make_all(below, &err), MT_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "Not a directory"));
    mt_free(deep);
    mt_free(file);
    mt_free(below);
    remove_scratch();
}
END_TEST

START_TEST(memfd)
{
    int fd;
    mt_error err;
    char *data;
    size_t length;
    ck_assert_int_eq(mt_memfd("cubin", "a\0b", 3, &fd, &err), MT_OK);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_eq(mt_file_read_fd(fd, 0, "cubin", &data, &length, &err), MT_OK);
    ck_assert_uint_eq(length, 3);
    ck_assert_mem_eq(data, "a\0b", 4);
    mt_free(data);
    close(fd);
}
END_TEST

static void check_path(char *path, const char *expected)
{
    ck_assert_str_eq(path, expected);
    mt_free(path);
}

START_TEST(path_parts)
{
    check_path(mt_path_join("a", "b.c"), "a/b.c");
    check_path(mt_path_join("a/", "b.c"), "a/b.c");
    check_path(mt_path_join("a", "/b"), "/b");
    check_path(mt_path_join("", "b"), "b");
    check_path(mt_path_folder("a/b.c"), "a");
    check_path(mt_path_folder("b.c"), ".");
    check_path(mt_path_folder("/b"), "/");
    check_path(mt_path_stem("a/b.c"), "b");
    check_path(mt_path_stem("a.d/b"), "b");
    check_path(mt_path_stem(".hidden"), ".hidden");
    check_path(mt_path_stem("x.tar.gz"), "x.tar");
}
END_TEST

/* As an installer does it: the tool itself refuses. */
static int make_folder(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p '%s'", path);
    return system(command);
}

/* However it is spelled, and whether it is there or not. */
START_TEST(what_came_with_the_tool_is_never_written)
{
    make_scratch();
    static const char *const refused[] = {"share/msda-tune-shipped/tuned.sqlite", "share/msda-tune-shipped", "share/msda-tune-shipped/new/folder/x", "share/./x/../msda-tune-shipped/x", "link/x", "file", "share/msda-tune-shipped/"};
    static const char *const fine[] = {"share/msda-tune/x", "share/msda-tune-shipped-mine/x", "msda-tune-shipped/x", "new/folder/x", "share/msda-tune-shipped/../x"};
    char *shipped = in_scratch("share/msda-tune-shipped"), *other = in_scratch("share/x"), *file = in_scratch("share/msda-tune-shipped/tuned.sqlite"), *link = in_scratch("link"), *to_file = in_scratch("file");
    mt_error err = {0};
    ck_assert_int_eq(make_folder(shipped), 0);
    ck_assert_int_eq(mt_dir_make_all(other, &err), MT_OK);
    FILE *out = fopen(file, "w");
    ck_assert_ptr_nonnull(out);
    fclose(out);
    ck_assert_int_eq(symlink(shipped, link), 0);
    ck_assert_int_eq(symlink(file, to_file), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *path = in_scratch(refused[i]);
        int fd;
        ck_assert_msg(mt_file_write_atomic(path, "x", 1, &err) == MT_ERR_USAGE, "%s", path);
        ck_assert_ptr_nonnull(strstr(err.message, "never written"));
        ck_assert_msg(mt_file_open_append(path, &fd, &err) == MT_ERR_USAGE, "%s", path);
        ck_assert_msg(mt_dir_make_all(path, &err) == MT_ERR_USAGE, "%s", path);
        mt_free(path);
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char *path = in_scratch(fine[i]);
        ck_assert_msg(mt_path_check_writable(path, &err) == MT_OK, "%s", path);
        mt_free(path);
    }
    char *hard = in_scratch("hard");
    ck_assert_int_eq(linkat(AT_FDCWD, file, AT_FDCWD, hard, 0), 0);
    ck_assert_int_eq(mt_path_check_writable(hard, &err), MT_OK); /* of an installation that is not this tool's, which nothing tells */
    setenv("MSDA_TUNE_SHARE", shipped, 1);
    ck_assert_int_eq(mt_path_check_writable(hard, &err), MT_ERR_USAGE);
    unsetenv("MSDA_TUNE_SHARE");
    mt_free(hard);
    ck_assert_int_eq(mt_path_check_writable("x", &err), MT_OK);
    ck_assert_int_eq(mt_path_check_writable("", &err), MT_OK);
    ck_assert_int_eq(mt_path_check_writable("/no/such/x", &err), MT_OK);
    mt_free(shipped);
    mt_free(other);
    mt_free(file);
    mt_free(link);
    mt_free(to_file);
    remove_scratch();
}
END_TEST

START_TEST(standard_places)
{
    setenv("HOME", "/home/u", 1);
    unsetenv("XDG_DATA_HOME");
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    check_path(mt_path_user_data(), "/home/u/.local/share/msda-tune");
    check_path(mt_path_user_cache(), "/home/u/.cache/msda-tune");
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("XDG_CACHE_HOME", "/cache", 1);
    check_path(mt_path_user_data(), "/data/msda-tune");
    check_path(mt_path_user_cache(), "/cache/msda-tune");
    unsetenv("HOME");
    check_path(mt_path_user_data(), "/data/msda-tune");
    setenv("XDG_DATA_HOME", "relative/is/ignored", 1);
    ck_assert(!mt_path_has_user_data());
    ck_assert_ptr_null(mt_path_user_data()); /* no guess from the user database: the library makes none either */
    setenv("HOME", "/home/u", 1);
    setenv("MSDA_TUNE_SHARE", "/opt/share", 1);
    check_path(mt_path_share(), "/opt/share");
    unsetenv("MSDA_TUNE_SHARE");
    char *self = mt_path_self(), *bin = mt_path_folder(self), *prefix = mt_path_folder(bin), *share = mt_path_share();
    ck_assert_int_eq(access(self, X_OK), 0);
    ck_assert_int_eq(strncmp(share, prefix, strlen(prefix)), 0);
    ck_assert_str_eq(share + strlen(prefix), "/share/msda-tune-shipped");
    mt_free(self);
    mt_free(bin);
    mt_free(prefix);
    mt_free(share);
}
END_TEST

UNIT_MAIN("file", write_then_read, symbolic_links_and_devices_stay, failures_name_the_file, size_limit, pipes_are_read_to_the_end, only_regular_files, appending_waits_for_nobody, a_cached_file_takes_the_place_of_anything, dash_is_stdout, out_of_memory, folders,
          memfd, path_parts, what_came_with_the_tool_is_never_written, standard_places)
