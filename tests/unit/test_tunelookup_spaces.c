/* What libtunelookup computes from the stored expressions against what the tuner computes from the .ini: every space, random shapes, random points.
 * The tuner's verdict (constraints, legality) decides whether the lookup must return the row; then launches, arguments, tensor maps and scalars must be equal.
 * Shapes without a row are answered by the steps below it: whatever comes must be valid by the tuner, too. */
#include "tests/unit/lookup_fixture.h"

#include <dirent.h>
#include <inttypes.h>

#include "db/key.h"
#include "db/lookup/lookup.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/struct_compare.h"
#include "tuner/base/rng.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/predictor/table.h"
#include "tuner/predictor/predictor_times.h"
#include "tuner/space/spec/spec_json.h"

enum { SHAPES = UNIT_SHARE(1000), TRIES = 40, LIST_LIMIT = 4, PLAN_LIMIT = 512 };

typedef struct random_shape {
    mt_shape shape;
    mt_setting settings[TUNELOOKUP_MAX_VALUES];
    int64_t lists[TUNELOOKUP_MAX_VALUES][LIST_LIMIT];
    char names[TUNELOOKUP_MAX_VALUES][64], texts[TUNELOOKUP_MAX_VALUES][128], key[1024];
    const char *name_list[TUNELOOKUP_MAX_VALUES];
    int64_t values[TUNELOOKUP_MAX_VALUES];
    size_t name_count;
    char point[512];
    bool is_valid;    /* by the tuner */
} random_shape;

typedef struct bench {
    const mt_spec *spec;
    mt_rng rng;
    tunelookup_db *db;
    mt_times_of *times; /* of the stored cost model; NULL = it has none */
    size_t timed;
    struct { char signature[1024]; tunelookup_plan *plan; } plans[PLAN_LIMIT];
    size_t plan_count, exact, refused, answers[TUNELOOKUP_MATCH_DEFAULT + 1];
} bench;

/* ---- random shapes ---- */

static int64_t random_number(mt_rng *rng)
{
    static const int64_t pool[] = { 1, 2, 3, 4, 5, 8, 16, 24, 32, 64, 100, 211, 300, 4096, 22223, 1000003 };
    uint64_t choice = mt_rng_below(rng, 2 * sizeof pool / sizeof *pool);
    return choice < sizeof pool / sizeof *pool ? pool[choice] : (int64_t)mt_rng_below(rng, UINT64_C(1) << mt_rng_below(rng, 33)) + 1;
}

/* S = dot(H, W) and Lq = dot(H, W) are common; a number that fits the lists makes more points valid. */
static int64_t product_of_lists(const random_shape *random, size_t count)
{
    int64_t sum = 0;
    const mt_value *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const mt_value *value = &random->settings[i].value;
        if (value->kind != MT_VALUE_LIST) continue;
        if (!first) {
            first = value;
            continue;
        }
        for (size_t k = 0; k < value->length && k < first->length; k++) sum += first->list[k] * value->list[k];
        return sum;
    }
    return 7;
}

static void fill_setting(bench *b, random_shape *random, size_t i, size_t length)
{
    const mt_spec *spec = b->spec;
    const mt_setting *model = &spec->shapes[mt_rng_below(&b->rng, spec->shape_count)].settings[i];
    mt_setting *setting = &random->settings[i];
    char *text = random->texts[i];
    *setting = *model;
    setting->text = text;
    if (model->value.kind == MT_VALUE_INT) {
        uint64_t kind = mt_rng_below(&b->rng, 3);
        if (kind > 0) setting->value.number = kind == 1 ? random_number(&b->rng) : product_of_lists(random, spec->shapes[0].setting_count);
        snprintf(text, sizeof random->texts[i], "%" PRId64, setting->value.number);
    } else if (model->value.kind == MT_VALUE_STRING) {
        snprintf(text, sizeof random->texts[i], "%s", model->value.string);
    } else {
        size_t used = 0;
        for (size_t k = 0; k < length; k++) {
            random->lists[i][k] = (int64_t)mt_rng_below(&b->rng, 120) + 1;
            used += (size_t)snprintf(text + used, sizeof random->texts[i] - used, "%s%" PRId64, k ? "," : "", random->lists[i][k]);
        }
        if (length == 1) strcpy(text + used, ",");
        setting->value = (mt_value){ .kind = MT_VALUE_LIST, .list = random->lists[i], .length = length };
    }
}

