#include "tuner/cli/output/show_json.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static void add_part(mt_strbuf *out, const char *text, size_t length, bool may_be_number)
{
    int64_t number;
    if (may_be_number && mt_text_int64(text, length, &number)) {
        mt_strbuf_addf(out, "%lld", (long long)number);
        return;
    }
    char *copy = mt_strndup(text, length);
    mt_strbuf_add_json(out, copy ? copy : "");
    out->failed = out->failed || !copy;
    mt_free(copy);
}

static void add_knob(mt_strbuf *out, const char *pair, size_t length)
{
    const char *equals = memchr(pair, '=', length);
    size_t name_length = equals ? (size_t)(equals - pair) : length;
    add_part(out, pair, name_length, false);
    mt_strbuf_add_char(out, ':');
    if (equals) add_part(out, equals + 1, length - name_length - 1, true);
    else mt_strbuf_add(out, "null");
}

/* "ALGO=direct;CPB=8" → {"ALGO":"direct","CPB":8} */
static void add_knobs(mt_strbuf *out, const char *variant)
{
    mt_strbuf_add(out, ",\"knobs\":{");
    for (const char *pair = variant; *pair;) {
        size_t length = strcspn(pair, ";");
        if (pair != variant) mt_strbuf_add_char(out, ',');
        add_knob(out, pair, length);
        pair += length + (pair[length] == ';');
    }
    mt_strbuf_add_char(out, '}');
}

/* Times of a variant that failed mean nothing: null. */
static void add_us(mt_strbuf *out, const char *name, double ns, bool is_timed)
{
    mt_strbuf_add_number(out, name, is_timed ? ns / 1e3 : NAN);
}

static void add_known(mt_strbuf *out, const char *name, bool is_unknown, int64_t value)
{
    if (is_unknown) mt_strbuf_addf(out, ",\"%s\":null", name);
    else mt_strbuf_addf(out, ",\"%s\":%lld", name, (long long)value);
}

static void add_timing(mt_strbuf *out, const mt_timing *timing, bool is_timed)
{
    add_us(out, "median_us", timing->median_ns, is_timed);
    add_us(out, "low_us", mt_timing_low_ns(timing), is_timed);
    add_us(out, "high_us", mt_timing_high_ns(timing), is_timed);
    add_us(out, "min_us", timing->min_ns, is_timed && timing->min_ns > 0);
    add_us(out, "prepare_us", timing->prepare_ns, is_timed && timing->prepare_ns > 0);
    mt_strbuf_add_number(out, "sm_mhz", is_timed && timing->sm_mhz > 0 ? timing->sm_mhz : NAN);
    add_known(out, "samples", is_timed && !timing->samples, timing->samples);
    mt_strbuf_addf(out, ",\"batch\":%u", timing->batch);
}

static void add_accuracy(mt_strbuf *out, const mt_accuracy *accuracy, bool is_by_default)
{
    mt_strbuf_add(out, ",\"validated\":");
    if (!accuracy->output[0]) {
        mt_strbuf_add(out, "null");
        return;
    }
    mt_strbuf_add(out, "{\"output\":");
    mt_strbuf_add_json(out, accuracy->output);
    if (is_by_default) mt_strbuf_add(out, ",\"reference\":\"default\"");
    mt_strbuf_add_number(out, "norm_error", accuracy->norm_error);
    mt_strbuf_add_number(out, "worst_error", accuracy->worst_error);
    mt_strbuf_add_number(out, "worst_relative", accuracy->worst_relative);
    mt_strbuf_add_char(out, '}');
}

/* Nothing where the row was not compared. */
static void add_library(mt_strbuf *out, const mt_row_library *library)
{
    if (!library->plugin[0]) return;
    mt_strbuf_add(out, ",\"library\":{\"plugin\":");
    mt_strbuf_add_json(out, library->plugin);
    mt_strbuf_add_number(out, "first_us", library->first_ns / 1e3);
    mt_strbuf_add_number(out, "first_ratio", library->first_ratio);
    mt_strbuf_add_number(out, "best_us", library->best_ns / 1e3);
    mt_strbuf_add_number(out, "best_ratio", library->best_ratio);
    mt_strbuf_add_number(out, "best_ratio_low", library->best_low);
    mt_strbuf_add_number(out, "best_ratio_high", library->best_high);
    mt_strbuf_add(out, library->is_limited ? ",\"throttled\":true}" : ",\"throttled\":false}");
}

