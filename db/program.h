/* Programs: stored integer expressions, and the one evaluator that the tuner and libtunelookup share.
 *
 * An expression of a search-space file is compiled once (tuner/space/expr/expr.c) into a postfix program, which is kept in the database
 * as text. Here the text is loaded into caller-owned memory and evaluated: libc only, no allocation, no global state, so that the
 * lookup can compute the launch of a shape that nobody tuned exactly as the tuner would.
 *
 * Text form: tokens separated by single spaces, for example   $CLUSTER 8 <= jf5 $CPB 32 <=  …
 *   123 -5          integer            $NAME           value of a name (identifiers, dots, [k])
 *   "f16"           string (no escapes; printable ASCII except quote)
 *   + - * / % neg   checked arithmetic; / fails unless exact     < <= > >= == !=    comparisons (strings: == != only)
 *   !               logical not        jf<k> / jt<k>  short-circuit: if top is false/true skip k tokens keeping it, else pop
 *   sel<k> / jmp<k> ?: — sel pops a bool and skips k tokens when false; jmp skips k tokens
 *   bool            asserts that top is 0/1 and stays (guards && || results)
 *   min<n> max<n> ceil_div floor_div align_up log2 len sum<1|2> dot<2|3> at   functions; <n> = number of arguments where it varies
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mt_value_kind {
    MT_VALUE_UNDEFINED = 0, /* an inactive knob, or a let that reads one: using it is MT_PROGRAM_INACTIVE */
    MT_VALUE_INT,           /* also booleans, 0/1 */
    MT_VALUE_STRING,
    MT_VALUE_LIST
} mt_value_kind;

/* A value does not own what it points to; the slot array's owner keeps strings and lists alive. */
typedef struct mt_value {
    mt_value_kind kind;
    int64_t number;      /* MT_VALUE_INT */
    const char *string;  /* MT_VALUE_STRING, NUL-terminated */
    const int64_t *list; /* MT_VALUE_LIST */
    size_t length;       /* of list */
} mt_value;

typedef enum mt_program_status {
    MT_PROGRAM_OK = 0,
    MT_PROGRAM_BAD_TEXT,    /* not a program */
    MT_PROGRAM_TOO_SMALL,   /* memory given is too small */
    MT_PROGRAM_UNBOUND,     /* a name was not bound */
    MT_PROGRAM_INACTIVE,    /* reads an undefined value */
    MT_PROGRAM_TYPE,        /* operand of the wrong kind */
    MT_PROGRAM_OVERFLOW,
    MT_PROGRAM_DIVIDE_BY_ZERO,
    MT_PROGRAM_NOT_INTEGRAL, /* inexact / or log2 */
    MT_PROGRAM_RANGE        /* list index or count out of range, log2 of a non-positive number, ceil_div/floor_div/align_up of a negative */
} mt_program_status;

typedef struct mt_program mt_program; /* lives in the caller's memory; read-only after binding, then safe to share among threads */

/* Upper bound on the bytes that loading `text` needs (8-byte aligned memory). */
size_t mt_program_bytes(const char *text);
/* Loads into memory[bytes]; checks stack discipline and jump targets, so that evaluation can't run wild on hostile text. The text is
 * copied. *used (may be NULL) receives the bytes taken. */
mt_program_status mt_program_load(const char *text, void *memory, size_t bytes, mt_program **program, size_t *used);

size_t mt_program_token_count(const mt_program *program);
/* Names the program reads, each once. */
size_t mt_program_name_count(const mt_program *program);
const char *mt_program_name(const mt_program *program, size_t index);
/* Says in which slot of the array given to mt_program_eval the name `index` will be found. */
void mt_program_bind(mt_program *program, size_t index, uint32_t slot);
uint32_t mt_program_slot(const mt_program *program, size_t index); /* as bound */

/* Evaluates with values slots[slot_count]. *result gets an INT, or a STRING/LIST that aliases a slot or the program.
 * *token (may be NULL) receives the failing token's number, for the position in messages. */
mt_program_status mt_program_eval(const mt_program *program, const mt_value *slots, size_t slot_count, mt_value *result, size_t *token);

const char *mt_program_strerror(mt_program_status status); /* "division by zero" … */
