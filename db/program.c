/* Loading and evaluating programs. Part of libtunelookup: libc only, no allocation, no state.
 *
 * The text may come from a hostile database, so everything that evaluation relies on is proved while loading: every token is known,
 * jumps go forward and end inside the program, every token is reached with one stack depth whichever way it is reached, and the depth
 * stays within the evaluator's fixed stack. What can still fail then are the values, and that is a status. */
#include "db/program.h"

#include <assert.h>
#include <string.h>

#include "db/key.h"

enum {
    TOKEN_LIMIT = 4096, /* keeps the search for known names (quadratic) cheap on hostile text */
    STACK_LIMIT = 128
};

typedef enum op_code {
    OP_NUMBER, OP_STRING, OP_NAME,
    OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_MODULO, OP_NEGATE, OP_CEIL_DIV, OP_FLOOR_DIV, OP_ALIGN_UP, OP_LOG2,
    OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_EQUAL, OP_NOT_EQUAL, OP_NOT, OP_BOOL,
    OP_JUMP_FALSE, OP_JUMP_TRUE, OP_SELECT, OP_JUMP, OP_MIN, OP_MAX, OP_LEN, OP_SUM, OP_DOT, OP_AT,
    OP_END, LAST_OF_INTS = OP_BOOL
} op_code;

typedef struct op {
    op_code code;
    int depth;        /* stack depth on arrival; UNKNOWN_DEPTH until something reaches it */
    uint32_t operand; /* name index, argument count or jump target */
    int64_t number;
    const char *string;
} op;

enum { UNKNOWN_DEPTH = -1 };

typedef struct name {
    const char *text;
    uint32_t slot;
} name;

static const uint32_t no_slot = UINT32_MAX;

struct mt_program {
    uint32_t op_count; /* without OP_END */
    uint32_t name_count;
    op *ops; /* these three lie behind the struct in the same memory */
    name *names;
    char *text;
};

typedef struct op_info {
    const char *word;
    op_code code;
    uint32_t argument_count; /* of plain words; for counted words the smallest count */
    uint32_t count_limit;    /* 0: a plain word; else the word is followed by a number */
} op_info;

static const op_info infos[] = {
    {"+", OP_ADD, 2, 0}, {"-", OP_SUBTRACT, 2, 0}, {"*", OP_MULTIPLY, 2, 0}, {"/", OP_DIVIDE, 2, 0}, {"%", OP_MODULO, 2, 0},
    {"neg", OP_NEGATE, 1, 0}, {"<", OP_LESS, 2, 0}, {"<=", OP_LESS_EQUAL, 2, 0}, {">", OP_GREATER, 2, 0}, {">=", OP_GREATER_EQUAL, 2, 0},
    {"==", OP_EQUAL, 2, 0}, {"!=", OP_NOT_EQUAL, 2, 0}, {"!", OP_NOT, 1, 0}, {"bool", OP_BOOL, 1, 0}, {"ceil_div", OP_CEIL_DIV, 2, 0},
    {"floor_div", OP_FLOOR_DIV, 2, 0}, {"align_up", OP_ALIGN_UP, 2, 0}, {"log2", OP_LOG2, 1, 0}, {"len", OP_LEN, 1, 0}, {"at", OP_AT, 2, 0},
    {"min", OP_MIN, 2, STACK_LIMIT}, {"max", OP_MAX, 2, STACK_LIMIT}, {"sum", OP_SUM, 1, 2}, {"dot", OP_DOT, 2, 3},
    {"jf", OP_JUMP_FALSE, 0, TOKEN_LIMIT}, {"jt", OP_JUMP_TRUE, 0, TOKEN_LIMIT}, {"sel", OP_SELECT, 0, TOKEN_LIMIT}, {"jmp", OP_JUMP, 0, TOKEN_LIMIT},
};

/* ---- loading ---- */

/* A space inside a string counts too: an upper bound is enough. */
static size_t count_tokens(const char *text)
{
    size_t count = 1;
    for (; *text; text++) count += *text == ' ';
    return count;
}

