/* Inputs that --input reads from files: checked before anything starts, and told apart in the database. */
#pragma once

#include "tuner/base/hash.h"
#include "tuner/cli/options.h"
#include "tuner/space/spec/spec.h"

/* `words`: NAME=FILE each. *identity: of the names and the files' contents, whatever their order and wherever they lie. USAGE for a name that is not an
 * input of `spec` or is given twice. Needs at least one word. */
mt_status mt_inputs_identify(const mt_spec *spec, const mt_texts *words, mt_hash *identity, mt_error *err);
