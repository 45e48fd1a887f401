/* Reading recordings. SQLite's JSON functions parse the lines, in statements of the store's own handle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/row_json.h"
#include "db/store/known_knobs.h"
#include "db/store/measurement.h"
#include "db/store/old_outcome.h"
#include "db/store/spec_programs.h"
#include "db/exchange/recording.h"
#include "db/exchange/recording_internal.h"
#include "db/exchange/recording_io.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

#define EXPECTED_FILES "a recording of msda-tune (JSON lines), a Kernel Tuner cache or a T4 file"

typedef struct import_state {
    mt_store *store;
    const char *path;
    mt_lines *lines;
    mt_subject subject;
    int64_t session, recorded_unix_ms;
    int64_t rows, failed;
    mt_left_out left_out;
    int64_t header_line;       /* line 1 of the subject at hand */
    bool has_row;              /* of the subject at hand */
    int64_t version;           /* of the format */
    mt_known_knobs knobs;            /* of the kernel at hand */
    mt_recording_answers told; /* NUMBERED: the kernel's variants in the order of their first rows */
    mt_strbuf last_variant;
    mt_strbuf kernel;          /* "NAME@KEY" of the line 1 before */
    mt_strbuf final;           /* of the subject at hand, stored behind its rows; "" = none */
} import_state;

static mt_status fail_line(const import_state *import, const char *what, const char *name, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: %s%s%s", import->path, (long long)mt_lines_number(import->lines), what, name ? " " : "",
                   name ? name : "");
}

/* A text of at least min_length bytes without NULs. */
static mt_status get_text(const import_state *import, sqlite3_stmt *statement, int column, const char *name, size_t min_length, const char **text,
                          mt_error *err)
{
    *text = mt_sql_column(statement, column);
    size_t length = strlen(*text);
    if (sqlite3_column_type(statement, column) == SQLITE_TEXT && length >= min_length &&
        length == (size_t)sqlite3_column_bytes(statement, column)) {
        return MT_OK;
    }
    return fail_line(import, "expected a text in", name, err);
}

static mt_status get_integer(const import_state *import, sqlite3_stmt *statement, int column, const char *name, int64_t *value, mt_error *err)
{
    *value = sqlite3_column_int64(statement, column);
    if (sqlite3_column_type(statement, column) == SQLITE_INTEGER && *value >= 0) return MT_OK;
    return fail_line(import, "expected a whole number, zero or more, in", name, err);
}

static mt_status get_date(const import_state *import, sqlite3_stmt *statement, int column, const char *name, int64_t *unix_ms, mt_error *err)
{
    mt_status st = get_integer(import, statement, column, name, unix_ms, err);
    return st == MT_OK && *unix_ms >= MT_ROW_DATE_LIMIT ? fail_line(import, "expected a time before the year 2100 in", name, err) : st;
}

/* The two columns of a JSON_MEMBER. NULL: there is none. */
static mt_status get_object(const import_state *import, sqlite3_stmt *statement, int column, const char *name, const char **json, mt_error *err)
{
    const char *type = mt_sql_column_or_null(statement, column);
    *json = type ? mt_sql_column(statement, column + 1) : NULL;
    return type && strcmp(type, "object") != 0 ? fail_line(import, "expected an object in", name, err) : MT_OK;
}

/* \u0000, which some versions of SQLite take for the text's end. */
static bool has_nul_escape(const char *line)
{
    for (const char *at = strchr(line, '\\'); at; at = strchr(at, '\\')) {
        if (strncmp(at, "\\u0000", 6) == 0) return true;
        at += at[1] ? 2 : 1;
    }
    return false;
}

/* Files that were copied in part end in the middle of a line. */
static const char *not_an_object(const char *line)
{
    size_t length = strlen(line);
    if (line[0] != '{') return "is not a JSON object; expected " EXPECTED_FILES;
    return line[length - 1] == '}' ? "is not a JSON object, or a damaged one" : "begins a JSON object that does not end: is the file cut short?";
}

/* Of two members of one name SQLite takes either, by its version. */
static mt_status check_names(const import_state *import, const char *line, mt_error *err)
{
    size_t length;
    const char *twice = mt_json_repeated(line, strlen(line), &length);
    if (!twice) return MT_OK;
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: \"%.*s\" is there twice in an object", import->path, (long long)mt_lines_number(import->lines), (int)(length < 60 ? length : 60), twice);
}

