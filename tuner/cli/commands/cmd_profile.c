/* msda-tune profile: measured variants under ncu; what it counts is kept beside their rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/command.h"
#include "tuner/cli/measure/rerun.h"
#include "tuner/cli/output/ncu_csv.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"
#include "tuner/evaluate/external_tool.h"

static const double NCU_S = 300;

typedef struct profile_values {
    const char *space, *shape, *workload, *variant, *db;
    int64_t device, top;
    int l2;
} profile_values;

#define FIELD(name) offsetof(profile_values, name)
static const mt_option options[] = {
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one"},
    {"shape", 0, MT_OPTION_TEXT, FIELD(shape), "NAME", "only this [shape]"},
    {"workload", 0, MT_OPTION_TEXT, FIELD(workload), "NAME", "only this [workload]"},
    {"variant", 0, MT_OPTION_TEXT, FIELD(variant), "VARIANT", "this variant, as listings print it"},
    {"top", 0, MT_OPTION_COUNT, FIELD(top), "K", "the K fastest of each shape and workload (default 1)"},
    {"l2", 0, MT_OPTION_CHOICE, FIELD(l2), "cold|warm", "rows of this state of the L2 cache (default: the file's); warm\nkeeps caches"},
    {"device", 0, MT_OPTION_SEED, FIELD(device), "N", "device number (default 0)"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {0},
};

/* A measured variant: the newest good row of each. */
typedef struct subject_row {
    int64_t id;
    char *shape, *workload, *variant, *launch_json;
    double median_ns;
} subject_row;

typedef struct profiling {
    const profile_values *values;
    mt_rerun *rerun;
    char *ncu;
    subject_row *rows;
    size_t count, capacity;
    size_t profiled;
} profiling;

static void free_row(subject_row *row)
{
    MT_FREE_EACH(row->shape, row->workload, row->variant, row->launch_json);
}

static bool same_subject(const subject_row *a, const char *shape, const char *workload)
{
    return strcmp(a->shape, shape) == 0 && strcmp(a->workload, workload) == 0;
}

/* Rows come in the order they were stored: a later one of the same variant replaces, and takes it away when it is not good. */
static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    profiling *p = context;
    if (p->values->variant && !mt_rerun_same_variant(p->values->variant, row->variant)) return MT_OK;
    for (size_t i = 0; i < p->count; i++) {
        if (!same_subject(&p->rows[i], row->shape, row->workload) || strcmp(p->rows[i].variant, row->variant) != 0) continue;
        free_row(&p->rows[i]);
        p->rows[i] = p->rows[--p->count];
        break;
    }
    if (row->outcome.kind != MT_OUTCOME_OK) return MT_OK;
    subject_row *made = MT_APPEND(p->rows, p->count, p->capacity);
    if (!made) return MT_FAIL(err, MT_ERR_NO_MEMORY, "profile: out of memory");
    *made = (subject_row){row->id, mt_strdup(row->shape), mt_strdup(row->workload), mt_strdup(row->variant), mt_strdup(row->launch_json ? row->launch_json : ""), row->outcome.timing.median_ns};
    if (!made->shape || !made->workload || !made->variant || !made->launch_json) return MT_FAIL(err, MT_ERR_NO_MEMORY, "profile: out of memory");
    return MT_OK;
}

