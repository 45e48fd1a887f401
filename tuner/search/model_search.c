/* What the engine knows: points, features, targets. */
#include "tuner/search/model_search.h"

#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"

enum { POOL = 4096, GP_POINTS = 256, GP_POINTS_AT_LEAST = 64, STOCK = 2048 };

static bool fill_stock(mt_model_search *search)
{
    size_t *stock = search->stock = mt_alloc(STOCK, sizeof *stock);
    while (stock && search->stock_count < STOCK && mt_space_sample(search->ledger.space, &search->rng, &stock[search->stock_count])) search->stock_count++;
    return stock != NULL;
}

mt_status mt_model_search_init(mt_model_search *search, const mt_search_setup *setup, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_space_spec(setup->space);
    *search = (mt_model_search){.second_start = SIZE_MAX};
    mt_ledger_init(&search->ledger, setup->space);
    mt_rng_seed(&search->rng, setup->seed);
    MT_TRY(mt_features_init(&search->features, setup->space, setup->prior, setup->prior_context, &search->rng, err));
    for (size_t i = 0; i < spec->param_count; i++) search->neighbour_capacity += spec->params[i].value_count;
    size_t room = setup->budget < GP_POINTS ? setup->budget : GP_POINTS, valid = mt_space_count(setup->space);
    size_t pool = mt_space_is_enumerated(setup->space) && valid < POOL ? valid : POOL;
    search->gp_limit = room < GP_POINTS_AT_LEAST ? GP_POINTS_AT_LEAST : room;
    search->gp_places = mt_alloc(search->gp_limit, sizeof *search->gp_places);
    search->pool = mt_alloc(pool, sizeof *search->pool);
    search->has_gp = search->features.count > 0 && mt_gp_init(&search->gp, search->features.count, search->gp_limit, pool);
    for (size_t i = 0; search->has_gp && i < search->features.count; i++) {
        const mt_feature *item = &search->features.items[i];
        search->gp.may_lack_order[i] = item->kind == 0 && spec->params[item->knob].value_count > 2;
        search->gp.is_optional[i] = search->gp.is_unused[i] = i >= search->features.plain_count && i != search->features.prior_feature;
    }
    bool has_stock = mt_space_is_enumerated(setup->space) || fill_stock(search);
    if (!has_stock || !search->gp_places || !search->pool || (search->features.count > 0 && !search->has_gp)) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "model-based search: out of memory");
done:
    if (st != MT_OK) mt_model_search_free(search);
    return st;
}

void mt_model_search_free(mt_model_search *search)
{
    mt_ledger_free(&search->ledger);
    mt_features_free(&search->features);
    mt_forest_free(&search->forest);
    mt_forest_free(&search->validity);
    mt_gp_free(&search->gp);
    MT_FREE_EACH(search->points, search->rows, search->deviations, search->targets, search->gp_places, search->pool, search->stock, search->candidates);
    for (size_t i = 0; i < MT_NEIGHBOURS_KEPT; i++) mt_free(search->kept[i].items);
}

/* ---- points ---- */

/* Room and features for ledger item `place`, before it is there. */
static bool add_row(mt_model_search *search, size_t point)
{
    size_t place = search->ledger.count, width = search->features.count;
    if (place >= search->row_capacity) {
        size_t capacity = search->row_capacity ? 2 * search->row_capacity : 64;
        float *rows = mt_realloc(search->rows, capacity * (width ? width : 1), sizeof *rows);
        float *deviations = rows ? mt_realloc(search->deviations, capacity, sizeof *deviations) : NULL;
        if (rows) search->rows = rows;
        if (deviations) search->deviations = deviations;
        mt_point *points = deviations ? mt_realloc(search->points, capacity, sizeof *points) : NULL;
        if (!points) return false;
        search->points = points;
        search->row_capacity = capacity;
    }
    mt_space_at(search->ledger.space, point, &search->points[place]);
    mt_features_of(&search->features, point, search->rows + place * width);
    search->deviations[place] = 0;
    return true;
}

/* Never less than the best that was found: models that believed what they hope for would hope for more each time, while no result comes that says otherwise. */
static double expected_ns(const mt_model_search *search, double target)
{
    const mt_ledger *ledger = &search->ledger;
    double speed = -(target * search->scale + search->shift);
    if (isnan(target)) return NAN;
    return fmax(speed > 0.01 ? search->median_ns / speed : 100 * search->median_ns, ledger->items[ledger->best].time_ns);
}

bool mt_model_search_add(mt_model_search *search, mt_proposal proposal)
{
    if (!add_row(search, proposal.point)) return false;
    search->deviations[search->ledger.count] = (float)proposal.deviation;
    return mt_ledger_ask(&search->ledger, proposal.point, expected_ns(search, proposal.target));
}

size_t mt_model_search_ask(void *state, const char *(*propose)(void *state, mt_proposal *out), size_t *points, size_t capacity)
{
    mt_model_search *search = state;
    mt_proposal proposal;
    const char *arm;
    size_t given = 0;
    while (given < capacity && (arm = propose(state, &proposal)) && mt_model_search_add(search, proposal)) {
        points[given++] = proposal.point;
        search->ledger.items[search->ledger.count - 1].arm = arm;
    }
    return given;
}

