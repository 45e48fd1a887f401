/* What headers of the toolkit ask by __has_include for through macros. Those that the toolkit defines lead to its own files, which count. One that the user's source or an option defines may name any file
 * of the disk, of which no key would tell. */
#pragma once

#include "tuner/base/texts.h"

typedef struct mt_toolkit_asks {
    mt_texts askers; /* macros that ask, without has_include in the name */
    mt_texts macros; /* of which what is asked for may be made */
} mt_toolkit_asks;   /* zeroed struct is empty */

/* Adds what the text, of one or more headers, asks for. */
mt_status mt_toolkit_asks_add(mt_toolkit_asks *asks, const char *text, mt_error *err);
void mt_toolkit_asks_free(mt_toolkit_asks *asks);
