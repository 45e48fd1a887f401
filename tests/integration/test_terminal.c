/* What a person sees: on a terminal (a pseudo-terminal of a given width) one progress line for each subject, updated in place and never wider than the terminal; in a file few whole
 * lines. Colour on terminals alone, and not where NO_COLOR or TERM=dumb refuse it. */
#include <fcntl.h>
#include <pty.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

#define RECORDED TEST_DATA_DIR "/../../search_spaces/msda.ini"
/* The tool, in a folder with a name that a shell takes for several words. */
#define ODD_FOLDER "it's my öwn"
#define TOOL ODD_FOLDER "/msda-tune"
enum { MOST_WORDS = 24 };

static char folder[] = "/tmp/msda-terminal-XXXXXX";

static void set_up(void)
{
    char data[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(mkdir(ODD_FOLDER, 0700), 0);
    ck_assert_int_eq(symlink(MT_TOOL, TOOL), 0);
    snprintf(data, sizeof data, "%s/home", folder);
    setenv("HOME", data, 1);
    setenv("XDG_DATA_HOME", data, 1);
    setenv("XDG_CACHE_HOME", data, 1);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    unsetenv("MSDA_TUNE_DB");
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    memcpy(strrchr(folder, '-'), "-XXXXXX", 7);
}

static void start_tool(const char *const words[], int out, int err)
{
    char *argv[MOST_WORDS + 2] = {(char *)TOOL};
    for (size_t i = 0; words[i]; i++) argv[i + 1] = (char *)words[i];
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(TOOL, argv);
    _exit(127);
}

/* Runs the tool with a terminal of `columns` for its `which` (1, 2), a file for the other; returns what the terminal got, mt_free. */
static char *on_terminal(unsigned short columns, int which, const char *const words[])
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int master, slave, status = 0, file = open("other.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    mt_strbuf got = {0};
    char part[4096];
    ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
    pid_t child = fork();
    if (child == 0) start_tool(words, which == 1 ? slave : file, which == 2 ? slave : file);
    close(slave);
    close(file);
    for (ssize_t n; (n = read(master, part, sizeof part)) > 0;) mt_strbuf_add_bytes(&got, part, (size_t)n);
    close(master);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", mt_strbuf_text(&got));
    return mt_strbuf_take(&got);
}

/* Runs it with files for both; returns what the `which` got. */
static char *in_file(int which, const char *const words[])
{
    char *text = NULL;
    size_t length;
    int status = 0;
    pid_t child = fork();
    if (child == 0) start_tool(words, open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600), open("err.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(mt_file_read(which == 1 ? "out.txt" : "err.txt", 1 << 20, &text, &length, NULL) == MT_OK);
    return text;
}

/* What a terminal makes of a stream. */
typedef struct screen {
    size_t column, widest, lines; /* the cursor's column; the widest line; line breaks */
    size_t redraws, left;         /* returns to the line's begin; characters in the last line at the end */
} screen;

static screen play(const char *text)
{
    screen s = {0};
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "\033[K", 3) == 0) {
            s.left = s.column;
            at += 2;
        } else if (*at == '\r') {
            s.column = 0;
            s.redraws++;
        } else if (*at == '\n') {
            s.lines++;
            s.left = 0;
        } else {
            ck_assert_msg((unsigned char)*at >= 0x20, "control character %d", *at);
            s.column += ((unsigned char)*at & 0xc0) != 0x80;
            if (s.column > s.widest) s.widest = s.column;
            if (s.column > s.left) s.left = s.column;
        }
    }
    return s;
}

static const char *const tune[] = {"tune", "--gpu", "recorded:h100", "--space", RECORDED, "--shape", "seed48", "--shape", "detr_enc_b1", "--strategy", "random", "--budget", "300", "--db", "t.sqlite", NULL};

START_TEST(the_progress_is_one_line_that_fits)
{
    static const unsigned short widths[] = {40, 80};
    char *text = on_terminal(widths[_i], 2, tune), *other;
    screen s = play(text);
    size_t length;
    ck_assert_msg(s.widest < widths[_i], "%zu of %d columns:\n%s", s.widest, widths[_i], text); /* the last one stays free: some terminals wrap there */
    ck_assert_uint_ge(s.redraws, 4); /* two subjects, each drawn and taken back */
    ck_assert_uint_eq(s.lines, 0);   /* updated in place */
    ck_assert_uint_eq(s.left, 0);    /* and gone in the end */
    ck_assert_ptr_nonnull(strstr(text, "/300"));
    ck_assert_ptr_nonnull(strstr(text, "detr_enc_b1"));
    ck_assert(mt_file_read("other.txt", 1 << 20, &other, &length, NULL) == MT_OK);
    ck_assert_ptr_nonnull(strstr(other, "Best:")); /* summaries are results: in the file, without colour */
    ck_assert_ptr_null(strchr(other, '\033'));
    mt_free(other);
    mt_free(text);
}
END_TEST

