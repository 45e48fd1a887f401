/* Between the files space*.c: conditions and their memories, walkers, ranks, the counting of points without storing them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "tuner/space/points/env_internal.h"
#include "tuner/space/points/space.h"

/* ---- conditions (space_check.c) ---- */

typedef enum mt_truth {
    MT_TRUTH_UNKNOWN, /* in a memory: not evaluated yet */
    MT_TRUTH_HOLDS,   /* also: it reads something inactive and so does not apply */
    MT_TRUTH_BROKEN,
    MT_TRUTH_FAILED   /* its arithmetic */
} mt_truth;

enum { MT_MEMORY_SIZE = 1 << 16, MT_MEMORY_KNOBS = 16 };

/* One condition: a constraint, a variant's `requires`, or a knob's `when`. Conditions of few combinations remember their answers: a byte each, written by any
 * thread, always with the same value. */
typedef struct mt_check {
    const mt_expr *expr;
    size_t kind;     /* index for mt_space_pruned */
    int variant;     /* −1: all */
    uint64_t knobs;  /* that it reads */
    int depth;       /* the last of them; −1: none; of a `when`: the knob that it switches */
    size_t *lets;    /* that it needs, in order of evaluation */
    size_t let_count;
    atomic_uchar *memory; /* mt_truth per combination; NULL: too many of them */
    size_t memory_knobs;
    unsigned char memory_knob[MT_MEMORY_KNOBS];
    uint32_t memory_place[MT_MEMORY_KNOBS];
} mt_check;

/* A point being looked at and the environment to evaluate conditions in. One thread at a time. */
typedef struct mt_walker {
    struct mt_walker *next; /* in the pool */
    mt_env *env;        /* follows the point only when something is evaluated */
    mt_point point;
    uint64_t evaluations;   /* that no memory answered */
} mt_walker;

/* Whether a knob is active in a variant, as far as ALGO alone tells. */
typedef enum mt_activity { MT_ACTIVE_NO, MT_ACTIVE_YES, MT_ACTIVE_DEPENDS } mt_activity;

typedef struct mt_pool {
    pthread_mutex_t lock;
    mt_walker *free;
    atomic_bool has_warned; /* of arithmetic that fails */
    _Atomic int64_t draw_until_ns; /* 0 = for ever */
} mt_pool;

typedef struct mt_diagram mt_diagram;

/* What may be spent; the defaults are in space.c. */
typedef struct mt_space_limits {
    size_t points;         /* stored at most */
    uint64_t combinations; /* before constraints: up to here the walk starts at once, above points are counted first */
    uint64_t effort;       /* of a walk, in steps (an evaluation counts as MT_EVALUATION_STEPS): what is not through by then is sampled */
    size_t states;         /* of the counting */
} mt_space_limits;
enum { MT_EVALUATION_STEPS = 16 };

struct mt_space {
    const mt_spec *spec;
    const mt_shape *shape;
    mt_device_facts facts;
    mt_space_limits limits;

    mt_check *checks;                /* constraints and `requires`, sorted by depth, stable: what a variant requires comes first, then the file's order */
    size_t check_count;
    size_t first[MT_MAX_PARAMS + 2]; /* checks of depth d: first[d + 1] … first[d + 2] */
    mt_check *whens;                 /* per knob; expr NULL: always active */
    unsigned char *activities;       /* mt_activity [variant][knob]; with `points = recorded` as the points have them */
    mt_pool *pool;

    /* Ranks (space_rank.c): a variant's points start at base[variant]; place value of each knob's digit in it. */
    size_t *base;                    /* variant_count + 1, the last is the number of ranks */
    uint64_t *place;                 /* [variant][knob] */
    bool has_ranks;                  /* they fit 63 bits */

    /* Enumerated: points packed as level + 1 (0 = inactive), one byte per knob or two where a knob has more than 254 values; ascending. */
    bool is_enumerated;
    unsigned char *points;
    size_t count, capacity, stride;
    uint16_t offset[MT_MAX_PARAMS];
    bool is_wide[MT_MAX_PARAMS];

    /* Sampled */
    mt_diagram *diagram;
    double count_error;              /* one standard error; 0 = exact */

    bool is_listed;                  /* made of a list of points */

    uint64_t not_listed;             /* the other combinations */

    uint64_t raw_count;
    uint64_t *pruned; /* per kind */
    bool *is_exact;
};

