/* A shape without a row of its own: what the tuned shapes say, else the default. Wait-free; nothing allocates. */
#include "db/lookup/lookup_cost.h"

#include <math.h>
#include <string.h>

enum { EMPTY = 0, WRITING = 1, READY = 2, NO_PREDICTOR = 255 };

/* ---- features of what is asked ---- */

void mt_lookup_features_of(const mt_lookup_answers *answers, const int64_t *values, double out[MT_RULE_FEATURES])
{
    const mt_lookup_model *model = &answers->model;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        switch (name->kind) {
        case MT_LOOKUP_NAME_INT: out += mt_rule_of_int(values[name->offset], out); break;
        case MT_LOOKUP_NAME_LIST: out += mt_rule_of_list(values + name->offset, name->length, out); break;
        case MT_LOOKUP_NAME_STRING: out += mt_rule_of_text(name->string, strlen(name->string), out); break;
        }
    }
}

/* ---- one predictor ---- */

typedef enum verdict { TAKEN, LOSES /* to the default */, UNKNOWN /* nothing can be said of it */, EXHAUSTED /* no variant of it may run here */ } verdict;

typedef struct asking {
    const mt_lookup_answers *answers;
    const int64_t *values;
    double max_error;                /* INFINITY = no limit */
    const mt_lookup_trace *trace;
    double features[MT_RULE_FEATURES];
    mt_lookup_asked *asked;
    bool is_asked;                   /* that is begun */
    const mt_lookup_variant *fits;   /* the one that was last found to run here, with so many launches; NULL = none yet */
    uint8_t launches_of_fit;
    bool first_default_fails;
    bool default_is_known;           /* what follows was found out */
    uint32_t default_row;            /* row_total: it may not run here */
    uint8_t default_launches;
    double default_slowdown;         /* log2, as the predictor expects it; NAN = nothing was said */
    uint32_t refused;                /* variants of the predictor at hand */
    char why[256];                   /* why a variant may not run; for the trace */
} asking;

#define SAY(asking_, ...)                                                                             \
    do {                                                                                              \
        if ((asking_)->trace) (asking_)->trace->say((asking_)->trace->context, __VA_ARGS__);          \
    } while (0)

/* The portfolio and its rule. */
static void say_choice(const asking *a, const mt_lookup_predictor *predictor)
{
    const mt_rule *rule = &predictor->rule;
    unsigned variants = 0, shapes = (unsigned)rule->shape_count;
    const char *plural = shapes == 1 ? "" : "s";
    if (!a->trace) return;
    for (size_t v = 0; v < rule->variant_count; v++) variants += rule->is_usable[v];
    if (rule->costs_decide) {
        SAY(a, "choice:   the search space's cost model, corrected by measurements, takes it for the fastest of %d variants: of all %u those that do best on %u tuned shape%s, %s\n", MT_RULE_LISTED,
            variants, shapes, plural, "the nearer ones counting more");
        return;
    }
    SAY(a, "choice:   chosen from %u variant%s by %s times on %u tuned shape%s, %s\n", variants, variants == 1 ? "" : "s", variants == 1 ? "its" : "their", shapes, plural,
        "the nearer ones counting more");
}

/* Of a log2; what a file says may be beyond all measure. */
static double factor_of(double log2_slowdown)
{
    return isnan(log2_slowdown) ? NAN : mt_rule_exp2(log2_slowdown < 64 ? log2_slowdown : 64);
}

/* How the offer's figure is carried from the shape where it was measured to this one. A correction says what its time grows by; else costs change its slowdown, and are compared with the other
 * variants'. */
static void say_change(const asking *a, const mt_rule *rule, const mt_rule_search *search)
{
    double change = mt_rule_moved(rule, search, search->witness, search->variant) - rule->slowdown[search->witness * rule->variant_count + search->variant];
    if (!(fabs(change) > 0.001)) return;
    if (rule->costs_decide) SAY(a, "model:    expected to take %.3f × its time on that shape, by the search space's cost model\n", mt_rule_exp2(change));
    else SAY(a, "change:   its slowdown is expected to be %.3f × that on that shape, since its %s %s than other variants' do\n", mt_rule_exp2(change),
             a->answers->model.time_ns ? "time by the cost model grows" : "blocks per SM grow", change < 0 ? "less" : "more");
}

