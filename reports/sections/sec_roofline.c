/* How near to what the GPU can do: the model's operations and bytes over the measured time. */
#include <math.h>
#include <string.h>

#include "reports/section.h"

typedef struct roof { const char *model; double bandwidth_gbs, lanes; } roof;
static const roof roofs[] = {
#define MT_ROOF(model, bandwidth, lanes) {model, bandwidth, lanes},
#include "reports/roofs.def"
#undef MT_ROOF
};

/* What the device table says of a GPU. */
typedef struct peaks { const char *gpu_key; double sm_count, clock_mhz, bandwidth_gbs, gflops; } peaks;

static const mt_column columns[] = {{"Subject", NULL}, {"Best (µs)", MT_DOC_US}, {"Floor (µs)", MT_DOC_US}, {"Floor, % of time", "%.0f"}, {"Flop/byte", "%.2f"}, {"GFLOP/s", "%.0f"}, {"GB/s", "%.0f"},
                                    {"% of FP32 peak", "%.1f"}, {"% of DRAM peak", "%.0f"}, {0}};
static const mt_column peak_columns[] = {{"GPU", NULL}, {"Key", NULL}, {"SMs", "%.0f"}, {"Clock (MHz)", "%.0f"}, {"FP32 peak (GFLOP/s)", "%.0f"}, {"DRAM peak (GB/s)", "%.0f"}, {0}};
static const mt_column counter_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"Metric", NULL}, {"Value", "%.4g"}, {0}};

static mt_status read_fact(void *context, const char *name, double value, mt_error *err)
{
    peaks *p = context;
    (void)err;
    if (strcmp(name, "sm_count") == 0) p->sm_count = value;
    if (strcmp(name, "clock_mhz") == 0) p->clock_mhz = value;
    return MT_OK;
}

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    peaks *found; /* the one for want */
    const char *want;
    const mt_measurement_row *row;
} state;

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    state *s = context;
    (void)measurements;
    if (strcmp(row->key, s->want) != 0) return MT_OK;
    return mt_query_numbers(s->context->store, row->facts_json, read_fact, s->found, err);
}

static mt_status find_peaks(const mt_report_context *context, const char *gpu_key, peaks *p, mt_error *err)
{
    char model[64];
    state s = {.context = context, .found = p, .want = gpu_key};
    *p = (peaks){gpu_key, NAN, NAN, NAN, NAN};
    mt_status st = mt_query_devices(context->store, NULL, on_device, &s, err);
    mt_gpu_model(gpu_key, model, sizeof model);
    for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++) {
        size_t length = strlen(roofs[i].model);
        if (strncmp(model, roofs[i].model, length) != 0 || (model[length] && model[length] != '-')) continue;
        p->bandwidth_gbs = roofs[i].bandwidth_gbs;
        p->gflops = p->sm_count * roofs[i].lanes * 2 * p->clock_mhz / 1e3;
    }
    return st;
}

static void add_peaks_json(const peaks *p, mt_strbuf *json)
{
    char model[64];
    mt_json_name(json, p->gpu_key);
    mt_strbuf_add(json, "{\"gpu\":");
    mt_strbuf_add_json(json, mt_gpu_model(p->gpu_key, model, sizeof model));
    mt_strbuf_add(json, ",\"bandwidth\":");
    mt_json_double(json, p->bandwidth_gbs, 6);
    mt_strbuf_add(json, ",\"gflops\":");
    mt_json_double(json, p->gflops, 6);
    mt_strbuf_add_char(json, '}');
}

static bool is_first_of_gpu(const mt_report_data *data, size_t i) { return !i || strcmp(data->subjects[i].gpu_key, data->subjects[i - 1].gpu_key) != 0; }

static mt_status add_peaks(const mt_report_context *context, mt_strbuf *json, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    mt_strbuf members = {0};
    mt_status st = MT_OK;
    mt_doc_table(doc, "peaks", "Peaks of the GPUs", peak_columns);
    for (size_t i = 0; json && i < data->count; i++) { /* without a model they are roofs of nothing */
        peaks p;
        if (!is_first_of_gpu(data, i)) continue;
        MT_TRY(find_peaks(context, data->subjects[i].gpu_key, &p, err));
        add_peaks_json(&p, &members);
        mt_doc_text(doc, data->subjects[i].gpu_name);
        mt_doc_text(doc, p.gpu_key);
        const double numbers[] = {p.sm_count, p.clock_mhz, p.gflops, p.bandwidth_gbs};
        for (size_t k = 0; k < 4; k++) mt_doc_number(doc, numbers[k]);
    }
    if (json) mt_strbuf_addf(json, "\"gpus\":{%s}", mt_strbuf_text(&members));
    doc->failed = doc->failed || members.failed;
done:
    mt_strbuf_free(&members);
    return st;
}

