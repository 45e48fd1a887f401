#include "tuner/cli/requests/requested_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/cli/output/print.h"
#include "tuner/space/spec/adhoc.h"

/* Each once. */
static mt_status add_shape(mt_requested_shapes *wanted, const char *name, size_t length, mt_error *err)
{
    mt_texts *shapes = &wanted->shapes;
    for (size_t i = 0; i < shapes->count; i++)
        if (strlen(shapes->items[i]) == length && memcmp(shapes->items[i], name, length) == 0) return MT_OK;
    return mt_texts_take(shapes, mt_strndup(name, length), err);
}

void mt_requested_shapes_free(mt_requested_shapes *wanted)
{
    mt_texts_free(&wanted->shapes);
    for (size_t i = 0; i < wanted->name_count; i++) mt_free(wanted->names[i]);
    mt_free(wanted->names);
    *wanted = (mt_requested_shapes){0};
}

/* Reads the file once more with the sections at its end. */
static mt_status reload(const char *path, const mt_strbuf *sections, mt_spec **spec, mt_error *err)
{
    if (!sections->length) return MT_OK;
    mt_spec_free(*spec);
    *spec = NULL;
    return mt_spec_load_with(path, mt_strbuf_text(sections), spec, err);
}

/* ---- --shape ---- */

static const char *command_of(const mt_requested_shapes *wanted)
{
    return wanted->command ? wanted->command : "tune";
}

static mt_status unknown_shape(const mt_spec *spec, const char *name, const mt_requested_shapes *wanted, mt_error *err)
{
    const char *known[64] = {NULL};
    size_t count = 0;
    mt_strbuf list = {0};
    for (size_t i = 0; i < spec->shape_count && count < 64; i++) known[count++] = spec->shapes[i].name;
    const char *near = mt_text_nearest(name, known, count);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", known[i]);
    if (near) MT_FAIL(err, MT_ERR_USAGE, "%s: --shape: no '%s' in this search space, did you mean '%s'?", command_of(wanted), name, near);
    else MT_FAIL(err, MT_ERR_USAGE, "%s: --shape: no '%s'; there are: %s", command_of(wanted), name, mt_strbuf_text(&list));
    mt_strbuf_free(&list);
    return MT_ERR_USAGE;
}

static mt_status add_names(const mt_spec *spec, const char *text, mt_requested_shapes *wanted, mt_error *err)
{
    mt_status st = MT_OK;
    for (const char *at = text; *at && st == MT_OK;) {
        size_t length = strcspn(at, ",");
        if (length) st = add_shape(wanted, at, length, err);
        if (st == MT_OK && length && !mt_spec_shape(spec, wanted->shapes.items[wanted->shapes.count - 1])) st = unknown_shape(spec, wanted->shapes.items[wanted->shapes.count - 1], wanted, err);
        at += length + (at[length] == ',');
    }
    return st;
}

static mt_status add_values(const mt_spec *spec, const char *text, mt_strbuf *sections, mt_requested_shapes *wanted, mt_error *err)
{
    char *name;
    mt_status st = mt_adhoc_add(spec, text, NULL, sections, &name, err);
    if (st == MT_OK) st = add_shape(wanted, name, strlen(name), err);
    mt_free(name);
    return st == MT_ERR_SPEC ? mt_error_prefix(err, MT_ERR_USAGE, "%s: --shape '%.200s'", command_of(wanted), text) : st;
}

mt_status mt_requested_shapes_load(const char *path, const mt_texts *texts, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err)
{
    mt_status st;
    mt_strbuf sections = {0};
    MT_TRY(mt_spec_load(path, spec, err));
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->items[i];
        MT_TRY(strchr(text, '=') ? add_values(*spec, text, &sections, wanted, err) : add_names(*spec, text, wanted, err));
    }
    st = reload(path, &sections, spec, err);
done:
    mt_strbuf_free(&sections);
    return st;
}

/* ---- --from-misses ---- */

/* The workloads to tune it with: those bound, and the file's default ones where a program bound none. */
static void list_workloads(const mt_spec *spec, const mt_miss *miss, mt_strbuf *list)
{
    mt_strbuf_add(list, miss->workloads);
    for (size_t i = 0; *miss->workloads && miss->wants_default && i < spec->workload_count; i++)
        if (spec->workloads[i].is_default) mt_strbuf_addf(list, ", %s", spec->workloads[i].name);
}

static mt_status add_miss(const mt_spec *spec, const mt_miss *miss, const char *file, mt_strbuf *sections, char **name, mt_error *err)
{
    mt_error why = {0};
    mt_strbuf workloads = {0};
    list_workloads(spec, miss, &workloads);
    mt_status st = workloads.failed ? mt_no_memory("tune", err) : mt_adhoc_add(spec, miss->shape_key, mt_strbuf_text(&workloads), sections, name, &why);
    mt_strbuf_free(&workloads);
    if (st != MT_ERR_SPEC) return st == MT_OK ? MT_OK : MT_FAIL(err, st, "%s", why.message);
    mt_log_warn("%s:%" PRId64 ": left out: %s", file, miss->line, why.message);
    return MT_OK;
}

/* More than anybody tunes in one go. What a shape costs here grows with the number of shapes before it. */
enum { MOST_SHAPES = 2000 };

