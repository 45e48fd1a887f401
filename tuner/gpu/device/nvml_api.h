/* The part of NVML that is used here, read-only, in our own words: nvml.h is often missing. Source: docs.nvidia.com/deploy/nvml-api. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tuner/base/outcome.h"

typedef struct mt_nvml_device_handle *mt_nvml_handle; /* nvmlDevice_t */

typedef struct mt_nvml_process { /* nvmlProcessInfo_t of the _v3 call */
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
} mt_nvml_process;

enum { MT_NVML_SUCCESS = 0, MT_NVML_NOT_SUPPORTED = 3, MT_NVML_NOT_FOUND = 6, MT_NVML_INSUFFICIENT_SIZE = 7 };

/* Reasons that hold the clock below what the kernel would get on a cool, idle-supplied GPU. The software power cap (0x4) is not among
 * them: it is the normal state of a big GPU under load, and the SM clock per sample tells how much it costs. */
enum {
    MT_NVML_HW_SLOWDOWN = 0x8, MT_NVML_SW_THERMAL = 0x20, MT_NVML_HW_THERMAL = 0x40, MT_NVML_HW_POWER_BRAKE = 0x80,
    MT_NVML_SW_POWER_CAP = 0x4, /* no throttling: a card at its power limit is as it always is there */
    MT_NVML_THROTTLED = MT_NVML_HW_SLOWDOWN | MT_NVML_SW_THERMAL | MT_NVML_HW_THERMAL | MT_NVML_HW_POWER_BRAKE
};

typedef struct mt_nvml_utilization { unsigned gpu, memory; } mt_nvml_utilization; /* nvmlUtilization_t, per cent */

typedef struct mt_nvml_sample { /* nvmlProcessUtilizationSample_t: the newest of a process, per cent */
    unsigned pid;
    unsigned long long unix_us;
    unsigned gpu, memory, encoder, decoder;
} mt_nvml_sample;

/* field, exported name, parameters; every one returns an nvmlReturn_t (int). */
#define MT_NVML_MAP(X)                                                                                              \
    X(init, nvmlInit_v2, (void))                                                                                    \
    X(shutdown, nvmlShutdown, (void))                                                                               \
    X(by_bus_id, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus_id, mt_nvml_handle *device))                    \
    X(processes, nvmlDeviceGetComputeRunningProcesses_v3, (mt_nvml_handle device, unsigned *count, mt_nvml_process *list)) \
    X(utilization, nvmlDeviceGetUtilizationRates, (mt_nvml_handle device, mt_nvml_utilization *rates))             \
    X(throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons, (mt_nvml_handle device, unsigned long long *reasons))

/* NULL where the library is older. Millijoules since the driver was loaded; milliwatts, on newer GPUs the mean of the last second; samples of processes that ran since a time, NOT_FOUND = none did. */
#define MT_NVML_OPTIONAL_MAP(X)                                                                                     \
    X(total_energy, nvmlDeviceGetTotalEnergyConsumption, (mt_nvml_handle device, unsigned long long *millijoules))  \
    X(power, nvmlDeviceGetPowerUsage, (mt_nvml_handle device, unsigned *milliwatts))                                \
    X(samples, nvmlDeviceGetProcessUtilization, (mt_nvml_handle device, mt_nvml_sample *list, unsigned *count, unsigned long long since_unix_us))

typedef struct mt_nvml {
    void *library;
    mt_nvml_handle device;
#define MT_NVML_FIELD(field, name, parameters) int(*field) parameters;
    MT_NVML_MAP(MT_NVML_FIELD)
    MT_NVML_OPTIONAL_MAP(MT_NVML_FIELD)
#undef MT_NVML_FIELD
} mt_nvml;

/* library == NULL afterwards: absent or unusable, which was said in one line. Never an error. */
void mt_nvml_open(mt_nvml *nvml, const char *bus_id);
void mt_nvml_close(mt_nvml *nvml); /* zeroed struct is fine */
/* Processes with a compute context on the device, this one not counted; −1 = unknown. */
int mt_nvml_foreign_processes(const mt_nvml *nvml);
/* Per cent of the last sampling period (up to a second) in which a kernel ran, whoever's; −1 = unknown. */
int mt_nvml_busy_percent(const mt_nvml *nvml);
/* The same of all processes but `ours` and its descendants. −1 also where none of those is seen beside others: in a container NVML shows the host's process numbers. */
int mt_nvml_others_percent(const mt_nvml *nvml, int64_t ours);
bool mt_nvml_throttled(const mt_nvml *nvml); /* false when unknown */
bool mt_nvml_limited(const mt_nvml *nvml);   /* throttled, or at the power limit; false when unknown */
/* The total of `source` in mJ (COUNTER) or the power in mW (POWER); false where this GPU or driver does not tell. */
bool mt_nvml_energy(const mt_nvml *nvml, mt_energy_source source, double *reading);
