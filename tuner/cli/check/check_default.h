/* Whether the default points that a space names may run for a shape. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/points/space.h"

/* Adds why none of [tune] defaults may run there (where there are none, or the default variant is the reference: the first variant's default point): the condition or the hardware's rule that the first of them breaks, with its numbers. Adds nothing where one may. */
mt_status mt_check_default(const mt_space *space, const mt_device_facts *facts, mt_strbuf *why, mt_error *err);
/* Adds the same of a point that compiled to code which may not run, where it is the default and no other of `defaults` could take its place. */
void mt_check_default_code(const mt_space *space, size_t index, const char *rule, mt_strbuf *why);
