#include "db/rule.h"

#include <math.h>
#include <string.h>

#include "db/key.h"

static const double LN2 = 0.69314718055994530942, SQRT2 = 1.41421356237309504880;

/* ---- logarithms without libm ---- */

/* value = m · 2^e with m in [√½, √2); ln m = 2 atanh((m − 1)/(m + 1)), whose series ends below 1e-11 here. */
double mt_rule_log2_real(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == -1023) return -1074; /* subnormal: nothing measured is that small */
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa >= SQRT2) {
        mantissa /= 2;
        exponent++;
    }
    double s = (mantissa - 1) / (mantissa + 1), square = s * s;
    double series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square * (1.0 / 11 + square / 13)))));
    return exponent + 2 * s * series / LN2;
}

double mt_rule_log2(int64_t value)
{
    if (value == 0) return -1;
    double size = mt_rule_log2_real(value < 0 ? -(double)value : (double)value);
    return value < 0 ? -2 - size : size;
}

double mt_rule_exp2(double value)
{
    int whole = (int)(value < 0 ? value - 0.5 : value + 0.5);
    double x = (value - whole) * LN2, term = 1, sum = 1;
    for (int i = 1; i < 12; i++) {
        term *= x / i;
        sum += term;
    }
    uint64_t bits = (uint64_t)(whole + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* ---- features ---- */

size_t mt_rule_of_int(int64_t value, double *out)
{
    out[0] = mt_rule_log2(value);
    return 1;
}

size_t mt_rule_of_list(const int64_t *values, size_t count, double *out)
{
    double sum = 0, logs = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        logs += mt_rule_log2(values[i]);
    }
    out[0] = mt_rule_log2((int64_t)count);
    out[1] = sum >= 1 ? mt_rule_log2_real(sum) : -1;
    out[2] = count ? logs / (double)count : 0;
    out[3] = count ? mt_rule_log2(values[0]) : 0;
    out[4] = count ? mt_rule_log2(values[count - 1]) : 0;
    return MT_RULE_LIST_FEATURES;
}

size_t mt_rule_of_text(const char *text, size_t length, double *out)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    out[0] = hash;
    return 1;
}

enum { LIST_LIMIT = 64 };

/* "92,46" or "7,": elements, as far as there is room. */
static size_t parse_list(const char *text, const char *end, int64_t values[LIST_LIMIT])
{
    size_t count = 0;
    while (text < end && count < LIST_LIMIT) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *stop = comma ? comma : end;
        if (mt_key_int(text, &values[count]) != stop) break;
        count++;
        text = comma ? comma + 1 : end;
    }
    return count;
}

/* The features of one value from `text` to `end`; 0 = it is not of that kind. */
static size_t of_value(const char *text, const char *end, char kind, double *out)
{
    int64_t values[LIST_LIMIT];
    if (kind == 's') return mt_rule_of_text(text, (size_t)(end - text), out);
    if (kind == 'i') return mt_key_int(text, values) == end ? mt_rule_of_int(*values, out) : 0;
    size_t count = kind == 'l' ? parse_list(text, end, values) : 0;
    return count ? mt_rule_of_list(values, count, out) : 0;
}

size_t mt_rule_of_key(const char *key, const char *kinds, double out[MT_RULE_FEATURES], size_t *names, bool *texts)
{
    size_t count = 0;
    for (size_t name = 0; *key; name++) {
        double own[MT_RULE_LIST_FEATURES];
        const char *end = key + strcspn(key, ";"), *equals = memchr(key, '=', (size_t)(end - key));
        size_t added = equals ? of_value(equals + 1, end, *kinds, own) : 0;
        if (!added || count + added > MT_RULE_FEATURES) return 0;
        memcpy(out + count, own, added * sizeof *own);
        for (size_t i = 0; i < added && names; i++) names[count + i] = name;
        for (size_t i = 0; i < added && texts; i++) texts[count + i] = *kinds == 's';
        count += added;
        key = end + (*end == ';');
        kinds += strcspn(kinds, ",");
        kinds += *kinds == ',';
    }
    return count;
}

void mt_rule_prior(const size_t *names, const bool *texts, size_t count, mt_rule_feature *features)
{
    for (size_t i = 0; i < count; i++) {
        size_t siblings = 0;
        for (size_t k = 0; k < count; k++) siblings += names[k] == names[i];
        features[i] = (mt_rule_feature){.weight = 1.0 / (double)siblings, .is_text = texts[i]};
    }
}

