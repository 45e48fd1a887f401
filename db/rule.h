/* How a shape that nobody tuned chooses among measured variants. Evaluated here for both sides: by the tuner, which fits the rule and tries it on shapes left out, and by the lookup
 * library, which follows it. Pure; libc only, without libm; nothing allocates.
 *
 * A shape is a row of features: the binary logarithm of each integer; of a list its length, sum, mean logarithm, first and last element; of a text a number that only compares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MT_RULE_FEATURES = 96,    /* of a shape, at most */
    MT_RULE_LIST_FEATURES = 5,
    MT_RULE_SHAPES = 256,     /* tuned shapes that a rule knows */
    MT_RULE_VARIANTS = 96,    /* that it chooses from */
    MT_RULE_KNOTS = 16,       /* of a curve */
    MT_RULE_LISTED = 20,      /* variants whose costs are asked for */
    MT_RULE_FORMAT = 4        /* of a stored one (docs/stored_formats.md) */
};

/* Binary logarithm, to 1e-8, the same on every machine. 0 gives −1; negative numbers mirror the positive ones below that, so that order is kept. */
double mt_rule_log2(int64_t value);
double mt_rule_log2_real(double value); /* value > 0 and finite */
double mt_rule_exp2(double value);      /* |value| ≤ 1000; to 1e-8 relative */

/* Each writes its features and returns how many. */
size_t mt_rule_of_int(int64_t value, double *out);
size_t mt_rule_of_list(const int64_t *values, size_t count, double *out);
size_t mt_rule_of_text(const char *text, size_t length, double *out);

/* A stored shape, "D=32;H=92,46;dtype=f16", with the kinds of its values in that order, "int,list,string". Returns the count, 0 when there is no room for all or the key does not fit
 * the kinds. names (may be NULL): which value each feature belongs to; texts (may be NULL): whether it only compares. */
size_t mt_rule_of_key(const char *key, const char *kinds, double out[MT_RULE_FEATURES], size_t *names, bool *texts);

/* What a feature is, and what a difference in it counts for. */
typedef struct mt_rule_feature {
    double weight;            /* ≥ 0: of the squared difference */
    bool is_text;             /* equal or not: a difference counts as MT_RULE_TEXT_OCTAVES */
} mt_rule_feature;
#define MT_RULE_TEXT_OCTAVES 2.0

/* Weights to begin with: each value of the shape counts 1, which its features share. names, texts as mt_rule_of_key gives them. */
void mt_rule_prior(const size_t *names, const bool *texts, size_t count, mt_rule_feature *features);

/* The worse of two slowdowns: one that fails (INFINITY) is worse than any, one that is not known (NAN) hides the other. */
double mt_rule_worse(double a, double b);

/* Root of the weighted squares. Unit: octaves (a factor of two in one integer, at weight 1). */
double mt_rule_distance(const mt_rule_feature *features, size_t count, const double *a, const double *b);

/* Between two shapes' keys, with the weights above; INFINITY where they do not have the same names, kinds and so features. */
double mt_rule_key_distance(const char *a, const char *b, const char *kinds);

/* Of a launch of so many blocks, where the space has no cost model: its cost is the binary logarithm of how many an SM runs; one at least, since an SM without a block saves no time. */
double mt_rule_wave_cost(double blocks, double sm_count);
/* The same of either: where it has a model the cost is the binary logarithm of the time that it says, in nanoseconds. number > 0. */
double mt_rule_cost(double number, bool is_time, double sm_count);

/* A monotone curve over distance, from 0 at distance 0 through its knots. */
typedef struct mt_rule_curve {
    double distance[MT_RULE_KNOTS], value[MT_RULE_KNOTS]; /* both ascending, values ≥ 0 */
    size_t count;
    double reach;             /* nothing was held out farther than this; ≥ the last knot's distance */
} mt_rule_curve;
/* Beyond the reach it goes on in proportion to the distance. NAN without knots. */
double mt_rule_curve_at(const mt_rule_curve *curve, double distance);

/* A fitted rule over the shapes that were tuned. All slowdowns are log2 of (time / the best time known for the shape); NAN = not measured there, INFINITY = it fails there. */
typedef struct mt_rule {
    size_t shape_count, variant_count, feature_count;
    const mt_rule_feature *features;
    const double *shapes;           /* [shape_count][feature_count] */
    const double *slowdown;         /* [shape_count][variant_count] */
    const double *default_slowdown; /* [shape_count], of the kernel's default variant */
    const bool *is_usable;          /* [variant_count]: may be chosen */
    const bool *is_wrong;           /* [shape_count][variant_count]: it computes wrong results there; NULL = nobody looks at that */
    const bool *is_ever_wrong;      /* [variant_count]: on some shape; NULL = nobody knows */
    const uint32_t *rows;           /* [shape_count][variant_count]: for the lookup, 1 + the row of it among the answers'; 0 = it was not right there. NULL: a time is enough for a witness */
    const bool *is_left_out;        /* [shape_count]; NULL = none: a shape that does not exist for the rule */
    const double *cost;             /* [shape_count][variant_count]: log2 of what the cost model says; NAN = not known. NULL where cost_weight is 0 */
    double cost_weight;             /* 0 to 1: the share of a difference in cost that a time follows from one shape to another, beside what all variants' times do */
    const double *plain, *least_cost; /* mt_rule_plain's; NULL = they are computed when they are needed */
    const bool *is_plain_known;
    bool costs_decide;              /* they are known well enough to choose by them alone, among the listed; and to stand for times that were not measured */
    mt_rule_curve error;            /* by how much a choice loses more than predicted, log2, on the average, at that distance from the nearest tuned shape */
    mt_rule_curve most;             /* … in no more than one of ten cases */
} mt_rule;

