/* The arms: how the engine finds its next point. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/search/arms.h"
#include "tuner/search/offspring.h"

#define MUTATION 0.1
#define DOUBTFUL -1 /* log of the chance to work below which the least mean is no argument */
enum { MOST_ELITE = 32, SAMPLE = 128, LATE_SAMPLE = 64, LATE_DRAWS_EVERY = 8, CHILDREN = 60, RENEWED = 32, POOL_ELITE = 5, MOST_COMPARED = 128, POOL_WORK = 1 << 18, LEAST_POOL = 1024, LARGE = 8192 };

/* ---- candidates ---- */

void mt_arms_clear_candidates(size_t *count)
{
    *count = 0;
}

static bool add_candidate(mt_model_search *search, size_t *count, size_t point)
{
    size_t *added = MT_APPEND(search->candidates, *count, search->candidate_capacity);
    if (added) *added = point;
    return added;
}

const struct mt_neighbours *mt_arms_neighbours_of(mt_model_search *search, size_t point)
{
    for (size_t i = 0; i < MT_NEIGHBOURS_KEPT; i++) {
        if (search->kept[i].items && search->kept[i].point == point) return &search->kept[i];
    }
    struct mt_neighbours *slot = &search->kept[search->next_kept];
    if (!slot->items) slot->items = mt_alloc(search->neighbour_capacity, sizeof *slot->items);
    if (!slot->items) return NULL;
    search->next_kept = (search->next_kept + 1) % MT_NEIGHBOURS_KEPT;
    slot->point = point;
    slot->count = mt_space_neighbours(search->ledger.space, point, slot->items, search->neighbour_capacity);
    return slot;
}

void mt_arms_add_neighbours(mt_model_search *search, size_t *count, size_t point)
{
    const struct mt_neighbours *neighbours = mt_arms_neighbours_of(search, point);
    for (size_t i = 0; neighbours && i < neighbours->count; i++) {
        if (!mt_ledger_knows(&search->ledger, neighbours->items[i])) add_candidate(search, count, neighbours->items[i]);
    }
}

static void add_neighbours_of_best(mt_model_search *search, size_t *count, size_t elite)
{
    size_t places[MOST_ELITE];
    elite = mt_ledger_elite(&search->ledger, places, elite < MOST_ELITE ? elite : MOST_ELITE);
    for (size_t i = 0; i < elite; i++) mt_arms_add_neighbours(search, count, search->ledger.items[places[i]].point);
}

/* The next of the stock; one in RENEWED is drawn anew. */
static void add_stock(mt_model_search *search, size_t *count, size_t draws)
{
    size_t most = draws < search->stock_count ? draws : search->stock_count;
    for (size_t i = 0; i < most; i++) {
        size_t fresh, *slot = &search->stock[search->next_stock++ % search->stock_count];
        if (mt_rng_below(&search->rng, RENEWED) == 0 && mt_ledger_draw(&search->ledger, &search->rng, &fresh)) *slot = fresh;
        if (!mt_ledger_knows(&search->ledger, *slot)) add_candidate(search, count, *slot);
    }
}

static void add_draws(mt_model_search *search, size_t *count, size_t draws)
{
    size_t point;
    if (search->stock_count > 0) add_stock(search, count, draws);
    else for (size_t i = 0; i < draws && mt_ledger_draw(&search->ledger, &search->rng, &point); i++) add_candidate(search, count, point);
}

/* ---- the first sample ---- */

double mt_arms_distance(const mt_model_search *search, const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < search->features.plain_count; i++) sum += fabs((double)a[i] - (double)b[i]);
    return sum;
}

static bool is_first_sample(const mt_model_search *search)
{
    return mt_ledger_told(&search->ledger) < MT_FIRST_SAMPLE;
}

/* An unknown random point, the i-th of a sample; in a space that is sampled, every other one of an algorithm that is drawn first: one of them may have nearly all points. Later
 * samples of such a space come from the stock, most of them: a draw takes long. */
static bool draw_spread(mt_model_search *search, size_t i, size_t *point)
{
    const mt_space *space = search->ledger.space;
    bool is_first = is_first_sample(search);
    if (!is_first && search->stock_count > 0 && i % LATE_DRAWS_EVERY != 0) {
        *point = search->stock[mt_rng_below(&search->rng, search->stock_count)];
        if (!mt_ledger_knows(&search->ledger, *point)) return true;
    } else if ((!is_first || i % 2 == 1) && !mt_space_is_enumerated(space)) {
        size_t variant = (size_t)mt_rng_below(&search->rng, mt_space_spec(space)->algorithm_count);
        if (mt_space_sample_variant(space, variant, &search->rng, point) && !mt_ledger_knows(&search->ledger, *point)) return true;
    }
    return mt_ledger_draw(&search->ledger, &search->rng, point);
}

