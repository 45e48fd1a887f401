/* Reading recordings, line by line; a line that is bad is left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/exchange/recording/recording.h"
#include "db/exchange/recording/recording_internal.h"
#include "db/exchange/recording/recording_io.h"
#include "db/exchange/recording/recording_line.h"
#include "db/exchange/said.h"
#include "db/row_sqlite.h"
#include "db/store/known_knobs.h"
#include "db/store/measurement.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

typedef struct import_state {
    mt_line_source from;
    mt_subject subject;
    int64_t session, recorded_unix_ms;
    int64_t rows, evaluated, failed;
    mt_left_out left_out;
    int64_t first_left_out, unnamed; /* of the lines before a sound line 1: the first, and how many more; 0 = none */
    char why_first[400];
    int64_t header_line;       /* line 1 of the subject at hand; 0 = it is not known of which subject rows are: that line is left out, of this number: */
    int64_t bad_line;
    int64_t last_before;       /* the newest measurement before this subject's */
    int64_t version;           /* of the format */
    mt_known_knobs knobs;            /* of the kernel at hand */
    mt_texts told;             /* NUMBERED: the kernel's variants in the order of their first rows */
    int64_t count_lost_in;     /* the line in which a variant may have been told that nobody can read: what is told behind it has no number that is known; 0 = none */
    mt_strbuf kernel;          /* "NAME@KEY" of the line 1 before */
    mt_strbuf final;           /* of the subject at hand, stored behind its rows; "" = none */
} import_state;

/* --- line 1 ------------------------------------------------------------------------------------------------------------------------- */

#define JSON(path) "json_extract(?1, '$." path "'), "
#define JSON_OBJECT(path) "CASE json_type(?1, '$." path "') WHEN 'object' THEN json_extract(?1, '$." path "') END, "
#define JSON_MEMBER(path) "json_type(?1, '$." path "'), " JSON(path) /* for mt_line_object */

static const char header_sql[] =
    "SELECT " JSON("format") JSON("version") JSON("gpu.key") JSON("gpu.name") JSON_OBJECT("gpu.facts") JSON("kernel.name") JSON("kernel.key")
    JSON_OBJECT("kernel.spec") JSON("shape.name") JSON("shape.key") JSON("workload.name") JSON("workload.key") JSON("regime")
    JSON("toolchain.nvrtc") JSON("toolchain.driver") JSON("toolchain.arch") JSON("recorded_unix_ms") JSON("default") JSON("baseline") JSON_MEMBER("final") JSON("max_error") "0";

static mt_status check_format(import_state *import, sqlite3_stmt *statement, mt_error *err)
{
    if (strcmp(mt_sql_column(statement, 0), "msda-tune recording") != 0) {
        return mt_line_fail(&import->from, "is not an msda-tune recording; expected " MT_RECORDING_FILES, NULL, err);
    }
    mt_status st = mt_line_integer(&import->from, statement, 1, "\"version\"", &import->version, err);
    if (st != MT_OK || import->version == MT_RECORDING_PLAIN || import->version == MT_RECORDING_NUMBERED) return st;
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: has format version %lld, this msda-tune reads versions 1 and 2", import->from.path, (long long)import->version);
}

static void leave_out(import_state *import, const char *why)
{
    mt_left_out_line(&import->left_out, mt_lines_number(import->from.lines), why);
}

/* A member that the rows can do without: where it is not as it should be, it alone is left out. */
static mt_row_value optional(import_state *import, sqlite3_stmt *statement, int column, const char *name, mt_row_column_id rule, mt_row_value otherwise)
{
    char why[400], text[460];
    mt_row_value value = mt_row_value_at(statement, column);
    if (mt_row_value_is_sound(&mt_row_rules[rule], &value)) return value;
    mt_row_value_explain(&mt_row_rules[rule], &value, why, sizeof why);
    snprintf(text, sizeof text, "%s: %s", name, why);
    leave_out(import, text);
    return otherwise;
}

static const char *optional_text(import_state *import, sqlite3_stmt *statement, int column, const char *name, mt_row_column_id rule, const char *otherwise)
{
    return optional(import, statement, column, name, rule, (mt_row_value){.text = otherwise}).text;
}