static void name_values(random_shape *random)
{
    for (size_t i = 0; i < random->shape.setting_count; i++) {
        const mt_setting *setting = &random->settings[i];
        size_t parts = setting->value.kind == MT_VALUE_LIST ? setting->value.length : 1;
        for (size_t k = 0; k < parts; k++) {
            char *name = random->names[random->name_count];
            random->name_list[random->name_count++] = name;
            if (setting->value.kind == MT_VALUE_LIST) snprintf(name, 64, "%s[%zu]", setting->name, k);
            else snprintf(name, 64, "%s%s%s", setting->name, setting->value.kind == MT_VALUE_STRING ? "=" : "", setting->value.kind == MT_VALUE_STRING ? setting->text : "");
        }
    }
}

static void list_values(random_shape *random)
{
    size_t next = 0;
    for (size_t i = 0; i < random->shape.setting_count; i++) {
        const mt_value *value = &random->settings[i].value;
        if (value->kind == MT_VALUE_INT) random->values[next++] = value->number;
        for (size_t k = 0; value->kind == MT_VALUE_LIST && k < value->length; k++) random->values[next++] = value->list[k];
    }
}

static void name_shape(random_shape *random)
{
    const char *names[TUNELOOKUP_MAX_VALUES], *values[TUNELOOKUP_MAX_VALUES];
    size_t count = random->shape.setting_count;
    for (size_t i = 0; i < count; i++) {
        names[i] = random->settings[i].name;
        values[i] = random->settings[i].text;
    }
    ck_assert_uint_lt(mt_key_pairs(names, values, count, random->key, sizeof random->key), sizeof random->key);
    random->shape = (mt_shape){ .name = (char *)"random", .settings = random->settings, .setting_count = count, .key = random->key };
    name_values(random);
    list_values(random);
}

static void make_shape(bench *b, random_shape *random)
{
    size_t count = b->spec->shapes[0].setting_count, length = mt_rng_below(&b->rng, LIST_LIMIT) + 1;
    memset(random, 0, sizeof *random);
    for (int pass = 0; pass < 2; pass++) { /* lists first: numbers may be made from them */
        for (size_t i = 0; i < count; i++) {
            if ((b->spec->shapes[0].settings[i].value.kind == MT_VALUE_LIST) == (pass == 0)) fill_setting(b, random, i, length);
        }
    }
    random->shape.setting_count = count;
    name_shape(random);
}

/* A shape like another one, but for one number that is a little larger or smaller. */
static void make_neighbour(bench *b, const random_shape *of, random_shape *random)
{
    size_t at = mt_rng_below(&b->rng, of->shape.setting_count);
    *random = *of;
    random->name_count = 0;
    random->is_valid = false;
    for (size_t i = 0; i < of->shape.setting_count; i++) {
        mt_setting *setting = &random->settings[i];
        setting->text = random->texts[i];
        if (setting->value.kind == MT_VALUE_LIST) setting->value.list = random->lists[i];
        if (i != at || setting->value.kind != MT_VALUE_INT || setting->value.number > INT64_MAX / 2) continue;
        setting->value.number += setting->value.number / 8 + 1;
        snprintf(random->texts[i], sizeof random->texts[i], "%" PRId64, setting->value.number);
    }
    name_shape(random);
}


/* ---- random points, and the tuner's verdict ---- */

static void random_point(bench *b, mt_env *env, mt_point *point)
{
    const mt_spec *spec = b->spec;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    for (size_t i = 0; i < spec->param_count; i++) mt_env_set_knob(env, i, MT_INACTIVE);
    for (size_t i = 0; i < spec->param_count; i++) {
        int64_t active = 1;
        bool inactive = false;
        if (spec->params[i].has_when && mt_env_int(env, &spec->params[i].when, &active, &inactive, NULL) != MT_OK) active = 0;
        if (!active || inactive) continue;
        point->level[i] = (int16_t)mt_rng_below(&b->rng, spec->params[i].value_count);
        mt_env_set_knob(env, i, point->level[i]);
    }
}

