#include "tuner/space/launch/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/launch/plan_internal.h"
#include "tuner/space/points/reference_knobs.h"

/* CUDA C++ Programming Guide, technical specifications: the same for every compute capability that is supported. */
static const int64_t grid_limits[3] = { INT32_MAX, 65535, 65535 };
static const int64_t block_limits[3] = { 1024, 1024, 64 };
static const int64_t MOST_REPEATS = 1000000, MOST_UNITS = INT64_C(1000000000000000);

/* ---- the planner ---- */

mt_status mt_planner_refuse(mt_planner *planner, const char *format, ...)
{
    mt_strbuf text = { 0 };
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    mt_free(planner->illegal);
    planner->illegal = mt_strbuf_take(&text);
    return planner->illegal ? MT_ERR_UNSUPPORTED : MT_FAIL(planner->err, MT_ERR_NO_MEMORY, "out of memory");
}

mt_status mt_planner_int(mt_planner *planner, const mt_expr *expr, int64_t *value)
{
    return mt_env_int(planner->env, expr, value, NULL, planner->err);
}

/* "[launch direct 1]" */
static const char *launch_title(const mt_launch *launch, char *out, size_t size)
{
    snprintf(out, size, "[%s %s%s%d]", mt_launch_phase_names[launch->phase], launch->algorithm ? launch->algorithm : "", launch->algorithm ? " " : "", launch->number);
    return out;
}

/* ---- which launches ---- */

/* A variant's own launch replaces the general one with its number. */
static bool is_replaced(const mt_spec *spec, const mt_launch *general, const char *variant)
{
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *own = &spec->launches[i];
        if (own->phase == general->phase && own->algorithm && own->number == general->number && strcmp(own->algorithm, variant) == 0) return true;
    }
    return false;
}

static const char reference_name[] = "reference";

bool mt_plan_takes_launch(const mt_spec *spec, const mt_launch *launch, const char *algorithm)
{
    if (launch->algorithm) return strcmp(launch->algorithm, algorithm) == 0;
    return strcmp(algorithm, reference_name) != 0 && !is_replaced(spec, launch, algorithm);
}

static mt_status is_wanted(mt_planner *planner, const mt_launch *launch, bool *wanted)
{
    int64_t holds = 1;
    bool inactive = false;
    mt_status st = launch->when.program ? mt_env_int(planner->env, &launch->when, &holds, &inactive, planner->err) : MT_OK;
    *wanted = holds != 0 && !inactive;
    return st;
}

static bool runs_before(const mt_launch *a, const mt_launch *b)
{
    return a->phase != b->phase ? a->phase < b->phase : a->number < b->number;
}

/* The variant's launches, in the order in which they run. */
static mt_status choose(mt_planner *planner, const char *variant)
{
    mt_status st = MT_OK;
    mt_plan *plan = planner->plan;
    const mt_spec *spec = planner->spec;
    plan->launches = mt_alloc(spec->launch_count, sizeof *plan->launches);
    if (!plan->launches) return MT_FAIL(planner->err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        bool wanted = mt_plan_takes_launch(spec, launch, variant);
        if (wanted) MT_TRY(is_wanted(planner, launch, &wanted));
        if (!wanted) continue;
        size_t at = plan->launch_count++;
        for (; at > 0 && runs_before(launch, plan->launches[at - 1].from); at--) plan->launches[at] = plan->launches[at - 1];
        plan->launches[at] = (mt_plan_launch){ .from = launch };
    }
done:
    return st;
}

/* ---- numbers of one launch ---- */

static mt_status three(mt_planner *planner, const char *title, const char *what, const mt_expr_list *list, const int64_t limits[3],
                       uint32_t out[3])
{
    for (size_t i = 0; i < 3; i++) {
        int64_t value = 1;
        mt_status st = i < list->count ? mt_planner_int(planner, &list->items[i], &value) : MT_OK;
        if (st != MT_OK) return st;
        if (value < 1) return mt_planner_refuse(planner, "%s %s.%c is %" PRId64 ": must be at least 1", title, what, "xyz"[i], value);
        if (value > limits[i]) {
            return mt_planner_refuse(planner, "%s %s.%c is %" PRId64 ": the hardware's limit is %" PRId64, title, what, "xyz"[i], value,
                                     limits[i]);
        }
        out[i] = (uint32_t)value;
    }
    return MT_OK;
}

/* A cluster of one block is what every launch has: no attribute, so that it runs on GPUs without clusters too. */
static mt_status plan_cluster(mt_planner *planner, const char *title, mt_plan_launch *launch)
{
    if (launch->from->cluster.count == 0) return MT_OK;
    mt_status st = three(planner, title, "cluster", &launch->from->cluster, grid_limits, launch->cluster);
    if (launch->cluster[0] == 1 && launch->cluster[1] == 1 && launch->cluster[2] == 1) memset(launch->cluster, 0, sizeof launch->cluster);
    return st;
}

