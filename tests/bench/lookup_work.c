/* What a call of the lookup library makes SQLite do: virtual machine steps, the same on every machine however busy it is. */
#include <sqlite3.h>
#include <stddef.h>

#include "tests/bench/lookup_bench.h"

static int64_t steps;

/* A statement has ended, or was reset. */
static int on_end(unsigned event, void *context, void *statement, void *ns)
{
    (void)event, (void)context, (void)ns;
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

/* Of every connection that is opened from now on; SQLite's own signature of an extension's entry, whose last argument tells nothing here. */
static int on_open(sqlite3 *db, char **message, const void *unused)
{
    (void)message, (void)unused;
    return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, on_end, NULL);
}

void bench_work_begin(void)
{
    steps = 0;
    sqlite3_auto_extension((void (*)(void))on_open);
}

int64_t bench_work_so_far(void)
{
    return steps;
}

int64_t bench_work_end(void)
{
    sqlite3_cancel_auto_extension((void (*)(void))on_open);
    return steps;
}
