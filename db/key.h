/* Canonical keys, shared by the tuner that writes rows and the lookup that reads them, so that they cannot drift. libc only.
 *
 * GPU key: "<canonical model>|cc<major><minor>|sm<count>|<memory GiB>g[|<clock class>]", e.g. "h100-sxm|cc90|sm132|80g".
 * The canonical model comes from the driver's name through a table (≥ 40 real names, tests/unit/test_key.c); unknown names become
 * lower-case words joined by '-'. Of a GPU of which only the name is known (cc 0) the key is the model alone. MIG slices, PCIe/SXM/NVL/GH200 differ. No UUIDs: equal boards share rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_KEY_MODEL_SIZE = 64, MT_KEY_GPU_SIZE = 128 };

/* "NVIDIA H100 80GB HBM3" → "h100-sxm"; "NVIDIA H100 PCIe" → "h100-pcie"; "NVIDIA H100 80GB HBM3 MIG 1g.10gb" → "h100-sxm-mig-1g.10gb".
 * Always terminates; truncates at size. Returns out. */
char *mt_key_model(const char *driver_name, char *out, size_t size);
/* cc = 10·major + minor. Memory is rounded up to the marketed GiB class (a MIG slice's comes from its profile), so that driver reserves
 * do not split keys. The clock class is "max-q" where the name says so (the model is then that of the full board); clock_mhz is not used. */
char *mt_key_gpu(const char *driver_name, int64_t cc, int64_t sm_count, int64_t mem_bytes, int64_t clock_mhz, char *out, size_t size);
/* Canonical text of a list of name=value pairs: sorted by name, "A=1;B=92,46;dtype=f16". names and values have count entries;
 * values are already text and hold no ';'. Returns the length needed (without NUL); writes at most size. Used for shapes, workloads and configurations. */
size_t mt_key_pairs(const char *const *names, const char *const *values, size_t count, char *out, size_t size);
/* Whether such a text has the names of `names`, "A,B,dtype", and no others. */
bool mt_key_has_names(const char *pairs, const char *names);
/* Whether pages, tables and summaries tell a variant's pair, "A=1" of `length` bytes: they leave out those that such a text of defaults has. The algorithm is told always: it is the variant's name. Without
 * defaults, "" or NULL, all are. */
bool mt_key_is_told(const char *pair, size_t length, const char *defaults);
/* Whether all of a variant's pairs are among the defaults. */
bool mt_key_is_default(const char *variant, const char *defaults);
/* What keeps a name from being that of a knob or a shape value: a word of the expression language, "device", or the beginning of the tool's own macros, "MT_". NULL = nothing. */
const char *mt_key_taken_by(const char *name);
/* Reads [-]digits, as such texts hold them. Returns what follows; NULL, and *value is left alone, where there are no digits or int64 overflows. */
const char *mt_key_int(const char *text, int64_t *value);
