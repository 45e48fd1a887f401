/* Writing recordings. */
#include "db/recording.h"

#include <string.h>

#include "db/measurement.h"
#include "db/query_internal.h"
#include "db/recording_io.h"
#include "db/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

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
                       info->shape, info->workload, info->regime, info->origin, (long long)info->measurements, info->measurements == 1 ? "" : "s");
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
    st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: nothing matches this choice; there is:%s", store->path,
                 choice.count ? mt_strbuf_text(&choice.list) : " nothing");
done:
    mt_strbuf_free(&choice.list);
    return st;
}

/* --- line 1 ------------------------------------------------------------------------------------------------------------------------- */

typedef struct export_state {
    mt_store *store;
    mt_strbuf text;
    int64_t nvrtc_version, driver_version; /* of line 1 */
    char arch[32];
} export_state;

/* The toolchain is the newest row's; rows made with another one say so themselves. */
static const char header_sql[] =
    "SELECT d.key, d.name, CASE WHEN json_valid(d.facts_json) THEN json(d.facts_json) END, k.name, k.key, "
    "CASE WHEN json_valid(k.spec_json) THEN json(k.spec_json) END, h.name, h.key, w.name, w.key, s.regime, "
    "t.nvrtc_version, t.driver_version, t.arch, m.created_unix_ms "
    "FROM subject s JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id JOIN shape h ON h.id = s.shape_id "
    "JOIN workload w ON w.id = s.workload_id JOIN measurement m ON m.id = (SELECT max(id) FROM measurement WHERE subject_id = s.id) "
    "JOIN toolchain t ON t.id = m.toolchain_id WHERE s.id = ?";

static void add_text(mt_strbuf *json, const char *before, sqlite3_stmt *statement, int column)
{
    mt_strbuf_add(json, before);
    mt_strbuf_add_json(json, mt_sql_column(statement, column));
}

static void add_header(export_state *export, sqlite3_stmt *statement)
{
    mt_strbuf *json = &export->text;
    mt_strbuf_add(json, "{\"format\":\"msda-tune recording\",\"version\":1");
    add_text(json, ",\"gpu\":{\"key\":", statement, 0);
    add_text(json, ",\"name\":", statement, 1);
    mt_strbuf_addf(json, ",\"facts\":%s}", mt_sql_column(statement, 2));
    add_text(json, ",\"kernel\":{\"name\":", statement, 3);
    add_text(json, ",\"key\":", statement, 4);
    mt_strbuf_addf(json, ",\"spec\":%s}", mt_sql_column(statement, 5));
    add_text(json, ",\"shape\":{\"name\":", statement, 6);
    add_text(json, ",\"key\":", statement, 7);
    add_text(json, "},\"workload\":{\"name\":", statement, 8);
    add_text(json, ",\"key\":", statement, 9);
    add_text(json, "},\"regime\":", statement, 10);
    mt_strbuf_addf(json, ",\"toolchain\":{\"nvrtc\":%lld,\"driver\":%lld", (long long)sqlite3_column_int64(statement, 11),
                   (long long)sqlite3_column_int64(statement, 12));
    add_text(json, ",\"arch\":", statement, 13);
    mt_strbuf_addf(json, "},\"recorded_unix_ms\":%lld}\n", (long long)sqlite3_column_int64(statement, 14));
}

static mt_status write_header(export_state *export, int64_t subject, mt_error *err)
{
    mt_status st;
    bool row;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(export->store, header_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, subject);
    MT_TRY(mt_sql_row(export->store, &args, &row, "read a subject", err));
    if (!row || !mt_sql_column_or_null(statement, 2) || !mt_sql_column_or_null(statement, 5)) {
        st = MT_FAIL(err, MT_ERR_DB, "%s: the GPU's facts or the kernel's programs are not JSON", export->store->path);
        goto done;
    }
    add_header(export, statement);
    export->nvrtc_version = sqlite3_column_int64(statement, 11);
    export->driver_version = sqlite3_column_int64(statement, 12);
    strncpy(export->arch, mt_sql_column(statement, 13), sizeof export->arch - 1);
done:
    sqlite3_finalize(statement);
    return st;
}

/* --- rows --------------------------------------------------------------------------------------------------------------------------- */

/* JSON without white space (a line must stay a line); what is no object or array goes as a string. */
static mt_status add_launch(export_state *export, const char *launch_json, mt_error *err)
{
    mt_status st = MT_OK;
    bool row;
    sqlite3_stmt *statement;
    if (!launch_json) return MT_OK;
    MT_TRY(mt_sql_cached_get(export->store, "SELECT CASE WHEN json_valid(?1) THEN CASE WHEN json_type(?1) IN ('array', 'object') "
                             "THEN json(?1) END END", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, launch_json);
    MT_TRY(mt_sql_row(export->store, &args, &row, "minify a launch", err));
    mt_strbuf_add(&export->text, ",\"launch\":");
    if (row && mt_sql_column_or_null(statement, 0))
        mt_strbuf_add(&export->text, mt_sql_column(statement, 0));
    else
        mt_strbuf_add_json(&export->text, launch_json);
    sqlite3_reset(statement);
done:
    return st;
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

static mt_status write_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    export_state *export = context;
    mt_strbuf *json = &export->text;
    mt_strbuf_add(json, "{\"v\":");
    mt_strbuf_add_json(json, row->variant);
    mt_strbuf_add(json, ",\"k\":");
    mt_strbuf_add_json(json, mt_outcome_name(row->outcome.kind));
    if (row->outcome.text) {
        mt_strbuf_add(json, ",\"t\":");
        mt_strbuf_add_json(json, row->outcome.text);
    }
    mt_outcome_add_json(json, &row->outcome);
    mt_status st = add_launch(export, row->launch_json, err);
    if (st != MT_OK) return st;
    add_real(json, ",\"flops\":", row->model_flops);
    add_real(json, ",\"bytes\":", row->model_dram_bytes);
    add_real(json, ",\"floor\":", row->model_floor_ns);
    mt_strbuf_addf(json, ",\"e\":%lld", (long long)row->evaluation);
    if (row->nvrtc_version != export->nvrtc_version || row->driver_version != export->driver_version || strcmp(row->arch, export->arch) != 0) {
        mt_strbuf_addf(json, ",\"chain\":{\"nvrtc\":%lld,\"driver\":%lld,\"arch\":", (long long)row->nvrtc_version, (long long)row->driver_version);
        mt_strbuf_add_json(json, row->arch);
        mt_strbuf_add_char(json, '}');
    }
    add_samples(json, &row->outcome);
    mt_strbuf_add(json, "}\n");
    if (json->length > (size_t)1 << 30) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than 1 GiB to record", export->store->path);
    return MT_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

mt_status mt_recording_export(mt_store *store, const mt_filter *filter, const char *path, mt_error *err)
{
    mt_status st;
    export_state export = {.store = store};
    int64_t subject;
    void *packed = NULL;
    size_t size;
    MT_TRY(find_subject(store, filter, &subject, err));
    MT_TRY(write_header(&export, subject, err));
    MT_TRY(mt_query_newest(store, subject, filter && filter->with_samples, write_row, &export, err));
    if (export.text.failed) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
        goto done;
    }
    if (ends_with(path, ".zst")) {
        MT_TRY(mt_lines_pack(export.text.text, export.text.length, &packed, &size, path, err));
        st = mt_file_write_output(path, packed, size, err);
    } else {
        st = mt_file_write_output(path, export.text.text, export.text.length, err);
    }
done:
    mt_free(packed);
    mt_strbuf_free(&export.text);
    return st;
}