static int64_t optional_integer(import_state *import, sqlite3_stmt *statement, int column, const char *name, mt_row_column_id rule)
{
    return optional(import, statement, column, name, rule, (mt_row_value){0}).integer;
}

/* A line 1 may leave out the programs of the kernel that the one before it was of. Where they stand variants are numbered anew, so that files may be concatenated. */
static mt_status read_programs(import_state *import, sqlite3_stmt *statement, mt_kernel_row *kernel, mt_error *err)
{
    mt_strbuf name = {0};
    mt_strbuf_addf(&name, "%s@%s", kernel->name, kernel->key);
    bool is_same = strcmp(mt_strbuf_text(&name), mt_strbuf_text(&import->kernel)) == 0;
    kernel->spec_json = "{}"; /* not known: replaces nothing */
    bool has_programs = sqlite3_column_type(statement, 7) != SQLITE_NULL;
    if (has_programs || !is_same) {
        mt_texts_free(&import->told);
        import->count_lost_in = has_programs ? 0 : mt_lines_number(import->from.lines); /* lines before it may have told variants: of a file whose beginning is lost */
    }
    if (!is_same || has_programs) kernel->spec_json = optional_text(import, statement, 7, "\"kernel.spec\"", MT_ROW_kernel_spec_json, "{}");
    mt_strbuf_clear(&import->kernel);
    mt_strbuf_add(&import->kernel, mt_strbuf_text(&name));
    mt_strbuf_free(&name);
    return import->kernel.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->from.path) : MT_OK;
}

/* Expressions that nobody can read are left out: the rows are the kernel's all the same. */
static mt_status check_programs(import_state *import, mt_kernel_row *kernel, mt_error *err)
{
    char why[300];
    bool are_sound;
    mt_status st = mt_said_check_spec(kernel->spec_json, &are_sound, why, sizeof why, err);
    if (st != MT_OK || are_sound) return st;
    kernel->spec_json = "{}";
    leave_out(import, why);
    return MT_OK;
}

/* What an error says behind the file's name and line, or the database's. */
static const char *reason_of(const import_state *import, const mt_error *err)
{
    const char *path = mt_store_path(import->from.store), *message = err->message;
    size_t own = strlen(path), file = strlen(import->from.path);
    if (strncmp(message, import->from.path, file) == 0 && message[file] == ':') message += file + 1 + strcspn(message + file + 1, " ");
    else if (strncmp(message, path, own) == 0 && message[own] == ':') message += own + 1;
    return message + strspn(message, " ");
}

static mt_status read_subject(import_state *import, sqlite3_stmt *statement, mt_error *err)
{
    mt_status st;
    mt_store *store = import->from.store;
    mt_device_row device;
    mt_kernel_row kernel = {.keeps_spec = true};
    mt_shape_row shape, workload;
    const char *l2;
    MT_TRY(mt_line_text(&import->from, statement, 2, "\"gpu.key\"", 1, &device.key, err));
    device.name = optional_text(import, statement, 3, "\"gpu.name\"", MT_ROW_device_name, "");
    device.facts_json = optional_text(import, statement, 4, "\"gpu.facts\"", MT_ROW_device_facts_json, "{}");
    MT_TRY(mt_line_text(&import->from, statement, 5, "\"kernel.name\"", 1, &kernel.name, err));
    MT_TRY(mt_line_text(&import->from, statement, 6, "\"kernel.key\"", 1, &kernel.key, err));
    MT_TRY(read_programs(import, statement, &kernel, err));
    MT_TRY(check_programs(import, &kernel, err));
    shape.name = optional_text(import, statement, 8, "\"shape.name\"", MT_ROW_shape_name, "");
    MT_TRY(mt_line_text(&import->from, statement, 9, "\"shape.key\"", 0, &shape.key, err));
    workload.name = optional_text(import, statement, 10, "\"workload.name\"", MT_ROW_workload_name, "");
    MT_TRY(mt_line_text(&import->from, statement, 11, "\"workload.key\"", 0, &workload.key, err));
    MT_TRY(mt_line_text(&import->from, statement, 12, "\"regime\"", 1, &l2, err));
    if (!mt_l2_from_name(l2, &import->subject.l2)) MT_LEAVE(mt_line_fail(&import->from, "\"regime\" is neither \"cold\" nor \"warm\"", NULL, err));
    MT_TRY(mt_store_device(store, &device, &import->subject.device, err));
    MT_TRY(mt_store_kernel(store, &kernel, &import->subject.kernel, err));
    if (import->knobs.kernel != import->subject.kernel || strcmp(kernel.spec_json, "{}") != 0) MT_TRY(mt_known_knobs_read(store, import->subject.kernel, &import->knobs, err));
    MT_TRY(mt_store_shape(store, import->subject.kernel, &shape, &import->subject.shape, err));
    MT_TRY(mt_store_workload(store, import->subject.kernel, &workload, &import->subject.workload, err));
done:
    return st;
}

