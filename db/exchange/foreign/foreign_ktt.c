/* Results of KTT: {"Metadata": {…}, "Results": [{"Configuration": [{"Name", "Value"}], "ComputationResults": [{"KernelFunction", "GlobalSize", "LocalSize"}], …}]}. The values are those that were
 * met; constraints and arguments are in the program alone. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/foreign/foreign_internal.h"
#include "tuner/base/alloc.h"

static mt_status read_configurations(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT DISTINCT json_extract(c.value, '$.Name'), json_type(c.value, '$.Value'), json_extract(c.value, '$.Value') "
        "FROM json_each(?1, '$.Results') r, json_each(r.value, '$.Configuration') c WHERE r.type = 'object' AND c.type = 'object'", MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read configurations", &st, err)) {
        const char *name = mt_sql_column(rows.statement, 0);
        mt_python_name *known = mt_python_find(&f->scope, name, strlen(name));
        if (!known) st = mt_foreign_add_name(f, name, true, "Configuration", &known, err);
        if (st == MT_OK) st = mt_foreign_add_value(f, known, rows.statement, 1, "Configuration", err);
    }
    return st == MT_OK && !f->scope.count ? mt_foreign_fail(f, "Results", err, "has no Configuration, expected parameters with \"Name\" and \"Value\"") : st;
}

/* A parameter that is the block's size in each result, or a number that it always is. Empty: neither. */
static mt_status find_size(mt_foreign *f, const char *axis, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    char path[64];
    snprintf(path, sizeof path, "$.ComputationResults[0].LocalSize.%s", axis);
    mt_sql_args rows = mt_sql_query(f->parser,
        "WITH sizes(results, size, configuration) AS (SELECT count(*) OVER (), json_extract(r.value, ?2), json_extract(r.value, '$.Configuration') FROM json_each(?1, '$.Results') r WHERE r.type = 'object') "
        "SELECT CAST(min(size) AS TEXT) FROM sizes HAVING min(size) = max(size) AND count(size) = count(*) UNION ALL "
        "SELECT json_extract(c.value, '$.Name') FROM sizes, json_each(configuration) c WHERE c.type = 'object' AND json_extract(c.value, '$.Value') = size GROUP BY 1 HAVING count(*) = max(results)",
        MT_IN(MT_TEXT(f->text), MT_TEXT(path)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read sizes", &st, err)) {
        const char *text = mt_sql_column(rows.statement, 0);
        bool is_size = strspn(text, "0123456789") == strlen(text) || mt_python_find(&f->scope, text, strlen(text));
        if (is_size && !out->length) mt_strbuf_add(out, text);
    }
    return st;
}

mt_status mt_foreign_read_ktt(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_foreign_member kernel = {.text = NULL};
    mt_strbuf parts[3] = {{0}};
    static const char *const axes[] = {"X", "Y", "Z"};
    MT_TRY(read_configurations(f, err));
    MT_TRY(mt_foreign_get(f, f->text, "$.Results[0].ComputationResults[0].KernelFunction", &kernel, err));
    if (strcmp(kernel.type, "text") == 0) {
        f->kernel = kernel.text;
        kernel.text = NULL;
    }
    for (int i = 0; i < 3; i++) MT_TRY(find_size(f, axes[i], &parts[i], err));
    if (parts[0].length && parts[1].length && parts[2].length) mt_strbuf_addf(&f->block, "%s, %s, %s", mt_strbuf_text(&parts[0]), mt_strbuf_text(&parts[1]), mt_strbuf_text(&parts[2]));
    mt_foreign_missing(f, &f->notes, "the constraints of the program, as [constraints]: NAME = CONDITION; delete this line where there are none");
done:
    for (int i = 0; i < 3; i++) mt_strbuf_free(&parts[i]);
    mt_free(kernel.text);
    return st;
}
