/* msda-tune diff: did another driver, GPU or day make it faster or slower? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/exchange/diff.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/diff_sides.h"

typedef struct diff_values {
    mt_diff_sides_values sides;
    const char *db, *kernel, *shape, *workload, *gpu;
    int regime, origin;
    bool variants, json, check;
} diff_values;

#define FIELD(name) offsetof(diff_values, name)
static const mt_option options[] = {
    MT_SIDES_OPTIONS(diff_values, sides),
    {"db", 0, MT_OPTION_TEXT, FIELD(db), "FILE", "database of both sides when no FILE is given;\ndefault $MSDA_TUNE_DB, else in the user's data folder"},
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "only this GPU, on both sides: key, driver's name or model (h100)"},
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "only this kernel"},
    {"shape", 0, MT_OPTION_TEXT, FIELD(shape), "NAME", "only this shape"},
    {"workload", 0, MT_OPTION_TEXT, FIELD(workload), "NAME", "only this workload"},
    {"regime", 0, MT_OPTION_CHOICE, FIELD(regime), "cold|warm", "only this timing regime"},
    {"origin", 0, MT_OPTION_CHOICE, FIELD(origin), "measured|recorded|imported", "only rows of this origin"},
    {"variants", 0, MT_OPTION_FLAG, FIELD(variants), NULL, "compare every variant that both sides have, not only the winners"},
    {"check", 0, MT_OPTION_FLAG, FIELD(check), NULL, "exit 1 when a winner of the second side is SLOW"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "print JSON"},
    {0},
};

/* ---- printing ---- */

typedef struct listing {
    const diff_values *values;
    double threshold;
    int64_t counts[4], only_a, only_b;
    mt_table table;
    mt_strbuf json;
    bool has_items;
} listing;

static void add_cell_time(mt_table *table, const mt_diff_time *time)
{
    char text[2 * MT_PRINT_TIME_SIZE + 8] = "-";
    if (time) mt_print_interval(time->median_ns, time->low_ns, time->high_ns, text, sizeof text);
    mt_table_cell(table, text);
}

static void add_cell_change(mt_table *table, const mt_diff_ratio *ratio)
{
    if (isnan(ratio->low)) mt_table_cellf(table, "%+.2f %%", 100 * ratio->change);
    else mt_table_cellf(table, "%+.2f %% (%+.2f … %+.2f)", 100 * ratio->change, 100 * ratio->low, 100 * ratio->high);
}

