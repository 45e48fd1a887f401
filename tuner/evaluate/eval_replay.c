#include "tuner/evaluate/eval_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/open/device_match.h"
#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/space/source/source.h"

struct recorded {
    mt_point point;
    char *launch_json;
    int64_t measured_unix_ms;
    mt_outcome outcome;
    size_t order; /* as stored: the newest of a variant counts */
};

typedef struct eval_replay {
    mt_evaluator base;
    mt_store *recordings, *under; /* under: answers for subjects that `recordings` lacks; NULL = none */
    const mt_spec *spec;
    char *gpu_key;
    mt_hash kernel_key; /* of the source that was recorded */
    char *programs;     /* base.programs */
    bool has_warned_of_knobs, has_warned_of_strangers;
    mt_event_queue events;
    struct recorded *rows; /* of the subject, sorted by point */
    size_t count, capacity;
    size_t seen;      /* rows of the subject, of every kind */
    size_t strangers; /* rows left out: a knob or value that the file does not list; the first one's reason: */
    mt_error stranger;
    const mt_shape *shape; /* whose rows they are; NULL = none are loaded */
    const mt_workload *workload;
    mt_l2 l2;
} eval_replay;

static eval_replay *from_base(mt_evaluator *base)
{
    return (eval_replay *)base; /* first member */
}

/* ---- which GPU ---- */

struct device_search {
    const char *wanted;
    mt_strbuf models; /* of all recorded GPUs, for the message */
    char *key, *name, *facts_json;
    mt_strbuf matches;
    size_t match_count;
    bool failed;
};

static void add_model(mt_strbuf *list, const char *key)
{
    mt_strbuf_addf(list, "%s--gpu recorded:%.*s", list->length ? ", " : "", (int)strcspn(key, "|"), key);
}

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    struct device_search *search = context;
    (void)measurements;
    add_model(&search->models, row->key);
    if (!mt_device_matches(search->wanted, row->key, row->name)) return MT_OK;
    add_model(&search->matches, row->key);
    if (search->match_count++ > 0) return MT_OK;
    search->key = mt_strdup(row->key);
    search->name = mt_strdup(row->name);
    search->facts_json = mt_strdup(row->facts_json);
    return search->key && search->name && search->facts_json ? MT_OK : mt_no_memory("recording", err);
}

/* The toolchain that the recording was made with stands for ours. */
static mt_status on_first_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    mt_evaluator *base = context;
    base->facts.driver_version = row->driver_version;
    base->facts.nvrtc_version = row->nvrtc_version;
    snprintf(base->arch, sizeof base->arch, "%s", row->arch ? row->arch : "");
    return MT_FAIL(err, MT_ERR_INTERRUPTED, "one row is enough");
}

static mt_status read_toolchain(eval_replay *self, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    mt_filter filter = {.gpu = self->gpu_key, .kernel = self->spec->name, .origin = &recorded};
    mt_facts_arch(self->base.facts.cc, self->base.arch, sizeof self->base.arch);
    mt_status st = mt_query_measurements(self->recordings, &filter, on_first_row, &self->base, err);
    return st == MT_ERR_INTERRUPTED ? MT_OK : st;
}

static mt_status choose_device(eval_replay *self, const char *gpu, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    struct device_search search = {.wanted = gpu};
    mt_status st = MT_OK;
    MT_TRY(mt_query_devices(self->recordings, &recorded, on_device, &search, err));
    if (search.match_count == 0)
        st = MT_FAIL(err, MT_ERR_NO_GPU, "no recording of GPU '%s'; there are: %s", gpu, search.models.length ? mt_strbuf_text(&search.models) : "none");
    else if (search.match_count > 1) st = MT_FAIL(err, MT_ERR_USAGE, "'recorded:%s' is ambiguous: %s", gpu, mt_strbuf_text(&search.matches));
    if (st != MT_OK) goto done;
    MT_TRY(mt_facts_from_json(search.facts_json, &self->base.facts, err));
    snprintf(self->base.facts.name, sizeof self->base.facts.name, "%s", search.name);
    self->gpu_key = search.key;
    search.key = NULL;
    MT_TRY(read_toolchain(self, err));
done:
    mt_strbuf_free(&search.models);
    mt_strbuf_free(&search.matches);
    MT_FREE_EACH(search.key, search.name, search.facts_json);
    return st;
}

/* ---- the rows of a subject ---- */

