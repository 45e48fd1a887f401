#include "tuner/cli/measure/compile_winners.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/share.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/space/spec/adhoc.h"
#include "tuner/worker/compile_pool.h"

/* ---- what is missing ---- */

typedef struct codeless {
    int64_t subject, nvrtc_version, driver_version; /* versions that it was measured with */
    char *shape_key, *workload_key, *variant, *cubin_hash; /* the hash of the code that was measured; "" = not known */
} codeless;

/* Winners of one kernel source on one GPU for one architecture: one search space, one set of workers. Those of a shape are neighbours. */
typedef struct codeless_group {
    char *kernel, *kernel_key, *gpu_key, *gpu_name, *facts_json, *arch;
    codeless *winners;
    size_t count, capacity;
} codeless_group;

typedef struct codeless_list {
    codeless_group *groups;
    size_t group_count, group_capacity;
    size_t total;                   /* winners of the filter, those with code included */
} codeless_list;

typedef struct compile_report {
    size_t compiled, bytes;
    size_t same;                    /* of those compiled: byte for byte what was measured */
    size_t other_versions;          /* of those compiled: measured with another version of NVRTC */
    int64_t nvrtc_version;
    mt_strbuf failures;             /* a line each */
} compile_report;

static bool is_same_group(const codeless_group *group, const mt_codeless_row *row)
{
    return strcmp(group->kernel, row->kernel) == 0 && strcmp(group->kernel_key, row->kernel_key) == 0 && strcmp(group->gpu_key, row->gpu_key) == 0 && strcmp(group->arch, row->arch) == 0;
}

/* Rows come ordered, so a group's are neighbours. */
static codeless_group *group_of(codeless_list *list, const mt_codeless_row *row)
{
    if (list->group_count && is_same_group(&list->groups[list->group_count - 1], row)) return &list->groups[list->group_count - 1];
    codeless_group *group = MT_APPEND(list->groups, list->group_count, list->group_capacity);
    if (!group) return NULL;
    *group = (codeless_group){.kernel = mt_strdup(row->kernel), .kernel_key = mt_strdup(row->kernel_key), .gpu_key = mt_strdup(row->gpu_key), .gpu_name = mt_strdup(row->gpu_name),
                               .facts_json = mt_strdup(row->facts_json), .arch = mt_strdup(row->arch)};
    return group->kernel && group->kernel_key && group->gpu_key && group->gpu_name && group->facts_json && group->arch ? group : NULL;
}

static mt_status add_winner(void *context, const mt_codeless_row *row, mt_error *err)
{
    codeless_list *list = context;
    list->total++;
    if (row->has_code) return MT_OK;
    codeless_group *group = group_of(list, row);
    codeless *winner = group ? MT_APPEND(group->winners, group->count, group->capacity) : NULL;
    if (!winner) return mt_no_memory("compile", err);
    *winner = (codeless){row->subject, row->nvrtc_version, row->driver_version, mt_strdup(row->shape_key), mt_strdup(row->workload_key), mt_strdup(row->variant), mt_strdup(row->cubin_hash)};
    return winner->shape_key && winner->workload_key && winner->variant && winner->cubin_hash ? MT_OK : mt_no_memory("compile", err);
}

static void free_winners(codeless_list *list)
{
    for (size_t i = 0; i < list->group_count; i++) {
        codeless_group *group = &list->groups[i];
        char *const texts[] = {group->kernel, group->kernel_key, group->gpu_key, group->gpu_name, group->facts_json, group->arch};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) mt_free(texts[k]);
        for (size_t k = 0; k < group->count; k++) {
            MT_FREE_EACH(group->winners[k].shape_key, group->winners[k].workload_key, group->winners[k].variant, group->winners[k].cubin_hash);
        }
        mt_free(group->winners);
    }
    mt_free(list->groups);
    *list = (codeless_list){0};
}

/* ---- the search space ---- */

enum { MAX_LANES = 16, LANE_JOBS = 2 /* the reference and a variant */ };

/* A shape at a time. An evaluator compiles for one shape alone, and most shapes have few winners: several side by side keep the cores busy. */
typedef struct lane {
    mt_evaluator *evaluator;
    mt_space *space;
    size_t open;          /* winners that are being compiled */
} lane;

