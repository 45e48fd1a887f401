/* How a portfolio's candidates did on its shapes, for the lookup: rows of table portfolio_cell, and the same as one blob (portfolio.cells). Ten thousand of them take the lookup longer row by
 * row than all else that it reads. The tuner writes the blob beside the rows; a file without one is read by its rows.
 *
 * The blob is an array of mt_cell in the order of the table's key, little-endian as every host of a GPU is. */
#ifndef MT_DB_CELLS_H
#define MT_DB_CELLS_H

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MT_CELL_CARVEOUTS = 8 };
typedef enum mt_cell_outcome { MT_CELL_FAILED = 0, MT_CELL_OK = 1, MT_CELL_CENSORED = 2, MT_CELL_WRONG = 3 } mt_cell_outcome;

typedef struct mt_cell {
    int64_t subject, variant, measurement, toolchain, created_unix_ms;
    double slowdown, median_ns, low_ns, high_ns, norm_error; /* NAN = none */
    uint8_t outcome;
    int8_t carveouts[MT_CELL_CARVEOUTS]; /* per cent, launch by launch; −1 = not known */
    uint8_t unused[7];                   /* 0 */
} mt_cell;
_Static_assert(sizeof(mt_cell) == 96 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as the blob has it");

/* The columns that mt_cell_read wants, in its order. */
#define MT_CELL_COLUMNS "subject_id, variant_id, measurement_id, toolchain_id, created_unix_ms, slowdown, median_ns, low_ns, high_ns, norm_error, outcome, carveouts"

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

static inline bool mt_cell_real_is(double value, double least)
{
    return isnan(value) || (isfinite(value) && value >= least);
}

/* Whether the tuner could have written it. */
static inline bool mt_cell_is_sound(const mt_cell *cell)
{
    if (cell->subject < 0 || cell->variant < 0 || cell->measurement < 0 || cell->toolchain < 0 || cell->created_unix_ms < 0) return false;
    if (!mt_cell_real_is(cell->slowdown, 1)) return false;
    if (cell->outcome != MT_CELL_OK) return true;
    return !isnan(cell->slowdown) && !isnan(cell->median_ns) && mt_cell_real_is(cell->median_ns, 1e-300) && mt_cell_real_is(cell->low_ns, 1e-300)
           && mt_cell_real_is(cell->high_ns, 1e-300) && mt_cell_real_is(cell->norm_error, 0);
}

/* The row at hand of a statement with MT_CELL_COLUMNS. False where a column has another type. */
static inline bool mt_cell_read(sqlite3_stmt *row, mt_cell *cell)
{
    int64_t *const ids[] = { &cell->subject, &cell->variant, &cell->measurement, &cell->toolchain, &cell->created_unix_ms };
    double *const reals[] = { &cell->slowdown, &cell->median_ns, &cell->low_ns, &cell->high_ns, &cell->norm_error };
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
    mt_carveouts_read(carveouts ? carveouts : "", cell->carveouts);
    return true;
}

#endif
