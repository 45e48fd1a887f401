/* msda-tune import: recordings, Kernel Tuner caches and T4 files into a database. The build makes share/msda-tune-shipped/recordings.sqlite with it. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/recording/recording.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/described_space.h"
#include "tuner/cli/requests/results.h"
#include "tuner/cli/share.h"
#include "tuner/predictor/table.h"

typedef struct import_values {
    const char *db, *output, *gpu, *name, *problem, *space, *description;
    int origin;
    bool seal;
} import_values;

#define FIELD(name) offsetof(import_values, name)
static const mt_option options[] = {
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder;\nfor recorded rows recordings.sqlite there"},
    {"as", 0, MT_OPTION_CHOICE, FIELD(origin), "imported|recorded|measured", "what the rows are marked as (default imported; results of other\ntools: recorded); measured trusts the file as this machine's own\nresults: lookups answer from it"},
    {"output", 'o', MT_OPTION_OUTPUT, FIELD(output), "FILE", "write a recording (.jsonl, .zst or .gz compresses) instead of\nfilling a database"},
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "results of other tools: the GPU, where the file does not say it"},
    {"name", 0, MT_OPTION_TEXT, FIELD(name), "NAME", "results of other tools: the kernel's name, instead of the file's"},
    {"problem-size", 0, MT_OPTION_TEXT, FIELD(problem), "N,N,…", "results of other tools: the problem's size, instead of the file's"},
    {"space-out", 0, MT_OPTION_OUTPUT, FIELD(space), "FILE", "results of other tools: where the search space is written\n(default NAME.ini)"},
    {"space", 0, MT_OPTION_INPUT, FIELD(description), "FILE", "write a search space (-o, default FILE's name with .ini) for the\nproblem that another tool's file describes: a T1 file, a Kernel\nTuner cache, results of KTT; imports no results"},
    {"seal", 0, MT_OPTION_FLAG, FIELD(seal), NULL, "leave the database fit for shipping: one file, readable on\nread-only media (with --as recorded always)"},
    {0},
};

typedef struct importing {
    const import_values *values;
    mt_store *store;     /* opened when the first file is at hand: its format decides which */
    char *path;          /* of it */
    bool has_recorded;
    int64_t left_out;    /* lines, of all files */
} importing;

/* What other tools recorded is a recorded GPU; what this tool wrote is a stranger's until someone vouches for it. */
static mt_origin origin_of(const importing *im, bool is_recording)
{
    static const mt_origin chosen[] = {MT_ORIGIN_IMPORTED, MT_ORIGIN_IMPORTED, MT_ORIGIN_RECORDED, MT_ORIGIN_MEASURED};
    return im->values->origin || is_recording ? chosen[im->values->origin] : MT_ORIGIN_RECORDED;
}

static mt_status open_store(importing *im, mt_origin origin, mt_error *err)
{
    mt_status st = MT_OK;
    if (im->store) return MT_OK;
    if (origin == MT_ORIGIN_RECORDED && !im->values->db) MT_TRY(mt_share_own_recordings(true, &im->path, err));
    else MT_TRY(mt_store_writable_path(im->values->db, &im->path, err));
    st = mt_store_open(im->path, MT_STORE_READ_WRITE, &im->store, err);
done:
    return st;
}

static mt_status take(importing *im, const char *file, const void *bytes, size_t length, mt_origin origin, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(open_store(im, origin, err));
    int64_t left_out;
    MT_TRY(mt_recording_import_bytes(im->store, bytes, length, file, origin, &left_out, err));
    im->left_out += left_out;
    im->has_recorded = im->has_recorded || origin == MT_ORIGIN_RECORDED;
done:
    return st;
}

static mt_status write_output(const importing *im, const void *bytes, size_t length, mt_error *err)
{
    mt_strbuf text = {0};
    mt_strbuf_add_bytes(&text, bytes, length);
    mt_status st = mt_recording_write(im->values->output, &text, err);
    mt_strbuf_free(&text);
    if (st == MT_OK && strcmp(im->values->output, "-") != 0) mt_tell("%s\n", im->values->output);
    return st;
}

