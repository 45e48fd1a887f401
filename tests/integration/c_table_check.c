/* Compiled by test_c_table.sh with a header that export --c-table wrote: what it answers is what libtunelookup says of the same database, for each shape of a file ("K=1;M=2;N=3;dtype=f16", in the order
 * of the keys), and of a shape that it does not have, nothing. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include TABLE
#include "tunelookup.h"

enum { PLANS = 64, NAMES = 64, LINE = 1024 };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "c_table_check: %s: %s\n", what, why);
    exit(1);
}

/* ---- the device, as the database has it ---- */

static int64_t fact(sqlite3 *db, const char *facts, const char *name)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, "SELECT json_extract(?1, '$.' || ?2)", -1, &statement, NULL) != SQLITE_OK) die("facts", sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, facts, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return value;
}

static tunelookup_device read_device(const char *path, const char *gpu)
{
    static char name[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    tunelookup_device device = { .struct_size = sizeof device, .name = name };
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK || sqlite3_prepare_v2(db, "SELECT name, facts_json FROM device WHERE key LIKE ?1 || '|%'", -1, &statement, NULL) != SQLITE_OK)
        die(path, sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, gpu, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_ROW) die(gpu, "is not in the database");
    snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(statement, 0));
    const char *facts = (const char *)sqlite3_column_text(statement, 1);
#define FACT(member) device.member = fact(db, facts, #member);
    FACT(cc) FACT(sm_count) FACT(smem_optin) FACT(smem_per_sm) FACT(smem_reserved) FACT(regs_per_sm) FACT(threads_per_sm) FACT(blocks_per_sm) FACT(max_cluster) FACT(l2_bytes) FACT(mem_bytes) FACT(clock_mhz)
#undef FACT
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return device;
}

/* ---- a shape ---- */

typedef struct shape {
    char text[LINE], strings[LINE];
    const char *names[NAMES];
    int64_t values[NAMES];
    int32_t name_count, count;
} shape;

static void parse(const char *line, shape *s)
{
    char *rest = NULL;
    memset(s, 0, sizeof *s);
    snprintf(s->text, sizeof s->text, "%s", line);
    for (char *pair = strtok_r(s->text, ";\n", &rest); pair; pair = strtok_r(NULL, ";\n", &rest)) {
        char *end, *equals = strchr(pair, '=');
        if (!equals) die(line, "is no shape");
        int64_t value = strtoll(equals + 1, &end, 10);
        s->names[s->name_count++] = pair;
        if (*end) { /* a string, which is bound */
            snprintf(s->strings + strlen(s->strings), sizeof s->strings - strlen(s->strings), "%s%s", *s->strings ? ";" : "", pair);
            continue;
        }
        *equals = '\0';
        s->values[s->count++] = value;
    }
}

static tunelookup_plan *plan_of(tunelookup_db *db, const tunelookup_device *device, const shape *s)
{
    static struct { char strings[LINE]; tunelookup_plan *plan; } plans[PLANS];
    int i = 0;
    while (i < PLANS && plans[i].plan && strcmp(plans[i].strings, s->strings) != 0) i++;
    if (i == PLANS) die("shapes", "too many different strings");
    if (plans[i].plan) return plans[i].plan;
    if (tunelookup_prepare(db, device, KERNEL, s->names, (size_t)s->name_count, &plans[i].plan) != TUNELOOKUP_OK) die(s->strings, tunelookup_detail());
    strcpy(plans[i].strings, s->strings);
    return plans[i].plan;
}

/* ---- the comparison ---- */

static int same(double a, double b)
{
    return a == (isnan(b) ? -1 : b);
}

static int same_launches(const ANSWER *mine, const tunelookup_result *theirs)
{
    for (int i = 0; i < theirs->launch_count; i++) {
        tunelookup_launch_info launch;
        if (tunelookup_launch(theirs, i, &launch) != TUNELOOKUP_OK) return 0;
        if (strcmp(mine->launches[i].entry, launch.entry) != 0 || memcmp(mine->launches[i].grid, launch.grid, sizeof launch.grid) != 0 || memcmp(mine->launches[i].block, launch.block, sizeof launch.block) != 0 ||
            memcmp(mine->launches[i].cluster, launch.cluster, sizeof launch.cluster) != 0 || mine->launches[i].smem_bytes != launch.smem_bytes || mine->launches[i].carveout_percent != launch.carveout_percent ||
            mine->launches[i].programmatic != launch.programmatic || mine->launches[i].repeat != launch.repeat) return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char line[LINE];
    long asked = 0, exact = 0, different = 0;
    shape s;
    tunelookup_db *db = NULL;
    if (argc != 4) die("usage", "c_table_check DATABASE GPU SHAPES");
    tunelookup_device device = read_device(argv[1], argv[2]);
    FILE *file = fopen(argv[3], "r");
    if (!file || tunelookup_open(argv[1], 0, &db) != TUNELOOKUP_OK) die(argv[3], tunelookup_detail());
    for (; fgets(line, sizeof line, file); asked++) {
        tunelookup_result r;
        parse(line, &s);
        const ANSWER *mine = FIND(s.strings, s.values, s.count);
        if (tunelookup_find(plan_of(db, &device, &s), s.values, &r) != TUNELOOKUP_OK) die(line, tunelookup_detail());
        exact += r.match == TUNELOOKUP_MATCH_EXACT;
        int is_same = mine && r.match ? mine->match == (int)r.match && strcmp(mine->variant, r.variant) == 0 && mine->launch_count == r.launch_count && same(mine->median_ns, r.median_ns) &&
                                            same(mine->expected_slowdown, r.expected_slowdown) && same(mine->slowdown_bound, r.slowdown_bound) && same_launches(mine, &r)
                                      : !mine && !r.match;
        if (!is_same && !different++) fprintf(stderr, "first that differs: %s", line);
    }
    if (FIND(s.strings, (const int64_t[]){ 1234567, 7654321, 1 }, 3) || FIND("", s.values, s.count)) die("a shape that the table lacks", "has an answer");
    printf("%ld shapes, %ld of them exact: %ld differ\n", asked, exact, different);
    fclose(file);
    tunelookup_close(db);
    return asked >= 1000 && exact > 0 && exact < asked && different == 0 ? 0 : 1;
}
