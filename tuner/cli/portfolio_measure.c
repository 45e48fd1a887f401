#include "tuner/cli/portfolio_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/room.h"
#include "tuner/base/text.h"
#include "tuner/cli/progress.h"
#include "tuner/cli/share.h"
#include "tuner/run/eval_replay.h"
#include "tuner/run/eval_worker.h"
#include "tuner/run/session.h"

struct mt_portfolio_bench {
    mt_portfolio_bench_options options;
    uv_loop_t loop;
    bool has_loop;
    char *path, *cache_dir;
    mt_spec *spec;
    mt_source source;
    mt_hash kernel_key;
    char gpu_key[MT_KEY_GPU_SIZE];
    mt_store *recordings;
    mt_evaluator *evaluator;
};

/* ---- opening ---- */

static mt_status open_real(mt_portfolio_bench *self, const char *gpu, mt_error *err)
{
    int64_t ordinal = 0;
    if (strcmp(gpu, "auto") != 0 && (!mt_text_int64(gpu, strlen(gpu), &ordinal) || ordinal < 0 || ordinal > 1023))
        return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --gpu is '%s'; measuring needs auto, a device number or recorded:NAME", gpu);
    if (!MT_WITH_CUDA) return MT_FAIL(err, MT_ERR_NO_GPU, "this build has no GPU part (the CUDA Toolkit's headers were not there)");
    self->cache_dir = mt_path_user_cache();
    if (!self->cache_dir) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    mt_worker_options workers = {.device = (int)ordinal, .cache_dir = self->cache_dir, .seed = (uint64_t)self->options.seed, .compile_limit_s = 60, .variant_limit_s = 10, .subject_limit_s = 60};
    return mt_eval_worker_create(&self->loop, self->spec, &self->source, &workers, &self->evaluator, err);
}

static mt_status open_evaluator(mt_portfolio_bench *self, mt_error *err)
{
    const char *gpu = self->options.gpu ? self->options.gpu : "auto";
    mt_status st = mt_room_check(err);
    if (st != MT_OK) return st;
    if (uv_loop_init(&self->loop) != 0) return MT_FAIL(err, MT_ERR_IO, "portfolio: no event loop");
    self->has_loop = true;
    if (strncmp(gpu, "recorded:", 9) != 0) return open_real(self, gpu, err);
    st = mt_share_recordings(self->options.recordings, &self->recordings, err);
    return st == MT_OK ? mt_eval_replay_create(self->recordings, gpu + 9, self->spec, &self->evaluator, err) : st;
}

mt_status mt_portfolio_bench_open(const mt_portfolio_bench_options *options, mt_portfolio_bench **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_portfolio_bench *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    self->options = *options;
    MT_TRY(mt_share_space(options->space, &self->path, err));
    MT_TRY(mt_spec_load(self->path, &self->spec, err));
    MT_TRY(mt_source_load(self->spec, &self->source, err));
    MT_TRY(mt_source_key(self->spec, &self->source, &self->kernel_key, err));
    MT_TRY(open_evaluator(self, err));
    const mt_device_facts *facts = &self->evaluator->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, self->gpu_key, sizeof self->gpu_key);
    *out = self;
    self = NULL;
done:
    mt_portfolio_bench_close(self);
    return st;
}

void mt_portfolio_bench_close(mt_portfolio_bench *self)
{
    if (!self) return;
    if (self->evaluator) self->evaluator->ops->destroy(self->evaluator);
    if (self->has_loop) {
        uv_run(&self->loop, UV_RUN_NOWAIT);
        uv_loop_close(&self->loop);
    }
    mt_store_close(self->recordings);
    mt_source_free(&self->source);
    mt_spec_free(self->spec);
    mt_free(self->path);
    mt_free(self->cache_dir);
    mt_free(self);
}

const char *mt_portfolio_bench_gpu(const mt_portfolio_bench *self)
{
    return self->gpu_key;
}

const char *mt_portfolio_bench_kernel(const mt_portfolio_bench *self)
{
    return self->spec->name;
}

const char *mt_portfolio_bench_kernel_key(const mt_portfolio_bench *self)
{
    return self->kernel_key.hex;
}

mt_origin mt_portfolio_bench_origin(const mt_portfolio_bench *self)
{
    return self->evaluator->is_recorded ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED;
}

mt_regime mt_portfolio_bench_regime(const mt_portfolio_bench *self)
{
    return self->options.regime ? (mt_regime)(self->options.regime - 1) : self->spec->regime;
}