static mt_status read_toolchain(const import_state *import, sqlite3_stmt *statement, int first, const char *name, int64_t *id, mt_error *err)
{
    mt_status st;
    mt_toolchain_row row;
    MT_TRY(mt_line_integer(&import->from, statement, first, name, &row.nvrtc_version, err));
    MT_TRY(mt_line_integer(&import->from, statement, first + 1, name, &row.driver_version, err));
    MT_TRY(mt_line_text(&import->from, statement, first + 2, name, 0, &row.arch, err));
    st = mt_store_toolchain(import->from.store, &row, id, err);
done:
    return st;
}

/* Of line 1: what is not as it should be is unknown. */
static mt_status read_toolchain_of(import_state *import, sqlite3_stmt *statement, mt_error *err)
{
    const mt_toolchain_row row = {.nvrtc_version = optional_integer(import, statement, 13, "\"toolchain.nvrtc\"", MT_ROW_toolchain_nvrtc_version),
                                  .driver_version = optional_integer(import, statement, 14, "\"toolchain.driver\"", MT_ROW_toolchain_driver_version),
                                  .arch = optional_text(import, statement, 15, "\"toolchain.arch\"", MT_ROW_toolchain_arch, "")};
    return mt_store_toolchain(import->from.store, &row, &import->subject.toolchain, err);
}

/* Variants that the others are compared with; older recordings do not name them. One that is no variant is left out. */
static mt_status read_comparison_point(import_state *import, sqlite3_stmt *statement, int column, const char *role, mt_error *err)
{
    char why[200] = "", reason[240], name[24];
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return MT_OK;
    snprintf(name, sizeof name, "\"%s\"", role);
    const char *variant = optional_text(import, statement, column, name, MT_ROW_variant_text, NULL);
    if (!variant) return MT_OK;
    mt_status st = MT_OK;
    import->from.store->is_row_refused = false;
    if (mt_known_knobs_cover(&import->knobs, variant, why, sizeof why)) st = mt_store_comparison_point(import->from.store, &import->subject, role, variant, err);
    if (!*why && !(st == MT_ERR_DB && mt_store_refused_row(import->from.store))) return st;
    snprintf(reason, sizeof reason, "\"%s\": %s", role, *why ? why : reason_of(import, err));
    leave_out(import, reason);
    return MT_OK;
}

/* Of a file whose winner has been picked within it. */
static mt_status read_error_limit(import_state *import, sqlite3_stmt *statement, int column, mt_error *err)
{
    const mt_row_value none = {.type = MT_ROW_VALUE_NULL};
    if (sqlite3_column_type(statement, column) == SQLITE_NULL || optional(import, statement, column, "\"max_error\"", MT_ROW_error_limit_max_error, none).type == MT_ROW_VALUE_NULL) return MT_OK;
    const mt_limit limit = {sqlite3_column_double(statement, column), true};
    return mt_store_set_error_limit(import->from.store, &import->subject, &limit, err);
}

static mt_status read_header(import_state *import, const char *line, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_line_parse(&import->from, header_sql, line, &statement, err));
    MT_TRY(check_format(import, statement, err));
    MT_TRY(mt_line_check_names(&import->from, line, err));
    MT_TRY(read_subject(import, statement, err));
    MT_TRY(read_toolchain_of(import, statement, err));
    import->recorded_unix_ms = optional_integer(import, statement, 16, "\"recorded_unix_ms\"", MT_ROW_session_started_unix_ms);
    MT_TRY(read_comparison_point(import, statement, 17, "default", err));
    MT_TRY(read_comparison_point(import, statement, 18, "baseline", err));
    MT_TRY(read_error_limit(import, statement, 21, err));
    const char *final;
    if (mt_line_object(&import->from, statement, 19, "\"final\"", &final, err) != MT_OK) {
        leave_out(import, reason_of(import, err));
        final = NULL;
    }
    mt_strbuf_clear(&import->final);
    mt_strbuf_add(&import->final, final ? final : "");
    if (import->final.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->from.path);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* --- rows --------------------------------------------------------------------------------------------------------------------------- */

