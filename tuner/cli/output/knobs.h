/* A variant's knobs for people: those that differ from the usual first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tuner/base/strbuf.h"

/* Texts of variants are canonical: "ALGO=direct;CPB=8". `usual` is such a text with a value for each knob that the space has, active or not (mt_point_usual); "" or NULL = not known,
 * and then every knob is told. All output is cleaned (mt_print_clean). */

/* Adds "ALGO=direct CPB=8": the algorithm, and the knobs whose values differ from the usual ones. Returns how many knobs were left out, as they have their usual value. */
size_t mt_knobs_add_unusual(mt_strbuf *out, const char *variant, const char *usual);
/* As mt_knobs_add_unusual, but the default is called so. */
size_t mt_knobs_add_told(mt_strbuf *out, const char *variant, const char *usual);
/* Adds all: first those that mt_knobs_add_unusual tells, then the others. */
void mt_knobs_add_all(mt_strbuf *out, const char *variant, const char *usual);
/* The line below lists that leave knobs out. */
void mt_knobs_print_left_out(FILE *out);