static void free_row(struct recorded *row)
{
    mt_free(row->launch_json);
    mt_outcome_free(&row->outcome);
}

static void free_rows(eval_replay *self)
{
    for (size_t i = 0; i < self->count; i++) free_row(&self->rows[i]);
    self->count = 0;
    self->shape = NULL;
}

static mt_status copy_outcome(const mt_outcome *from, mt_outcome *to, mt_error *err)
{
    *to = *from;
    to->text = mt_strdup(from->text);
    to->sample_ns = NULL;
    if (from->sample_ns && from->timing.samples) {
        to->sample_ns = mt_alloc(from->timing.samples, sizeof *to->sample_ns);
        if (to->sample_ns) memcpy(to->sample_ns, from->sample_ns, from->timing.samples * sizeof *to->sample_ns);
    }
    bool complete = !from->text == !to->text && (!from->sample_ns || !from->timing.samples) == !to->sample_ns;
    return complete ? MT_OK : mt_no_memory("recording", err);
}

/* A value that the file no longer lists leaves its points out. That a point was not run (excluded by the constraints of then, its compiler killed) says nothing of it. */
static mt_status on_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    eval_replay *self = context;
    mt_error stranger;
    self->seen++;
    if (!mt_outcome_is_run(row->outcome.kind)) return MT_OK;
    struct recorded *rows = mt_grow(self->rows, self->count, &self->capacity, sizeof *rows);
    if (!rows) return mt_no_memory("recording", err);
    self->rows = rows;
    struct recorded *copy = &rows[self->count];
    *copy = (struct recorded){.order = self->count, .measured_unix_ms = row->created_unix_ms};
    if (mt_point_parse(self->spec, row->variant, &copy->point, &stranger) != MT_OK) {
        if (self->strangers++ == 0) self->stranger = stranger;
        return MT_OK;
    }
    self->count++;
    copy->launch_json = mt_strdup(row->launch_json);
    if (row->launch_json && !copy->launch_json) return mt_no_memory("recording", err);
    return copy_outcome(&row->outcome, &copy->outcome, err);
}

static int by_point_newest_first(const void *a, const void *b)
{
    const struct recorded *x = a, *y = b;
    int order = memcmp(&x->point, &y->point, sizeof x->point);
    return order ? order : (x->order < y->order) - (x->order > y->order);
}

/* Leaves each point's newest row. */
static void keep_newest(eval_replay *self)
{
    size_t kept = 0;
    if (self->count) qsort(self->rows, self->count, sizeof *self->rows, by_point_newest_first);
    for (size_t i = 0; i < self->count; i++) {
        struct recorded *row = &self->rows[i];
        bool is_newest = kept == 0 || memcmp(&self->rows[kept - 1].point, &row->point, sizeof row->point) != 0;
        if (is_newest) self->rows[kept++] = *row;
        else free_row(row);
    }
    self->count = kept;
}

/* What a file that lost or renamed a knob misses. */
static void warn_of_strangers(eval_replay *self)
{
    if (self->strangers == 0 || self->has_warned_of_strangers) return;
    self->has_warned_of_strangers = true;
    mt_log_warn("%zu of %zu rows of the recording are left out, first: %s", self->strangers, self->strangers + self->count, self->stranger.message);
}

static mt_status on_any(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row;
    *(bool *)context = true;
    return MT_FAIL(err, MT_ERR_INTERRUPTED, "one row is enough");
}

/* One's own recording of a shape hides the shipped one of the same. */
static void tell_hidden(const eval_replay *self, const mt_filter *filter, const char *shape)
{
    mt_error ignored;
    bool is_hidden = false;
    if (self->under) mt_query_measurements(self->under, filter, on_any, &is_hidden, &ignored);
    if (is_hidden) mt_log_warn("shape %s is replayed from %s, not from the shipped recording; --recordings FILE chooses one", shape, mt_store_path(self->recordings));
}

