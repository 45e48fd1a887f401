/* msda-tune lookup: what libtunelookup tells a program that asks, and why. */
#include <string.h>

#include "db/key.h"
#include "tuner/cli/command.h"
#include "tuner/cli/lookup/known_answer.h"
#include "tuner/cli/lookup/lookup_print.h"

typedef struct lookup_values {
    const char *gpu, *kernel, *shape, *workload, *member, *space, *db;
    mt_texts set;
    mt_limit max_error;
    bool json;
} lookup_values;

#define FIELD(name) offsetof(lookup_values, name)
static const mt_option options[] = {
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "auto (default), a device number, a known GPU's name (h100),\nor recorded:NAME"},
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "the kernel, or NAME@KEY for one state of its source; may be left\nout when the database has one only"},
    {"shape", 0, MT_OPTION_TEXT, FIELD(shape), "NAME", "a shape of the database or of --space, or one by its values:\n\"N=1;M=8;H=92,46;dtype=f16\""},
    {"set", 0, MT_OPTION_TEXTS, FIELD(set), "NAME=VALUE", "another value for one of the shape's; may be repeated"},
    {"workload", 0, MT_OPTION_TEXT, FIELD(workload), "NAME", "only this workload; else the variant that does best on the workload\nwhere it does worst"},
    {"max-error", 0, MT_OPTION_LIMIT, FIELD(max_error), "E", "the fastest variant whose validated error is at most E\n(tunelookup_find_within)"},
    {"class", 0, MT_OPTION_TEXT, FIELD(member), "VARIANT", "the fastest variant with the bits of this one, as 'show --bits' lists\nit, on this shape and in batches of other sizes"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "take the shape from this search space"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "only this database; default: the user's over the shipped ones"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "an object instead of text"},
    {0},
};

static mt_status fail(tunelookup_status status, mt_error *err)
{
    mt_status st = MT_ERR_DB;
    if (status == TUNELOOKUP_ERR_NO_MEMORY) st = MT_ERR_NO_MEMORY;
    if (status == TUNELOOKUP_ERR_NAMES) st = MT_ERR_USAGE;
    if (status == TUNELOOKUP_ERR_IO) st = MT_ERR_IO;
    if (status == TUNELOOKUP_ERR_NOT_FOUND || status == TUNELOOKUP_ERR_UNKNOWN_KERNEL) st = MT_ERR_NOTHING_VALID;
    if (status == TUNELOOKUP_ERR_NEWER_SCHEMA && *tunelookup_detail()) return MT_FAIL(err, st, "lookup: %s", tunelookup_detail()); /* says it already */
    return MT_FAIL(err, st, "lookup: %s%s%s", tunelookup_strerror(status), *tunelookup_detail() ? ": " : "", tunelookup_detail());
}

/* That nothing is within the limit, or has the bits, is an answer: the result says so. */
static tunelookup_status find(const lookup_values *values, const mt_lookup_query *asked, tunelookup_db *db, tunelookup_result *result)
{
    tunelookup_device device = mt_known_answer_device(&asked->facts);
    tunelookup_plan *plan = NULL;
    tunelookup_status status = tunelookup_prepare(db, &device, asked->kernel, (const char *const *)asked->names, asked->name_count, &plan);
    if (status != TUNELOOKUP_OK) return status;
    if (values->max_error.is_given) status = tunelookup_find_within(plan, asked->numbers, values->max_error.most, result);
    else status = tunelookup_find(plan, asked->numbers, result);
    return status == TUNELOOKUP_ERR_NOT_WITHIN || status == TUNELOOKUP_ERR_NOT_IN_CLASS ? TUNELOOKUP_OK : status;
}

/* Nothing is run here, so the user's cubins do no harm. */
static unsigned flags_of(const lookup_values *values, bool is_recorded)
{
    return TUNELOOKUP_USER_CUBINS | (is_recorded ? TUNELOOKUP_RECORDED : 0) | (values->max_error.is_given ? TUNELOOKUP_ERRORS : 0);
}