/* The row of a SELECT that takes the line apart; ?1 is the line. */
static mt_status parse_line(const import_state *import, const char *literal, const char *line, sqlite3_stmt **statement, mt_error *err)
{
    mt_status st;
    bool row;
    MT_TRY(mt_sql_cached_get(import->store, "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'object' END", statement, err));
    mt_sql_args check = mt_sql_args_of(*statement);
    mt_sql_text(&check, line);
    int64_t is_object;
    MT_TRY(mt_sql_value(import->store, &check, 0, &is_object, "parse a line", err));
    if (!is_object || has_nul_escape(line)) {
        st = fail_line(import, is_object ? "holds a NUL character" : not_an_object(line), NULL, err);
        goto done;
    }
    MT_TRY(mt_sql_cached_get(import->store, literal, statement, err));
    mt_sql_args args = mt_sql_args_of(*statement);
    mt_sql_text(&args, line);
    MT_TRY(mt_sql_row(import->store, &args, &row, "parse a line", err));
done:
    return st;
}

/* --- line 1 ------------------------------------------------------------------------------------------------------------------------- */

#define JSON(path) "json_extract(?1, '$." path "'), "
#define JSON_OBJECT(path) "CASE json_type(?1, '$." path "') WHEN 'object' THEN json_extract(?1, '$." path "') END, "
#define JSON_MEMBER(path) "json_type(?1, '$." path "'), " JSON(path) /* for get_object */

static const char header_sql[] =
    "SELECT " JSON("format") JSON("version") JSON("gpu.key") JSON("gpu.name") JSON_OBJECT("gpu.facts") JSON("kernel.name") JSON("kernel.key")
    JSON_OBJECT("kernel.spec") JSON("shape.name") JSON("shape.key") JSON("workload.name") JSON("workload.key") JSON("regime")
    JSON("toolchain.nvrtc") JSON("toolchain.driver") JSON("toolchain.arch") JSON("recorded_unix_ms") JSON("default") JSON("baseline") JSON_MEMBER("final") "0";

static mt_status check_format(import_state *import, sqlite3_stmt *statement, mt_error *err)
{
    if (strcmp(mt_sql_column(statement, 0), "msda-tune recording") != 0) {
        return fail_line(import, "is not an msda-tune recording; expected " EXPECTED_FILES, NULL, err);
    }
    mt_status st = get_integer(import, statement, 1, "\"version\"", &import->version, err);
    if (st != MT_OK || import->version == MT_RECORDING_PLAIN || import->version == MT_RECORDING_NUMBERED) return st;
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: has format version %lld, this msda-tune reads versions 1 and 2", import->path, (long long)import->version);
}

/* A line 1 may leave out the programs of the kernel that the one before it was of. Where they stand variants are numbered anew, so that files may be concatenated. */
static mt_status read_programs(import_state *import, sqlite3_stmt *statement, mt_kernel_row *kernel, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf name = {0};
    mt_strbuf_addf(&name, "%s@%s", kernel->name, kernel->key);
    bool is_same = strcmp(mt_strbuf_text(&name), mt_strbuf_text(&import->kernel)) == 0;
    kernel->spec_json = "{}"; /* not known: replaces nothing */
    if (sqlite3_column_type(statement, 7) != SQLITE_NULL) mt_recording_answers_free(&import->told);
    if (!is_same || sqlite3_column_type(statement, 7) != SQLITE_NULL) st = get_text(import, statement, 7, "\"kernel.spec\"", 1, &kernel->spec_json, err);
    mt_strbuf_clear(&import->kernel);
    mt_strbuf_add(&import->kernel, mt_strbuf_text(&name));
    mt_strbuf_free(&name);
    return st == MT_OK && import->kernel.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path) : st;
}

/* Expressions that nobody can read are left out: the rows are the kernel's all the same. */
static mt_status check_programs(import_state *import, mt_kernel_row *kernel, mt_error *err)
{
    char why[300];
    bool are_sound;
    mt_status st = mt_spec_programs_check(import->store, kernel->spec_json, &are_sound, why, sizeof why, err);
    if (st != MT_OK || are_sound) return st;
    kernel->spec_json = "{}";
    mt_left_out_line(&import->left_out, mt_lines_number(import->lines), why);
    return MT_OK;
}

/* What an error says behind the file's name and line, or the database's. */
static const char *reason_of(const import_state *import, const mt_error *err)
{
    const char *path = mt_store_path(import->store), *message = err->message;
    size_t own = strlen(path), file = strlen(import->path);
    if (strncmp(message, import->path, file) == 0 && message[file] == ':') message += file + 1 + strcspn(message + file + 1, " ");
    else if (strncmp(message, path, own) == 0 && message[own] == ':') message += own + 1;
    return message + strspn(message, " ");
}