/* What did not compile here, as another tool's result, has none that is known: every kernel has registers. */
static void add_resources(mt_strbuf *out, const mt_resources *r)
{
    const struct { const char *name; uint32_t value; } members[] = {{"registers", r->registers}, {"spill_bytes", r->spill_bytes}, {"static_smem_bytes", r->static_smem_bytes},
        {"dynamic_smem_bytes", r->dynamic_smem_bytes}, {"blocks_per_sm", r->blocks_per_sm}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        add_known(out, members[i].name, !r->registers, members[i].value);
    }
}

static void add_fields(mt_strbuf *out, const mt_measurement_row *row, const mt_kernel_terms *terms, const char *space_key)
{
    const mt_outcome *outcome = &row->outcome;
    mt_strbuf_add(out, "{\"gpu\":");
    mt_strbuf_add_json(out, row->gpu_key);
    mt_strbuf_add_member(out, "gpu_name", row->gpu_name);
    mt_strbuf_add_member(out, "kernel", row->kernel);
    mt_strbuf_add_member(out, "kernel_key", row->kernel_key);
    if (space_key) mt_strbuf_add_member(out, "space_key", space_key);
    mt_strbuf_add_member(out, "shape", row->shape);
    mt_strbuf_add_member(out, "shape_key", row->shape_key);
    mt_strbuf_add_member(out, "workload", row->workload);
    mt_strbuf_add_member(out, "workload_key", row->workload_key);
    mt_strbuf_add_member(out, "origin", mt_origin_name(row->origin));
    mt_strbuf_add_member(out, "l2", mt_l2_name(outcome->timing.l2));
    mt_strbuf_add_member(out, "outcome", mt_outcome_name(outcome->kind));
    if (outcome->text && *outcome->text) mt_strbuf_add_member(out, "text", outcome->text);
    if (row->refusal) mt_strbuf_add_member(out, "refused", row->refusal);
    if (terms->per[0]) mt_strbuf_add_member(out, "per", terms->per);
    add_timing(out, &outcome->timing, mt_outcome_is_timed(outcome->kind));
    mt_strbuf_add_number(out, "model_floor_us", row->model_floor_ns / 1e3);
    mt_strbuf_add_member(out, "variant", row->variant);
    add_knobs(out, row->variant);
    add_accuracy(out, &outcome->accuracy, terms->is_by_default);
    add_resources(out, &outcome->resources);
    add_known(out, "nvrtc_version", !row->nvrtc_version, row->nvrtc_version);
    add_known(out, "driver_version", !row->driver_version, row->driver_version);
    mt_strbuf_add_member(out, "arch", row->arch);
    mt_strbuf_add(out, ",\"metrics\":");
    mt_strbuf_add_json_value(out, row->metrics_json && *row->metrics_json ? row->metrics_json : "{}");
    add_library(out, &row->library);
    mt_strbuf_addf(out, ",\"measured_unix_ms\":%lld,\"launch\":", (long long)row->created_unix_ms);
    mt_strbuf_add_json_value(out, row->launch_json ? row->launch_json : "null");
}

static void add_energy(mt_strbuf *out, const mt_energy *energy)
{
    if (energy->source == MT_ENERGY_NONE) {
        mt_strbuf_add(out, ",\"energy\":null");
        return;
    }
    mt_strbuf_add(out, ",\"energy\":{\"source\":");
    mt_strbuf_add_json(out, mt_energy_source_name(energy->source));
    mt_strbuf_add_number(out, "run_uj", energy->run_uj);
    mt_strbuf_add_number(out, "error_uj", energy->error_uj);
    mt_strbuf_add_number(out, "power_w", energy->power_w);
    mt_strbuf_add_number(out, "loop_ms", energy->loop_ms);
    mt_strbuf_add_number(out, "period_ms", energy->period_ms);
    mt_strbuf_addf(out, ",\"runs\":%llu}", (unsigned long long)energy->runs);
}

typedef struct tied {
    mt_strbuf *out;
    bool has_interval; /* as the winner's */
} tied;