#define KEY(column, key, type, group, member) "'" key "', "
static const char row_sql[] =
    "SELECT " JSON("v") JSON("k") JSON("t") JSON("launch") JSON("flops") JSON("bytes") JSON("floor") JSON("e") JSON("at")
    "json_type(?1, '$.chain'), " JSON("chain.nvrtc") JSON("chain.driver") JSON("chain.arch")
    "CASE json_type(?1, '$.s') WHEN 'array' THEN json_extract(?1, '$.s') END, " MT_OUTCOME_COLUMNS(MT_COLUMN_JSON)
    /* json_extract makes 1 and 0 of true and false */
    "(SELECT key FROM json_each(?1) WHERE type IN ('true', 'false') AND key IN (" MT_OUTCOME_COLUMNS(KEY) "'v', 'flops', 'bytes', 'floor', 'e', 'at') LIMIT 1), " 
    "json_type(?1, '$.library'), json_extract(?1, '$.library'), 0";
enum { COLUMN_TEXT = 2, COLUMN_LAUNCH, COLUMN_FLOPS, COLUMN_EVALUATION = 7, COLUMN_AT, COLUMN_CHAIN, COLUMN_SAMPLES = 13, COLUMN_OUTCOME };
enum { COLUMN_BOOLEAN = COLUMN_OUTCOME + MT_OUTCOME_COLUMN_COUNT, COLUMN_LIBRARY };

/* "[1.5,2,…]" of exactly `count` times. */
static bool parse_samples(const char *json, float *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char number[64];
        double value;
        json++; /* '[' or ',' */
        size_t length = strcspn(json, ",]");
        if (length >= sizeof number) return false;
        memcpy(number, json, length);
        number[length] = '\0';
        if (!mt_text_double(number, &value) || !(value >= 0 && value <= MT_ROW_TIME_LIMIT)) return false;
        samples[i] = (float)value;
        json += length;
    }
    return strcmp(json, "]") == 0;
}

static mt_status read_samples(const import_state *import, sqlite3_stmt *statement, mt_outcome *outcome, mt_error *err)
{
    const char *json = mt_sql_column_or_null(statement, COLUMN_SAMPLES);
    size_t count = outcome->timing.samples;
    if (!json) return MT_OK;
    if (count == 0 || count > strlen(json)) return mt_line_fail(&import->from, "\"s\" does not hold \"n\" samples of 0 to 1e16 ns", NULL, err);
    outcome->sample_ns = mt_alloc(count, sizeof *outcome->sample_ns);
    if (!outcome->sample_ns) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->from.path);
    if (parse_samples(json, outcome->sample_ns, count)) return MT_OK;
    return mt_line_fail(&import->from, "\"s\" does not hold \"n\" samples of 0 to 1e16 ns", NULL, err);
}

/* A row with a median alone is its own interval. */
static void complete_interval(mt_timing *timing)
{
    if (timing->low_ns == 0 && timing->high_ns == 0) timing->low_ns = timing->high_ns = timing->median_ns;
}

/* "k" and "t". */
static mt_status read_kind(const import_state *import, sqlite3_stmt *statement, mt_outcome *outcome, mt_error *err)
{
    const char *kind, *text = mt_sql_column_or_null(statement, COLUMN_TEXT);
    mt_status st = mt_line_text(&import->from, statement, 1, "\"k\"", 1, &kind, err);
    if (st != MT_OK) return st;
    outcome->text = mt_strdup(text);
    if (text && !outcome->text) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->from.path);
    return mt_outcome_from_name(kind, &outcome->kind) ? MT_OK : mt_line_fail(&import->from, "\"k\" is an unknown outcome:", kind, err);
}