static mt_status load_rows(eval_replay *self, const mt_shape *shape, const mt_workload *workload, mt_l2 l2, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    mt_filter filter = {.gpu = self->gpu_key, .kernel = self->spec->name, .shape_key = shape->key, .workload_key = workload->key, .origin = &recorded, .l2 = &l2};
    mt_status st = MT_OK;
    if (self->shape == shape && self->workload == workload && self->l2 == l2) return MT_OK;
    free_rows(self);
    filter.kernel_key = self->kernel_key.hex;
    filter.with_samples = true;
    self->strangers = self->seen = 0;
    MT_TRY(mt_query_measurements(self->recordings, &filter, on_row, self, err));
    if (self->seen) tell_hidden(self, &filter, shape->name);
    else if (self->under) MT_TRY(mt_query_measurements(self->under, &filter, on_row, self, err));
    if (!self->seen) MT_LEAVE(MT_FAIL(err, MT_ERR_NOT_FOUND, "not recorded on %s (%s)", self->base.facts.name, mt_l2_name(l2)));
    warn_of_strangers(self);
    keep_newest(self);
    self->shape = shape;
    self->workload = workload;
    self->l2 = l2;
done:
    return st;
}

static mt_status begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err)
{
    (void)subject;
    return load_rows(from_base(base), mt_space_shape(space), workload, l2, err);
}

/* Knobs that rows lacked and now have: the file gained them since. */
static void warn_of_knobs(eval_replay *self, const mt_point *completed)
{
    mt_strbuf names = {0};
    for (size_t p = 0; p < self->spec->param_count; p++) {
        size_t i = 0;
        while (i < self->count && self->rows[i].point.level[p] == completed[i].level[p]) i++;
        if (i < self->count) mt_strbuf_addf(&names, "%s%s", names.length ? ", " : "", self->spec->params[p].name);
    }
    if (names.length && !self->has_warned_of_knobs) mt_log_warn("the recording of kernel %s lacks %s: taken as left at the default", self->spec->name, mt_strbuf_text(&names));
    self->has_warned_of_knobs = self->has_warned_of_knobs || names.length;
    mt_strbuf_free(&names);
}

/* Whether the file itself leaves the shape without points: that is told rather than that none is recorded. */
static bool is_refused(const eval_replay *self, const mt_shape *shape)
{
    mt_space *space = NULL;
    mt_error ignored;
    const char *name, *why;
    bool is_exact;
    if (mt_space_create_recorded(self->spec, shape, &self->base.facts, NULL, 0, &space, &ignored) != MT_OK) return false;
    uint64_t not_recorded = mt_space_pruned(space, mt_space_pruned_kinds(space) - 1, &name, &why, &is_exact);
    mt_space_free(space);
    return not_recorded == 0;
}

static mt_status recorded_space(mt_evaluator *base, const mt_shape *shape, const mt_workload *workload, mt_l2 l2, mt_space **space, mt_error *err)
{
    eval_replay *self = from_base(base);
    mt_status st = load_rows(self, shape, workload, l2, err);
    if (st == MT_ERR_NOT_FOUND && is_refused(self, shape)) st = MT_OK;
    if (st != MT_OK) return st;
    mt_point *points = mt_alloc(self->count, sizeof *points);
    if (!points) return mt_no_memory("recording", err);
    for (size_t i = 0; i < self->count; i++) points[i] = self->rows[i].point;
    st = mt_space_create_recorded(self->spec, shape, &base->facts, points, self->count, space, err);
    if (st == MT_OK) warn_of_knobs(self, points);
    for (size_t i = 0; i < self->count; i++) self->rows[i].point = points[i];
    keep_newest(self); /* one that lacked a knob may have become another */
    mt_free(points);
    return st;
}

