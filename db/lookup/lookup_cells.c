/* A portfolio's cells, from its blob or, in a file whose tuner wrote none, from the rows of table portfolio_cell. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <string.h>

enum { BUFFER_BYTES = 8192 };

typedef struct stream {
    sqlite3_blob *blob;
    int left, at;                /* bytes of the blob that are not in the buffer; where in it the next piece begins */
    int used, count;             /* of the buffer */
    bool is_broken;              /* SQLite could not read it */
    unsigned char buffer[BUFFER_BYTES];
} stream;

static bool fill(stream *s)
{
    int piece = s->left < BUFFER_BYTES ? s->left : BUFFER_BYTES;
    s->is_broken = piece > 0 && sqlite3_blob_read(s->blob, s->buffer, piece, s->at) != SQLITE_OK;
    if (piece == 0 || s->is_broken) return false;
    s->at += piece;
    s->left -= piece;
    s->used = 0;
    s->count = piece;
    return true;
}

/* False at the end. */
static bool take(stream *s, void *out, size_t bytes)
{
    unsigned char *to = out;
    if (bytes <= (size_t)(s->count - s->used)) { /* nearly always */
        memcpy(to, s->buffer + s->used, bytes);
        s->used += (int)bytes;
        return true;
    }
    while (bytes) {
        if (s->used == s->count && !fill(s)) return false;
        size_t piece = (size_t)(s->count - s->used) < bytes ? (size_t)(s->count - s->used) : bytes;
        memcpy(to, s->buffer + s->used, piece);
        s->used += (int)piece;
        to += piece;
        bytes -= piece;
    }
    return true;
}

/* One shape's part: its subject, an outcome for each variant, the figures of those that have some. False where it is cut short or damaged. */
static bool take_subject(stream *s, const int64_t *variants, uint32_t count, void *context, mt_lookup_on_cell on_cell)
{
    uint8_t outcomes[MT_RULE_VARIANTS];
    int64_t subject;
    if (!take(s, &subject, sizeof subject) || !take(s, outcomes, mt_cells_padded(count))) return false;
    mt_cell cell = { .subject = subject };
    for (uint32_t v = 0; v < count; v++) {
        cell.variant = variants[v];
        cell.outcome = outcomes[v];
        if (outcomes[v] == MT_CELL_NONE) continue;
        if (outcomes[v] > MT_CELL_FAILED || (mt_cell_has_figures(outcomes[v]) && !take(s, &cell.figures, sizeof cell.figures))) return false;
        if (!mt_cell_is_sound(&cell) || !on_cell(context, &cell)) return false;
    }
    return true;
}

static tunelookup_status read_blob(sqlite3 *db, const char *path, sqlite3_blob *blob, void *context, mt_lookup_on_cell on_cell, bool *is_damaged)
{
    stream s = { .blob = blob, .left = sqlite3_blob_bytes(blob) };
    int64_t variants[MT_RULE_VARIANTS], count = 0;
    *is_damaged = !take(&s, &count, sizeof count) || count < 0 || count > MT_RULE_VARIANTS || !take(&s, variants, (size_t)count * sizeof *variants);
    while (!*is_damaged && (s.left || s.used < s.count)) *is_damaged = !take_subject(&s, variants, (uint32_t)count, context, on_cell);
    return s.is_broken ? mt_lookup_sqlite_fail(db, path) : TUNELOOKUP_OK;
}

static tunelookup_status read_rows(sqlite3 *db, const char *path, int64_t portfolio, void *context, mt_lookup_on_cell on_cell, bool *is_damaged)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *rows = NULL;
    mt_cell cell;
    int code = sqlite3_prepare_v2(db, "SELECT " MT_CELL_COLUMNS " FROM portfolio_cell WHERE portfolio_id = ?1", -1, &rows, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(rows, 1, portfolio);
    while (code == SQLITE_OK && !*is_damaged && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        code = SQLITE_OK;
        *is_damaged = !mt_cell_read(rows, &cell) || !mt_cell_is_sound(&cell) || !on_cell(context, &cell);
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) st = mt_lookup_sqlite_fail(db, path);
    sqlite3_finalize(rows);
    return st;
}

tunelookup_status mt_lookup_cells_read(const mt_lookup_loader *loader, int64_t portfolio, void *context, mt_lookup_on_cell on_cell, bool *is_damaged)
{
    const char *path = loader->plan->db->files[loader->file].path;
    sqlite3_blob *blob = NULL;
    *is_damaged = false;
    /* Fails where the column is not there (a damaged file), or holds NULL (a portfolio of schema 7, updated) or a text. */
    bool has_blob = sqlite3_blob_open(loader->db, "main", "portfolio", "cells", portfolio, 0, &blob) == SQLITE_OK;
    tunelookup_status st = has_blob ? read_blob(loader->db, path, blob, context, on_cell, is_damaged) : read_rows(loader->db, path, portfolio, context, on_cell, is_damaged);
    sqlite3_blob_close(blob);
    return st;
}
