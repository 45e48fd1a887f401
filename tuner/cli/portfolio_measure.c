#include "tuner/cli/portfolio_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/cli/progress.h"
#include "tuner/cli/share.h"
#include "tuner/run/session.h"
#include "tuner/space/spec_json.h"

struct mt_portfolio_bench {
    mt_portfolio_bench_options options;
    mt_bench bench;
};

/* ---- opening ---- */

/* The shapes for which the kernel was tuned: also those that were given by their values are measured again. */
typedef struct tuned_shapes {
    char **keys;
    size_t count, capacity;
} tuned_shapes;

static mt_status add_shape(void *context, const mt_measurement_row *row, mt_error *err)
{
    tuned_shapes *shapes = context;
    for (size_t i = 0; i < shapes->count; i++) {
        if (strcmp(shapes->keys[i], row->shape_key) == 0) return MT_OK;
    }
    char **keys = mt_grow(shapes->keys, shapes->count, &shapes->capacity, sizeof *keys);
    if (!keys) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    shapes->keys = keys;
    keys[shapes->count] = mt_strdup(row->shape_key);
    return keys[shapes->count++] ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
}

static mt_status find_shapes(const mt_portfolio_bench_options *options, mt_store *store, tuned_shapes *shapes, mt_error *err)
{
    mt_status st = MT_OK;
    char *path = NULL;
    mt_spec *spec = NULL;
    MT_TRY(mt_share_space(options->space, &path, err));
    MT_TRY(mt_spec_load(path, &spec, err));
    const mt_filter filter = {.kernel = spec->name};
    st = mt_query_best(store, &filter, add_shape, shapes, err);
done:
    mt_spec_free(spec);
    mt_free(path);
    return st;
}

/* As each session does: what other expressions excluded is then seen to be that. */
static mt_status store_expressions(const mt_bench *bench, mt_store *store, mt_error *err)
{
    int64_t id;
    char *expressions = mt_spec_json(bench->spec);
    const mt_kernel_row row = {.name = bench->spec->name, .key = bench->kernel_key.hex, .spec_json = expressions};
    mt_status st = expressions ? mt_store_kernel(store, &row, &id, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    mt_free(expressions);
    return st;
}

mt_status mt_portfolio_bench_open(const mt_portfolio_bench_options *options, mt_store *store, mt_portfolio_bench **out, mt_error *err)
{
    mt_status st = MT_OK;
    tuned_shapes shapes = {0};
    mt_portfolio_bench *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    self->options = *options;
    MT_TRY(find_shapes(options, store, &shapes, err));
    const mt_bench_options wishes = {.space = options->space, .gpu = options->gpu ? options->gpu : "auto", .recordings = options->recordings, .seed = (uint64_t)options->seed,
                                     .shape_keys = (const char *const *)shapes.keys, .shape_key_count = shapes.count};
    MT_TRY(mt_bench_open(&wishes, &self->bench, err));
    MT_TRY(store_expressions(&self->bench, store, err));
    *out = self;
    self = NULL;
done:
    for (size_t i = 0; i < shapes.count; i++) mt_free(shapes.keys[i]);
    mt_free(shapes.keys);
    mt_free(self);
    return st;
}

void mt_portfolio_bench_close(mt_portfolio_bench *self)
{
    if (!self) return;
    mt_bench_close(&self->bench);
    mt_free(self);
}

const mt_bench *mt_portfolio_bench_of(const mt_portfolio_bench *self)
{
    return &self->bench;
}

mt_origin mt_portfolio_bench_origin(const mt_portfolio_bench *self)
{
    return self->bench.evaluator->is_recorded ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED;
}

mt_regime mt_portfolio_bench_regime(const mt_portfolio_bench *self)
{
    return self->options.regime ? (mt_regime)(self->options.regime - 1) : self->bench.spec->regime;
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
    mt_status st = MT_OK;
    const mt_ladder_subject *subject = &table->subjects[index];
    mt_session_given given = {.variants = (const char *const *)w->texts + w->text_count};
    if (!find_target(self->bench.spec, table, subject, &given)) {
        mt_log_warn("%s · %s is not in %s: nothing is measured for it", table->shape_names[subject->shape], subject->workload, self->bench.path);
        return MT_OK;
    }
    if (isnan(subject->default_slowdown) && subject->default_variant) {
        if (!(w->texts[w->text_count++] = mt_strdup(subject->default_variant))) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
        given.variant_count++;
    }
    for (size_t v = 0; v < candidates && v < table->variant_count && st == MT_OK; v++) {
        if (table->cells[index * table->variant_count + v].measurement) continue;
        st = mt_query_variant_text(store, table->variants[v], &w->texts[w->text_count], err);
        if (st != MT_OK) break;
        w->text_count++;
        given.variant_count++;
    }
    if (given.variant_count) w->given[w->given_count++] = given;
    return st;
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

mt_status mt_portfolio_bench_measure(mt_portfolio_bench *self, mt_store *store, const mt_ladder_table *table, size_t candidates, const char *command, size_t *missing, mt_error *err)
{
    mt_status st;
    wanted w = {0};
    *missing = 0;
    mt_session_result result = {0};
    mt_display display = {0};
    MT_TRY(gather(self, store, table, candidates, &w, err));
    *missing = w.text_count;
    if (w.given_count == 0) goto done;
    mt_display_init(&display, self->options.quiet);
    display.summary = stderr;
    display.facts = &self->bench.evaluator->facts;
    display.is_recorded = self->bench.evaluator->is_recorded;
    mt_progress progress = mt_display_progress(&display);
    progress.subject_end = NULL; /* the portfolio is the summary */
    mt_session_params params = {.spec = self->bench.spec, .source = &self->bench.source, .kernel_key = self->bench.kernel_key, .given = w.given, .given_count = w.given_count, .strategy = "exhaustive",
                                .seed = (uint64_t)self->options.seed, .regime = mt_portfolio_bench_regime(self), .no_race = true, .reuse = MT_REUSE_ANY, .command = command, .progress = &progress};
    st = mt_session_run(&self->bench.loop, &params, self->bench.evaluator, store, &result, err);
    mt_display_end(&display);
    if (st == MT_OK && result.interrupted) st = MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted; everything measured until then is kept, the same command goes on from there");
done:
    free_wanted(&w);
    return st;
}
