/* msda-tune show: the best per (GPU, kernel, shape, workload), the sessions, the failures. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/commands/bits_table.h"
#include "tuner/cli/commands/quarantine_table.h"
#include "tuner/cli/lookup/report_answers.h"
#include "tuner/cli/measure/ablation.h"
#include "tuner/cli/output/best_list.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/print_knobs.h"
#include "tuner/cli/output/show_json.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/requests/sources.h"

typedef struct show_values {
    mt_filter_values filter;
    const char *db, *variant, *kernel_key, *space;
    int64_t top;
    int sort;
    bool json, verbose, front, bits, sessions, failures, quarantine, ablation;
} show_values;

#define FIELD(name) offsetof(show_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"kernel-key", 0, MT_OPTION_TEXT, FIELD(kernel_key), "KEY", "only this state of the kernel's source; its first digits suffice"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "the search space whose source is today's: what is of another state is\nmarked; default: the kernel's shipped one"},
    {"top", 0, MT_OPTION_COUNT, FIELD(top), "K", "the K fastest variants of each, instead of the best one"},
    {"front", 0, MT_OPTION_FLAG, FIELD(front), NULL, "the best of each, and behind it the variants with smaller errors that\nare the fastest of at most their error"},
    {"bits", 0, MT_OPTION_FLAG, FIELD(bits), NULL, "classes of variants that computed the same bits on all of the shapes\nlisted, and what each costs, the cheapest first: take one of a class"},
    {"sort", 0, MT_OPTION_CHOICE, FIELD(sort), MT_SORT_WORDS, "order of the subjects of a kernel: by shape (default), the\nslowest first, most gained over the default first, farthest from the\nmodel's floor first, measured last first"},
    {"verbose", 'v', MT_OPTION_FLAG, FIELD(verbose), NULL, "all knobs of each variant, on one line; default: where the lines would\nbe wider than 100 columns, only those that differ from the default"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "an array of objects instead of text"},
    {"sessions", 0, MT_OPTION_FLAG, FIELD(sessions), NULL, "list the tuning sessions, their drift and warnings; with --json\nalso where their time went"},
    {"failures", 0, MT_OPTION_FLAG, FIELD(failures), NULL, "list the variants that failed, and why"},
    {"ablation", 0, MT_OPTION_FLAG, FIELD(ablation), NULL, "for each best variant the measured ones that differ in one knob"},
    {"variant", 0, MT_OPTION_TEXT, FIELD(variant), "VARIANT", "with --ablation: this variant, as listings print it, instead of the best"},
    {"quarantine", 0, MT_OPTION_FLAG, FIELD(quarantine), NULL, "list the variants that are not run again; 'msda-tune quarantine' lifts"},
    {0},
};

typedef struct listing {
    mt_strbuf json;     /* --json */
    mt_table table;
    mt_strbuf heading;  /* GPU and kernel of the rows in the table */
    mt_strbuf notes;    /* --sessions: what is worth saying of them, one line each */
    size_t rows;
    mt_store *store;
    mt_sources sources;
    mt_report_answers answers; /* which winners lookups refuse */
    size_t refused;
    mt_best_list list;  /* the best, or the fastest */
    bool wants_json, is_top, is_verbose, leaves_out;
    char *usual;        /* defaults of the kernel's state `usual_of` */
    mt_kernel_terms terms; /* of that state */
    mt_strbuf usual_of;
} listing;

static void flush_table(listing *l)
{
    if (l->heading.length && l->table.count) {
        printf("%s\n", mt_strbuf_text(&l->heading));
        mt_table_print(&l->table, stdout, "  ");
    }
    mt_table_free(&l->table);
    mt_strbuf_clear(&l->heading);
}

