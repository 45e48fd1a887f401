#include "tuner/cli/measure/rerun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/external_tool.h"
#include "tuner/worker/single_run.h"

struct mt_rerun {
    mt_bench bench;
    int device;
    mt_l2 l2;
    mt_space *space; /* of the last shape */
    uint64_t trials;
};

mt_status mt_rerun_open(const mt_rerun_options *options, mt_rerun **out, mt_error *err)
{
    mt_rerun *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    mt_bench_options one_at_a_time = options->bench;
    one_at_a_time.jobs = 1;
    mt_status st = mt_bench_open(&one_at_a_time, &self->bench, err);
    if (st != MT_OK) {
        mt_free(self);
        return st;
    }
    self->device = options->bench.device;
    self->l2 = options->l2;
    *out = self;
    return MT_OK;
}

void mt_rerun_close(mt_rerun *self)
{
    if (!self) return;
    mt_space_free(self->space);
    mt_bench_close(&self->bench);
    mt_free(self);
}

const char *mt_rerun_kernel_key(const mt_rerun *self)
{
    return self->bench.kernel_key.hex;
}

const char *mt_rerun_kernel(const mt_rerun *self)
{
    return self->bench.spec->name;
}

const char *mt_rerun_gpu_key(const mt_rerun *self)
{
    return self->bench.gpu_key;
}

const mt_spec *mt_rerun_spec(const mt_rerun *self)
{
    return self->bench.spec;
}

mt_toolchain_row mt_rerun_toolchain(const mt_rerun *self)
{
    const mt_evaluator *evaluator = self->bench.evaluator;
    return (mt_toolchain_row){evaluator->facts.nvrtc_version, evaluator->facts.driver_version, evaluator->arch};
}

/* ---- one evaluation ---- */

/* The space of this one point: to enumerate all of them would take longer than the run. */
static mt_status find_point(mt_rerun *self, const mt_shape *shape, const char *variant, size_t *index, mt_error *err)
{
    mt_point point, listed;
    mt_error why;
    if (mt_point_parse(self->bench.spec, variant, &point, &why) != MT_OK) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: %s", variant, why.message);
    listed = point; /* which would be completed with defaults */
    mt_space *space = NULL;
    mt_status st = mt_space_create_recorded(self->bench.spec, shape, &self->bench.evaluator->facts, &listed, 1, &space, err);
    if (st != MT_OK) return st;
    mt_space_free(self->space);
    self->space = space;
    if (!mt_space_find(space, &point, index)) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: %s excludes it for shape %s on this GPU", variant, self->bench.path, shape->name);
    return MT_OK;
}

static mt_status drive(mt_rerun *self, uint64_t id, const mt_trial_start *how, mt_outcome *outcome, mt_error *err)
{
    const mt_evaluator_ops *ops = self->bench.evaluator->ops;
    for (;;) {
        mt_event event;
        mt_status st = ops->next(self->bench.evaluator, &event, err);
        if (st != MT_OK) return st;
        bool is_ours = event.trial == id, is_done = is_ours && event.kind == MT_EVENT_DONE;
        if (is_ours && event.kind == MT_EVENT_READY) st = ops->start(self->bench.evaluator, id, how, err);
        if (is_done) {
            *outcome = event.outcome;
            memset(&event.outcome, 0, sizeof event.outcome);
        }
        mt_event_free(&event);
        if (st != MT_OK || is_done) return st;
    }
}

mt_status mt_rerun_variant(mt_rerun *self, const char *shape_name, const char *workload_name, const char *variant, uint32_t batch, mt_outcome *outcome, mt_error *err)
{
    mt_status st = MT_OK;
    size_t index;
    const mt_shape *shape = mt_spec_shape(self->bench.spec, shape_name);
    const mt_workload *workload = mt_spec_workload(self->bench.spec, workload_name);
    memset(outcome, 0, sizeof *outcome);
    if (shape && strstr(workload_name, "+inputs-")) return MT_FAIL(err, MT_ERR_NOT_FOUND, "its inputs came from files (tune --input), which are not kept");
    if (!shape || !workload) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s has no %s %s any more", self->bench.path, shape ? "workload" : "shape", shape ? workload_name : shape_name);
    mt_trial trial = {.id = ++self->trials, .subject = self->trials, .variant = variant};
    MT_TRY(find_point(self, shape, variant, &index, err));
    trial.index = index;
    MT_TRY(self->bench.evaluator->ops->begin(self->bench.evaluator, self->trials, self->space, workload, self->l2, err));
    MT_TRY(self->bench.evaluator->ops->submit(self->bench.evaluator, &trial, err));
    MT_TRY(drive(self, trial.id, &(mt_trial_start){.method = mt_method_of(batch)}, outcome, err));
done:
    return st;
}

/* ---- under a tool ---- */

typedef struct waiting {
    mt_rerun_report *report;
    bool is_done;
} waiting;

static void on_end(void *context, const mt_external_tool_end *end)
{
    waiting *w = context;
    w->report->text = mt_strdup(end->text);
    w->report->exit_code = end->signal ? -1 : end->exit_code;
    w->report->is_timeout = end->is_timeout;
    w->is_done = true;
}

mt_status mt_rerun_under(mt_rerun *self, const char *const *prefix, mt_depth depth, double limit_s, mt_rerun_report *report, mt_error *err)
{
    mt_status st = MT_OK;
    char path[] = "/tmp/msda-tune-case-XXXXXX";
    mt_single_run_command command = {0};
    waiting w = {.report = report};
    mt_external_tool *outside;
    *report = (mt_rerun_report){0};
    int fd = mkstemp(path);
    if (fd < 0) return MT_FAIL(err, MT_ERR_IO, "%s: cannot be created", path);
    close(fd);
    MT_TRY(mt_eval_worker_save_case(self->bench.evaluator, path, depth, err));
    MT_TRY(mt_single_run_command_make(prefix, self->device, path, &command, err));
    MT_TRY(mt_external_tool_start(&self->bench.loop, command.argv, limit_s, on_end, &w, &outside, err));
    while (!w.is_done) uv_run(&self->bench.loop, UV_RUN_ONCE);
    if (!report->text) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
done:
    unlink(path);
    mt_single_run_command_free(&command);
    return st;
}

/* Whether each "NAME=VALUE;" of `a` stands somewhere in `b`. */
static bool is_within(const char *a, const char *b)
{
    for (size_t length; *a; a += length + (a[length] != '\0')) {
        bool found = false;
        length = strcspn(a, ";");
        for (const char *at = b; !found && *at; at += strcspn(at, ";"), at += *at == ';') found = strcspn(at, ";") == length && memcmp(at, a, length) == 0;
        if (!found) return false;
    }
    return true;
}

bool mt_rerun_same_variant(const char *given, const char *stored)
{
    char *pairs = mt_print_unlisted(given);
    bool is_same = pairs && !*pairs == !*stored && is_within(pairs, stored) && is_within(stored, pairs);
    mt_free(pairs);
    return is_same;
}