const char *mt_model_search_arm_of(const void *state, size_t point)
{
    const mt_ledger *ledger = &((const mt_model_search *)state)->ledger;
    size_t place;
    const char *arm = mt_index_map_get(&ledger->places, point, &place) ? ledger->items[place].arm : NULL;
    return arm ? arm : "";
}

/* A time as a target, by the scale of the latest refresh. */
static double target_of(const mt_model_search *search, double time_ns)
{
    return (-(search->median_ns / time_ns) - search->shift) / search->scale;
}

/* What came of an expectation of the forest. */
static void learn(mt_model_search *search, size_t place)
{
    const mt_evaluation *item = &search->ledger.items[place];
    double deviation = (double)search->deviations[place];
    if (isinf(item->time_ns)) search->failure_count++;
    if (!(deviation > 0) || isinf(item->time_ns) || isnan(item->expected_ns)) return;
    search->deviations[place] = 0; /* told again, it is no news */
    mt_hindsight_add(&search->hindsight, target_of(search, item->expected_ns), deviation, target_of(search, item->time_ns));
}

void mt_model_search_tell(void *state, size_t point, double time_ns)
{
    mt_model_search *search = state;
    size_t best = search->ledger.best, place = SIZE_MAX;
    if (mt_ledger_knows(&search->ledger, point) || add_row(search, point)) {
        mt_model_search_judge_failures(search, point, isfinite(time_ns));
        place = mt_ledger_tell(&search->ledger, point, time_ns);
    }
    if (place != SIZE_MAX) learn(search, place);
    search->since_better = search->ledger.best == best ? search->since_better + 1 : 0;
    if (search->since_better == 0) mt_outlook_better(&search->outlook);
}

/* ---- targets ---- */

/* What the models take an evaluation's time to be; NAN: the median. */
static double time_for_models(const mt_model_search *search, const mt_evaluation *item)
{
    return isinf(item->time_ns) && mt_model_search_believes_failures(search) ? item->expected_ns : item->time_ns;
}

/* Median of the successes; their number. `scratch`: ledger.count numbers. */
static size_t find_median(mt_model_search *search, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < search->ledger.count; i++) {
        const mt_evaluation *item = &search->ledger.items[i];
        if (!item->is_pending && isfinite(item->time_ns)) scratch[count++] = item->time_ns;
    }
    if (count == 0) return 0;
    mt_stats_sort(scratch, count);
    search->median_ns = mt_stats_median(scratch, count);
    return count;
}

static void standardise(mt_model_search *search)
{
    size_t count = search->ledger.count;
    double *targets = search->targets;
    double sd = mt_stats_stddev(targets, count);
    search->shift = mt_stats_mean(targets, count);
    search->scale = sd > 0 ? sd : 1;
    search->best_target = INFINITY;
    for (size_t i = 0; i < count; i++) {
        targets[i] = (targets[i] - search->shift) / search->scale;
        bool is_success = !search->ledger.items[i].is_pending && isfinite(search->ledger.items[i].time_ns);
        if (is_success) search->best_target = fmin(search->best_target, targets[i]);
    }
}

bool mt_model_search_refresh(mt_model_search *search)
{
    size_t count = search->ledger.count;
    if (count > search->target_capacity) {
        double *targets = mt_realloc(search->targets, 2 * count, sizeof *targets);
        if (!targets) return false;
        search->targets = targets;
        search->target_capacity = 2 * count;
    }
    double worst = -INFINITY;
    if (find_median(search, search->targets) < 2) return false;
    for (size_t i = 0; i < count; i++) {
        const mt_evaluation *item = &search->ledger.items[i];
        double time_ns = time_for_models(search, item);
        search->targets[i] = isnan(time_ns) ? -1 : fmax(-(search->median_ns / time_ns), -1000);
        if (!item->is_pending && isfinite(item->time_ns)) worst = fmax(worst, search->targets[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (search->targets[i] > worst) search->targets[i] = worst; /* failures: −(median / ∞) = 0 */
    }
    standardise(search);
    mt_belief_learn(&search->belief, &search->features, &search->ledger, search->rows, search->scale, search->targets);
    return true;
}

double mt_model_search_unit(const mt_model_search *search)
{
    return search->scale * search->ledger.items[search->ledger.best].time_ns / search->median_ns;
}

double mt_model_search_outlook(void *state)
{
    const mt_model_search *search = state;
    if (mt_hindsight_is_misled(&search->hindsight)) return NAN; /* whoever errs about what he found knows nothing of what is to come */
    return mt_outlook_gain(&search->outlook, mt_ledger_told(&search->ledger), search->since_better);
}

double mt_log_improvement(double best, double mean, double deviation)
{
    double z = (best - mean) / deviation;
    if (z <= -5) return log(deviation) - z * z / 2 - 0.9189385332 - 2 * log(-z);
    double density = 0.3989422804 * exp(-z * z / 2), below = 0.5 * erfc(-z * 0.7071067812);
    return log(deviation * (z * below + density));
}
