/* What a kernel's body does with its parameters, and what it asks of a launch: by its words alone. Each fills what signature.h says of it; `at` stands behind the bracket that opens the body, `end` at the one that
 * closes it, and the parameters are known. */
#pragma once

#include "tuner/space/signature/signature.h"

/* All of it, by the following two. */
mt_status mt_signature_read_body(const char *at, const char *end, mt_signature *signature, mt_error *err);
mt_status mt_signature_read_blocks(const char *at, const char *end, mt_signature *signature, mt_error *err);
void mt_signature_read_elements(const char *at, const char *end, mt_signature *signature);
