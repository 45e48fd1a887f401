#include "tuner/space/signature/signature.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature_code.h"

enum { DEEPEST = 64 }; /* open brackets, outside of functions */
typedef enum scope { PLAIN, C_NAMES, NAMED } scope;

typedef struct reader {
    const char *source, *code; /* code: without comments and directives */
    const char *at;
    scope scopes[DEEPEST]; /* of the open brackets */
    size_t depth;
    bool is_c, is_template; /* said in front of the declaration at hand */
    mt_signatures *all;
} reader;

/* ---- types ---- */

const char *mt_signature_dtype(const char *type, int *lanes)
{
    static const struct {
        const char *type, *dtype;
        int lanes;
    } known[] = {
        {"float", "f32", 1}, {"float2", "f32", 2}, {"float3", "f32", 3}, {"float4", "f32", 4}, {"double", "f64", 1}, {"double2", "f64", 2}, {"__half", "f16", 1}, {"half", "f16", 1}, {"__half2", "f16", 2}, {"half2", "f16", 2},
        {"__nv_bfloat16", "bf16", 1}, {"nv_bfloat16", "bf16", 1}, {"__nv_bfloat162", "bf16", 2}, {"nv_bfloat162", "bf16", 2}, {"bool", "u8", 1}, {"char", "i8", 1}, {"signed char", "i8", 1}, {"int8_t", "i8", 1},
        {"unsigned char", "u8", 1}, {"uint8_t", "u8", 1}, {"uchar4", "u8", 4}, {"short", "i16", 1}, {"int16_t", "i16", 1}, {"unsigned short", "u16", 1}, {"uint16_t", "u16", 1}, {"int", "i32", 1}, {"int32_t", "i32", 1}, {"int2", "i32", 2}, {"int4", "i32", 4},
        {"unsigned int", "u32", 1}, {"unsigned", "u32", 1}, {"uint32_t", "u32", 1}, {"uint2", "u32", 2}, {"uint4", "u32", 4}, {"long", "i64", 1}, {"long long", "i64", 1}, {"int64_t", "i64", 1},
        {"unsigned long", "u64", 1}, {"unsigned long long", "u64", 1}, {"uint64_t", "u64", 1}, {"size_t", "u64", 1},
    };
    *lanes = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].type) != 0) continue;
        *lanes = known[i].lanes;
        return known[i].dtype;
    }
    return NULL;
}

/* "int unsigned" and "long int" in the order that one says them. */
static const char *usual_order(const char *type)
{
    static const struct {
        const char *said, *usual;
    } orders[] = {{"int unsigned", "unsigned int"}, {"long int", "long"}, {"long long int", "long long"}, {"unsigned long int", "unsigned long"}, {"unsigned long long int", "unsigned long long"}, {"short int", "short"},
                  {"unsigned short int", "unsigned short"}, {"signed int", "int"}, {"signed", "int"}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(type, orders[i].said) == 0) return orders[i].usual;
    return type;
}

/* ---- other names of types ---- */

static bool is_alias(const char *at, const char *name, mt_code_word *from, const char **to)
{
    mt_code_word first = mt_code_next(&at), last = first;
    bool is_using = mt_code_is(first, "using");
    *from = mt_code_next(&at);
    if (is_using && !(mt_code_is(*from, name) && mt_code_is(mt_code_next(&at), "="))) return false;
    if (is_using) *from = mt_code_next(&at);
    for (mt_code_word word = *from; word.length && *word.at != ';'; word = mt_code_next(&at)) last = word, *to = at;
    if (!is_using) *to = last.at;
    return from->length && (is_using || mt_code_is(last, name));
}

