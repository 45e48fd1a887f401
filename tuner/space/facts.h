/* Facts of a GPU: what expressions see as device.*, what legality is checked against, and what the database's key is made of.
 * Filled by the device worker from the driver, or read from db/devices.ini for GPUs that are not there. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"

/* field, meaning; each is also an expression name device.<field> */
#define MT_FACTS_MAP(X)                                                         \
    X(cc, "10·major + minor")                                                   \
    X(sm_count, "multiprocessors")                                              \
    X(smem_optin, "bytes of shared memory a block may have with the opt-in")    \
    X(smem_per_sm, "bytes of shared memory per SM")                             \
    X(smem_reserved, "bytes the driver reserves per block")                     \
    X(regs_per_sm, "32-bit registers per SM")                                   \
    X(threads_per_sm, "resident threads per SM")                                \
    X(blocks_per_sm, "resident blocks per SM")                                  \
    X(max_cluster, "largest thread-block cluster, opt-in included; 1 = none")   \
    X(l2_bytes, "L2 cache")                                                     \
    X(mem_bytes, "device memory")                                               \
    X(clock_mhz, "maximal SM clock")

typedef struct mt_device_facts {
    char name[256];          /* the driver's device name */
#define MT_FACTS_FIELD(field, meaning) int64_t field;
    MT_FACTS_MAP(MT_FACTS_FIELD)
#undef MT_FACTS_FIELD
    int64_t driver_version;  /* cuDriverGetVersion: 13000 = 13.0; 0 = unknown */
    int64_t nvrtc_version;   /* 1000·major + 10·minor; 0 = unknown */
} mt_device_facts;

size_t mt_facts_count(void);
const char *mt_facts_name(size_t index);                                  /* "cc" … */
int64_t mt_facts_value(const mt_device_facts *facts, size_t index);
/* Reads the section [device NAME] of a devices.ini (case-insensitive; aliases = a, b) and, for what it does not say, [limits CC] of its compute capability.
 * NOT_FOUND names the known ones. */
mt_status mt_facts_load(const char *path, const char *name, mt_device_facts *facts, mt_error *err);
/* "sm_90a" for cc 90, "sm_100a", "sm_120a", else "sm_<cc>". */
void mt_facts_arch(int64_t cc, char *out, size_t size);