static bool holds(const mt_env *env, const mt_expr *expr)
{
    int64_t value;
    bool inactive;
    return mt_env_int(env, expr, &value, &inactive, NULL) == MT_OK && (inactive || value);
}

static bool keeps_constraints(const mt_env *env, const mt_point *point)
{
    const mt_spec *spec = mt_env_spec(env);
    const mt_algorithm *variant = &spec->algorithms[point->level[0]];
    if (variant->has_requires && !holds(env, &variant->requires_expr)) return false;
    for (size_t i = 0; i < spec->constraint_count; i++) {
        if (!holds(env, &spec->constraints[i].expr)) return false;
    }
    return true;
}

/* A plan that may run, or false. */
static bool make_plan(const mt_env *env, mt_plan *plan)
{
    char *illegal = NULL;
    mt_status st = mt_plan_make(env, plan, &illegal, NULL);
    bool is_legal = st == MT_OK && !illegal;
    mt_free(illegal);
    if (!is_legal) return false;
    illegal = mt_plan_illegal(env, plan);
    is_legal = !illegal;
    mt_free(illegal);
    if (!is_legal) mt_plan_free(plan);
    return is_legal;
}

/* Prefers a valid point, keeps an invalid one else. */
static void choose_point(bench *b, random_shape *random)
{
    mt_env *env = must_env(b->spec, &random->shape, &h100);
    mt_point point;
    mt_plan plan = { 0 };
    for (int i = 0; i < TRIES && !random->is_valid; i++) {
        random_point(b, env, &point);
        ck_assert_int_eq(mt_env_set_point(env, &point, NULL), MT_OK);
        random->is_valid = keeps_constraints(env, &point) && make_plan(env, &plan);
    }
    mt_plan_free(&plan);
    char *text = mt_point_text(b->spec, &point);
    snprintf(random->point, sizeof random->point, "%s", text);
    mt_free(text);
    mt_env_free(env);
}

/* ---- comparing ---- */

/* The cost model by the tuner's own evaluation and by the library's. */
static void compare_time(bench *b, const random_shape *random)
{
    if (!b->times) return;
    mt_env *env = must_env(b->spec, &random->shape, &h100);
    double ns;
    if (mt_predictor_times_correction(b->times)) ck_ok(mt_env_correct(env, mt_predictor_times_correction(b->times), &fixture_err));
    must_set(env, random->point);
    bool has_time = mt_env_time_ns(env, &ns, &fixture_err) == MT_OK;
    ck_assert(mt_predictor_times_set_shape(b->times, random->key));
    const struct mt_lookup_variant *variant = mt_predictor_times_variant(b->times, random->point);
    ck_assert_ptr_nonnull(variant);
    int64_t got = mt_predictor_times_at(b->times, variant);
    ck_assert_msg(got == (has_time ? (int64_t)ns : 0), "%s at %s: the tuner says %g ns, the library %" PRId64, random->point, random->key, has_time ? ns : 0, got);
    ck_assert_msg(has_time || !random->is_valid || strstr(fixture_err.message, "overflow"), "%s at %s: no time: %s", random->point, random->key, fixture_err.message); /* sizes are drawn up to 2^32 each */
    b->timed += has_time;
    mt_env_free(env);
}