/* "typedef float real;", "using real = float;", "#define real float": what it stands for; mt_free. NULL: nothing says it. */
static char *find_alias(const reader *r, const char *name)
{
    mt_strbuf define = {0};
    mt_code_word from;
    const char *to = NULL;
    char *found = NULL;
    for (const char *at = r->code; !found && *at;) {
        const char *start = at;
        mt_code_word word = mt_code_next(&at);
        if (!word.length) break;
        if ((mt_code_is(word, "typedef") || mt_code_is(word, "using")) && is_alias(start, name, &from, &to)) found = mt_strndup(from.at, (size_t)(to - from.at));
    }
    mt_strbuf_addf(&define, "#define %s ", name);
    const char *line = found ? NULL : strstr(r->source, mt_strbuf_text(&define));
    if (line) found = mt_strndup(line + define.length, strcspn(line + define.length, "\r\n/"));
    mt_strbuf_free(&define);
    return found;
}

/* ---- parameters ---- */

static bool is_dropped(mt_code_word word)
{
    static const char *const words[] = {"__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "struct", "register"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mt_code_is(word, words[i])) return true;
    return false;
}

static void join(const mt_code_word *words, size_t count, mt_strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i && mt_code_is_name(words[i - 1]) && mt_code_is_name(words[i])) mt_strbuf_add_char(out, ' ');
        mt_strbuf_add_bytes(out, words[i].at, words[i].length);
    }
}

/* One declaration, from `at` to `end`: its last name is the parameter's, what stands before it the type. */
static mt_status find_type(const reader *r, mt_parameter *parameter, mt_error *err)
{
    enum { MOST_NAMES = 4 };
    parameter->dtype = mt_signature_dtype(parameter->type, &parameter->lanes);
    for (int i = 0; i < MOST_NAMES && !parameter->dtype; i++) {
        char *alias = find_alias(r, parameter->type);
        if (!alias) break;
        mt_strbuf text = {0};
        const char *at = alias;
        for (mt_code_word word; (word = mt_code_next(&at)).length;) mt_strbuf_addf(&text, "%s%.*s", text.length ? " " : "", (int)word.length, word.at);
        char *copy = mt_strdup(usual_order(mt_strbuf_text(&text)));
        mt_strbuf_free(&text);
        mt_free(alias);
        if (!copy) return mt_no_memory("signature", err);
        mt_free(parameter->type);
        parameter->type = copy;
        parameter->is_alias = true;
        parameter->dtype = mt_signature_dtype(parameter->type, &parameter->lanes);
    }
    return MT_OK;
}

static mt_status read_parameter(const reader *r, const char *at, const char *end, size_t place, mt_parameter *parameter, mt_error *err)
{
    enum { MOST_WORDS = 32 };
    mt_code_word words[MOST_WORDS], word;
    mt_strbuf type = {0}, name = {0};
    size_t count = 0;
    while ((word = mt_code_next(&at)).length && word.at < end && *word.at != '=') {
        bool is_const = mt_code_is(word, "const"), is_pointer = *word.at == '*' || *word.at == '[';
        parameter->is_const = parameter->is_const || (is_const && parameter->pointers == 0);
        parameter->pointers += is_pointer;
        if (*word.at == '[') mt_code_skip(&at, '[', ']');
        if (!is_const && !is_pointer && *word.at != '&' && !is_dropped(word) && count < MOST_WORDS) words[count++] = word;
    }
    bool has_name = count > 1 && mt_code_is_name(words[count - 1]);
    join(words, count - has_name, &type);
    if (has_name) join(words + count - 1, 1, &name);
    else mt_strbuf_addf(&name, "arg%zu", place + 1);
    parameter->type = mt_strdup(usual_order(mt_strbuf_text(&type)));
    parameter->name = mt_strbuf_take(&name);
    mt_strbuf_free(&type);
    mt_strbuf_free(&name);
    if (!parameter->type || !parameter->name) return mt_no_memory("signature", err);
    return find_type(r, parameter, err);
}

/* `at` stands behind the bracket that opens the list; `end` at the one that closes it. */
static mt_status read_parameters(const reader *r, const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    mt_status st = MT_OK;
    while (st == MT_OK && at < end) {
        const char *from = at, *to = end;
        int depth = 0;
        for (mt_code_word word; to == end && at < end && (word = mt_code_next(&at)).length && word.at < end;) {
            if (strchr("([<{", *word.at)) depth++;
            if (strchr(")]>}", *word.at)) depth--;
            if (*word.at == ',' && depth == 0) to = word.at;
        }
        const char *look = from;
        mt_code_word first = mt_code_next(&look);
        bool is_empty = first.at >= to, is_void = mt_code_is(first, "void") && mt_code_next(&look).at >= to;
        if (is_empty || is_void) continue;
        mt_parameter *added = MT_APPEND(signature->parameters, signature->parameter_count, signature->parameter_capacity);
        if (!added) return mt_no_memory("signature", err);
        *added = (mt_parameter){0};
        st = read_parameter(r, from, to, signature->parameter_count - 1, added, err);
    }
    return st;
}

