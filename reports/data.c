#include "reports/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/knobs.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static void free_subject(mt_report_subject *s)
{
    for (size_t i = 0; i < s->count; i++) {
        MT_FREE_EACH(s->rows[i].variant, s->rows[i].text, s->rows[i].levels);
    }
    mt_free(s->rows);
    for (size_t i = 0; i < s->arm_count; i++) mt_free(s->arms[i]);
    mt_free(s->arms);
    mt_knobs_free(s);
    MT_FREE_EACH(s->key, s->label, s->gpu_key, s->gpu_name, s->kernel, s->kernel_key, s->shape, s->shape_key, s->workload, s->best);
}

void mt_report_data_free(mt_report_data *data)
{
    for (size_t i = 0; i < data->count; i++) free_subject(&data->subjects[i]);
    MT_FREE_EACH(data->subjects, data->by_key, data->imports);
    *data = (mt_report_data){0};
}

/* ---- subjects ---- */

/* Parts are divided by a character that sorts before all others, so that the order is that of the parts. */
static char *key_of(const mt_subject_names *n)
{
    mt_strbuf key = {0};
    const char *parts[] = {n->gpu_key, n->kernel, n->kernel_key, n->shape_key, n->workload_key, n->l2, n->origin};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mt_strbuf_add(&key, parts[i]);
        mt_strbuf_add_char(&key, '\1');
    }
    return mt_strbuf_take(&key);
}

/* Where a key is in data->by_key, or belongs. */
static size_t place_of(const mt_report_data *data, const char *key, bool *is_there)
{
    size_t low = 0, high = data->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(data->subjects[data->by_key[middle]].key, key) < 0) low = middle + 1;
        else high = middle;
    }
    *is_there = low < data->count && strcmp(data->subjects[data->by_key[low]].key, key) == 0;
    return low;
}

mt_report_subject *mt_report_find(const mt_report_data *data, const mt_subject_names *names)
{
    bool is_there = false;
    char *key = key_of(names);
    size_t place = key ? place_of(data, key, &is_there) : 0;
    mt_free(key);
    return is_there ? &data->subjects[data->by_key[place]] : NULL;
}

static mt_status no_memory(mt_error *err) { return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory"); }

/* The last subject is the one at `place` of the order of keys. There is room. */
static void put_key(mt_report_data *data, size_t place, size_t count)
{
    memmove(&data->by_key[place + 1], &data->by_key[place], (count - 1 - place) * sizeof *data->by_key);
    data->by_key[place] = count - 1;
}

static mt_status insert_subject(mt_report_data *data, size_t place, char *key, const mt_subject_names *n, mt_error *err)
{
    mt_report_subject *subjects = mt_grow(data->subjects, data->count, &data->capacity, sizeof *subjects);
    size_t *by_key = mt_grow(data->by_key, data->count, &data->key_capacity, sizeof *by_key);
    if (subjects) data->subjects = subjects;
    if (by_key) data->by_key = by_key;
    if (!subjects || !by_key) {
        mt_free(key);
        return no_memory(err);
    }
    put_key(data, place, ++data->count);
    mt_report_subject *s = &subjects[data->count - 1];
    *s = (mt_report_subject){.key = key, .floor_ns = NAN, .flops = NAN, .dram_bytes = NAN, .best_ns = NAN, .best_low_ns = NAN, .best_high_ns = NAN, .default_ns = NAN, .baseline_ns = NAN,
                             .best_error = NAN};
    const struct { char **to; const char *from; } texts[] = {{&s->gpu_key, n->gpu_key}, {&s->gpu_name, n->gpu_name}, {&s->kernel, n->kernel}, {&s->kernel_key, n->kernel_key},
                                                             {&s->shape, n->shape}, {&s->shape_key, n->shape_key}, {&s->workload, n->workload}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i].to = mt_strdup(texts[i].from))) return no_memory(err);
    if (!mt_l2_from_name(n->l2, &s->l2) || !mt_origin_from_name(n->origin, &s->origin)) return MT_FAIL(err, MT_ERR_DB, "report: impossible cache state or origin of a subject");
    return MT_OK;
}

static mt_subject_names names_of(const mt_measurement_row *row)
{
    return (mt_subject_names){row->gpu_key, row->gpu_name, row->kernel, row->kernel_key, row->shape, row->shape_key, row->workload, row->workload_key,
                              mt_l2_name(row->outcome.timing.l2), mt_origin_name(row->origin)};
}

static mt_status get_subject(mt_report_data *data, const mt_measurement_row *row, mt_report_subject **subject, mt_error *err)
{
    bool is_there;
    const mt_subject_names names = names_of(row);
    char *key = key_of(&names);
    if (!key) return no_memory(err);
    size_t place = place_of(data, key, &is_there);
    if (is_there) mt_free(key);
    mt_status st = is_there ? MT_OK : insert_subject(data, place, key, &names, err);
    if (st == MT_OK) *subject = &data->subjects[data->by_key[place]];
    return st;
}