static void compare_launch(const tunelookup_result *result, int index, const mt_plan_launch *want)
{
    tunelookup_launch_info got;
    ck_lookup(tunelookup_launch(result, index, &got));
    ck_assert_str_eq(got.entry, want->entry);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(got.grid[i], want->grid[i]);
        ck_assert_uint_eq(got.block[i], want->block[i]);
        ck_assert_uint_eq(got.cluster[i], want->cluster[i]);
    }
    ck_assert_uint_eq(got.smem_bytes, want->smem_bytes);
    if (want->carveout_percent >= 0) ck_assert_int_eq(got.carveout_percent, want->carveout_percent);
    ck_assert_int_eq(got.cooperative, want->from->cooperative);
    ck_assert_int_eq(got.programmatic, want->from->programmatic);
    ck_assert_int_eq(got.is_prepare, want->from->phase == MT_LAUNCH_PREPARE);
    ck_assert_int_eq(got.is_finish, want->from->phase == MT_LAUNCH_FINISH);
    ck_assert_uint_eq((size_t)got.arg_count, want->from->arg_count);
    for (size_t i = 0; i < want->from->arg_count; i++) ck_assert_uint_eq((size_t)got.args[i], want->from->args[i]);
}

static size_t maps_compared;

static void compare_map(const tunelookup_result *result, int arg, size_t map, const mt_plan_arg *want, const mt_arg *from)
{
    tunelookup_tensormap_info got;
    const mt_plan_map *numbers = &want->maps[map];
    maps_compared++;
    ck_lookup(tunelookup_tensormap(result, arg, (int)map, &got));
    ck_assert_int_eq((int)got.dtype, (int)want->map_dtype);
    ck_assert_uint_eq(got.rank, numbers->rank);
    ck_assert_uint_eq(got.offset_bytes, numbers->offset_bytes);
    for (uint32_t i = 0; i < got.rank; i++) {
        ck_assert_uint_eq(got.dims[i], numbers->dims[i]);
        ck_assert_uint_eq(got.box[i], numbers->box[i]);
        if (i > 0) ck_assert_uint_eq(got.stride_bytes[i - 1], numbers->stride_bytes[i - 1]);
    }
    ck_assert_int_eq(got.swizzle_bytes, numbers->swizzle_bytes);
    ck_assert_int_eq(got.fill_nan, from->fill_nan);
    ck_assert_int_eq(got.l2_promotion_bytes, from->l2_promotion_bytes);
}

static void compare_arg(const tunelookup_result *result, int index, const mt_plan_arg *want, const mt_arg *from)
{
    tunelookup_arg_info got;
    ck_lookup(tunelookup_arg(result, index, &got));
    ck_assert_str_eq(got.name, from->name);
    ck_assert_int_eq((int)got.kind, (int)want->kind);
    ck_assert_int_eq(got.is_used, want->used);
    bool exists = want->kind == MT_ARG_TENSOR && from->role != MT_ROLE_SCRATCH;
    if (!want->used && !exists) return;
    if (want->kind == MT_ARG_TENSOR) {
        ck_assert_int_eq((int)got.role, (int)from->role);
        ck_assert_int_eq((int)got.dtype, (int)want->tensor.dtype);
        ck_assert_uint_eq((size_t)got.rank, want->tensor.rank);
        for (size_t i = 0; i < want->tensor.rank; i++) ck_assert_int_eq(got.dims[i], want->tensor.dims[i]);
        ck_assert_uint_eq(got.bytes, want->tensor.bytes);
        ck_assert_int_eq(got.zero_before_each, from->zero_before_each);
    } else if (want->kind == MT_ARG_TENSORMAP) {
        ck_assert_int_eq((int)got.dtype, (int)want->map_dtype);
        ck_assert_uint_eq((size_t)got.tensor, from->of);
        ck_assert_uint_eq((size_t)got.map_count, want->map_count);
        for (size_t i = 0; i < want->map_count; i++) compare_map(result, index, i, want, from);
    } else if (want->kind == MT_ARG_STRUCT) {
        compare_struct(result, index, &got, want, from);
    } else {
        ck_assert_int_eq((int)got.dtype, (int)want->scalar_dtype);
        ck_assert_mem_eq(got.scalar, want->scalar, 8);
    }
}