/* One line, and a further one each 10 s at most, whole lines all of them. */
START_TEST(a_file_gets_whole_lines)
{
    int64_t start_ns = mt_clock_now_ns();
    char *text = in_file(2, tune);
    size_t most = 1 + (size_t)((mt_clock_now_ns() - start_ns) / INT64_C(10000000000)), lines = 0;
    ck_assert_ptr_null(strpbrk(text, "\r\033"));
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) lines++;
    ck_assert_msg(lines >= 1 && lines <= most && text[strlen(text) - 1] == '\n', "expected 1 to %zu lines:\n%s", most, text);
    mt_free(text);
}
END_TEST

START_TEST(quiet_is_quiet)
{
    static const char *const quiet[] = {"tune", "--gpu", "recorded:h100", "--space", RECORDED, "--shape", "seed48", "--strategy", "random", "--budget", "50", "--db", "t.sqlite", "--quiet", NULL};
    char *text = on_terminal(80, 2, quiet);
    ck_assert_str_eq(text, "");
    mt_free(text);
}
END_TEST

/* ---- colour ---- */

/* The shell gets paths as words, so that they may hold whatever a folder's name may. */
static void make_sides(void)
{
    static const char script[] = "\"$1\" import --as measured --db a.sqlite \"$2\" >/dev/null && sed '/ALGO=fast;BLOCK=256;VEC=4/s/\"ns\":21000,\"lo\":20990,\"hi\":21020/\"ns\":22000,\"lo\":21900,\"hi\":22100/' \"$2\" >b.jsonl && "
                                 "\"$1\" import --as measured --db b.sqlite b.jsonl >/dev/null";
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", script, "sh", TOOL, TEST_DATA_DIR "/cli/demo.small.jsonl", (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(regressions_are_red_on_terminals)
{
    static const char *const diff[] = {"diff", "a.sqlite", "b.sqlite", NULL}, *const back[] = {"diff", "b.sqlite", "a.sqlite", NULL};
    make_sides();
    char *text = on_terminal(120, 1, diff);
    ck_assert_msg(strstr(text, "\033[31mSLOW\033[0m") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "\033[32m"));
    mt_free(text);
    text = on_terminal(120, 1, back);
    ck_assert_ptr_nonnull(strstr(text, "\033[32mFAST\033[0m"));
    mt_free(text);
    char *plain = in_file(1, diff);
    ck_assert_ptr_null(strchr(plain, '\033'));
    ck_assert_ptr_nonnull(strstr(plain, "SLOW"));
    mt_free(plain);
}
END_TEST

START_TEST(nobody_gets_colour_who_refuses_it)
{
    static const char *const diff[] = {"diff", "a.sqlite", "b.sqlite", NULL};
    make_sides();
    setenv(_i ? "TERM" : "NO_COLOR", _i ? "dumb" : "1", 1);
    char *text = on_terminal(120, 1, diff);
    ck_assert_ptr_nonnull(strstr(text, "SLOW"));
    ck_assert_ptr_null(strchr(text, '\033'));
    mt_free(text);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "", 1); /* empty is as good as not set */
    text = on_terminal(120, 1, diff);
    ck_assert_ptr_nonnull(strstr(text, "\033[31m"));
    mt_free(text);
}
END_TEST

START_TEST(the_best_is_green_on_terminals)
{
    char *text = on_terminal(120, 1, tune);
    ck_assert_msg(strstr(text, "Best:       \033[32m") != NULL, "%s", text);
    mt_free(text);
}
END_TEST

int main(void)
{
    TCase *group = tcase_create("terminal");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_loop_test(group, the_progress_is_one_line_that_fits, 0, 2);
    tcase_add_loop_test(group, nobody_gets_colour_who_refuses_it, 0, 2);
    const TTest *const tests[] = {a_file_gets_whole_lines, quiet_is_quiet, regressions_are_red_on_terminals, the_best_is_green_on_terminals};
    return unit_run_group("terminal", group, tests, sizeof tests / sizeof tests[0]);
}
