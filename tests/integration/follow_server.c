/* A server as test_follow.sh has one: asks for a shape that nobody tuned, writes its misses, and refreshes until the answer is exact.
 * follow_server DATABASE MISSES DEVICE-NAME CC SM-COUNT MEM-BYTES N: prints "missed", then "exact VARIANT". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tunelookup.h"

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
    if (argc != 8) return 2;
    const tunelookup_device device = {.struct_size = sizeof device, .name = argv[3], .cc = atoll(argv[4]), .sm_count = atoll(argv[5]), .mem_bytes = atoll(argv[6])};
    const int64_t n = atoll(argv[7]);
    must(tunelookup_open(argv[1], TUNELOOKUP_COUNT_MISSES, &db), "open");
    must(tunelookup_prepare(db, &device, "fake", names, 1, &plan), "prepare");
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
