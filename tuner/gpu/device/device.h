/* One GPU and its context. Lives in the device worker; the coordinator never includes this. */
#pragma once

#include "tuner/base/outcome.h"
#include "tuner/base/status.h"
#include "tuner/space/facts.h"
#include "tuner/space/launch/plan.h"

typedef struct mt_gpu mt_gpu;

/* Opens libcuda ($MSDA_TUNE_LIBCUDA, else libcuda.so.1), cuInit, device `ordinal`, facts. MT_ERR_NO_GPU with the reason when there is
 * none. NVML is opened read-only when present (its absence is one log line). Takes no memory of the device. */
mt_status mt_gpu_open(int ordinal, mt_gpu **gpu, mt_device_facts *facts, mt_error *err);
/* The primary context (no sticky flags changed): half a gigabyte of the device's memory. Must come before all that follows; once there, nothing happens. May be tried again. */
mt_status mt_gpu_make_context(mt_gpu *gpu, mt_error *err);
void mt_gpu_close(mt_gpu *gpu); /* NULL is a no-op */
/* PCI bus id, for the user; UUIDs are never stored. */
const char *mt_gpu_bus_id(const mt_gpu *gpu);
int mt_gpu_count(const mt_gpu *gpu); /* GPUs that the driver shows to this process */
/* Other processes on this GPU (NVML), −1 = unknown. */
int mt_gpu_foreign_processes(mt_gpu *gpu);
/* Per cent of the last moments in which kernels ran (NVML), −1 = unknown. Before the first launch of this process: other processes' load. */
int mt_gpu_busy_percent(mt_gpu *gpu);
/* The same of all processes but `ours` and its descendants. */
int mt_gpu_others_percent(mt_gpu *gpu, int64_t ours);

/* What energy can be read from; NONE where NVML is absent or tells neither. */
mt_energy_source mt_gpu_energy_source(mt_gpu *gpu);

/* Loads the tool's own kernels. Must come before evaluating. */
mt_status mt_gpu_load_tool(mt_gpu *gpu, const char *cubin_path, mt_error *err);
