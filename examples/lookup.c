/* Asks a tuning database how to run the msda kernel for one shape on an H100, without CUDA.
 *
 *     cc -std=c99 lookup.c $(pkg-config --cflags --libs tunelookup) -o lookup && ./lookup [DATABASE]
 *
 * Exit 0: an answer was found; 1: an error; 2: the default must do (nothing tuned for this GPU and shape). */
#include <inttypes.h>
#include <stdio.h>
#include <tunelookup.h>

static int fail(const char *what, tunelookup_status status)
{
    fprintf(stderr, "%s: %s: %s\n", what, tunelookup_strerror(status), tunelookup_detail());
    return 1;
}

/* A program with CUDA fills this by tunelookup_cuda_device (tunelookup_cuda.h). */
static const tunelookup_device h100 = {
    sizeof(tunelookup_device), "NVIDIA H100 80GB HBM3", 90, 132, 232448, 233472, 1024, 65536, 2048, 32, 16, 52428800, INT64_C(85017755648), 1980, 13000
};

/* How values[] below is ordered. Strings of the shape are bound here, once. */
static const char *const names[] = { "N", "M", "D", "P", "Lq", "H[0]", "H[1]", "H[2]", "H[3]", "W[0]", "W[1]", "W[2]", "W[3]",
                                     "S", "START[0]", "START[1]", "START[2]", "START[3]", "dtype=f16", "loc_dtype=f32", "attn=weights", "queries=grid" };
static const int64_t values[] = { 48, 1, 32, 8, 15422, 92, 46, 23, 12, 160, 80, 40, 20, 19560, 0, 14720, 18400, 19320 };

int main(int argc, char **argv)
{
    tunelookup_db *db;
    tunelookup_plan *plan;
    tunelookup_result result;
    tunelookup_launch_info launch;
    char why[2048];
    tunelookup_status status = tunelookup_open(argc > 1 ? argv[1] : NULL, TUNELOOKUP_RECORDED, &db);
    if (status) return fail("open", status);
    status = tunelookup_prepare(db, &h100, "msda", names, sizeof names / sizeof *names, &plan);
    if (!status) status = tunelookup_find(plan, values, &result); /* in a real program: once per call, about 50 ns */
    if (status) {
        fail("prepare", status);
        tunelookup_close(db);
        return 1;
    }
    tunelookup_explain(&result, why, sizeof why);
    printf("%s", why);
    for (int i = 0; i < result.launch_count; i++) {
        status = tunelookup_launch(&result, i, &launch);
        if (status) break;
        printf("launch:   %s<<<(%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), %" PRIu32 ", %" PRIu32 ">>>, carve-out %d %%\n", launch.entry, launch.grid[0], launch.grid[1], launch.grid[2],
               launch.block[0], launch.smem_bytes, (int)launch.carveout_percent);
    }
    int found = result.match != TUNELOOKUP_MATCH_NONE;
    tunelookup_close(db);
    return status ? fail("launch", status) : found ? 0 : 2;
}
