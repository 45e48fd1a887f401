/* msda-tune: finds the command's word, runs it, turns its status into the exit code. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/cli/command.h"
#include "tuner/cli/share.h"

/* A full disk or a closed pipe must not look like success. */
static mt_status flush_output(mt_status st, mt_error *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return st;
    return st == MT_OK ? MT_FAIL(err, MT_ERR_IO, "writing the output failed") : st;
}

static int finish(mt_status st, mt_error *err)
{
    st = flush_output(st, err);
    if (st == MT_ERR_INTERRUPTED) mt_log_info("%s", err->message);
    else if (st != MT_OK) mt_log_error("%s", err->message);
    return mt_status_exit_code(st);
}

/* Recordings need no GPU. A command that knows which kernel is meant has named its recordings already. */
static void name_recorded(mt_error *err)
{
    char reason[sizeof err->message];
    mt_strbuf hint = {0};
    if (strstr(err->message, "record")) return;
    snprintf(reason, sizeof reason, "%s", err->message);
    mt_share_recorded_hint(NULL, NULL, &hint);
    MT_FAIL(err, MT_ERR_NO_GPU, "%.*s\n%s", 1500, reason, mt_strbuf_text(&hint));
    mt_strbuf_free(&hint);
}

/* Started with 0, 1 or 2 closed, the next file opened would get that number, and libuv aborts over it. Opened against its direction, so that
 * reading and writing fail as they would have. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return;
    }
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run(int argc, char **argv) __attribute__((noinline));

static int run(int argc, char **argv)
{
    mt_error err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes then reads as an error of the write, with the file's name */
    setlocale(LC_CTYPE, "C.UTF-8"); /* widths of characters only; numbers stay as in C */
    if (argc < 2) {
        mt_command_help(NULL);
        return finish(MT_FAIL(&err, MT_ERR_USAGE, "no command and no options given"), &err);
    }
    const char *word = argv[1];
    if (is_word(word, "--help", "-h")) {
        mt_command_help(NULL);
        return finish(MT_OK, &err);
    }
    bool is_version = is_word(word, "--version", "-V");
    bool is_named = is_version || word[0] != '-';
    /* No command's word but options: tune. */
    const mt_command *command = mt_command_find(is_version ? "version" : is_named ? word : "tune");
    if (!command) return finish(mt_command_unknown(word, &err), &err);
    int used = is_named ? 2 : 1;
    if (command->raw) return command->raw(argc - used, argv + used);
    mt_status st = mt_command_run(command, argc - used, argv + used, &err);
    if (st == MT_ERR_NO_GPU) name_recorded(&err);
    return finish(st, &err);
}

/* Nothing large is on the stack before it is known to be there: below the limit that the check names, a few pages may be all. */
int main(int argc, char **argv)
{
    static mt_error no_stack;
    hold_standard_streams();
    if (mt_process_limits_check_stack(&no_stack) != MT_OK) return finish(MT_ERR_NO_MEMORY, &no_stack);
    return run(argc, argv);
}
