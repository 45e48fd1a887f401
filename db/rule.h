/* How a shape that nobody tuned chooses among measured variants. Evaluated here for both sides: by the tuner, which fits the rule and tries it on shapes left out, and by the lookup
 * library, which follows it. Pure; libc only, without libm; nothing allocates.
 *
 * A shape is a row of features: the binary logarithm of each integer; of a list its length, sum, mean logarithm, first and last element; of a text a number that only compares. */
#ifndef MT_DB_RULE_H
#define MT_DB_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MT_RULE_FEATURES = 96,    /* of a shape, at most */
    MT_RULE_LIST_FEATURES = 5,
    MT_RULE_SHAPES = 128,     /* tuned shapes that a rule knows */
    MT_RULE_VARIANTS = 64,    /* that it chooses from */
    MT_RULE_KNOTS = 16,       /* of a curve */
    MT_RULE_NODES = 15,       /* of a tree: depth 3 */
    MT_RULE_OFFERS = 16       /* shapes whose offers are judged before the default answers */
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

/* Binary logarithm of how many blocks an SM runs for a launch of so many: one at least, since an SM without a block saves no time. */
double mt_rule_turns(double blocks, double sm_count);

/* A monotone curve over distance, from 0 at distance 0 through its knots. */
typedef struct mt_rule_curve {
    double distance[MT_RULE_KNOTS], value[MT_RULE_KNOTS]; /* both ascending, values ≥ 0 */
    size_t count;
    double reach;             /* nothing was held out farther than this; ≥ the last knot's distance */
} mt_rule_curve;
/* NAN beyond the reach, and everywhere without knots. */
double mt_rule_curve_at(const mt_rule_curve *curve, double distance);

/* A node of a small decision tree; a leaf has low = high = 0 (the root is nobody's child). */
typedef struct mt_rule_node {
    uint32_t feature;
    double below;             /* feature < below: low; a text: equal goes high, unequal low */
    uint32_t low, high;
    uint32_t variant;         /* of a leaf */
} mt_rule_node;
uint32_t mt_rule_tree_variant(const mt_rule_node *nodes, const mt_rule_feature *features, const double *shape);

/* A fitted rule over the shapes that were tuned. All slowdowns are log2 of (time / the best time known for the shape); NAN = not measured there, INFINITY = it fails there. */
typedef struct mt_rule {
    size_t shape_count, variant_count, feature_count;
    const mt_rule_feature *features;
    const double *shapes;           /* [shape_count][feature_count] */
    const double *slowdown;         /* [shape_count][variant_count] */
    const double *default_slowdown; /* [shape_count], of the kernel's default variant */
    const bool *is_usable;          /* [variant_count]: may be chosen */
    const bool *is_wrong;           /* [shape_count][variant_count]: it computes wrong results there; NULL = nobody looks at that */
    const bool *is_left_out;        /* [shape_count]; NULL = none: a shape that does not exist for the rule */
    int power;                      /* variants are weighed over all shapes by distance^-power; 0: by the nearest alone */
    const double *turns;            /* [shape_count][variant_count]: mt_rule_turns of what was launched; NAN = not known. NULL where turn_cost is 0 */
    double turn_cost;               /* turns^turn_cost is what a variant's time follows from one shape to another, beside what all variants' do */
    const mt_rule_node *nodes;      /* a tree that chooses; NULL = the nearest shape does */
    mt_rule_curve slowdown_curve;   /* what a choice loses, in log2, when it serves a shape so far away */
    mt_rule_curve loss_curve;       /* how much of its advantage over the default it loses there, in log2 */
} mt_rule;

/* What a variant that was not measured on a shape is taken to lose there, when shapes are weighed against each other: a quarter. */
#define MT_RULE_UNKNOWN_LOG2 0.32192809488736235
/* Shapes no farther apart than this are taken for one and the same where nothing was held out: 19 % in one integer. */
#define MT_RULE_CLOSE_OCTAVES 0.25

/* Where a choice stands. Starts by mt_rule_begin; each mt_rule_next gives the next best variant, for a caller that must refuse some. */
typedef struct mt_rule_search {
    double distance[MT_RULE_SHAPES]; /* to each tuned shape; NAN = it does not count (any more) */
    bool is_tried[MT_RULE_VARIANTS]; /* on the nearest shape */
    bool is_refused[MT_RULE_VARIANTS]; /* they may not run on the asked shape at all */
    double turns[MT_RULE_VARIANTS];  /* of the asked shape; NAN = not known */
    double usual[MT_RULE_SHAPES];    /* by how much they grow from a tuned shape to the asked one, the mean over the variants */
    bool tree_is_asked;
    size_t nearest, variant;         /* the offer */
} mt_rule_search;
void mt_rule_begin(const mt_rule *rule, const double *shape, mt_rule_search *search);
/* Refuses each variant that with one of the asked shape's texts (a type, say) has computed wrong results and never right ones; returns how many. After mt_rule_begin. */
size_t mt_rule_refuse_wrong(const mt_rule *rule, const double *shape, mt_rule_search *search);
/* The same of the default: with one of the texts it fails on every shape on which its time is known. */
bool mt_rule_default_fails(const mt_rule *rule, const double *shape);
/* Tells the turns of the asked shape, [variant_count], NAN where not known; before the first mt_rule_next. Without, none are known. */
void mt_rule_set_turns(const mt_rule *rule, const double *turns, mt_rule_search *search);
/* A variant's slowdown on a tuned shape, as far as its turns change on the way to the asked one otherwise than the variants' usually do. */
double mt_rule_moved(const mt_rule *rule, const mt_rule_search *search, size_t shape, size_t variant);
/* False when there is nothing left. `shape` as above. The offer has a time on its `nearest`. */
bool mt_rule_next(const mt_rule *rule, const double *shape, mt_rule_search *search);
/* The offered variant may not run for the asked shape: it is not offered again. */
void mt_rule_refuse(mt_rule_search *search);
/* Gives up the offer's nearest shape: the next offer comes from a farther one. */
void mt_rule_leave(mt_rule_search *search);
/* What the offer is expected to lose to the best, in log2, and to win over the default. NAN = nothing was held out from which that could be said, or the default has no time there;
 * *advantage is INFINITY where the default fails on the tuned shape. */
void mt_rule_expect(const mt_rule *rule, const mt_rule_search *search, double *slowdown, double *advantage);

#endif