/* Fills `rows` with features of unknown random points, and covered[i] with the distance from point i to what is known (of much, to a part of it). Returns how many. */
static size_t draw_sample(mt_model_search *search, size_t *points, float *rows, double *covered)
{
    size_t width = search->features.count, step = search->ledger.count / MOST_COMPARED + 1, count = 0;
    size_t most = mt_space_is_enumerated(search->ledger.space) || is_first_sample(search) ? SAMPLE : LATE_SAMPLE;
    for (; count < most && draw_spread(search, count, &points[count]); count++) {
        mt_features_of(&search->features, points[count], rows + count * width);
        covered[count] = INFINITY;
        for (size_t k = 0; k < search->ledger.count; k += step) covered[count] = fmin(covered[count], mt_arms_distance(search, rows + count * width, search->rows + k * width));
    }
    return count;
}

bool mt_propose_central(mt_model_search *search, mt_proposal *out)
{
    size_t width = search->features.count, points[SAMPLE], count = 0;
    double covered[SAMPLE], least = INFINITY;
    float *rows = mt_alloc(SAMPLE * width, sizeof *rows);
    if (rows) count = draw_sample(search, points, rows, covered);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = 0; k < count; k++) sum += fmin(covered[k], mt_arms_distance(search, rows + i * width, rows + k * width));
        if (sum >= least) continue;
        least = sum;
        *out = (mt_proposal){points[i], NAN, 0};
    }
    mt_free(rows);
    return count > 0;
}

bool mt_propose_believed(mt_model_search *search, mt_proposal *out)
{
    *out = (mt_proposal){SIZE_MAX, NAN, 0};
    return mt_belief_next(&search->belief, &search->features, &search->ledger, &search->rng, &out->point);
}

/* ---- what is believed, beside what models learned ---- */

static double believed(const mt_model_search *search, const float *row)
{
    return search->belief.slope > 0 ? mt_belief_mean(&search->belief, &search->features, row[search->features.prior_feature]) : 0;
}

static double believed_of_pool(const mt_model_search *search, size_t place)
{
    return search->belief.slope > 0 ? mt_belief_mean(&search->belief, &search->features, search->gp.columns[search->features.prior_feature * search->gp.pool_size + place]) : 0;
}

/* ---- what models are fitted to ---- */

struct sample {
    float *rows;
    double *targets;
};

static void free_sample(struct sample *sample)
{
    mt_free(sample->rows);
    mt_free(sample->targets);
}

/* False: memory ran out. free_sample it all the same. */
static bool take_sample(const mt_model_search *search, const size_t *places, size_t count, struct sample *sample)
{
    size_t width = search->features.count;
    *sample = (struct sample){mt_alloc(count * width, sizeof *sample->rows), mt_alloc(count, sizeof *sample->targets)};
    if (!sample->rows || !sample->targets) return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(sample->rows + i * width, search->rows + places[i] * width, width * sizeof *sample->rows);
        sample->targets[i] = search->targets[places[i]];
    }
    return true;
}

/* ---- forest ---- */

/* Of results alone. The Gaussian process believes what it expects of points that are awaited, and so goes elsewhere; the forest stays where it is good. */
static bool grow_forest(mt_model_search *search)
{
    const mt_ledger *ledger = &search->ledger;
    const bool *lacks_order = search->has_gp ? search->gp.lacks_order : NULL;
    struct sample sample = {0};
    size_t *places = mt_alloc(ledger->count, sizeof *places), count = 0;
    for (size_t i = 0; places && i < ledger->count; i++)
        if (!ledger->items[i].is_pending && !(isinf(ledger->items[i].time_ns) && mt_model_search_fails_by_chance(search))) places[count++] = i;
    bool is_done = places && take_sample(search, places, count, &sample) &&
                   mt_forest_fit(&search->forest, sample.rows, search->features.count, sample.targets, count, lacks_order, &search->rng);
    free_sample(&sample);
    mt_free(places);
    return is_done;
}

/* With many points, one more changes little: then the forest may be a few points old, unless one of them is the new best. */
bool mt_arms_fit_forest(mt_model_search *search)
{
    const mt_ledger *ledger = &search->ledger;
    size_t told = mt_ledger_told(ledger);
    bool is_fresh = search->forest.tree_count > 0 && ledger->best == search->forest_best && told - search->forest_told <= told / MT_FOREST_AGE;
    if (is_fresh) return true;
    search->forest_told = told;
    search->forest_best = ledger->best;
    return grow_forest(search);
}