/* Newton's steps from a guess that halves the exponent. */
static double square_root(double value)
{
    uint64_t bits;
    double root;
    if (!(value > 0)) return 0;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits >> 1) + (UINT64_C(1023) << 51);
    memcpy(&root, &bits, sizeof root);
    for (int i = 0; i < 4; i++) root = 0.5 * (root + value / root);
    return root;
}

double mt_rule_worse(double a, double b)
{
    if (isinf(a) || isinf(b)) return INFINITY;
    if (isnan(a) || isnan(b)) return NAN;
    return a > b ? a : b;
}

double mt_rule_distance(const mt_rule_feature *features, size_t count, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = features[i].is_text ? (a[i] == b[i] ? 0 : MT_RULE_TEXT_OCTAVES) : a[i] - b[i];
        sum += features[i].weight * difference * difference;
    }
    return square_root(sum);
}

static bool have_same_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t length = strcspn(a, "=");
        if (strncmp(a, b, length) != 0 || b[length] != '=') return false;
        a += strcspn(a, ";");
        b += strcspn(b, ";");
        a += *a == ';';
        b += *b == ';';
    }
    return !*a && !*b;
}

double mt_rule_key_distance(const char *a, const char *b, const char *kinds)
{
    double of_a[MT_RULE_FEATURES], of_b[MT_RULE_FEATURES];
    mt_rule_feature features[MT_RULE_FEATURES];
    size_t names[MT_RULE_FEATURES];
    bool texts[MT_RULE_FEATURES];
    size_t count = mt_rule_of_key(a, kinds, of_a, names, texts);
    if (!count || !have_same_names(a, b) || mt_rule_of_key(b, kinds, of_b, NULL, NULL) != count) return INFINITY;
    mt_rule_prior(names, texts, count, features);
    return mt_rule_distance(features, count, of_a, of_b);
}

double mt_rule_wave_cost(double blocks, double sm_count)
{
    return blocks > sm_count ? mt_rule_log2_real(blocks / sm_count) : 0;
}

double mt_rule_cost(double number, bool is_time, double sm_count)
{
    return is_time ? mt_rule_log2_real(number) : mt_rule_wave_cost(number, sm_count);
}

double mt_rule_curve_at(const mt_rule_curve *curve, double distance)
{
    double from = 0, low = 0;
    if (!curve->count) return NAN;
    for (size_t i = 0; i < curve->count; i++) {
        double to = curve->distance[i], high = curve->value[i];
        if (distance <= to) return to > from ? low + (high - low) * (distance - from) / (to - from) : high;
        from = to;
        low = high;
    }
    return distance > curve->reach && curve->reach > 0 ? low * distance / curve->reach : low;
}

/* ---- what tuned shapes say ---- */

static double cell(const mt_rule *rule, size_t shape, size_t variant)
{
    return rule->slowdown[shape * rule->variant_count + variant];
}

/* Or, where it was not measured and costs decide, what they say. */
static double cell_or_cost(const mt_rule *rule, double least_cost, size_t shape, size_t variant)
{
    double measured = cell(rule, shape, variant);
    return isnan(measured) && rule->costs_decide ? rule->cost[shape * rule->variant_count + variant] - least_cost : measured;
}

/* Of all variants on the shape, where costs decide. */
static double least_cost_on(const mt_rule *rule, size_t shape)
{
    double least = INFINITY;
    for (size_t v = 0; rule->costs_decide && v < rule->variant_count; v++) {
        double cost = rule->cost[shape * rule->variant_count + v];
        if (cost < least) least = cost;
    }
    return least;
}

static double or_unknown(double slowdown)
{
    return isfinite(slowdown) ? slowdown : MT_RULE_UNKNOWN_LOG2;
}

void mt_rule_plain(const mt_rule *rule, double *plain, bool *is_known, double *least_cost)
{
    for (size_t i = 0, at = 0; i < rule->shape_count; i++) {
        least_cost[i] = least_cost_on(rule, i);
        for (size_t v = 0; v < rule->variant_count; v++, at++) {
            double value = cell_or_cost(rule, least_cost[i], i, v);
            is_known[at] = isfinite(value);
            plain[at] = or_unknown(value);
        }
    }
}

static double growth(const mt_rule *rule, const mt_rule_search *search, size_t shape, size_t variant)
{
    return rule->cost_weight > 0 ? search->cost[variant] - rule->cost[shape * rule->variant_count + variant] : NAN;
}

