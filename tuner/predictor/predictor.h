/* What an untuned shape is answered with: how it chooses among the variants that were measured, and how well that is expected to go. Fitted on slowdowns that were measured, and judged by
 * holding tuned shapes out. Which few variants do well everywhere is told too. Pure, deterministic. The rule itself, as the lookup library follows it, is db/rule.h. */
#pragma once

#include "db/rule.h"
#include "tuner/base/status.h"

/* What is known of the tuned shapes, borrowed. Slowdowns are log2, as in mt_rule. */
typedef struct mt_predictor_data {
    size_t shape_count, variant_count, feature_count; /* at most MT_RULE_SHAPES, MT_RULE_VARIANTS, MT_RULE_FEATURES */
    const double *shapes;           /* [shape_count][feature_count] */
    const bool *is_text;            /* [feature_count] */
    const size_t *name;             /* [feature_count]: which of the shape's values a feature belongs to, 0, 1, …; its features share one weight */
    const double *slowdown;         /* [shape_count][variant_count] */
    const double *default_slowdown; /* [shape_count] */
    const double *cost;             /* [shape_count][variant_count]: as in mt_rule; NULL = none are known */
} mt_predictor_data;

typedef struct mt_predictor_options {
    size_t max;                     /* variants of the portfolio */
    double within;                  /* 1.1: a variant serves a shape on which it is at most 10 % slower than the best one there, both as by their worst workload */
} mt_predictor_options;

/* Outcomes over shapes that were left out, in log2 of the slowdown. */
typedef struct mt_predictor_score {
    size_t count;                   /* shapes with an outcome */
    size_t unknown;                 /* shapes without: what was chosen was not measured there, or fails */
    double mean, worst;             /* 0 without any */
} mt_predictor_score;

typedef struct mt_predictor {
    size_t members[MT_RULE_VARIANTS], member_count; /* the portfolio, the one that serves most shapes first */
    size_t unserved;                /* shapes that no member serves */
    size_t apart;                   /* shapes on which no member is within that factor of the best of every workload; more than `unserved` where a shape's workloads have different winners */
    double worst;                   /* the best member's slowdown on the worst served shape, log2, against each workload's own best */
    bool is_exact;                  /* no smaller portfolio serves as many shapes; else the greedy choice, which was too large to be proved */
    bool is_learned;                /* its weights come from the times */
    bool is_usable[MT_RULE_VARIANTS]; /* within a quarter of the best on some shape */
    double cost_weight;
    mt_rule_feature features[MT_RULE_FEATURES];
    mt_rule_curve error, most;      /* as in mt_rule */
    mt_predictor_score score;          /* of the choice alone, over the shapes left out */
} mt_predictor;

/* `is_left_out` [shape_count] (NULL = none): shapes that do not exist. NO_MEMORY only. */
mt_status mt_predictor_build(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor_options *options, mt_predictor *predictor, mt_error *err);
/* The predictor as a rule, which borrows both. */
mt_rule mt_predictor_rule(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor *predictor);

/* What the whole predictor, its decision for the default included, would have answered each shape had that not been tuned; beside two simpler ways. */
typedef struct mt_predictor_trial {
    size_t shape, nearest;
    double distance;
    size_t variant;                 /* variant_count = the default */
    double slowdown, expected, most; /* log2; NAN = not measured; nothing was said */
    double by_default, by_volume;   /* the default; the winner of the shape whose volume is nearest */
    double best_of_several;         /* the fastest of MT_PREDICTOR_SEVERAL offers, each chosen beside the others; NAN = none was measured */
} mt_predictor_trial;
enum { MT_PREDICTOR_SEVERAL = 8 }; /* as many as `tune --quick` evaluates */
typedef struct mt_predictor_evaluation {
    mt_predictor_score alone, several; /* the predictor's, over all shapes: its answer, and the fastest of several */
    mt_predictor_score predictor, by_default, by_volume; /* over the shapes on which all three have a time */
    size_t defaults;                /* times that the predictor took the default */
    size_t bounded, within;         /* answers with a bound for nine of ten cases and a time, and those of them that kept it */
} mt_predictor_evaluation;
/* trials[shape_count]. With each shape all of its family are left out: family[shape_count], equal numbers; NULL = each shape alone. */
mt_status mt_predictor_evaluate(const mt_predictor_data *data, const mt_predictor_options *options, const size_t *family, mt_predictor_trial *trials, mt_predictor_evaluation *evaluation, mt_error *err);
