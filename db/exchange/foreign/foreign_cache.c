/* What stands in front of the results of a Kernel Tuner cache: kernel_name, problem_size, tune_params_keys, tune_params. Restrictions, arguments and the launch are in the script alone. */
#include <string.h>

#include "db/exchange/foreign/foreign_internal.h"
#include "tuner/base/alloc.h"

/* The order of the names is tune_params_keys', where that is there. */
static mt_status read_names(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_python_name *added;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT atom FROM json_each(?1, '$.tune_params_keys') WHERE json_type(?1, '$.tune_params_keys') = 'array' UNION ALL "
        "SELECT key FROM json_each(?1, '$.tune_params') WHERE json_type(?1, '$.tune_params_keys') IS NOT 'array'", MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read the knobs", &st, err)) st = mt_foreign_add_name(f, mt_sql_column(rows.statement, 0), true, "tune_params_keys", &added, err);
    return st == MT_OK && !f->scope.count ? mt_foreign_fail(f, "tune_params", err, "has no name, expected one at least") : st;
}

static mt_status read_values(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT k.key, v.type, v.value FROM json_each(?1, '$.tune_params') k, json_each(CASE k.type WHEN 'array' THEN k.value ELSE json_array(k.value) END) v",
        MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read the knobs' values", &st, err)) {
        const char *key = mt_sql_column(rows.statement, 0);
        mt_python_name *name = mt_python_find(&f->scope, key, strlen(key));
        if (name) st = mt_foreign_add_value(f, name, rows.statement, 1, "tune_params", err);
    }
    for (size_t i = 0; i < f->scope.count && st == MT_OK; i++)
        if (!f->scope.names[i].count) st = mt_foreign_fail(f, "tune_params", err, "%s has no value, expected one at least", f->scope.names[i].name);
    return st;
}

/* block_size_x, _y and _z are the block by Kernel Tuner's own rule. */
static void add_block(mt_foreign *f)
{
    static const char *const names[] = {"block_size_x", "block_size_y", "block_size_z"};
    for (size_t i = 0; i < 3 && mt_python_find(&f->scope, names[i], strlen(names[i])); i++) mt_strbuf_addf(&f->block, "%s%s", i ? ", " : "", names[i]);
}

mt_status mt_foreign_read_cache(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_foreign_member kernel = {.text = NULL};
    int64_t sizes = 0;
    mt_sql_args rows;
    MT_TRY(read_names(f, err));
    MT_TRY(read_values(f, err));
    MT_TRY(mt_foreign_get(f, f->text, "$.kernel_name", &kernel, err));
    if (strcmp(kernel.type, "text") == 0) {
        f->kernel = kernel.text;
        kernel.text = NULL;
    }
    rows = mt_sql_query(f->parser, "SELECT type, atom FROM json_tree(?1, '$.problem_size') WHERE type NOT IN ('array', 'object')", MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read the problem's size", &st, err))
        if (strcmp(mt_sql_column(rows.statement, 0), "integer") == 0 && sizes < 3) mt_strbuf_addf(&f->shape, "%c = %s\n", "NMK"[sizes++], mt_sql_column(rows.statement, 1));
    add_block(f);
    mt_foreign_missing(f, &f->notes, "the restrictions of the script, as [constraints]: NAME = CONDITION; delete this line where there are none");
done:
    mt_free(kernel.text);
    return st;
}
