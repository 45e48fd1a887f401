/* Files that are kept: read by a path of ours after they are gone; never another process's. */
#include "tests/unit/unit.h"
#include "tuner/evaluate/open_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static pid_t pretended; /* 0 = none */

/* Who is in another PID namespace than the /proc at hand has a number that means somebody else there. */
pid_t getpid(void)
{
    return pretended ? pretended : (pid_t)syscall(SYS_getpid);
}

static char path[32];

static void write_file(const char *text)
{
    mt_error err;
    strcpy(path, "/tmp/mt-kept-XXXXXX");
    close(mkstemp(path));
    ck_assert_int_eq(mt_file_write_atomic(path, text, strlen(text), &err), MT_OK);
}

static void check_text(const mt_open_file *kept, const char *expected)
{
    char *text = NULL;
    size_t length;
    mt_error err;
    ck_assert_int_eq(mt_file_read(kept->path, 0, &text, &length, &err), MT_OK);
    ck_assert_str_eq(text, expected);
    mt_free(text);
}

START_TEST(is_read_after_it_is_gone)
{
    mt_open_file kept = {0};
    mt_error err;
    mt_open_file_close(&kept);
    write_file("one");
    ck_assert_int_eq(mt_open_file_open(&kept, path, &err), MT_OK);
    unlink(path);
    check_text(&kept, "one");
    ck_assert_int_eq(mt_open_file_open(&kept, path, &err), MT_ERR_NOT_FOUND);
    check_text(&kept, "one");
    write_file("two");
    ck_assert_int_eq(mt_open_file_open(&kept, path, &err), MT_OK);
    unlink(path);
    check_text(&kept, "two");
    mt_open_file_close(&kept);
    ck_assert_str_eq(kept.path, "");
}
END_TEST

/* A child that has another file open under every number. */
static pid_t start_other(void)
{
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int other = open("/dev/null", O_RDONLY);
        for (int fd = 3; fd < 64; fd++)
            if (fd != other && fd != ready[1]) dup2(other, fd);
        byte = write(ready[1], &byte, 1) == 1;
        for (;;) pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]), close(ready[1]);
    return child;
}

START_TEST(is_not_somebody_elses)
{
    mt_open_file kept = {0};
    mt_error err;
    write_file("ours");
    pid_t other = start_other();
    pretended = other;
    mt_status st = mt_open_file_open(&kept, path, &err);
    pretended = 0;
    ck_assert_int_eq(st, MT_OK);
    check_text(&kept, "ours");
    mt_open_file_close(&kept);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    unlink(path);
}
END_TEST

UNIT_MAIN("kept_file", is_read_after_it_is_gone, is_not_somebody_elses)
