/* A server as test_follow.sh and tests/gpu/follow.sh have one, of a kernel whose shapes have one value N: asks for a shape that nobody tuned, writes its misses, and refreshes until the answer is exact.
 * follow_server DATABASE MISSES KERNEL N DEVICE-NAME CC SM-COUNT MEM-BYTES CLOCK-MHZ: prints "missed", then "exact VARIANT". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "include/tunelookup.h"

static void must(tunelookup_status status, const char *what)
{
    if (status == TUNELOOKUP_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, tunelookup_strerror(status), tunelookup_detail());
    exit(1);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"N"};
    tunelookup_db *db;
    tunelookup_plan *plan;
    tunelookup_result result;
    if (argc != 10) return 2;
    const tunelookup_device device = {.struct_size = sizeof device, .name = argv[5], .cc = atoll(argv[6]), .sm_count = atoll(argv[7]), .mem_bytes = atoll(argv[8]), .clock_mhz = atoll(argv[9])};
    const int64_t n = atoll(argv[4]);
    must(tunelookup_open(argv[1], TUNELOOKUP_COUNT_MISSES, &db), "open");
    must(tunelookup_prepare(db, &device, argv[3], names, 1, &plan), "prepare");
    must(tunelookup_find(plan, &n, &result), "find");
    if (result.match == TUNELOOKUP_MATCH_EXACT) return 3;
    must(tunelookup_flush_misses(db, argv[2]), "flush");
    printf("missed\n");
    fflush(stdout);
    while (result.match != TUNELOOKUP_MATCH_EXACT) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        must(tunelookup_refresh(db), "refresh");
        must(tunelookup_find(plan, &n, &result), "find");
    }
    printf("exact %s\n", result.variant);
    tunelookup_close(db);
    return 0;
}