/* Log2 factors as a person reads them. */
static void say_offer(const asking *a, const mt_lookup_predictor *predictor, const mt_rule_search *search, const mt_rule_expectation *expected, verdict v)
{
    if (!a->trace) return;
    const mt_rule *rule = &predictor->rule;
    SAY(a, "nearest:  shape %s on %s, %.2f doublings away", predictor->shape_names[search->nearest], predictor->gpu, search->distance[search->nearest]);
    if (predictor->ignores_workload) SAY(a, "; nothing was tuned for this workload, so the times of all workloads count");
    SAY(a, "\n");
    if (search->witness != search->nearest) SAY(a, "seen on:  shape %s, %.2f doublings away, the nearest on which the variant was measured\n", predictor->shape_names[search->witness], search->distance[search->witness]);
    say_change(a, rule, search);
    if (v == UNKNOWN && isnan(expected->of_default)) SAY(a, "unknown:  the default was not measured on near shapes, so it is not known whether this variant is faster\n");
    else if (v == UNKNOWN) SAY(a, "unknown:  too few shapes were tuned to estimate what such a distance costs\n");
    if (v == LOSES) SAY(a, "slower:   expected to be slower than the default: %.2f × its time\n", factor_of(-expected->advantage));
    if (v == TAKEN && isfinite(expected->advantage) && expected->advantage > 0) SAY(a, "faster:   expected speed-up over the default: %.2f ×\n", factor_of(expected->advantage));
    if (v == TAKEN && expected->is_far && isnan(expected->most)) SAY(a, "far:      no tuned shape is near, and too few were tuned to bound its slowdown\n");
    else if (v == TAKEN && expected->is_far) SAY(a, "far:      no tuned shape is near: expect up to %.1f × the best time\n", factor_of(expected->most));
}

/* Looked for when it is needed: most offers win against it anyhow. */
static uint32_t default_row(asking *a)
{
    if (a->default_is_known) return a->default_row;
    a->default_is_known = true;
    a->default_row = mt_lookup_default_row(a->answers, a->values, a->first_default_fails, &a->default_launches, a->trace ? a->why : NULL, sizeof a->why);
    if (a->default_row == a->answers->row_total) SAY(a, "default:  it may not run here: %s\n", a->why);
    else if (a->trace && *a->why) SAY(a, "default:  not the first of the kernel's: %s\n", a->why);
    return a->default_row;
}

static verdict judge(asking *a, const mt_lookup_variant *variant, const mt_rule_expectation *expected)
{
    if (expected->advantage >= 0 || (isnan(expected->of_default) && !isnan(expected->slowdown))) return TAKEN; /* also where nothing is known of the default */
    if (default_row(a) == a->answers->row_total) return TAKEN; /* nothing to lose to */
    if (a->answers->rows[a->default_row]->variant->algo != (int32_t)a->answers->model.defaults[0]) return TAKEN; /* another default, with which nothing was compared */
    bool is_default = strcmp(variant->text, a->answers->rows[a->default_row]->variant->text) == 0;
    if (is_default && !isnan(expected->slowdown)) return TAKEN; /* the same, with a measurement behind it */
    return isnan(expected->advantage) ? UNKNOWN : LOSES;
}

static mt_lookup_asked *asked_of(asking *a)
{
    if (!a->is_asked) mt_lookup_asked_begin(a->asked, a->answers, a->values);
    a->is_asked = true;
    return a->asked;
}

/* Whether the variant may run here. Who listens to the trace is told why not. */
static bool may_run(asking *a, const mt_lookup_variant *variant, uint8_t *launches)
{
    if (a->trace || !variant->lets) return mt_lookup_may_run(a->answers, variant, a->values, launches, a->trace ? a->why : NULL, sizeof a->why);
    if (a->fits != variant) {
        if (!mt_lookup_asked_may_run(asked_of(a), variant, &a->launches_of_fit)) return false;
        a->fits = variant;
    }
    *launches = a->launches_of_fit;
    return true;
}