/* The candidate with the largest expected improvement by the forest, or with the least mean. */
bool mt_arms_choose_by_forest(mt_model_search *search, size_t count, bool by_mean, mt_proposal *out)
{
    double best = -INFINITY, scale = mt_hindsight_scale(&search->hindsight);
    bool may_fail = mt_model_search_fit_validity(search);
    float *row = mt_alloc(search->features.count, sizeof *row);
    for (size_t i = 0; row && i < count; i++) {
        double mean, deviation, chance = 0;
        mt_features_of(&search->features, search->candidates[i], row);
        mt_forest_predict(&search->forest, row, &mean, &deviation);
        mean += believed(search, row);
        if (may_fail) chance = mt_model_search_log_validity(search, row);
        double score = by_mean ? -mean + (chance < DOUBTFUL ? chance : 0) : mt_log_improvement(search->best_target, mean, scale * deviation) + chance;
        if (score > best) {
            best = score;
            *out = (mt_proposal){search->candidates[i], mean, by_mean ? 0 : deviation};
        }
    }
    mt_free(row);
    if (!by_mean && best > -INFINITY) mt_outlook_forest(&search->outlook, best, mt_model_search_unit(search));
    return best > -INFINITY;
}

bool mt_propose_forest(mt_model_search *search, size_t elite, size_t draws, mt_proposal *out)
{
    size_t count;
    mt_arms_clear_candidates(&count);
    add_neighbours_of_best(search, &count, elite);
    add_draws(search, &count, draws);
    return count > 0 && mt_arms_fit_forest(search) && mt_arms_choose_by_forest(search, count, false, out);
}

bool mt_propose_offspring(mt_model_search *search, size_t elite, mt_proposal *out)
{
    const mt_evaluation *items = search->ledger.items;
    size_t places[MOST_ELITE], count, child;
    mt_arms_clear_candidates(&count);
    elite = mt_ledger_elite(&search->ledger, places, elite < MOST_ELITE ? elite : MOST_ELITE);
    for (int i = 0; elite > 1 && i < CHILDREN; i++) {
        size_t a = items[places[mt_rng_below(&search->rng, elite)]].point, b = items[places[mt_rng_below(&search->rng, elite)]].point;
        if (mt_offspring(search->ledger.space, &search->rng, a, b, MUTATION, &child) && !mt_ledger_knows(&search->ledger, child)) add_candidate(search, &count, child);
    }
    if (count == 0 || !mt_arms_fit_forest(search) || !mt_arms_choose_by_forest(search, count, false, out)) return false;
    out->deviation = 0; /* children of the best are much alike: they are no measure of a model */
    return true;
}

/* ---- Gaussian process ---- */

/* A random choice of `count` of the rest after `first` in an array of `total`, moved to the front. */
static void draw_rest(mt_rng *rng, size_t *items, size_t first, size_t count, size_t total)
{
    for (size_t i = first; i < count && i < total; i++) {
        size_t other = i + (size_t)mt_rng_below(rng, total - i), kept = items[i];
        items[i] = items[other];
        items[other] = kept;
    }
}

/* Places in ledger: the best half of `most` and random others. Returns how many. */
static size_t choose_places(mt_model_search *search, size_t *places, size_t most)
{
    size_t total = search->ledger.count;
    for (size_t i = 0; i < total; i++) places[i] = i;
    if (total <= most) return total;
    for (size_t i = 0; i < most / 2; i++) { /* selection: `most` is small */
        size_t best = i;
        for (size_t k = i + 1; k < total; k++) {
            if (search->targets[places[k]] < search->targets[places[best]]) best = k;
        }
        size_t kept = places[i];
        places[i] = places[best];
        places[best] = kept;
    }
    draw_rest(&search->rng, places, most / 2, most, total);
    return most;
}

static bool fit_gp(mt_model_search *search, size_t *places)
{
    struct sample sample;
    size_t count = choose_places(search, places, MT_GP_MOST_FITTED);
    bool is_done = take_sample(search, places, count, &sample) && mt_gp_fit(&search->gp, sample.rows, sample.targets, count);
    free_sample(&sample);
    return is_done;
}

/* Of a large space's random sample: the more points the Gaussian process has, the fewer, so that a proposal stays cheap. */
static size_t pool_limit(const mt_model_search *search)
{
    if (mt_space_count(search->ledger.space) <= LARGE) return search->gp.pool_size;
    size_t known = search->ledger.count < search->gp_limit ? search->ledger.count : search->gp_limit, limit = POOL_WORK / (known ? known : 1);
    if (limit < LEAST_POOL) limit = LEAST_POOL;
    return limit < search->gp.pool_size ? limit : search->gp.pool_size;
}

