/* Writing recordings. */
#include "db/exchange/recording/recording.h"

#include <string.h>

#include "db/exchange/gzip.h"
#include "db/exchange/recording/recording_internal.h"
#include "db/exchange/recording/recording_io.h"
#include "db/exchange/said.h"
#include "db/store/current.h"
#include "db/store/measurement.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"

/* --- which subject ------------------------------------------------------------------------------------------------------------------ */

enum { LISTED_SUBJECTS = 10 };

typedef struct subject_choice {
    int64_t id;
    int count;
    mt_strbuf list;
} subject_choice;

static mt_status choose(void *context, const mt_subject_info *info, mt_error *err)
{
    (void)err;
    subject_choice *choice = context;
    choice->id = info->id;
    if (choice->count++ < LISTED_SUBJECTS) {
        mt_strbuf_addf(&choice->list, "\n  %s, %s (%.8s), shape %s, workload %s, %s, %s: %lld row%s", info->gpu_key, info->kernel, info->kernel_key,
                       info->shape, info->workload, info->l2, info->origin, (long long)info->measurements, info->measurements == 1 ? "" : "s");
    }
    return MT_OK;
}

static mt_status find_subject(mt_store *store, const mt_filter *filter, int64_t *id, mt_error *err)
{
    subject_choice choice = {0};
    mt_status st;
    MT_TRY(mt_query_subjects(store, filter, choose, &choice, err));
    *id = choice.id;
    if (choice.count == 1) goto done;
    if (choice.count) {
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: a recording holds one subject, this choice leaves %d:%s%s", store->path, choice.count,
                     mt_strbuf_text(&choice.list), choice.count > LISTED_SUBJECTS ? "\n  …" : "");
        goto done;
    }
    MT_TRY(mt_query_subjects(store, NULL, choose, &choice, err));
    st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: nothing matches this choice; there is:%s", store->path,
                 choice.count ? mt_strbuf_text(&choice.list) : " nothing");
done:
    mt_strbuf_free(&choice.list);
    return st;
}

static mt_status note_subject(void *context, const mt_subject_info *info, mt_error *err)
{
    mt_subject_list *list = context;
    int64_t *added = MT_APPEND(list->ids, list->count, list->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "export: out of memory");
    *added = info->id;
    return MT_OK;
}

mt_status mt_recording_subjects(mt_store *store, const mt_filter *filter, mt_subject_list *list, mt_error *err)
{
    int64_t ignored;
    mt_status st = mt_query_subjects(store, filter, note_subject, list, err);
    if (st == MT_OK && list->count == 0) st = find_subject(store, filter, &ignored, err); /* for its message */
    return st;
}

/* --- line 1 ------------------------------------------------------------------------------------------------------------------------- */

typedef struct export_state {
    mt_store *store;
    mt_strbuf text;
    mt_recording_context line1;
    bool answers_only;
    mt_recording_answers answers;
    mt_texts told; /* the kernel's variants in the order of their first rows */
    int64_t kernel;      /* of the subject before; 0 = none */
} export_state;

/* Toolchain and time are those of the newest row that is written, of what is shipped the winner's; rows made with another one say so themselves. */
static const char header_sql[] =
    "SELECT d.key, d.name, CASE WHEN json_valid(d.facts_json) THEN json(d.facts_json) END, k.name, k.key, "
    "CASE WHEN json_valid(k.spec_json) THEN json(k.spec_json) END, h.name, h.key, w.name, w.key, s.regime, "
    "t.nvrtc_version, t.driver_version, t.arch, m.created_unix_ms, "
    "(SELECT v.text FROM landmark l JOIN variant v ON v.id = l.variant_id WHERE l.subject_id = s.id AND l.role = 'default'), "
    "(SELECT v.text FROM landmark l JOIN variant v ON v.id = l.variant_id WHERE l.subject_id = s.id AND l.role = 'baseline'), "
    "(SELECT l.max_error FROM error_limit l WHERE l.subject_id = s.id) FROM subject s JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id JOIN shape h ON h.id = s.shape_id "
    "JOIN workload w ON w.id = s.workload_id JOIN measurement m ON m.id = CASE WHEN ?2 THEN (SELECT measurement_id FROM best WHERE subject_id = s.id) "
    "ELSE (SELECT m.id FROM current_result c " MT_JOIN_CURRENT(MT_TELLING) "WHERE c.subject_id = s.id ORDER BY m.created_unix_ms DESC, m.id DESC LIMIT 1) END "
    "JOIN toolchain t ON t.id = m.toolchain_id WHERE s.id = ?1";

