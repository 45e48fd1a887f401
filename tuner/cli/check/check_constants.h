/* What `msda-tune check` warns of once a variant has compiled: __constant__ variables whose contents nobody gives. A kernel reads zeros there, in the reference too, so that nothing would be found wrong. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/points/space.h"
#include "tuner/space/source/source.h"

/* Adds a line for each variable without values that is in the variant's cubin, and that no argument fills, or none to its end. */
mt_status mt_check_constants(const mt_space *space, size_t index, const mt_device_facts *facts, const mt_source *source, const char *cubin_path, mt_strbuf *out, mt_error *err);
