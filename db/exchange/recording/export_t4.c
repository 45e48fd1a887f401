/* Writing T4. Times are in milliseconds, as Kernel Tuner's are. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/exchange/recording/recording_internal.h"
#include "db/exchange/recording/t4.h"
#include "db/store/measurement.h"
#include "db/store/query_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* One for one where T4 has a word; the exact kind stands beside it. */
static const struct {
    mt_outcome_kind kind;
    const char *word;
} words[] = {
    {MT_OUTCOME_OK, "correct"}, {MT_OUTCOME_EXCLUDED, "constraints"}, {MT_OUTCOME_ILLEGAL, "constraints"}, {MT_OUTCOME_COMPILE_ERROR, "compile"},
    {MT_OUTCOME_COMPILE_TIMEOUT, "compile"}, {MT_OUTCOME_LAUNCH_ERROR, "runtime"}, {MT_OUTCOME_LOAD_ERROR, "runtime"}, {MT_OUTCOME_WRONG_RESULT, "correctness"},
    {MT_OUTCOME_OUT_OF_BOUNDS, "correctness"}, {MT_OUTCOME_WROTE_INPUT, "correctness"}, {MT_OUTCOME_NONDETERMINISTIC, "correctness"}, {MT_OUTCOME_QUARANTINED, "runtime"},
    {MT_OUTCOME_TIMEOUT, "timeout"}, {MT_OUTCOME_CRASHED, "runtime"}, {MT_OUTCOME_GPU_FAULT, "runtime"}, {MT_OUTCOME_CENSORED, "timeout"}, {MT_OUTCOME_YARDSTICK, "correctness"}};

/* "correct", "compile", "runtime", "timeout", "correctness", "constraints". */
static const char *invalidity_of(mt_outcome_kind kind)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].kind == kind) return words[i].word;
    return "runtime";
}

bool mt_t4_kind(const char *invalidity, mt_outcome_kind *kind)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, invalidity) != 0) continue;
        *kind = words[i].kind; /* the first with the word: the plainest */
        return true;
    }
    return false;
}

/* "2025-11-24 15:59:59.123+00:00" */
static const char *timestamp_of(int64_t unix_ms, char *out, size_t size)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc)) return "";
    size_t length = strftime(out, size, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(out + length, size - length, ".%03d+00:00", (int)(unix_ms % 1000));
    return out;
}

typedef struct t4_export {
    mt_store *store;
    mt_strbuf text;
    mt_recording_context line1;
    size_t subject, untried;
    bool has_result;
} t4_export;

static void add_ms(mt_strbuf *json, const char *before, double ns)
{
    mt_strbuf_add(json, before);
    mt_json_number(json, ns / 1e6, 17);
}

/* "A=1;B=x" as an object; what reads as an integer is one. */
static void add_configuration(mt_strbuf *json, const char *variant)
{
    mt_strbuf name = {0};
    for (const char *at = variant; *at;) {
        size_t length = strcspn(at, ";"), name_length = strcspn(at, "=");
        int64_t number;
        if (name_length > length) name_length = length;
        const char *value = at + name_length + (name_length < length);
        size_t value_length = length - (size_t)(value - at);
        mt_strbuf_add(json, at == variant ? "" : ",");
        mt_strbuf_clear(&name);
        mt_strbuf_add_bytes(&name, at, name_length);
        mt_strbuf_add_json(json, mt_strbuf_text(&name));
        mt_strbuf_add_char(json, ':');
        mt_strbuf_clear(&name);
        mt_strbuf_add_bytes(&name, value, value_length);
        const char *text = mt_strbuf_text(&name);
        bool is_plain = *text != '+' && (*text != '0' || !text[1]) && strncmp(text, "-0", 2) != 0 && mt_text_int64(text, value_length, &number);
        if (is_plain) mt_strbuf_add(json, text);
        else mt_strbuf_add_json(json, text);
        at += length + (at[length] == ';');
    }
    json->failed = json->failed || name.failed;
    mt_strbuf_free(&name);
}