/* All unknown points where they fit, else the neighbours of the best and a random sample. */
static bool set_pool(mt_model_search *search)
{
    const mt_space *space = search->ledger.space;
    size_t limit = search->gp.pool_size, width = search->features.count, count;
    mt_arms_clear_candidates(&count);
    if (mt_space_is_enumerated(space) && mt_space_count(space) <= limit) {
        for (size_t i = 0; i < mt_space_count(space); i++) {
            if (!mt_ledger_knows(&search->ledger, i)) add_candidate(search, &count, i);
        }
    } else {
        limit = pool_limit(search);
        add_neighbours_of_best(search, &count, POOL_ELITE);
        if (count < limit) add_draws(search, &count, limit - count);
    }
    if (count > limit) count = limit;
    float *rows = mt_alloc(count * width, sizeof *rows);
    if (!rows || count == 0) {
        mt_free(rows);
        return false;
    }
    for (size_t i = 0; i < count; i++) mt_features_of(&search->features, search->candidates[i], rows + i * width);
    memcpy(search->pool, search->candidates, count * sizeof *search->pool);
    mt_gp_set_pool(&search->gp, rows, count);
    mt_free(rows);
    return true;
}

static bool rebuild_gp(mt_model_search *search)
{
    size_t total = search->ledger.count, most = search->gp_limit * 3 / 4;
    size_t *places = mt_alloc(total, sizeof *places);
    bool is_done = places && fit_gp(search, places) && set_pool(search);
    if (is_done) {
        size_t count = choose_places(search, places, total <= search->gp_limit ? search->gp_limit : most);
        struct sample sample;
        is_done = take_sample(search, places, count, &sample);
        if (is_done) mt_gp_append(&search->gp, sample.rows, count);
        free_sample(&sample);
        memcpy(search->gp_places, places, count * sizeof *places);
        search->gp_seen = total;
        search->next_fit = total + 3 > total * 6 / 5 + 1 ? total + 3 : total * 6 / 5 + 1;
    }
    mt_free(places);
    return is_done;
}

/* Brings the GP up to what is known now, and conditions it on the targets. */
static bool update_gp(mt_model_search *search)
{
    size_t fresh = search->ledger.count - search->gp_seen;
    if (!search->has_gp) return false;
    if (search->ledger.count >= search->next_fit || search->gp.count + fresh > search->gp_limit) {
        if (!rebuild_gp(search)) return false;
    } else {
        for (size_t i = 0; i < fresh; i++) search->gp_places[search->gp.count + i] = search->gp_seen + i;
        mt_gp_append(&search->gp, search->rows + search->gp_seen * search->features.count, fresh);
        search->gp_seen = search->ledger.count;
    }
    double *targets = mt_alloc(search->gp.count, sizeof *targets);
    if (!targets) return false;
    for (size_t i = 0; i < search->gp.count; i++) targets[i] = search->targets[search->gp_places[i]];
    mt_gp_predict(&search->gp, targets);
    mt_free(targets);
    return true;
}

bool mt_propose_gp(mt_model_search *search, mt_proposal *out)
{
    double best = -INFINITY;
    if (!update_gp(search)) return false;
    bool may_fail = mt_model_search_fit_validity(search);
    float *row = mt_alloc(search->features.count, sizeof *row);
    if (!row) return false;
    mt_outlook_begin(&search->outlook);
    for (size_t i = 0; i < search->gp.pool_count; i++) {
        if (mt_ledger_knows(&search->ledger, search->pool[i])) continue;
        double mean = search->gp.means[i] + believed_of_pool(search, i), score = mt_log_improvement(search->best_target, mean, search->gp.deviations[i]);
        if (may_fail && score > best) {
            mt_features_of(&search->features, search->pool[i], row);
            score += mt_model_search_log_validity(search, row);
        }
        mt_outlook_note(&search->outlook, score);
        if (score > best) {
            best = score;
            *out = (mt_proposal){search->pool[i], mean, 0};
        }
    }
    mt_free(row);
    mt_outlook_end(&search->outlook, mt_model_search_unit(search));
    return best > -INFINITY;
}

/* ---- sweep ---- */

bool mt_propose_sweep(mt_model_search *search, bool by_gp, mt_proposal *out)
{
    size_t count;
    double best = INFINITY;
    mt_arms_clear_candidates(&count);
    if (search->ledger.best == SIZE_MAX) return false;
    mt_arms_add_neighbours(search, &count, search->ledger.items[search->ledger.best].point);
    if (count == 0) return false;
    if (!by_gp) return mt_arms_fit_forest(search) && mt_arms_choose_by_forest(search, count, true, out);
    if (!update_gp(search)) return false;
    double *scratch = mt_alloc(search->gp.count, sizeof *scratch);
    float *row = mt_alloc(search->features.count, sizeof *row);
    for (size_t i = 0; scratch && row && i < count; i++) {
        double mean, deviation;
        mt_features_of(&search->features, search->candidates[i], row);
        mt_gp_at(&search->gp, row, scratch, &mean, &deviation);
        mean += believed(search, row);
        if (mean < best) {
            best = mean;
            *out = (mt_proposal){search->candidates[i], mean, 0};
        }
    }
    mt_free(scratch);
    mt_free(row);
    return best < INFINITY;
}
