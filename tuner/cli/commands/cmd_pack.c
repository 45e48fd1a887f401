/* msda-tune pack: what a program needs of a database to run some kernels, as one file. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/pack_make.h"
#include "db/exchange/pack_sign.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/command.h"
#include "tuner/cli/measure/compile_winners.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"

typedef struct pack_values {
    mt_filter_values filter;
    const char *db, *output, *sign, *new_key, *kernel_key, *space, *member;
    int64_t jobs;
    bool compile;
} pack_values;

#define FIELD(name) offsetof(pack_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"kernel-key", 0, MT_OPTION_TEXT, FIELD(kernel_key), "KEY", "only this version of the kernel's source; its first digits suffice"},
    {"output", 'o', MT_OPTION_OUTPUT, FIELD(output), "FILE.pack", "where to; readers tell a pack by the end of its name"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"class", 0, MT_OPTION_TEXT, FIELD(member), "VARIANT", "also the rows of this variant, and of each shape the fastest with its\nbits: what lookups need that keep to its class"},
    {"compile", 0, MT_OPTION_FLAG, FIELD(compile), NULL, "compile the code that the database lacks, as 'msda-tune compile'\ndoes; the database stays as it is"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "with --compile: search space of the kernel; default: the shipped one"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "with --compile: compile workers (default: the host's cores, at most 32)"},
    {"sign", 0, MT_OPTION_INPUT, FIELD(sign), "FILE", "sign with this secret key"},
    {"new-key", 0, MT_OPTION_OUTPUT, FIELD(new_key), "FILE", "nothing else: make a secret key, and beside it FILE.pub, the public\none"},
    {0},
};

static mt_status make_key(const char *path, mt_error *err)
{
    mt_status st = mt_pack_key_make(path, err);
    if (st == MT_OK) mt_tell("%s signs, and is to be kept secret; %s.pub verifies\n", path, path);
    return st;
}

/* "2 kernels, 1 GPU: 345 winners; 120 pieces of code, 12.3 MiB (200 winners share one); 13.1 MiB in all" */
static void tell_size(const mt_pack_contents *c)
{
    mt_tell("%lld kernel%s, %lld GPU%s: %lld winner%s; %lld piece%s of code, %.1f MiB", (long long)c->kernels, c->kernels == 1 ? "" : "s", (long long)c->gpus, c->gpus == 1 ? "" : "s", (long long)c->winners,
            c->winners == 1 ? "" : "s", (long long)c->cubins, c->cubins == 1 ? "" : "s", (double)c->code_bytes / (1 << 20));
    if (c->shared) mt_tell(" (%lld winner%s the code of another)", (long long)c->shared, c->shared == 1 ? " has" : "s have");
    mt_tell("; %.1f MiB in all\n", (double)c->bytes / (1 << 20));
    fflush(stdout);
    if (c->without_code) mt_log_warn("%lld of %lld winners have no code in this pack: a program compiles them itself; --compile puts it in", (long long)c->without_code, (long long)c->winners);
}

static mt_status compile(mt_store *copy, const pack_values *values, const mt_filter *filter, mt_error *err)
{
    mt_compile_total total = {0};
    const mt_compile_wishes wishes = {.space = values->space, .jobs = (size_t)values->jobs};
    return values->compile ? mt_compile_missing(copy, filter, &wishes, &total, err) : MT_OK; /* what failed is told, and counted with what lacks code */
}

static mt_status check_words(const pack_values *values, mt_error *err)
{
    if (!values->output) return MT_FAIL(err, MT_ERR_USAGE, "pack: -o FILE.pack is missing");
    if (!mt_pack_is_name(values->output)) return MT_FAIL(err, MT_ERR_USAGE, "pack: -o %s: expected a name that ends in .pack, by which readers tell one", values->output);
    if ((values->space || values->jobs) && !values->compile) return MT_FAIL(err, MT_ERR_USAGE, "pack: --space and --jobs go with --compile");
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const pack_values *values = arguments->values;
    mt_store *store = NULL, *copy = NULL;
    mt_packed packed = {0};
    mt_filter_box box;
    mt_origin measured = MT_ORIGIN_MEASURED;
    mt_status st = MT_OK;
    if (values->new_key) return make_key(values->new_key, err);
    MT_TRY(check_words(values, err));
    mt_filter_fill(&values->filter, &box);
    box.filter.kernel_key = values->kernel_key;
    if (!box.filter.origin) box.filter.origin = &measured; /* others are never answered with */
    MT_TRY(mt_database_open(values->db, &store, err));
    if (mt_pack_is_name(mt_store_path(store))) MT_LEAVE(MT_FAIL(err, MT_ERR_USAGE, "%s: is a pack already, whose code lies apart; pack the database that it was made of", mt_store_path(store)));
    st = mt_pack_gather(store, &box.filter, values->member, &copy, err);
    if (st == MT_ERR_NOTHING_VALID) st = mt_database_nothing(store, &box.filter, err);
    if (st != MT_OK) goto done;
    MT_TRY(compile(copy, values, &box.filter, err));
    MT_TRY(mt_pack_make(copy, &box.filter, &packed, err));
    if (values->sign) MT_TRY(mt_pack_sign(values->sign, packed.bytes, err));
    tell_size(&packed.contents);
    MT_TRY(mt_file_write_output(values->output, packed.bytes, packed.contents.bytes, err));
    mt_tell("%s\n", values->output);
done:
    mt_packed_free(&packed);
    mt_store_close(copy);
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_pack = {
    .name = "pack",
    .summary = "put what a program needs to run kernels into one file",
    .help = "Writes the winners of some kernels on some GPUs with their code, what lookups need for other shapes,\n"
            "and hashes of it all. libtunelookup opens such a file as it opens a database, without a lock, and\n"
            "refuses it where a byte was changed; so do show, lookup and report. Who measured, and on which host,\n"
            "is not in it: equal rows and code make equal packs, byte for byte. 'msda-tune verify --pack' checks\n"
            "one as a whole, and whose it is.\n\n"
            "  msda-tune pack --kernel NAME --gpu h200 --compile -o FILE.pack\n"
            "  msda-tune pack --new-key release.key\n"
            "  msda-tune pack --kernel NAME --sign release.key -o FILE.pack\n"
            "  msda-tune verify --pack FILE.pack --key release.key.pub",
    .options = options,
    .values_size = sizeof(pack_values),
    .run = run,
};