/* ---- what the body does ---- */

/* Whether the words before `name` are `atomicAdd(` or `atomicAdd(&`. */
static bool is_atomic(const mt_code_word before[3])
{
    mt_code_word function = mt_code_is(before[0], "&") ? before[2] : before[1];
    return mt_code_is(mt_code_is(before[0], "&") ? before[1] : before[0], "(") && function.length > 6 && strncmp(function.at, "atomic", 6) == 0;
}

/* Behind `name`: an element that is only assigned to, `name[…] = …`, counts as written alone; all else as read and, where it is not const, maybe written. */
static void note_use(const char *at, bool is_star, mt_parameter *parameter)
{
    mt_code_word word = mt_code_next(&at);
    bool has_index = *word.at == '[';
    while (*word.at == '[') {
        mt_code_skip(&at, '[', ']');
        word = mt_code_next(&at);
    }
    while (*word.at == '.') { /* an element's field */
        mt_code_next(&at);
        word = mt_code_next(&at);
    }
    bool is_element = has_index || is_star, assigns = *word.at == '=' && *at != '=';
    if (is_element && assigns) parameter->is_written = true;
    else if (is_element && !(strchr("+-*/|&^%<>", *word.at) && word.length && (*at == '=' || *at == *word.at))) parameter->is_read = true;
    else parameter->is_read = parameter->is_written = true; /* a += b; a++; or it is handed on */
}

static void note_word(const char *at, const mt_code_word before[3], mt_code_word word, mt_signature *signature, bool *is_more)
{
    for (size_t i = 0; mt_code_is_name(word) && !mt_code_is(before[0], ".") && i < signature->parameter_count; i++) {
        mt_parameter *parameter = &signature->parameters[i];
        if (!parameter->pointers || !mt_code_is(word, parameter->name)) continue;
        if (is_atomic(before)) {
            parameter->is_added = parameter->is_read = parameter->is_written = true;
            continue;
        }
        is_more[i] = true;
        note_use(at, mt_code_is(before[0], "*"), parameter);
        if (mt_code_is(before[0], "&")) parameter->is_read = parameter->is_written = true;
    }
}

static mt_status read_body(const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    mt_code_word before[3] = {{"", 0}, {"", 0}, {"", 0}}; /* the last one first */
    bool *is_more = mt_alloc(signature->parameter_count + 1, sizeof *is_more); /* than atomics */
    if (!is_more) return mt_no_memory("signature", err);
    for (mt_code_word word; (word = mt_code_next(&at)).length && word.at < end;) {
        bool is_place = mt_code_is(before[0], ".") && (mt_code_is(before[1], "threadIdx") || mt_code_is(before[1], "blockIdx"));
        signature->has_rows = signature->has_rows || (is_place && mt_code_is(word, "y"));
        signature->has_planes = signature->has_planes || (is_place && mt_code_is(word, "z"));
        signature->has_dynamic_smem = signature->has_dynamic_smem || (mt_code_is(before[0], "extern") && mt_code_is(word, "__shared__"));
        note_word(at, before, word, signature, is_more);
        memmove(before + 1, before, 2 * sizeof *before);
        before[0] = word;
    }
    for (size_t i = 0; i < signature->parameter_count; i++) {
        mt_parameter *parameter = &signature->parameters[i];
        parameter->is_added = parameter->is_added && !is_more[i];
        if (parameter->is_const) parameter->is_read = true, parameter->is_written = false;
        else if (!parameter->is_read && !parameter->is_written) parameter->is_read = parameter->is_written = true;
    }
    mt_free(is_more);
    return MT_OK;
}