static mt_status read_subject(import_state *import, sqlite3_stmt *statement, mt_error *err)
{
    mt_status st;
    mt_store *store = import->store;
    mt_device_row device;
    mt_kernel_row kernel = {.keeps_spec = true};
    mt_shape_row shape, workload;
    const char *l2;
    MT_TRY(get_text(import, statement, 2, "\"gpu.key\"", 1, &device.key, err));
    MT_TRY(get_text(import, statement, 3, "\"gpu.name\"", 0, &device.name, err));
    MT_TRY(get_text(import, statement, 4, "\"gpu.facts\"", 1, &device.facts_json, err));
    MT_TRY(get_text(import, statement, 5, "\"kernel.name\"", 1, &kernel.name, err));
    MT_TRY(get_text(import, statement, 6, "\"kernel.key\"", 1, &kernel.key, err));
    MT_TRY(read_programs(import, statement, &kernel, err));
    MT_TRY(check_programs(import, &kernel, err));
    MT_TRY(get_text(import, statement, 8, "\"shape.name\"", 0, &shape.name, err));
    MT_TRY(get_text(import, statement, 9, "\"shape.key\"", 0, &shape.key, err));
    MT_TRY(get_text(import, statement, 10, "\"workload.name\"", 0, &workload.name, err));
    MT_TRY(get_text(import, statement, 11, "\"workload.key\"", 0, &workload.key, err));
    MT_TRY(get_text(import, statement, 12, "\"regime\"", 1, &l2, err));
    if (!mt_l2_from_name(l2, &import->subject.l2)) {
        st = fail_line(import, "\"regime\" is neither \"cold\" nor \"warm\"", NULL, err);
        goto done;
    }
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
    MT_TRY(get_integer(import, statement, first, name, &row.nvrtc_version, err));
    MT_TRY(get_integer(import, statement, first + 1, name, &row.driver_version, err));
    MT_TRY(get_text(import, statement, first + 2, name, 0, &row.arch, err));
    st = mt_store_toolchain(import->store, &row, id, err);
done:
    return st;
}

/* Variants that the others are compared with; older recordings do not name them. One that is no variant is left out. */
static mt_status read_comparison_point(import_state *import, sqlite3_stmt *statement, int column, const char *role, mt_error *err)
{
    const char *variant;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return MT_OK;
    mt_status st = get_text(import, statement, column, role, 0, &variant, err);
    if (st != MT_OK) return st;
    char why[200] = "", reason[240];
    import->store->is_row_refused = false;
    if (mt_known_knobs_cover(&import->knobs, variant, why, sizeof why)) st = mt_store_comparison_point(import->store, &import->subject, role, variant, err);
    if (!*why && !(st == MT_ERR_DB && mt_store_refused_row(import->store))) return st;
    snprintf(reason, sizeof reason, "\"%s\": %s", role, *why ? why : reason_of(import, err));
    mt_left_out_line(&import->left_out, mt_lines_number(import->lines), reason);
    return MT_OK;
}

static mt_status read_header(import_state *import, const char *line, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    import->has_row = false;
    import->header_line = mt_lines_number(import->lines);
    MT_TRY(parse_line(import, header_sql, line, &statement, err));
    MT_TRY(check_format(import, statement, err));
    MT_TRY(check_names(import, line, err));
    MT_TRY(read_subject(import, statement, err));
    MT_TRY(read_toolchain(import, statement, 13, "\"toolchain\"", &import->subject.toolchain, err));
    MT_TRY(get_date(import, statement, 16, "\"recorded_unix_ms\"", &import->recorded_unix_ms, err));
    MT_TRY(read_comparison_point(import, statement, 17, "default", err));
    MT_TRY(read_comparison_point(import, statement, 18, "baseline", err));
    const char *final;
    MT_TRY(get_object(import, statement, 19, "\"final\"", &final, err));
    mt_strbuf_clear(&import->final);
    mt_strbuf_add(&import->final, final ? final : "");
    if (import->final.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path);
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
    "ifnull(json_type(?1, '$.library'), json_type(?1, '$.rival')), ifnull(json_extract(?1, '$.library'), json_extract(?1, '$.rival')), 0"; /* 'rival': of older tools */
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
    if (count == 0 || count > strlen(json)) return fail_line(import, "\"s\" does not hold \"n\" samples of 0 to 1e16 ns", NULL, err);
    outcome->sample_ns = mt_alloc(count, sizeof *outcome->sample_ns);
    if (!outcome->sample_ns) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path);
    if (parse_samples(json, outcome->sample_ns, count)) return MT_OK;
    return fail_line(import, "\"s\" does not hold \"n\" samples of 0 to 1e16 ns", NULL, err);
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
    mt_status st = get_text(import, statement, 1, "\"k\"", 1, &kind, err);
    if (st != MT_OK) return st;
    outcome->text = mt_strdup(text);
    if (text && !outcome->text) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path);
    if (strcmp(kind, "pruned") == 0) return mt_old_outcome_read(import->store, outcome, err);
    return mt_outcome_from_name(kind, &outcome->kind) ? MT_OK : fail_line(import, "\"k\" is an unknown outcome:", kind, err);
}

