#include "tuner/space/signature/signature.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature_internal.h"
#include "tuner/space/signature/signature_code.h"

enum { DEEPEST = 64 }; /* open brackets, outside of functions */
typedef enum scope { PLAIN, C_NAMES, NAMED } scope;

typedef struct reader {
    const char *source, *code; /* code: without comments and directives */
    const char *at;
    scope scopes[DEEPEST]; /* of the open brackets */
    size_t depth;
    mt_code_path path;     /* the open namespaces */
    bool is_c, is_template; /* said in front of the declaration at hand */
    const char *takes;      /* behind the bracket of its template; NULL: none */
    const char *bounds;     /* behind the bracket of its __launch_bounds__; NULL: none */
    mt_signatures *all;
} reader;

/* ---- types ---- */

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

const char *mt_signature_dtype(const char *type, int *lanes)
{
    static const struct {
        const char *type, *dtype;
        int lanes;
    } known[] = {
        {"float", "f32", 1}, {"float2", "f32", 2}, {"float3", "f32", 3}, {"float4", "f32", 4}, {"double", "f64", 1}, {"double2", "f64", 2}, {"__half", "f16", 1}, {"half", "f16", 1}, {"__half2", "f16", 2}, {"half2", "f16", 2},
        {"__nv_bfloat16", "bf16", 1}, {"nv_bfloat16", "bf16", 1}, {"__nv_bfloat162", "bf16", 2}, {"nv_bfloat162", "bf16", 2}, {"bool", "u8", 1}, {"__nv_fp8_e4m3", "f8e4m3", 1}, {"__nv_fp8x2_e4m3", "f8e4m3", 2}, {"__nv_fp8x4_e4m3", "f8e4m3", 4}, {"__nv_fp8_e5m2", "f8e5m2", 1}, {"__nv_fp8x2_e5m2", "f8e5m2", 2},
        {"__nv_fp8x4_e5m2", "f8e5m2", 4}, {"char", "i8", 1}, {"signed char", "i8", 1}, {"int8_t", "i8", 1},
        {"unsigned char", "u8", 1}, {"uint8_t", "u8", 1}, {"uchar4", "u8", 4}, {"short", "i16", 1}, {"int16_t", "i16", 1}, {"unsigned short", "u16", 1}, {"uint16_t", "u16", 1}, {"int", "i32", 1}, {"int32_t", "i32", 1}, {"int2", "i32", 2}, {"int3", "i32", 3}, {"int4", "i32", 4},
        {"unsigned int", "u32", 1}, {"unsigned", "u32", 1}, {"uint32_t", "u32", 1}, {"uint2", "u32", 2}, {"uint3", "u32", 3}, {"dim3", "u32", 3}, {"uint4", "u32", 4}, {"long", "i64", 1}, {"long long", "i64", 1}, {"int64_t", "i64", 1},
        {"unsigned long", "u64", 1}, {"unsigned long long", "u64", 1}, {"uint64_t", "u64", 1}, {"size_t", "u64", 1},
    };
    *lanes = 1;
    type = usual_order(type);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].type) != 0) continue;
        *lanes = known[i].lanes;
        return known[i].dtype;
    }
    return NULL;
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
    static const char *const words[] = {"__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "struct", "enum", "register"};
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
    for (size_t i = 0; i < signature->take_count; i++) MT_FREE_EACH(signature->takes[i].name, signature->takes[i].standard);
    mt_free(signature->takes);
    for (size_t i = 0; i < signature->parameter_count; i++) {
        mt_free(signature->parameters[i].name);
        mt_free(signature->parameters[i].type);
    }
    MT_FREE_EACH(signature->parameters, signature->name, signature->entry, signature->symbol, signature->bounds, signature->steps[0], signature->steps[1], signature->steps[2], signature->rows[0].factor, signature->rows[1].factor, signature->rows[2].factor);
}

