/* Portfolios of a file → predictors of a plan's answers. Up to 256 shapes × 64 variants each; what a file says is checked, since finders rely on it. */
#include "db/lookup/lookup_cost.h"
#include "db/lookup/lookup_front.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/row_sqlite.h"

static const char portfolios_sql[] = "SELECT p.id, p.device_id, d.key, p.regime, p.origin, p.held_out_count FROM portfolio p JOIN device d ON d.id = p.device_id "
                                     "WHERE p.kernel_id = ?1 AND p.origin IN ('measured', 'recorded') ORDER BY p.id";
static const char rule_sql[] = "SELECT rule_json FROM portfolio WHERE id = ?1"; /* apart: some tens of kilobytes that would be sorted with the rows above */
static const char shapes_sql[] = "SELECT subject_id, workload_id, shape_key, shape_name, best_ns, default_ns, default_outcome FROM portfolio_shape WHERE portfolio_id = ?1";
static const char variants_sql[] = "SELECT variant_id FROM portfolio_variant WHERE portfolio_id = ?1";
enum { SUBJECT_LIMIT = 4 * MT_RULE_SHAPES }; /* shapes × workloads */

typedef struct building {
    mt_lookup_loader *loader;
    mt_lookup_predictor *predictor;
    int64_t portfolio;
    bool is_damaged, is_other_format, any_workload; /* any_workload: the one asked for does not narrow */
    char kinds[1024];
    mt_lookup_subject subjects[SUBJECT_LIMIT];
    uint32_t subject_count, shape_count;
    uint32_t last_shape;               /* of the row before: a shape's workloads mostly stand together */
    const char *keys[MT_RULE_SHAPES], *shape_names[MT_RULE_SHAPES];
    double *features, defaults[MT_RULE_SHAPES]; /* [MT_RULE_SHAPES][feature_count] */
    size_t names[MT_RULE_FEATURES], feature_count;
    int64_t variants[MT_RULE_VARIANTS];
    const mt_lookup_variant *texts[MT_RULE_VARIANTS]; /* the same, read */
    bool *is_usable;                   /* [variant_count] */
    uint32_t variant_count;
    uint32_t at_subject, at_variant;   /* of the cell before: they come in order */
    uint32_t heard[MT_RULE_SHAPES * MT_RULE_VARIANTS]; /* cells seen of a shape's subjects */
    uint32_t subjects_of[MT_RULE_SHAPES];
    double *slowdown;                  /* [shape_count][variant_count], factors until the end */
    uint32_t *rows;                    /* 0 = none, UINT32_MAX = not to be answered with, else there is one: worst[] */
    mt_lookup_row **worst;             /* [shape_count][variant_count]: of the workload on which it loses most */
    double *errors;                    /* [shape_count][variant_count]: the largest over the workloads, where the variant is right */
    bool *is_wrong, *is_ever_wrong, is_out_of_memory;
    const mt_lookup_json *rule;
} building;

/* ---- reading rows ---- */

/* Steps through `sql` for the portfolio; each_row says NO_MEMORY or marks damage. */
static tunelookup_status each(building *b, const char *sql, int64_t id, tunelookup_status (*each_row)(building *, sqlite3_stmt *))
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    const mt_lookup_loader *loader = b->loader;
    int code = sqlite3_prepare_v2(loader->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 1, id);
    while (st == TUNELOOKUP_OK && code == SQLITE_OK && !b->is_damaged && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        st = each_row(b, statement);
    }
    if (st == TUNELOOKUP_OK && code != SQLITE_OK && code != SQLITE_DONE) st = mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
    sqlite3_finalize(statement);
    return st;
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = sqlite3_column_type(statement, column) == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, column) : NULL;
    return text ? text : "";
}

/* A finite number of at least `least`; NULL reads as NAN where that may be. */
static bool real_of(sqlite3_stmt *statement, int column, double least, bool may_be_null, double *out)
{
    int type = sqlite3_column_type(statement, column);
    *out = NAN;
    if (type == SQLITE_NULL) return may_be_null;
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return false;
    *out = sqlite3_column_double(statement, column);
    return isfinite(*out) && *out >= least;
}

static bool id_of(sqlite3_stmt *statement, int column, int64_t *out)
{
    if (sqlite3_column_type(statement, column) != SQLITE_INTEGER) return false;
    *out = sqlite3_column_int64(statement, column);
    return *out >= 0;
}

