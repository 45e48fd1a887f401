/* Opening a problem description, and the search space that is written of it. */
#include "db/exchange/foreign/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "db/exchange/foreign/foreign_internal.h"
#include "db/exchange/gzip.h"
#include "db/exchange/json_scan.h"
#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"

static const size_t max_bytes = (size_t)256 << 20, max_document = (size_t)64 << 20;
enum { NAME_LIMIT = 63 /* knobs of a search space */ };

/* ---- messages ---- */

mt_status mt_foreign_fail(const mt_foreign *f, const char *member, mt_error *err, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s: %s: %s", f->name, member, text);
}

void mt_foreign_missing(mt_foreign *f, mt_strbuf *section, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mt_strbuf_add(section, "; FILL IN: ");
    mt_strbuf_addv(section, format, args);
    mt_strbuf_add_char(section, '\n');
    va_end(args);
    f->about->missing++;
}

/* ---- members ---- */

char *mt_foreign_column(sqlite3_stmt *statement, int type)
{
    mt_strbuf text = {0};
    if (strcmp(mt_sql_column(statement, type), "real") != 0) return mt_strdup(mt_sql_column(statement, type + 1));
    double value = sqlite3_column_double(statement, type + 1), read = 0;
    for (int digits = 15; digits <= 17 && (read < value || read > value || digits == 15); digits++) {
        mt_strbuf_clear(&text);
        mt_strbuf_addf(&text, "%.*g", digits, value);
        if (!mt_text_double(mt_strbuf_text(&text), &read)) break;
    }
    if (!strpbrk(mt_strbuf_text(&text), ".en")) mt_strbuf_add(&text, ".0"); /* n: no finite number */
    return mt_strbuf_take(&text);
}

mt_status mt_foreign_get(const mt_foreign *f, const char *json, const char *path, mt_foreign_member *member, mt_error *err)
{
    mt_status st = MT_OK;
    *member = (mt_foreign_member){.text = NULL};
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT json_type(?1, ?2), json_extract(?1, ?2)", MT_IN(MT_TEXT(json), MT_TEXT(path)), &st, err);
    while (mt_sql_each(f->parser, &rows, "read a member", &st, err)) {
        const char *type = mt_sql_column(rows.statement, 0);
        if (strcmp(type, "null") != 0) snprintf(member->type, sizeof member->type, "%s", type);
        if (!member->text) member->text = mt_foreign_column(rows.statement, 0);
    }
    if (st == MT_OK && !member->text) st = mt_no_memory(f->name, err);
    return st;
}

static bool is_reserved(const char *name)
{
    static const char *const words[] = {"ALGO", "why", "when", "default", "doc", "workload", "main", "like", "in"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i]) == 0) return true;
    return mt_key_taken_by(name) != NULL;
}

mt_status mt_foreign_add_name(mt_foreign *f, const char *name, bool is_parameter, const char *member, mt_python_name **added, mt_error *err)
{
    size_t length = strlen(name);
    if (!mt_text_is_identifier(name, length) || length > 63) return mt_foreign_fail(f, member, err, "'%.60s', expected a name of letters, digits and _", name);
    if (is_parameter && is_reserved(name)) return mt_foreign_fail(f, member, err, "'%s' is a word of search spaces, expected another name (in the kernel's source too)", name);
    if (mt_python_find(&f->scope, name, length)) return mt_foreign_fail(f, member, err, "'%s' is there twice", name);
    if (f->scope.count == NAME_LIMIT) return mt_foreign_fail(f, member, err, "more than %d parameters and constants", (int)NAME_LIMIT);
    mt_python_name *place = MT_APPEND(f->scope.names, f->scope.count, f->scope.capacity);
    if (place) *place = (mt_python_name){.name = mt_strdup(name), .is_parameter = is_parameter};
    *added = place;
    if (place && place->name) return MT_OK;
    if (place) f->scope.count--;
    return mt_no_memory(f->name, err);
}

