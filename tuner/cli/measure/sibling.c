#include "tuner/cli/measure/sibling.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/stop_signals.h"
#include "tuner/base/strbuf.h"
#include "tuner/session/session.h"

static const char parent_variable[] = "MSDA_TUNE_PARENT";
enum { INTERRUPTED = 130 };

struct stream {
    uv_pipe_t pipe;
    FILE *out;
    mt_strbuf line; /* what has come of it */
    char bytes[4096];
};

struct mt_sibling {
    uv_loop_t *loop;
    uv_process_t process;
    uv_signal_t signals[MT_STOP_SIGNALS_MAX];
    size_t signal_count;
    struct stream streams[2];
    char name[64];          /* "GPU 2,3" */
    void (*before_line)(void *context);
    void *context;
    bool has_exited, was_told; /* to end, by us */
    size_t talking, open;   /* streams without an end; handles */
    int64_t exit_code;
    int signal;
};

bool mt_sibling_enter(void)
{
    const char *parent = getenv(parent_variable);
    if (!parent) return false;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != (pid_t)strtol(parent, NULL, 10)) raise(SIGTERM); /* it died before the line above took effect */
    unsetenv(parent_variable);
    return true;
}

/* ---- what it says ---- */

static void print_lines(mt_sibling *self, struct stream *stream, bool is_end)
{
    const char *text = mt_strbuf_text(&stream->line);
    for (;;) {
        size_t length = strcspn(text, "\n");
        if (!text[length] && !(is_end && length)) break;
        if (!mt_log_has_warned(text, length)) { /* of what both are given, such as the search space */
            if (self->before_line) self->before_line(self->context);
            fprintf(stream->out, "[%s] %.*s\n", self->name, (int)length, text);
            fflush(stream->out);
        }
        text += length + (text[length] == '\n');
    }
    size_t left = strlen(text);
    memmove(stream->line.text ? stream->line.text : (char *)"", text, left);
    stream->line.length = left;
    if (stream->line.text) stream->line.text[left] = '\0';
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct stream *stream = (struct stream *)handle;
    (void)suggested;
    *buffer = uv_buf_init(stream->bytes, sizeof stream->bytes);
}

static void on_read(uv_stream_t *pipe, ssize_t count, const uv_buf_t *buffer)
{
    struct stream *stream = (struct stream *)pipe;
    mt_sibling *self = pipe->data;
    if (count > 0) mt_strbuf_add_bytes(&stream->line, buffer->base, (size_t)count);
    print_lines(self, stream, count < 0);
    if (count >= 0) return;
    uv_read_stop(pipe);
    self->talking--;
}

/* ---- its life ---- */

static void on_exit_status(uv_process_t *process, int64_t exit_code, int number)
{
    mt_sibling *self = process->data;
    self->has_exited = true;
    self->exit_code = exit_code;
    self->signal = number;
}

void mt_sibling_signal(mt_sibling *self, int number)
{
    if (!self->has_exited) self->was_told = uv_process_kill(&self->process, number) == 0;
}

static void on_signal(uv_signal_t *handle, int number)
{
    mt_sibling_signal(handle->data, number);
}

static void on_closed(uv_handle_t *handle)
{
    ((mt_sibling *)handle->data)->open--;
}

static void release(mt_sibling *self)
{
    uv_close((uv_handle_t *)&self->process, on_closed);
    for (size_t i = 0; i < self->signal_count; i++) uv_close((uv_handle_t *)&self->signals[i], on_closed);
    for (size_t i = 0; i < 2; i++) uv_close((uv_handle_t *)&self->streams[i].pipe, on_closed);
    while (self->open) uv_run(self->loop, UV_RUN_ONCE);
    for (size_t i = 0; i < 2; i++) mt_strbuf_free(&self->streams[i].line);
    mt_free(self);
}