static mt_status read_outcome(const import_state *import, sqlite3_stmt *statement, mt_outcome *outcome, mt_error *err)
{
    const char *bad;
    mt_status st = read_kind(import, statement, outcome, err);
    if (st != MT_OK) return st;
    if (sqlite3_column_type(statement, COLUMN_BOOLEAN) != SQLITE_NULL)
        return fail_line(import, "expected a number, found true or false, in", mt_sql_column(statement, COLUMN_BOOLEAN), err);
    if (!mt_outcome_read(statement, COLUMN_OUTCOME, outcome, &bad)) return fail_line(import, "impossible value of", bad, err);
    outcome->timing.l2 = import->subject.l2;
    complete_interval(&outcome->timing);
    return read_samples(import, statement, outcome, err);
}

static double real_or_nan(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(statement, column) : NAN;
}

/* Sorted, each once: that makes equal data equal files, and a variant given twice an error. */
static mt_status check_order(import_state *import, const char *variant, mt_error *err)
{
    if (import->has_row && strcmp(mt_strbuf_text(&import->last_variant), variant) >= 0) {
        return fail_line(import, "variants must be sorted and each given once:", variant, err);
    }
    import->has_row = true;
    mt_strbuf_clear(&import->last_variant);
    mt_strbuf_add(&import->last_variant, variant);
    return import->last_variant.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path) : MT_OK;
}

static mt_status read_library(const import_state *import, sqlite3_stmt *statement, int64_t at_unix_ms, mt_error *err)
{
    const char *problem = NULL, *json;
    mt_status st = get_object(import, statement, COLUMN_LIBRARY, "\"library\"", &json, err);
    if (st == MT_OK && json) st = mt_recording_read_library(import->store, sqlite3_last_insert_rowid(import->store->db), at_unix_ms, json, &problem, err);
    return problem ? fail_line(import, problem, NULL, err) : st;
}

/* *variant stays the statement's, or this state's. */
static mt_status read_variant(import_state *import, sqlite3_stmt *statement, const char **variant, mt_error *err)
{
    int64_t number;
    if (import->version == MT_RECORDING_NUMBERED && sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
        mt_status st = get_integer(import, statement, 0, "\"v\"", &number, err);
        if (st == MT_OK && number >= (int64_t)import->told.count) st = fail_line(import, "no variant has this number yet:", mt_sql_column(statement, 0), err);
        if (st == MT_OK) *variant = import->told.variants[number];
        return st;
    }
    mt_status st = get_text(import, statement, 0, "\"v\"", 0, variant, err);
    if (st != MT_OK || import->version != MT_RECORDING_NUMBERED || mt_recording_answers_add(&import->told, *variant)) return st;
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", import->path);
}

/* All of a row but its variant. What is wrong with it is a SYNTAX error, or a row that the store refuses. */
static mt_status store_row(import_state *import, const char *line, sqlite3_stmt *statement, const char *variant, mt_error *err)
{
    mt_status st;
    mt_outcome outcome = {0};
    mt_subject subject = import->subject;
    mt_result result = {.subject = &subject, .variant = variant, .outcome = &outcome};
    char why[200];
    if (!mt_known_knobs_cover(&import->knobs, variant, why, sizeof why)) return fail_line(import, why, NULL, err);
    MT_TRY(check_names(import, line, err));
    MT_TRY(read_outcome(import, statement, &outcome, err));
    if (sqlite3_column_type(statement, COLUMN_CHAIN) != SQLITE_NULL) {
        MT_TRY(read_toolchain(import, statement, COLUMN_CHAIN + 1, "\"chain\"", &subject.toolchain, err));
    }
    result.launch_json = mt_sql_column_or_null(statement, COLUMN_LAUNCH);
    result.model_flops = real_or_nan(statement, COLUMN_FLOPS);
    result.model_dram_bytes = real_or_nan(statement, COLUMN_FLOPS + 1);
    result.model_floor_ns = real_or_nan(statement, COLUMN_FLOPS + 2);
    if (sqlite3_column_type(statement, COLUMN_EVALUATION) != SQLITE_NULL)
        MT_TRY(get_integer(import, statement, COLUMN_EVALUATION, "\"e\"", &result.evaluation, err));
    int64_t at = import->recorded_unix_ms;
    if (sqlite3_column_type(statement, COLUMN_AT) != SQLITE_NULL) MT_TRY(get_date(import, statement, COLUMN_AT, "\"at\"", &at, err));
    MT_TRY(mt_measurement_insert(import->store, import->session, at, &result, err));
    MT_TRY(read_library(import, statement, at, err));
    import->rows++;
    import->failed += outcome.kind != MT_OUTCOME_OK;
done:
    mt_outcome_free(&outcome);
    return st;
}