typedef struct compiling {
    mt_store *store;
    const codeless_group *group;
    const mt_compile_wishes *wishes;
    compile_report *report;
    uv_loop_t loop;
    bool has_loop;
    char *path, *cache_dir;
    mt_spec *spec;
    mt_source source;
    mt_device_facts facts;
    lane lanes[MAX_LANES];
    size_t lane_count, subjects;
} compiling;

/* With the shapes that the file does not name. */
static mt_status load_spec(compiling *c, mt_error *err)
{
    const char **keys = mt_alloc(c->group->count, sizeof *keys);
    if (!keys) return mt_no_memory("compile", err);
    for (size_t i = 0; i < c->group->count; i++) keys[i] = c->group->winners[i].shape_key;
    mt_status st = mt_spec_load_shapes(c->path, keys, c->group->count, &c->spec, err);
    mt_free(keys);
    return st;
}

static mt_status open_source(compiling *c, mt_error *err)
{
    mt_hash key;
    mt_status st = MT_OK;
    MT_TRY(mt_share_space(c->wishes->space ? c->wishes->space : c->group->kernel, &c->path, err));
    MT_TRY(load_spec(c, err));
    MT_TRY(mt_source_load(c->spec, &c->source, err));
    MT_TRY(mt_source_key(c->spec, &c->source, &key, err));
    if (strcmp(key.hex, c->group->kernel_key) != 0)
        st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%zu winner%s not compiled: %s is version %.8s of %s", c->group->count, c->group->count == 1 ? "" : "s", c->path, key.hex, c->spec->name);
done:
    return st;
}

static size_t count_shapes(const codeless_group *group)
{
    size_t count = group->count > 0;
    for (size_t i = 1; i < group->count; i++) count += strcmp(group->winners[i].shape_key, group->winners[i - 1].shape_key) != 0;
    return count;
}

static mt_status open_lanes(compiling *c, mt_error *err)
{
    size_t jobs = mt_pool_choose_jobs(c->wishes->jobs, 0), shapes = count_shapes(c->group);
    size_t wanted = (jobs + LANE_JOBS - 1) / LANE_JOBS, count = wanted < shapes ? wanted : shapes;
    if (count > MAX_LANES) count = MAX_LANES;
    for (size_t i = 0; i < count; i++) {
        mt_worker_options worker = {.jobs = jobs / count + (i < jobs % count), .arch = c->group->arch, .cache_dir = c->cache_dir,
                                    .compile_limit_s = c->wishes->compile_limit_s > 0 ? c->wishes->compile_limit_s : 60, .variant_limit_s = 10, .subject_limit_s = 60};
        mt_status st = mt_eval_compile_create(&c->loop, c->spec, &c->source, &worker, &c->facts, &c->lanes[i].evaluator, err);
        if (st != MT_OK) return st;
        c->lane_count++;
    }
    return MT_OK;
}

static mt_status open_all(compiling *c, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(open_source(c, err));
    MT_TRY(mt_facts_from_json(c->group->facts_json, &c->facts, err));
    strncpy(c->facts.name, c->group->gpu_name, sizeof c->facts.name - 1);
    if (!c->wishes->no_cache && !(c->cache_dir = mt_path_user_cache())) return mt_no_memory("compile", err);
    MT_TRY(mt_process_limits_check(err));
    if (uv_loop_init(&c->loop) != 0) return MT_FAIL(err, MT_ERR_IO, "compile: no event loop");
    c->has_loop = true;
    MT_TRY(open_lanes(c, err));
    c->report->nvrtc_version = c->lanes[0].evaluator->facts.nvrtc_version;
done:
    return st;
}

static void close_all(compiling *c)
{
    for (size_t i = 0; i < c->lane_count; i++) {
        c->lanes[i].evaluator->ops->destroy(c->lanes[i].evaluator);
        mt_space_free(c->lanes[i].space);
    }
    if (c->has_loop) {
        uv_run(&c->loop, UV_RUN_NOWAIT);
        uv_loop_close(&c->loop);
    }
    mt_source_free(&c->source);
    mt_spec_free(c->spec);
    mt_free(c->path);
    mt_free(c->cache_dir);
}

