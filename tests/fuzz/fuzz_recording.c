/* Recordings from any bytes, plain or compressed: no fault; what is refused leaves nothing, what is accepted can be read back. */
#include <stdlib.h>

#include "db/exchange/recording/recording.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/sound_fixture.h"

static void require(int holds)
{
    if (!holds) abort();
}

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    require(row->variant && row->gpu_key && row->outcome.kind < MT_OUTCOME_KIND_COUNT);
    require(row->outcome.kind != MT_OUTCOME_OK || row->outcome.timing.median_ns > 0);
    ++*(int64_t *)context;
    return MT_OK;
}

static int64_t rows(mt_store *store)
{
    static const mt_filter all = {.with_samples = true};
    int64_t count = 0;
    mt_error err = {0};
    require(mt_query_measurements(store, &all, count_row, &count, &err) == MT_OK);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mt_store *store; /* kept: making the schema costs more than an input */
    mt_error err = {0};
    if (!store) require(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &err) == MT_OK);
    require(mt_store_begin(store, &err) == MT_OK);
    mt_status st = mt_recording_import_bytes(store, data, size, "input", MT_ORIGIN_RECORDED, NULL, &err);
    int64_t count = rows(store);
    if (st != MT_OK) require(count == 0 && err.status == st && err.message[0]);
    if (st == MT_OK) require(fixture_check(store, &err) == MT_OK);
    mt_store_rollback(store);
    if (count > 0) require(rows(store) == 0);
    return 0;
}
