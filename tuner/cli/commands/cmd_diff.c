/* msda-tune diff: did another driver, GPU or day make it faster or slower? */
#include <stdio.h>

#include "db/exchange/diff.h"
#include "reports/format.h"
#include "reports/report.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/diff_list.h"
#include "tuner/cli/requests/diff_sides.h"

typedef struct diff_values {
    mt_diff_sides_values sides;
    const char *db, *kernel, *shape, *workload, *gpu, *junit;
    int l2, origin;
    bool variants, json, check, verbose;
} diff_values;

#define FIELD(name) offsetof(diff_values, name)
static const mt_option options[] = {
    MT_SIDES_OPTIONS(diff_values, sides),
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database of both sides when no FILE is given;\ndefault $MSDA_TUNE_DB, else in the user's data folder"},
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "only this GPU, on both sides: key, driver's name or model (h100)"},
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "only this kernel"},
    {"shape", 0, MT_OPTION_TEXT, FIELD(shape), "NAME", "only this shape"},
    {"workload", 0, MT_OPTION_TEXT, FIELD(workload), "NAME", "only this workload"},
    {"l2", 0, MT_OPTION_CHOICE, FIELD(l2), "cold|warm", "only this state of the L2 cache"},
    {"origin", 0, MT_OPTION_CHOICE, FIELD(origin), "measured|recorded|imported", "only rows of this origin"},
    {"variants", 0, MT_OPTION_FLAG, FIELD(variants), NULL, "compare every variant that both sides have, not only the winners"},
    {"check", 0, MT_OPTION_FLAG, FIELD(check), NULL, "exit 5 when a winner of the second side is SLOW"},
    {"junit", 0, MT_OPTION_OUTPUT, FIELD(junit), "FILE", "write JUnit XML as well: each comparison a test, SLOW ones failed, AMBG\nand what one side lacks skipped"},
    {"verbose", 'v', MT_OPTION_FLAG, FIELD(verbose), NULL, "list also what only one side has"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "print JSON"},
    {0},
};

typedef struct comparison {
    mt_diff_list list;
    bool with_variants;
} comparison;

static mt_status on_subject(void *context, const mt_diff_subject *subject, mt_error *err)
{
    comparison *c = context;
    mt_diff_list_add(&c->list, subject, c->with_variants);
    return c->list.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "diff: out of memory") : MT_OK;
}

/* The same cases as `report --diff --format junit` writes. */
static mt_status write_junit(const diff_values *values, const mt_diff_sides *sides, const mt_diff_filter *filter, mt_error *err)
{
    mt_doc doc = {0};
    mt_strbuf xml = {0};
    size_t slower;
    mt_status st;
    MT_TRY(mt_report_make_diff(&sides->a, &sides->b, (const char *const[]){"A", "B"}, filter, sides->threshold, values->variants, &doc, &slower, err));
    mt_format_junit(&doc, &xml);
    st = xml.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "diff: out of memory") : mt_file_write_atomic(values->junit, mt_strbuf_text(&xml), xml.length, err);
done:
    mt_strbuf_free(&xml);
    mt_doc_free(&doc);
    return st;
}

static size_t compared(const mt_diff_list *list)
{
    return list->winners[MT_RANK_SLOW] + list->winners[MT_RANK_AMBG] + list->winners[MT_RANK_FAST] + list->winners[MT_RANK_SAME];
}

/* What is said at the end: that nothing could be compared, or that a winner is slower. */
static mt_status conclude(const diff_values *values, const mt_diff_list *list, mt_error *err)
{
    const size_t *winners = list->winners;
    size_t both = compared(list);
    if (!both) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "diff: A and B have no subject in common (%zu only in A, %zu only in B)", winners[MT_RANK_ONLY_A], winners[MT_RANK_ONLY_B]);
    if (values->check && winners[MT_RANK_SLOW]) return MT_FAIL(err, MT_ERR_CHANGED, "diff: %zu of %zu winners %s slower in B", winners[MT_RANK_SLOW], both, winners[MT_RANK_SLOW] == 1 ? "is" : "are");
    return MT_OK;
}

/* ---- running ---- */

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const diff_values *values = arguments->values;
    mt_diff_sides sides = {0};
    comparison c = {.with_variants = values->variants};
    mt_l2 l2 = values->l2 ? (mt_l2)(values->l2 - 1) : MT_L2_COLD;
    mt_origin origin = values->origin ? (mt_origin)(values->origin - 1) : MT_ORIGIN_MEASURED;
    mt_diff_filter filter = {.gpu = values->gpu, .kernel = values->kernel, .shape = values->shape, .workload = values->workload,
                             .l2 = values->l2 ? &l2 : NULL, .origin = values->origin ? &origin : NULL};
    mt_status st;
    MT_TRY(mt_diff_sides_open("diff", &values->sides, arguments, values->db, values->gpu, &sides, err));
    c.list.threshold = sides.threshold;
    MT_TRY(mt_diff_run(&sides.a, &sides.b, &filter, on_subject, &c, err));
    mt_diff_list_sort(&c.list);
    if (values->json) mt_diff_list_json(&c.list, stdout);
    else mt_diff_list_print(&c.list, values->verbose, stdout);
    if (values->junit && compared(&c.list)) MT_TRY(write_junit(values, &sides, &filter, err));
    st = conclude(values, &c.list, err);
done:
    mt_diff_list_free(&c.list);
    mt_diff_sides_close(&sides);
    return st;
}

const mt_command mt_cmd_diff = {
    .name = "diff",
    .summary = "compare two databases, or GPUs, drivers or days within one",
    .operands = "[A [B]]",
    .help = "Compares winners (and with --variants all variants) of the subjects that both sides have, by their\n"
            "95 % intervals: SAME, B is FAST or SLOW, or AMBG when the measurements do not tell; what is slower\n"
            "comes first, what one side lacks is counted. Exit code 4 when nothing can be compared.\n\n"
            "  msda-tune diff before.sqlite after.sqlite\n"
            "  msda-tune diff --a driver=12.8 --b driver=13.0 --check --junit drivers.xml\n"
            "  msda-tune diff fleet.sqlite --a gpu=h100 --b gpu=h200",
    .options = options,
    .values_size = sizeof(diff_values),
    .run = run,
};