/* The predictor's next offer that may run here. */
static bool next_offer(asking *a, const mt_lookup_predictor *predictor, mt_rule_search *search, uint32_t *row, uint8_t *launches)
{
    enum { TOLD = 4 }; /* refusals */
    while (mt_rule_next_beside(&predictor->rule, search)) {
        if (search->witness == SIZE_MAX) continue;
        *row = predictor->rule.rows[search->witness * predictor->rule.variant_count + search->variant];
        if (may_run(a, a->answers->rows[*row - 1]->variant, launches)) return true;
        bool is_told = a->refused++ < TOLD && a->answers->model.launch_count; /* without a launch it is one reason for all, told once in ask() */
        if (is_told) SAY(a, "refused:  a variant of shape %s: %s\n", predictor->shape_names[search->witness], a->why);
    }
    return false;
}

/* Refuses the variants for which `is_out` holds; returns how many of them might have been chosen. */
static unsigned refuse_each(const mt_lookup_predictor *predictor, mt_rule_search *search, bool (*is_out)(const mt_lookup_predictor *, size_t))
{
    unsigned count = 0;
    for (size_t v = 0; v < predictor->rule.variant_count; v++) {
        if (search->is_refused[v] || !is_out(predictor, v)) continue;
        search->is_refused[v] = true;
        count += predictor->rule.is_usable[v];
    }
    return count;
}

static bool is_wrong_here(const mt_lookup_predictor *predictor, size_t variant)
{
    return predictor->is_wrong_here[variant];
}

static bool is_wrong_elsewhere(const mt_lookup_predictor *predictor, size_t variant)
{
    return predictor->is_out[variant];
}

static bool never_runs(const mt_lookup_predictor *predictor, size_t variant)
{
    return predictor->variants && predictor->variants[variant]->never_runs;
}

/* What no constraint excludes may still be wrong here: half-precision sums where the type is another one, say. All of this is so for every shape of the plan. */
static void rule_out(asking *a, const mt_lookup_predictor *predictor, mt_rule_search *search)
{
    unsigned wrong = refuse_each(predictor, search, is_wrong_here), elsewhere = refuse_each(predictor, search, is_wrong_elsewhere), never = refuse_each(predictor, search, never_runs);
    if (elsewhere) SAY(a, "refused:  %u of the variants computed wrong results, faulted, crashed or hung on shapes with this shape's strings, on some GPU\n", elsewhere);
    if (wrong) SAY(a, "refused:  %u of the variants computed wrong results, and never right ones, for a tuned shape with one of this shape's strings\n", wrong);
    if (never) SAY(a, "refused:  %u of the variants may not run with this shape's strings, whatever its numbers\n", never);
    if (!predictor->default_fails || a->first_default_fails) return;
    a->first_default_fails = true;
    a->default_is_known = false;
    SAY(a, "default:  it fails on the tuned shapes with one of this shape's strings\n");
}

/* Within a limit the rule chooses among other variants: those that are known to keep it, however slow they are. */
typedef struct limited { mt_lookup_predictor predictor; bool is_usable[MT_RULE_VARIANTS]; } limited;

static const mt_lookup_predictor *within(const asking *a, const mt_lookup_predictor *predictor, limited *room)
{
    double least = INFINITY;
    unsigned beyond = 0;
    if (isinf(a->max_error)) return predictor;
    room->predictor = *predictor;
    room->predictor.rule.is_usable = room->is_usable;
    for (size_t v = 0; v < predictor->rule.variant_count; v++) {
        room->is_usable[v] = predictor->most_error[v] <= a->max_error;
        beyond += !room->is_usable[v];
        if (predictor->most_error[v] < least) least = predictor->most_error[v];
    }
    if (beyond) SAY(a, "refused:  of %u variants no error of at most %.3g is known for shapes with this shape's strings; the least error known of all is %.3g\n", beyond, a->max_error, least);
    return &room->predictor;
}

/* Of the listed variants whose costs are not known yet. */
static void ask_costs(asking *a, const mt_lookup_predictor *predictor, const mt_rule_search *search, double costs[MT_RULE_VARIANTS], bool is_known[MT_RULE_VARIANTS])
{
    for (size_t v = 0; v < predictor->rule.variant_count; v++) {
        if (!search->is_listed[v] || is_known[v]) continue;
        costs[v] = mt_lookup_asked_cost(asked_of(a), predictor->variants[v]);
        is_known[v] = true;
    }
}