/* ---- shapes ---- */

/* As mt_key_has_names. */
static bool has_names(const mt_lookup_model *model, const char *key)
{
    for (uint32_t i = 0; i < model->name_count; i++) {
        size_t length = strlen(model->names[i].name);
        if (strncmp(key, model->names[i].name, length) != 0 || key[length] != '=') return false;
        key += strcspn(key, ";");
        key += *key == ';';
    }
    return *key == '\0';
}

/* The shape's index, new where it was not seen; SIZE_MAX with damage, which is also another count of numbers than the others have. */
static size_t shape_of(building *b, const char *key, const char *name)
{
    size_t count, at = 0;
    double features[MT_RULE_FEATURES];
    mt_lookup_arena *arena = &b->loader->answers->arena;
    if (b->shape_count && strcmp(b->keys[b->last_shape], key) == 0) return b->last_shape;
    while (at < b->shape_count && strcmp(b->keys[at], key) != 0) at++;
    b->last_shape = (uint32_t)at;
    if (at < b->shape_count) return at;
    if (at == MT_RULE_SHAPES) return SIZE_MAX;
    count = mt_rule_of_key(key, b->kinds, features, b->names, NULL);
    if (at == 0) {
        b->feature_count = count;
        b->features = mt_lookup_arena_take(arena, MT_RULE_SHAPES * count, sizeof *features);
        if (!b->features) return SIZE_MAX;
    }
    b->keys[at] = mt_lookup_arena_text(arena, key, strlen(key));
    b->shape_names[at] = mt_lookup_arena_text(arena, name, strlen(name));
    if (!count || count != b->feature_count || !b->keys[at] || !b->shape_names[at]) return SIZE_MAX;
    memcpy(b->features + at * count, features, count * sizeof *features);
    b->defaults[at] = 1;
    b->shape_count++;
    return at;
}

/* Whether it is a shape of this kernel: one that is not (damaged, a stranger's) is left out, and the others answer. */
static bool is_of_kernel(building *b, sqlite3_stmt *row)
{
    double features[MT_RULE_FEATURES];
    size_t names[MT_RULE_FEATURES];
    const mt_row_value value = mt_row_value_at(row, 2);
    const char *key = text_of(row, 2);
    return mt_row_value_is_sound(&mt_row_rules[MT_ROW_shape_key], &value) && has_names(&b->loader->answers->model, key) && mt_rule_of_key(key, b->kinds, features, names, NULL);
}

