/* The fake NVML: foreign load and throttling as the environment says. See README.md here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tuner/gpu/device/nvml_api.h"

#define FAKE_EXPORT __attribute__((visibility("default")))
#define DECLARE(field, name, parameters) FAKE_EXPORT int name parameters;
MT_NVML_MAP(DECLARE)
MT_NVML_OPTIONAL_MAP(DECLARE)

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

/* The n-th number of the file that MSDA_TUNE_FAKE_LOAD_FILE names, which a test may rewrite while it runs; the variable `name` where there is none. */
static unsigned load_number(int n, const char *name)
{
    const char *path = getenv("MSDA_TUNE_FAKE_LOAD_FILE");
    FILE *file = path ? fopen(path, "re") : NULL;
    unsigned numbers[3] = {0, 0, 0};
    if (!file) return (unsigned)number(name);
    int count = fscanf(file, "%u %u %u", &numbers[0], &numbers[1], &numbers[2]);
    fclose(file);
    return n < count ? numbers[n] : 0;
}

int nvmlInit_v2(void)
{
    return MT_NVML_SUCCESS;
}

int nvmlShutdown(void)
{
    return MT_NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, mt_nvml_handle *device)
{
    static int the_device;
    *device = (mt_nvml_handle)(void *)&the_device;
    return bus_id ? MT_NVML_SUCCESS : 2;
}

int nvmlDeviceGetComputeRunningProcesses_v3(mt_nvml_handle device, unsigned *count, mt_nvml_process *list)
{
    static int asked;
    const char *text = getenv("MSDA_TUNE_FAKE_FOREIGN"), *later = text ? strchr(text, ':') : NULL;
    long others = asked++ && later ? strtol(later + 1, NULL, 10) : number("MSDA_TUNE_FAKE_FOREIGN");
    (void)device;
    if (*count < (unsigned)others + 1) {
        *count = (unsigned)others + 1;
        return MT_NVML_INSUFFICIENT_SIZE;
    }
    *count = (unsigned)others + 1;
    memset(list, 0, *count * sizeof *list);
    list[0].pid = (unsigned)getpid();
    for (unsigned i = 1; i < *count; i++) list[i].pid = 1;
    return MT_NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(mt_nvml_handle device, mt_nvml_utilization *rates)
{
    (void)device;
    *rates = (mt_nvml_utilization){load_number(0, "MSDA_TUNE_FAKE_BUSY"), 0};
    return MT_NVML_SUCCESS;
}

/* The process that started this one, and one that is nobody's; or, as in a container, both by numbers that mean nothing here. */
int nvmlDeviceGetProcessUtilization(mt_nvml_handle device, mt_nvml_sample *list, unsigned *count, unsigned long long since_unix_us)
{
    (void)device, (void)since_unix_us;
    if (*count < 2) return MT_NVML_INSUFFICIENT_SIZE;
    *count = 2;
    list[0] = (mt_nvml_sample){.pid = load_number(2, "MSDA_TUNE_FAKE_CONTAINER") ? 1 : (unsigned)getppid(), .gpu = 50};
    list[1] = (mt_nvml_sample){.pid = 1, .gpu = load_number(1, "MSDA_TUNE_FAKE_OTHERS")};
    return MT_NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(mt_nvml_handle device, unsigned long long *reasons)
{
    (void)device;
    *reasons = number("MSDA_TUNE_FAKE_THROTTLE") ? MT_NVML_HW_THERMAL : 0;
    return MT_NVML_SUCCESS;
}

/* MSDA_TUNE_FAKE_ENERGY=WATTS:PERIOD_MS: real time at that power, in steps; a period of 0 never moves. */
int nvmlDeviceGetTotalEnergyConsumption(mt_nvml_handle device, unsigned long long *millijoules)
{
    const char *text = getenv("MSDA_TUNE_FAKE_ENERGY"), *period = text ? strchr(text, ':') : NULL;
    struct timespec now;
    (void)device;
    if (!period) return MT_NVML_NOT_SUPPORTED;
    unsigned long long watts = strtoull(text, NULL, 10), period_ms = strtoull(period + 1, NULL, 10);
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long long ms = (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
    *millijoules = period_ms ? ms / period_ms * period_ms * watts : 12345;
    return MT_NVML_SUCCESS;
}

/* MSDA_TUNE_FAKE_POWER=MILLIWATTS. */
int nvmlDeviceGetPowerUsage(mt_nvml_handle device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)number("MSDA_TUNE_FAKE_POWER");
    return *milliwatts ? MT_NVML_SUCCESS : MT_NVML_NOT_SUPPORTED;
}
