/* msda-tune export: rows of a database as a file that another machine can import. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/recording/recording.h"
#include "db/exchange/recording/t4.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/command.h"
#include "tuner/cli/lookup/table_answers.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"

typedef struct export_values {
    mt_filter_values filter;
    const char *db, *output, *kernel_key, *shapes, *vllm;
    bool recording, jsonl, tuned, t4, c_table;
} export_values;

#define FIELD(name) offsetof(export_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"kernel-key", 0, MT_OPTION_TEXT, FIELD(kernel_key), "KEY", "only this version of the kernel's source; its first digits suffice"},
    {"recording", 0, MT_OPTION_FLAG, FIELD(recording), NULL, "a recording: the newest row of each variant of one subject"},
    {"jsonl", 0, MT_OPTION_FLAG, FIELD(jsonl), NULL, "recordings of all subjects that the filters leave, in one file"},
    {"tuned", 0, MT_OPTION_FLAG, FIELD(tuned), NULL, "the same, but only the rows that lookups need: winners, what they were\ncompared with, the portfolio's candidates; measured ones unless\n--origin says otherwise"},
    {"t4", 0, MT_OPTION_FLAG, FIELD(t4), NULL, "the same as a T4 file, for other tools"},
    {"c-table", 0, MT_OPTION_FLAG, FIELD(c_table), NULL, "what libtunelookup answers for the tuned shapes of one kernel on one\nGPU, as a C header that needs no library"},
    {"vllm", 0, MT_OPTION_FOLDER, FIELD(vllm), "FOLDER", "the same as JSON of vLLM's form, for products of matrices: a file for\neach N and K, of all M"},
    {"shapes", 0, MT_OPTION_INPUT, FIELD(shapes), "FILE", "with --c-table, --vllm: these too, values of a shape on each line,\n\"M=1;N=2;dtype=f16\""},
    {"output", 'o', MT_OPTION_OUTPUT, FIELD(output), "FILE", "where to; .zst or .gz compresses"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {0},
};

/* A replay of such a row can only repeat that it was slow. */
static mt_status warn_of_censored(mt_store *store, const mt_filter *filter, mt_error *err)
{
    int64_t counts[MT_OUTCOME_KIND_COUNT];
    mt_status st = mt_query_outcome_counts(store, filter, counts, err);
    if (st == MT_OK && counts[MT_OUTCOME_CENSORED])
        mt_log_warn("%lld evaluations were stopped as too slow; a recording should be made with tune --no-race", (long long)counts[MT_OUTCOME_CENSORED]);
    return st;
}

static mt_status write_t4(const export_values *values, mt_store *store, const mt_filter *filter, mt_error *err)
{
    size_t untried = 0;
    mt_status st = mt_t4_export(store, filter, values->output, &untried, err);
    if (st == MT_OK && untried) mt_log_warn("%zu row%s of variants that nobody tried (not recorded, or the compiler was killed) %s left out: T4 has no word for them", untried, untried == 1 ? "" : "s", untried == 1 ? "is" : "are");
    return st;
}

static mt_status write_file(const export_values *values, mt_store *store, const mt_filter *filter, mt_error *err)
{
    if (values->t4) return write_t4(values, store, filter, err);
    if (values->recording) return mt_recording_export(store, filter, values->output, err);
    return mt_recording_export_all(store, filter, values->tuned, values->output, err);
}

static mt_status write_table(const export_values *values, mt_store *store, const mt_filter *filter, mt_error *err)
{
    mt_table_answers answers = {0};
    mt_strbuf text = {0};
    mt_status st = mt_table_answers_ask(store, filter, values->shapes, &answers, err);
    if (st == MT_ERR_NOTHING_VALID && !answers.kernel) st = mt_database_nothing(store, filter, err);
    if (st != MT_OK) goto done;
    if (answers.unanswered) mt_log_warn("%zu shape%s left out: the library has no answer for %s", answers.unanswered, answers.unanswered == 1 ? " is" : "s are", answers.unanswered == 1 ? "it" : "them");
    if (values->vllm) MT_LEAVE(mt_vllm_write(&answers, values->vllm, err));
    MT_TRY(mt_c_table(&answers, &text, err));
    MT_TRY(mt_file_write_output(values->output, mt_strbuf_text(&text), text.length, err));
    if (strcmp(values->output, "-") != 0) mt_tell("%s: %zu shapes\n", values->output, answers.row_count);
done:
    mt_strbuf_free(&text);
    mt_table_answers_free(&answers);
    return st;
}

static mt_status check_words(const export_values *values, mt_error *err)
{
    bool is_table = values->c_table || values->vllm;
    if (values->recording + values->jsonl + values->tuned + values->t4 + values->c_table + (values->vllm != NULL) != 1)
        return MT_FAIL(err, MT_ERR_USAGE, "export: say what: --recording, --jsonl, --tuned, --t4, --c-table or --vllm FOLDER");
    if (!values->output != (values->vllm != NULL)) return MT_FAIL(err, MT_ERR_USAGE, values->output ? "export: --vllm names its folder, and takes no -o" : "export: -o FILE is missing");
    if (values->shapes && !is_table) return MT_FAIL(err, MT_ERR_USAGE, "export: --shapes goes with --c-table and --vllm");
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const export_values *values = arguments->values;
    mt_store *store = NULL;
    mt_filter_box box;
    mt_status st = MT_OK;
    mt_origin measured = MT_ORIGIN_MEASURED;
    MT_TRY(check_words(values, err));
    mt_filter_fill(&values->filter, &box);
    box.filter.kernel_key = values->kernel_key;
    box.filter.with_samples = true;
    bool is_table = values->c_table || values->vllm;
    if ((values->tuned || is_table) && !box.filter.origin) box.filter.origin = &measured;
    MT_TRY(mt_database_open(values->db, &store, err));
    if (is_table) MT_LEAVE(write_table(values, store, &box.filter, err));
    st = write_file(values, store, &box.filter, err);
    if (st == MT_ERR_NOTHING_VALID && values->tuned) mt_database_other_origins(store, &box.filter, err);
    if (st != MT_OK) goto done;
    if (strcmp(values->output, "-") != 0) mt_tell("%s\n", values->output);
    if (!values->tuned) MT_TRY(warn_of_censored(store, &box.filter, err));
done:
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_export = {
    .name = "export",
    .summary = "write recordings, T4 files, or tables of answers",
    .help = "Writes the newest row of each variant: as JSON lines (--recording, --jsonl, --tuned) or as T4,\n"
            "compressed when FILE ends in .zst or .gz. With --recording the filters must leave exactly one GPU,\n"
            "kernel version, shape, workload, cache state and origin; otherwise the message lists what there is.\n"
            "'msda-tune import' reads all of them back.\n\n"
            "--c-table and --vllm write answers instead of rows, for programs without the library: for each tuned\n"
            "shape of one kernel on one GPU, and for those of --shapes, what libtunelookup says of it. --workload\n"
            "chooses shapes alone: answers are those for all workloads. Nothing is predicted for other shapes.\n\n"
            "  msda-tune export --recording --kernel NAME --shape NAME --gpu h100 -o FILE.jsonl.zst\n"
            "  msda-tune export --tuned --kernel NAME --gpu h100 -o FILE.jsonl\n"
            "  msda-tune export --t4 --kernel NAME -o FILE.json.gz\n"
            "  msda-tune export --c-table --kernel NAME --gpu h200 -o tuned.h",
    .options = options,
    .values_size = sizeof(export_values),
    .run = run,
};