static mt_status add_tied(void *context, const mt_finalist_row *row, mt_error *err)
{
    const tied *t = context;
    mt_strbuf *out = t->out;
    (void)err;
    if (!row->is_tied || row->is_picked) return MT_OK;
    if (out->text[out->length - 1] == '}') mt_strbuf_add_char(out, ',');
    mt_strbuf_add(out, "{\"variant\":");
    mt_strbuf_add_json(out, row->variant);
    mt_strbuf_add_number(out, "median_us", row->median_ns / 1e3);
    add_us(out, "low_us", row->low_ns, t->has_interval);
    add_us(out, "high_us", row->high_ns, t->has_interval);
    mt_strbuf_add_number(out, "ratio", row->ratio);
    mt_strbuf_add_number(out, "ratio_low", row->ratio_low);
    mt_strbuf_add_number(out, "ratio_high", row->ratio_high);
    if (row->energy.source != MT_ENERGY_NONE) add_energy(out, &row->energy);
    mt_strbuf_add_char(out, '}');
    return MT_OK;
}

mt_status mt_show_json_best(mt_strbuf *out, const mt_measurement_row *row, const mt_kernel_terms *terms, const char *space_key, mt_store *store, mt_error *err)
{
    mt_status st = MT_OK;
    double default_ns, baseline_ns;
    size_t comparison_points;
    tied t = {out, row->outcome.timing.samples > 0};
    add_fields(out, row, terms, space_key);
    mt_strbuf_add_member(out, "objective", mt_objective_name(row->objective));
    if (row->error_limit.is_given) mt_strbuf_add_number(out, "max_error", row->error_limit.most);
    add_energy(out, &row->outcome.energy);
    mt_strbuf_addf(out, ",\"tied_count\":%lld,\"tied\":[", (long long)row->tied_count);
    if (row->final_id) MT_TRY(mt_query_finalists(store, row->final_id, add_tied, &t, err));
    MT_TRY(mt_query_comparison_points(store, row->id, &default_ns, &baseline_ns, &comparison_points, err));
    mt_strbuf_add_char(out, ']');
    add_us(out, "default_us", default_ns, true);
    add_us(out, "baseline_us", baseline_ns, true);
    mt_strbuf_add_char(out, '}');
done:
    return st;
}

void mt_show_json_row(mt_strbuf *out, const mt_measurement_row *row, const mt_kernel_terms *terms, const char *space_key)
{
    add_fields(out, row, terms, space_key);
    mt_strbuf_add_char(out, '}');
}

static void add_lines(mt_strbuf *out, const char *lines)
{
    mt_strbuf line = {0};
    mt_strbuf_add(out, ",\"warnings\":[");
    for (bool is_first = true; lines && *lines; is_first = false) {
        size_t length = strcspn(lines, "\n");
        mt_strbuf_clear(&line);
        mt_strbuf_add_bytes(&line, lines, length);
        if (!is_first) mt_strbuf_add_char(out, ',');
        mt_strbuf_add_json(out, mt_strbuf_text(&line));
        lines += length + (lines[length] == '\n');
    }
    mt_strbuf_add_char(out, ']');
    mt_strbuf_free(&line);
}

void mt_show_json_session(mt_strbuf *out, const mt_session_info *row)
{
    mt_strbuf_addf(out, "{\"session\":%lld,\"started_unix_ms\":%lld", (long long)row->id, (long long)row->started_unix_ms);
    if (row->ended_unix_ms) mt_strbuf_addf(out, ",\"ended_unix_ms\":%lld", (long long)row->ended_unix_ms);
    mt_strbuf_add_member(out, "state", row->state);
    mt_strbuf_add_member(out, "command", row->command);
    mt_strbuf_add_member(out, "host", row->host);
    if (row->job) mt_strbuf_add_member(out, "job", row->job);
    if (row->plan) mt_strbuf_add_member(out, "plan", row->plan);
    mt_strbuf_add_member(out, "tool_version", row->tool_version);
    mt_strbuf_add_member(out, "strategy", row->strategy);
    mt_strbuf_add_member(out, "space", row->space_path);
    mt_strbuf_add_member(out, "origin", mt_origin_name(row->origin));
    mt_strbuf_addf(out, ",\"seed\":%lld,\"evaluated\":%lld,\"known\":%lld,\"failed\":%lld,\"worker_restarts\":%lld", (long long)row->seed, (long long)row->evaluated,
        (long long)row->known, (long long)row->failed, (long long)row->worker_restarts);
    mt_strbuf_add_number(out, "drift", row->drift);
    mt_strbuf_addf(out, ",\"truncated\":%s,\"times\":", row->is_truncated ? "true" : "false");
    mt_strbuf_add_json_value(out, row->times_json && *row->times_json == '{' ? row->times_json : "null");
    add_lines(out, row->warnings);
    mt_strbuf_add_char(out, '}');
}
