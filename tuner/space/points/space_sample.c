/* Spaces too large to be enumerated: uniform draws, the count, and walking in the order of ranks.
 *
 * A draw takes a number below the diagram's total and descends to the point with that number: uniform over what the diagram holds. That is a superset of the valid
 * points if conditions were left out, so the point is then looked at with all conditions and, if one is broken, drawn anew: what remains is uniform over the valid
 * points. The share that passes gives the estimate of the count. */
#include <math.h>
#include <stdio.h>

#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/space/points/space_internal.h"

enum {
    DRAW_LIMIT = 1000000,        /* draws for one point; and for the estimate */
    ESTIMATE_HITS = 2500,        /* valid draws for the estimate: a standard error of 2 % */
    PRUNED_DRAWS = 20000,        /* ranks for the pruned counts */
    DRAWS_PER_LOOK = 256,
    VARIANT_DRAWS = 256          /* for one point of one variant */
};
#define ESTIMATE_SEED UINT64_C(0x5EED)
#define SEEK_LIMIT UINT64_C(20000000) /* steps of one seek; a tenth where one is asked for each value of each knob */

/* ---- drawing ---- */

/* The diagram's point number `rest` of those with the walker's knobs 0 … first − 1, in the walker. */
static void descend(const mt_space *space, mt_walker *walker, size_t first, uint64_t rest)
{
    for (size_t param = first; param < space->spec->param_count; param++) {
        int low, high, level;
        mt_diagram_levels(space->diagram, space, walker, param, &low, &high);
        for (level = low; level <= high; level++) {
            walker->point.level[param] = (int16_t)level;
            if (!mt_diagram_holds(space->diagram, space, walker, param)) continue;
            uint64_t below = mt_diagram_below(space->diagram, space, walker, param + 1);
            if (rest < below) break;
            rest -= below;
        }
    }
}

static void forget_point(mt_walker *walker)
{
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) walker->point.level[i] = MT_INACTIVE;
}

/* A user should hear of arithmetic that fails, once: where everything is enumerated it is an error. */
static void warn_once(const mt_space *space, const mt_check *culprit, mt_walker *walker)
{
    mt_error error;
    if (atomic_exchange(&space->pool->has_warned, true)) return;
    mt_check_fail(culprit, walker, &error);
    mt_log_warn("%s; points where arithmetic fails are left out", error.message);
}

static mt_truth draw(const mt_space *space, mt_walker *walker, mt_rng *rng, const mt_check **culprit)
{
    forget_point(walker);
    descend(space, walker, 0, mt_rng_below(rng, mt_diagram_total(space->diagram)));
    return mt_diagram_is_exact(space->diagram) ? MT_TRUTH_HOLDS : mt_point_truth(space, walker, culprit);
}

void mt_space_draw_until(const mt_space *space, int64_t instant_ns)
{
    atomic_store(&space->pool->draw_until_ns, instant_ns);
}

static bool is_late(const mt_space *space)
{
    int64_t until_ns = atomic_load_explicit(&space->pool->draw_until_ns, memory_order_relaxed);
    return until_ns && mt_clock_now_ns() >= until_ns;
}

bool mt_space_sample(const mt_space *space, mt_rng *rng, size_t *index)
{
    if (space->count == 0) return false;
    if (space->is_enumerated) {
        *index = (size_t)mt_rng_below(rng, space->count);
        return true;
    }
    mt_walker *walker = mt_walker_take(space);
    bool is_found = false;
    for (size_t i = 0; walker && i < DRAW_LIMIT && !is_found; i++) {
        const mt_check *culprit = NULL;
        if (i % DRAWS_PER_LOOK == 0 && is_late(space)) break;
        mt_truth truth = draw(space, walker, rng, &culprit);
        if (truth == MT_TRUTH_FAILED) warn_once(space, culprit, walker);
        is_found = truth == MT_TRUTH_HOLDS;
    }
    if (is_found) *index = mt_rank_of(space, &walker->point, UINT64_MAX);
    if (walker) mt_walker_give(space, walker);
    return is_found;
}

/* The places of the variant's points: they lie together. */
static bool sample_enumerated(const mt_space *space, size_t variant, mt_rng *rng, size_t *index)
{
    size_t ends[2];
    mt_point point;
    for (size_t k = 0; k < 2; k++) {
        size_t low = 0, high = space->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            mt_space_at(space, middle, &point);
            if (point.level[0] < (int)(variant + k)) low = middle + 1;
            else high = middle;
        }
        ends[k] = low;
    }
    if (ends[0] == ends[1]) return false;
    *index = ends[0] + (size_t)mt_rng_below(rng, ends[1] - ends[0]);
    return true;
}