/* Makes checks, whens and activities of the space. */
mt_status mt_checks_make(mt_space *space, mt_error *err);
void mt_checks_free(mt_space *space);
/* For the walker's point. */
mt_truth mt_check_truth(const mt_check *check, mt_walker *walker);
/* The error of a condition that failed for the walker's point. */
mt_status mt_check_fail(const mt_check *check, mt_walker *walker, mt_error *err);
/* Conditions that are decidable with knob `depth`: the first that does not hold is *culprit. */
mt_truth mt_checks_at(const mt_space *space, mt_walker *walker, int depth, const mt_check **culprit);
/* The levels that `param` may take behind the knobs set before it: *low … *high. FAILED: its `when` can't be computed; the range then holds all. */
mt_truth mt_space_levels(const mt_space *space, mt_walker *walker, size_t param, int *low, int *high);
/* All conditions, in the order of the walk, and whether the knobs that must be active are, for the walker's point. *culprit: NULL for the latter. */
mt_truth mt_point_truth(const mt_space *space, mt_walker *walker, const mt_check **culprit);

void mt_space_pack(const mt_space *space, const mt_point *point, unsigned char *bytes); /* space.c */

/* ---- walkers (space_walker.c) ---- */

mt_status mt_pool_make(mt_space *space, mt_error *err); /* with one walker in it */
void mt_pool_free(mt_pool *pool);
/* NULL when memory runs out: never for the first of concurrent users. All knobs inactive. */
mt_walker *mt_walker_take(const mt_space *space);
void mt_walker_give(const mt_space *space, mt_walker *walker);

/* ---- ranks (space_rank.c) ---- */

mt_status mt_ranks_make(mt_space *space, mt_error *err);
/* Of the point's knobs that are in `knobs`; the others count as their first digit. */
size_t mt_rank_of(const mt_space *space, const mt_point *point, uint64_t knobs);
void mt_rank_decode(const mt_space *space, size_t rank, mt_point *point);
/* How many digits a knob has in its largest variant. */
size_t mt_rank_digits(const mt_space *space, size_t param);

/* ---- enumerating and counting ---- */

/* Counts steps, asks the watch, and ends what takes too long. */
typedef struct mt_effort {
    const mt_space_watch *watch; /* or NULL */
    uint64_t steps, limit;
} mt_effort;
/* True: go on. False: *st is the watch's status, or MT_OK when the limit is passed. */
bool mt_effort_step(mt_effort *effort, const mt_walker *walker, mt_status *st, mt_error *err);

/* An empty space with its conditions, ranks and pool; whoever fills it sets is_enumerated. mt_space_free it. */
mt_status mt_space_begin(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **space, mt_error *err);
/* Combinations before constraints. */
mt_status mt_space_count_raw(mt_space *space, mt_error *err);
/* Fills points and the pruned counts (space_walk.c). With a diagram, branches without points are left out and nothing is counted as pruned.
 * *is_complete false: the limits were reached; nothing is kept. */
mt_status mt_space_walk(mt_space *space, const mt_diagram *diagram, const mt_space_watch *watch, bool *is_complete, mt_error *err);

/* How many points there are below each prefix, without walking over them (space_diagram.c). Conditions that would take more than the limit of states are
 * left out: then the counts are of a set that holds the valid points and more. */
mt_status mt_diagram_make(const mt_space *space, const mt_space_watch *watch, mt_diagram **diagram, mt_error *err);
void mt_diagram_free(mt_diagram *diagram);
uint64_t mt_diagram_total(const mt_diagram *diagram);
bool mt_diagram_is_exact(const mt_diagram *diagram);
/* Points below the walker's knobs 0 … param − 1. */
uint64_t mt_diagram_below(const mt_diagram *diagram, const mt_space *space, const mt_walker *walker, size_t param);
/* Like mt_space_levels and mt_checks_at, with the conditions of the diagram alone; what fails holds. */
void mt_diagram_levels(const mt_diagram *diagram, const mt_space *space, mt_walker *walker, size_t param, int *low, int *high);
bool mt_diagram_holds(const mt_diagram *diagram, const mt_space *space, mt_walker *walker, size_t param);

/* The pruned counts and, unless enumerated, the count and its error, from draws (space_sample.c). */
mt_status mt_space_estimate(mt_space *space, const mt_space_watch *watch, mt_error *err);

/* The constructor with limits of one's own, for tests and benchmarks; NULL = the default ones. */
mt_status mt_space_create_limited(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch,
                                  const mt_space_limits *limits, mt_space **space, mt_error *err);