static void add_line(listing *l, const mt_diff_subject *s, const char *what, const mt_diff_time *a, const mt_diff_time *b, const char *verdict, const mt_diff_ratio *ratio)
{
    static const char *const names[] = {"kernel", "shape", "workload", "regime", "GPU", "A", "B", "change", "verdict", "knobs"};
    mt_strbuf text = {0};
    if (!l->table.count) {
        l->table.columns = sizeof names / sizeof *names;
        l->table.right = "lllllrrrll";
        for (size_t i = 0; i < l->table.columns; i++) mt_table_cell(&l->table, names[i]);
    }
    const char *cells[] = {s->kernel, s->shape, s->workload, s->regime};
    for (size_t i = 0; i < 4; i++) mt_table_cell(&l->table, cells[i]);
    const char *gpu_a = *s->gpu_a ? s->gpu_a : s->gpu_b, *gpu_b = *s->gpu_b ? s->gpu_b : s->gpu_a;
    if (strcmp(gpu_a, gpu_b) == 0) mt_table_cell(&l->table, gpu_a);
    else mt_table_cellf(&l->table, "%s → %s", gpu_a, gpu_b); /* whole: one model has boards of several memory sizes */
    add_cell_time(&l->table, a);
    add_cell_time(&l->table, b);
    if (ratio) add_cell_change(&l->table, ratio);
    else mt_table_cell(&l->table, "-");
    mt_table_cell(&l->table, verdict);
    mt_print_knobs(&text, what);
    mt_table_cell(&l->table, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

static void add_json_time(mt_strbuf *out, const char *name, const mt_diff_time *time)
{
    mt_strbuf_addf(out, ",\"%s\":", name);
    if (!time) {
        mt_strbuf_add(out, "null");
        return;
    }
    mt_strbuf_add(out, "{\"variant\":");
    mt_strbuf_add_json(out, time->variant);
    const struct { const char *name; double ns; } numbers[] = {{"median_us", time->median_ns}, {"low_us", time->low_ns}, {"high_us", time->high_ns}};
    for (size_t i = 0; i < 3; i++) {
        mt_strbuf_addf(out, ",\"%s\":", numbers[i].name);
        if (isfinite(numbers[i].ns)) mt_strbuf_addf(out, "%.9g", numbers[i].ns / 1e3);
        else mt_strbuf_add(out, "null");
    }
    mt_strbuf_addf(out, ",\"nvrtc\":%lld,\"driver\":%lld,\"measured_unix_ms\":%lld}", (long long)time->nvrtc_version, (long long)time->driver_version, (long long)time->created_unix_ms);
}

static void add_json(listing *l, const mt_diff_subject *s, const char *kind, const mt_diff_time *a, const mt_diff_time *b, const char *verdict, const mt_diff_ratio *ratio)
{
    mt_strbuf *out = &l->json;
    const struct { const char *name, *text; } texts[] = {
        {"kind", kind}, {"kernel", s->kernel}, {"shape", s->shape}, {"workload", s->workload}, {"regime", s->regime}, {"origin", s->origin}, {"gpu_a", s->gpu_a},
        {"gpu_b", s->gpu_b}, {"source_a", s->source_a}, {"source_b", s->source_b}, {"verdict", verdict}};
    mt_strbuf_add(out, l->has_items ? ",\n " : "[\n ");
    l->has_items = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mt_strbuf_addf(out, "%s\"%s\":", i ? "," : "{", texts[i].name);
        mt_strbuf_add_json(out, texts[i].text);
    }
    add_json_time(out, "a", a);
    add_json_time(out, "b", b);
    if (ratio) mt_strbuf_addf(out, ",\"change\":%.6g", ratio->change);
    else mt_strbuf_add(out, ",\"change\":null");
    if (ratio && !isnan(ratio->low)) mt_strbuf_addf(out, ",\"change_low\":%.6g,\"change_high\":%.6g}", ratio->low, ratio->high);
    else mt_strbuf_add(out, ",\"change_low\":null,\"change_high\":null}");
}

static void add(listing *l, const mt_diff_subject *s, const char *kind, const mt_diff_time *a, const mt_diff_time *b, const char *verdict, const mt_diff_ratio *ratio)
{
    mt_strbuf knobs = {0};
    mt_strbuf_add(&knobs, a ? a->variant : b->variant);
    if (a && b && strcmp(a->variant, b->variant) != 0) mt_strbuf_addf(&knobs, " → %s", b->variant);
    if (l->values->json) add_json(l, s, kind, a, b, verdict, ratio);
    else add_line(l, s, mt_strbuf_text(&knobs), a, b, verdict, ratio);
    mt_strbuf_free(&knobs);
}

static mt_status on_subject(void *context, const mt_diff_subject *s, mt_error *err)
{
    listing *l = context;
    mt_diff_ratio ratio;
    (void)err;
    if (!s->a || !s->b) {
        (*(s->a ? &l->only_a : &l->only_b))++;
        add(l, s, "winner", s->a, s->b, s->a ? "only A" : "only B", NULL);
        return MT_OK;
    }
    mt_diff_verdict verdict = mt_diff_judge(s->a, s->b, l->threshold, &ratio);
    l->counts[verdict]++;
    add(l, s, "winner", s->a, s->b, mt_diff_verdict_name(verdict), &ratio);
    for (size_t i = 0; l->values->variants && i < s->variant_count; i++) {
        verdict = mt_diff_judge(&s->variants_a[i], &s->variants_b[i], l->threshold, &ratio);
        add(l, s, "variant", &s->variants_a[i], &s->variants_b[i], mt_diff_verdict_name(verdict), &ratio);
    }
    return MT_OK;
}

static void print_counts(const listing *l)
{
    printf("\nwinners: ");
    for (int v = 0; v < 4; v++) printf("%lld %s%s", (long long)l->counts[v], mt_diff_verdict_name((mt_diff_verdict)v), v < 3 ? ", " : "");
    if (l->only_a) printf(", %lld only in A", (long long)l->only_a);
    if (l->only_b) printf(", %lld only in B", (long long)l->only_b);
    printf(" (A → B; SAME: within %.3g %%)\n", 100 * l->threshold);
}

static mt_status finish(listing *l, mt_error *err)
{
    int64_t both = l->counts[0] + l->counts[1] + l->counts[2] + l->counts[3];
    if (l->values->json) printf("%s%s\n", l->has_items ? mt_strbuf_text(&l->json) : "[", l->has_items ? "\n]" : "]");
    else mt_table_print(&l->table, stdout, "");
    if (l->json.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "diff: out of memory");
    if (!l->values->json && l->table.count) print_counts(l);
    if (!both) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "diff: A and B have no subject in common (%lld only in A, %lld only in B)", (long long)l->only_a, (long long)l->only_b);
    if (l->values->check && l->counts[MT_DIFF_SLOW])
        return MT_FAIL(err, MT_ERR_UNSUPPORTED, "diff: %lld of %lld winners are slower in B", (long long)l->counts[MT_DIFF_SLOW], (long long)both);
    return MT_OK;
}

/* ---- running ---- */

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const diff_values *values = arguments->values;
    mt_diff_sides sides = {0};
    listing l = {.values = values};
    mt_regime regime = values->regime ? (mt_regime)(values->regime - 1) : MT_REGIME_COLD;
    mt_origin origin = values->origin ? (mt_origin)(values->origin - 1) : MT_ORIGIN_MEASURED;
    mt_diff_filter filter = {.gpu = values->gpu, .kernel = values->kernel, .shape = values->shape, .workload = values->workload,
                             .regime = values->regime ? &regime : NULL, .origin = values->origin ? &origin : NULL};
    mt_status st;
    MT_TRY(mt_diff_sides_open("diff", &values->sides, arguments, values->db, values->gpu, &sides, err));
    l.threshold = sides.threshold;
    MT_TRY(mt_diff_run(&sides.a, &sides.b, &filter, on_subject, &l, err));
    st = finish(&l, err);
done:
    mt_table_free(&l.table);
    mt_strbuf_free(&l.json);
    mt_diff_sides_close(&sides);
    return st;
}

const mt_command mt_cmd_diff = {
    .name = "diff",
    .summary = "compare two databases, or GPUs, drivers or days within one",
    .operands = "[A [B]]",
    .help = "Compares winners (and with --variants all variants) of the subjects that both sides have, by their 95 % intervals:\n"
            "SAME, B is FAST or SLOW, or AMBG when the measurements do not tell. Exit code 4 when nothing can be compared.\n\n"
            "  msda-tune diff before.sqlite after.sqlite\n"
            "  msda-tune diff --a driver=12.8 --b driver=13.0 --check\n"
            "  msda-tune diff fleet.sqlite --a gpu=h100 --b gpu=h200",
    .options = options,
    .values_size = sizeof(diff_values),
    .run = run,
};
