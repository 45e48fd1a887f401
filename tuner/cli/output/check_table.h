/* What `msda-tune check` prints: per variant, how its points compiled. */
#pragma once

#include <stdio.h>

#include "tuner/base/outcome.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/reasons.h"
#include "tuner/space/spec/spec.h"

enum { MT_CHECK_EXAMPLES = 10 };

typedef struct mt_check_variant {
    size_t points, ok, illegal, failed, cached;
    uint32_t least_registers, most_registers, most_spills, most_static_smem;
    size_t spilling;
    double compile_ns; /* sum */
} mt_check_variant;

/* What some variants failed with, and which was the first. */
typedef struct mt_check_message {
    mt_outcome_kind kind;
    mt_strbuf text;               /* the outcome's, as printed */
    char *why, *variant;          /* the outcome's text, and whose; owned */
    size_t others;                /* variants behind the first that failed with the same */
} mt_check_message;

typedef struct mt_check_table {
    const mt_spec *spec;
    bool list;                    /* keep a line for each point */
    mt_check_variant *variants;   /* one per [algorithm]; owned */
    mt_table lines;
    mt_check_message messages[MT_CHECK_EXAMPLES]; /* the first few different ones */
    size_t failed, message_count, untold;
    mt_reasons reasons;           /* of those that may not run */
    size_t illegal;
} mt_check_table;

void mt_check_add(mt_check_table *table, size_t variant, const char *text, const mt_outcome *outcome);
void mt_check_print(const mt_check_table *table, FILE *out);
void mt_check_free(mt_check_table *table);