static mt_status add(reader *r, mt_signature *signature, mt_error *err)
{
    mt_signature *added = MT_APPEND(r->all->items, r->all->count, r->all->capacity);
    if (!added) return mt_no_memory("signature", err);
    *added = *signature;
    *signature = (mt_signature){0};
    return MT_OK;
}

/* "typename T", "int N = 4", from `at` to `end`. */
static mt_status read_take(const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    static const char *const numbers[] = {"int", "unsigned", "short", "long", "char", "size_t", "uint32_t", "int32_t", "uint64_t", "int64_t", "std", "signed"};
    mt_template_parameter *added = MT_APPEND(signature->takes, signature->take_count, signature->take_capacity);
    if (!added) return mt_no_memory("signature", err);
    *added = (mt_template_parameter){.is_other = true};
    mt_code_word word, name = {"", 0};
    bool is_known = true, is_first = true;
    while ((word = mt_code_next(&at)).length && word.at < end && *word.at != '=') {
        if (is_first && (mt_code_is(word, "typename") || mt_code_is(word, "class"))) added->is_type = true;
        if (is_first && mt_code_is(word, "bool")) added->is_bool = true;
        for (size_t i = 0; is_first && i < sizeof numbers / sizeof *numbers; i++)
            if (mt_code_is(word, numbers[i])) added->is_other = false;
        is_known = is_known && (mt_code_is_name(word) || *word.at == ':');
        is_first = is_first && mt_code_is(word, "const");
        name = word;
    }
    added->is_other = !is_known || !mt_code_is_name(name) || (added->is_other && !added->is_type && !added->is_bool);
    added->name = mt_strndup(name.at, name.length);
    if (word.length && word.at < end) {
        at += strspn(at, " \t\r\n");
        size_t length = (size_t)(end - at);
        while (length && strchr(" \t\r\n", at[length - 1])) length--;
        added->standard = mt_strndup(at, length);
    }
    return added->name && (added->standard || !(word.length && word.at < end)) ? MT_OK : mt_no_memory("signature", err);
}

static mt_status read_takes(const char *at, mt_signature *signature, mt_error *err)
{
    mt_status st = MT_OK;
    int depth = 0, round = 0; /* within (1 > 2) nothing ends */
    const char *from = at;
    for (mt_code_word word; st == MT_OK && depth >= 0 && (word = mt_code_next(&at)).length;) {
        round += (strchr("([{", *word.at) != NULL) - (strchr(")]}", *word.at) != NULL);
        if (round == 0) depth += (*word.at == '<') - (*word.at == '>');
        if ((*word.at != ',' || depth || round) && depth >= 0) continue;
        st = read_take(from, word.at, signature, err);
        from = at;
    }
    return st;
}

/* "256" of "__launch_bounds__(256, 2)": `at` stands behind the bracket. */
static char *read_bounds(const char *at)
{
    const char *from = at;
    int depth = 0;
    mt_code_word word;
    while ((word = mt_code_next(&at)).length && (depth || !strchr(",)", *word.at))) depth += (*word.at == '(') - (*word.at == ')');
    return mt_strndup(from, (size_t)(word.at - from));
}

