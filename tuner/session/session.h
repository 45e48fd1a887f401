/* The tuning session: for each shape and workload, ask → drop known → submit → write ahead → start → store → tell. */
#pragma once

#include <uv.h>

#include "db/store/query.h"
#include "tuner/evaluate/evaluator.h"
#include "tuner/search/shard.h"
#include "tuner/search/strategy.h"
#include "tuner/space/source/source.h"

/* A variant that the others are held against. */
typedef struct mt_yardstick {
    const char *name; /* the variant's; borrowed from the spec, like `best` for subject_end only */
    double median_ns;
} mt_yardstick;

/* Why its evaluations ended. */
typedef enum mt_subject_end { MT_SUBJECT_COMPLETE, MT_SUBJECT_INTERRUPTED, MT_SUBJECT_OUT_OF_TIME } mt_subject_end;

typedef struct mt_subject_summary {
    size_t evaluated, known, measured;             /* evaluated = known + measured */
    size_t ok, failed, censored, yardstick, not_run; /* evaluated = the sum of these */
    double best_ns, low_ns, high_ns;               /* INFINITY when nothing is OK; the interval is NAN where it is not known */
    mt_objective objective, wanted;                /* what the best was picked by, and was to be: TIME instead, where energy could not be measured */
    mt_energy energy;                              /* of the best, when it was measured */
    mt_limit error_limit;                          /* the largest error that the best may have */
    size_t tied;                                   /* others that the best could not be told apart from */
    const char *best;                              /* canonical text, NULL when nothing */
    size_t shared;                                 /* of the known ones: from params->shared alone */
    double shared_ns;                              /* the fastest of those, as its file has it; INFINITY when none is OK. `best` is never one of them */
    const char *shared_best, *shared_path;         /* canonical text and the file; NULL when there is none */
    double default_ns, baseline_ns;                /* INFINITY = not OK or not measured */
    mt_row_library library;                            /* how the best did against the file's baseline plugin; plugin "" = it was not compared */
    char library_why[256];                           /* why not; "" = it was, or the file names none */
    bool is_programmatic;                          /* the best's launch overlaps with the kernel in front of it */
    bool is_limited;                               /* power or heat held the clock down while the finalists were timed */
    mt_yardstick yardsticks[MT_YARDSTICKS_MAX];    /* the fastest of each variant that is one */
    size_t yardstick_count;
    double best_sm_mhz;                            /* SM clock while the best was timed; 0 = not known */
    mt_cycles best_cycles;                         /* blocks == 0: not counted, or not known */
    double seconds;
    mt_l2 l2;
    mt_subject_end end;
    bool is_flat;                                  /* it ended before its budget was spent, since going on would hardly gain */
    size_t meant;                                  /* evaluations that its budget allows */
    double expected_gain;                          /* where it is flat: by which share of its speed the best was expected to improve */
} mt_subject_summary;

/* What a progress display learns. Callbacks may be NULL; texts are borrowed for the call. */
typedef struct mt_progress {
    void *context;
    /* `total`: evaluations meant for this subject; `valid`/`raw`: points after/before constraints */
    void (*subject_begin)(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw);
    /* One more evaluation counted; known: it was in the database. best_ns: INFINITY while nothing is OK. */
    void (*evaluated)(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best);
    void (*subject_end)(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary);
    void (*skipped)(void *context, const char *shape, const char *workload, const char *reason);
    void (*tick)(void *context);
    void (*planned)(void *context, size_t subjects); /* before the first: how many there are, those included that will be skipped */
} mt_progress;

/* Points that a caller wants measured instead of a search: variants of one subject, as canonical text. Borrowed. */
typedef struct mt_session_fixed {
    const mt_shape *shape;
    const mt_workload *workload;
    const char *const *variants;
    size_t variant_count;
} mt_session_fixed;

/* Quick sessions of a space with a cost model leave three evaluations to the strategy, which begins with what the model believes fastest: the lookup knows measured variants alone. On gemm's
 * shapes, N×K pairs left out, 7 answers lost 3.0 % to the best known, 4 answers and 3 of the model's 0.4 % (docs/experiments/2026-11-30-held-out-pairs.md). */
enum { MT_ANSWERS_MAX = 16, MT_QUICK_EVALUATIONS = 8, MT_QUICK_ANSWERS_BESIDE_MODEL = 4 };

/* What production would run for a subject today, as the lookup library says, and what its predictor would try next: a search begins there, so that it never ends with something slower. */
typedef struct mt_answers {
    void *context;
    /* At most MT_ANSWERS_MAX variants as canonical text, best first, which stay valid until the next call; fewer or none where nothing is known. */
    size_t (*find)(void *context, const mt_shape *shape, const mt_workload *workload, const char *variants[MT_ANSWERS_MAX]);
} mt_answers;