static void print_next(const importing *im, const mt_import_about *about, const mt_results *results, mt_origin origin)
{
    mt_tell("%zu result%s of a %s\nSearch space: %s\n", about->results, about->results == 1 ? "" : "s", about->format, mt_strbuf_text(&results->space_path));
    if (origin != MT_ORIGIN_RECORDED || im->values->output) return;
    mt_strbuf command = {0};
    char gpu[sizeof results->model + sizeof "recorded:"];
    snprintf(gpu, sizeof gpu, "recorded:%s", results->model);
    mt_print_program(&command);
    mt_print_option(&command, "--gpu", gpu);
    mt_print_option(&command, "--space", mt_strbuf_text(&results->space_path));
    mt_print_option(&command, "--recordings", im->values->db);
    mt_tell("Next:         %s\n", mt_strbuf_text(&command));
    mt_strbuf_free(&command);
}

/* What ranks here is the time, whatever the other tool looked for. */
static void tell_objective(const char *file, const char *objective)
{
    mt_strbuf name = {0};
    mt_print_clean(&name, objective, 60);
    mt_log_warn("%s: its objective is %s; here the results are ranked by their time, and values of %s are not kept", file, mt_strbuf_text(&name), mt_strbuf_text(&name));
    mt_strbuf_free(&name);
}

