/* GPUs that are not there: their facts from share/devices.ini, by name or by architecture. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/cli/share.h"
#include "tuner/space/facts.h"

enum { MT_ARCH_SIZE = 16 };

mt_status mt_known_arch_check(const char *arch, mt_error *err); /* USAGE unless it reads like "sm_90a"; NULL is fine */

/* `gpu` is a name of devices.ini; with NULL the first device whose compute capability `arch` ("sm_90a") names. `arch` may be NULL: then the device's own.
 * arch_out gets the architecture to compile for. NOT_FOUND or USAGE says what is known. */
mt_status mt_known_device(const char *gpu, const char *arch, mt_device_facts *facts, char arch_out[MT_ARCH_SIZE], mt_error *err);
/* Other devices of the file that are `gpu` too, by the beginning of their names ("a100": a100-pcie-40g …), separated by commas; empty when there are none. For who must say what was chosen. */
void mt_known_device_candidates(const char *gpu, const char *chosen_name, mt_strbuf *libraries);
/* Adds the names of all devices of the file. */
mt_status mt_known_device_names(mt_texts *names, mt_error *err);