static void add_text(mt_strbuf *json, const char *before, sqlite3_stmt *statement, int column)
{
    mt_strbuf_add(json, before);
    mt_strbuf_add_json(json, mt_sql_column(statement, column));
}

/* Expressions that nobody can read are not handed on: who imports them leaves them out, too. */
static mt_status find_spec(const mt_store *store, sqlite3_stmt *statement, const char **spec, mt_error *err)
{
    char why[300];
    bool are_sound;
    *spec = mt_sql_column(statement, 5);
    mt_status st = mt_said_check_spec(*spec, &are_sound, why, sizeof why, err);
    if (st != MT_OK || are_sound) return st;
    mt_log_warn("%s: the expressions of kernel %s are left out: %s", store->path, mt_sql_column(statement, 3), why);
    *spec = "{}";
    return MT_OK;
}

/* spec: NULL = the line before has it. */
static void add_header(mt_strbuf *json, sqlite3_stmt *statement, const char *spec, mt_recording_header wishes)
{
    mt_strbuf_addf(json, "{\"format\":\"msda-tune recording\",\"version\":%d", wishes.is_of_winner ? MT_RECORDING_NUMBERED : MT_RECORDING_PLAIN);
    add_text(json, ",\"gpu\":{\"key\":", statement, 0);
    add_text(json, ",\"name\":", statement, 1);
    mt_strbuf_add(json, ",\"facts\":");
    mt_strbuf_add_json_value(json, mt_sql_column(statement, 2));
    mt_strbuf_add_char(json, '}');
    add_text(json, ",\"kernel\":{\"name\":", statement, 3);
    add_text(json, ",\"key\":", statement, 4);
    if (spec) {
        mt_strbuf_add(json, ",\"spec\":");
        mt_strbuf_add_json_value(json, spec);
    }
    mt_strbuf_add_char(json, '}');
    add_text(json, ",\"shape\":{\"name\":", statement, 6);
    add_text(json, ",\"key\":", statement, 7);
    add_text(json, "},\"workload\":{\"name\":", statement, 8);
    add_text(json, ",\"key\":", statement, 9);
    add_text(json, "},\"regime\":", statement, 10);
    mt_strbuf_addf(json, ",\"toolchain\":{\"nvrtc\":%lld,\"driver\":%lld", (long long)sqlite3_column_int64(statement, 11),
                   (long long)sqlite3_column_int64(statement, 12));
    add_text(json, ",\"arch\":", statement, 13);
    mt_strbuf_addf(json, "},\"recorded_unix_ms\":%lld", (long long)sqlite3_column_int64(statement, 14));
    if (mt_sql_column_or_null(statement, 15)) add_text(json, ",\"default\":", statement, 15);
    if (mt_sql_column_or_null(statement, 16)) add_text(json, ",\"baseline\":", statement, 16);
    if (mt_sql_column_or_null(statement, 17)) mt_strbuf_addf(json, ",\"max_error\":%.17g", sqlite3_column_double(statement, 17));
}

mt_status mt_recording_add_header(mt_store *store, int64_t subject, mt_recording_header wishes, mt_recording_context *line1, mt_strbuf *json, mt_error *err)
{
    mt_status st;
    bool row;
    const char *spec = NULL;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, header_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, subject);
    mt_sql_int(&args, wishes.is_of_winner);
    MT_TRY(mt_sql_row(store, &args, &row, "read a subject", err));
    if (!row || !mt_sql_column_or_null(statement, 2) || !mt_sql_column_or_null(statement, 5)) {
        st = MT_FAIL(err, MT_ERR_DB, "%s: the GPU's facts or the kernel's programs are not JSON", store->path);
        goto done;
    }
    if (!wishes.has_no_spec) MT_TRY(find_spec(store, statement, &spec, err));
    add_header(json, statement, spec, wishes);
    MT_TRY(mt_recording_add_final(store, subject, json, err));
    mt_strbuf_add_char(json, '}');
    *line1 = (mt_recording_context){.store = store, .nvrtc_version = sqlite3_column_int64(statement, 11), .driver_version = sqlite3_column_int64(statement, 12),
                                    .recorded_unix_ms = sqlite3_column_int64(statement, 14)};
    strncpy(line1->arch, mt_sql_column(statement, 13), sizeof line1->arch - 1);
