#include "tuner/evaluate/diagnose.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/worker/single_run.h"
#include "tuner/evaluate/external_tool.h"

enum { MAX_KEPT = 16384 };

struct mt_diagnosis {
    mt_diagnose_request request;
    mt_external_tool *outside;
    char path[64]; /* of the case */
};

static void on_end(void *context, const mt_external_tool_end *end)
{
    mt_diagnosis *self = context;
    mt_strbuf text = {0};
    mt_strbuf_add(&text, "compute-sanitizer:");
    if (end->is_timeout) mt_strbuf_addf(&text, " no end within %g s", self->request.limit_s);
    mt_strbuf_addf(&text, "\n%.*s", MAX_KEPT, end->text);
    unlink(self->path);
    self->request.done(self->request.context, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    mt_free(self);
}

mt_status mt_diagnose_start(const mt_diagnose_request *request, mt_diagnosis **diagnosis, mt_error *err)
{
    mt_status st = MT_OK;
    mt_single_run_command command = {0};
    mt_diagnosis *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "diagnose: out of memory");
    self->request = *request;
    strcpy(self->path, "/tmp/msda-tune-case-XXXXXX");
    int fd = mkstemp(self->path);
    if (fd >= 0) close(fd);
    const char *const prefix[] = {request->sanitizer, "--tool", "memcheck", "--report-api-errors", "no", "--print-limit", "20", NULL};
    MT_TRY(mt_single_run_save(self->path, request->frame, MT_DEPTH_VALIDATE, request->bundle_fd, err));
    MT_TRY(mt_single_run_command_make(prefix, request->device, self->path, &command, err));
    MT_TRY(mt_external_tool_start(request->loop, command.argv, request->limit_s, on_end, self, &self->outside, err));
    *diagnosis = self;
    self = NULL;
done:
    if (self) unlink(self->path);
    mt_free(self);
    mt_single_run_command_free(&command);
    return st;
}

void mt_diagnose_kill(mt_diagnosis *diagnosis)
{
    mt_external_tool_kill(diagnosis->outside);
}