size_t mt_program_bytes(const char *text)
{
    size_t tokens = count_tokens(text);
    size_t bytes = sizeof(mt_program) + (tokens + 1) * sizeof(op) + tokens * sizeof(name) + strlen(text) + 1;
    return (bytes + 7) / 8 * 8;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse_number(const char *text, int64_t *value)
{
    const char *end = mt_key_int(text, value);
    return end && !*end;
}

static bool parse_name(mt_program *program, const char *text, op *out)
{
    if (!*text) return false;
    for (const char *at = text; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        bool allowed = letter || is_digit(*at) || *at == '.' || *at == '[' || *at == ']';
        if (!allowed || (at == text && !letter)) return false;
    }
    uint32_t index = 0;
    while (index < program->name_count && strcmp(program->names[index].text, text) != 0) index++;
    if (index == program->name_count) program->names[program->name_count++] = (name){text, no_slot};
    out->code = OP_NAME;
    out->operand = index;
    return true;
}

static bool parse_word(const char *text, uint32_t index, op *out)
{
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
        const op_info *info = &infos[i];
        size_t length = strlen(info->word);
        if (strncmp(text, info->word, length) != 0) continue;
        out->code = info->code;
        out->operand = info->argument_count;
        if (info->count_limit == 0 && text[length] == '\0') return true;
        int64_t count;
        if (info->count_limit == 0 || !is_digit(text[length]) || !parse_number(text + length, &count)) continue;
        if (count < info->argument_count || count > info->count_limit) return false;
        bool is_jump = info->code >= OP_JUMP_FALSE && info->code <= OP_JUMP;
        out->operand = is_jump ? index + 1 + (uint32_t)count : (uint32_t)count;
        return true;
    }
    return false;
}

/* Cuts one token off *cursor in the copied text; NULL when the text is malformed there. Strings keep their leading quote only. */
static char *cut_token(char **cursor)
{
    char *token = *cursor, *end = token;
    if (*token == '"') {
        for (end++; *end != '"'; end++)
            if (*end < ' ' || *end > '~') return NULL;
        *end++ = '\0';
        if (*end != ' ' && *end != '\0') return NULL;
    } else {
        while (*end != ' ' && *end != '\0') end++;
        if (end == token) return NULL;
    }
    if (*end == ' ') {
        *end++ = '\0';
        if (*end == '\0') return NULL; /* a trailing space */
    }
    *cursor = end;
    return token;
}

static bool parse_token(mt_program *program, const char *token, uint32_t index, op *out)
{
    *out = (op){.depth = UNKNOWN_DEPTH};
    if (*token == '"') {
        out->code = OP_STRING;
        out->string = token + 1;
        return true;
    }
    if (*token == '$') return parse_name(program, token + 1, out);
    if (parse_number(token, &out->number)) {
        out->code = OP_NUMBER;
        return true;
    }
    return parse_word(token, index, out);
}

/* How many values an operation takes and leaves when execution goes on behind it. */
static void stack_effect(const op *o, int *takes, int *leaves)
{
    *leaves = 1;
    switch (o->code) {
    case OP_NUMBER: case OP_STRING: case OP_NAME: *takes = 0; break;
    case OP_JUMP_FALSE: case OP_JUMP_TRUE: case OP_SELECT: *takes = 1; *leaves = 0; break;
    case OP_JUMP: case OP_END: *takes = 0; *leaves = 0; break;
    default: *takes = (int)o->operand; break;
    }
}

/* Records that the token at `target` is reached with `depth` values; false when another way there has a different depth. */
static bool reach(mt_program *program, uint32_t target, int depth)
{
    if (target > program->op_count || depth > STACK_LIMIT) return false;
    op *o = &program->ops[target];
    if (o->depth == UNKNOWN_DEPTH) o->depth = depth;
    return o->depth == depth;
}

/* One pass suffices: jumps only go forward, so all ways to a token are known when the pass arrives at it. */
static bool check_stack(mt_program *program)
{
    if (!reach(program, 0, 0)) return false;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const op *o = &program->ops[i];
        int takes, leaves;
        stack_effect(o, &takes, &leaves);
        if (o->depth == UNKNOWN_DEPTH || o->depth < takes) return false; /* unreachable text is refused too */
        int after = o->depth - takes + leaves;
        bool keeps = o->code == OP_JUMP_FALSE || o->code == OP_JUMP_TRUE;
        if (keeps && !reach(program, o->operand, o->depth)) return false;
        if ((o->code == OP_SELECT || o->code == OP_JUMP) && !reach(program, o->operand, after)) return false;
        if (o->code != OP_JUMP && !reach(program, i + 1, after)) return false;
    }
    return program->ops[program->op_count].depth == 1;
}

