#include "tuner/cli/rerun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/share.h"
#include "tuner/run/event_queue.h"
#include "tuner/run/once.h"
#include "tuner/run/outside.h"
#include "tuner/space/adhoc.h"

struct mt_rerun {
    mt_rerun_options options;
    uv_loop_t loop;
    bool has_loop;
    char *path, *cache_dir;
    mt_spec *spec;
    mt_source source;
    mt_hash kernel_key;
    char gpu_key[MT_KEY_GPU_SIZE];
    mt_evaluator *evaluator;
    mt_space *space; /* of the last shape */
    uint64_t trials;
};

static mt_status load_spec(mt_rerun *self, mt_error *err)
{
    mt_status st;
    mt_strbuf sections = {0};
    MT_TRY(mt_spec_load(self->path, &self->spec, err));
    for (size_t i = 0; i < self->options.shape_key_count; i++) {
        mt_error ignored;
        char *name;
        mt_adhoc_add(self->spec, self->options.shape_keys[i], NULL, &sections, &name, &ignored);
        mt_free(name);
    }
    if (!sections.length) goto done;
    mt_spec_free(self->spec);
    self->spec = NULL;
    st = mt_spec_load_with(self->path, mt_strbuf_text(&sections), &self->spec, err);
done:
    mt_strbuf_free(&sections);
    return st;
}

mt_status mt_rerun_open(const mt_rerun_options *options, mt_rerun **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_rerun *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    self->options = *options;
    MT_TRY(mt_share_space(options->space, &self->path, err));
    MT_TRY(load_spec(self, err));
    self->options.shape_keys = NULL; /* the caller's */
    MT_TRY(mt_source_load(self->spec, &self->source, err));
    MT_TRY(mt_source_key(self->spec, &self->source, &self->kernel_key, err));
    self->cache_dir = mt_path_user_cache();
    if (uv_loop_init(&self->loop) != 0 || !self->cache_dir) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "no event loop");
        goto done;
    }
    self->has_loop = true;
    mt_worker_options workers = {.jobs = 1, .device = options->device, .cache_dir = self->cache_dir, .seed = options->seed, .compile_limit_s = 60,
                                 .variant_limit_s = options->variant_limit_s > 0 ? options->variant_limit_s : 10, .subject_limit_s = 60, .guard_pages = options->guard_pages};
    MT_TRY(mt_eval_worker_create(&self->loop, self->spec, &self->source, &workers, &self->evaluator, err));
    self->evaluator->regime = options->regime;
    const mt_device_facts *facts = &self->evaluator->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, self->gpu_key, sizeof self->gpu_key);
    *out = self;
    self = NULL;
done:
    mt_rerun_close(self);
    return st;
}

void mt_rerun_close(mt_rerun *self)
{
    if (!self) return;
    if (self->evaluator) self->evaluator->ops->destroy(self->evaluator);
    mt_space_free(self->space);
    if (self->has_loop) {
        uv_run(&self->loop, UV_RUN_NOWAIT);
        uv_loop_close(&self->loop);
    }
    mt_source_free(&self->source);
    mt_spec_free(self->spec);
    mt_free(self->path);
    mt_free(self->cache_dir);
    mt_free(self);
}

const char *mt_rerun_kernel_key(const mt_rerun *self)
{
    return self->kernel_key.hex;
}

const char *mt_rerun_kernel(const mt_rerun *self)
{
    return self->spec->name;
}

const char *mt_rerun_gpu_key(const mt_rerun *self)
{
    return self->gpu_key;
}

const mt_spec *mt_rerun_spec(const mt_rerun *self)
{
    return self->spec;
}

/* ---- one evaluation ---- */