/* ---- compiling ---- */

static void tell_failure(compiling *c, const codeless *winner, const char *why)
{
    mt_strbuf_addf(&c->report->failures, "%s  %s  %s: %.300s\n", c->group->kernel, winner->shape_key, winner->variant, why);
}

static mt_status keep_code(compiling *c, const codeless *winner, const mt_event *event, mt_error *err)
{
    char *bytes = NULL;
    size_t count = 0;
    mt_status st = MT_OK;
    const mt_toolchain_row toolchain = {c->report->nvrtc_version, winner->driver_version, c->group->arch};
    MT_TRY(mt_file_read(event->cubin_path, 0, &bytes, &count, err));
    mt_hash found = mt_hash_bytes(bytes, count);
    if (strcmp(found.hex, event->outcome.cubin.hex) != 0) {
        tell_failure(c, winner, "the compiled file changed while it was read");
        goto done;
    }
    MT_TRY(mt_store_answer_code(c->store, winner->subject, &toolchain, &found, bytes, count, err));
    c->report->compiled++;
    c->report->bytes += count;
    c->report->same += strcmp(found.hex, winner->cubin_hash) == 0;
    c->report->other_versions += winner->nvrtc_version != c->report->nvrtc_version;
done:
    mt_free(bytes);
    return st;
}

static mt_status submit(compiling *c, lane *on, size_t index, mt_error *err)
{
    const codeless *winner = &c->group->winners[index];
    mt_point point;
    mt_error why = {0};
    size_t at;
    if (mt_point_parse(c->spec, winner->variant, &point, &why) != MT_OK || !mt_space_find(on->space, &point, &at)) {
        tell_failure(c, winner, *why.message ? why.message : "a constraint excludes it for this shape and GPU");
        return MT_OK;
    }
    const mt_trial trial = {.id = index + 1, .subject = c->subjects, .index = at, .variant = winner->variant};
    on->open++;
    return on->evaluator->ops->submit(on->evaluator, &trial, err);
}

/* Meanwhile the other lanes compile on: all are on one loop. */
static mt_status take(compiling *c, lane *on, mt_error *err)
{
    mt_event event = {0};
    mt_status st = on->evaluator->ops->next(on->evaluator, &event, err);
    if (st != MT_OK || event.kind != MT_EVENT_DONE) return st;
    const codeless *winner = &c->group->winners[event.trial - 1];
    on->open--;
    if (event.outcome.kind == MT_OUTCOME_OK && event.cubin_path) st = keep_code(c, winner, &event, err);
    else tell_failure(c, winner, event.outcome.text ? event.outcome.text : mt_outcome_name(event.outcome.kind));
    mt_event_free(&event);
    return st;
}

static const mt_workload *workload_of(const mt_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->workload_count; i++)
        if (strcmp(spec->workloads[i].key, key) == 0) return &spec->workloads[i];
    return spec->workload_count ? &spec->workloads[0] : NULL; /* how inputs are distributed is nothing to the compiler */
}

static const mt_shape *shape_of(const mt_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->shape_count; i++)
        if (strcmp(spec->shapes[i].key, key) == 0) return &spec->shapes[i];
    return NULL;
}

static mt_status finish(compiling *c, lane *on, mt_error *err)
{
    mt_status st = MT_OK;
    while (st == MT_OK && on->open) st = take(c, on, err);
    return st;
}

/* The space of these winners alone: what was measured is not asked for all the others. */
static mt_status create_space(const compiling *c, const mt_shape *shape, size_t first, size_t end, mt_space **space, mt_error *err)
{
    mt_point *points = mt_alloc(end - first, sizeof *points);
    size_t count = 0;
    mt_error ignored; /* submit() tells it */
    if (!points) return mt_no_memory("compile", err);
    for (size_t i = first; i < end; i++) count += mt_point_parse(c->spec, c->group->winners[i].variant, &points[count], &ignored) == MT_OK;
    mt_status st = mt_space_create_recorded(c->spec, shape, &c->facts, points, count, space, err);
    mt_free(points);
    return st;
}