/* Where costs decide, nothing is chosen that is not listed: if the cheapest of the list may not run, all that may not make room for others. True if some did. Mostly this looks at one variant. */
static bool make_room(asking *a, const mt_lookup_predictor *predictor, const double *costs, mt_rule_search *search)
{
    size_t count = predictor->rule.variant_count, cheapest = count;
    unsigned refused = 0;
    uint8_t launches;
    for (size_t v = 0; v < count; v++)
        if (search->is_listed[v] && !isnan(costs[v]) && (cheapest == count || costs[v] < costs[cheapest])) cheapest = v;
    if (cheapest < count && may_run(a, predictor->variants[cheapest], &launches)) return false;
    for (size_t v = 0; v < count; v++) {
        if (!search->is_listed[v] || may_run(a, predictor->variants[v], &launches)) continue;
        search->is_refused[v] = true;
        refused++;
    }
    if (refused) SAY(a, "refused:  %u of the likely variants: %s\n", refused, a->why);
    return refused != 0;
}

/* Begins with one predictor: what is ruled out, and what the likely ones cost here. */
static void begin(asking *a, const mt_lookup_predictor *predictor, mt_rule_search *search)
{
    double costs[MT_RULE_VARIANTS];
    bool is_known[MT_RULE_VARIANTS] = { false };
    a->refused = 0;
    mt_rule_begin(&predictor->rule, a->features, search);
    rule_out(a, predictor, search);
    if (predictor->rule.cost_weight == 0) return;
    do {
        mt_rule_list(&predictor->rule, search);
        ask_costs(a, predictor, search, costs, is_known);
    } while (predictor->rule.costs_decide && make_room(a, predictor, costs, search));
    mt_rule_set_costs(&predictor->rule, costs, search);
}

static mt_lookup_decision taken(const asking *a, const mt_lookup_predictor *predictor, const mt_rule_search *search, uint32_t index, uint32_t row, uint8_t launches)
{
    mt_rule_expectation expected = mt_rule_expect(&predictor->rule, search);
    mt_lookup_decision decision = { .row = row - 1, .match = predictor->is_other_gpu ? TUNELOOKUP_MATCH_ARCHITECTURE : TUNELOOKUP_MATCH_NEAREST, .launches = launches, .predictor = (uint8_t)index,
                                    .slowdown = factor_of(expected.slowdown), .bound = factor_of(expected.most), .norm_error = a->answers->rows[row - 1]->norm_error };
    decision.error_shapes = !isnan(decision.norm_error);
    if (isinf(a->max_error)) return decision;
    decision.bound = NAN; /* it was held out for free choices */
    decision.norm_error = predictor->most_error[search->variant];
    decision.error_shapes = predictor->error_shapes[search->variant];
    return decision;
}

/* The best offer that may run here, unless the default is expected to be faster. */
static verdict ask(asking *a, uint32_t index, mt_lookup_decision *decision)
{
    limited room;
    const mt_lookup_predictor *predictor = within(a, &a->answers->predictors[index], &room);
    mt_rule_search search;
    uint32_t row;
    uint8_t launches;
    a->refused = 0;
    begin(a, predictor, &search);
    bool is_offered = next_offer(a, predictor, &search, &row, &launches);
    if (a->refused && !a->answers->model.launch_count) SAY(a, "refused:  all %u variants: %s, so nothing says how they are launched\n", a->refused, a->why);
    if (!is_offered) return EXHAUSTED;
    mt_rule_expectation expected = mt_rule_expect(&predictor->rule, &search);
    verdict v = isinf(a->max_error) ? judge(a, a->answers->rows[row - 1]->variant, &expected) : TAKEN; /* what it would lose to keeps no limit */
    say_choice(a, predictor);
    say_offer(a, predictor, &search, &expected, v);
    if (v == TAKEN) {
        *decision = taken(a, predictor, &search, index, row, launches);
    } else if (v == LOSES && !predictor->is_other_gpu) {
        a->default_slowdown = expected.of_default;
        decision->predictor = (uint8_t)index;
    }
    return v;
}