/* Behind `__global__`. Its name is what stands before the parameters' bracket. Only what has a body counts. */
static mt_status read_kernel(reader *r, mt_error *err)
{
    mt_status st = MT_OK;
    mt_signature signature = {.is_template = r->is_template};
    mt_code_word name = {0}, word;
    while ((word = mt_code_next(&r->at)).length && !strchr("({;}", *word.at)) {
        if (is_attribute(word)) {
            bool is_bounds = mt_code_is(word, "__launch_bounds__");
            word = mt_code_next(&r->at);
            if (is_bounds && *word.at == '(') r->bounds = r->at;
            if (*word.at == '(') mt_code_skip(&r->at, '(', ')');
        } else if (mt_code_is_name(word)) name = word;
    }
    if (!mt_code_is(word, "(") || !name.length) return MT_OK;
    const char *from = r->at, *to = mt_code_skip(&r->at, '(', ')');
    const char *behind = r->at;
    if (!mt_code_is(mt_code_next(&behind), "{")) return MT_OK; /* a declaration, or under a condition the first of two heads of one body */
    r->at = behind;
    if (!(signature.name = mt_strndup(name.at, name.length))) return mt_no_memory("signature", err);
    if (r->bounds && !(signature.bounds = read_bounds(r->bounds))) MT_TRY(mt_no_memory("signature", err));
    if (r->takes) MT_TRY(read_takes(r->takes, &signature, err));
    MT_TRY(read_parameters(r, from, to, &signature, err));
    const char *body = r->at;
    MT_TRY(mt_signature_read_body(body, mt_code_skip(&r->at, '{', '}'), &signature, err));
    bool is_c = r->is_c || is_within(r, C_NAMES);
    mt_strbuf entry = {0};
    mt_strbuf_addf(&entry, "%s%s", is_c ? "" : mt_strbuf_text(&r->path.text), signature.name);
    signature.entry = mt_strbuf_take(&entry);
    mt_strbuf_free(&entry);
    if (!signature.entry) MT_TRY(mt_no_memory("signature", err));
    signature.symbol = is_c ? mt_strdup(signature.name) : is_within(r, NAMED) ? NULL : mt_signature_mangle(&signature);
    MT_TRY(add(r, &signature, err));
done:
    free_signature(&signature);
    return st;
}

/* Behind `__global__`: where the kernel's body ends, and its name. NULL: it has none here, or there are conditions in it, under which brackets need not fit. */
static char *find_end(char *at, mt_code_word *name)
{
    const char *look = at;
    mt_code_word word;
    while ((word = mt_code_next(&look)).length && !strchr("({;}", *word.at)) {
        if (is_attribute(word)) {
            word = mt_code_next(&look);
            if (*word.at == '(') mt_code_skip(&look, '(', ')');
        } else if (mt_code_is_name(word)) *name = word;
    }
    if (!mt_code_is(word, "(")) return NULL;
    mt_code_skip(&look, '(', ')');
    if (!mt_code_is(mt_code_next(&look), "{")) return NULL;
    mt_code_skip(&look, '{', '}');
    for (const char *line = at; (line = memchr(line, '#', (size_t)(look - line))) != NULL; line++)
        if (strncmp(line + 1 + strspn(line + 1, " \t"), "el", 2) == 0) return NULL;
    return at + (look - at);
}

char *mt_signature_source_of(const char *source, const char *name)
{
    char *code = mt_code_uncommented(source);
    const char *at = code;
    for (mt_code_word word; code && (word = mt_code_next(&at)).length;) {
        mt_code_word called = {0};
        char *from = code + (at - code), *to = mt_code_is(word, "__global__") ? find_end(from, &called) : NULL;
        if (!to) continue;
        if (!mt_code_is(called, name)) memset(from, ' ', (size_t)(to - from));
        at = to;
    }
    return code;
}

/* Whether the body takes a number of this type for an index, or an element of an array of such. */
static bool is_index_type(const mt_signature *signature, const char *type)
{
    bool is_index = false;
    for (size_t i = 0; i < signature->parameter_count; i++)
        is_index = is_index || ((signature->parameters[i].is_index || signature->parameters[i].row_axes) && strcmp(signature->parameters[i].type, type) == 0);
    return is_index;
}

const char *mt_signature_taken_type(const mt_signature *signature, const char *type)
{
    for (size_t i = 0; i < signature->take_count; i++) {
        const mt_template_parameter *take = &signature->takes[i];
        if (take->is_type && strcmp(take->name, type) == 0) return take->standard ? take->standard : is_index_type(signature, type) ? "int" : "float";
    }
    return NULL;
}