/* ---- sessions ---- */

static mt_status add_import(void *context, const mt_session_info *info, mt_error *err)
{
    mt_report_data *data = context;
    if (strcmp(info->command, "import") != 0) return MT_OK;
    int64_t *id = MT_APPEND(data->imports, data->import_count, data->import_capacity);
    if (!id) return no_memory(err);
    *id = info->id;
    return MT_OK;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- rows ---- */

bool mt_report_has_arms(const mt_report_subject *subject)
{
    return subject->arm_count > 1 || (subject->arm_count == 1 && subject->arms[0][0]);
}

static mt_row row_of(const mt_measurement_row *m)
{
    const mt_outcome *o = &m->outcome;
    bool is_timed = (o->kind == MT_OUTCOME_OK || o->kind == MT_OUTCOME_CENSORED) && o->timing.median_ns > 0 && isfinite(o->timing.median_ns);
    return (mt_row){.id = m->id, .session = m->session, .created_unix_ms = m->created_unix_ms, .kind = o->kind, .is_timed = is_timed,
                    .median_ns = is_timed ? o->timing.median_ns : NAN, .low_ns = is_timed && o->timing.low_ns > 0 ? mt_timing_low_ns(&o->timing) : NAN,
                    .high_ns = is_timed && o->timing.high_ns > 0 ? mt_timing_high_ns(&o->timing) : NAN, .norm_error = o->accuracy.output[0] ? o->accuracy.norm_error : NAN,
                    .sm_mhz = o->timing.sm_mhz > 0 ? o->timing.sm_mhz : NAN, .registers = o->resources.registers, .spill_bytes = o->resources.spill_bytes,
                    .smem_bytes = o->resources.dynamic_smem_bytes + o->resources.static_smem_bytes, .samples = o->timing.samples, .dropped = o->timing.dropped,
                    .variant = mt_strdup(m->variant), .text = mt_outcome_is_timed(o->kind) ? NULL : mt_strdup(o->text)};
}

/* A strategy has few arms; a file that says otherwise gets a last one for all the others. */
static mt_status find_arm(mt_report_subject *s, const char *name, uint16_t *arm, mt_error *err)
{
    enum { MOST_ARMS = 64 };
    size_t i = 0;
    while (i < s->arm_count && strcmp(s->arms[i], name) != 0) i++;
    if (i == MOST_ARMS) i--;
    *arm = (uint16_t)i;
    if (i < s->arm_count) return MT_OK;
    char **arms = mt_grow(s->arms, s->arm_count, &s->arm_capacity, sizeof *arms), *copy = arms ? mt_strdup(i + 1 < MOST_ARMS ? name : "others") : NULL;
    if (arms) s->arms = arms;
    if (!copy) return no_memory(err);
    arms[s->arm_count++] = copy;
    return MT_OK;
}

static mt_status add_row(void *context, const mt_measurement_row *m, mt_error *err)
{
    mt_report_data *data = context;
    mt_report_subject *s = NULL;
    mt_status st = get_subject(data, m, &s, err);
    if (st != MT_OK) return st;
    mt_row *rows = mt_grow(s->rows, s->count, &s->capacity, sizeof *rows);
    if (!rows) return no_memory(err);
    s->rows = rows;
    rows[s->count++] = row_of(m);
    st = find_arm(s, m->outcome.proposed_by, &rows[s->count - 1].arm, err);
    if (st != MT_OK) return st;
    bool is_run = mt_outcome_is_run(m->outcome.kind), is_imported = data->import_count && bsearch(&m->session, data->imports, data->import_count, sizeof *data->imports, by_id);
    rows[s->count - 1].is_clocked = !is_imported && m->origin == MT_ORIGIN_MEASURED;
    s->is_clocked = s->is_clocked || rows[s->count - 1].is_clocked;
    s->evaluations += is_run;
    data->evaluations += is_run;
    data->rows++;
    if (m->model_floor_ns > 0) s->floor_ns = m->model_floor_ns;
    if (m->model_flops > 0) s->flops = m->model_flops;
    if (m->model_dram_bytes > 0) s->dram_bytes = m->model_dram_bytes;
    return rows[s->count - 1].variant ? MT_OK : no_memory(err);
}

typedef struct best_request { mt_store *store; mt_report_data *data; bool is_so_far; } best_request;

static mt_status add_best(void *context, const mt_measurement_row *m, mt_error *err)
{
    const best_request *r = context;
    const mt_subject_names names = names_of(m);
    mt_report_subject *s = mt_report_find(r->data, &names);
    if (!s) return MT_OK;
    mt_free(s->best);
    s->best = mt_strdup(m->variant);
    s->is_so_far = r->is_so_far;
    s->best_id = m->id;
    s->final_id = m->final_id;
    s->tied = m->tied_count;
    s->best_ns = m->outcome.timing.median_ns;
    s->best_low_ns = mt_timing_low_ns(&m->outcome.timing);
    s->best_high_ns = mt_timing_high_ns(&m->outcome.timing);
    s->best_error = m->outcome.accuracy.output[0] ? m->outcome.accuracy.norm_error : NAN;
    return s->best ? mt_query_comparison_points(r->store, m->id, &s->default_ns, &s->baseline_ns, &s->comparison_points, err) : no_memory(err);
}

/* ---- which row of a variant counts ---- */

static int by_variant(const void *a, const void *b)
{
    const mt_row *x = *(const mt_row *const *)a, *y = *(const mt_row *const *)b;
    int order = strcmp(x->variant, y->variant);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static mt_status mark_newest(mt_report_subject *s, mt_error *err)
{
    mt_row **sorted = mt_alloc(s->count, sizeof *sorted);
    if (!sorted) return no_memory(err);
    for (size_t i = 0; i < s->count; i++) sorted[i] = &s->rows[i];
    qsort(sorted, s->count, sizeof *sorted, by_variant);
    for (size_t i = 0; i < s->count; i++) sorted[i]->is_newest = i + 1 == s->count || strcmp(sorted[i]->variant, sorted[i + 1]->variant) != 0;
    mt_free(sorted);
    return MT_OK;
}

const mt_row *mt_report_newest(const mt_report_subject *subject, const char *variant)
{
    for (size_t i = 0; i < subject->count; i++)
        if (subject->rows[i].is_newest && strcmp(subject->rows[i].variant, variant) == 0) return &subject->rows[i];
    return NULL;
}

/* ---- labels ---- */

/* "h100-sxm" of "h100-sxm|cc90|sm132|80g". */
static int model_length(const mt_report_subject *s) { return (int)strcspn(s->gpu_key, "|"); }

/* Whether subjects of one kernel differ in this: what is the same for all of them says nothing. */
static bool differs(const mt_report_data *data, const mt_report_subject *s, size_t part)
{
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *other = &data->subjects[i];
        const char *a[] = {s->kernel_key, s->workload, s->gpu_key}, *b[] = {other->kernel_key, other->workload, other->gpu_key};
        if (strcmp(s->kernel, other->kernel) != 0) continue;
        if (part < 3 ? strcmp(a[part], b[part]) != 0 : part == 3 ? s->l2 != other->l2 : s->origin != other->origin) return true;
    }
    return false;
}

static bool has_several_kernels(const mt_report_data *data)
{
    for (size_t i = 1; i < data->count; i++)
        if (strcmp(data->subjects[0].kernel, data->subjects[i].kernel) != 0) return true;
    return false;
}

static mt_status make_label(mt_report_subject *s, bool has_kernel, const bool needs[5], mt_error *err)
{
    mt_strbuf label = {0};
    if (has_kernel) mt_strbuf_addf(&label, "%s · ", s->kernel);
    mt_strbuf_add(&label, s->shape);
    if (needs[1]) mt_strbuf_addf(&label, " · %s", s->workload);
    if (needs[2]) mt_strbuf_addf(&label, " · %.*s", model_length(s), s->gpu_key);
    if (needs[3]) mt_strbuf_addf(&label, " · %s", mt_l2_name(s->l2));
    if (needs[4]) mt_strbuf_addf(&label, " · %s", mt_origin_name(s->origin));
    if (needs[0]) mt_strbuf_addf(&label, " · source %.8s", s->kernel_key);
    s->label = mt_strbuf_take(&label);
    return s->label ? MT_OK : no_memory(err);
}

/* Subjects of a kernel mostly stand together: what is asked once for each run of them costs little. */
static bool begins_kernel(const mt_report_data *data, size_t i) { return !i || strcmp(data->subjects[i - 1].kernel, data->subjects[i].kernel) != 0; }

static mt_status make_labels(mt_report_data *data, mt_error *err)
{
    bool has_kernel = has_several_kernels(data), needs[5] = {false};
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && i < data->count; i++) {
        for (size_t part = 0; begins_kernel(data, i) && part < 5; part++) needs[part] = differs(data, &data->subjects[i], part);
        st = make_label(&data->subjects[i], has_kernel, needs, err);
    }
    return st;
}