mt_program_status mt_program_load(const char *text, void *memory, size_t bytes, mt_program **out, size_t *used)
{
    assert((uintptr_t)memory % 8 == 0);
    size_t tokens = count_tokens(text), needed = mt_program_bytes(text);
    if (bytes < needed) return MT_PROGRAM_TOO_SMALL;
    if (tokens > TOKEN_LIMIT) return MT_PROGRAM_BAD_TEXT;
    mt_program *program = memory;
    *program = (mt_program){0};
    program->ops = (op *)(program + 1);
    program->names = (name *)(program->ops + tokens + 1);
    program->text = (char *)(program->names + tokens);
    strcpy(program->text, text); /* fits: mt_program_bytes counted it */
    char *cursor = program->text;
    do {
        char *token = cut_token(&cursor);
        if (!token || !parse_token(program, token, program->op_count, &program->ops[program->op_count])) return MT_PROGRAM_BAD_TEXT;
        program->op_count++;
    } while (*cursor);
    program->ops[program->op_count] = (op){.code = OP_END, .depth = UNKNOWN_DEPTH};
    if (!check_stack(program)) return MT_PROGRAM_BAD_TEXT;
    *out = program;
    if (used) *used = needed;
    return MT_PROGRAM_OK;
}

size_t mt_program_token_count(const mt_program *program)
{
    return program->op_count;
}

size_t mt_program_name_count(const mt_program *program)
{
    return program->name_count;
}

const char *mt_program_name(const mt_program *program, size_t index)
{
    assert(index < program->name_count);
    return program->names[index].text;
}

void mt_program_bind(mt_program *program, size_t index, uint32_t slot)
{
    assert(index < program->name_count);
    program->names[index].slot = slot;
}

uint32_t mt_program_slot(const mt_program *program, size_t index)
{
    assert(index < program->name_count);
    return program->names[index].slot;
}

/* ---- evaluation ---- */

static mt_program_status divide(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) return MT_PROGRAM_DIVIDE_BY_ZERO;
    if (a == INT64_MIN && b == -1) return MT_PROGRAM_OVERFLOW;
    if (a % b != 0) return MT_PROGRAM_NOT_INTEGRAL;
    *out = a / b;
    return MT_PROGRAM_OK;
}

static mt_program_status modulo(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) return MT_PROGRAM_DIVIDE_BY_ZERO;
    *out = b == -1 ? 0 : a % b; /* INT64_MIN % -1 traps on x86 */
    return MT_PROGRAM_OK;
}

static mt_program_status ceil_div(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) return MT_PROGRAM_DIVIDE_BY_ZERO;
    if (a < 0 || b < 0) return MT_PROGRAM_RANGE;
    *out = a / b + (a % b != 0);
    return MT_PROGRAM_OK;
}

static mt_program_status floor_div(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) return MT_PROGRAM_DIVIDE_BY_ZERO;
    if (a < 0 || b < 0) return MT_PROGRAM_RANGE;
    *out = a / b;
    return MT_PROGRAM_OK;
}

static mt_program_status align_up(int64_t a, int64_t b, int64_t *out)
{
    int64_t units;
    mt_program_status st = ceil_div(a, b, &units);
    if (st == MT_PROGRAM_OK && __builtin_mul_overflow(units, b, out)) st = MT_PROGRAM_OVERFLOW;
    return st;
}

static mt_program_status log_2(int64_t a, int64_t *out)
{
    if (a <= 0) return MT_PROGRAM_RANGE;
    if ((a & (a - 1)) != 0) return MT_PROGRAM_NOT_INTEGRAL;
    *out = __builtin_ctzll((unsigned long long)a);
    return MT_PROGRAM_OK;
}