/* One that reads an inactive knob names no kernel. */
static mt_status plan_entry(mt_planner *planner, const char *title, const char *default_entry, mt_plan_launch *launch)
{
    const char *text = launch->from->entry ? launch->from->entry : default_entry;
    mt_status st = text ? mt_env_expand(planner->env, text, &launch->entry, planner->err) : MT_OK; /* none: of a reference that a file holds */
    return st == MT_ERR_NOT_FOUND ? mt_planner_refuse(planner, "%s has the entry %s, which reads an inactive knob", title, text) : st;
}

/* An expression within limits; *value stays where there is none. */
static mt_status number(mt_planner *planner, const char *title, const char *what, const mt_expr *expr, int64_t least, int64_t most, int64_t *value)
{
    bool inactive = false;
    if (!expr->program) return MT_OK;
    mt_status st = mt_env_int(planner->env, expr, value, &inactive, planner->err);
    if (st != MT_OK) return st;
    if (inactive) return mt_planner_refuse(planner, "%s%s reads an inactive knob", title, what);
    if (*value < least || *value > most) return mt_planner_refuse(planner, "%s%s is %" PRId64 ": must be from %" PRId64 " to %" PRId64, title, what, *value, least, most);
    return MT_OK;
}

static mt_status plan_launch(mt_planner *planner, const char *default_entry, mt_plan_launch *launch)
{
    mt_status st = MT_OK;
    const mt_launch *from = launch->from;
    int64_t value = 0, repeat = 1;
    char title[160];
    launch_title(from, title, sizeof title);
    MT_TRY(plan_entry(planner, title, default_entry, launch));
    launch->carveout_percent = -1;
    MT_TRY(three(planner, title, "grid", &from->grid, grid_limits, launch->grid));
    MT_TRY(three(planner, title, "block", &from->block, block_limits, launch->block));
    MT_TRY(plan_cluster(planner, title, launch));
    if (from->smem.program) {
        MT_TRY(mt_planner_int(planner, &from->smem, &value));
        if (value < 0) return mt_planner_refuse(planner, "%s dynamic shared memory is %" PRId64 " bytes: must not be negative", title, value);
        if (value > INT32_MAX) return mt_planner_refuse(planner, "%s dynamic shared memory is %" PRId64 " bytes: no GPU has as much", title,
                                                        value);
        launch->smem_bytes = (uint32_t)value;
    }
    if (from->carveout.program) {
        MT_TRY(mt_planner_int(planner, &from->carveout, &value));
        if (value < 0 || value > 100) return mt_planner_refuse(planner, "%s carveout is %" PRId64 ": must be a percentage from 0 to 100",
                                                               title, value);
        launch->carveout_percent = (int32_t)value;
    }
    if (from->blocks_per_sm.program) {
        MT_TRY(mt_planner_int(planner, &from->blocks_per_sm, &value));
        if (value < 1 || value > 64) return mt_planner_refuse(planner, "%s blocks_per_sm is %" PRId64 ": must be from 1 to 64", title, value);
        launch->blocks_per_sm = (uint32_t)value;
    }
    MT_TRY(number(planner, title, " repeat", &from->repeat, 1, MOST_REPEATS, &repeat));
    launch->repeat = (uint32_t)repeat;
done:
    return st;
}

static mt_status plan_launches(mt_planner *planner, const char *default_entry)
{
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && i < planner->plan->launch_count; i++) st = plan_launch(planner, default_entry, &planner->plan->launches[i]);
    return st;
}

/* ---- arguments ---- */

static void mark_used(mt_planner *planner)
{
    for (size_t i = 0; i < planner->plan->launch_count; i++) {
        const mt_launch *from = planner->plan->launches[i].from;
        for (size_t k = 0; k < from->reached_count; k++) planner->plan->args[from->reached[k]].used = true;
    }
}

/* Tensors first, because maps need theirs, and structs last. Inputs and outputs exist for every variant, used or not. */
static mt_status plan_args(mt_planner *planner)
{
    mt_status st = MT_OK;
    const mt_spec *spec = planner->spec;
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (arg->kind == MT_ARG_TENSOR && (arg->role != MT_ROLE_SCRATCH || planner->plan->args[i].used)) MT_TRY(mt_planner_arg(planner, i));
    }
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind != MT_ARG_TENSOR && spec->args[i].kind != MT_ARG_STRUCT && planner->plan->args[i].used) MT_TRY(mt_planner_arg(planner, i));
    }
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind == MT_ARG_STRUCT && planner->plan->args[i].used) MT_TRY(mt_planner_arg(planner, i));
    }
done:
    return st;
}

