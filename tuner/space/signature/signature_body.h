/* What a kernel's body does with its parameters, and what it asks of a launch: by its words alone. */
#pragma once

#include "tuner/space/signature/signature.h"

/* From `at`, behind the bracket that opens the body, to `end`. Fills what signature.h says of the body; the parameters are known. */
mt_status mt_signature_read_body(const char *at, const char *end, mt_signature *signature, mt_error *err);

/* Parts of it, that are called by it. */
mt_status mt_signature_read_blocks(const char *at, const char *end, mt_signature *signature, mt_error *err);
void mt_signature_read_elements(const char *at, const char *end, mt_signature *signature);