static tunelookup_status hide_shape(mt_lookup_answers *answers, const char *key)
{
    enum { SHOWN = 100 };
    if (answers->hidden_shapes++ == 0) answers->hidden_shape = mt_lookup_arena_text(&answers->arena, key, strnlen(key, SHOWN));
    return answers->hidden_shape ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

static tunelookup_status on_shape(building *b, sqlite3_stmt *row)
{
    int64_t id, workload;
    double best, of_default;
    mt_lookup_answers *answers = b->loader->answers;
    if (!is_of_kernel(b, row)) return hide_shape(answers, text_of(row, 2));
    b->is_damaged = !id_of(row, 0, &id) || !id_of(row, 1, &workload) || !real_of(row, 4, 1e-300, false, &best) || !real_of(row, 5, 1e-300, true, &of_default) || b->subject_count == SUBJECT_LIMIT;
    if (b->is_damaged) return TUNELOOKUP_OK;
    if (answers->workload && !b->any_workload && strcmp(mt_lookup_table_find(&b->loader->workloads, workload)->text, answers->workload) != 0) return TUNELOOKUP_OK;
    size_t shape = shape_of(b, text_of(row, 2), text_of(row, 3));
    b->is_damaged = shape == SIZE_MAX;
    if (b->is_damaged) return TUNELOOKUP_OK;
    const char *outcome = text_of(row, 6);
    bool has_time = strcmp(outcome, "ok") == 0 || strcmp(outcome, "censored") == 0; /* stopped as too slow: at least as slow as it was until then */
    double slowdown = *outcome == '\0' || (has_time && isnan(of_default)) ? NAN : !has_time ? INFINITY : of_default > best ? of_default / best : 1;
    b->defaults[shape] = mt_rule_worse(b->defaults[shape], slowdown);
    b->subjects[b->subject_count++] = (mt_lookup_subject){ id, (uint32_t)shape };
    b->subjects_of[shape]++;
    return TUNELOOKUP_OK;
}

/* ---- variants and cells ---- */

static tunelookup_status on_variant(building *b, sqlite3_stmt *row)
{
    int64_t id;
    b->is_damaged = !id_of(row, 0, &id) || b->variant_count == MT_RULE_VARIANTS;
    if (!b->is_damaged) b->variants[b->variant_count++] = id;
    return TUNELOOKUP_OK;
}

/* Where the cell's subject stands, and its variant, from where the cell before stood: all of them ascend, as the tables' keys do. */
static bool find_subject(building *b, int64_t id)
{
    uint32_t at = b->at_subject < b->subject_count && b->subjects[b->at_subject].id <= id ? b->at_subject : 0;
    while (at < b->subject_count && b->subjects[at].id < id) at++;
    b->at_subject = at;
    return at < b->subject_count && b->subjects[at].id == id;
}

static bool find_variant(building *b, int64_t id)
{
    uint32_t at = b->at_variant < b->variant_count && b->variants[b->at_variant] <= id ? b->at_variant : 0;
    while (at < b->variant_count && b->variants[at] < id) at++;
    b->at_variant = at;
    return at < b->variant_count && b->variants[at] == id;
}

/* What all figures of a place share. */
static mt_lookup_row *make_row(building *b)
{
    mt_lookup_row *row = mt_lookup_arena_take(&b->loader->answers->arena, 1, sizeof *row);
    if (!row) return NULL;
    row->variant = b->texts[b->at_variant];
    row->shape_name = b->shape_names[b->subjects[b->at_subject].shape];
    row->workload = "";
    row->workload_count = 1;
    row->slowdown = NAN;
    row->file = (uint8_t)b->loader->file;
    row->is_recorded = b->predictor->is_recorded;
    row->is_warm = b->predictor->is_warm;
    return row;
}

static bool set_row(building *b, const mt_cell_figures *cell, size_t at)
{
    if (!b->worst[at] && !(b->worst[at] = make_row(b))) return !(b->is_out_of_memory = true);
    mt_lookup_row *row = b->worst[at];
    row->median_ns = cell->median_ns;
    row->low_ns = cell->low_ns;
    row->high_ns = cell->high_ns;
    row->norm_error = row->most_error = cell->norm_error;
    row->created_unix_ms = cell->created_unix_ms;
    row->measurement = cell->measurement;
    row->toolchain = mt_lookup_table_find(&b->loader->toolchains, cell->toolchain);
    memcpy(row->carveouts, cell->carveouts, sizeof row->carveouts);
    return true;
}

/* The row that stands for a shape is that of its worst workload. Only valid measurements become rows. */
static bool on_cell(void *context, const mt_cell *cell)
{
    building *b = context;
    if (!find_subject(b, cell->subject) || !find_variant(b, cell->variant)) return true; /* another workload's, say */
    size_t at = b->subjects[b->at_subject].shape * b->variant_count + b->at_variant;
    double before = b->slowdown[at];
    b->heard[at]++;
    if (!mt_cell_has_figures(cell->outcome)) { /* two of three are such */
        b->slowdown[at] = INFINITY;
        b->rows[at] = UINT32_MAX;
        b->is_wrong[at] |= cell->outcome == MT_CELL_WRONG;
        b->is_ever_wrong[at % b->variant_count] |= cell->outcome == MT_CELL_WRONG;
        return true;
    }
    b->slowdown[at] = mt_rule_worse(before, cell->figures.slowdown);
    b->errors[at] = mt_rule_worse(b->errors[at], cell->figures.norm_error);
    if (cell->outcome != MT_CELL_OK) {
        b->rows[at] = UINT32_MAX; /* not valid for one workload: not to be answered with */
    } else if (!b->rows[at] || (b->rows[at] != UINT32_MAX && b->slowdown[at] > before)) {
        b->rows[at] = 1;
        return set_row(b, &cell->figures, at);
    }
    return true;
}

/* rows[] then holds places among the extra rows, from 1. */
static void list_rows(building *b)
{
    mt_lookup_loader *loader = b->loader;
    for (size_t at = 0; at < (size_t)b->shape_count * b->variant_count; at++) {
        bool is_valid = b->rows[at] && b->rows[at] != UINT32_MAX;
        b->rows[at] = is_valid ? ++loader->extra_count : 0;
        if (!is_valid) continue;
        b->worst[at]->next = loader->extra;
        loader->extra = b->worst[at];
    }
}

/* ---- one portfolio ---- */

static void describe_kinds(building *b)
{
    static const char *const words[] = { [MT_LOOKUP_NAME_INT] = "int,", [MT_LOOKUP_NAME_LIST] = "list,", [MT_LOOKUP_NAME_STRING] = "string," };
    const mt_lookup_model *model = &b->loader->answers->model;
    size_t used = 0;
    for (uint32_t i = 0; i < model->name_count; i++) {
        size_t length = strlen(words[model->names[i].kind]);
        memcpy(b->kinds + used, words[model->names[i].kind], length + 1);
        used += length;
    }
}

static tunelookup_status read_shapes(building *b)
{
    const uint32_t hidden = b->loader->answers->hidden_shapes;
    tunelookup_status st = each(b, shapes_sql, b->portfolio, on_shape);
    if (st != TUNELOOKUP_OK || b->is_damaged || b->shape_count || !b->loader->answers->workload) return st;
    b->loader->answers->hidden_shapes = hidden; /* those are met again */
    b->any_workload = b->predictor->ignores_workload = true;
    return each(b, shapes_sql, b->portfolio, on_shape);
}

/* What finders use, in the memory of the answers; slowdowns become logarithms. */
static bool settle(building *b)
{
    mt_lookup_arena *arena = &b->loader->answers->arena;
    mt_lookup_predictor *predictor = b->predictor;
    size_t cells = (size_t)b->shape_count * b->variant_count;
    double *defaults = mt_lookup_arena_take(arena, b->shape_count, sizeof *defaults);
    const char **shape_names = mt_lookup_arena_take(arena, b->shape_count, sizeof *shape_names);
    b->is_usable = mt_lookup_arena_take(arena, b->variant_count, sizeof *b->is_usable);
    if (!defaults || !b->is_usable || !shape_names) return false;
    memcpy(shape_names, b->shape_names, b->shape_count * sizeof *shape_names);
    for (size_t i = 0; i < b->shape_count; i++) defaults[i] = isfinite(b->defaults[i]) ? mt_rule_log2_real(b->defaults[i]) : b->defaults[i];
    for (size_t i = 0; i < cells; i++) {
        bool is_whole = b->heard[i] == b->subjects_of[i / b->variant_count];
        b->slowdown[i] = !is_whole ? NAN : isfinite(b->slowdown[i]) ? mt_rule_log2_real(b->slowdown[i]) : b->slowdown[i];
    }
    predictor->rule.shape_count = b->shape_count;
    predictor->rule.variant_count = b->variant_count;
    predictor->rule.feature_count = b->feature_count;
    predictor->rule.shapes = b->features;
    predictor->rule.default_slowdown = defaults;
    predictor->rule.is_usable = b->is_usable;
    predictor->rule.slowdown = b->slowdown;
    predictor->rule.is_wrong = b->is_wrong;
    predictor->rule.is_ever_wrong = b->is_ever_wrong;
    predictor->rule.rows = b->rows;
    predictor->shape_names = shape_names;
    return mt_lookup_errors_settle(b->loader, b->names, b->errors, predictor);
}

static tunelookup_status read_texts(building *b)
{
    mt_lookup_loader *loader = b->loader;
    bool *is_out = mt_lookup_arena_take(&loader->answers->arena, b->variant_count, sizeof *is_out);
    if (!is_out) return mt_lookup_no_memory();
    for (uint32_t v = 0; v < b->variant_count; v++) {
        tunelookup_status st = mt_lookup_variant_get(loader, b->variants[v], &b->texts[v]);
        if (st != TUNELOOKUP_OK) return st;
        is_out[v] = mt_lookup_is_wrong(loader->answers, b->texts[v]->text);
    }
    b->predictor->is_out = is_out;
    return TUNELOOKUP_OK;
}

static bool make_room(building *b)
{
    mt_lookup_arena *arena = &b->loader->answers->arena;
    size_t cells = (size_t)b->shape_count * b->variant_count;
    b->slowdown = mt_lookup_arena_take(arena, cells, sizeof *b->slowdown);
    b->rows = mt_lookup_arena_take(arena, cells, sizeof *b->rows);
    b->errors = mt_lookup_arena_take(&b->loader->scratch, cells, sizeof *b->errors);
    b->is_wrong = mt_lookup_arena_take(arena, cells, sizeof *b->is_wrong);
    b->is_ever_wrong = mt_lookup_arena_take(arena, b->variant_count, sizeof *b->is_ever_wrong);
    b->worst = mt_lookup_arena_take(&b->loader->scratch, cells, sizeof(mt_lookup_row *));
    for (size_t i = 0; b->slowdown && i < cells; i++) b->slowdown[i] = 1;
    return b->slowdown && b->rows && b->errors && b->is_wrong && b->is_ever_wrong && b->worst;
}

static tunelookup_status on_rule(building *b, sqlite3_stmt *row)
{
    tunelookup_status st = mt_lookup_json_load(b->loader->plan->db->files[b->loader->file].path, text_of(row, 0), &b->loader->scratch, &b->rule);
    b->is_damaged = st == TUNELOOKUP_ERR_NOT_A_DATABASE;
    if (b->is_damaged) mt_lookup_clear_detail();
    return b->is_damaged ? TUNELOOKUP_OK : st;
}

static tunelookup_status read_rule(building *b)
{
    tunelookup_status st;
    int64_t format;
    LOOKUP_TRY(each(b, rule_sql, b->portfolio, on_rule));
    format = b->is_damaged ? 0 : mt_lookup_json_int(b->rule, "format", 0);
    b->is_other_format = format > 0 && format != MT_RULE_FORMAT;
    if (b->is_other_format) goto done;
    if (!b->is_damaged) b->is_damaged = !mt_lookup_rule_read(b->loader, b->rule, b->names, b->variants, b->is_usable, b->predictor);
    if (!b->is_damaged) LOOKUP_TRY(mt_lookup_costs_read(b->loader, b->rule, b->variants, b->subjects, b->subject_count, b->predictor, &b->is_damaged));
done:
    return st;
}

static tunelookup_status read_parts(building *b)
{
    tunelookup_status st;
    describe_kinds(b);
    LOOKUP_TRY(read_shapes(b));
    if (!b->is_damaged) LOOKUP_TRY(each(b, variants_sql, b->portfolio, on_variant));
    if (b->is_damaged || !b->shape_count || !b->variant_count) goto done;
    if (!make_room(b)) return mt_lookup_no_memory();
    LOOKUP_TRY(read_texts(b));
    LOOKUP_TRY(mt_lookup_cells_read(b->loader, b->portfolio, b, on_cell, &b->is_damaged));
    if (b->is_out_of_memory) return mt_lookup_no_memory();
    if (b->is_damaged) goto done;
    list_rows(b);
    if (!settle(b)) return mt_lookup_no_memory();
    st = read_rule(b);
done:
    return st;
}

/* ---- which portfolios ---- */

/* The number behind "|sm" of a GPU's key; 0 = none. */
static double sm_count(const char *key)
{
    const char *at = strstr(key, "|sm");
    return at ? (double)strtol(at + 3, NULL, 10) : 0;
}

/* The number of gigabytes at the end of a GPU's key; 0 = none. */
static double memory_of(const char *key)
{
    const char *at = strrchr(key, '|');
    return at && at[1] >= '1' && at[1] <= '9' ? (double)strtol(at + 1, NULL, 10) : 0;
}

/* How unlike two sizes are, in octaves; 0 where one is not known. */
static double octaves_between(double a, double b)
{
    return a > 0 && b > 0 ? fabs(mt_rule_log2_real(a / b)) : 0;
}

/* Whether the asked GPU's model has the tuned one's in its name: a slice of it (h200-mig-1g.18gb), or its chip in another product (gh200). Not l40 in l40s. */
static bool is_kin(const char *tuned, const char *asked)
{
    size_t length = strcspn(tuned, "|"), room = strcspn(asked, "|");
    for (size_t at = 0; length && at + length <= room; at++) {
        char next = asked[at + length];
        if (memcmp(asked + at, tuned, length) == 0 && (next == '|' || next == '-' || next == '\0')) return true;
    }
    return false;
}

static bool same_architecture(const char *key, int64_t cc)
{
    const char *at = strstr(key, "|cc");
    return at && strtoll(at + 3, NULL, 10) == cc;
}

/* False when the plan may not answer from it. */
static bool place(const mt_lookup_loader *loader, sqlite3_stmt *row, mt_lookup_predictor *predictor)
{
    const mt_lookup_answers *answers = loader->answers;
    const char *key = text_of(row, 2);
    int64_t device, held_out;
    if (!id_of(row, 1, &device) || !id_of(row, 5, &held_out)) return false;
    predictor->is_other_gpu = !loader->device || device != loader->device;
    predictor->is_recorded = strcmp(text_of(row, 4), "recorded") == 0;
    predictor->is_warm = strcmp(text_of(row, 3), "warm") == 0;
    predictor->file = (uint8_t)loader->file;
    predictor->held_out = held_out < 1000000 ? (uint32_t)held_out : 1000000;
    if (predictor->is_recorded && !(loader->plan->db->flags & TUNELOOKUP_RECORDED)) return false;
    if (predictor->is_other_gpu && !same_architecture(key, answers->cc)) return false;
    if (predictor->is_other_gpu) {
        predictor->away = octaves_between(sm_count(key), sm_count(loader->asked_gpu));
        predictor->memory_away = octaves_between(memory_of(key), memory_of(loader->asked_gpu));
    }
    bool is_stranger = predictor->is_other_gpu && !is_kin(key, loader->asked_gpu);
    predictor->rank = (predictor->is_other_gpu ? 65536u : 0) + (predictor->is_recorded ? 4096u : 0) + (is_stranger ? 2048u : 0) + 2 * (uint32_t)loader->file + (strcmp(text_of(row, 3), answers->model.l2) != 0);
    return true;
}

static tunelookup_status on_portfolio(building *outer, sqlite3_stmt *row)
{
    mt_lookup_loader *loader = outer->loader;
    mt_lookup_answers *answers = loader->answers;
    if (answers->predictor_count == MT_LOOKUP_PREDICTORS) return TUNELOOKUP_OK;
    mt_lookup_predictor *predictor = &answers->predictors[answers->predictor_count];
    *predictor = (mt_lookup_predictor){ 0 };
    if (!place(loader, row, predictor)) return TUNELOOKUP_OK;
    building *b = mt_lookup_alloc(sizeof *b); /* too large for a stack */
    const char *key = text_of(row, 2);
    predictor->gpu = mt_lookup_arena_text(&answers->arena, key, strlen(key));
    if (!b || !predictor->gpu) {
        free(b);
        return mt_lookup_no_memory();
    }
    b->loader = loader;
    b->predictor = predictor;
    b->portfolio = sqlite3_column_int64(row, 0);
    tunelookup_status st = read_parts(b);
    if (st == TUNELOOKUP_OK && !b->is_damaged && predictor->rule.features) answers->predictor_count++;
    answers->damaged_predictors += b->is_damaged;
    answers->other_predictors += b->is_other_format;
    free(b);
    return st;
}

tunelookup_status mt_lookup_predictors_load(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    building *b;
    if (!answers->predictors && !(answers->predictors = mt_lookup_arena_take(&answers->arena, MT_LOOKUP_PREDICTORS, sizeof *answers->predictors))) return mt_lookup_no_memory();
    if (!(b = mt_lookup_alloc(sizeof *b))) return mt_lookup_no_memory();
    b->loader = loader;
    tunelookup_status st = each(b, portfolios_sql, loader->kernel, on_portfolio);
    free(b);
    return st;
}

/* ---- what the answers take over ---- */

/* Whether `a` is asked before `b`, or neither before the other. */
static bool is_in_order(const mt_lookup_predictor *a, const mt_lookup_predictor *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    return a->away != b->away ? a->away < b->away : a->memory_away <= b->memory_away;
}

static void sort_predictors(mt_lookup_answers *answers)
{
    for (uint32_t i = 1; i < answers->predictor_count; i++) {
        for (uint32_t k = i; k > 0; k--) {
            mt_lookup_predictor *a = &answers->predictors[k - 1], *b = &answers->predictors[k], tmp = *a;
            if (is_in_order(a, b)) break;
            *a = *b;
            *b = tmp;
        }
    }
}

/* Extra rows come behind the exact ones; predictors' places become indices into their rows. */
static void add_extra_rows(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    uint32_t at = answers->row_count + loader->extra_count;
    for (mt_lookup_row *row = loader->extra; row; row = row->next) answers->rows[--at] = row;
    for (uint32_t i = 0; i < answers->predictor_count; i++) {
        const mt_rule *rule = &answers->predictors[i].rule;
        for (size_t c = 0; c < rule->shape_count * rule->variant_count; c++) {
            uint32_t *place = (uint32_t *)(uintptr_t)&rule->rows[c];
            if (*place) *place += answers->row_count;
        }
    }
    answers->first_default = answers->row_total = answers->row_count + loader->extra_count;
}

static const char *default_problem(const mt_lookup_model *model)
{
    if (!model->variant_count || !model->param_count) return "the kernel's stored expressions name no variant";
    for (uint32_t i = 1; i < model->param_count; i++) {
        if (!model->params[i].has_standard) return "the kernel's stored expressions do not tell its knobs' defaults";
    }
    return NULL;
}

static bool whens_read_lets(const mt_lookup_model *model)
{
    for (uint32_t i = 0; i < model->param_count; i++) {
        const mt_program *when = model->params[i].when;
        for (size_t k = 0; when && k < mt_program_name_count(when); k++) {
            uint32_t slot = mt_lookup_model_slot(model, mt_program_name(when, k));
            if (slot >= model->let_slot && slot < model->loop_slot) return true;
        }
    }
    return false;
}

/* A slot, and the row that leads to it, with room for the text of all knobs. */
static bool make_default(mt_lookup_answers *answers, mt_lookup_default *slot, size_t bytes)
{
    mt_lookup_row *row = mt_lookup_arena_take(&answers->arena, 1, sizeof *row);
    slot->knobs = mt_lookup_arena_take(&answers->arena, answers->model.param_count, sizeof *slot->knobs);
    slot->text = mt_lookup_arena_take(&answers->arena, bytes, 1);
    slot->packed = mt_lookup_arena_take(&answers->arena, bytes, 1);
    if (!row || !slot->knobs || !slot->text || !slot->packed) return false;
    slot->variant = (mt_lookup_variant){ .text = slot->text, .packed = slot->packed, .knobs = slot->knobs, .algo = 0 };
    *row = (mt_lookup_row){ .variant = &slot->variant, .median_ns = NAN, .low_ns = NAN, .high_ns = NAN, .norm_error = NAN, .slowdown = NAN, .shape_name = "", .workload = "" };
    memset(row->carveouts, -1, sizeof row->carveouts);
    answers->rows[answers->row_total++] = row;
    return true;
}

static size_t longest_variant(const mt_lookup_model *model)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < model->variant_count; i++) {
        size_t length = strlen(model->variants[i].name);
        if (length > longest) longest = length;
    }
    return longest;
}