double mt_rule_moved(const mt_rule *rule, const mt_rule_search *search, size_t shape, size_t variant)
{
    double grown = growth(rule, search, shape, variant);
    return cell_or_cost(rule, search->least_cost[shape], shape, variant) + (isnan(grown) ? 0 : rule->cost_weight * (grown - search->usual[shape]));
}

void mt_rule_begin(const mt_rule *rule, const double *shape, mt_rule_search *search)
{
    const double heard = rule->costs_decide ? 6 : 12; /* halvings: less of the nearest one's word is none; a first choice, among which costs decide, need not be as fine */
    double least = INFINITY;
    memset(search->is_refused, 0, sizeof search->is_refused);
    memset(search->is_listed, 0, sizeof search->is_listed);
    search->is_predicted = search->is_list_made = search->is_any_kept = false;
    search->nearest = search->variant = search->witness = SIZE_MAX;
    search->heard_count = 0;
    search->total = 0;
    for (size_t v = 0; v < rule->variant_count; v++) search->cost[v] = NAN;
    for (size_t i = 0; i < rule->shape_count; i++) {
        bool is_out = rule->is_left_out && rule->is_left_out[i];
        search->usual[i] = 0;
        search->distance[i] = is_out ? NAN : mt_rule_distance(rule->features, rule->feature_count, rule->shapes + i * rule->feature_count, shape);
        if (!(search->distance[i] < least)) continue;
        least = search->distance[i];
        search->nearest = i;
    }
    for (size_t i = 0; i < rule->shape_count; i++) {
        double halvings = (search->distance[i] - least) / MT_RULE_HALVING_OCTAVES;
        search->weight[i] = halvings <= heard ? mt_rule_exp2(-halvings) : 0;
        if (search->weight[i] == 0) continue;
        search->heard[search->heard_count++] = (uint16_t)i;
        search->total += search->weight[i];
        search->least_cost[i] = rule->least_cost ? rule->least_cost[i] : least_cost_on(rule, i);
    }
}

static double said(const mt_rule *rule, const mt_rule_search *search, size_t shape, size_t variant)
{
    return or_unknown(mt_rule_moved(rule, search, shape, variant));
}

/* The weighted mean of what the heard shapes say, of each of the wanted variants (NULL: of all). NAN where none of them has a time of it. */
static void predict(const mt_rule *rule, const mt_rule_search *search, const bool *wanted, double means[MT_RULE_VARIANTS])
{
    bool has_time[MT_RULE_VARIANTS] = {false};
    for (size_t v = 0; v < rule->variant_count; v++) means[v] = 0;
    for (size_t k = 0; k < search->heard_count; k++) {
        size_t i = search->heard[k];
        for (size_t v = 0; v < rule->variant_count; v++) {
            if (wanted && !wanted[v]) continue;
            has_time[v] = has_time[v] || isfinite(cell_or_cost(rule, search->least_cost[i], i, v));
            means[v] += search->weight[i] * said(rule, search, i, v);
        }
    }
    for (size_t v = 0; v < rule->variant_count; v++) means[v] = has_time[v] ? means[v] / search->total : NAN;
}

/* ---- what one of the shape's texts rules out ---- */

typedef enum fate { UNTRIED, FAILS, WORKS } fate;

/* On that shape; variant_count: the default. */
static fate fate_on(const mt_rule *rule, size_t shape, size_t variant)
{
    if (variant == rule->variant_count) return isnan(rule->default_slowdown[shape]) ? UNTRIED : isinf(rule->default_slowdown[shape]) ? FAILS : WORKS;
    if (rule->is_wrong[shape * rule->variant_count + variant]) return FAILS;
    return isfinite(cell(rule, shape, variant)) ? WORKS : UNTRIED;
}

static bool is_ruled_out(const mt_rule *rule, const double *asked, size_t variant)
{
    for (size_t f = 0; f < rule->feature_count; f++) {
        fate known = UNTRIED;
        for (size_t i = 0; i < rule->shape_count && rule->features[f].is_text && known != WORKS; i++) {
            bool counts = rule->shapes[i * rule->feature_count + f] == asked[f] && !(rule->is_left_out && rule->is_left_out[i]);
            fate here = counts ? fate_on(rule, i, variant) : UNTRIED;
            if (here > known) known = here;
        }
        if (known == FAILS) return true;
    }
    return false;
}

size_t mt_rule_refuse_wrong(const mt_rule *rule, const double *shape, mt_rule_search *search)
{
    size_t count = 0;
    for (size_t v = 0; v < rule->variant_count && rule->is_wrong; v++) {
        if (rule->is_ever_wrong && !rule->is_ever_wrong[v]) continue;
        search->is_refused[v] = search->is_refused[v] || is_ruled_out(rule, shape, v);
        count += search->is_refused[v] && rule->is_usable[v];
    }
    return count;
}

