/* How a portfolio's candidates did on its shapes, for the lookup: rows of table portfolio_cell, and the same as one blob (portfolio.cells). Ten thousand of them take the lookup longer row by
 * row than all else that it reads. The tuner writes the blob beside the rows; a file without one is read by its rows.
 *
 * The blob, little-endian as every host of a GPU is: the number of variants and their ids, ascending (8 bytes each); then for each subject, ascending, its id, an outcome for each variant
 * (mt_cell_outcome, one byte each, zeros up to a multiple of 8), and mt_cell_figures of those that have some, in that order. */
#pragma once

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "db/row_rules.h"

enum { MT_CELL_CARVEOUTS = 8 };
typedef enum mt_cell_outcome { MT_CELL_NONE = 0 /* not measured */, MT_CELL_OK = 1, MT_CELL_CENSORED = 2, MT_CELL_WRONG = 3, MT_CELL_FAILED = 4 /* otherwise */ } mt_cell_outcome;

typedef struct mt_cell_figures {
    int64_t measurement, toolchain, created_unix_ms;
    double slowdown, median_ns, low_ns, high_ns, norm_error; /* NAN = none */
    int8_t carveouts[MT_CELL_CARVEOUTS];                     /* per cent, launch by launch; −1 = not known */
} mt_cell_figures;
_Static_assert(sizeof(mt_cell_figures) == 72 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as the blob has it");

typedef struct mt_cell {
    int64_t subject, variant;
    uint8_t outcome;
    mt_cell_figures figures;
} mt_cell;

static inline bool mt_cell_has_figures(uint8_t outcome)
{
    return outcome == MT_CELL_OK || outcome == MT_CELL_CENSORED;
}

static inline size_t mt_cells_padded(size_t variants)
{
    return (variants + 7) / 8 * 8;
}

/* The columns that mt_cell_read wants, in its order. */
#define MT_CELL_COLUMNS "subject_id, variant_id, measurement_id, toolchain_id, created_unix_ms, slowdown, median_ns, low_ns, high_ns, norm_error, outcome, carveouts"

/* Carve-outs of measurement m as launched, launch by launch. */
#define MT_CARVEOUTS                                                                                                                                   \
    "ifnull((SELECT group_concat(ifnull(json_extract(l.value, '$.carveout'), -1)) FROM json_each(CASE WHEN json_valid(m.launch_json) "                \
    "THEN m.launch_json ELSE '{}' END, '$.launches') l WHERE l.type = 'object'), CASE WHEN m.registers > 0 THEN m.carveout_percent END)"

/* "28,28": as launched, launch by launch; the first stands for launches beyond the list. */
static inline void mt_carveouts_read(const char *text, int8_t carveouts[MT_CELL_CARVEOUTS])
{
    memset(carveouts, -1, MT_CELL_CARVEOUTS);
    for (int i = 0; *text && i < MT_CELL_CARVEOUTS; i++) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < -1 || value > 100) return;
        if (i == 0) memset(carveouts, (int)value, MT_CELL_CARVEOUTS);
        carveouts[i] = (int8_t)value;
        text = end + (*end == ',');
    }
}

static inline bool mt_cell_real_is(double value, double least, double most)
{
    return isnan(value) || (value >= least && value <= most);
}

/* Whether the tuner could have written it. */
static inline bool mt_cell_is_sound(const mt_cell *cell)
{
    const mt_cell_figures *is = &cell->figures;
    if (cell->subject < 0 || cell->variant < 0) return false;
    if (!mt_cell_has_figures(cell->outcome)) return true;
    if (is->measurement < 0 || is->toolchain < 0 || is->created_unix_ms < 0 || is->created_unix_ms >= MT_ROW_DATE_LIMIT || !mt_cell_real_is(is->slowdown, 1, MT_ROW_FIGURE_LIMIT)) return false;
    if (cell->outcome != MT_CELL_OK) return true;
    return !isnan(is->slowdown) && !isnan(is->median_ns) && mt_cell_real_is(is->median_ns, MT_ROW_TIME_LEAST, MT_ROW_TIME_LIMIT) && mt_cell_real_is(is->low_ns, 0, MT_ROW_TIME_LIMIT)
           && mt_cell_real_is(is->high_ns, 0, MT_ROW_TIME_LIMIT) && mt_cell_real_is(is->norm_error, 0, MT_ROW_FIGURE_LIMIT);
}

/* The row at hand of a statement with MT_CELL_COLUMNS. False where a column has another type. */
static inline bool mt_cell_read(sqlite3_stmt *row, mt_cell *cell)
{
    mt_cell_figures *is = &cell->figures;
    int64_t *const ids[] = { &cell->subject, &cell->variant, &is->measurement, &is->toolchain, &is->created_unix_ms };
    double *const reals[] = { &is->slowdown, &is->median_ns, &is->low_ns, &is->high_ns, &is->norm_error };
    *cell = (mt_cell){ 0 };
    for (int i = 0; i < 5; i++) {
        int type = sqlite3_column_type(row, 5 + i);
        if (sqlite3_column_type(row, i) != SQLITE_INTEGER || (type != SQLITE_NULL && type != SQLITE_FLOAT && type != SQLITE_INTEGER)) return false;
        *ids[i] = sqlite3_column_int64(row, i);
        *reals[i] = type == SQLITE_NULL ? NAN : sqlite3_column_double(row, 5 + i);
    }
    const char *outcome = sqlite3_column_type(row, 10) == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, 10) : NULL;
    const char *carveouts = sqlite3_column_type(row, 11) == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, 11) : NULL;
    if (!outcome) return false;
    cell->outcome = strcmp(outcome, "ok") == 0 ? MT_CELL_OK : strcmp(outcome, "censored") == 0 ? MT_CELL_CENSORED : strcmp(outcome, "wrong_result") == 0 ? MT_CELL_WRONG : MT_CELL_FAILED;
    mt_carveouts_read(carveouts ? carveouts : "", is->carveouts);
    return true;
}