mt_status mt_foreign_add_value(const mt_foreign *f, mt_python_name *name, sqlite3_stmt *statement, int column, const char *member, mt_error *err)
{
    const char *type = mt_sql_column(statement, column), *text = mt_sql_column(statement, column + 1);
    mt_python_value value = {.kind = MT_PYTHON_IS_INT};
    char *copy = NULL;
    if (strcmp(type, "true") == 0) value.number = 1;
    else if (strcmp(type, "integer") == 0) {
        if (!mt_text_int64(text, strlen(text), &value.number)) return mt_foreign_fail(f, member, err, "%.60s, expected an integer of 64 bits", text);
    } else if (strcmp(type, "text") == 0 || strcmp(type, "real") == 0) {
        value.kind = *type == 't' ? MT_PYTHON_IS_TEXT : MT_PYTHON_IS_REAL;
        if (!(copy = mt_foreign_column(statement, column))) return mt_no_memory(f->name, err);
        value.text = copy;
    } else if (strcmp(type, "false") != 0) return mt_foreign_fail(f, member, err, "%s, expected a number, a text, true or false", type);
    mt_status st = mt_python_add_value(name, &value, err);
    mt_free(copy);
    return st == MT_OK ? st : mt_error_prefix(err, st, "%s: %s", f->name, member);
}

mt_status mt_foreign_integer(mt_foreign *f, const mt_foreign_member *value, const char *member, mt_strbuf *out, bool *reads_parameters, mt_error *err)
{
    mt_python python = {0};
    mt_status st = MT_OK;
    if (strcmp(value->type, "integer") != 0 && strcmp(value->type, "text") != 0) return mt_foreign_fail(f, member, err, "%s, expected an integer, or an expression in quotes", *value->type ? value->type : "absent");
    st = mt_python_parse(value->text, &python, err);
    if (st == MT_OK) st = mt_python_integer(&python, &f->scope, out, reads_parameters, err);
    mt_python_free(&python);
    return st == MT_OK ? st : mt_error_prefix(err, st, "%s: %s", f->name, member);
}

/* ---- the search space ---- */

static mt_status add_value(const mt_foreign *f, const mt_python_name *name, size_t number, mt_strbuf *ini, mt_error *err)
{
    const mt_python_value *value = &name->values[number];
    if (value->kind == MT_PYTHON_IS_INT) {
        mt_strbuf_addf(ini, name->is_text ? "\"%lld\"" : "%lld", (long long)value->number);
        return MT_OK;
    }
    size_t length = strlen(value->text);
    bool is_fine = length < 1000 && !strpbrk(value->text, ";\"\\") && !strstr(value->text, "${") && (!length || (value->text[0] != ' ' && value->text[length - 1] != ' '));
    for (const char *at = value->text; *at; at++) is_fine = is_fine && (unsigned char)*at >= 0x20 && *at != 0x7f;
    if (!is_fine) return mt_foreign_fail(f, name->name, err, "the value '%.60s', expected a text without ; \" \\ ${ and control characters", value->text);
    mt_strbuf_addf(ini, "\"%s\"", value->text);
    return MT_OK;
}

/* The default's number among the values; the file may name one that is none of them. */
bool mt_foreign_default(const mt_foreign *f, size_t number, size_t *found)
{
    const mt_python_name *name = &f->scope.names[number];
    const char *text = f->defaults[number];
    for (*found = 0; text && *found < name->count; ++*found) {
        const mt_python_value *value = &name->values[*found];
        int64_t whole;
        if (value->kind == MT_PYTHON_IS_INT ? mt_text_int64(text, strlen(text), &whole) && whole == value->number : strcmp(text, value->text) == 0) return true;
    }
    return false;
}