typedef struct mt_session_params {
    const mt_spec *spec;
    const mt_source *source;
    mt_hash kernel_key;
    const mt_hash *inputs;         /* identity of inputs that come from files; NULL = all are generated */
    const char *const *shapes;     size_t shape_count;    /* --shape; 0 = every shape that is default */
    const char *const *workloads;  size_t workload_count; /* --workload; 0 = each shape's own */
    const mt_session_fixed *fixed; size_t fixed_count;    /* only these points of these subjects; then shapes, workloads, strategy and budget do not count */
    bool (*takes)(void *context, size_t fixed);           /* asked before the subject at that place of `fixed`: false = another process has it. NULL = all are ours */
    void *takes_context;
    const char *strategy;          /* "auto" … */
    const mt_strategy *own_strategy; /* instead: one that is in no list (tests); NULL = by name */
    bool is_quick;                 /* MT_QUICK_EVALUATIONS a subject, whatever `budget` says: the answers, best first, and the default; the strategy chooses the rest */
    int64_t budget;                /* evaluations per subject; 0 = the file's; exhaustive given by name ignores the file's */
    bool budget_given, time_given; /* on the command line */
    bool until_flat;               /* a search by models ends where going on is expected to improve the best by less than MT_FLAT_BELOW; the budget is then the most it may take */
    double time_s;                 /* whole command; 0 = the file's */
    uint64_t seed;
    mt_shard shard;                /* of several tasks on one space: strategies that split it keep to their part; others search all of it, each with a seed of its own */
    mt_store *shared;              /* what other tasks found out: known as well, and not counted in the budget of a search of the whole space; only read. NULL = none */
    mt_store *shipped;             /* its winners for near shapes are starting points of a search too; only read. NULL = none */
    const mt_answers *answers;     /* NULL = none */
    mt_l2 l2;              /* what is searched and ranked by */
    bool both_l2;             /* then what passed is measured in the other one too */
    mt_reuse reuse;
    mt_objective objective;        /* what the winner is picked by among the finalists; the search goes by time */
    const mt_limit *error_limit;   /* the largest error that a winner may have, and that counts in the search; not given: any. NULL = as the database has it for each subject */
    bool objective_given;          /* on the command line: then it is an error when energy can't be measured, else a warning, and time decides */
    bool no_race;                  /* time every variant to the end; rows of stopped ones do not count as known */
    const char *command;           /* for the session row */
    const char *plan;              /* of the cluster's tasks that this is one of (tuner/cluster); NULL = none */
    const mt_progress *progress;   /* may be NULL */
} mt_session_params;

/* Where the time of a command went. Sums over variants may exceed the wall time: workers overlap. */
typedef struct mt_session_times {
    int64_t compile_ns;            /* of the compile workers */
    int64_t wait_ns;               /* of compiled variants, for a GPU */
    int64_t validate_ns, time_ns;  /* of the device workers */
    int64_t device_ns;             /* a variant was on a GPU, from its start to its result: loading, both of the above, and the way there and back */
    int64_t idle_setup_ns, idle_no_compiled_ns, idle_dispatch_ns; /* GPUs stood idle: before a subject's first variant was there, with nothing compiled, with something compiled (the coordinator's doing) */
    int64_t database_ns;           /* of the coordinator */
    int64_t search_ns;             /* of the strategy, in a thread of its own */
    int64_t coordinator_cpu_ns;    /* processor time of the coordinator's loop: it serves all GPUs, one event after the other */
    int64_t total_ns;              /* wall */
    size_t device_count;           /* GPUs; device_ns / (total_ns · device_count) is their busy share */
    mt_compile_counts compiles;
} mt_session_times;

typedef struct mt_session_result {
    size_t subjects, skipped, with_winner;
    size_t known_elsewhere;        /* subjects without a winner here of which params->shared has a variant that is OK */
    bool interrupted;              /* by a signal: everything is kept */
    int64_t worker_restarts;
    size_t cut;                    /* subjects that ended before their budget was spent */
    mt_session_times times;
} mt_session_result;

typedef struct mt_session_target {
    const mt_shape *shape;
    const mt_workload *workload;
} mt_session_target;

/* USAGE error unless `name` is "auto" or a strategy's. */
mt_status mt_session_check_strategy(const char *name, mt_error *err);

/* The (shape, workload) pairs that such a session would tune, in the file's order. USAGE error for unknown names. mt_free *targets. */
mt_status mt_session_plan(const mt_session_params *params, mt_session_target **targets, size_t *count, mt_error *err);
/* One for all states of the search space in which these targets have the same points: parts of it (mt_shard) that were made in different states are not disjoint. */
mt_status mt_session_plan_key(const mt_spec *spec, const mt_session_target *targets, size_t count, mt_hash *key, mt_error *err);

/* Runs to the end, the time limit, or Ctrl-C / SIGTERM / SIGHUP (first: stop after the running variant; second: kill it): then MT_OK with result->interrupted. The time
 * limit is shared: each subject may take an equal part of what is left. MT_ERR_UNSUPPORTED when an objective that was given needs energy and nothing tells it. MT_ERR_NOTHING_VALID when no subject got a winner, here or in params->shared; USAGE for unknown shapes,
 * workloads and strategies; an evaluator's or the database's error ends the session as "failed", with all results kept. `result` is filled in every case. */
mt_status mt_session_run(uv_loop_t *loop, const mt_session_params *params, mt_evaluator *evaluator, mt_store *store, mt_session_result *result, mt_error *err);
