/* Measuring what a portfolio still needs to know: each candidate on each tuned shape. */
#pragma once

#include "tuner/cli/command.h"
#include "tuner/cli/measure/bench.h"
#include "tuner/predictor/table.h"

typedef struct mt_portfolio_bench mt_portfolio_bench;

typedef struct mt_portfolio_bench_options {
    const char *space, *gpu, *recordings; /* as for `tune`; gpu NULL = auto */
    int64_t seed;
    int l2;                           /* choice: 0 = the file's */
    size_t jobs;                          /* compile workers; 0 = as many as the host is good for */
    const mt_arguments *arguments;        /* of this command, for processes that help */
    const char *command;                  /* for the session rows; borrowed */
} mt_portfolio_bench_options;

/* The search space, with the shapes that `store` has for its kernel, and what evaluates it. NO_GPU when there is none. */
mt_status mt_portfolio_bench_open(const mt_portfolio_bench_options *options, mt_store *store, mt_portfolio_bench **bench, mt_error *err);
void mt_portfolio_bench_close(mt_portfolio_bench *bench); /* NULL is a no-op */
/* Whose portfolio this can measure. */
const mt_bench *mt_portfolio_bench_of(const mt_portfolio_bench *bench);
mt_origin mt_portfolio_bench_origin(const mt_portfolio_bench *bench);
mt_l2 mt_portfolio_bench_l2(const mt_portfolio_bench *bench);

/* The first `candidates` variants of the table, and the default, on every shape where they were not measured; as a session whose rows are stored. Shapes that do not
 * fit the file any more, and workloads that it no longer has, are named on stderr and left out. *missing: how many were measured now; what comes of them can bring other variants into
 * the table. INTERRUPTED as tune. Of several GPUs each takes whole subjects, in a process of its own (sibling.h), where there are as many of them as GPUs. */
mt_status mt_portfolio_bench_measure(mt_portfolio_bench *bench, mt_store *store, const mt_predictor_table *table, size_t candidates, size_t *missing, mt_error *err);
/* In such a process: its part of what its stdin names. */
mt_status mt_portfolio_bench_help(mt_portfolio_bench *bench, mt_store *store, mt_error *err);
