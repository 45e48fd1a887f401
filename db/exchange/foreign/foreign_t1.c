/* T1 files: {"ConfigurationSpace": {"TuningParameters": […], "Conditions": […]}, "KernelSpecification": {…}, "BenchmarkConfig": {…}}. Lists, conditions and sizes are Python. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/foreign/foreign_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { MEMBER_SIZE = 96, CONDITION_LIMIT = 500 };

/* A member that must be a text. */
static mt_status get_text(const mt_foreign *f, const char *json, const char *path, const char *member, char **text, mt_error *err)
{
    mt_foreign_member found;
    mt_status st = mt_foreign_get(f, json, path, &found, err);
    if (st == MT_OK && strcmp(found.type, "text") != 0) st = mt_foreign_fail(f, member, err, "%s is %s, expected a text", path + 2, *found.type ? found.type : "missing");
    if (st == MT_OK) *text = found.text;
    else mt_free(found.text);
    return st;
}

static mt_status need_array(const mt_foreign *f, const char *path, mt_error *err)
{
    mt_foreign_member found;
    mt_status st = mt_foreign_get(f, f->text, path, &found, err);
    if (st == MT_OK && strcmp(found.type, "array") != 0) st = mt_foreign_fail(f, path + 2, err, "%s, expected an array", *found.type ? found.type : "missing");
    mt_free(found.text);
    return st;
}

/* ---- parameters ---- */

static mt_status add_parameter(mt_foreign *f, const char *json, const char *member, mt_error *err)
{
    mt_status st = MT_OK;
    char *name = NULL;
    mt_python_name *added;
    mt_foreign_member standard = {.text = NULL};
    MT_TRY(get_text(f, json, "$.Name", member, &name, err));
    MT_TRY(mt_foreign_add_name(f, name, true, member, &added, err));
    MT_TRY(mt_foreign_get(f, json, "$.Default", &standard, err));
    if (!*standard.type) goto done;
    if (strcmp(standard.type, "true") == 0 || strcmp(standard.type, "false") == 0) snprintf(standard.text, 2, "%d", *standard.type == 't'); /* SQLite's own way */
    f->defaults[added - f->scope.names] = standard.text;
    standard.text = NULL;
done:
    mt_free(standard.text);
    mt_free(name);
    return st;
}

/* "Values" is Python in quotes, or a JSON array. */
static mt_status read_values(mt_foreign *f, const char *json, mt_python_name *name, const char *member, mt_error *err)
{
    mt_status st = MT_OK;
    mt_foreign_member values;
    mt_python python = {0};
    MT_TRY(mt_foreign_get(f, json, "$.Values", &values, err));
    if (strcmp(values.type, "array") == 0) {
        mt_sql_args rows = mt_sql_query(f->parser, "SELECT type, value FROM json_each(?1, '$.Values')", MT_IN(MT_TEXT(json)), &st, err);
        while (mt_sql_each(f->parser, &rows, "read values", &st, err)) st = mt_foreign_add_value(f, name, rows.statement, 0, member, err);
        if (st == MT_OK && !name->count) st = mt_foreign_fail(f, member, err, "Values of %s is empty, expected one at least", name->name);
    } else if (strcmp(values.type, "text") == 0) {
        st = mt_python_parse(values.text, &python, err);
        if (st == MT_OK) st = mt_python_values(&python, &f->scope, name, err);
        if (st != MT_OK) st = mt_error_prefix(err, st, "%s: %s, Values of %s", f->name, member, name->name);
    } else {
        st = mt_foreign_fail(f, member, err, "Values is %s, expected a text of Python such as \"[16, 32]\", or an array", *values.type ? values.type : "missing");
    }
done:
    mt_python_free(&python);
    mt_free(values.text);
    return st;
}

/* Integers that expressions may name. */
static mt_status read_constants(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT key, type, value FROM json_each(?1, '$.BenchmarkConfig') WHERE type = 'integer'", MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read constants", &st, err)) {
        const char *key = mt_sql_column(rows.statement, 0);
        mt_python_name *added = NULL;
        if (mt_python_find(&f->scope, key, strlen(key)) || !mt_text_is_identifier(key, strlen(key)) || f->scope.count > 50) continue;
        st = mt_foreign_add_name(f, key, false, "BenchmarkConfig", &added, err);
        if (st == MT_OK) st = mt_foreign_add_value(f, added, rows.statement, 1, "BenchmarkConfig", err);
    }
    return st;
}