/* ---- all of them ---- */

void mt_lookup_descend(const mt_lookup_answers *answers, const int64_t *values, double max_error, const mt_lookup_trace *trace, mt_lookup_decision *decision)
{
    mt_lookup_asked asked;
    asking a = { .answers = answers, .values = values, .asked = &asked, .max_error = max_error, .trace = trace, .default_slowdown = NAN };
    *decision = (mt_lookup_decision){ .match = TUNELOOKUP_MATCH_NONE, .predictor = NO_PREDICTOR, .slowdown = NAN, .bound = NAN, .norm_error = NAN, .row = answers->row_total };
    if (*answers->unknown) return; /* a mistake of the caller, or something that nobody tried: near shapes and the default say nothing of it */
    if (answers->predictor_count) mt_lookup_features_of(answers, values, a.features);
    for (uint32_t i = 0; i < answers->predictor_count; i++) {
        verdict v = ask(&a, i, decision);
        if (v == TAKEN) return;
        if (v == LOSES) break; /* what is known says that the default is better here */
    }
    if (!isinf(max_error) || default_row(&a) == answers->row_total) return;
    decision->match = TUNELOOKUP_MATCH_DEFAULT;
    decision->row = a.default_row;
    decision->launches = a.default_launches;
    if (isfinite(a.default_slowdown)) decision->slowdown = factor_of(a.default_slowdown > 0 ? a.default_slowdown : 0);
}

size_t mt_lookup_several(const mt_lookup_answers *answers, const int64_t *values, mt_lookup_decision *decisions, size_t capacity)
{
    mt_lookup_asked asked;
    asking a = { .answers = answers, .values = values, .asked = &asked, .max_error = INFINITY, .default_slowdown = NAN };
    size_t count = 0;
    if (*answers->unknown || !answers->predictor_count) return 0;
    mt_lookup_features_of(answers, values, a.features);
    for (uint32_t i = 0; i < answers->predictor_count && !count; i++) {
        const mt_lookup_predictor *predictor = &answers->predictors[i];
        mt_rule_search search;
        uint32_t row;
        uint8_t launches;
        begin(&a, predictor, &search);
        while (count < capacity && next_offer(&a, predictor, &search, &row, &launches)) {
            decisions[count++] = taken(&a, predictor, &search, i, row, launches);
            mt_rule_keep(&predictor->rule, &search);
        }
    }
    return count;
}

/* ---- the cache ---- */

static mt_lookup_cached *slot_at(const mt_lookup_answers *answers, uint32_t index)
{
    return (mt_lookup_cached *)(void *)(answers->cache + (size_t)index * answers->cache_stride);
}

/* Slots are written once and stay; when those for a shape and limit are taken, it is decided anew each time. */
void mt_lookup_decide(const mt_lookup_answers *answers, const int64_t *values, double max_error, mt_lookup_decision *decision)
{
    int64_t bits;
    memcpy(&bits, &max_error, sizeof bits);
    uint32_t hash = mt_lookup_hash(values, answers->value_count) ^ mt_lookup_hash(&bits, 1);
    size_t bytes = answers->value_count * sizeof *values;
    for (uint32_t probe = 0; probe < MT_LOOKUP_CACHE_PROBES; probe++) {
        mt_lookup_cached *slot = slot_at(answers, (hash + probe) % MT_LOOKUP_CACHED);
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == READY && slot->hash == hash && memcmp(&slot->max_error, &max_error, sizeof max_error) == 0 && memcmp(slot->values, values, bytes) == 0) {
            *decision = slot->decision;
            return;
        }
        if (state != EMPTY || !atomic_compare_exchange_strong(&slot->state, &state, WRITING)) continue;
        mt_lookup_descend(answers, values, max_error, NULL, decision);
        slot->hash = hash;
        slot->max_error = max_error;
        slot->decision = *decision;
        memcpy(slot->values, values, bytes);
        atomic_store_explicit(&slot->state, READY, memory_order_release);
        return;
    }
    mt_lookup_descend(answers, values, max_error, NULL, decision);
}
