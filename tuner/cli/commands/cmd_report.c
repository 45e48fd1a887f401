/* msda-tune report: one self-contained page, or the same as text. */
#include <stdio.h>
#include <string.h>

#include "reports/format.h"
#include "reports/report.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/command.h"
#include "tuner/cli/lookup/report_answers.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/requests/diff_sides.h"

typedef struct report_values {
    mt_filter_values filter;
    mt_diff_sides_values sides;
    mt_texts sections;
    const char *db, *output, *misses;
    int format;
    bool diff, variants, check;
} report_values;

#define FIELD(name) offsetof(report_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"output", 'o', MT_OPTION_PAGE, FIELD(output), "FILE", "where to (default: html to ./msda-tune-report.html, else stdout);\n- is stdout"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"format", 0, MT_OPTION_CHOICE, FIELD(format), "html|md|csv|json|junit", "html (default); md: Markdown; csv, json: all rows, for programs;\njunit: with --diff, XML for continuous integration"},
    {"section", 0, MT_OPTION_WORDS, FIELD(sections), "NAME", "only these sections: best, summary, libraries, rates, convergence, knobs,\nroofline, accuracy, noise, failures, portability, lookup, time,\nenvironment (csv: default best)"},
    {"misses", 0, MT_OPTION_INPUT, FIELD(misses), "FILE", "what tunelookup_flush_misses wrote: section lookup then says what\nproduction asked for in vain, and what it gets today"},
    {"diff", 0, MT_OPTION_FLAG, FIELD(diff), NULL, "compare two databases, or two sides of one (--a, --b), as 'diff' does"},
    MT_SIDES_OPTIONS(report_values, sides),
    {"variants", 0, MT_OPTION_FLAG, FIELD(variants), NULL, "with --diff: every variant that both sides have"},
    {"check", 0, MT_OPTION_FLAG, FIELD(check), NULL, "with --diff: write the report, then exit 5 when a winner is SLOW"},
    {0},
};

static mt_format format_of(const report_values *values) { return values->format ? (mt_format)(values->format - 1) : MT_FORMAT_HTML; }

static mt_status check(const mt_arguments *arguments, mt_error *err)
{
    const report_values *values = arguments->values;
    bool has_sides = values->sides.a.count || values->sides.b.count || values->sides.threshold || values->variants || values->check;
    if (values->diff && values->sections.count) return MT_FAIL(err, MT_ERR_USAGE, "report: --section does not go with --diff");
    if (values->diff && values->misses) return MT_FAIL(err, MT_ERR_USAGE, "report: --misses does not go with --diff");
    if (values->diff) return MT_OK;
    if (has_sides) return MT_FAIL(err, MT_ERR_USAGE, "report: --a, --b, --threshold, --variants and --check need --diff");
    if (format_of(values) == MT_FORMAT_JUNIT) return MT_FAIL(err, MT_ERR_USAGE, "report: --format junit needs --diff");
    if (arguments->operand_count) return MT_FAIL(err, MT_ERR_USAGE, "report: '%s' is too much: --db FILE names the database, --diff A B compares two", arguments->operands[0]);
    return MT_OK;
}

static void skipped_line(void *context, const char *message)
{
    (void)context;
    mt_log_warn("%s", message);
}

static mt_status make_report(const report_values *values, mt_doc *doc, mt_error *err)
{
    static const char *const of_csv[] = {"best"};
    mt_store *store = NULL;
    mt_filter_box box;
    mt_report_options what = {.sections = (const char *const *)values->sections.items, .section_count = values->sections.count};
    if (format_of(values) == MT_FORMAT_HTML) what.has_charts = true, what.most_rows = MT_REPORT_PAGE_ROWS;
    if (format_of(values) == MT_FORMAT_CSV && !what.section_count) what = (mt_report_options){.sections = of_csv, .section_count = 1};
    mt_report_answers answers = {0};
    mt_misses misses = {0};
    mt_status st = MT_OK;
    mt_filter_fill(&values->filter, &box);
    if (values->misses) {
        MT_TRY(mt_misses_read(values->misses, skipped_line, NULL, &misses, err));
        what.misses = &misses;
    }
    MT_TRY(mt_database_open(values->db, &store, err));
    MT_TRY(mt_report_answers_open(store, &answers, err));
    what.lookup = &answers.lookup;
    st = mt_report_make(store, &box.filter, &what, doc, err);
    if (st == MT_ERR_NOTHING_VALID) mt_database_near_miss(store, &box.filter, err);
done:
    mt_report_answers_close(&answers);
    mt_store_close(store);
    mt_misses_free(&misses);
    return st;
}

