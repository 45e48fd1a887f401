/* msda-tune compile: the winners' code for a database that came without it, as shipped rows do. Needs NVRTC and no GPU. */
#include "tuner/cli/command.h"
#include "tuner/cli/measure/compile_winners.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"

typedef struct compile_values {
    mt_filter_values filter;
    const char *db, *space;
    int64_t jobs;
    double compile_limit_s;
    bool no_cache, seal;
} compile_values;

#define FIELD(name) offsetof(compile_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space of the kernels; default: the shipped one of each"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "compile workers (default: the host's cores, at most 32)"},
    {"compile-limit", 0, MT_OPTION_SECONDS, FIELD(compile_limit_s), "S", "longest compile of one variant (default 60)"},
    {"no-cache", 0, MT_OPTION_FLAG, FIELD(no_cache), NULL, "neither use nor fill the cache of compiled kernels"},
    {"seal", 0, MT_OPTION_FLAG, FIELD(seal), NULL, "leave the database fit for shipping: one file, readable on\nread-only media"},
    {0},
};

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const compile_values *values = arguments->values;
    mt_store *store = NULL;
    mt_filter_box box;
    mt_origin measured = MT_ORIGIN_MEASURED;
    mt_compile_total total = {0};
    mt_status st = MT_OK;
    const mt_compile_wishes wishes = {.space = values->space, .jobs = (size_t)values->jobs, .compile_limit_s = values->compile_limit_s, .no_cache = values->no_cache};
    mt_filter_fill(&values->filter, &box);
    if (!box.filter.origin) box.filter.origin = &measured; /* others are never answered with */
    MT_TRY(mt_database_open_as(values->db, MT_STORE_READ_WRITE, &store, err));
    MT_TRY(mt_compile_missing(store, &box.filter, &wishes, &total, err));
    if (!total.winners) MT_LEAVE(mt_database_nothing(store, &box.filter, err));
    mt_tell("%zu of %zu winners have their code\n", total.winners - total.failed, total.winners);
    if (total.failed) st = MT_FAIL(err, MT_ERR_COMPILE, "%zu of %zu winners without code were not compiled", total.failed, total.wanted);
done:
    if (store && values->seal && (st == MT_OK || st == MT_ERR_COMPILE)) {
        mt_error sealing;
        mt_status sealed = mt_store_seal(store, &sealing);
        if (sealed != MT_OK && st == MT_OK) st = MT_FAIL(err, sealed, "%s", sealing.message);
    }
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_compile = {
    .name = "compile",
    .summary = "compile the winners of a database, without a GPU",
    .help = "Files that were imported, and the tuned rows that come with the tool, hold no compiled code. This\n"
            "compiles what is missing with NVRTC, from the shipped search spaces (or --space), so that lookups\n"
            "can hand it out. Rows of another version of a kernel's source are told and left as they are. Exit\n"
            "code 1 when a winner could not be compiled. Files that came with the tool are never written: compile\n"
            "a copy, and open that with TUNELOOKUP_USER_CUBINS.\n\n"
            "  cp /usr/share/msda-tune-shipped/tuned.sqlite . && msda-tune compile --db tuned.sqlite --seal",
    .options = options,
    .values_size = sizeof(compile_values),
    .run = run,
};