/* Winners first … end − 1, of one shape. */
static mt_status compile_shape(compiling *c, lane *on, size_t first, size_t end, mt_error *err)
{
    const codeless *winner = &c->group->winners[first];
    const mt_shape *shape = shape_of(c->spec, winner->shape_key);
    mt_space *space = NULL;
    mt_status st = MT_OK;
    if (!shape) {
        for (size_t i = first; i < end; i++) tell_failure(c, &c->group->winners[i], "the search space has no such shape");
        return MT_OK;
    }
    MT_TRY(finish(c, on, err));
    MT_TRY(create_space(c, shape, first, end, &space, err));
    MT_TRY(on->evaluator->ops->begin(on->evaluator, ++c->subjects, space, workload_of(c->spec, winner->workload_key), c->spec->l2, err));
    mt_space_free(on->space); /* the evaluator refers to the new one now */
    on->space = space;
    space = NULL;
    for (size_t i = first; i < end; i++) {
        while (on->open >= on->evaluator->ops->capacity(on->evaluator)) MT_TRY(take(c, on, err));
        MT_TRY(submit(c, on, i, err));
    }
done:
    mt_space_free(space);
    return st;
}

static mt_status compile_winners(mt_store *store, const codeless_group *group, const mt_compile_wishes *wishes, compile_report *report, mt_error *err)
{
    compiling c = {.store = store, .group = group, .wishes = wishes, .report = report};
    mt_status st = MT_OK;
    MT_TRY(open_all(&c, err));
    for (size_t first = 0, end, shape = 0; first < group->count; first = end, shape++) {
        for (end = first + 1; end < group->count && strcmp(group->winners[end].shape_key, group->winners[first].shape_key) == 0;) end++;
        MT_TRY(compile_shape(&c, &c.lanes[shape % c.lane_count], first, end, err));
    }
    for (size_t i = 0; i < c.lane_count; i++) MT_TRY(finish(&c, &c.lanes[i], err));
done:
    close_all(&c);
    return st;
}

/* ---- all of them ---- */

static void print_group(const codeless_group *group, const compile_report *report)
{
    char nvrtc[32] = "";
    if (report->nvrtc_version) snprintf(nvrtc, sizeof nvrtc, ", NVRTC %d.%d", (int)(report->nvrtc_version / 1000), (int)(report->nvrtc_version % 1000 / 10));
    mt_tell("%s  %s  %s: %zu of %zu compiled%s, %.1f MiB; %zu are byte for byte what was measured\n", group->kernel, group->gpu_key, group->arch, report->compiled, group->count, nvrtc,
           (double)report->bytes / (1 << 20), report->same);
    if (report->other_versions)
        mt_log_warn("%s: %zu of them were measured with another version of the compiler: their code may differ from what was timed", group->kernel, report->other_versions);
    if (report->failures.length) fputs(mt_strbuf_text(&report->failures), stderr);
    fflush(stdout);
}

static mt_status compile_group(mt_store *store, const mt_compile_wishes *wishes, const codeless_group *group, size_t *failed, mt_error *err)
{
    compile_report report = {0};
    mt_status st = compile_winners(store, group, wishes, &report, err);
    if (st == MT_OK) print_group(group, &report);
    if (st == MT_ERR_NOT_FOUND) { /* the source is not here, or another version of it */
        mt_log_warn("%s@%.8s: %s", group->kernel, group->kernel_key, err->message);
        st = MT_OK;
    }
    *failed += group->count - report.compiled;
    mt_strbuf_free(&report.failures);
    return st;
}

mt_status mt_compile_missing(mt_store *store, const mt_filter *filter, const mt_compile_wishes *wishes, mt_compile_total *total, mt_error *err)
{
    codeless_list list = {0};
    mt_status st = mt_query_codeless(store, filter, add_winner, &list, err);
    for (size_t i = 0; i < list.group_count && st == MT_OK; i++) {
        total->wanted += list.groups[i].count;
        st = compile_group(store, wishes, &list.groups[i], &total->failed, err);
    }
    total->winners = list.total;
    free_winners(&list);
    return st;
}
