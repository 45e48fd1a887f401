/* msda-tune import: recordings and exports into a database. The build makes share/msda-tune/recordings.sqlite with it. */
#include <stdio.h>

#include "db/recording.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/command.h"

typedef struct import_values {
    const char *db;
    int origin;
    bool seal;
} import_values;

#define FIELD(name) offsetof(import_values, name)
static const mt_option options[] = {
    {"db", 0, MT_OPTION_TEXT, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"as", 0, MT_OPTION_CHOICE, FIELD(origin), "imported|recorded|measured", "what the rows are marked as (default imported); measured trusts\nthe file as this machine's own results: lookups answer from it"},
    {"seal", 0, MT_OPTION_FLAG, FIELD(seal), NULL, "leave the database fit for shipping: one file, readable on\nread-only media (with --as recorded always)"},
    {0},
};

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const import_values *values = arguments->values;
    static const mt_origin origins[] = {MT_ORIGIN_IMPORTED, MT_ORIGIN_IMPORTED, MT_ORIGIN_RECORDED, MT_ORIGIN_MEASURED};
    mt_origin origin = origins[values->origin];
    char *path = NULL;
    mt_store *store = NULL;
    mt_status st = MT_OK;
    if (!arguments->operand_count && !values->seal) return MT_FAIL(err, MT_ERR_USAGE, "import: FILE is missing");
    MT_TRY(mt_store_writable_path(values->db, &path, err));
    MT_TRY(mt_store_open(path, MT_STORE_READ_WRITE, &store, err));
    for (size_t i = 0; i < arguments->operand_count; i++) MT_TRY(mt_recording_import(store, arguments->operands[i], origin, err));
    if (values->seal || origin == MT_ORIGIN_RECORDED) MT_TRY(mt_store_seal(store, err)); /* recordings are made to be shipped */
    printf("%zu file%s imported into %s\n", arguments->operand_count, arguments->operand_count == 1 ? "" : "s", path);
done:
    mt_store_close(store);
    mt_free(path);
    return st;
}

const mt_command mt_cmd_import = {
    .name = "import",
    .summary = "read recordings into a database",
    .operands = "FILE…",
    .help = "Reads files that 'msda-tune export' wrote, each in one transaction: all of it or nothing. Imported and recorded rows\n"
            "never mix with measured ones. --as measured is for files that you vouch for (the tuned rows that come with the tool);\n"
            "cubins are in none of them.",
    .options = options,
    .values_size = sizeof(import_values),
    .run = run,
};
