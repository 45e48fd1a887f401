/* Lists in values of a search space. */
#pragma once

#include <stddef.h>

#include "tuner/base/status.h"

/* Splits at commas outside of quotes and brackets; items are trimmed, mt_strings_free them. Empty text has no items. */
mt_status mt_split(const char *text, char ***items, size_t *count, mt_error *err);
void mt_strings_free(char **items, size_t count);
