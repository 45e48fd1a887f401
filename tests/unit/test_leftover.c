/* What killed processes leave behind: swept when it is ours and nobody holds it, and nothing else is. */
#include "tests/unit/unit.h"
#include "tuner/base/leftover.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/mt-leftover-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static char *in_root(const char *name)
{
    char *path = mt_path_join(root, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

static void write_text(const char *path)
{
    mt_error err;
    ck_assert_int_eq(mt_file_write_cached(path, "x", 1, &err), MT_OK);
}

/* A process that makes `what` under root, tells its path, and is killed while it holds it. */
static void make_and_die(bool is_folder, const char *target, char path[256])
{
    int said[2], status;
    ck_assert_int_eq(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        mt_temporary temporary = {0};
        mt_error err;
        char *name = NULL;
        if (is_folder) name = mt_temporary_make(root, &temporary, &err) == MT_OK ? temporary.path : NULL;
        else if (mt_leftover_create_beside(target, &name) < 0) name = NULL;
        if (name && write(said[1], name, strlen(name) + 1) > 0) kill(getpid(), SIGKILL);
        _exit(1);
    }
    close(said[1]);
    ck_assert_int_gt(read(said[0], path, 256), 0);
    close(said[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && mt_file_exists(path));
}

START_TEST(folders_of_the_dead_are_swept)
{
    make_root();
    char left[256], *others[3] = {in_root("msda-tune-short"), in_root("msda-tune-case-abcdef"), in_root("else")};
    mt_temporary first, second;
    mt_error err;
    make_and_die(true, NULL, left);
    char *inner = mt_path_join(left, "ab/cubin"), *deep = mt_path_folder(inner);
    ck_assert_int_eq(mt_dir_make_all(deep, &err), MT_OK);
    write_text(inner);
    for (size_t i = 0; i < 3; i++) ck_assert_int_eq(mkdir(others[i], 0700), 0);
    ck_assert_int_eq(mt_temporary_make(root, &first, &err), MT_OK);
    ck_assert(!mt_file_exists(left));
    ck_assert_int_eq(mt_temporary_make(root, &second, &err), MT_OK);
    ck_assert(mt_file_exists(first.path) && mt_file_exists(second.path)); /* their owner lives */
    for (size_t i = 0; i < 3; i++) {
        ck_assert(mt_file_exists(others[i]));
        mt_free(others[i]);
    }
    char *gone = mt_strdup(first.path);
    mt_temporary_remove(&first);
    ck_assert(!mt_file_exists(gone) && !first.path);
    mt_temporary_remove(&first);
    mt_temporary_remove(&second);
    mt_free(gone), mt_free(inner), mt_free(deep);
    remove_root();
}
END_TEST

START_TEST(folders_of_strangers_stay)
{
    if (geteuid() != 0) return; /* only root can make one */
    make_root();
    char *path = in_root("msda-tune-abcdef");
    mt_temporary own;
    mt_error err;
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(chown(path, 4242, 4242), 0);
    ck_assert_int_eq(mt_temporary_make(root, &own, &err), MT_OK);
    ck_assert(mt_file_exists(path));
    mt_temporary_remove(&own);
    mt_free(path);
    remove_root();
}
END_TEST

START_TEST(files_of_the_dead_are_swept)
{
    make_root();
    char left[256], entry[256], *target = in_root("report.html"), *cached = in_root("a7/key.cubin"), *folder = mt_path_folder(cached), *alive = NULL;
    char *others[3] = {in_root("report.html.tmp.1"), in_root("report.html.tmp.x.1"), in_root("other.tmp.1.2")};
    mt_error err;
    ck_assert_int_eq(mt_dir_make_all(folder, &err), MT_OK);
    make_and_die(false, target, left);
    make_and_die(false, cached, entry);
    int fd = mt_leftover_create_beside(target, &alive);
    ck_assert_int_ge(fd, 0);
    for (size_t i = 0; i < 3; i++) write_text(others[i]);
    ck_assert_int_eq(mt_file_write_atomic(target, "x", 1, &err), MT_OK);
    ck_assert(!mt_file_exists(left));
    ck_assert(mt_file_exists(alive) && mt_file_exists(entry));
    mt_leftover_sweep_cache(root);
    ck_assert(!mt_file_exists(entry));
    for (size_t i = 0; i < 3; i++) {
        ck_assert(mt_file_exists(others[i]));
        mt_free(others[i]);
    }
    close(fd);
    mt_free(target), mt_free(cached), mt_free(folder), mt_free(alive);
    remove_root();
}
END_TEST

UNIT_MAIN("leftover", folders_of_the_dead_are_swept, folders_of_strangers_stay, files_of_the_dead_are_swept)
