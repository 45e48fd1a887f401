#include "tuner/cli/output/cluster_show.h"

#include <math.h>
#include <stdio.h>

#include "tuner/cli/output/print.h"
#include "tuner/cluster/part_progress.h"

enum { ROWS_SHOWN = 60 }; /* of more tasks, those that are done are left out */

static void heading(mt_table *table, const char *const *names, size_t count, const char *right)
{
    table->columns = count;
    table->wraps = true;
    table->right = right;
    for (size_t i = 0; i < count; i++) mt_table_cell(table, names[i]);
}

static void show_rows(const mt_cluster_progress *p)
{
    static const char *const names[] = {"part", "task", "stand", "measured", "runs", "node", "time left", ""};
    mt_table table = {0};
    size_t left_out = 0;
    heading(&table, names, sizeof names / sizeof *names, "lllrrlrl");
    for (size_t i = 0; i < p->row_count; i++) {
        const mt_cluster_row *row = &p->rows[i];
        if (p->row_count > ROWS_SHOWN && row->stand == MT_CLUSTER_DONE) {
            left_out++;
            continue;
        }
        mt_table_cell(&table, row->part);
        mt_table_cell(&table, row->label);
        mt_table_cell(&table, mt_cluster_stand_name(row->stand));
        mt_table_cellf(&table, "%lld", (long long)row->evaluated);
        mt_table_cellf(&table, "%lld", (long long)row->sessions);
        mt_table_cell(&table, row->node);
        mt_table_cell(&table, row->left);
        mt_table_cell(&table, row->why);
    }
    mt_table_print(&table, stdout, "  ");
    if (left_out) printf("  and %zu that are done\n", left_out);
    mt_table_free(&table);
}

static void show_bests(const mt_cluster_progress *p)
{
    static const char *const names[] = {"kernel", "GPU", "shape", "workload", "L2", "time", "knobs"};
    mt_table table = {0};
    heading(&table, names, sizeof names / sizeof *names, "lllllrl");
    for (size_t i = 0; i < p->best_count; i++) {
        const mt_cluster_best *best = &p->bests[i];
        char time[MT_PRINT_TIME_SIZE];
        mt_strbuf knobs = {0};
        const char *texts[] = {best->kernel, best->gpu, best->shape, best->workload, best->l2};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) mt_table_cell(&table, texts[k]);
        mt_table_cell(&table, mt_print_us(best->median_ns, time, sizeof time));
        mt_print_knobs(&knobs, best->variant);
        mt_table_cell(&table, mt_strbuf_text(&knobs));
        mt_strbuf_free(&knobs);
    }
    printf("\nBest so far:\n");
    mt_table_print(&table, stdout, "  ");
    mt_table_free(&table);
}

static void show_text(const mt_cluster_progress *p)
{
    char time[MT_PRINT_TIME_SIZE];
    printf("%zu task%s:", p->row_count, p->row_count == 1 ? "" : "s");
    for (int i = 0; i < MT_CLUSTER_STANDS; i++)
        if (p->counts[i] || i == MT_CLUSTER_DONE) printf(" %zu %s", p->counts[i], mt_cluster_stand_name((mt_cluster_stand)i));
    if (isfinite(p->left_s)) printf("; about %s left", mt_print_seconds(p->left_s, time, sizeof time));
    printf("\n");
    if (!p->is_submitted) printf("Not submitted from this folder: no jobs.tsv names a job, so that only the parts are known.\n");
    else if (!p->is_asked) printf("Neither squeue nor sacct answers: only the parts are known.\n");
    if (*p->stages) printf("Behind them: %s\n", p->stages);
    show_rows(p);
    if (p->best_count) show_bests(p);
}

static void member(mt_strbuf *json, const char *name, const char *text, bool is_first)
{
    mt_strbuf_addf(json, "%s\"%s\":", is_first ? "" : ",", name);
    mt_strbuf_add_json(json, text);
}

static void show_json(const mt_cluster_progress *p)
{
    mt_strbuf json = {0};
    mt_strbuf_add(&json, "{\"tasks\":[");
    for (size_t i = 0; i < p->row_count; i++) {
        const mt_cluster_row *row = &p->rows[i];
        mt_strbuf_add(&json, i ? ",\n {" : "\n {");
        member(&json, "part", row->part, true);
        member(&json, "task", row->label, false);
        member(&json, "stand", mt_cluster_stand_name(row->stand), false);
        member(&json, "why", row->why, false);
        member(&json, "node", row->node, false);
        mt_strbuf_addf(&json, ",\"job\":%lld,\"index\":%lld,\"measured\":%lld,\"failed\":%lld,\"runs\":%lld,\"seconds\":%.3f}", row->job_id, row->index, (long long)row->evaluated,
                       (long long)row->failed, (long long)row->sessions, row->seconds);
    }
    mt_strbuf_add(&json, "],\n\"best\":[");
    for (size_t i = 0; i < p->best_count; i++) {
        const mt_cluster_best *best = &p->bests[i];
        mt_strbuf_add(&json, i ? ",\n {" : "\n {");
        member(&json, "gpu", best->gpu, true);
        member(&json, "kernel", best->kernel, false);
        member(&json, "shape", best->shape, false);
        member(&json, "workload", best->workload, false);
        member(&json, "l2", best->l2, false);
        member(&json, "variant", best->variant, false);
        mt_strbuf_addf(&json, ",\"median_ns\":%.9g}", best->median_ns);
    }
    mt_strbuf_add(&json, "],\n\"counts\":{");
    for (int i = 0; i < MT_CLUSTER_STANDS; i++) mt_strbuf_addf(&json, "%s\"%s\":%zu", i ? "," : "", mt_cluster_stand_name((mt_cluster_stand)i), p->counts[i]);
    mt_strbuf_add(&json, "},\"left_s\":");
    if (isfinite(p->left_s)) mt_strbuf_addf(&json, "%.1f", p->left_s);
    else mt_strbuf_add(&json, "null");
    mt_strbuf_addf(&json, ",\"submitted\":%s,\"slurm_answers\":%s}\n", p->is_submitted ? "true" : "false", p->is_asked ? "true" : "false");
    fputs(mt_strbuf_text(&json), stdout);
    mt_strbuf_free(&json);
}

mt_status mt_cluster_show(const char *folder, bool as_json, mt_error *err)
{
    mt_cluster_progress progress = {0};
    mt_status st = mt_cluster_progress_read(folder, &progress, err);
    if (st == MT_OK) (as_json ? show_json : show_text)(&progress);
    mt_cluster_progress_free(&progress);
    return st;
}