/* A line that is no object, or out of order, is a damaged file's, and an error. A row that holds what no tuner writes is left out and named. */
static mt_status read_row(import_state *import, const char *line, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    const char *variant;
    mt_store *store = import->store;
    MT_TRY(parse_line(import, row_sql, line, &statement, err));
    MT_TRY(read_variant(import, statement, &variant, err));
    MT_TRY(check_order(import, variant, err));
    MT_TRY(mt_tx_begin(store, err));
    store->is_row_refused = false;
    st = mt_tx_end(store, store_row(import, line, statement, variant, err), err);
    if (st != MT_ERR_SYNTAX && !(st == MT_ERR_DB && mt_store_refused_row(store))) goto done;
    mt_left_out_line(&import->left_out, mt_lines_number(import->lines), reason_of(import, err));
    st = MT_OK;
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
    mt_session_row row = {.command = "import", .tool_version = MT_VERSION, .strategy = "import", .space_path = import->path,
                          .origin = import->subject.origin};
    MT_TRY(mt_store_session_begin(import->store, &row, &import->session, err));
    st = mt_sql_do(import->store, "UPDATE main.session SET source_hash = ? WHERE id = ?", "begin an import", MT_IN(MT_TEXT(hash->hex), MT_INT(import->session)), err);
done:
    return st;
}

/* The line that begins another subject. A row begins with "v". */
static bool is_header(const char *line)
{
    static const char start[] = "{\"format\":";
    return strncmp(line, start, sizeof start - 1) == 0;
}

/* Of line 1, once the rows are there. One that is not sound, or whose rows were left out, is left out itself. */
static mt_status store_final(import_state *import, mt_error *err)
{
    const char *problem = NULL;
    mt_store *store = import->store;
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
    mt_status st = import->final.length ? store_final(import, err) : MT_OK;
    return st == MT_OK ? mt_store_refresh_best(import->store, &import->subject, err) : st;
}

static mt_status read_lines(import_state *import, mt_error *err)
{
    mt_status st;
    for (;;) {
        const char *line;
        MT_TRY(mt_lines_next(import->lines, &line, err));
        if (!line) break;
        if (!is_header(line)) {
            MT_TRY(read_row(import, line, err));
            continue;
        }
        MT_TRY(end_subject(import, err));
        MT_TRY(read_header(import, line, err));
    }
    st = end_subject(import, err);
done:
    return st;
}

static mt_status read_file(import_state *import, const mt_hash *hash, mt_error *err)
{
    mt_status st;
    const char *line;
    MT_TRY(mt_lines_next(import->lines, &line, err));
    if (!line) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: is empty; expected " EXPECTED_FILES, import->path);
    MT_TRY(read_header(import, line, err));
    MT_TRY(begin_session(import, hash, err));
    MT_TRY(read_lines(import, err));
    mt_session_end_row end = {.state = "done", .evaluated = import->rows, .failed = import->failed};
    st = mt_store_session_end(import->store, import->session, &end, err);
done:
    return st;
}

mt_status mt_recording_import_bytes(mt_store *store, const void *bytes, size_t length, const char *name, mt_origin origin, mt_error *err)
{
    mt_status st;
    bool imported = false;
    import_state import = {.store = store, .path = name, .subject = {.origin = origin}, .left_out = {.path = name}};
    mt_hash hash = mt_hash_bytes(bytes, length);
    MT_TRY(mt_lines_open(bytes, length, name, &import.lines, err));
    MT_TRY(mt_tx_begin(store, err));
    st = is_imported(store, &hash, origin, &imported, err);
    if (st == MT_OK && !imported) st = read_file(&import, &hash, err);
    st = mt_tx_end(store, st, err);
done:
    mt_left_out_end(&import.left_out);
    mt_lines_close(import.lines);
    mt_recording_answers_free(&import.told);
    mt_known_knobs_free(&import.knobs);
    mt_strbuf_free(&import.last_variant);
    mt_strbuf_free(&import.kernel);
    mt_strbuf_free(&import.final);
    return st;
}