/* A comment of one line: what a stranger's file says must not write lines of its own. */
static void add_clean(mt_strbuf *ini, const char *before, const char *text)
{
    char *clean = mt_strdup(text);
    if (clean) mt_text_one_line(clean, strlen(clean));
    mt_strbuf_addf(ini, "%s%s\n", before, clean ? clean : "");
    mt_free(clean);
}

static mt_status add_params(mt_foreign *f, mt_strbuf *ini, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf_add(ini, "[params]\n");
    for (size_t i = 0; i < f->scope.count; i++) {
        const mt_python_name *name = &f->scope.names[i];
        size_t standard;
        if (!name->is_parameter) continue;
        mt_strbuf_addf(ini, "%s = ", name->name);
        for (size_t k = 0; k < name->count; k++) {
            if (k) mt_strbuf_add(ini, ", ");
            MT_TRY(add_value(f, name, k, ini, err));
        }
        if (mt_foreign_default(f, i, &standard)) {
            mt_strbuf_add(ini, " default ");
            MT_TRY(add_value(f, name, standard, ini, err));
        }
        mt_strbuf_add(ini, f->defaults[i] && standard == name->count ? " ; the file's default is none of these values\n" : "\n");
    }
done:
    return st;
}

static mt_status add_kernel(mt_foreign *f, const char *folder, mt_strbuf *ini, mt_error *err)
{
    const char *source = f->about->source;
    mt_strbuf_add(ini, "[kernel]\n");
    if (!source) mt_foreign_missing(f, ini, "source = KERNEL.cu");
    else {
        for (int i = 0; i < 2; i++)
            for (const char *at = i ? folder : source; *at; at++)
                if ((unsigned char)*at < 0x20 || strchr(";#\"\\", *at)) return mt_foreign_fail(f, "KernelFile", err, "'%.100s', expected a path without ; # \" \\ and control characters", i ? folder : source);
        mt_strbuf_addf(ini, "source    = %s%s%s\n", *source == '/' ? "" : folder, *folder && *source != '/' ? "/" : "", source);
    }
    mt_strbuf_add(ini, "reference = default ; what the default variant computes; better: a naive __global__ function of the source\n");
    if (f->options.length) mt_strbuf_addf(ini, "options   =%s\n", mt_strbuf_text(&f->options));
    return MT_OK;
}

static void add_shape(const mt_foreign *f, mt_strbuf *ini)
{
    mt_strbuf_addf(ini, "[shape imported]\n%s", mt_strbuf_text(&f->shape));
    for (size_t i = 0; i < f->scope.count; i++)
        if (!f->scope.names[i].is_parameter && f->scope.names[i].is_used) mt_strbuf_addf(ini, "%s = %lld\n", f->scope.names[i].name, (long long)f->scope.names[i].values[0].number);
}

