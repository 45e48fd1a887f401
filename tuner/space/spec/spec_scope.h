/* What the names of a spec are to its expressions: the slots that they are bound to, and which knobs an expression reads. */
#pragma once

#include "tuner/space/spec/spec.h"

enum { MT_NO_SLOT = UINT32_MAX };
uint32_t mt_scope_slot(const mt_spec *spec, const char *name); /* MT_NO_SLOT when there is none; loop variables are not found here */
/* Bit i: the expression reads params[i], directly or through lets. 0 for an absent expression. */
uint64_t mt_scope_knobs(const mt_spec *spec, const mt_expr *expr);
uint64_t mt_scope_knobs_of_text(const mt_spec *spec, const char *text); /* of the ${NAME} in a text */
uint64_t mt_scope_knobs_of_arg(const mt_spec *spec, const mt_arg *arg);
uint64_t mt_scope_knobs_of_launch(const mt_spec *spec, const mt_launch *launch);