static void init_handles(mt_sibling *self)
{
    int numbers[MT_STOP_SIGNALS_MAX];
    self->process.data = self;
    self->signal_count = mt_stop_signals(numbers);
    for (size_t i = 0; i < self->signal_count; i++) {
        uv_signal_init(self->loop, &self->signals[i]);
        self->signals[i].data = self;
        uv_signal_start(&self->signals[i], on_signal, numbers[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        uv_pipe_init(self->loop, &self->streams[i].pipe, 0);
        self->streams[i].pipe.data = self;
    }
    self->streams[0].out = stdout;
    self->streams[1].out = stderr;
    self->open = 1 + self->signal_count + 2; /* process, signals, pipes */
}

/* In a session of its own, so that a terminal's Ctrl-C reaches it once: through us. */
static int spawn(mt_sibling *self, char **argv, const mt_sibling_options *wanted)
{
    int input = wanted->input;
    uv_stdio_container_t stdio[3] = {{.flags = input ? UV_INHERIT_FD : UV_IGNORE, .data.fd = input}};
    for (size_t i = 0; i < 2; i++) {
        bool is_dropped = i == 0 && wanted->drops_output;
        stdio[i + 1].flags = is_dropped ? UV_IGNORE : UV_CREATE_PIPE | UV_WRITABLE_PIPE;
        stdio[i + 1].data.stream = is_dropped ? NULL : (uv_stream_t *)&self->streams[i].pipe;
    }
    const uv_process_options_t options = {
        .exit_cb = on_exit_status,
        .file = argv[0],
        .args = argv,
        .stdio_count = 3,
        .stdio = stdio,
        .flags = UV_PROCESS_DETACHED,
    };
    char parent[24];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    setenv(parent_variable, parent, 1);
    int code = uv_spawn(self->loop, &self->process, &options);
    unsetenv(parent_variable);
    for (size_t i = wanted->drops_output; i < 2 && code == 0; i++) {
        code = uv_read_start((uv_stream_t *)&self->streams[i].pipe, on_alloc, on_read);
        self->talking += code == 0;
    }
    return code;
}

mt_status mt_sibling_start(uv_loop_t *loop, const mt_sibling_options *options, mt_sibling **sibling, mt_error *err)
{
    mt_strbuf list = {0};
    char number[24];
    char *tool = mt_path_self();
    char **words = mt_alloc((size_t)options->argc + 8, sizeof *words);
    mt_sibling *self = mt_alloc(1, sizeof *self);
    for (size_t i = 0; i < options->count; i++) mt_strbuf_addf(&list, "%s%d", i ? "," : "", options->ordinals[i]);
    mt_status st = tool && words && self && !list.failed ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", options->command);
    if (st == MT_OK) {
        *self = (mt_sibling){.loop = loop, .before_line = options->before_line, .context = options->context};
        snprintf(self->name, sizeof self->name, "GPU %s", mt_strbuf_text(&list));
        snprintf(number, sizeof number, "%zu", options->jobs ? options->jobs : 1);
        size_t at = 0;
        words[at++] = tool;
        words[at++] = (char *)options->command;
        for (int i = 0; i < options->argc; i++) words[at++] = options->argv[i];
        char *const last[] = {(char *)"--gpu", (char *)mt_strbuf_text(&list), (char *)"--jobs", number}; /* the last one given counts */
        memcpy(words + at, last, sizeof last);
        init_handles(self);
        int code = spawn(self, words, options);
        if (code != 0) st = MT_FAIL(err, MT_ERR_WORKER, "%s: cannot start a tuner for %s: %s", options->command, self->name, uv_strerror(code));
        if (st == MT_OK) *sibling = self;
        else release(self);
        self = NULL;
    }
    MT_FREE_EACH(self, words, tool);
    mt_strbuf_free(&list);
    return st;
}

mt_status mt_sibling_join(mt_sibling *self, mt_error *err)
{
    mt_status st = MT_OK;
    if (!self) return MT_OK;
    while (!self->has_exited || self->talking) uv_run(self->loop, UV_RUN_ONCE);
    if (self->exit_code == INTERRUPTED || (self->signal && self->was_told)) /* one that had not begun its session yet just dies */
        st = MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted; everything measured until then is kept, the same command goes on from there");
    else if (self->signal) st = MT_FAIL(err, MT_ERR_WORKER, "the tuner for %s died of signal %d", self->name, self->signal);
    else if (self->exit_code) st = MT_FAIL(err, MT_ERR_WORKER, "the tuner for %s ended with exit code %lld", self->name, (long long)self->exit_code);
    release(self);
    return st;
}