static mt_status begin(mt_planner *planner)
{
    mt_plan *plan = planner->plan;
    *plan = (mt_plan){ .arg_count = planner->spec->arg_count, .per = 1 };
    plan->args = mt_alloc(plan->arg_count, sizeof *plan->args);
    if (!plan->args) return MT_FAIL(planner->err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < plan->arg_count; i++) plan->args[i].kind = planner->spec->args[i].kind;
    return MT_OK;
}

/* ---- plans ---- */

static bool has_timed(const mt_plan *plan)
{
    for (size_t i = 0; i < plan->launch_count; i++)
        if (plan->launches[i].from->phase == MT_LAUNCH_TIMED) return true;
    return false;
}

mt_status mt_plan_make(const mt_env *env, mt_plan *plan, char **illegal, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_env_spec(env);
    mt_planner planner = { .env = env, .spec = spec, .plan = plan, .err = err };
    int level = mt_env_level(env, 0);
    *illegal = NULL;
    assert(level != MT_INACTIVE); /* a point is set */
    MT_TRY(begin(&planner));
    const mt_algorithm *variant = &spec->algorithms[level];
    MT_TRY(choose(&planner, variant->name));
    if (!has_timed(plan)) MT_LEAVE(mt_planner_refuse(&planner, "no launch of variant %s remains: every `when` is false", variant->name));
    mark_used(&planner);
    MT_TRY(plan_args(&planner));
    MT_TRY(plan_launches(&planner, variant->entry));
    MT_TRY(number(&planner, "[kernel]", " per", &spec->per, 1, MOST_UNITS, &plan->per));
done:
    if (st != MT_OK) mt_plan_free(plan);
    if (!planner.illegal) return st;
    *illegal = planner.illegal;
    return MT_OK;
}

/* The default variant as the reference, in an environment of its own: the caller's point stays. */
static mt_status plan_default(const mt_env *env, mt_plan *plan, char **illegal, mt_error *err)
{
    mt_status st;
    mt_env *defaults = NULL;
    MT_TRY(mt_env_create(mt_env_spec(env), mt_env_shape(env), mt_env_facts(env), &defaults, err));
    MT_TRY(mt_env_set_default(defaults, err));
    MT_TRY(mt_plan_make(defaults, plan, illegal, err));
    if (!*illegal) *illegal = mt_plan_illegal(defaults, plan);
done:
    mt_env_free(defaults);
    return st;
}

/* In an environment of its own too, where it reads knobs. */
static mt_status plan_reference(mt_planner *planner, size_t combination)
{
    mt_status st;
    mt_env *own = NULL;
    mt_point point;
    const mt_env *env = planner->env;
    if (planner->spec->reference_knobs) {
        mt_reference_point(planner->spec, combination, &point);
        MT_TRY(mt_env_create(planner->spec, mt_env_shape(env), mt_env_facts(env), &own, planner->err));
        MT_TRY(mt_env_set_point(own, &point, planner->err));
        planner->env = own;
    }
    MT_TRY(begin(planner));
    MT_TRY(choose(planner, reference_name));
    mark_used(planner);
    MT_TRY(plan_args(planner));
    MT_TRY(plan_launches(planner, planner->spec->reference));
done:
    planner->env = env;
    mt_env_free(own);
    return st;
}

mt_status mt_plan_reference(const mt_env *env, size_t combination, mt_plan *plan, mt_error *err)
{
    const mt_spec *spec = mt_env_spec(env);
    mt_planner planner = { .env = env, .spec = spec, .plan = plan, .err = err };
    *plan = (mt_plan){ 0 };
    mt_status st = spec->reference_is_default ? plan_default(env, plan, &planner.illegal, err) : plan_reference(&planner, combination);
    if (planner.illegal) { /* nothing can be verified without it */
        st = MT_FAIL(err, MT_ERR_SPEC, "%s: the reference%s can't run for shape %s: %s", spec->path, spec->reference_is_default ? ", which is the default variant," : "", mt_env_shape(env)->name,
                     planner.illegal);
        mt_free(planner.illegal);
    }
    if (st != MT_OK) mt_plan_free(plan);
    return st;
}

uint64_t mt_plan_seed(uint64_t seed, size_t arg)
{
    return seed * 0x9e3779b97f4a7c15u + (arg + 1) * 0xd1b54a32d192ed03u;
}

void mt_plan_free(mt_plan *plan)
{
    for (size_t i = 0; plan->args && i < plan->arg_count; i++) {
        mt_free(plan->args[i].maps);
        mt_free(plan->args[i].offsets);
    }
    mt_free(plan->args);
    for (size_t i = 0; plan->launches && i < plan->launch_count; i++) mt_free(plan->launches[i].entry);
    mt_free(plan->launches);
    *plan = (mt_plan){ 0 };
}