bool mt_rule_default_fails(const mt_rule *rule, const double *shape)
{
    return is_ruled_out(rule, shape, rule->variant_count);
}

/* ---- offers ---- */

/* The same of all variants, from what mt_rule_plain found. */
static void predict_plainly(const mt_rule *rule, const mt_rule_search *search, double means[MT_RULE_VARIANTS])
{
    const size_t count = rule->variant_count;
    uint8_t has_time[MT_RULE_VARIANTS] = {0};
    memset(means, 0, count * sizeof *means);
    for (size_t k = 0; k < search->heard_count; k++) {
        const double *plain = rule->plain + search->heard[k] * count, weight = search->weight[search->heard[k]];
        const bool *is_known = rule->is_plain_known + search->heard[k] * count;
        for (size_t v = 0; v < count; v++) means[v] += weight * plain[v];
        for (size_t v = 0; v < count; v++) has_time[v] |= is_known[v];
    }
    for (size_t v = 0; v < count; v++) means[v] = has_time[v] ? means[v] / search->total : NAN;
}

/* Nothing is known of the asked shape's costs when it is asked for. */
static void predict_all(const mt_rule *rule, mt_rule_search *search)
{
    if (rule->plain) predict_plainly(rule, search, search->predicted);
    else predict(rule, search, NULL, search->predicted);
    for (size_t v = 0; v < rule->variant_count; v++)
        if (!rule->is_usable[v] || search->is_refused[v]) search->predicted[v] = NAN;
    search->is_predicted = true;
}

void mt_rule_list(const mt_rule *rule, mt_rule_search *search)
{
    size_t listed[MT_RULE_LISTED], count = 0; /* the best, in order */
    predict_all(rule, search);
    search->is_list_made = true;
    memset(search->is_listed, 0, sizeof search->is_listed);
    for (size_t v = 0; v < rule->variant_count; v++) {
        double value = search->predicted[v];
        size_t at = count;
        while (at > 0 && search->predicted[listed[at - 1]] > value) at--;
        if (isnan(value) || at == MT_RULE_LISTED) continue;
        if (count < MT_RULE_LISTED) count++;
        memmove(&listed[at + 1], &listed[at], (count - 1 - at) * sizeof *listed);
        listed[at] = v;
    }
    for (size_t n = 0; n < count; n++) search->is_listed[listed[n]] = true;
}