/* Names first: a list may read constants, and these are what has no parameter's name. */
static mt_status read_parameters(mt_foreign *f, mt_error *err)
{
    static const char path[] = "$.ConfigurationSpace.TuningParameters";
    mt_status st = MT_OK;
    char member[MEMBER_SIZE];
    size_t count = 0;
    MT_TRY(need_array(f, path, err));
    for (int pass = 0; pass < 2 && st == MT_OK; pass++) {
        mt_sql_args rows = mt_sql_query(f->parser, "SELECT value FROM json_each(?1, ?2)", MT_IN(MT_TEXT(f->text), MT_TEXT(path)), &st, err);
        for (count = 0; mt_sql_each(f->parser, &rows, "read parameters", &st, err); count++) {
            const char *json = mt_sql_column(rows.statement, 0);
            snprintf(member, sizeof member, "TuningParameters[%zu]", count);
            if (*json != '{') st = mt_foreign_fail(f, member, err, "expected an object");
            else st = pass ? read_values(f, json, &f->scope.names[count], member, err) : add_parameter(f, json, member, err);
        }
        if (st == MT_OK && !pass) st = read_constants(f, err);
    }
    if (st == MT_OK && !count) st = mt_foreign_fail(f, path + 2, err, "is empty, expected one at least");
done:
    return st;
}

/* ---- conditions ---- */

/* With reference = default the default variant must be one that may run. */
static mt_status check_default(mt_foreign *f, const mt_python *python, const char *expression, mt_error *err)
{
    size_t chosen[64] = {0};
    bool holds = true;
    mt_error ignored;
    for (size_t i = 0; i < f->scope.count; i++)
        if (!mt_foreign_default(f, i, &chosen[i])) chosen[i] = 0;
    if (mt_python_holds(python, &f->scope, chosen, &holds, &ignored) != MT_OK || holds) return MT_OK;
    char *clean = mt_strdup(expression);
    if (!clean) return mt_no_memory(f->name, err);
    mt_text_one_line(clean, strlen(clean));
    mt_foreign_missing(f, &f->notes, "other defaults in [params]: theirs break the condition %s", clean);
    mt_free(clean);
    return MT_OK;
}

static mt_status add_condition(mt_foreign *f, const char *json, size_t number, mt_error *err)
{
    mt_status st = MT_OK;
    char *expression = NULL, member[MEMBER_SIZE];
    mt_python python = {0};
    mt_strbuf text = {0};
    snprintf(member, sizeof member, "Conditions[%zu]", number);
    if (*json == '{') MT_TRY(get_text(f, json, "$.Expression", member, &expression, err));
    else return mt_foreign_fail(f, member, err, "expected an object with an \"Expression\"");
    st = mt_python_parse(expression, &python, err);
    if (st == MT_OK) st = mt_python_condition(&python, &f->scope, &text, err);
    if (st != MT_OK) MT_LEAVE(mt_error_prefix(err, st, "%s: %s", f->name, member));
    if (strcmp(mt_strbuf_text(&text), "true") != 0) mt_strbuf_addf(&f->constraints, "condition_%zu = %s\n", number + 1, mt_strbuf_text(&text));
    st = check_default(f, &python, expression, err);
done:
    mt_python_free(&python);
    mt_strbuf_free(&text);
    mt_free(expression);
    return st;
}

static mt_status read_conditions(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = 0;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT value FROM json_each(?1, '$.ConfigurationSpace.Conditions')", MT_IN(MT_TEXT(f->text)), &st, err);
    for (; mt_sql_each(f->parser, &rows, "read conditions", &st, err); count++) {
        if (count == CONDITION_LIMIT) st = mt_foreign_fail(f, "Conditions", err, "more than %d", (int)CONDITION_LIMIT);
        else st = add_condition(f, mt_sql_column(rows.statement, 0), count, err);
    }
    return st;
}

/* ---- the kernel and its launch ---- */

static mt_status add_option(mt_foreign *f, const char *option, mt_error *err)
{
    for (const char *at = option; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f || strchr(";#\"'\\$", *at)) return mt_foreign_fail(f, "CompilerOptions", err, "'%.100s', expected an option without ; # \" ' \\ $ and control characters", option);
    mt_strbuf_addf(&f->options, strchr(option, ' ') ? " \"%s\"" : " %s", option);
    return MT_OK;
}

