/* Asks how to run the transposition of a ROWS x COLUMNS matrix on an H200. A program with CUDA fills the device by
 * tunelookup_cuda_device (tunelookup_cuda.h), and passes 0 for TUNELOOKUP_RECORDED: it wants what was measured here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tunelookup.h>

static const tunelookup_device h200 = { sizeof(tunelookup_device), "NVIDIA H200", 90, 132, 232448, 233472, 1024, 65536, 2048, 32, 16, 62914560, INT64_C(150109880320), 1980, 13000 };

int main(int argc, char **argv)
{
    static const char *const names[] = { "ROWS", "COLUMNS" };
    const int64_t values[] = { argc > 1 ? atoll(argv[1]) : 8192, argc > 2 ? atoll(argv[2]) : 8192 };
    tunelookup_db *db = NULL;
    tunelookup_plan *plan;
    tunelookup_result result;
    tunelookup_launch_info launch;
    tunelookup_status status = tunelookup_open(NULL, TUNELOOKUP_RECORDED, &db);
    if (!status) status = tunelookup_prepare(db, &h200, "transpose", names, 2, &plan);
    if (!status) status = tunelookup_find(plan, values, &result); /* the hot call */
    if (!status) status = tunelookup_launch(&result, 0, &launch);
    if (status)
        fprintf(stderr, "%s: %s\n", tunelookup_strerror(status), tunelookup_detail());
    else
        printf("%s\n%s<<<(%" PRIu32 ", %" PRIu32 "), (%" PRIu32 ", %" PRIu32 ")>>>\n", result.variant, launch.entry, launch.grid[0], launch.grid[1], launch.block[0], launch.block[1]);
    tunelookup_close(db);
    return status ? 1 : 0;
}