/* + … align_up on two integers, and what takes one integer (b is then not read). */
static inline mt_program_status apply_int(op_code code, int64_t a, int64_t b, int64_t *out)
{
    bool overflow = false;
    switch (code) {
    case OP_ADD: overflow = __builtin_add_overflow(a, b, out); break;
    case OP_SUBTRACT: overflow = __builtin_sub_overflow(a, b, out); break;
    case OP_MULTIPLY: overflow = __builtin_mul_overflow(a, b, out); break;
    case OP_NEGATE: overflow = __builtin_sub_overflow((int64_t)0, a, out); break;
    case OP_DIVIDE: return divide(a, b, out);
    case OP_MODULO: return modulo(a, b, out);
    case OP_CEIL_DIV: return ceil_div(a, b, out);
    case OP_FLOOR_DIV: return floor_div(a, b, out);
    case OP_ALIGN_UP: return align_up(a, b, out);
    case OP_LOG2: return log_2(a, out);
    case OP_LESS: *out = a < b; break;
    case OP_LESS_EQUAL: *out = a <= b; break;
    case OP_GREATER: *out = a > b; break;
    case OP_GREATER_EQUAL: *out = a >= b; break;
    case OP_EQUAL: *out = a == b; break;
    case OP_NOT_EQUAL: *out = a != b; break;
    case OP_NOT: case OP_BOOL:
        if (a != 0 && a != 1) return MT_PROGRAM_TYPE;
        *out = code == OP_NOT ? !a : a;
        break;
    default: return MT_PROGRAM_BAD_TEXT; /* not reached: eval hands over nothing else */
    }
    return overflow ? MT_PROGRAM_OVERFLOW : MT_PROGRAM_OK;
}

static mt_program_status min_max(op_code code, const mt_value *arguments, uint32_t count, int64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].kind != MT_VALUE_INT) return MT_PROGRAM_TYPE;
        int64_t number = arguments[i].number;
        if (i == 0 || (code == OP_MIN ? number < *out : number > *out)) *out = number;
    }
    return MT_PROGRAM_OK;
}

/* sum(H), sum(H, k), dot(H, W), dot(H, W, k): `lists` of them come first, then perhaps the count. */
static mt_program_status sum_products(const mt_value *arguments, uint32_t lists, uint32_t count, int64_t *out)
{
    for (uint32_t i = 0; i < lists; i++)
        if (arguments[i].kind != MT_VALUE_LIST) return MT_PROGRAM_TYPE;
    if (arguments[0].length != arguments[lists - 1].length) return MT_PROGRAM_RANGE;
    size_t length = arguments[0].length;
    if (count > lists) {
        const mt_value *first = &arguments[lists];
        if (first->kind != MT_VALUE_INT) return MT_PROGRAM_TYPE;
        if (first->number < 0 || (uint64_t)first->number > length) return MT_PROGRAM_RANGE;
        length = (size_t)first->number;
    }
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        int64_t term = arguments[0].list[i];
        if (lists == 2 && __builtin_mul_overflow(term, arguments[1].list[i], &term)) return MT_PROGRAM_OVERFLOW;
        if (__builtin_add_overflow(*out, term, out)) return MT_PROGRAM_OVERFLOW;
    }
    return MT_PROGRAM_OK;
}

static mt_program_status element_at(const mt_value *list, const mt_value *index, int64_t *out)
{
    if (list->kind != MT_VALUE_LIST || index->kind != MT_VALUE_INT) return MT_PROGRAM_TYPE;
    if (index->number < 0 || (uint64_t)index->number >= list->length) return MT_PROGRAM_RANGE;
    *out = list->list[index->number];
    return MT_PROGRAM_OK;
}

static mt_program_status apply(const op *o, const mt_value *arguments, int64_t *out)
{
    switch (o->code) {
    case OP_MIN: case OP_MAX: return min_max(o->code, arguments, o->operand, out);
    case OP_SUM: return sum_products(arguments, 1, o->operand, out);
    case OP_DOT: return sum_products(arguments, 2, o->operand, out);
    case OP_AT: return element_at(&arguments[0], &arguments[1], out);
    case OP_LEN:
        if (arguments[0].kind != MT_VALUE_LIST) return MT_PROGRAM_TYPE;
        *out = (int64_t)arguments[0].length;
        return MT_PROGRAM_OK;
    default: break;
    }
    const mt_value *last = &arguments[o->operand - 1];
    bool compares = o->code == OP_EQUAL || o->code == OP_NOT_EQUAL;
    if (compares && arguments[0].kind == MT_VALUE_STRING && last->kind == MT_VALUE_STRING) {
        *out = (strcmp(arguments[0].string, last->string) == 0) == (o->code == OP_EQUAL);
        return MT_PROGRAM_OK;
    }
    if (arguments[0].kind != MT_VALUE_INT || last->kind != MT_VALUE_INT) return MT_PROGRAM_TYPE;
    return apply_int(o->code, arguments[0].number, last->number, out);
}