static mt_status read_kernel(mt_foreign *f, mt_error *err)
{
    static const char kernel[] = "KernelSpecification";
    mt_status st = MT_OK;
    char *language = NULL;
    mt_sql_args rows;
    MT_TRY(get_text(f, f->text, "$.KernelSpecification.Language", kernel, &language, err));
    if (strcmp(language, "CUDA") != 0) MT_LEAVE(mt_foreign_fail(f, kernel, err, "Language is %.40s, expected CUDA", language));
    MT_TRY(get_text(f, f->text, "$.KernelSpecification.KernelName", kernel, &f->kernel, err));
    MT_TRY(get_text(f, f->text, "$.KernelSpecification.KernelFile", kernel, &f->about->source, err));
    rows = mt_sql_query(f->parser, "SELECT value FROM json_each(?1, '$.KernelSpecification.CompilerOptions') WHERE value <> ''", MT_IN(MT_TEXT(f->text)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read options", &st, err)) st = add_option(f, mt_sql_column(rows.statement, 0), err);
done:
    mt_free(language);
    return st;
}

/* Sizes of Y and Z are 1 where they are absent; no size at all is none. parts[3]: one expression each. */
static mt_status read_size(mt_foreign *f, const char *which, mt_strbuf *parts, mt_error *err)
{
    mt_status st = MT_OK;
    mt_foreign_member value = {.text = NULL};
    for (int i = 0; i < 3; i++) {
        char path[MEMBER_SIZE];
        bool reads_parameters;
        snprintf(path, sizeof path, "$.KernelSpecification.%s.%c", which, "XYZ"[i]);
        mt_free(value.text);
        MT_TRY(mt_foreign_get(f, f->text, path, &value, err));
        if (i == 0 && !*value.type) break;
        if (!*value.type) mt_strbuf_add(&parts[i], "1");
        else MT_TRY(mt_foreign_integer(f, &value, path + 2, &parts[i], &reads_parameters, err));
    }
done:
    mt_free(value.text);
    return st;
}

/* "1, 1" behind the first is left out. */
static void join_size(const mt_strbuf *parts, mt_strbuf *out)
{
    int count = 3;
    while (count > 1 && strcmp(mt_strbuf_text(&parts[count - 1]), "1") == 0) count--;
    for (int i = 0; i < count && parts[0].length; i++) mt_strbuf_addf(out, "%s%s", i ? ", " : "", mt_strbuf_text(&parts[i]));
}

static mt_status read_launch(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf grid[3] = {{0}}, block[3] = {{0}};
    mt_foreign_member type = {.text = NULL}, smem = {.text = NULL};
    bool reads_parameters;
    MT_TRY(read_size(f, "GlobalSize", grid, err));
    MT_TRY(read_size(f, "LocalSize", block, err));
    MT_TRY(mt_foreign_get(f, f->text, "$.KernelSpecification.GlobalSizeType", &type, err));
    for (int i = 0; i < 3 && strcmp(type.text, "OpenCL") == 0 && grid[0].length && block[0].length; i++) { /* of threads, not of blocks */
        mt_strbuf blocks = {0};
        mt_strbuf_addf(&blocks, "ceil_div(%s, %s)", mt_strbuf_text(&grid[i]), mt_strbuf_text(&block[i]));
        if (strcmp(mt_strbuf_text(&block[i]), "1") == 0) mt_strbuf_free(&blocks);
        else {
            mt_strbuf_free(&grid[i]);
            grid[i] = blocks;
        }
    }
    join_size(grid, &f->grid);
    join_size(block, &f->block);
    MT_TRY(mt_foreign_get(f, f->text, "$.KernelSpecification.SharedMemory", &smem, err));
    if (*smem.type && strcmp(smem.text, "0") != 0) {
        mt_strbuf_add(&f->launch, "smem  = ");
        MT_TRY(mt_foreign_integer(f, &smem, "KernelSpecification.SharedMemory", &f->launch, &reads_parameters, err));
        mt_strbuf_add_char(&f->launch, '\n');
    }
done:
    for (int i = 0; i < 3; i++) {
        mt_strbuf_free(&grid[i]);
        mt_strbuf_free(&block[i]);
    }
    mt_free(type.text);
    mt_free(smem.text);
    return st;
}

mt_status mt_foreign_read_t1(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(read_parameters(f, err));
    MT_TRY(read_conditions(f, err));
    MT_TRY(read_kernel(f, err));
    MT_TRY(read_launch(f, err));
    st = mt_foreign_read_t1_arguments(f, err);
done:
    return st;
}
