/* Spaces with known costs, for search_bench: read from a table, or made up. */
#pragma once

#include "tuner/space/points/space.h"

typedef struct bench_space {
    char name[64];
    mt_spec *spec;
    mt_space *space;
    double *time_ns; /* by index; INFINITY = failed */
    double best_ns;
} bench_space;

/* NAME.ini and NAME.tsv as search_table.py writes them. */
mt_status bench_space_load(const char *name, bench_space *out, mt_error *err);
/* One of the made-up ones; NOT_FOUND names them all. */
mt_status bench_space_make(const char *name, bench_space *out, mt_error *err);
size_t bench_space_made_count(void);
const char *bench_space_made_name(size_t index);
/* What the same space might look like elsewhere: "pow=X" (times to the power X), "shuffle=SEED" (each knob's levels change places), "noise=PERCENT" (once, of the truth), "fail=PERCENT" (that many points
 * fail, drawn at random), "odd=X" (X times as slow for each knob whose value is no power of two). */
mt_status bench_space_perturb(bench_space *space, const char *how, mt_error *err);
void bench_space_free(bench_space *space);