/* The entry, and a name for the algorithm. */
static mt_status add_algorithm(mt_foreign *f, mt_strbuf *ini, mt_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char *entry = f->kernel;
    if (!entry) {
        mt_strbuf_add(ini, "[algorithm kernel]\n");
        mt_foreign_missing(f, ini, "entry = the __global__ function");
        return MT_OK;
    }
    bool is_plain = mt_text_is_identifier(entry, strlen(entry)) && !is_reserved(entry) && !mt_python_find(&f->scope, entry, strlen(entry));
    if (!*entry || strlen(entry) > 500 || entry[strspn(entry, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:<>, ()*&${}-")]) return mt_foreign_fail(f, "the kernel's name", err, "'%.100s', expected a function's name in C or C++", entry);
    if (is_plain) mt_strbuf_addf(ini, "[algorithm %s]\n", entry);
    else mt_strbuf_addf(ini, "[algorithm kernel_%.*s]\nentry = %s\n", (int)strspn(entry, letters), entry, entry);
    return MT_OK;
}

static void add_launch(mt_foreign *f, mt_strbuf *ini)
{
    mt_strbuf_add(ini, "[args]\n");
    mt_strbuf_add(ini, mt_strbuf_text(&f->args));
    if (!f->has_args) mt_foreign_missing(f, ini, "a line for each array: NAME = in f32 [SIZE] uniform(0, 1), NAME = out f32 [SIZE]");
    mt_strbuf_add(ini, "[launch 1]\n");
    if (f->has_args) mt_strbuf_addf(ini, "args  = %s\n", mt_strbuf_text(&f->calls));
    else mt_foreign_missing(f, ini, "args  = the arguments in the kernel's order, a scalar as i32(VALUE)");
    if (f->grid.length) mt_strbuf_addf(ini, "grid  = %s\n", mt_strbuf_text(&f->grid));
    else mt_foreign_missing(f, ini, "grid  = blocks, 1 to 3 expressions: ceil_div(N, BLOCK)");
    if (f->block.length) mt_strbuf_addf(ini, "block = %s\n", mt_strbuf_text(&f->block));
    else mt_foreign_missing(f, ini, "block = threads of a block, 1 to 3 expressions");
    mt_strbuf_add(ini, mt_strbuf_text(&f->launch));
}

static mt_status write_space(mt_foreign *f, const char *folder, mt_strbuf *ini, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf head = {0};
    mt_strbuf_addf(&head, "; Made of the %s ", f->about->format);
    add_clean(ini, mt_strbuf_text(&head), f->name);
    mt_strbuf_add(ini, mt_strbuf_text(&f->notes));
    MT_TRY(add_kernel(f, folder, ini, err));
    add_shape(f, ini);
    MT_TRY(add_algorithm(f, ini, err));
    MT_TRY(add_params(f, ini, err));
    if (f->constraints.length) mt_strbuf_addf(ini, "[constraints]\n%s", mt_strbuf_text(&f->constraints));
    add_launch(f, ini);
    if (ini->failed || f->args.failed || f->constraints.failed || f->notes.failed || f->shape.failed || f->launch.failed) st = mt_no_memory(f->name, err);
done:
    mt_strbuf_free(&head);
    return st;
}

/* ---- opening ---- */

/* The outermost object without "cache", which may lack its end and is not read. NaN of Python becomes null. */
static mt_status copy_members(const char *text, size_t length, const char *name, mt_strbuf *out, mt_error *err)
{
    mt_json_scan scan = mt_json_scan_of(text, length, name);
    mt_json_level level;
    mt_json_span key, value;
    mt_strbuf copy = {0};
    bool more;
    mt_status st = MT_OK;
    MT_TRY(mt_json_enter(&scan, '{', "a problem description", &level, err));
    mt_strbuf_add_char(out, '{');
    for (;;) {
        MT_TRY(mt_json_next(&scan, &level, &key, &more, err));
        if (!more) break;
        bool is_cache = mt_json_is(&key, "cache");
        if (!is_cache) MT_TRY(mt_json_take(&scan, &value, err));
        else value = (mt_json_span){.text = "{}", .length = 2};
        mt_json_copy(&value, &copy);
        mt_strbuf_addf(out, "%s\"%.*s\":", out->length > 1 ? "," : "", (int)key.length, key.text);
        mt_strbuf_add(out, mt_strbuf_text(&copy));
        if (is_cache) break; /* the header stands before it */
    }
    mt_strbuf_add_char(out, '}');
    if (out->failed || copy.failed) st = mt_no_memory(name, err);
done:
    mt_strbuf_free(&copy);
    return st;
}

static mt_status check_document(const mt_foreign *f, const mt_strbuf *document, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t is_valid;
    for (const char *at = f->text; *at;) {
        size_t step = mt_text_utf8(at, strlen(at) < 4 ? strlen(at) : 4);
        if (!step) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: is not UTF-8 text, expected JSON", f->name);
        at += step;
    }
    if (strlen(f->text) != document->length || strstr(f->text, "\\u0000")) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: holds a NUL character, expected text", f->name);
    st = mt_sql_one(f->parser, "SELECT json_valid(?1)", "parse JSON", MT_IN(MT_TEXT(f->text)), MT_OUT(MT_TO_INT(&is_valid)), err);
    if (st == MT_OK && !is_valid) st = MT_FAIL(err, MT_ERR_SYNTAX, "%s: is no JSON, or nested more than 1000 deep; expected a T1 file, a Kernel Tuner cache, or KTT's results", f->name);
    return st;
}

static mt_status read_format(mt_foreign *f, mt_error *err)
{
    static const struct { const char *member, *format; mt_status (*read)(mt_foreign *, mt_error *); } formats[] = {
        {"$.ConfigurationSpace", "T1 file", mt_foreign_read_t1}, {"$.tune_params", "Kernel Tuner cache", mt_foreign_read_cache}, {"$.Results", "results of KTT", mt_foreign_read_ktt}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        mt_foreign_member member;
        mt_status st = mt_foreign_get(f, f->text, formats[i].member, &member, err);
        mt_free(member.text);
        f->about->format = formats[i].format;
        if (st != MT_OK || *member.type) return st == MT_OK ? formats[i].read(f, err) : st;
    }
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s: none of \"ConfigurationSpace\" (a T1 file), \"tune_params\" (a Kernel Tuner cache) and \"Results\" (of KTT) is in it, expected one", f->name);
}

static void close(mt_foreign *f)
{
    mt_strbuf *const texts[] = {&f->options, &f->shape, &f->constraints, &f->args, &f->calls, &f->launch, &f->notes, &f->grid, &f->block};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) mt_strbuf_free(texts[i]);
    for (size_t i = 0; f->defaults && i < NAME_LIMIT; i++) mt_free(f->defaults[i]);
    mt_free(f->defaults);
    mt_free(f->kernel);
    mt_python_scope_free(&f->scope);
    mt_store_close(f->parser);
}

mt_status mt_foreign_space_bytes(const void *bytes, size_t length, const char *name, const char *folder, mt_strbuf *ini, mt_foreign_about *about, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf document = {0};
    char *unpacked = NULL;
    bool is_cut = false;
    *about = (mt_foreign_about){0};
    mt_foreign f = {.name = name, .about = about, .defaults = mt_alloc(NAME_LIMIT, sizeof *f.defaults)};
    if (!f.defaults) return mt_no_memory(name, err);
    if (mt_gzip_is(bytes, length)) {
        MT_TRY(mt_gzip_unpack(bytes, length, max_bytes, name, &unpacked, &length, &is_cut, err));
        bytes = unpacked;
    }
    MT_TRY(copy_members(bytes, length, name, &document, err));
    if (document.length > max_document) MT_LEAVE(MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than 64 MiB of JSON", name));
    f.text = mt_strbuf_text(&document);
    MT_TRY(mt_store_open(":memory:", MT_STORE_NO_TABLES, &f.parser, err));
    MT_TRY(check_document(&f, &document, err));
    MT_TRY(read_format(&f, err));
    st = write_space(&f, folder, ini, err);
done:
    if (st != MT_OK) mt_text_one_line(err->message, strlen(err->message)); /* names and values of the file stand in it */
    close(&f);
    mt_strbuf_free(&document);
    mt_free(unpacked);
    return st;
}

mt_status mt_foreign_space(const char *path, const char *folder, mt_strbuf *ini, mt_foreign_about *about, mt_error *err)
{
    char *bytes = NULL;
    size_t length;
    *about = (mt_foreign_about){0};
    mt_status st = mt_file_read(path, max_bytes, &bytes, &length, err);
    if (st == MT_OK) st = mt_foreign_space_bytes(bytes, length, path, folder, ini, about, err);
    mt_free(bytes);
    return st;
}

void mt_foreign_about_free(mt_foreign_about *about)
{
    mt_free(about->source);
    *about = (mt_foreign_about){0};
}