bool mt_space_sample_variant(const mt_space *space, size_t variant, mt_rng *rng, size_t *index)
{
    const mt_check *culprit;
    if (space->is_enumerated) return sample_enumerated(space, variant, rng, index);
    mt_walker *walker = mt_walker_take(space);
    bool is_found = false;
    if (!walker) return false;
    for (size_t i = 0; i < VARIANT_DRAWS && !is_found; i++) {
        forget_point(walker);
        walker->point.level[0] = (int16_t)variant;
        uint64_t below = mt_diagram_holds(space->diagram, space, walker, 0) ? mt_diagram_below(space->diagram, space, walker, 1) : 0;
        if (below == 0) break;
        descend(space, walker, 1, mt_rng_below(rng, below));
        is_found = mt_diagram_is_exact(space->diagram) || mt_point_truth(space, walker, &culprit) == MT_TRUTH_HOLDS;
    }
    if (is_found) *index = mt_rank_of(space, &walker->point, UINT64_MAX);
    mt_walker_give(space, walker);
    return is_found;
}

/* ---- the estimates ---- */

static mt_status look_now(const mt_space_watch *watch, size_t draws, mt_error *err)
{
    return watch && draws % DRAWS_PER_LOOK == 0 ? watch->look(watch->context, err) : MT_OK;
}

/* Which condition excludes how much, from ranks drawn at random; a rank stands for index_limit / draws of them. */
static mt_status estimate_pruned(mt_space *space, mt_walker *walker, const mt_space_watch *watch, mt_error *err)
{
    mt_rng rng;
    mt_rng_seed(&rng, ESTIMATE_SEED);
    mt_status st = MT_OK;
    size_t kinds = mt_space_pruned_kinds(space), ranks = space->base[space->spec->algorithm_count];
    for (size_t i = 0; i < kinds; i++) {
        space->pruned[i] = 0;
        space->is_exact[i] = false;
    }
    for (size_t i = 0; i < PRUNED_DRAWS; i++) {
        const mt_check *culprit = NULL;
        MT_TRY(look_now(watch, i + 1, err));
        mt_rank_decode(space, (size_t)mt_rng_below(&rng, ranks), &walker->point);
        if (mt_point_truth(space, walker, &culprit) == MT_TRUTH_BROKEN && culprit) space->pruned[culprit->kind]++;
    }
    for (size_t i = 0; i < kinds; i++) space->pruned[i] = (uint64_t)((double)space->pruned[i] / PRUNED_DRAWS * (double)ranks);
done:
    return st;
}

static mt_status none_found(const mt_space *space, size_t draws, mt_error *err)
{
    const mt_spec *spec = space->spec;
    mt_strbuf rules = {0};
    mt_space_tell_pruned(space, &rules);
    mt_status st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: shape %s: no valid point among %zu draws from %.2g combinations, which are too many to enumerate%s%s: expected constraints that "
                           "read fewer knobs, or knobs that are read together to stand together in the file", spec->path, space->shape->name, draws, (double)mt_diagram_total(space->diagram),
                           rules.length ? "; " : "", mt_strbuf_text(&rules));
    mt_strbuf_free(&rules);
    return st;
}

/* Draws until enough of them are valid: (hits − 1) / (draws − 1) is then the unbiased estimate of the valid share. */
static mt_status estimate_count(mt_space *space, mt_walker *walker, const mt_space_watch *watch, mt_error *err)
{
    mt_rng rng;
    mt_rng_seed(&rng, ESTIMATE_SEED);
    mt_status st = MT_OK;
    size_t hits = 0, draws = 0;
    double total = (double)mt_diagram_total(space->diagram);
    while (hits < ESTIMATE_HITS && draws < DRAW_LIMIT) {
        const mt_check *culprit = NULL;
        MT_TRY(look_now(watch, ++draws, err));
        mt_truth truth = draw(space, walker, &rng, &culprit);
        if (truth == MT_TRUTH_FAILED) return mt_check_fail(culprit, walker, err);
        hits += truth == MT_TRUTH_HOLDS;
    }
    if (hits == 0) return none_found(space, draws, err);
    double share = hits == ESTIMATE_HITS && draws > hits ? (double)(hits - 1) / (double)(draws - 1) : (double)hits / (double)draws;
    space->count_error = total * sqrt(share * (1 - share) / (double)draws);
    space->count = (size_t)fmax(1, round(total * share));
done:
    return st;
}