static mt_status find_point(mt_rerun *self, const mt_shape *shape, const char *variant, size_t *index, mt_error *err)
{
    mt_point point;
    mt_space *space = NULL;
    mt_status st = mt_space_create(self->spec, shape, &self->evaluator->facts, &space, err);
    if (st != MT_OK) return st;
    mt_space_free(self->space);
    self->space = space;
    mt_error why;
    if (mt_point_parse(self->spec, variant, &point, &why) != MT_OK) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: %s", variant, why.message);
    if (!mt_space_find_legal(space, &point, index)) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: %s excludes it for shape %s on this GPU", variant, self->path, shape->name);
    return MT_OK;
}

static mt_status drive(mt_rerun *self, uint64_t id, mt_outcome *outcome, mt_error *err)
{
    const mt_evaluator_ops *ops = self->evaluator->ops;
    for (;;) {
        mt_event event;
        mt_status st = ops->next(self->evaluator, &event, err);
        if (st != MT_OK) return st;
        bool is_ours = event.trial == id, is_done = is_ours && event.kind == MT_EVENT_DONE;
        if (is_ours && event.kind == MT_EVENT_READY) st = ops->start(self->evaluator, id, err);
        if (is_done) {
            *outcome = event.outcome;
            memset(&event.outcome, 0, sizeof event.outcome);
        }
        mt_event_free(&event);
        if (st != MT_OK || is_done) return st;
    }
}

mt_status mt_rerun_variant(mt_rerun *self, const char *shape_name, const char *workload_name, const char *variant, mt_outcome *outcome, mt_error *err)
{
    mt_status st = MT_OK;
    size_t index;
    const mt_shape *shape = mt_spec_shape(self->spec, shape_name);
    const mt_workload *workload = mt_spec_workload(self->spec, workload_name);
    memset(outcome, 0, sizeof *outcome);
    if (!shape || !workload) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s has no %s %s any more", self->path, shape ? "workload" : "shape", shape ? workload_name : shape_name);
    mt_trial trial = {.id = ++self->trials, .subject = self->trials, .variant = variant};
    MT_TRY(find_point(self, shape, variant, &index, err));
    trial.index = index;
    MT_TRY(self->evaluator->ops->begin(self->evaluator, self->trials, self->space, workload, err));
    MT_TRY(self->evaluator->ops->submit(self->evaluator, &trial, err));
    MT_TRY(drive(self, trial.id, outcome, err));
done:
    return st;
}

/* ---- under a tool ---- */

typedef struct waiting {
    mt_rerun_report *report;
    bool is_done;
} waiting;

static void on_end(void *context, const mt_outside_end *end)
{
    waiting *w = context;
    w->report->text = mt_strdup(end->text);
    w->report->exit_code = end->signal ? -1 : end->exit_code;
    w->report->is_timeout = end->is_timeout;
    w->is_done = true;
}

mt_status mt_rerun_under(mt_rerun *self, const char *const *prefix, mt_order_depth depth, double limit_s, mt_rerun_report *report, mt_error *err)
{
    mt_status st = MT_OK;
    char path[] = "/tmp/msda-tune-case-XXXXXX";
    mt_once_command command = {0};
    waiting w = {.report = report};
    mt_outside *outside;
    *report = (mt_rerun_report){0};
    int fd = mkstemp(path);
    if (fd < 0) return MT_FAIL(err, MT_ERR_IO, "%s: cannot be created", path);
    close(fd);
    MT_TRY(mt_eval_worker_save_case(self->evaluator, path, depth, err));
    MT_TRY(mt_once_command_make(prefix, self->options.device, path, &command, err));
    MT_TRY(mt_outside_start(&self->loop, command.argv, limit_s, on_end, &w, &outside, err));
    while (!w.is_done) uv_run(&self->loop, UV_RUN_ONCE);
    if (!report->text) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
done:
    unlink(path);
    mt_once_command_free(&command);
    return st;
}

bool mt_rerun_same_variant(const char *given, const char *stored)
{
    while (*given && *stored && (*given == *stored || (*given == ' ' && *stored == ';'))) {
        given++;
        stored++;
    }
    return !*given && !*stored;
}
