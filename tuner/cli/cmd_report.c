/* msda-tune report: one self-contained HTML file. */
#include <stdio.h>
#include <string.h>

#include "reports/report.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/database.h"

typedef struct report_values {
    mt_filter_values filter;
    const char *db, *output;
} report_values;

#define FIELD(name) offsetof(report_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"output", 'o', MT_OPTION_TEXT, FIELD(output), "FILE", "where to (default ./msda-tune-report.html); - is stdout"},
    {"db", 0, MT_OPTION_TEXT, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {0},
};

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const report_values *values = arguments->values;
    const char *output = values->output ? values->output : "./msda-tune-report.html";
    mt_store *store = NULL;
    mt_strbuf page = {0};
    mt_filter_box box;
    mt_status st = MT_OK;
    mt_filter_fill(&values->filter, &box);
    MT_TRY(mt_database_open(values->db, &store, err));
    MT_TRY(mt_report_render(store, &box.filter, &page, err));
    MT_TRY(mt_file_write_output(output, page.text, page.length, err));
    if (strcmp(output, "-") != 0) printf("%s\n", output);
done:
    mt_strbuf_free(&page);
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_report = {
    .name = "report",
    .summary = "write a self-contained HTML report of a database",
    .help = "Writes one HTML file that loads nothing from outside, and prints its path. A database without results exits 4.",
    .options = options,
    .values_size = sizeof(report_values),
    .run = run,
};
