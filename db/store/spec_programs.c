#include "db/store/spec_programs.h"

#include <stdio.h>
#include <string.h>

#include "db/program.h"
#include "db/store/sql.h"
#include "tuner/base/alloc.h"

/* Members that are a program each, and lists of programs. */
static const char programs_sql[] =
    "SELECT atom, fullkey FROM json_tree(?1) WHERE type = 'text' AND (key IN ('when', 'value', 'requires', 'holds', 'smem', 'carveout', 'blocks_per_sm', 'count', 'offset') OR path GLOB '*.grid' OR path GLOB '*.block' "
    "OR path GLOB '*.cluster' OR path GLOB '*.dims' OR path GLOB '*.strides' OR path GLOB '*.box' OR path GLOB '$.args*.shape')";

static mt_status load(const char *text, bool *can, mt_error *err)
{
    mt_program *program = NULL;
    size_t bytes = mt_program_bytes(text);
    void *memory = mt_alloc(bytes, 1);
    if (!memory) return MT_FAIL(err, MT_ERR_NO_MEMORY, "expressions: out of memory");
    *can = mt_program_load(text, memory, bytes, &program, NULL) == MT_PROGRAM_OK;
    mt_free(memory);
    return MT_OK;
}

mt_status mt_spec_programs_check(mt_store *store, const char *spec_json, bool *are_sound, char *why, size_t size, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    *are_sound = true;
    MT_TRY(mt_sql_prepare(store, programs_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, spec_json);
    while (*are_sound && mt_sql_next(store, &args, "read a kernel's expressions", &st, err)) {
        MT_TRY(load(mt_sql_column(statement, 0), are_sound, err));
        if (!*are_sound) snprintf(why, size, "spec_json: the expression at %.80s can't be read: \"%.40s\"", mt_sql_column(statement, 1), mt_sql_column(statement, 0));
    }
done:
    sqlite3_finalize(statement);
    return st;
}
