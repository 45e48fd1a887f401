#include "tuner/evaluate/external_tool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { MAX_TEXT = 4 << 20 };

struct mt_external_tool {
    uv_process_t process;
    uv_timer_t timer;
    void (*done)(void *context, const mt_external_tool_end *end);
    void *context;
    mt_external_tool_end end;
    int output;
    int open; /* of our two handles */
};

/* ---- finding ---- */

static char *in_folder(const char *folder, size_t length, const char *rest, const char *name)
{
    mt_strbuf path = {0};
    mt_strbuf_addf(&path, "%.*s%s/%s", (int)length, folder, rest, name);
    if (length && !path.failed && access(mt_strbuf_text(&path), X_OK) == 0) return mt_strbuf_take(&path);
    mt_strbuf_free(&path);
    return NULL;
}

char *mt_external_tool_find(const char *name)
{
    const char *path = getenv("PATH");
    char *found = NULL;
    while (path && !found) {
        size_t length = strcspn(path, ":");
        found = in_folder(path, length, "", name);
        path = path[length] ? path + length + 1 : NULL;
    }
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof homes / sizeof homes[0] && !found; i++)
        if (homes[i]) found = in_folder(homes[i], strlen(homes[i]), "/bin", name);
    return found;
}

/* ---- running ---- */

static void on_closed(uv_handle_t *handle)
{
    mt_external_tool *self = handle->data;
    if (--self->open > 0) return;
    close(self->output);
    mt_free(self);
}

static char *read_output(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size > MAX_TEXT) size = MAX_TEXT;
    char *text = mt_alloc((size_t)(size > 0 ? size : 0) + 1, 1);
    if (!text) return NULL;
    ssize_t count = size > 0 ? pread(fd, text, (size_t)size, 0) : 0;
    if (count < 0) count = 0;
    text[count] = '\0';
    mt_text_defuse(text, (size_t)count);
    return text;
}

static void on_exit_status(uv_process_t *process, int64_t exit_code, int signal)
{
    mt_external_tool *self = process->data;
    char *text = read_output(self->output);
    self->end.exit_code = (int)exit_code;
    self->end.signal = signal;
    self->end.text = text ? text : "";
    self->done(self->context, &self->end);
    mt_free(text);
    uv_close((uv_handle_t *)&self->process, on_closed);
    uv_close((uv_handle_t *)&self->timer, on_closed);
}

void mt_external_tool_kill(mt_external_tool *self)
{
    uv_kill(-uv_process_get_pid(&self->process), SIGKILL); /* its group: these programs start others */
}

static void on_time(uv_timer_t *timer)
{
    mt_external_tool *self = timer->data;
    self->end.is_timeout = true;
    mt_external_tool_kill(self);
}

static int spawn(uv_loop_t *loop, mt_external_tool *self, const char *const *argv)
{
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = self->output},
        {.flags = UV_INHERIT_FD, .data.fd = self->output},
    };
    uv_process_options_t options = {
        .exit_cb = on_exit_status,
        .file = argv[0],
        .args = (char **)argv,
        .stdio_count = 3,
        .stdio = stdio,
        .flags = UV_PROCESS_DETACHED, /* a group of its own */
    };
    return uv_spawn(loop, &self->process, &options);
}

mt_status mt_external_tool_start(uv_loop_t *loop, const char *const *argv, double limit_s, void (*done)(void *context, const mt_external_tool_end *end), void *context, mt_external_tool **out,
                           mt_error *err)
{
    mt_external_tool *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", argv[0]);
    self->done = done;
    self->context = context;
    self->process.data = self->timer.data = self;
    self->output = memfd_create("msda-tune-outside", MFD_CLOEXEC);
    int code = self->output < 0 ? UV_EMFILE : spawn(loop, self, argv);
    if (self->output < 0) {
        mt_free(self);
        return MT_FAIL(err, MT_ERR_IO, "%s: %s", argv[0], uv_strerror(code));
    }
    uv_timer_init(loop, &self->timer);
    self->open = 2;
    if (code != 0) {
        uv_close((uv_handle_t *)&self->process, on_closed);
        uv_close((uv_handle_t *)&self->timer, on_closed);
        return MT_FAIL(err, MT_ERR_IO, "cannot run %s: %s", argv[0], uv_strerror(code));
    }
    uv_update_time(loop);
    uv_timer_start(&self->timer, on_time, (uint64_t)(limit_s * 1000) + 1, 0);
    *out = self;
    return MT_OK;
}