/* ---- declarations ---- */

static bool is_attribute(mt_code_word word)
{
    static const char *const names[] = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "__attribute__", "__declspec", "alignas"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_code_is(word, names[i])) return true;
    return false;
}

static bool is_within(const reader *r, scope kind)
{
    for (size_t i = 0; i < r->depth; i++)
        if (r->scopes[i] == kind) return true;
    return false;
}

static void free_signature(mt_signature *signature)
{
    for (size_t i = 0; i < signature->parameter_count; i++) {
        mt_free(signature->parameters[i].name);
        mt_free(signature->parameters[i].type);
    }
    MT_FREE_EACH(signature->parameters, signature->name, signature->symbol);
}

static mt_status add(reader *r, mt_signature *signature, mt_error *err)
{
    mt_signature *added = MT_APPEND(r->all->items, r->all->count, r->all->capacity);
    if (!added) return mt_no_memory("signature", err);
    *added = *signature;
    *signature = (mt_signature){0};
    return MT_OK;
}

/* Behind `__global__`. Its name is what stands before the parameters' bracket. Only what has a body counts. */
static mt_status read_kernel(reader *r, mt_error *err)
{
    mt_status st = MT_OK;
    mt_signature signature = {.is_template = r->is_template};
    mt_code_word name = {0}, word;
    while ((word = mt_code_next(&r->at)).length && !strchr("({;}", *word.at)) {
        if (is_attribute(word)) {
            word = mt_code_next(&r->at);
            if (*word.at == '(') mt_code_skip(&r->at, '(', ')');
        } else if (mt_code_is_name(word)) name = word;
    }
    if (!mt_code_is(word, "(") || !name.length) return MT_OK;
    const char *from = r->at, *to = mt_code_skip(&r->at, '(', ')');
    word = mt_code_next(&r->at);
    if (!mt_code_is(word, "{")) return MT_OK; /* a declaration */
    if (!(signature.name = mt_strndup(name.at, name.length))) return mt_no_memory("signature", err);
    MT_TRY(read_parameters(r, from, to, &signature, err));
    const char *body = r->at;
    MT_TRY(read_body(body, mt_code_skip(&r->at, '{', '}'), &signature, err));
    bool is_c = r->is_c || is_within(r, C_NAMES);
    signature.symbol = is_c ? mt_strdup(signature.name) : is_within(r, NAMED) ? NULL : mt_signature_mangle(&signature);
    MT_TRY(add(r, &signature, err));
done:
    free_signature(&signature);
    return st;
}

static void open_bracket(reader *r, scope kind)
{
    if (r->depth < DEEPEST) r->scopes[r->depth] = kind;
    r->depth += r->depth < DEEPEST;
}

mt_status mt_signatures_read(const char *source, mt_signatures *signatures, mt_error *err)
{
    char *code = mt_code_bare(source);
    mt_status st = code ? MT_OK : mt_no_memory("signature", err);
    reader r = {.source = source, .code = code, .at = code, .all = signatures};
    scope next = PLAIN;
    *signatures = (mt_signatures){0};
    for (mt_code_word word; st == MT_OK && (word = mt_code_next(&r.at)).length;) {
        if (mt_code_is(word, "__global__")) {
            st = read_kernel(&r, err);
            r.is_c = r.is_template = false;
        } else if (mt_code_is(word, "\"C\"")) {
            r.is_c = true;
            next = C_NAMES;
        } else if (mt_code_is(word, "namespace")) {
            next = NAMED;
        } else if (mt_code_is(word, "template")) {
            r.is_template = true;
        } else if (strchr("{};", *word.at)) {
            if (*word.at == '{') open_bracket(&r, next);
            if (*word.at == '}' && r.depth) r.depth--;
            r.is_c = r.is_template = false;
            next = PLAIN;
        }
    }
    mt_free(code);
    return st;
}

void mt_signatures_free(mt_signatures *signatures)
{
    for (size_t i = 0; i < signatures->count; i++) free_signature(&signatures->items[i]);
    mt_free(signatures->items);
    *signatures = (mt_signatures){0};
}