static void add_heading(listing *l, const mt_measurement_row *row, mt_strbuf *heading)
{
    mt_print_clean(heading, row->kernel, 0);
    mt_strbuf_add(heading, " on ");
    mt_print_clean(heading, row->gpu_name, 0);
    mt_strbuf_add(heading, "  [");
    mt_print_clean(heading, row->gpu_key, 0);
    mt_strbuf_addf(heading, ", source %.8s%s, %s%s", row->kernel_key, mt_sources_mark(&l->sources, row->kernel, row->kernel_key), mt_origin_name(row->origin),
                   l->terms.is_by_default ? ", reference = default" : "");
    if (l->terms.per[0]) mt_strbuf_add(heading, ", times per unit of work: per = ");
    mt_print_clean(heading, l->terms.per, 0);
    mt_strbuf_add_char(heading, ']');
}

/* Rows come ordered by GPU and kernel; a change prints what was gathered. */
static void start_group(listing *l, const mt_measurement_row *row)
{
    mt_strbuf heading = {0};
    add_heading(l, row, &heading);
    if (strcmp(mt_strbuf_text(&heading), mt_strbuf_text(&l->heading)) != 0) {
        flush_table(l);
        if (l->rows) printf("\n");
        mt_strbuf_add(&l->heading, mt_strbuf_text(&heading));
    }
    mt_strbuf_free(&heading);
}

/* The defaults of the row's kernel, and what its results mean; asked for once for rows that stand together. */
static mt_status load_kernel(listing *l, const mt_measurement_row *row, mt_error *err)
{
    if (l->usual && strcmp(mt_strbuf_text(&l->usual_of), row->kernel_key) == 0) return MT_OK;
    mt_free(l->usual);
    l->usual = NULL;
    mt_strbuf_clear(&l->usual_of);
    mt_strbuf_add(&l->usual_of, row->kernel_key);
    mt_status st = mt_query_terms(l->store, row->kernel, row->kernel_key, &l->terms, err);
    return st == MT_OK ? mt_query_usual(l->store, row->kernel, row->kernel_key, &l->usual, err) : st;
}