static const struct recorded *find_row(const eval_replay *self, const char *variant)
{
    mt_error ignored;
    mt_point point;
    if (mt_point_parse(self->spec, variant, &point, &ignored) != MT_OK) return NULL;
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(&self->rows[middle].point, &point, sizeof point);
        if (order == 0) return &self->rows[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

/* ---- the evaluator ---- */

/* One at a time: a strategy then sees the same history whenever the seed is the same. */
static size_t capacity(const mt_evaluator *base)
{
    (void)base;
    return 1;
}

static mt_status submit(mt_evaluator *base, const mt_trial *trial, mt_error *err)
{
    eval_replay *self = from_base(base);
    const struct recorded *row = find_row(self, trial->variant);
    if (!row) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s is not recorded", trial->variant); /* no point of the recorded space */
    mt_event event = {.kind = MT_EVENT_DONE, .trial = trial->id, .measured_unix_ms = row->measured_unix_ms, .launch_json = mt_strdup(row->launch_json)};
    mt_status st = copy_outcome(&row->outcome, &event.outcome, err);
    if (st == MT_OK) mt_event_queue_push(&self->events, &event);
    else mt_event_free(&event);
    return st;
}

static mt_status next(mt_evaluator *base, mt_event *event, mt_error *err)
{
    eval_replay *self = from_base(base);
    memset(event, 0, sizeof *event);
    if (self->events.failed) return mt_no_memory("recording", err);
    if (!mt_event_queue_pop(&self->events, event)) event->kind = MT_EVENT_TICK;
    return MT_OK;
}

static void cancel(mt_evaluator *base, bool now)
{
    (void)now; /* an answer is there as soon as it is asked for */
    mt_event_queue_drop(&from_base(base)->events, MT_EVENT_DONE);
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_replay *self = from_base(base);
    free_rows(self);
    mt_free(self->rows);
    mt_event_queue_free(&self->events);
    MT_FREE_EACH(self->gpu_key, self->programs, self);
}

static const mt_evaluator_ops ops = {
    .begin = begin,
    .recorded_space = recorded_space,
    .capacity = capacity,
    .submit = submit,
    .next = next,
    .cancel = cancel,
    .destroy = destroy,
};

/* ---- which state of the source ---- */

struct key_search {
    mt_hash current; /* of the source as it is now; "" = unknown */
    mt_hash newest;
    bool has_current;
};

static mt_status on_key(void *context, const mt_measurement_row *row, mt_error *err)
{
    struct key_search *search = context;
    (void)err;
    search->has_current = search->has_current || strcmp(row->kernel_key, search->current.hex) == 0;
    snprintf(search->newest.hex, sizeof search->newest.hex, "%s", row->kernel_key);
    return MT_OK;
}

/* Without its source a recorded kernel can still be replayed. */
static void read_current(const mt_spec *spec, mt_hash *key)
{
    mt_source source = {0};
    mt_error ignored;
    if ((!spec->is_recorded && mt_source_load(spec, &source, &ignored) != MT_OK) || mt_source_key(spec, &source, key, &ignored) != MT_OK) key->hex[0] = '\0';
    mt_source_free(&source);
}

/* What lookups evaluate comes from the recording, as its rows do: a constraint that is tried in a replay refuses nothing that was measured. A recording without them leaves those of the
 * search space, unless the kernel is another one by now. */
static mt_status read_programs(eval_replay *self, bool is_edited, mt_error *err)
{
    mt_status st = mt_query_programs(self->recordings, self->spec->name, self->kernel_key.hex, &self->programs, err);
    if (st == MT_OK && !is_edited && strcmp(self->programs, "{}") == 0) {
        mt_free(self->programs);
        self->programs = NULL;
    }
    self->base.programs = self->programs;
    return st;
}

/* After an edit of the kernel its old recording still shows how the tool works. Its answers stay those of the source that ran. */
static mt_status choose_key(eval_replay *self, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    const mt_filter filter = {.gpu = self->gpu_key, .kernel = self->spec->name, .origin = &recorded};
    struct key_search search = {0};
    read_current(self->spec, &search.current);
    mt_status st = mt_query_measurements(self->recordings, &filter, on_key, &search, err);
    self->kernel_key = search.has_current ? search.current : search.newest;
    if (st != MT_OK || !self->kernel_key.hex[0]) return st;
    if (search.has_current || !search.current.hex[0]) return read_programs(self, false, err);
    self->base.kernel_key = search.newest;
    mt_log_warn("the recording is of another version of kernel %s (source %.8s, now %.8s): its times are stored as that one's, none is of the source as it is now", self->spec->name,
                search.newest.hex, search.current.hex);
    return read_programs(self, true, err);
}

mt_status mt_eval_replay_create(mt_store *recordings, const char *gpu, const mt_spec *spec, mt_evaluator **evaluator, mt_error *err)
{
    eval_replay *self = mt_alloc(1, sizeof *self);
    if (!self) return mt_no_memory("recording", err);
    self->base.ops = &ops;
    self->base.is_recorded = true;
    self->recordings = recordings;
    self->spec = spec;
    mt_status st = choose_device(self, gpu, err);
    if (st == MT_OK) st = choose_key(self, err);
    if (st != MT_OK) {
        destroy(&self->base);
        return st;
    }
    *evaluator = &self->base;
    return MT_OK;
}

void mt_eval_replay_over(mt_evaluator *evaluator, mt_store *under)
{
    from_base(evaluator)->under = under;
}
