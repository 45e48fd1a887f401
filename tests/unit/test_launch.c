#include "tests/unit/unit.h"
#include "tuner/gpu/device/launch.h"

static const mt_device_facts h100 = {.smem_per_sm = 233472, .smem_reserved = 1024}, rtx5090 = {.smem_per_sm = 102400, .smem_reserved = 1024};

START_TEST(carveout_is_the_smallest_split_that_fits)
{
    ck_assert_int_eq(mt_carveout_percent(&h100, 8, 0, 0), 3);          /* 8 KiB reserved → split at 8 */
    ck_assert_int_eq(mt_carveout_percent(&h100, 1, 0, 60000), 28);     /* 64 */
    ck_assert_int_eq(mt_carveout_percent(&h100, 2, 0, 82088), 71);     /* 2 × 83,200 B fit into 164 KiB; 72 % would be 196 */
    ck_assert_int_eq(mt_carveout_percent(&h100, 1, 1024, 231424), 100);
    ck_assert_int_eq(mt_carveout_percent(&h100, 32, 0, 6000), 100);    /* 224.5 KiB: above 196 */
    ck_assert_int_eq(mt_carveout_percent(&h100, 32, 0, 4096), 71);
    ck_assert_int_eq(mt_carveout_percent(&rtx5090, 1, 0, 40000), 64);  /* 64 of 100 KiB */
    ck_assert_int_eq(mt_carveout_percent(&rtx5090, 1, 0, 80000), 100);
    ck_assert_int_eq(mt_carveout_percent(&(mt_device_facts){0}, 1, 0, 1), 100);
}
END_TEST

UNIT_MAIN("launch", carveout_is_the_smallest_split_that_fits)