/* The column that mt_outcome_read stumbled over. */
static mt_status fail_column(const import_state *import, sqlite3_stmt *statement, const char *bad, mt_error *err)
{
#define NAMES(column, key, type, group, member) {#column, key},
    static const struct { const char *column, *key; } names[] = {MT_OUTCOME_COLUMNS(NAMES)};
    char why[400], text[460];
    int i = 0;
    while (strcmp(names[i].column, bad) != 0) i++;
    mt_row_value value = mt_row_value_at(statement, COLUMN_OUTCOME + i);
    mt_row_value_explain(mt_row_column_find("measurement", bad, strlen(bad)), &value, why, sizeof why);
    snprintf(text, sizeof text, "\"%s\": %s", names[i].key, why);
    return mt_line_fail(&import->from, text, NULL, err);
}

static mt_status read_outcome(const import_state *import, sqlite3_stmt *statement, mt_outcome *outcome, mt_error *err)
{
    const char *bad;
    mt_status st = read_kind(import, statement, outcome, err);
    if (st != MT_OK) return st;
    if (sqlite3_column_type(statement, COLUMN_BOOLEAN) != SQLITE_NULL)
        return mt_line_fail(&import->from, "expected a number, found true or false, in", mt_sql_column(statement, COLUMN_BOOLEAN), err);
    if (!mt_outcome_read(statement, COLUMN_OUTCOME, outcome, &bad)) return fail_column(import, statement, bad, err);
    outcome->timing.l2 = import->subject.l2;
    complete_interval(&outcome->timing);
    return read_samples(import, statement, outcome, err);
}

/* Given once by each subject: of two rows nobody knows which one is meant. */
static mt_status check_first(const import_state *import, const char *variant, mt_error *err)
{
    static const char sql[] = "SELECT 1 FROM main.measurement m JOIN variant v ON v.id = m.variant_id WHERE m.session_id = ? AND v.kernel_id = ? AND v.text = ? AND m.id > ?";
    bool is_there = false;
    mt_status st = mt_sql_one(import->from.store, sql, "look for a variant", MT_IN(MT_INT(import->session), MT_INT(import->subject.kernel), MT_TEXT(variant), MT_INT(import->last_before)), MT_OUT(MT_TO_BOOL(&is_there)), err);
    return st == MT_OK && is_there ? mt_line_fail(&import->from, "a variant must be given once, and this one was before:", variant, err) : st;
}

/* What is wrong with a comparison is not the row's: it is left out alone. */
static mt_status read_library(import_state *import, sqlite3_stmt *statement, int64_t at_unix_ms, mt_error *err)
{
    char why[400];
    const char *json;
    mt_store *store = import->from.store;
    mt_status st = mt_line_object(&import->from, statement, COLUMN_LIBRARY, "\"library\"", &json, err);
    if (st == MT_OK && json) st = mt_recording_read_library(store, sqlite3_last_insert_rowid(store->db), at_unix_ms, json, err);
    bool is_refused = st == MT_ERR_DB && mt_store_refused_row(store);
    if (st != MT_ERR_SYNTAX && !is_refused) return st;
    snprintf(why, sizeof why, "%s%s", is_refused ? "\"library\": " : "", reason_of(import, err));
    leave_out(import, why);
    return MT_OK;
}

/* The variant behind the number. */
static mt_status find_told(const import_state *import, sqlite3_stmt *statement, const char **variant, mt_error *err)
{
    int64_t number;
    char why[120];
    mt_status st = mt_line_integer(&import->from, statement, 0, "\"v\"", &number, err);
    if (st != MT_OK) return st;
    snprintf(why, sizeof why, "of line %lld nobody knows whether it told a variant, so that this number is of none that is known:", (long long)import->count_lost_in);
    if (number >= (int64_t)import->told.count) return mt_line_fail(&import->from, import->count_lost_in ? why : "no variant has this number yet:", mt_sql_column(statement, 0), err);
    *variant = import->told.items[number];
    return MT_OK;
}

/* *variant stays the statement's, or this state's. */
static mt_status read_variant(import_state *import, sqlite3_stmt *statement, const char **variant, mt_error *err)
{
    if (import->version == MT_RECORDING_NUMBERED && sqlite3_column_type(statement, 0) == SQLITE_INTEGER) return find_told(import, statement, variant, err);
    mt_status st = mt_line_text(&import->from, statement, 0, "\"v\"", 0, variant, err);
    if (st != MT_OK || import->version != MT_RECORDING_NUMBERED || import->count_lost_in) return st;
    return mt_texts_add(&import->told, *variant, err);
}