mt_status mt_requested_shapes_load_misses(const char *path, const mt_misses *misses, const char *file, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err)
{
    mt_status st;
    mt_strbuf sections = {0};
    MT_TRY(mt_spec_load(path, spec, err));
    if (!(wanted->names = mt_alloc(misses->count, sizeof *wanted->names))) MT_LEAVE(mt_no_memory("tune", err));
    wanted->name_count = misses->count;
    size_t taken = 0;
    for (size_t i = 0; i < misses->count; i++) { /* the most asked for first */
        if (strcmp(misses->items[i].kernel, (*spec)->name) != 0 || ++taken > MOST_SHAPES) continue;
        MT_TRY(add_miss(*spec, &misses->items[i], file, &sections, &wanted->names[i], err));
    }
    if (taken > MOST_SHAPES) mt_log_warn("%s: of %zu shapes of %s the %d that were asked for most are taken", file, taken, (*spec)->name, MOST_SHAPES);
    st = reload(path, &sections, spec, err);
done:
    mt_strbuf_free(&sections);
    return st;
}

/* A shape of the spec with what it was asked for, however its GPU was spelled. */
typedef struct weight {
    const char *name, *key;
    int64_t count;
    double loss;
} weight;

static void tell(const weight *w)
{
    mt_strbuf line = {0};
    mt_print_clean(&line, w->name, 60);
    mt_strbuf_addf(&line, ": asked for %" PRId64 " time%s, up to %.2f times slower than need be: ", w->count, w->count == 1 ? "" : "s", w->loss);
    mt_print_clean(&line, w->key, 160);
    mt_log_info("%s", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
}

static double to_win(const weight *w)
{
    return (double)w->count * (w->loss - 1);
}

static int by_gain(const void *a, const void *b)
{
    const weight *x = a, *y = b;
    if (to_win(x) != to_win(y)) return to_win(x) < to_win(y) ? 1 : -1;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->name, y->name);
}

static size_t add_weight(weight *weights, size_t count, const char *name, const mt_miss *miss)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(weights[i].name, name) != 0) continue;
        weights[i].count = weights[i].count > INT64_MAX - miss->count ? INT64_MAX : weights[i].count + miss->count;
        return count;
    }
    weights[count] = (weight){name, miss->shape_key, miss->count, 1};
    return count + 1;
}

static size_t weigh(const mt_misses *misses, const char *file, const char *gpu, const mt_requested_shapes *wanted, weight *weights)
{
    size_t count = 0;
    for (size_t i = 0; i < misses->count; i++) {
        const mt_miss *miss = &misses->items[i];
        if (!wanted->names[i]) continue;
        if (mt_miss_fits_gpu(miss->gpu, gpu)) count = add_weight(weights, count, wanted->names[i], miss);
        else mt_log_warn("%s:%" PRId64 ": left out: %s was asked for on %s, and this is %s", file, miss->line, wanted->names[i], miss->gpu, gpu);
    }
    return count;
}

mt_status mt_requested_shapes_choose(const mt_misses *misses, const char *file, const mt_spec *spec, const mt_device_facts *facts, bool is_quiet, const mt_expected_loss *loss, mt_requested_shapes *wanted, mt_error *err)
{
    mt_status st = MT_OK;
    char gpu[MT_KEY_GPU_SIZE];
    weight *weights = mt_alloc(misses->count, sizeof *weights);
    if (!weights) return mt_no_memory("tune", err);
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, gpu, sizeof gpu);
    size_t count = weigh(misses, file, gpu, wanted, weights);
    for (size_t i = 0; i < count; i++) weights[i].loss = loss->of(loss->context, weights[i].name);
    qsort(weights, count, sizeof *weights, by_gain);
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        if (!is_quiet) tell(&weights[i]);
        st = add_shape(wanted, weights[i].name, strlen(weights[i].name), err);
    }
    if (st == MT_OK && !count) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: holds no shape of %s that can be tuned on %s", file, spec->name, gpu);
    mt_free(weights);
    return st;
}

/* ---- the space of a kernel ---- */

static mt_status is_space_of(const char *path, const char *kernel, bool *is, mt_error *err)
{
    mt_spec *spec = NULL;
    mt_status st = mt_spec_load(path, &spec, err);
    *is = st == MT_OK && strcmp(spec->name, kernel) == 0;
    mt_spec_free(spec);
    return st;
}

mt_status mt_requested_shapes_space(const char *given, const char *kernel, char **path, mt_error *err)
{
    mt_status st = MT_OK;
    mt_texts names = {0};
    bool is = false;
    *path = NULL;
    if (given) {
        MT_TRY(mt_share_space(given, path, err));
        MT_TRY(is_space_of(*path, kernel, &is, err));
        if (!is) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s is the search space of another kernel than %.100s", *path, kernel);
        goto done;
    }
    MT_TRY(mt_share_spaces(&names, err));
    for (size_t i = 0; i < names.count && !is; i++) {
        mt_error ignored = {0}; /* a broken file must not hide the others */
        mt_free(*path);
        *path = NULL;
        MT_TRY(mt_share_space(names.items[i], path, err));
        is_space_of(*path, kernel, &is, &ignored);
    }
    if (!is) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "no search space of a kernel %.100s came with the tool; --space FILE names one", kernel);
done:
    if (st != MT_OK) {
        mt_free(*path);
        *path = NULL;
    }
    mt_texts_free(&names);
    return st;
}