/* The mean growth of the listed variants' costs. */
static double usual_growth(const mt_rule *rule, const mt_rule_search *search, size_t shape)
{
    double sum = 0;
    size_t count = 0;
    for (size_t v = 0; v < rule->variant_count; v++) {
        if (!search->is_listed[v]) continue;
        double grown = growth(rule, search, shape, v);
        if (isnan(grown)) continue;
        sum += grown;
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* Against the cheapest listed one. */
static void choose_by_costs(const mt_rule *rule, mt_rule_search *search)
{
    double least = INFINITY;
    for (size_t v = 0; v < rule->variant_count; v++)
        if (search->is_listed[v] && search->cost[v] < least) least = search->cost[v];
    for (size_t v = 0; v < rule->variant_count; v++)
        if (search->is_listed[v]) search->predicted[v] = search->cost[v] - least;
}

void mt_rule_set_costs(const mt_rule *rule, const double *costs, mt_rule_search *search)
{
    double means[MT_RULE_VARIANTS];
    if (!search->is_list_made) mt_rule_list(rule, search);
    for (size_t v = 0; v < rule->variant_count; v++) search->cost[v] = search->is_listed[v] ? costs[v] : NAN;
    if (rule->costs_decide) {
        choose_by_costs(rule, search);
        return;
    }
    for (size_t k = 0; k < search->heard_count; k++) search->usual[search->heard[k]] = usual_growth(rule, search, search->heard[k]);
    predict(rule, search, search->is_listed, means);
    for (size_t v = 0; v < rule->variant_count; v++)
        if (search->is_listed[v]) search->predicted[v] = means[v];
}

static size_t nearest_with(const mt_rule *rule, const mt_rule_search *search, size_t variant)
{
    size_t nearest = SIZE_MAX;
    for (size_t i = 0; i < rule->shape_count; i++) {
        bool is_there = rule->rows ? rule->rows[i * rule->variant_count + variant] != 0 : isfinite(cell(rule, i, variant));
        if (isnan(search->distance[i]) || !is_there) continue;
        if (nearest == SIZE_MAX || search->distance[i] < search->distance[nearest]) nearest = i;
    }
    return nearest;
}

/* The variant with the least `score`, of the listed or of the others; SIZE_MAX = none is left. */
static size_t least_of(const mt_rule *rule, const mt_rule_search *search, bool is_listed, double (*score)(const mt_rule *, const mt_rule_search *, size_t))
{
    double least = INFINITY;
    size_t best = SIZE_MAX;
    for (size_t v = 0; v < rule->variant_count; v++) {
        double value = search->is_listed[v] != is_listed || search->is_refused[v] || isnan(search->predicted[v]) ? INFINITY : score(rule, search, v);
        if (!(value < least)) continue;
        least = value;
        best = v;
    }
    return best;
}

static bool offer_least(const mt_rule *rule, mt_rule_search *search, double (*score)(const mt_rule *, const mt_rule_search *, size_t))
{
    if (!search->is_predicted) predict_all(rule, search);
    size_t best = least_of(rule, search, true, score);
    if (best == SIZE_MAX) best = least_of(rule, search, false, score);
    if (best == SIZE_MAX) return false;
    search->is_refused[best] = true;
    search->variant = best;
    search->witness = nearest_with(rule, search, best);
    return true;
}

static double alone(const mt_rule *rule, const mt_rule_search *search, size_t variant)
{
    (void)rule;
    return search->predicted[variant];
}

static double beside(const mt_rule *rule, const mt_rule_search *search, size_t variant)
{
    double sum = 0.001 * search->predicted[variant]; /* where nothing is left to be won */
    for (size_t k = 0; k < search->heard_count; k++) {
        size_t i = search->heard[k];
        double value = said(rule, search, i, variant);
        sum += search->weight[i] * (value < search->covered[i] ? value : search->covered[i]);
    }
    return sum;
}

bool mt_rule_next(const mt_rule *rule, mt_rule_search *search)
{
    return offer_least(rule, search, alone);
}

void mt_rule_keep(const mt_rule *rule, mt_rule_search *search)
{
    for (size_t k = 0; k < search->heard_count; k++) {
        size_t i = search->heard[k];
        double value = said(rule, search, i, search->variant);
        if (!search->is_any_kept || value < search->covered[i]) search->covered[i] = value;
    }
    search->is_any_kept = true;
}

bool mt_rule_next_beside(const mt_rule *rule, mt_rule_search *search)
{
    return offer_least(rule, search, search->is_any_kept ? beside : alone);
}

/* As of a variant, but that a failure is worse than any time. Where costs decide it is not known: what near shapes say of the default does not compare with what a model says of the offer. */
static double predict_default(const mt_rule *rule, const mt_rule_search *search)
{
    double sum = 0, total = 0;
    if (isinf(rule->default_slowdown[search->nearest])) return INFINITY;
    if (rule->costs_decide) return NAN;
    for (size_t i = 0; i < rule->shape_count; i++) {
        double value = search->weight[i] > 0 ? rule->default_slowdown[i] : NAN;
        if (!isfinite(value)) continue;
        sum += search->weight[i] * value;
        total += search->weight[i];
    }
    return total > 0 ? sum / total : NAN;
}

/* What a choice loses more than predicted in no more than one of ten cases; `error`: on the average. */
static double bound_at(const mt_rule_curve *most, double distance, double error)
{
    double bound = mt_rule_curve_at(most, distance);
    double least = distance > most->reach ? mt_rule_curve_at(most, most->reach) + (distance - most->reach) * MT_RULE_FAR_LOG2 : 0;
    if (bound < least) bound = least;
    return bound < error ? error : bound; /* a few great losses raise a mean above nine of ten */
}

mt_rule_expectation mt_rule_expect(const mt_rule *rule, const mt_rule_search *search)
{
    double distance = search->distance[search->nearest], predicted = search->predicted[search->variant], error = mt_rule_curve_at(&rule->error, distance);
    double of_default = predict_default(rule, search), taken = isnan(error) && distance <= MT_RULE_CLOSE_OCTAVES ? 0 : error;
    if (predicted < 0) predicted = 0; /* nothing is faster than the best */
    return (mt_rule_expectation){.slowdown = predicted + error, .most = predicted + bound_at(&rule->most, distance, error), .of_default = of_default, .advantage = of_default - (predicted + taken),
                                 .is_far = rule->error.count > 0 && distance > rule->error.reach};
}