static mt_status make_diff(const mt_arguments *arguments, mt_doc *doc, size_t *slower, mt_error *err)
{
    const report_values *values = arguments->values;
    const mt_filter_values *f = &values->filter;
    mt_diff_sides sides = {0};
    mt_strbuf names[2] = {{0}, {0}};
    mt_filter_box box;
    mt_status st;
    mt_filter_fill(f, &box);
    const mt_diff_filter filter = {.gpu = f->gpu, .kernel = f->kernel, .shape = f->shape, .workload = f->workload, .l2 = box.filter.l2, .origin = box.filter.origin};
    MT_TRY(mt_diff_sides_open("report", &values->sides, arguments, values->db, f->gpu, &sides, err));
    for (size_t i = 0; i < 2; i++) mt_diff_sides_describe(&values->sides, &sides, i, &names[i]);
    const char *const texts[] = {mt_strbuf_text(&names[0]), mt_strbuf_text(&names[1])};
    st = mt_report_make_diff(&sides.a, &sides.b, texts, &filter, sides.threshold, values->variants, doc, slower, err);
done:
    for (size_t i = 0; i < 2; i++) mt_strbuf_free(&names[i]);
    mt_diff_sides_close(&sides);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    static void (*const writers[])(const mt_doc *, mt_strbuf *) = {[MT_FORMAT_HTML] = mt_format_html, [MT_FORMAT_MD] = mt_format_md, [MT_FORMAT_CSV] = mt_format_csv,
                                                                   [MT_FORMAT_JSON] = mt_format_json, [MT_FORMAT_JUNIT] = mt_format_junit};
    const report_values *values = arguments->values;
    const char *output = values->output ? values->output : format_of(values) == MT_FORMAT_HTML ? "./msda-tune-report.html" : "-";
    mt_doc doc = {0};
    mt_strbuf text = {0};
    size_t slower = 0;
    mt_status st;
    MT_TRY(check(arguments, err));
    MT_TRY(values->diff ? make_diff(arguments, &doc, &slower, err) : make_report(values, &doc, err));
    writers[format_of(values)](&doc, &text);
    if (text.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    if (st == MT_OK) st = mt_file_write_output(output, text.text, text.length, err);
    if (st == MT_OK && strcmp(output, "-") != 0) mt_tell("%s\n", output);
    if (st == MT_OK && values->check && slower) st = MT_FAIL(err, MT_ERR_CHANGED, "report: %zu %s slower in B", slower, slower == 1 ? "winner is" : "winners are");
done:
    mt_strbuf_free(&text);
    mt_doc_free(&doc);
    return st;
}

const mt_command mt_cmd_report = {
    .name = "report",
    .summary = "write a self-contained HTML report of a database",
    .operands = "[A [B]]",
    .help = "Writes one HTML file that loads nothing from outside, and prints its path. A database without\n"
            "results exits 4.\n\n"
            "  msda-tune report\n"
            "  msda-tune report --format md --section best\n"
            "  msda-tune report --diff before.sqlite after.sqlite -o diff.html\n"
            "  msda-tune report --diff before.sqlite after.sqlite --format junit -o tests.xml --check\n"
            "  msda-tune report --diff fleet.sqlite --a gpu=h100 --b gpu=h200",
    .options = options,
    .values_size = sizeof(report_values),
    .run = run,
};