static tunelookup_status make_defaults(mt_lookup_answers *answers)
{
    const mt_lookup_model *model = &answers->model;
    size_t bytes = 16;
    answers->default_problem = default_problem(model);
    if (answers->default_problem) return TUNELOOKUP_OK;
    answers->defaults = mt_lookup_arena_take(&answers->arena, MT_LOOKUP_DEFAULTS, sizeof *answers->defaults);
    if (!answers->defaults) return mt_lookup_no_memory();
    for (uint32_t i = 0; i < model->param_count; i++) {
        bytes += (i ? strlen(model->params[i].standard_text) : strlen(model->params[0].name) + longest_variant(model) + 1) + 1;
    }
    answers->whens_read_lets = whens_read_lets(model);
    for (uint32_t i = 0; i < MT_LOOKUP_DEFAULTS; i++) {
        if (!make_default(answers, &answers->defaults[i], bytes)) return mt_lookup_no_memory();
    }
    return TUNELOOKUP_OK;
}

tunelookup_status mt_lookup_predictors_end(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    sort_predictors(answers);
    add_extra_rows(loader);
    tunelookup_status st = make_defaults(answers);
    if (st != TUNELOOKUP_OK || (st = mt_lookup_rules_settle(answers)) != TUNELOOKUP_OK) return st;
    answers->cache_stride = (sizeof(mt_lookup_cached) + answers->value_count * sizeof(int64_t) + 15) / 16 * 16;
    answers->cache = mt_lookup_arena_take(&answers->arena, MT_LOOKUP_CACHED, answers->cache_stride);
    return answers->cache ? TUNELOOKUP_OK : mt_lookup_no_memory();
}
