/* From readings of a counter of energy, or of power, to the energy of one run: pure functions, no device. docs/measurement.md says why it is done so. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tuner/base/outcome.h"

/* Watches what the driver tells while a loop of runs keeps the GPU busy. A counter steps once a period, so that its steps are the only moments at which it
 * can be believed: the power is the rise between the first and the last step that were seen, over the time between them. */
typedef struct mt_energy_meter {
    mt_energy_source source;
    int64_t start_ns;                /* of the first poll */
    int64_t asked_ns, polled_ns;     /* of the last: when it was asked for, and told */
    double value;                    /* the last reading: mJ, mW */
    uint64_t steps;                  /* changes of it */
    int64_t first_step_ns, last_step_ns;
    int64_t first_gap_ns, last_gap_ns; /* how long before it was seen the step may have been */
    double first_mj, last_mj;        /* COUNTER: at those steps */
    double power_sum;                /* POWER: mW · ns, since start_ns */
} mt_energy_meter;

enum { MT_ENERGY_STEPS = 20 /* periods of the counter in a loop */, MT_ENERGY_PATIENCE = 4 /* loops' lengths without a step: then it does not move */ };

void mt_energy_meter_begin(mt_energy_meter *meter, mt_energy_source source);
/* A reading in mJ (COUNTER) or mW (POWER), made between the two times, which rise. On a busy host there may be milliseconds between them. */
void mt_energy_meter_poll(mt_energy_meter *meter, int64_t asked_ns, int64_t now_ns, double reading);
/* It stands still: nothing was seen in MT_ENERGY_PATIENCE · least_ns. */
bool mt_energy_meter_is_stuck(const mt_energy_meter *meter, int64_t least_ns);
/* COUNTER: at least MT_ENERGY_STEPS periods and least_ns between the first and the last step; POWER: least_ns. */
bool mt_energy_meter_is_done(const mt_energy_meter *meter, int64_t least_ns);
/* `runs` in loop_ns, at one steady pace. source stays NONE when there was nothing to see. */
mt_energy mt_energy_meter_result(const mt_energy_meter *meter, uint64_t runs, int64_t loop_ns);

/* The loop: a graph of `runs` that go round over `sets` copies of the buffers, as batches do. Cold: together at least 3 × L2, so that a run finds none of its data
 * there; a set that is as large by itself needs no copies. Unlike a batch that is timed, the graph follows itself without a flush, so that each set must be
 * used. */
typedef struct mt_energy_plan {
    uint32_t sets, runs;
} mt_energy_plan;
mt_energy_plan mt_energy_plan_make(mt_l2 l2, double run_ns, uint64_t set_bytes, uint64_t l2_bytes);
