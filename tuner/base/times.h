/* Where time goes, for whoever works on it: with $MSDA_TUNE_TIMES=FILE set, this process and its workers append a line for each step that costs.
 * Of the tool's own time, not of kernels: those are timed in tuner/gpu/trial/timing.c. */
#pragma once

#include <stdint.h>

/* "PID NOW_MS WHAT COST_MS DETAIL\n" in one write; nothing without the variable. since_ns: mt_clock_now_ns() when the step began. NOW is on the same clock,
 * which all processes of a host share. `detail` may be NULL. */
void mt_times_note(const char *what, int64_t since_ns, const char *detail);