void mt_signature_add_parameters(const mt_signature *signature, bool is_taken, mt_strbuf *out)
{
    for (size_t i = 0; i < signature->parameter_count; i++) {
        const mt_parameter *parameter = &signature->parameters[i];
        const char *taken = is_taken ? mt_signature_taken_type(signature, parameter->type) : NULL;
        mt_strbuf_addf(out, "%s%s%s%s", i ? ", " : "(", parameter->is_const && parameter->pointers ? "const " : "", taken ? taken : parameter->type, parameter->pointers ? " " : "");
        for (int k = 0; k < parameter->pointers; k++) mt_strbuf_add_char(out, '*');
    }
    mt_strbuf_add(out, signature->parameter_count ? ")" : "()");
}

static mt_status find_overloads(mt_signatures *signatures, mt_error *err)
{
    bool has_failed = false;
    for (size_t i = 0; i < signatures->count; i++) {
        for (size_t k = 0; k < i; k++) {
            mt_signature *one = &signatures->items[k], *other = &signatures->items[i];
            mt_strbuf first = {0}, second = {0};
            if (strcmp(one->entry, other->entry) != 0) continue;
            mt_signature_add_parameters(one, false, &first);
            mt_signature_add_parameters(other, false, &second);
            has_failed = has_failed || first.failed || second.failed;
            if (strcmp(mt_strbuf_text(&first), mt_strbuf_text(&second)) != 0) one->is_overload = other->is_overload = true;
            mt_strbuf_free(&first);
            mt_strbuf_free(&second);
        }
    }
    return has_failed ? mt_no_memory("signature", err) : MT_OK;
}

static void open_bracket(reader *r, scope kind)
{
    if (r->depth < DEEPEST) r->scopes[r->depth] = kind;
    r->depth += r->depth < DEEPEST;
}

/* What was said in front of a declaration that is over. */
static void forget(reader *r)
{
    r->is_c = r->is_template = false;
    r->takes = r->bounds = NULL;
}

mt_status mt_signatures_read(const char *source, mt_signatures *signatures, mt_error *err)
{
    char *code = mt_code_bare(source);
    mt_status st = code ? MT_OK : mt_no_memory("signature", err);
    reader r = {.source = source, .code = code, .at = code, .all = signatures};
    scope next = PLAIN;
    *signatures = (mt_signatures){0};
    for (mt_code_word word; st == MT_OK && (word = mt_code_next(&r.at)).length;) {
        mt_code_path_follow(&r.path, word, r.at);
        if (mt_code_is(word, "__global__")) {
            st = read_kernel(&r, err);
            forget(&r);
        } else if (mt_code_is(word, "\"C\"")) {
            r.is_c = true;
            next = C_NAMES;
        } else if (mt_code_is(word, "__launch_bounds__")) {
            if (mt_code_is(mt_code_next(&r.at), "(")) r.bounds = r.at;
        } else if (mt_code_is(word, "namespace")) {
            next = NAMED;
        } else if (mt_code_is(word, "template")) {
            const char *look = r.at;
            r.is_template = true;
            if (mt_code_is(mt_code_next(&look), "<") && !r.takes) r.takes = look; /* a template may take templates */
        } else if (strchr("{};", *word.at)) {
            if (*word.at == '{') open_bracket(&r, next);
            if (*word.at == '}' && r.depth) r.depth--;
            forget(&r);
            next = PLAIN;
        }
    }
    if (st == MT_OK && r.path.text.failed) st = mt_no_memory("signature", err);
    if (st == MT_OK) st = find_overloads(signatures, err);
    mt_strbuf_free(&r.path.text);
    mt_free(code);
    return st;
}

void mt_signatures_free(mt_signatures *signatures)
{
    for (size_t i = 0; i < signatures->count; i++) free_signature(&signatures->items[i]);
    mt_free(signatures->items);
    *signatures = (mt_signatures){0};
}