/* jf, jt, sel: `top` must be a boolean. *jumps says whether to skip. */
static mt_program_status decide(op_code code, const mt_value *top, bool *jumps)
{
    if (top->kind != MT_VALUE_INT || (top->number != 0 && top->number != 1)) return MT_PROGRAM_TYPE;
    *jumps = code == OP_JUMP_TRUE ? top->number == 1 : top->number == 0;
    return MT_PROGRAM_OK;
}

/* The value's other members stay as they are: nothing reads them of an integer, and most steps of most programs end here. */
static inline void put_int(mt_value *value, int64_t number)
{
    value->kind = MT_VALUE_INT;
    value->number = number;
}

static inline mt_program_status read_name(const name *n, const mt_value *slots, size_t slot_count, mt_value *out)
{
    if (n->slot == no_slot || n->slot >= slot_count) return MT_PROGRAM_UNBOUND;
    const mt_value *value = &slots[n->slot];
    if (value->kind == MT_VALUE_INT) put_int(out, value->number);
    else *out = *value;
    return value->kind == MT_VALUE_UNDEFINED ? MT_PROGRAM_INACTIVE : MT_PROGRAM_OK;
}

mt_program_status mt_program_eval(const mt_program *program, const mt_value *slots, size_t slot_count, mt_value *result, size_t *token)
{
    mt_value stack[STACK_LIMIT], *top = stack; /* behind the last one */
    const op *o = program->ops, *end = o + program->op_count;
    mt_program_status st = MT_PROGRAM_OK;
    while (o < end) {
        bool jumps = false;
        int64_t number = 0;
        switch (o->code) {
        case OP_NUMBER: put_int(top++, o->number); break;
        case OP_STRING: *top++ = (mt_value){.kind = MT_VALUE_STRING, .string = o->string}; break;
        case OP_NAME: st = read_name(&program->names[o->operand], slots, slot_count, top++); break;
        case OP_JUMP: jumps = true; break;
        case OP_JUMP_FALSE: case OP_JUMP_TRUE: case OP_SELECT:
            st = decide(o->code, top - 1, &jumps);
            if (!jumps || o->code == OP_SELECT) top--;
            break;
        default: {
            const mt_value *last = top - 1;
            top -= o->operand;
            if (o->code <= LAST_OF_INTS && top->kind == MT_VALUE_INT && last->kind == MT_VALUE_INT) st = apply_int(o->code, top->number, last->number, &number);
            else st = apply(o, top, &number);
            put_int(top++, number);
        }
        }
        if (st != MT_PROGRAM_OK) {
            if (token) *token = (size_t)(o - program->ops);
            return st;
        }
        o = jumps ? program->ops + o->operand : o + 1;
    }
    *result = stack[0].kind == MT_VALUE_INT ? (mt_value){.kind = MT_VALUE_INT, .number = stack[0].number} : stack[0];
    return MT_PROGRAM_OK;
}

const char *mt_program_strerror(mt_program_status status)
{
    switch (status) {
    case MT_PROGRAM_OK: return "ok";
    case MT_PROGRAM_BAD_TEXT: return "not a program";
    case MT_PROGRAM_TOO_SMALL: return "memory given is too small";
    case MT_PROGRAM_UNBOUND: return "a name has no value";
    case MT_PROGRAM_INACTIVE: return "reads a parameter that is inactive";
    case MT_PROGRAM_TYPE: return "operand of the wrong kind";
    case MT_PROGRAM_OVERFLOW: return "integer overflow";
    case MT_PROGRAM_DIVIDE_BY_ZERO: return "division by zero";
    case MT_PROGRAM_NOT_INTEGRAL: return "result is not an integer";
    case MT_PROGRAM_RANGE: return "argument out of range: expected 0 or more in ceil_div, floor_div and align_up, more than 0 in log2, and an element that the list has";
    }
    return "unknown error";
}