static int by_subject_and_time(const void *a, const void *b)
{
    const subject_row *x = a, *y = b;
    int order = strcmp(x->shape, y->shape);
    if (!order) order = strcmp(x->workload, y->workload);
    if (!order) order = (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
    return order ? order : strcmp(x->variant, y->variant);
}

/* "regex:^(first|second)$" of the launches' entries, and how many launches there are. */
static int kernel_filter(const char *launch_json, mt_strbuf *filter)
{
    static const char key[] = "\"entry\":\"";
    int launches = 0;
    mt_strbuf_add(filter, "regex:^(");
    for (const char *at = strstr(launch_json, key); at; at = strstr(at, key)) {
        at += sizeof key - 1;
        mt_strbuf_addf(filter, "%s%.*s", launches++ ? "|" : "", (int)strcspn(at, "\""), at);
    }
    mt_strbuf_add(filter, ")$");
    return launches;
}

static mt_status store_metrics(mt_store *store, int64_t id, const mt_ncu *ncu, mt_error *err)
{
    mt_status st = mt_store_begin(store, err);
    if (st != MT_OK) return st;
#define KEEP(name, metric) \
    if (st == MT_OK) st = mt_store_metric(store, id, 0, "ncu", strcmp(#name, "duration_ns") == 0 ? "ncu_duration_ns" : #name, ncu->name, err);
    MT_NCU_MAP(KEEP)
#undef KEEP
    if (st == MT_OK) return mt_store_commit(store, err);
    mt_store_rollback(store);
    return st;
}

static void print_metrics(const subject_row *row, const mt_ncu *ncu)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_strbuf knobs = {0};
    mt_print_knobs(&knobs, row->variant);
    printf("%s · %s  %s\n  DRAM %.1f %%  L2 %.1f %%  L1 %.1f %%  SM %.1f %%  occupancy %.1f %%  under ncu %s", row->shape, row->workload, mt_strbuf_text(&knobs), ncu->dram_percent,
           ncu->l2_percent, ncu->l1_percent, ncu->sm_percent, ncu->occupancy_percent, mt_print_us(ncu->duration_ns, time, sizeof time));
    printf(", measured %s\n", mt_print_us(row->median_ns, time, sizeof time));
    fflush(stdout);
    mt_strbuf_free(&knobs);
}

static mt_status profile_one(profiling *p, mt_store *store, const subject_row *row, mt_error *err)
{
    mt_status st = MT_OK;
    mt_outcome outcome = {0};
    mt_rerun_report report = {0};
    mt_strbuf filter = {0};
    mt_ncu ncu;
    char launches[16];
    MT_TRY(mt_rerun_variant(p->rerun, row->shape, row->workload, row->variant, 0, &outcome, err));
    if (outcome.kind != MT_OUTCOME_OK) MT_LEAVE(MT_FAIL(err, MT_ERR_GPU, "%s: ended as %s now: %s", row->variant, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : ""));
    snprintf(launches, sizeof launches, "%d", kernel_filter(row->launch_json, &filter));
    const char *const prefix[] = {p->ncu, "--csv", "--print-units", "base", "--clock-control", "none", "--cache-control", outcome.timing.l2 == MT_L2_WARM ? "none" : "all",
                                  "--target-processes", "all", "--kernel-name-base", "mangled", "--kernel-name", mt_strbuf_text(&filter), "--launch-skip", launches, "--launch-count", launches,
                                  "--metrics", mt_ncu_metrics(), NULL};
    MT_TRY(mt_rerun_under(p->rerun, prefix, MT_DEPTH_RUN, NCU_S, &report, err));
    if (report.is_timeout) MT_LEAVE(MT_FAIL(err, MT_ERR_GPU, "ncu did not end within %g s", NCU_S));
    MT_TRY(mt_ncu_parse(report.text, &ncu, err));
    MT_TRY(store_metrics(store, row->id, &ncu, err));
    print_metrics(row, &ncu);
    p->profiled++;
done:
    mt_free(report.text);
    mt_strbuf_free(&filter);
    mt_outcome_free(&outcome);
    return st;
}

static mt_status profile_all(profiling *p, mt_store *store, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t rank = 0, top = p->values->top ? p->values->top : 1;
    if (p->count) qsort(p->rows, p->count, sizeof *p->rows, by_subject_and_time);
    for (size_t i = 0; i < p->count; i++) {
        bool is_next = i > 0 && same_subject(&p->rows[i], p->rows[i - 1].shape, p->rows[i - 1].workload);
        rank = is_next ? rank + 1 : 1;
        if (rank <= top) MT_TRY(profile_one(p, store, &p->rows[i], err));
    }
    if (!p->profiled) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no good row of that kernel, shape and variant on this GPU; tune first", mt_store_path(store));
done:
    return st;
}

static mt_status open_space(profiling *p, mt_error *err)
{
    const profile_values *v = p->values;
    mt_status st = MT_OK;
    mt_rerun_options wishes = {.bench = {.space = v->space, .device = (int)v->device}, .l2 = v->l2 == 2 ? MT_L2_WARM : MT_L2_COLD};
    if (!v->space) return MT_FAIL(err, MT_ERR_USAGE, "profile: --space FILE is missing");
    if (v->variant && v->top) return MT_FAIL(err, MT_ERR_USAGE, "profile: --variant and --top exclude each other");
    p->ncu = mt_external_tool_find("ncu");
    if (!p->ncu) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "profile: ncu (NVIDIA Nsight Compute) is neither in PATH nor in CUDA_HOME/bin");
    MT_TRY(mt_rerun_open(&wishes, &p->rerun, err));
done:
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    profiling p = {.values = arguments->values};
    mt_store *store = NULL;
    mt_status st = MT_OK;
    mt_origin measured = MT_ORIGIN_MEASURED;
    MT_TRY(open_space(&p, err));
    mt_l2 l2 = p.values->l2 ? (mt_l2)(p.values->l2 - 1) : mt_rerun_spec(p.rerun)->l2;
    mt_filter filter = {.gpu = mt_rerun_gpu_key(p.rerun), .kernel = mt_rerun_kernel(p.rerun), .kernel_key = mt_rerun_kernel_key(p.rerun), .shape = p.values->shape,
                        .workload = p.values->workload, .origin = &measured, .l2 = &l2};
    MT_TRY(mt_database_open_as(p.values->db, MT_STORE_READ_WRITE, &store, err));
    MT_TRY(mt_query_measurements(store, &filter, add_row, &p, err));
    MT_TRY(profile_all(&p, store, err));
done:
    mt_store_close(store);
    mt_rerun_close(p.rerun);
    for (size_t i = 0; i < p.count; i++) free_row(&p.rows[i]);
    mt_free(p.rows);
    mt_free(p.ncu);
    return st;
}

const mt_command mt_cmd_profile = {
    .name = "profile",
    .summary = "what limits measured variants: DRAM, L2, L1, SM, occupancy, by ncu",
    .help = "Runs measured variants under Nsight Compute (clocks are left alone) and keeps per cent of the peak\n"
            "for DRAM, L2, L1 and SM, occupancy and duration beside their rows; 'msda-tune show --json' has them\n"
            "as metrics.\n\n"
            "  msda-tune profile --space FILE.ini --top 3",
    .options = options,
    .values_size = sizeof(profile_values),
    .run = run,
};