/* ---- groups ---- */

static int64_t newest_of(const mt_report_subject *s)
{
    int64_t newest = INT64_MIN;
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].created_unix_ms > newest) newest = s->rows[i].created_unix_ms;
    return newest;
}

/* One of today's source, else the one with the kernel's newest row. */
static const mt_report_subject *latest_of(const mt_report_data *data, const char *kernel, const char *today)
{
    const mt_report_subject *latest = NULL;
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (strcmp(s->kernel, kernel) != 0) continue;
        if (today && strcmp(s->kernel_key, today) == 0) return s;
        if (!latest || s->newest_unix_ms > latest->newest_unix_ms) latest = s;
    }
    return latest;
}

static void mark_current(mt_report_data *data, const mt_report_lookup *lookup)
{
    const mt_report_subject *latest = NULL;
    for (size_t i = 0; i < data->count; i++) {
        const char *kernel = data->subjects[i].kernel;
        if (begins_kernel(data, i)) latest = latest_of(data, kernel, lookup ? lookup->today(lookup->context, kernel) : NULL);
        data->subjects[i].is_current = strcmp(latest->kernel_key, data->subjects[i].kernel_key) == 0;
    }
}

bool mt_report_is_same_group(const mt_report_subject *a, const mt_report_subject *b)
{
    return strcmp(a->gpu_key, b->gpu_key) == 0 && strcmp(a->kernel, b->kernel) == 0 && strcmp(a->kernel_key, b->kernel_key) == 0 && a->l2 == b->l2 && a->origin == b->origin;
}