/* What a variant that was not measured on a shape is taken to lose there: a quarter. */
#define MT_RULE_UNKNOWN_LOG2 0.32192809488736235
/* Shapes no farther apart than this are taken for one and the same where nothing was held out: 19 % in one integer. */
#define MT_RULE_CLOSE_OCTAVES 0.25
/* Beyond what was held out a bound grows by so much a doubling at least: that nothing was lost near by promises nothing far away. */
#define MT_RULE_FAR_LOG2 0.05
/* A tuned shape's word counts half as much for each such distance that it lies beyond the nearest one. */
#define MT_RULE_HALVING_OCTAVES 0.25

/* Where a choice stands. Starts by mt_rule_begin; each mt_rule_next gives the next best variant, for a caller that must refuse some or wants several. */
typedef struct mt_rule_search {
    double distance[MT_RULE_SHAPES];   /* to each tuned shape; NAN = it does not count */
    double weight[MT_RULE_SHAPES];     /* of its word: 1 of the nearest; 0 = not heard */
    uint16_t heard[MT_RULE_SHAPES];    /* those that are */
    size_t heard_count;
    double total;                      /* of their weights */
    double least_cost[MT_RULE_SHAPES]; /* of all variants there, where costs decide */
    double usual[MT_RULE_SHAPES];      /* by how much costs grow from it to the asked one, the mean over the listed variants */
    double cost[MT_RULE_VARIANTS];     /* of the asked shape; NAN = not known */
    double predicted[MT_RULE_VARIANTS]; /* log2 slowdown; NAN = no time on any shape that is heard, or not usable */
    bool is_listed[MT_RULE_VARIANTS];  /* whose costs count; they are offered before the others */
    bool is_list_made;
    bool is_refused[MT_RULE_VARIANTS]; /* offered already, or they may not run on the asked shape */
    bool is_predicted;                 /* `predicted` is filled */
    double covered[MT_RULE_SHAPES];    /* what the best of the offers that were kept is taken to lose on each shape */
    bool is_any_kept;
    size_t nearest;                    /* of all tuned shapes; SIZE_MAX = none counts */
    size_t variant, witness;           /* the offer, and the nearest shape on which it has a row (or, without rows, a time); SIZE_MAX = nowhere */
} mt_rule_search;
void mt_rule_begin(const mt_rule *rule, const double *shape, mt_rule_search *search);
/* What tuned shapes say while no costs of the asked shape are known: plain and is_known[shape_count][variant_count], least_cost[shape_count]. For who asks for many shapes. */
void mt_rule_plain(const mt_rule *rule, double *plain, bool *is_known, double *least_cost);
/* Refuses each variant that with one of the asked shape's texts (a type, say) has computed wrong results and never right ones; returns how many. After mt_rule_begin. */
size_t mt_rule_refuse_wrong(const mt_rule *rule, const double *shape, mt_rule_search *search);
/* The same of the default: with one of the texts it fails on every shape on which its time is known. */
bool mt_rule_default_fails(const mt_rule *rule, const double *shape);
/* Lists the variants that would be offered first if nothing were known of costs: a model takes longer to evaluate than a mean. After mt_rule_refuse_wrong; again where some
 * of the listed were refused since. */
void mt_rule_list(const mt_rule *rule, mt_rule_search *search);
/* Tells the costs of the asked shape, [variant_count], NAN where not known; those of listed variants are looked at (without mt_rule_list it makes the list). Before the first mt_rule_next.
 * Without, none are known and there is no list. */
void mt_rule_set_costs(const mt_rule *rule, const double *costs, mt_rule_search *search);
/* A variant's slowdown on a tuned shape, as far as its cost changes on the way to the asked one otherwise than the variants' usually do. */
double mt_rule_moved(const mt_rule *rule, const mt_rule_search *search, size_t shape, size_t variant);
/* False when there is nothing left. Each variant is offered once. */
bool mt_rule_next(const mt_rule *rule, mt_rule_search *search);

/* For who tries several: mt_rule_keep notes that the offer is one of them, and mt_rule_next_beside offers the variant with which the best of all of them is expected to lose least, so that they
 * are not all alike. Without anything kept it is mt_rule_next. */
void mt_rule_keep(const mt_rule *rule, mt_rule_search *search);
bool mt_rule_next_beside(const mt_rule *rule, mt_rule_search *search);

/* What is expected of the offer; all log2 of a slowdown. NAN = nothing was held out from which that could be said. */
typedef struct mt_rule_expectation {
    double slowdown;   /* on the average */
    double most;       /* in nine of ten cases it is no slower than this; ≥ slowdown */
    double of_default; /* the default's; NAN = it has no time near by, INFINITY = it fails there */
    double advantage;  /* over the default; very near to a tuned shape it is said even where nothing was held out */
    bool is_far;       /* farther from all tuned shapes than anything that was held out: extrapolated */
} mt_rule_expectation;
mt_rule_expectation mt_rule_expect(const mt_rule *rule, const mt_rule_search *search);