/* Whether a kernel computes with other units than those for FP32 (tensor cores): the model's floor, or a time of one of its subjects, is beyond what these can do. Of their peak it then has no part. */
static bool has_other_units(const mt_report_data *data, const mt_report_subject *s, double fp32_gflops)
{
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *o = &data->subjects[i];
        if (mt_report_is_same_group(o, s) && (o->flops / o->floor_ns > fp32_gflops || o->flops / o->best_ns > fp32_gflops)) return true;
    }
    return false;
}

static mt_status add_subjects(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    peaks p = {0};
    mt_doc_table(doc, "roofline", "The best against the model and the GPU's peaks", columns);
    for (size_t i = 0, rows = 0; i < data->count && rows < context->most_rows; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (is_first_of_gpu(data, i)) {
            mt_status st = find_peaks(context, s->gpu_key, &p, err);
            if (st != MT_OK) return st;
        }
        if (!s->best || (isnan(s->floor_ns) && isnan(s->flops) && isnan(s->dram_bytes))) continue;
        rows++;
        double gflops = s->flops / s->best_ns, gbs = s->dram_bytes / s->best_ns;
        mt_doc_subject(doc, s->place, s->label);
        const double numbers[] = {s->best_ns / 1e3, s->floor_ns / 1e3, 100 * s->floor_ns / s->best_ns, s->flops / s->dram_bytes, gflops, gbs, has_other_units(data, s, p.gflops) ? NAN : 100 * gflops / p.gflops, 100 * gbs / p.bandwidth_gbs};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) mt_doc_number(doc, numbers[k]);
    }
    return MT_OK;
}

/* ---- what a profiler or the kernel itself counted, of the winners ---- */

/* Rates by the model stand in their own section, with units: nothing counted them. */
static bool is_rate(const char *name)
{
    static const char *const rates[] = {"dram_bytes_per_s", "moved_bytes_per_s", "flops_per_s", "ops_per_s", "clocks_per_op_per_sm"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(rates[i], name) == 0) return true;
    return false;
}

static mt_status add_counter(void *context, const char *name, double value, mt_error *err)
{
    state *s = context;
    (void)err;
    if (is_rate(name)) return MT_OK;
    mt_doc_text(s->doc, s->row->gpu_name);
    mt_doc_text(s->doc, s->row->kernel);
    mt_doc_subject(s->doc, mt_report_place(s->context->data, s->row), s->row->shape);
    mt_doc_text(s->doc, mt_report_workload(s->row));
    mt_doc_text(s->doc, name);
    mt_doc_number(s->doc, value);
    return MT_OK;
}

static mt_status add_counters(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    s->row = row;
    return mt_query_numbers(s->context->store, row->metrics_json, add_counter, s, err);
}

static const mt_explanation explanations[] = {
    {NULL, NULL, "Operations and bytes are those of [model] in the search space: what a kernel must do at least, not what a variant did. A kernel that computes faster than the FP32 units could, or whose model says so, "
                 "uses others (tensor cores), and has no part of their peak."},
    {"Floor", NULL, "The floor is the time that the search space's [model] says no kernel can beat."}, {0}};
static const mt_explanation of_peaks[] = {{"DRAM peak", NULL, "The roofs are the data sheet's DRAM bandwidth and FP32 units × clock."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    bool has_model = false;
    state s = {.context = context, .doc = doc};
    mt_status st;
    for (size_t i = 0; i < context->data->count; i++) has_model = has_model || context->data->subjects[i].flops > 0;
    mt_strbuf *json = has_model ? mt_doc_chart(doc, "roofline", "Variants under the roofs: operations per second against operations per byte of DRAM traffic, both by the search space's model") : NULL;
    MT_TRY(add_peaks(context, json, doc, err));
    MT_TRY(add_subjects(context, doc, err));
    mt_doc_table(doc, "counters", "Counters of the winners (msda-tune profile)", counter_columns);
    MT_TRY(mt_query_best(context->store, context->filter, add_counters, &s, err));
    if (!has_model) mt_doc_note(doc, "No operations are known: they come from [model] of the search space.");
    mt_doc_explain(doc, "roofline", explanations);
    mt_doc_explain(doc, "peaks", of_peaks);
done:
    return st;
}

extern const mt_section mt_section_roofline;
const mt_section mt_section_roofline = {"roofline", "Roofline", render};