bool mt_report_has_winner(const mt_report_data *data, const mt_report_subject *first, const char *shape_key)
{
    const char *parts[] = {first->gpu_key, first->kernel, first->kernel_key, shape_key};
    mt_strbuf key = {0};
    bool is_there, has = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mt_strbuf_add(&key, parts[i]);
        mt_strbuf_add_char(&key, '\1');
    }
    for (size_t i = place_of(data, mt_strbuf_text(&key), &is_there); !key.failed && !has && i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[data->by_key[i]];
        if (strncmp(s->key, key.text, key.length) != 0) break;
        has = s->best && !s->is_so_far && mt_report_is_same_group(first, s);
    }
    mt_strbuf_free(&key);
    return has;
}

size_t mt_report_place(const mt_report_data *data, const mt_measurement_row *row)
{
    const mt_subject_names names = names_of(row);
    const mt_report_subject *s = mt_report_find(data, &names);
    return s ? (size_t)(s - data->subjects) : SIZE_MAX;
}

/* ---- their order: that of SUBJECT_ORDER ---- */

static int by_order(const void *a, const void *b)
{
    const mt_report_subject *x = a, *y = b;
    int gpu = strcmp(x->gpu_key, y->gpu_key), kernel = strcmp(x->kernel, y->kernel), source = strcmp(x->kernel_key, y->kernel_key), shape = mt_text_natural(x->shape, strlen(x->shape), y->shape, strlen(y->shape));
    if (gpu) return x->of_gpu != y->of_gpu ? (x->of_gpu < y->of_gpu ? 1 : -1) : gpu;
    if (kernel || source) return kernel ? kernel : source;
    return shape ? shape : strcmp(x->key, y->key);
}

static void sort_subjects(mt_report_data *data)
{
    for (size_t i = 0, first = 0; i < data->count; i++) { /* keys begin with the GPU's */
        const char *gpu_key = data->subjects[data->by_key[i]].gpu_key;
        if (i + 1 < data->count && strcmp(gpu_key, data->subjects[data->by_key[i + 1]].gpu_key) == 0) continue;
        for (size_t k = first; k <= i; k++) data->subjects[data->by_key[k]].of_gpu = i + 1 - first;
        first = i + 1;
    }
    if (data->count) qsort(data->subjects, data->count, sizeof *data->subjects, by_order);
    size_t count = data->count;
    for (data->count = 0; data->count < count; data->count++) {
        bool is_there;
        put_key(data, place_of(data, data->subjects[data->count].key, &is_there), data->count + 1);
    }
}

mt_status mt_report_load(mt_store *store, const mt_filter *filter, const mt_report_lookup *lookup, mt_report_data *data, mt_error *err)
{
    best_request winners = {store, data, false}, so_far = {store, data, true};
    mt_status st;
    MT_TRY(mt_query_sessions(store, add_import, data, err)); /* in the order of their ids */
    MT_TRY(mt_query_measurements(store, filter, add_row, data, err));
    sort_subjects(data);
    MT_TRY(mt_query_best(store, filter, add_best, &winners, err));
    MT_TRY(mt_query_so_far(store, filter, add_best, &so_far, err));
    MT_TRY(make_labels(data, err));
    for (size_t i = 0; i < data->count; i++) data->subjects[i].place = i, data->subjects[i].newest_unix_ms = newest_of(&data->subjects[i]);
    mark_current(data, lookup);
    for (size_t i = 0; i < data->count; i++) {
        MT_TRY(mark_newest(&data->subjects[i], err));
        if (!mt_knobs_find(&data->subjects[i])) st = no_memory(err);
        if (st != MT_OK) goto done;
    }
done:
    return st;
}