static void compare_result(bench *b, const random_shape *random, const tunelookup_result *result)
{
    mt_env *env = must_env(b->spec, &random->shape, &h100);
    mt_plan plan;
    char *illegal = NULL;
    must_set(env, random->point);
    ck_assert(mt_plan_make(env, &plan, &illegal, NULL) == MT_OK && !illegal);
    ck_assert_str_eq(result->variant, random->point);
    ck_assert_uint_eq((size_t)result->launch_count, plan.launch_count);
    ck_assert_uint_eq((size_t)result->arg_count, plan.arg_count);
    for (size_t i = 0; i < plan.launch_count; i++) compare_launch(result, (int)i, &plan.launches[i]);
    for (size_t i = 0; i < plan.arg_count; i++) compare_arg(result, (int)i, &plan.args[i], &b->spec->args[i]);
    compare_packed(result, &plan, b->spec);
    mt_plan_free(&plan);
    mt_env_free(env);
}

/* Exactly the knobs that are active here, constraints kept, launches legal. */
static bool is_valid_here(bench *b, const random_shape *random, const char *text)
{
    mt_env *env = must_env(b->spec, &random->shape, &h100);
    mt_point point = must_point(b->spec, text);
    mt_plan plan = { 0 };
    char *illegal = NULL;
    bool fits = mt_env_set_point(env, &point, NULL) == MT_OK;
    for (size_t i = 0; i < b->spec->param_count && fits; i++) {
        int64_t active = 1;
        bool inactive = false;
        if (b->spec->params[i].has_when && mt_env_int(env, &b->spec->params[i].when, &active, &inactive, NULL) != MT_OK) active = 0;
        fits = (active && !inactive) == (point.level[i] != MT_INACTIVE);
    }
    fits = fits && keeps_constraints(env, &point) && mt_plan_make(env, &plan, &illegal, NULL) == MT_OK && !illegal;
    for (size_t i = 0; i < plan.launch_count; i++) plan.launches[i].blocks_per_sm = 0; /* where fewer fit than it counts on it is slower, which the library leaves to measurements */
    if (fits) illegal = mt_plan_illegal(env, &plan);
    fits = fits && !illegal;
    mt_free(illegal);
    mt_plan_free(&plan);
    mt_env_free(env);
    return fits;
}

/* A variant with every active knob at its default; false when it may not run here. */
static bool default_of(bench *b, const random_shape *random, int16_t algo, char *out, size_t size)
{
    mt_env *env = must_env(b->spec, &random->shape, &h100);
    mt_point point;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point.level[i] = MT_INACTIVE;
    for (size_t i = 0; i < b->spec->param_count; i++) mt_env_set_knob(env, i, MT_INACTIVE);
    for (size_t i = 0; i < b->spec->param_count; i++) {
        int64_t active = 1;
        bool inactive = false;
        if (b->spec->params[i].has_when && mt_env_int(env, &b->spec->params[i].when, &active, &inactive, NULL) != MT_OK) active = 0;
        if (!active || inactive) continue;
        point.level[i] = i ? (int16_t)b->spec->params[i].default_level : algo;
        mt_env_set_knob(env, i, point.level[i]);
    }
    char *text = mt_point_text(b->spec, &point);
    snprintf(out, size, "%s", text);
    mt_free(text);
    mt_env_free(env);
    return is_valid_here(b, random, out);
}

/* The first of the space's defaults that may run here. */
static bool default_here(bench *b, const random_shape *random, char *out, size_t size)
{
    if (default_of(b, random, 0, out, size)) return true;
    for (size_t i = 1; i < b->spec->default_count; i++) {
        int16_t algo = 0;
        while (strcmp(b->spec->algorithms[algo].name, b->spec->defaults[i]) != 0) algo++;
        if (default_of(b, random, algo, out, size)) return true;
    }
    return false;
}