static void add_times(mt_strbuf *json, const mt_outcome *outcome)
{
    const struct { const char *name; int64_t ns; } parts[] = {{"compilation_time", outcome->compile_ns}, {"framework", outcome->wait_ns}, {"validation", outcome->validate_ns}};
    mt_strbuf_add(json, ",\"times\":{");
    size_t begin = json->length;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!parts[i].ns) continue; /* it was not done, or nobody knows */
        mt_strbuf_addf(json, "%s\"%s\":", json->length > begin ? "," : "", parts[i].name);
        mt_json_number(json, (double)parts[i].ns / 1e6, 17);
    }
    if (outcome->sample_ns) {
        mt_strbuf_add(json, json->length > begin ? ",\"runtimes\":[" : "\"runtimes\":[");
        for (uint32_t i = 0; i < outcome->timing.samples; i++) add_ms(json, i ? "," : "", (double)outcome->sample_ns[i]);
        mt_strbuf_add_char(json, ']');
    }
    mt_strbuf_add_char(json, '}');
}

static void add_measurement(mt_strbuf *json, const mt_outcome *outcome)
{
    mt_strbuf_add(json, ",\"objectives\":[\"time\"],\"measurements\":[{\"name\":\"time\",\"value\":");
    if (outcome->kind == MT_OUTCOME_OK) {
        mt_json_number(json, outcome->timing.median_ns / 1e6, 17);
    } else {
        mt_strbuf_add_json(json, mt_outcome_name(outcome->kind));
    }
    mt_strbuf_add(json, ",\"unit\":\"ms\"}]");
}

static mt_status write_result(void *context, const mt_measurement_row *row, mt_error *err)
{
    t4_export *export = context;
    mt_strbuf *json = &export->text;
    char timestamp[64];
    if (mt_outcome_is_untried(row->outcome.kind)) {
        export->untried++;
        return MT_OK;
    }
    mt_strbuf_add(json, export->has_result ? ",\n{\"timestamp\":" : "\n{\"timestamp\":");
    mt_strbuf_add_json(json, timestamp_of(row->created_unix_ms, timestamp, sizeof timestamp));
    mt_strbuf_add(json, ",\"configuration\":{");
    add_configuration(json, row->variant);
    mt_strbuf_add_char(json, '}');
    add_times(json, &row->outcome);
    mt_strbuf_addf(json, ",\"invalidity\":\"%s\",\"correctness\":%d", invalidity_of(row->outcome.kind), row->outcome.kind == MT_OUTCOME_OK);
    add_measurement(json, &row->outcome);
    mt_strbuf_addf(json, ",\"" MT_T4_OWN "\":{\"subject\":%zu,", export->subject);
    mt_status st = mt_recording_add_members(&export->line1, row, json, err);
    mt_strbuf_add(json, "}}");
    export->has_result = true;
    if (st == MT_OK && json->length > (size_t)1 << 30) st = MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than 1 GiB to export; expected a narrower choice", mt_store_path(export->store));
    return st;
}

static mt_status write_results(t4_export *export, const mt_subject_list *list, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf headers = {0};
    mt_strbuf_add(&export->text, "{\"schema_version\":\"1.0.0\",\"results\":[");
    for (size_t i = 0; i < list->count; i++) {
        export->subject = i;
        mt_strbuf_add(&headers, i ? ",\n" : "\n");
        MT_TRY(mt_recording_add_header(export->store, list->ids[i], (mt_recording_header){0}, &export->line1, &headers, err));
        MT_TRY(mt_query_newest(export->store, list->ids[i], true, write_result, export, err));
    }
    mt_strbuf_add(&export->text, "\n],\"metadata\":{\"timeunit\":\"milliseconds\",\"" MT_T4_OWN "\":{\"subjects\":[");
    mt_strbuf_add(&export->text, mt_strbuf_text(&headers));
    mt_strbuf_add(&export->text, "\n]}}}\n");
    export->text.failed = export->text.failed || headers.failed;
done:
    mt_strbuf_free(&headers);
    return st;
}

mt_status mt_t4_export(mt_store *store, const mt_filter *filter, const char *path, size_t *untried, mt_error *err)
{
    mt_status st;
    t4_export export = {.store = store};
    mt_subject_list list = {0};
    MT_TRY(mt_recording_subjects(store, filter, &list, err));
    MT_TRY(write_results(&export, &list, err));
    *untried = export.untried;
    st = mt_recording_write(path, &export.text, err);
done:
    mt_free(list.ids);
    mt_strbuf_free(&export.text);
    return st;
}
