/* The two sides of a comparison on the command line: what `diff` and `report --diff` share. */
#pragma once

#include "db/exchange/diff.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/command.h"

typedef struct mt_diff_sides_values {
    mt_texts a, b;
    const char *threshold;
} mt_diff_sides_values;
/* The options --a --b --threshold, for a command whose values (struct `type`) have an mt_diff_sides_values `member`. */
#define MT_SIDES_OPTIONS(type, member)                                                                                                                                       \
    {"a", 0, MT_OPTION_WORDS, offsetof(type, member) + offsetof(mt_diff_sides_values, a), "KEY=VALUE",                                                                           \
     "what the first side is: gpu, driver, nvrtc (12.8), session,\nsince, until (2026-01-31), source (of the kernel); may be repeated"},                                    \
        {"b", 0, MT_OPTION_WORDS, offsetof(type, member) + offsetof(mt_diff_sides_values, b), "KEY=VALUE", "what the second side is"},                                           \
    {"threshold", 0, MT_OPTION_TEXT, offsetof(type, member) + offsetof(mt_diff_sides_values, threshold), "PERCENT", "SAME means certainly within this (default 1)"}

typedef struct mt_diff_sides {
    mt_diff_side a, b;
    double threshold;     /* a part of 1 */
    mt_store *stores[2];  /* owned */
} mt_diff_sides;

/* Reads the options and opens the databases: the operands, or one database for both. `db`: --db; `gpu`: --gpu; NULL = not given. `command` stands in messages.
 * mt_diff_sides_close in every case. */
mt_status mt_diff_sides_open(const char *command, const mt_diff_sides_values *values, const mt_arguments *arguments, const char *db, const char *gpu, mt_diff_sides *sides, mt_error *err);
void mt_diff_sides_close(mt_diff_sides *sides);
/* Adds "FILE, gpu=h100, driver=12.8". */
void mt_diff_sides_describe(const mt_diff_sides_values *values, const mt_diff_sides *sides, size_t which, mt_strbuf *text);