done:
    sqlite3_finalize(statement);
    return st;
}

/* --- rows --------------------------------------------------------------------------------------------------------------------------- */

/* JSON without white space (a line must stay a line); what is no object or array goes as a string. */
static mt_status add_launch(mt_store *store, mt_strbuf *json, const char *launch_json, mt_error *err)
{
    static const char sql[] = "SELECT CASE WHEN json_valid(?1) THEN CASE WHEN json_type(?1) IN ('array', 'object') THEN json(?1) END END";
    char *minified;
    if (!launch_json) return MT_OK;
    mt_status st = mt_sql_one(store, sql, "minify a launch", MT_IN(MT_TEXT(launch_json)), MT_OUT(MT_TO_TEXT(&minified)), err);
    if (st != MT_OK) return st;
    mt_strbuf_add(json, ",\"launch\":");
    if (minified) mt_strbuf_add_json_value(json, minified);
    else mt_strbuf_add_json(json, launch_json);
    mt_free(minified);
    return MT_OK;
}

static void add_real(mt_strbuf *json, const char *before, double value)
{
    if (value != value) return;
    mt_strbuf_add(json, before);
    mt_json_number(json, value, 15);
}

static void add_samples(mt_strbuf *json, const mt_outcome *outcome)
{
    if (!outcome->sample_ns) return;
    mt_strbuf_add(json, ",\"s\":[");
    for (uint32_t i = 0; i < outcome->timing.samples; i++) {
        if (i) mt_strbuf_add_char(json, ',');
        mt_json_number(json, (double)outcome->sample_ns[i], 9); /* exact for a float */
    }
    mt_strbuf_add_char(json, ']');
}

mt_status mt_recording_add_members(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err)
{
    mt_strbuf_add(json, "\"k\":");
    mt_strbuf_add_json(json, mt_outcome_name(row->outcome.kind));
    if (row->outcome.text) {
        mt_strbuf_add(json, ",\"t\":");
        mt_strbuf_add_json(json, row->outcome.text);
    }
    mt_outcome_add_json(json, &row->outcome);
    mt_status st = add_launch(line1->store, json, row->launch_json, err);
    if (st != MT_OK) return st;
    add_real(json, ",\"flops\":", row->model_flops);
    add_real(json, ",\"bytes\":", row->model_dram_bytes);
    add_real(json, ",\"floor\":", row->model_floor_ns);
    mt_strbuf_addf(json, ",\"e\":%lld", (long long)row->evaluation);
    if (row->created_unix_ms != line1->recorded_unix_ms) mt_strbuf_addf(json, ",\"at\":%lld", (long long)row->created_unix_ms);
    if (row->nvrtc_version != line1->nvrtc_version || row->driver_version != line1->driver_version || strcmp(row->arch, line1->arch) != 0) {
        mt_strbuf_addf(json, ",\"chain\":{\"nvrtc\":%lld,\"driver\":%lld,\"arch\":", (long long)row->nvrtc_version, (long long)row->driver_version);
        mt_strbuf_add_json(json, row->arch);
        mt_strbuf_add_char(json, '}');
    }
    return MT_OK;
}

/* `number`: of the variant's first row among those of new variants; -1 = this is the first. */
static mt_status add_row(const mt_recording_context *line1, const mt_measurement_row *row, int64_t number, mt_strbuf *json, mt_error *err)
{
    mt_strbuf_add(json, "{\"v\":");
    if (number < 0) mt_strbuf_add_json(json, row->variant);
    else mt_strbuf_addf(json, "%lld", (long long)number);
    mt_strbuf_add_char(json, ',');
    mt_status st = mt_recording_add_members(line1, row, json, err);
    mt_recording_add_library(row, json);
    add_samples(json, &row->outcome);
    mt_strbuf_add(json, "}\n");
    return st;
}