/* Whether recorded rows have an answer, where the others have none. */
static bool recorded_rows_answer(const lookup_values *values, const mt_lookup_query *asked)
{
    tunelookup_db *db = NULL;
    tunelookup_result result;
    tunelookup_status status = tunelookup_open(values->db, flags_of(values, true), &db);
    if (status == TUNELOOKUP_OK) status = find(values, asked, db, &result);
    bool do_answer = status == TUNELOOKUP_OK && result.match != TUNELOOKUP_MATCH_NONE;
    tunelookup_close(db);
    return do_answer;
}

static mt_status ask(const lookup_values *values, const mt_lookup_query *asked, tunelookup_db *db, mt_error *err)
{
    tunelookup_device device = mt_known_answer_device(&asked->facts);
    tunelookup_result result;
    char gpu[MT_KEY_GPU_SIZE];
    tunelookup_status status = find(values, asked, db, &result);
    if (status == TUNELOOKUP_ERR_UNKNOWN_KERNEL && asked->space && !values->kernel)
        return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: nothing was tuned with the source of %s as it is now (%s); --kernel %.*s asks for any state of it", asked->space, asked->kernel,
                       (int)strcspn(asked->kernel, "@"), asked->kernel);
    if (status != TUNELOOKUP_OK) return fail(status, err);
    mt_key_gpu(device.name, device.cc, device.sm_count, device.mem_bytes, device.clock_mhz, gpu, sizeof gpu);
    mt_status st = values->json ? mt_lookup_print_json(stdout, asked, gpu, &result, err) : mt_lookup_print_text(stdout, asked, gpu, &result, err);
    if (st != MT_OK || result.match != TUNELOOKUP_MATCH_NONE) return st;
    bool has_recorded = !asked->is_recorded && recorded_rows_answer(values, asked);
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: no %s on this GPU with this shape%s%.*s%s", values->max_error.is_given ? "variant is known to be within --max-error" : values->member ? "variant is known to have the bits of --class" : "known variant may run", has_recorded ? " (for the recorded rows: --gpu recorded:" : "",
        has_recorded ? (int)strcspn(gpu, "|") : 0, gpu, has_recorded ? ")" : "");
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const lookup_values *values = arguments->values;
    const mt_lookup_query_options question = {values->gpu, values->kernel, values->shape, values->workload, values->member, values->space, values->db, &values->set};
    mt_lookup_query asked = {0};
    tunelookup_db *db = NULL;
    mt_status st = MT_OK;
    if (values->member && values->max_error.is_given) return MT_FAIL(err, MT_ERR_USAGE, "lookup: --class and --max-error: expected one of them");
    tunelookup_status status = values->db ? TUNELOOKUP_OK : tunelookup_open(NULL, 0, &db); /* what it refuses, it refuses in one voice */
    if (status != TUNELOOKUP_OK && status != TUNELOOKUP_ERR_NOT_FOUND) return fail(status, err);
    tunelookup_close(db);
    db = NULL;
    MT_TRY(mt_lookup_query_make(&question, &asked, err));
    status = tunelookup_open(values->db, flags_of(values, asked.is_recorded), &db);
    st = status == TUNELOOKUP_OK ? ask(values, &asked, db, err) : fail(status, err);
done:
    tunelookup_close(db);
    mt_lookup_query_free(&asked);
    return st;
}

const mt_command mt_cmd_lookup = {
    .name = "lookup",
    .summary = "what the lookup library answers for a GPU and a shape, and why",
    .help = "Asks libtunelookup as a program would and prints the match, the knobs, the launches evaluated for\n"
            "the shape and the arguments. Exits 4 when there is no answer; the text says why.\n\n"
            "  msda-tune lookup --gpu recorded:h200 --kernel NAME --shape NAME --set N=16\n"
            "  msda-tune lookup --gpu h200 --kernel softmax --shape \"ROWS=100;COLUMNS=4096\"",
    .options = options,
    .values_size = sizeof(lookup_values),
    .run = run,
};