/* A line that can't be read may have begun another subject where it holds something that only such lines do: then rows behind it are of none that is known, and never of the subject before. Else it may have been
 * a row, and told a variant that numbers behind it count. */
static void lose_line(import_state *import, const char *line)
{
    static const char *const words[] = {"\"msda-tune recording\"", "\"format\"", "\"kernel\"", "\"shape\"", "\"gpu\""};
    bool may_begin = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) may_begin = may_begin || strstr(line, words[i]);
    if (!may_begin && !import->count_lost_in) import->count_lost_in = mt_lines_number(import->from.lines);
    if (!may_begin) return;
    import->header_line = 0;
    import->bad_line = mt_lines_number(import->from.lines);
}

/* All of a row but its variant. What is wrong with it is a SYNTAX error, or a row that the store refuses. */
static mt_status store_row(import_state *import, const char *line, sqlite3_stmt *statement, const char *variant, mt_error *err)
{
    mt_status st;
    mt_outcome outcome = {0};
    mt_subject subject = import->subject;
    mt_result result = {.subject = &subject, .variant = variant, .outcome = &outcome};
    char why[200];
    if (!mt_known_knobs_cover(&import->knobs, variant, why, sizeof why)) return mt_line_fail(&import->from, why, NULL, err);
    MT_TRY(check_first(import, variant, err));
    MT_TRY(mt_line_check_names(&import->from, line, err));
    MT_TRY(read_outcome(import, statement, &outcome, err));
    if (sqlite3_column_type(statement, COLUMN_CHAIN) != SQLITE_NULL) {
        MT_TRY(read_toolchain(import, statement, COLUMN_CHAIN + 1, "\"chain\"", &subject.toolchain, err));
    }
    result.launch_json = mt_sql_column_or_null(statement, COLUMN_LAUNCH);
    MT_TRY(mt_line_real(&import->from, statement, COLUMN_FLOPS, "\"flops\"", &result.model_flops, err));
    MT_TRY(mt_line_real(&import->from, statement, COLUMN_FLOPS + 1, "\"bytes\"", &result.model_dram_bytes, err));
    MT_TRY(mt_line_real(&import->from, statement, COLUMN_FLOPS + 2, "\"floor\"", &result.model_floor_ns, err));
    if (sqlite3_column_type(statement, COLUMN_EVALUATION) != SQLITE_NULL)
        MT_TRY(mt_line_integer(&import->from, statement, COLUMN_EVALUATION, "\"e\"", &result.evaluation, err));
    int64_t at = import->recorded_unix_ms;
    if (sqlite3_column_type(statement, COLUMN_AT) != SQLITE_NULL) MT_TRY(mt_line_date(&import->from, statement, COLUMN_AT, "\"at\"", &at, err));
    MT_TRY(mt_measurement_insert(import->from.store, import->session, at, &result, err));
    MT_TRY(read_library(import, statement, at, err));
    import->rows++;
    import->evaluated += mt_outcome_is_run(outcome.kind);
    import->failed += mt_outcome_is_failure(outcome.kind);
done:
    mt_outcome_free(&outcome);
    return st;
}