static mt_status add_best(void *context, const mt_measurement_row *stored, mt_error *err)
{
    listing *l = context;
    const mt_report_question question = {stored->gpu_key, stored->kernel, stored->kernel_key, stored->shape_key, stored->origin};
    mt_measurement_row told = *stored;
    const mt_measurement_row *row = &told;
    told.refusal = mt_report_answers_refusal(&l->answers, &question, stored->variant);
    l->refused += told.refusal != NULL;
    mt_strbuf heading = {0}, json = {0};
    mt_status st = MT_OK;
    MT_TRY(load_kernel(l, row, err));
    add_heading(l, row, &heading);
    if (l->wants_json && l->is_top) mt_show_json_row(&json, row, &l->terms, mt_sources_given(&l->sources, row->kernel));
    else if (l->wants_json) MT_TRY(mt_show_json_best(&json, row, &l->terms, mt_sources_given(&l->sources, row->kernel), l->store, err));
    if (json.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory");
    if (st != MT_OK) goto done;
    bool is_old = mt_sources_is_old(&l->sources, row->kernel, row->kernel_key);
    MT_TRY(mt_best_list_add(&l->list, l->store, row, mt_strbuf_text(&heading), is_old, l->wants_json ? NULL : l->usual, l->wants_json ? mt_strbuf_take(&json) : NULL, err));
    l->rows++;
done:
    mt_strbuf_free(&heading);
    mt_strbuf_free(&json);
    return st;
}

static mt_status add_json(void *context, const mt_measurement_row *row, mt_error *err)
{
    listing *l = context;
    mt_status st = load_kernel(l, row, err);
    if (st != MT_OK) return st;
    mt_strbuf_add(&l->json, l->rows++ ? ",\n " : "[\n ");
    mt_show_json_row(&l->json, row, &l->terms, mt_sources_given(&l->sources, row->kernel));
    return MT_OK;
}

static mt_status add_failure(void *context, const mt_measurement_row *row, mt_error *err)
{
    listing *l = context;
    enum { SHORT = 60 }; /* columns of knobs that are all told */
    mt_strbuf text = {0};
    if (!mt_outcome_is_failure(row->outcome.kind)) return MT_OK;
    mt_status st = load_kernel(l, row, err);
    if (st != MT_OK) return st;
    start_group(l, row);
    if (!l->table.count) {
        l->table.columns = 3;
        l->table.wraps = true;
        for (size_t i = 0; i < 3; i++) mt_table_cell(&l->table, (const char *const[]){"shape", "outcome", "knobs: why"}[i]);
    }
    mt_table_cell(&l->table, row->shape);
    mt_table_cell(&l->table, mt_outcome_name(row->outcome.kind));
    bool wants_all = l->is_verbose || mt_print_columns(row->variant) <= SHORT;
    mt_knobs_add_told(&text, row->variant, wants_all ? NULL : l->usual);
    l->leaves_out |= !wants_all && l->usual[0];
    mt_strbuf_add(&text, ": ");
    mt_print_clean(&text, row->outcome.text, 120);
    mt_table_cell(&l->table, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    l->rows++;
    return MT_OK;
}

static mt_status add_failure_json(void *context, const mt_measurement_row *row, mt_error *err)
{
    return !mt_outcome_is_failure(row->outcome.kind) ? MT_OK : add_json(context, row, err);
}

static void note_session(listing *l, const mt_session_info *row)
{
    if (row->job || row->plan) {
        mt_strbuf_addf(&l->notes, "session %lld: ", (long long)row->id);
        if (row->job) mt_print_clean(&l->notes, row->job, 100);
        if (row->plan) mt_strbuf_add(&l->notes, row->job ? ", plan " : "plan ");
        if (row->plan) mt_print_clean(&l->notes, row->plan, 100);
        mt_strbuf_add(&l->notes, " on ");
        mt_print_clean(&l->notes, row->host, 100);
        mt_strbuf_add_char(&l->notes, '\n');
    }
    if (row->drift > 0) mt_strbuf_addf(&l->notes, "session %lld: the drift reference's time moved by %.1f %%\n", (long long)row->id, 100 * row->drift);
    for (const char *line = row->warnings; line && *line;) {
        size_t length = strcspn(line, "\n");
        mt_strbuf text = {0};
        mt_strbuf_add_bytes(&text, line, length);
        mt_strbuf_addf(&l->notes, "session %lld: ", (long long)row->id);
        mt_print_clean(&l->notes, mt_strbuf_text(&text), 300);
        mt_strbuf_add_char(&l->notes, '\n');
        mt_strbuf_free(&text);
        line += length + (line[length] == '\n');
    }
}

/* Whether the session's process is known to be gone: its last word was "running". Of other machines nothing is known. */
static bool was_killed(const mt_session_info *row)
{
    char host[256] = "", *boot_id = NULL;
    size_t length = 0;
    if (row->ended_unix_ms || gethostname(host, sizeof host - 1) != 0 || strcmp(host, row->host) != 0) return false;
    bool is_other_boot = mt_file_read("/proc/sys/kernel/random/boot_id", 4096, &boot_id, &length, NULL) == MT_OK && *row->boot_id &&
                         strncmp(boot_id, row->boot_id, strlen(row->boot_id)) != 0;
    mt_free(boot_id);
    return is_other_boot || (row->process_id > 0 && kill((pid_t)row->process_id, 0) != 0 && errno == ESRCH);
}

static mt_status add_session(void *context, const mt_session_info *row, mt_error *err)
{
    listing *l = context;
    char when[32] = "?", lasted[MT_PRINT_TIME_SIZE] = "-";
    time_t seconds = (time_t)(row->started_unix_ms / 1000);
    struct tm tm;
    (void)err;
    if (!l->table.count) {
        static const char *const names[] = {"session", "started (UTC)", "lasted", "state", "strategy", "evaluated", "known", "failed", "restarts", "space"};
        l->table.columns = sizeof names / sizeof names[0];
        l->table.right = "rlrllrrrrl";
        l->table.wraps = true;
        for (size_t i = 0; i < l->table.columns; i++) mt_table_cell(&l->table, names[i]);
    }
    if (gmtime_r(&seconds, &tm)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    if (row->ended_unix_ms) mt_print_seconds((double)(row->ended_unix_ms - row->started_unix_ms) / 1e3, lasted, sizeof lasted);
    mt_table_cellf(&l->table, "%lld", (long long)row->id);
    mt_table_cell(&l->table, when);
    mt_table_cell(&l->table, lasted);
    mt_table_cell(&l->table, was_killed(row) ? "killed" : row->state);
    mt_table_cell(&l->table, row->strategy);
    const int64_t numbers[] = {row->evaluated, row->known, row->failed, row->worker_restarts};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) mt_table_cellf(&l->table, "%lld", (long long)numbers[i]);
    mt_table_cell(&l->table, row->space_path);
    note_session(l, row);
    l->rows++;
    return MT_OK;
}

static mt_status add_session_json(void *context, const mt_session_info *row, mt_error *err)
{
    listing *l = context;
    (void)err;
    mt_strbuf_add(&l->json, l->rows++ ? ",\n " : "[\n ");
    mt_show_json_session(&l->json, row);
    return MT_OK;
}

static void fill_filter(const show_values *values, mt_filter_box *box)
{
    mt_filter_fill(&values->filter, box);
    box->filter.kernel_key = values->kernel_key;
}

static mt_status query(const show_values *values, mt_store *store, listing *l, mt_error *err)
{
    mt_filter_box box;
    fill_filter(values, &box);
    if (values->sessions) return mt_query_sessions(store, values->json ? add_session_json : add_session, l, err);
    if (values->failures) return mt_query_measurements(store, &box.filter, values->json ? add_failure_json : add_failure, l, err);
    if (values->front) return mt_query_front(store, &box.filter, add_best, l, err);
    if (values->top) return mt_query_fastest(store, &box.filter, values->top, add_best, l, err);
    return mt_query_best(store, &box.filter, add_best, l, err);
}

typedef struct row_counts { int64_t rows, evaluations; } row_counts;

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    row_counts *counts = context;
    (void)err;
    counts->rows++;
    counts->evaluations += mt_outcome_is_run(row->outcome.kind);
    return MT_OK;
}

/* That nothing failed is said of rows that are there; where the filters leave none, that is the answer. */
static mt_status no_failures(const show_values *values, mt_store *store, mt_error *err)
{
    mt_filter_box box;
    row_counts counts = {0};
    fill_filter(values, &box);
    mt_status st = mt_query_measurements(store, &box.filter, count_row, &counts, err);
    if (st != MT_OK) return st;
    if (!counts.rows) return mt_database_no_rows(store, &box.filter, err);
    if (!values->json) printf("No variant failed, of %lld evaluation%s.\n", (long long)counts.evaluations, counts.evaluations == 1 ? "" : "s");
    return MT_OK;
}

static mt_status print_listing(const show_values *values, listing *l, mt_store *store, mt_error *err)
{
    bool is_list = !values->sessions && !values->failures;
    mt_best_list_sort(&l->list, values->sort ? (mt_best_sort)(values->sort - 1) : MT_SORT_SHAPE);
    if (values->json && is_list) {
        mt_best_list_json(&l->list, stdout);
    } else if (values->json) {
        printf("%s%s\n", l->rows ? mt_strbuf_text(&l->json) : "[", l->rows ? "\n]" : "]");
        if (l->json.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory");
    } else if (values->sessions) {
        mt_table_print(&l->table, stdout, "");
        if (l->notes.length) printf("\n%s", mt_strbuf_text(&l->notes));
    } else {
        flush_table(l);
        mt_best_list_print(&l->list, values->verbose, stdout);
        if (l->refused) printf("\nRefused by lookups: `msda-tune lookup` tells why, and what it answers.\n");
        if (l->leaves_out) mt_knobs_print_left_out(stdout);
        mt_sources_hint(&l->sources, stdout);
    }
    if (values->failures && !l->rows) return no_failures(values, store, err);
    if (l->rows || values->sessions) return MT_OK;
    mt_filter_box box;
    fill_filter(values, &box);
    return mt_database_nothing(store, &box.filter, err);
}

/* One list at a time. */
static mt_status check(const show_values *values, mt_error *err)
{
    const struct { const char *name; bool is_given; } lists[] = {{"sessions", values->sessions}, {"failures", values->failures}, {"quarantine", values->quarantine}, {"ablation", values->ablation}, {"top", values->top > 0}, {"front", values->front}, {"bits", values->bits}};
    const char *list = NULL;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (list && lists[i].is_given) return MT_FAIL(err, MT_ERR_USAGE, "show: --%s and --%s are two lists; expected one of them", list, lists[i].name);
        if (lists[i].is_given) list = lists[i].name;
    }
    if ((values->ablation || values->bits) && values->json) return MT_FAIL(err, MT_ERR_USAGE, "show: --%s prints text only; expected no --json", list);
    if (values->sort && list && !values->top) return MT_FAIL(err, MT_ERR_USAGE, "show: --sort is for the best and for --top; --%s keeps its order", list);
    if (values->variant && !values->ablation) return MT_FAIL(err, MT_ERR_USAGE, "show: --variant needs --ablation");
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const show_values *values = arguments->values;
    mt_store *store = NULL;
    listing l = {0};
    mt_status st = MT_OK;
    MT_TRY(check(values, err));
    MT_TRY(mt_database_open(values->db, &store, err));
    l.store = store;
    mt_report_answers_begin(store, &l.answers);
    l.wants_json = values->json;
    l.is_verbose = values->verbose;
    l.is_top = values->top > 0 || values->front;
    if (values->ablation) {
        mt_filter_box box;
        size_t bases = 0;
        fill_filter(values, &box);
        MT_TRY(mt_sources_load(store, values->space, &l.sources, err));
        MT_TRY(mt_ablation_print(store, &box.filter, values->variant, &l.sources, &bases, err));
        mt_sources_hint(&l.sources, stdout);
        if (!bases) st = mt_database_nothing(store, &box.filter, err);
        goto done;
    }
    if (values->bits) {
        mt_filter_box box;
        fill_filter(values, &box);
        st = mt_bits_print(store, &box.filter, err);
        goto done;
    }
    if (values->quarantine) {
        mt_filter_box box;
        fill_filter(values, &box);
        st = mt_quarantine_print(store, &box.filter, values->json, err);
        goto done;
    }
    MT_TRY(mt_sources_load(store, values->space, &l.sources, err));
    MT_TRY(query(values, store, &l, err));
    MT_TRY(print_listing(values, &l, store, err));
done:
    mt_table_free(&l.table);
    mt_strbuf_free(&l.heading);
    mt_strbuf_free(&l.json);
    mt_strbuf_free(&l.usual_of);
    mt_free(l.usual);
    mt_best_list_free(&l.list);
    mt_report_answers_close(&l.answers);
    mt_strbuf_free(&l.notes);
    mt_sources_free(&l.sources);
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_show = {
    .name = "show",
    .summary = "the best variant per GPU, kernel, shape and workload",
    .help = "Lists the fastest validated variant per GPU, kernel, shape and workload: median time, half its 95 %\n"
            "interval, how many times as fast as the default, error against the reference (norm-wise), the\n"
            "model's floor in per cent of this time, and the knobs. Where others were as fast in the comparison\n"
            "of the finalists, their number; --json names them.\n\n"
            "  msda-tune show --sort floor      where most is left to gain",
    .options = options,
    .values_size = sizeof(show_values),
    .run = run,
};