mt_status mt_space_estimate(mt_space *space, const mt_space_watch *watch, mt_error *err)
{
    mt_walker *walker = mt_walker_take(space);
    mt_status st = MT_OK;
    if (!walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    MT_TRY(estimate_pruned(space, walker, watch, err));
    if (space->is_enumerated) goto done;
    space->count = (size_t)mt_diagram_total(space->diagram);
    if (!mt_diagram_is_exact(space->diagram)) MT_TRY(estimate_count(space, walker, watch, err));
done:
    mt_walker_give(space, walker);
    return st;
}

const char *mt_space_count_text(const mt_space *space, char *text, size_t size)
{
    static const char *const units[] = { "", " k", " M", " G", " T", " P", " E" };
    double count = (double)space->count;
    size_t unit = 0;
    if (mt_space_count_is_exact(space)) {
        snprintf(text, size, "%zu", space->count);
        return text;
    }
    for (; count >= 999.5; count /= 1000) unit++;
    snprintf(text, size, "about %.*f%s (estimated)", unit && count < 99.95 ? 1 : 0, count, units[unit]);
    return text;
}

/* ---- in the order of ranks ---- */

typedef struct seek {
    const mt_space *space;
    mt_walker *walker;
    mt_point from;               /* the least point wanted */
    size_t pinned_param;         /* with this level only … */
    int pinned_level;            /* MT_INACTIVE: any */
    int variant;                 /* … and in this variant; −1: any */
    mt_effort effort;
} seek;

static bool seek_below(seek *s, size_t param, bool is_at_from);

static bool is_wanted(const seek *s, size_t param, int level)
{
    bool is_pinned = s->pinned_level != MT_INACTIVE;
    if (param == 0 && is_pinned && s->space->activities[(size_t)level * s->space->spec->param_count + s->pinned_param] == MT_ACTIVE_NO) return false;
    if (param == 0 && s->variant >= 0 && level != s->variant) return false;
    return !is_pinned || param != s->pinned_param || level == s->pinned_level;
}

static bool seek_level(seek *s, size_t param, int level, bool is_at_from)
{
    const mt_check *culprit;
    s->walker->point.level[param] = (int16_t)level;
    if (!mt_diagram_holds(s->space->diagram, s->space, s->walker, param)) return false;
    if (mt_diagram_below(s->space->diagram, s->space, s->walker, param + 1) == 0) return false;
    mt_truth truth = mt_checks_at(s->space, s->walker, (int)param, &culprit);
    if (truth == MT_TRUTH_FAILED) warn_once(s->space, culprit, s->walker);
    return truth == MT_TRUTH_HOLDS && seek_below(s, param + 1, is_at_from && level == s->from.level[param]);
}

/* The least valid point from the knobs set on; while they are those of `from`, nothing less than `from`. */
static bool seek_below(seek *s, size_t param, bool is_at_from)
{
    int low, high;
    if (param == s->space->spec->param_count) return true;
    if (mt_space_levels(s->space, s->walker, param, &low, &high) == MT_TRUTH_FAILED) return false;
    if (is_at_from && s->from.level[param] > low) low = s->from.level[param];
    for (int level = low; level <= high; level++) {
        mt_status unused;
        if (!mt_effort_step(&s->effort, s->walker, &unused, NULL)) return false;
        if (is_wanted(s, param, level) && seek_level(s, param, level, is_at_from)) return true;
        is_at_from = false;
    }
    s->walker->point.level[param] = MT_INACTIVE;
    return false;
}

static bool find_least(seek *s, size_t *index)
{
    s->effort.limit = s->pinned_level == MT_INACTIVE ? SEEK_LIMIT : SEEK_LIMIT / 10;
    s->walker = mt_walker_take(s->space);
    bool is_found = s->walker && seek_below(s, 0, true);
    if (is_found) *index = mt_rank_of(s->space, &s->walker->point, UINT64_MAX);
    if (s->walker) mt_walker_give(s->space, s->walker);
    return is_found;
}

bool mt_space_next(const mt_space *space, size_t least, size_t *index)
{
    seek s = { .space = space, .pinned_level = MT_INACTIVE, .variant = -1 };
    if (least >= mt_space_index_limit(space)) return false;
    if (space->is_enumerated) {
        *index = least;
        return true;
    }
    mt_rank_decode(space, least, &s.from);
    return find_least(&s, index);
}

bool mt_space_first_with(const mt_space *space, size_t variant, size_t param, int level, size_t *index)
{
    if (space->is_enumerated) {
        for (size_t i = 0; i < space->count; i++) {
            mt_point point;
            mt_space_at(space, i, &point);
            if (point.level[0] != (int)variant || point.level[param] != level) continue;
            *index = i;
            return true;
        }
        return false;
    }
    seek s = { .space = space, .pinned_param = param, .pinned_level = level, .variant = (int)variant };
    mt_rank_decode(space, 0, &s.from);
    return find_least(&s, index);
}
