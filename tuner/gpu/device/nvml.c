#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/gpu/device/nvml_api.h"
#include "tuner/gpu/dynlib.h"

static const char *load(mt_nvml *nvml)
{
    const mt_dynlib_symbol symbols[] = {
#define MT_NVML_SYMBOL(field, name, parameters) {#name, (void **)&nvml->field, true},
        MT_NVML_MAP(MT_NVML_SYMBOL)
#undef MT_NVML_SYMBOL
#define MT_NVML_SYMBOL(field, name, parameters) {#name, (void **)&nvml->field, false},
        MT_NVML_OPTIONAL_MAP(MT_NVML_SYMBOL)
#undef MT_NVML_SYMBOL
    };
    return mt_dynlib_symbols(nvml->library, symbols, sizeof symbols / sizeof symbols[0]);
}

void mt_nvml_open(mt_nvml *nvml, const char *bus_id)
{
    static const char *const names[] = {"libnvidia-ml.so.1"};
    *nvml = (mt_nvml){0};
    nvml->library = mt_dynlib_open("MSDA_TUNE_NVML", names, 1, NULL);
    const char *problem = nvml->library ? load(nvml) : "libnvidia-ml.so.1";
    bool started = !problem && nvml->init() == MT_NVML_SUCCESS;
    if (started && nvml->by_bus_id(bus_id, &nvml->device) == MT_NVML_SUCCESS) return;
    mt_log_info("NVML is not usable (%s): foreign processes and throttle reasons are unknown", problem ? problem : "the device is not known to it");
    if (started) nvml->shutdown();
    mt_dynlib_close(nvml->library);
    *nvml = (mt_nvml){0};
}

void mt_nvml_close(mt_nvml *nvml)
{
    if (nvml->library) nvml->shutdown();
    mt_dynlib_close(nvml->library);
    *nvml = (mt_nvml){0};
}

int mt_nvml_foreign_processes(const mt_nvml *nvml)
{
    mt_nvml_process list[64];
    unsigned count = sizeof list / sizeof list[0];
    if (!nvml->library) return -1;
    int code = nvml->processes(nvml->device, &count, list);
    if (code == MT_NVML_INSUFFICIENT_SIZE) return (int)count - 1;
    if (code != MT_NVML_SUCCESS) return -1;
    int foreign = 0;
    bool found_self = false;
    for (unsigned i = 0; i < count; i++) {
        if (list[i].pid == (unsigned)getpid()) found_self = true;
        else foreign++;
    }
    /* In a container NVML shows the host's process numbers, so that our own entry can't be told apart: one of them is us. */
    return found_self || foreign == 0 ? foreign : foreign - 1;
}

int mt_nvml_busy_percent(const mt_nvml *nvml)
{
    mt_nvml_utilization rates = {0};
    if (!nvml->library || nvml->utilization(nvml->device, &rates) != MT_NVML_SUCCESS) return -1;
    return rates.gpu <= 100 ? (int)rates.gpu : -1;
}

/* Whether `pid` is `ours` or descends from it. */
static bool is_of(int64_t pid, int64_t ours)
{
    enum { MOST_GENERATIONS = 64 };
    char path[40], line[512];
    for (int i = 0; i < MOST_GENERATIONS && pid > 1 && pid != ours; i++) {
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
        FILE *file = fopen(path, "re");
        const char *name_end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; /* the name before it may hold anything */
        if (file) fclose(file);
        pid = name_end && strlen(name_end) > 4 ? strtoll(name_end + 4, NULL, 10) : 0; /* ") S PARENT" */
    }
    return pid == ours;
}

int mt_nvml_others_percent(const mt_nvml *nvml, int64_t ours)
{
    mt_nvml_sample list[64];
    unsigned count = sizeof list / sizeof list[0], others = 0;
    bool found_ours = false, found_others = false;
    if (!nvml->library || !nvml->samples) return -1;
    int code = nvml->samples(nvml->device, list, &count, (unsigned long long)(mt_clock_unix_ms() - 1000) * 1000);
    if (code == MT_NVML_NOT_FOUND) return 0;
    if (code != MT_NVML_SUCCESS) return -1;
    for (unsigned i = 0; i < count; i++) {
        if (list[i].pid == 0 || list[i].gpu > 100) continue;
        if (is_of(list[i].pid, ours)) {
            found_ours = true;
        } else {
            found_others = true;
            others += list[i].gpu;
        }
    }
    return found_others && !found_ours ? -1 : others < 100 ? (int)others : 100;
}

static bool has_reason(const mt_nvml *nvml, unsigned long long wanted)
{
    unsigned long long reasons = 0;
    if (!nvml->library || nvml->throttle_reasons(nvml->device, &reasons) != MT_NVML_SUCCESS) return false;
    return (reasons & wanted) != 0;
}

bool mt_nvml_throttled(const mt_nvml *nvml)
{
    return has_reason(nvml, MT_NVML_THROTTLED);
}

bool mt_nvml_limited(const mt_nvml *nvml)
{
    return has_reason(nvml, MT_NVML_THROTTLED | MT_NVML_SW_POWER_CAP);
}

bool mt_nvml_energy(const mt_nvml *nvml, mt_energy_source source, double *reading)
{
    unsigned long long millijoules = 0;
    unsigned milliwatts = 0;
    if (!nvml->library) return false;
    if (source == MT_ENERGY_COUNTER && nvml->total_energy && nvml->total_energy(nvml->device, &millijoules) == MT_NVML_SUCCESS) {
        *reading = (double)millijoules;
        return true;
    }
    if (source == MT_ENERGY_POWER && nvml->power && nvml->power(nvml->device, &milliwatts) == MT_NVML_SUCCESS) {
        *reading = (double)milliwatts;
        return true;
    }
    return false;
}