/* ---- what is missing ---- */

typedef struct wanted {
    mt_session_given *given;      /* one a subject */
    char **texts;                 /* all subjects' variants, owned */
    size_t given_count, text_count;
} wanted;

static void free_wanted(wanted *w)
{
    for (size_t i = 0; i < w->text_count; i++) mt_free(w->texts[i]);
    mt_free(w->texts);
    mt_free(w->given);
}

static bool is_missing(const mt_ladder_table *table, size_t subject, size_t variant)
{
    return table->cells[subject * table->variant_count + variant].measurement == 0;
}

/* The file's shape and workload of a subject; the name may have changed, the key says which it is. */
static bool find_target(const mt_spec *spec, const mt_ladder_table *table, const mt_ladder_subject *subject, mt_session_given *given)
{
    for (size_t i = 0; i < spec->shape_count; i++) {
        if (strcmp(spec->shapes[i].key, table->shape_keys[subject->shape]) == 0) given->shape = &spec->shapes[i];
    }
    for (size_t i = 0; i < spec->workload_count; i++) {
        if (strcmp(spec->workloads[i].key, subject->workload_key) == 0) given->workload = &spec->workloads[i];
    }
    return given->shape && given->workload;
}

static mt_status add_subject(const mt_portfolio_bench *self, mt_store *store, const mt_ladder_table *table, size_t index, size_t candidates, wanted *w, mt_error *err)
{
    const mt_ladder_subject *subject = &table->subjects[index];
    mt_session_given given = {.variants = (const char *const *)w->texts + w->text_count};
    if (!find_target(self->spec, table, subject, &given)) {
        mt_log_warn("%s · %s is not in %s: nothing is measured for it", table->shape_names[subject->shape], subject->workload, self->path);
        return MT_OK;
    }
    if (isnan(subject->default_slowdown) && subject->default_variant) {
        if (!(w->texts[w->text_count++] = mt_strdup(subject->default_variant))) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
        given.variant_count++;
    }
    for (size_t v = 0; v < candidates && v < table->variant_count; v++) {
        if (!is_missing(table, index, v)) continue;
        mt_status st = mt_query_variant_text(store, table->variants[v], &w->texts[w->text_count], err);
        if (st != MT_OK) return st;
        w->text_count++;
        given.variant_count++;
    }
    if (given.variant_count) w->given[w->given_count++] = given;
    return MT_OK;
}

static mt_status gather(const mt_portfolio_bench *self, mt_store *store, const mt_ladder_table *table, size_t candidates, wanted *w, mt_error *err)
{
    mt_status st = MT_OK;
    w->given = mt_alloc(table->subject_count + 1, sizeof *w->given);
    w->texts = mt_alloc(table->subject_count * (table->variant_count + 1) + 1, sizeof *w->texts);
    if (!w->given || !w->texts) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    for (size_t i = 0; i < table->subject_count && st == MT_OK; i++) st = add_subject(self, store, table, i, candidates, w, err);
    return st;
}

/* ---- measuring ---- */

mt_status mt_portfolio_bench_measure(mt_portfolio_bench *self, mt_store *store, const mt_ladder_table *table, size_t candidates, const char *command, mt_error *err)
{
    mt_status st;
    wanted w = {0};
    mt_session_result result = {0};
    mt_display display = {0};
    MT_TRY(gather(self, store, table, candidates, &w, err));
    if (w.given_count == 0) goto done;
    mt_display_init(&display, self->options.quiet);
    display.summary = stderr;
    display.facts = &self->evaluator->facts;
    display.is_recorded = self->evaluator->is_recorded;
    mt_progress progress = mt_display_progress(&display);
    progress.subject_end = NULL; /* the portfolio is the summary */
    mt_session_params params = {.spec = self->spec, .source = &self->source, .kernel_key = self->kernel_key, .given = w.given, .given_count = w.given_count, .strategy = "exhaustive",
                                .seed = (uint64_t)self->options.seed, .regime = mt_portfolio_bench_regime(self), .no_race = true, .reuse = MT_REUSE_ANY, .command = command, .progress = &progress};
    st = mt_session_run(&self->loop, &params, self->evaluator, store, &result, err);
    mt_display_end(&display);
    if (st == MT_OK && result.interrupted) st = MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted; everything measured until then is kept, the same command goes on from there");
done:
    free_wanted(&w);
    return st;
}