/* Words that names of the file stand in. */
static void tell_clean(const char *file, const char *words)
{
    mt_strbuf text = {0};
    mt_print_clean(&text, words, 0);
    mt_log_warn("%s: %s", file, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

/* What of the file became something else than it says. */
static void tell_changes(const import_values *values, const char *file, const mt_import_about *about)
{
    mt_strbuf problem = {0};
    if (about->unread_problem) mt_print_clean(&problem, about->unread_problem, 60);
    if (about->unread_problem && !values->problem)
        mt_log_warn("%s: its problem_size is %s, which is no number and no list of numbers: the shape is called default; --problem-size N,N says what it is", file, mt_strbuf_text(&problem));
    if (about->why_timeless) mt_log_warn("%s; %zu result%s left out", about->why_timeless, about->timeless, about->timeless == 1 ? " is" : "s like it are");
    if (about->why_odd) mt_log_warn("%s; there %s %zu such result%s", about->why_odd, about->odd == 1 ? "is" : "are", about->odd, about->odd == 1 ? "" : "s");
    if (about->renamed) tell_clean(file, about->renamed);
    mt_strbuf_free(&problem);
}

/* Another tool's file does not say which state of the source it is of: results of two files of one kernel rank together. */
static mt_status tell_mixed(const importing *im, const char *file, const void *bytes, size_t length, mt_error *err)
{
    mt_recording_mixed mixed;
    mt_strbuf name = {0};
    mt_status st = mt_recording_find_mixed(im->store, bytes, length, &mixed, err);
    if (mixed.count) mt_print_clean(&name, mixed.name, 0);
    if (mixed.count)
        mt_log_warn("%s: is of the same kernel, GPU and shape as %s, of which %lld result%s still count%s: they rank together. If the kernel was edited in between, import one of them as another kernel, by --name",
                    file, mt_strbuf_text(&name), (long long)mixed.count, mixed.count == 1 ? "" : "s", mixed.count == 1 ? "s" : "");
    mt_strbuf_free(&name);
    mt_free(mixed.name);
    return st;
}

/* Another tool's file tells a kernel by its name alone: with other knobs it is another kernel, whose rows would be none of the one that is there. */
static mt_status check_knobs(importing *im, const char *file, const char *recording, mt_origin origin, mt_error *err)
{
    char *told = NULL, *known = NULL;
    mt_status st = MT_OK;
    MT_TRY(open_store(im, origin, err));
    MT_TRY(mt_recording_compare_knobs(im->store, recording, &told, &known, err));
    if (*told && *known && strcmp(told, known) != 0)
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: its kernel has the knobs %.200s, and the one of that name in %s has %.200s: expected --name with another name", file, told, im->path, known);
done:
    mt_free(told);
    mt_free(known);
    return st;
}

static mt_status import_file(importing *im, const char *file, mt_error *err)
{
    const import_values *values = im->values;
    mt_status st = MT_OK;
    mt_import *import = NULL;
    mt_results results = {0};
    bool is_named = values->gpu || values->name || values->problem || values->space;
    MT_TRY(is_named ? mt_import_open_results(file, &import, err) : mt_import_open(file, &import, err));
    const mt_import_about *about = mt_import_describe(import);
    const mt_results_options asked = {values->gpu, values->name, values->problem, values->space};
    mt_origin origin = origin_of(im, about->is_recording);
    size_t length;
    const void *bytes = mt_import_recording(import, &length);
    if (about->is_unfinished) mt_log_warn("%s: is cut short, or the run that wrote it did not finish; what is complete is taken", file);
    if (about->objective) tell_objective(file, about->objective);
    tell_changes(values, file, about);
    if (!about->is_recording) {
        MT_TRY(mt_results_convert(import, file, &asked, &results, err));
        bytes = mt_strbuf_text(&results.recording);
        length = results.recording.length;
    } else if (is_named) {
        st = MT_FAIL(err, MT_ERR_USAGE, "import: %s is no Kernel Tuner cache and no T4 file: --gpu, --name, --problem-size and --space-out are for these (a recording says itself what it is of)", file);
        goto done;
    }
    if (!about->is_recording && !values->output) MT_TRY(check_knobs(im, file, bytes, origin, err));
    MT_TRY(values->output ? write_output(im, bytes, length, err) : take(im, file, bytes, length, origin, err));
    if (!about->is_recording) MT_TRY(mt_results_write_space(&results, err));
    if (!about->is_recording && im->store) MT_TRY(tell_mixed(im, file, bytes, length, err));
    if (!about->is_recording) print_next(im, about, &results, origin);
done:
    if (st != MT_OK) mt_text_one_line(err->message, strlen(err->message)); /* names and values of the file stand in it */
    mt_results_free(&results);
    mt_import_close(import);
    return st;
}

static mt_status check(const mt_arguments *arguments, mt_error *err)
{
    const import_values *values = arguments->values;
    size_t count = arguments->operand_count;
    if (values->description && (count || values->db || values->seal || values->origin || values->gpu || values->name || values->problem || values->space)) return MT_FAIL(err, MT_ERR_USAGE, "import: --space FILE writes a search space and imports nothing: expected -o alone beside it");
    if (values->description) return MT_OK;
    if (!count && !values->seal) return MT_FAIL(err, MT_ERR_USAGE, "import: FILE is missing");
    if (values->output && (count != 1 || values->db || values->seal || values->origin)) return MT_FAIL(err, MT_ERR_USAGE, "import: -o FILE takes one file and fills no database: expected neither --db, --as nor --seal");
    if (count > 1 && (values->space || values->name)) return MT_FAIL(err, MT_ERR_USAGE, "import: --name and --space-out are for one file, there are %zu", count);
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    importing im = {.values = arguments->values};
    mt_status st = MT_OK;
    MT_TRY(check(arguments, err));
    if (im.values->description) return mt_describe_space(im.values->description, im.values->output, err);
    for (size_t i = 0; i < arguments->operand_count; i++) MT_TRY(import_file(&im, arguments->operands[i], err));
    if (im.values->output) goto done;
    MT_TRY(open_store(&im, origin_of(&im, true), err)); /* --seal alone */
    if (arguments->operand_count) MT_TRY(mt_predictor_refresh_all(im.store, err));
    if (im.values->seal || im.has_recorded) MT_TRY(mt_store_seal(im.store, err)); /* recordings are made to be shipped */
    mt_tell("%zu file%s imported into %s", arguments->operand_count, arguments->operand_count == 1 ? "" : "s", im.path);
    if (im.left_out) mt_tell("; %lld line%s left out", (long long)im.left_out, im.left_out == 1 ? "" : "s");
    mt_tell("\n");
done:
    if (st == MT_OK) mt_store_close(im.store);
    else mt_store_close_unused(im.store);
    mt_free(im.path);
    return st;
}

const mt_command mt_cmd_import = {
    .name = "import",
    .summary = "read recordings and other tools' results into a database",
    .operands = "FILE…",
    .help = "Reads files that 'msda-tune export' wrote, Kernel Tuner caches and T4 files (.json, .json.gz), each\n"
            "in one transaction. Lines of a recording that are damaged, or hold what no tuner writes, are named\n"
            "and left out. Other tools' results become a recorded GPU, and a search space is written that lives\n"
            "on them. Imported and recorded rows never mix with measured ones. --as measured is for files that\n"
            "you vouch for (the tuned rows that come with the tool); cubins are in none of them.\n\n"
            "  msda-tune import cache.json.gz --name convolution\n"
            "  msda-tune import results_T4.json --gpu a100 --name convolution\n\n"
            "--space FILE writes a search space to tune the kernel itself, with comments where the file does not\n"
            "tell what it needs:\n\n"
            "  msda-tune import --space blur-T1.json && msda-tune check --space blur-T1.ini --sample",
    .options = options,
    .values_size = sizeof(import_values),
    .run = run,
};