static void say_nothing(void *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say_nothing(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

/* Whoever is told why computes each variant's rules anew, for the shape alone; find only what changes from variant to variant. */
static void check_explained(const random_shape *random, const tunelookup_result *result)
{
    const mt_lookup_trace listener = { .say = say_nothing };
    mt_lookup_decision told;
    mt_lookup_descend(result->answers_, result->values_, INFINITY, &listener, &told);
    ck_assert_msg((tunelookup_match)told.match == result->match && (told.match == TUNELOOKUP_MATCH_NONE || told.row == result->row_), "%s: another answer where it is explained:\n%s", random->key,
                  lookup_explain(result));
}

/* An answer that is no exact row. */
static void check_step(bench *b, random_shape *random, const tunelookup_result *result)
{
    char standard[512];
    bool has_default = default_here(b, random, standard, sizeof standard);
    b->answers[result->match]++;
    check_explained(random, result);
    if (result->match == TUNELOOKUP_MATCH_NONE) {
        bool is_strange = strstr(lookup_explain(result), "is in no stored shape") != NULL; /* a string that none of those drawn for rows has */
        ck_assert_msg(!has_default || is_strange, "%s: the default may run, the lookup says\n%s", random->key, lookup_explain(result));
        return;
    }
    ck_assert_msg(is_valid_here(b, random, result->variant), "%s may not run for %s:\n%s", result->variant, random->key, lookup_explain(result));
    if (result->match == TUNELOOKUP_MATCH_DEFAULT) ck_assert_str_eq(result->variant, standard);
    ck_assert_int_eq(result->validated, result->match != TUNELOOKUP_MATCH_DEFAULT);
    ck_assert(isnan(result->expected_slowdown) || result->expected_slowdown >= 1);
    snprintf(random->point, sizeof random->point, "%s", result->variant);
    compare_result(b, random, result);
    ck_assert_ptr_nonnull(strstr(lookup_explain(result), "no row:"));
}

static tunelookup_plan *plan_for(bench *b, const random_shape *random)
{
    char signature[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < random->name_count; i++) used += (size_t)snprintf(signature + used, sizeof signature - used, "%s ", random->name_list[i]);
    for (size_t i = 0; i < b->plan_count; i++) {
        if (strcmp(b->plans[i].signature, signature) == 0) return b->plans[i].plan;
    }
    ck_assert_uint_lt(b->plan_count, PLAN_LIMIT);
    strcpy(b->plans[b->plan_count].signature, signature);
    ck_lookup(tunelookup_prepare(b->db, &lookup_h100, "space", random->name_list, random->name_count, &b->plans[b->plan_count].plan));
    return b->plans[b->plan_count++].plan;
}

static void ask(bench *b, random_shape *random)
{
    tunelookup_result result;
    ck_lookup(tunelookup_find(plan_for(b, random), random->values, &result));
    bool is_exact = result.match == TUNELOOKUP_MATCH_EXACT;
    ck_assert_msg(is_exact == random->is_valid, "%s at %s: the tuner says %s, the lookup\n%s", random->point, random->key, random->is_valid ? "valid" : "not valid",
                  lookup_explain(&result));
    if (is_exact) compare_result(b, random, &result);
    else check_step(b, random, &result);
    b->exact += is_exact;
    b->refused += !is_exact;
}

/* The default, and what earlier shapes were given, where they may run: a database in which shapes can be compared. */
static void put_others(bench *b, lookup_writer *w, random_shape *randoms, size_t index)
{
    char standard[512];
    random_shape *random = &randoms[index];
    if (default_here(b, random, standard, sizeof standard)) {
        if (strcmp(standard, random->point) != 0) lookup_put(w, random->key, "default", standard, 1500 + (double)mt_rng_below(&b->rng, 500));
        ck_ok(mt_store_comparison_point(w->store, &w->subject, "default", standard, &fixture_err));
    }
    for (size_t k = 1; k <= 12 && k <= index; k++) {
        const char *other = randoms[index - k].point;
        if (!randoms[index - k].is_valid || strcmp(other, standard) == 0 || strcmp(other, random->point) == 0 || !is_valid_here(b, random, other)) continue;
        lookup_put(w, random->key, "default", other, 1001 + (double)mt_rng_below(&b->rng, 300));
    }
}

/* Shapes that nobody tuned: half of them next to tuned ones, half anywhere. */
static void ask_untuned(bench *b, const random_shape *randoms, size_t count)
{
    memset(b->answers, 0, sizeof b->answers);
    for (size_t i = 0; i < SHAPES; i++) {
        random_shape untuned;
        tunelookup_result result;
        if (i % 2) make_neighbour(b, &randoms[i % 100 % count], &untuned);
        else make_shape(b, &untuned);
        if (b->plan_count == PLAN_LIMIT) break;
        ck_lookup(tunelookup_find(plan_for(b, &untuned), untuned.values, &result));
        if (result.match != TUNELOOKUP_MATCH_EXACT) check_step(b, &untuned, &result);
    }
    printf("  untuned: %zu nearest, %zu default, %zu none\n", b->answers[TUNELOOKUP_MATCH_NEAREST], b->answers[TUNELOOKUP_MATCH_DEFAULT], b->answers[TUNELOOKUP_MATCH_NONE]);
    ck_assert_uint_gt(b->answers[TUNELOOKUP_MATCH_NEAREST], 0);
}

static void compare_space(const char *path)
{
    bench b = { .spec = must_load(path) };
    random_shape *randoms = mt_alloc(SHAPES, sizeof *randoms);
    char *json = mt_spec_json(b.spec), *again = mt_spec_json(b.spec);
    ck_assert_str_eq(json, again);
    mt_rng_seed(&b.rng, 11);
    char *facts = mt_facts_to_json(&h100);
    ck_ok(mt_predictor_times_make(json, facts, &b.times, &fixture_err));
    ck_assert_int_eq(b.times != NULL, b.spec->model_time_ns.program != NULL);
    mt_free(facts);
    lookup_writer w = lookup_begin(json, "space", lookup_kernel_key);
    w.subject.l2 = b.spec->l2;
    size_t count = 0;
    for (int tries = 0; count < SHAPES && tries < 40 * SHAPES; tries++) {
        random_shape *random = &randoms[count];
        make_shape(&b, random);
        bool is_new = true;
        for (size_t i = 0; i < count && is_new; i++) is_new = strcmp(randoms[i].key, random->key) != 0;
        if (!is_new) continue;
        choose_point(&b, random);
        compare_time(&b, random);
        lookup_put(&w, random->key, "default", random->point, 1000);
        if (count < 100) put_others(&b, &w, randoms, count);
        count++;
    }
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    lookup_end(&w);
    ck_lookup(tunelookup_open(fixture_db, 0, &b.db));
    for (size_t i = 0; i < count; i++) {
        randoms[i].shape.settings = randoms[i].settings; /* the struct was filled in place, but be clear about it */
        ask(&b, &randoms[i]);
    }
    printf("%s: %zu shapes, %zu answered, %zu refused, %zu plans, %zu tensor maps\n", path, count, b.exact, b.refused, b.plan_count, maps_compared);
    ck_assert_uint_eq(count, SHAPES);
    ck_assert_uint_gt(b.exact, 0);
    ask_untuned(&b, randoms, count);
    if (b.times) printf("  %zu times by the cost model\n", b.timed);
    ck_assert(!b.times || b.timed > 0);
    mt_predictor_times_free(b.times);
    tunelookup_close(b.db);
    mt_free(json);
    mt_free(again);
    mt_free(randoms);
    mt_spec_free((mt_spec *)(uintptr_t)b.spec);
}

START_TEST(test_full)
{
    compare_space(FULL_INI);
}
END_TEST

/* One database for each, so that one test is one space: forked, with its own scratch folder. */
START_TEST(test_shipped)
{
    DIR *dir = opendir(SOURCE_DIR "/search_spaces");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        size_t length = strlen(entry->d_name);
        char path[512];
        if (length < 5 || strcmp(entry->d_name + length - 4, ".ini") != 0) continue;
        snprintf(path, sizeof path, "%s/search_spaces/%s", SOURCE_DIR, entry->d_name);
        compare_space(path);
        unlink(fixture_db);
    }
    closedir(dir);
}
END_TEST

START_TEST(test_structs)
{
#if MT_WITH_CUDA
    mt_error err = { 0 };
    fakes_select();
    ck_assert_msg(mt_cuda_open(&driver, &err) == MT_OK, "%s", err.message);
    ck_assert_int_eq(driver.cuInit(0), CUDA_SUCCESS);
#endif
    compare_space(TEST_DATA_DIR "/ini/structs.ini");
}
END_TEST

FIXTURE_MAIN("tunelookup_spaces", test_full, test_structs, test_shipped)