static mt_status read_row(import_state *import, const char *line, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    const char *variant = NULL;
    mt_store *store = import->from.store;
    char why[80];
    snprintf(why, sizeof why, "it is of the subject of line %lld, which is left out", (long long)import->bad_line);
    if (!import->header_line) return mt_line_fail(&import->from, why, NULL, err);
    st = mt_line_parse(&import->from, row_sql, line, &statement, err);
    if (st == MT_OK) st = read_variant(import, statement, &variant, err);
    if (st == MT_ERR_SYNTAX && (!statement || sqlite3_column_type(statement, 0) != SQLITE_INTEGER)) lose_line(import, line);
    if (st != MT_OK) goto done;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_tx_end(store, store_row(import, line, statement, variant, err), err);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* --- file --------------------------------------------------------------------------------------------------------------------------- */

static mt_status is_imported(mt_store *store, const mt_hash *hash, mt_origin origin, bool *imported, mt_error *err)
{
    return mt_sql_one(store, "SELECT 1 FROM session WHERE source_hash = ? AND origin = ?", "look for an earlier import", MT_IN(MT_TEXT(hash->hex), MT_TEXT(mt_origin_name(origin))),
                      MT_OUT(MT_TO_BOOL(imported)), err);
}

static mt_status begin_session(import_state *import, const mt_hash *hash, mt_error *err)
{
    mt_status st;
    mt_session_row row = {.command = "import", .tool_version = MT_VERSION, .strategy = "import", .space_path = import->from.path,
                          .origin = import->subject.origin};
    MT_TRY(mt_store_session_begin(import->from.store, &row, &import->session, err));
    if (import->first_left_out) mt_left_out_line(&import->left_out, import->first_left_out, import->why_first);
    import->left_out.count += import->unnamed;
    st = mt_sql_do(import->from.store, "UPDATE main.session SET source_hash = ? WHERE id = ?", "begin an import", MT_IN(MT_TEXT(hash->hex), MT_INT(import->session)), err);
done:
    return st;
}

/* The line that begins another subject, its members in any order. A row begins with "v". */
static bool is_header(const char *line)
{
    static const char start[] = "{\"format\":", row[] = "{\"v\":";
    if (strncmp(line, start, sizeof start - 1) == 0) return true;
    return strncmp(line, row, sizeof row - 1) != 0 && strstr(line, "\"msda-tune recording\"");
}

/* Of line 1, once the rows are there. One that is not sound, or whose rows were left out, is left out itself. */
static mt_status store_final(import_state *import, mt_error *err)
{
    const char *problem = NULL;
    mt_store *store = import->from.store;
    store->is_row_refused = false;
    mt_status st = mt_recording_read_final(store, import->session, &import->subject, import->recorded_unix_ms, mt_strbuf_text(&import->final), &problem, err);
    if (st == MT_ERR_DB && mt_store_refused_row(store)) {
        problem = reason_of(import, err);
        st = MT_OK;
    }
    if (problem) mt_left_out_line(&import->left_out, import->header_line, problem);
    return st;
}

/* What needs all rows of a subject. */
static mt_status end_subject(import_state *import, mt_error *err)
{
    if (!import->header_line) return MT_OK;
    mt_status st = import->final.length ? store_final(import, err) : MT_OK;
    return st == MT_OK ? mt_store_refresh_best(import->from.store, &import->subject, err) : st;
}

static mt_status begin_subject(import_state *import, const char *line, const mt_hash *hash, mt_error *err)
{
    mt_status st;
    mt_store *store = import->from.store;
    import->header_line = 0;
    import->bad_line = mt_lines_number(import->from.lines);
    MT_TRY(mt_tx_begin(store, err));
    st = mt_tx_end(store, read_header(import, line, err), err);
    if (st != MT_OK) mt_strbuf_clear(&import->kernel); /* a line 1 behind it that leaves the programs out means those of this one */
    if (st == MT_OK && !import->session) st = begin_session(import, hash, err);
    if (st == MT_OK) st = mt_sql_one(store, "SELECT max(id) FROM main.measurement", "read measurements", MT_NO_IN, MT_OUT(MT_TO_INT(&import->last_before)), err);
    if (st == MT_OK) import->header_line = import->bad_line;
done:
    return st;
}

/* Whether a failure is the line's own. Of a file that may be none of ours nothing is named until it shows a line 1. */
static bool is_left_out(import_state *import, mt_status st, const mt_error *err)
{
    int64_t line = mt_lines_number(import->from.lines);
    if (st != MT_ERR_SYNTAX && !(st == MT_ERR_DB && mt_store_refused_row(import->from.store))) return false;
    if (!import->first_left_out) {
        import->first_left_out = line;
        snprintf(import->why_first, sizeof import->why_first, "%s", reason_of(import, err));
        if (!import->session) return true;
    }
    if (import->session) mt_left_out_line(&import->left_out, line, reason_of(import, err));
    else import->unnamed++;
    return true;
}

static mt_status read_lines(import_state *import, const mt_hash *hash, mt_error *err)
{
    mt_status st;
    for (bool is_first = true;; is_first = false) {
        const char *line;
        st = mt_lines_next(import->from.lines, &line, err);
        if (!line) break;
        bool begins = is_first || is_header(line);
        import->from.store->is_row_refused = false;
        if (st != MT_OK) lose_line(import, line);
        else if (begins) MT_TRY(end_subject(import, err));
        if (st == MT_OK) st = begins ? begin_subject(import, line, hash, err) : read_row(import, line, err);
        if (st != MT_OK && !is_left_out(import, st, err)) goto done;
    }
    if (st == MT_OK) st = end_subject(import, err);
    if (mt_lines_are_cut(import->from.lines) && import->session) leave_out(import, "the compressed data end too early here: the file is cut short, and what stood behind this line is lost");
done:
    return st;
}

static mt_status read_file(import_state *import, const mt_hash *hash, mt_error *err)
{
    mt_status st;
    MT_TRY(read_lines(import, hash, err));
    if (!import->session && !import->first_left_out) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: is empty; expected " MT_RECORDING_FILES, import->from.path);
    if (!import->session) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: %s", import->from.path, (long long)import->first_left_out, import->why_first);
    mt_session_end_row end = {.state = "done", .evaluated = import->evaluated, .failed = import->failed};
    st = mt_store_session_end(import->from.store, import->session, &end, err);
done:
    return st;
}

mt_status mt_recording_import_bytes(mt_store *store, const void *bytes, size_t length, const char *name, mt_origin origin, int64_t *left_out, mt_error *err)
{
    mt_status st;
    bool imported = false;
    import_state import = {.from = {.store = store, .path = name}, .subject = {.origin = origin}, .left_out = {.path = name}};
    mt_hash hash = mt_hash_bytes(bytes, length);
    MT_TRY(mt_lines_open(bytes, length, name, &import.from.lines, err));
    MT_TRY(mt_tx_begin(store, err));
    st = is_imported(store, &hash, origin, &imported, err);
    if (st == MT_OK && !imported) st = read_file(&import, &hash, err);
    st = mt_tx_end(store, st, err);
done:
    mt_left_out_end(&import.left_out);
    if (left_out) *left_out = import.left_out.count;
    mt_lines_close(import.from.lines);
    mt_texts_free(&import.told);
    mt_known_knobs_free(&import.knobs);
    mt_strbuf_free(&import.kernel);
    mt_strbuf_free(&import.final);
    return st;
}

mt_status mt_recording_find_mixed(mt_store *store, const void *bytes, size_t length, mt_recording_mixed *mixed, mt_error *err)
{
    const mt_hash hash = mt_hash_bytes(bytes, length);
    *mixed = (mt_recording_mixed){0};
    return mt_sql_one(store, "SELECT s.space_path, count(*) FROM current_result c JOIN measurement m ON m.id = c.newest_id JOIN session s ON s.id = m.session_id "
                             "WHERE s.command = 'import' AND s.source_hash <> ?1 AND c.subject_id IN (SELECT m.subject_id FROM measurement m JOIN session s ON s.id = m.session_id WHERE s.source_hash = ?1) "
                             "GROUP BY s.id ORDER BY s.id DESC LIMIT 1", "look for other imports", MT_IN(MT_TEXT(hash.hex)), MT_OUT(MT_TO_TEXT(&mixed->name), MT_TO_INT(&mixed->count)), err);
}

#define KNOB_NAMES(rows) "(SELECT ifnull(group_concat(name, ', '), '') FROM (SELECT json_extract(p.value, '$.name') AS name FROM " rows " ORDER BY name))"

mt_status mt_recording_compare_knobs(mt_store *store, const char *text, char **told, char **known, mt_error *err)
{
    static const char sql[] = "SELECT " KNOB_NAMES("json_each(?1, '$.kernel.spec.params') p") ", "
        KNOB_NAMES("kernel k, json_each(k.spec_json, '$.params') p WHERE k.name = json_extract(?1, '$.kernel.name') AND k.key = json_extract(?1, '$.kernel.key')");
    char *line = mt_strndup(text, strcspn(text, "\n"));
    if (!line) return mt_no_memory("recording", err);
    mt_status st = mt_sql_one(store, sql, "compare knobs", MT_IN(MT_TEXT(line)), MT_OUT(MT_TO_TEXT(told), MT_TO_TEXT(known)), err);
    mt_free(line);
    return st;
}
