/* tunelookup_cuda_device against the fake driver: a program's device and the tool's are the same, and an error of the driver stays one. */
#include "tests/unit/unit.h"
#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fakes.h"

static mt_cuda_api driver;
#define TUNELOOKUP_CU(name) (driver.name)
#include "include/tunelookup_cuda.h"

/* All that the call asks for by number: the test fails each of them. */
static const CUdevice_attribute asked[] = {
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
#define ASKED(member, which) which,
    TUNELOOKUP_CUDA_FACTS(ASKED)
#undef ASKED
};

static CUdevice open_driver(void)
{
    CUdevice device = -1;
    mt_error err = {0};
    fakes_select();
    unsetenv("MSDA_TUNE_FAKE_REFUSED");
    ck_assert_msg(mt_cuda_open(&driver, &err) == MT_OK, "%s", err.message);
    ck_assert_int_eq(driver.cuInit(0), CUDA_SUCCESS);
    ck_assert_int_eq(driver.cuDeviceGet(&device, 0), CUDA_SUCCESS);
    return device;
}

static void refuse(CUdevice_attribute which)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)which);
    setenv("MSDA_TUNE_FAKE_REFUSED", text, 1);
}

START_TEST(every_member_is_filled)
{
    char name[TUNELOOKUP_CUDA_NAME];
    tunelookup_device d;
    setenv("MSDA_TUNE_FAKE_NAME", "NVIDIA Test GPU", 1);
    memset(&d, 0xff, sizeof d);
    ck_assert_int_eq(tunelookup_cuda_device(open_driver(), name, &d), CUDA_SUCCESS);
    ck_assert_uint_eq(d.struct_size, sizeof d);
    ck_assert_ptr_eq(d.name, name);
    ck_assert_str_eq(d.name, "NVIDIA Test GPU");
    /* those of tests/fakes/fake_cuda.c, all different */
    const int64_t found[] = {d.cc, d.sm_count, d.smem_optin, d.smem_per_sm, d.smem_reserved, d.regs_per_sm, d.threads_per_sm, d.blocks_per_sm, d.max_cluster, d.l2_bytes, d.clock_mhz, d.driver_version};
    const int64_t wanted[] = {90, 132, 232448, 233472, 1024, 65536, 2048, 32, 16, 1 << 20, 1980, 13000};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) ck_assert_msg(found[i] == wanted[i], "fact %zu is %lld", i, (long long)found[i]);
    size_t bytes = 0;
    ck_assert_int_eq(driver.cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
    ck_assert_int_eq(d.mem_bytes, (int64_t)bytes);
    mt_cuda_close(&driver);
}
END_TEST

/* The worker's facts are the key of what it stores: a program that describes the same GPU finds it. */
START_TEST(the_tool_sees_the_same_device)
{
    char name[TUNELOOKUP_CUDA_NAME];
    tunelookup_device d;
    mt_device_facts facts;
    mt_gpu *gpu = NULL;
    mt_error err = {0};
    ck_assert_int_eq(tunelookup_cuda_device(open_driver(), name, &d), CUDA_SUCCESS);
    ck_assert_msg(mt_gpu_open(0, &gpu, &facts, &err) == MT_OK, "%s", err.message);
    ck_assert_str_eq(facts.name, d.name);
#define SAME(field, meaning) ck_assert_msg(facts.field == d.field && d.field > 0, #field);
    MT_FACTS_MAP(SAME)
    ck_assert_int_eq(facts.driver_version, d.driver_version);
    mt_gpu_close(gpu);
    mt_cuda_close(&driver);
}
END_TEST

static void ck_is_zero(const tunelookup_device *d)
{
    static const tunelookup_device zero;
    ck_assert_msg(d->struct_size == 0 && !d->name && memcmp(&d->cc, &zero.cc, sizeof *d - offsetof(tunelookup_device, cc)) == 0, "the device is not zero");
}

START_TEST(a_refused_attribute_is_an_error)
{
    char name[TUNELOOKUP_CUDA_NAME];
    CUdevice device = open_driver();
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        tunelookup_device d;
        mt_device_facts facts;
        mt_gpu *gpu = NULL;
        mt_error err = {0};
        refuse(asked[i]);
        ck_assert_int_eq(tunelookup_cuda_device(device, name, &d), CUDA_ERROR_NOT_SUPPORTED);
        ck_is_zero(&d);
        ck_assert_int_eq(mt_gpu_open(0, &gpu, &facts, &err), MT_ERR_GPU);
        ck_assert_str_eq(err.message, "facts of the device: CUDA_ERROR_NOT_SUPPORTED (operation not supported)");
    }
    mt_cuda_close(&driver);
}
END_TEST

static CUresult no_name(char *name, int size, CUdevice device)
{
    (void)name, (void)size, (void)device;
    return CUDA_ERROR_INVALID_DEVICE;
}

static CUresult no_memory(size_t *bytes, CUdevice device)
{
    (void)bytes, (void)device;
    return CUDA_ERROR_DEVICE_UNAVAILABLE;
}

static CUresult no_version(int *version)
{
    (void)version;
    return CUDA_ERROR_INVALID_VALUE;
}

START_TEST(any_call_of_the_driver_may_fail)
{
    char name[TUNELOOKUP_CUDA_NAME];
    tunelookup_device d;
    CUdevice device = open_driver();
    const mt_cuda_api good = driver;
    driver.cuDeviceGetName = no_name;
    ck_assert_int_eq(tunelookup_cuda_device(device, name, &d), CUDA_ERROR_INVALID_DEVICE);
    ck_is_zero(&d);
    driver = good;
    driver.cuDeviceTotalMem = no_memory;
    ck_assert_int_eq(tunelookup_cuda_device(device, name, &d), CUDA_ERROR_DEVICE_UNAVAILABLE);
    ck_is_zero(&d);
    refuse(asked[0]); /* the first error is the one that is told */
    ck_assert_int_eq(tunelookup_cuda_device(device, name, &d), CUDA_ERROR_NOT_SUPPORTED);
    driver = good;
    unsetenv("MSDA_TUNE_FAKE_REFUSED");
    driver.cuDriverGetVersion = no_version;
    ck_assert_int_eq(tunelookup_cuda_device(device, name, &d), CUDA_ERROR_INVALID_VALUE);
    ck_is_zero(&d);
    mt_cuda_close(&driver);
}
END_TEST

START_TEST(clusters_by_capability)
{
    static const int64_t rows[][2] = {{70, 1}, {75, 1}, {80, 1}, {89, 1}, {90, 16}, {100, 16}, {103, 16}, {120, 8}, {121, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) ck_assert_int_eq(tunelookup_cuda_max_cluster(rows[i][0]), rows[i][1]);
}
END_TEST

UNIT_MAIN("tunelookup_cuda", every_member_is_filled, the_tool_sees_the_same_device, a_refused_attribute_is_an_error, any_call_of_the_driver_may_fail, clusters_by_capability)