mt_status mt_recording_add_row(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err)
{
    return add_row(line1, row, -1, json, err);
}

/* Variants that answer for one shape are measured on the others: their texts would be half of the file. */
static mt_status find_told(mt_texts *told, const char *variant, int64_t *number, mt_error *err)
{
    for (size_t i = 0; i < told->count; i++) {
        *number = (int64_t)i;
        if (strcmp(told->items[i], variant) == 0) return MT_OK;
    }
    *number = -1;
    return mt_texts_add(told, variant, err);
}

static mt_status write_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    export_state *export = context;
    mt_strbuf line = {0};
    mt_measurement_row copy = *row;
    mt_status st = MT_OK;
    int64_t number = -1;
    if (export->answers_only && !mt_recording_is_answer(&export->answers, row->variant)) return MT_OK;
    if (export->answers_only) mt_recording_slim(&export->answers, &copy, &line);
    if (export->answers_only) st = find_told(&export->told, row->variant, &number, err);
    if (st == MT_OK) st = add_row(&export->line1, &copy, number, &export->text, err);
    mt_strbuf_free(&line);
    if (st == MT_OK && export->text.length > (size_t)1 << 30) st = MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than 1 GiB to record", export->store->path);
    return st;
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

mt_status mt_recording_write(const char *path, const mt_strbuf *text, mt_error *err)
{
    void *packed = NULL;
    size_t size = text->length;
    mt_status st = MT_OK;
    if (text->failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    if (ends_with(path, ".zst")) MT_TRY(mt_lines_pack(text->text, text->length, &packed, &size, path, err));
    if (ends_with(path, ".gz")) MT_TRY(mt_gzip_pack(text->text, text->length, path, &packed, &size, err));
    st = mt_file_write_output(path, packed ? packed : mt_strbuf_text(text), size, err);
done:
    mt_free(packed);
    return st;
}

static mt_status write_subject(export_state *export, int64_t subject, mt_recording_header wishes, bool with_samples, mt_error *err)
{
    mt_status st = mt_recording_add_header(export->store, subject, wishes, &export->line1, &export->text, err);
    mt_strbuf_add_char(&export->text, '\n');
    return st == MT_OK ? mt_query_newest(export->store, subject, with_samples, write_row, export, err) : st;
}

static mt_status kernel_of(mt_store *store, int64_t subject, int64_t *kernel, mt_error *err)
{
    return mt_sql_one(store, "SELECT kernel_id FROM subject WHERE id = ?", "read a subject", MT_IN(MT_INT(subject)), MT_OUT(MT_TO_INT(kernel)), err);
}

mt_status mt_recording_export(mt_store *store, const mt_filter *filter, const char *path, mt_error *err)
{
    mt_status st;
    export_state export = {.store = store};
    int64_t subject;
    MT_TRY(find_subject(store, filter, &subject, err));
    MT_TRY(write_subject(&export, subject, (mt_recording_header){0}, filter && filter->with_samples, err));
    st = mt_recording_write(path, &export.text, err);
done:
    mt_strbuf_free(&export.text);
    return st;
}

mt_status mt_recording_export_all(mt_store *store, const mt_filter *filter, bool answers_only, const char *path, mt_error *err)
{
    mt_status st;
    export_state export = {.store = store, .answers_only = answers_only};
    mt_subject_list list = {0};
    MT_TRY(mt_recording_subjects(store, filter, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        int64_t kernel;
        if (answers_only) MT_TRY(mt_recording_find_answers(store, list.ids[i], &export.answers, err));
        if (answers_only && export.answers.variants.count == 0) continue;
        MT_TRY(kernel_of(store, list.ids[i], &kernel, err));
        if (kernel != export.kernel) mt_texts_free(&export.told);
        MT_TRY(write_subject(&export, list.ids[i], (mt_recording_header){kernel == export.kernel, answers_only}, filter && filter->with_samples && !answers_only, err));
        export.kernel = kernel;
    }
    if (!export.text.length) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no subject of this choice has a winner", store->path);
    if (st == MT_OK) st = mt_recording_write(path, &export.text, err);
done:
    mt_free(list.ids);
    mt_recording_answers_free(&export.answers);
    mt_texts_free(&export.told);
    mt_strbuf_free(&export.text);
    return st;
}
