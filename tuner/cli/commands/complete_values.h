/* What the value of an option can be, for shells that complete it: names of GPUs, kernels, shapes … from the files that the command line means. */
#pragma once

#include "tuner/cli/options.h"
#include "tuner/cli/share.h"

/* What the command line says before the value. All borrowed; NULL = not given. */
typedef struct mt_complete_line {
    const char *command;                            /* its name */
    const char *space, *db, *kernel, *recordings;   /* values of these options */
    const char *const *operands; size_t operand_count;
} mt_complete_line;

/* Adds what is known of `option`'s values, in no order, some perhaps twice; nothing where they are files, numbers or free text. A file that cannot be read adds
 * nothing. Names of databases and search spaces come as they are: whatever a stranger wrote there. */
void mt_complete_values_add(const mt_complete_line *line, const mt_option *option, mt_texts *names);
