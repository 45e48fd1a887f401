/* Kernel Tuner caches, T4 files and gzip from any bytes: no fault; what is accepted becomes a recording, and what is refused is refused with a message. */
#include <stdlib.h>
#include <string.h>

#include "db/exchange/recording/import.h"
#include "db/exchange/recording/recording.h"
#include "tests/fuzz/fuzz_target.h"

#define HEADER \
    "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"g\",\"name\":\"G\",\"facts\":{}},\"kernel\":{\"name\":\"k\",\"key\":\"0\",\"spec\":{}}," \
    "\"shape\":{\"name\":\"s\",\"key\":\"\"},\"workload\":{\"name\":\"w\",\"key\":\"\"},\"regime\":\"warm\",\"toolchain\":{\"nvrtc\":0,\"driver\":0,\"arch\":\"\"},\"recorded_unix_ms\":0}\n"

static void require(int holds)
{
    if (!holds) abort();
}

static mt_store *scratch(void)
{
    static mt_store *store; /* kept: making the schema costs more than an input */
    mt_error err = {0};
    if (!store) require(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &err) == MT_OK);
    return store;
}

/* Every line is one that the reader of recordings takes. */
static void check_results(const mt_import *import)
{
    mt_strbuf lines = {0}, ini = {0};
    mt_error err = {0};
    mt_strbuf_add(&lines, HEADER);
    mt_status st = mt_import_lines(import, "kernel", &lines, &err);
    if (st == MT_OK && mt_import_space(import, "kernel", mt_import_describe(import)->problem, &ini, &err) == MT_OK) require(ini.length > 0);
    require(mt_store_begin(scratch(), &err) == MT_OK);
    if (st == MT_OK && mt_recording_import_bytes(scratch(), lines.text, lines.length, "lines", MT_ORIGIN_RECORDED, NULL, &err) != MT_OK)
        require(err.status == MT_ERR_SYNTAX || err.status == MT_ERR_DB);
    mt_store_rollback(scratch());
    mt_strbuf_free(&lines);
    mt_strbuf_free(&ini);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mt_import *import = NULL;
    mt_error err = {0};
    mt_status st = mt_import_open_bytes(data, size, "input", &import, &err);
    if (st != MT_OK) {
        require(!import && err.status == st && strncmp(err.message, "input", 5) == 0);
        return 0;
    }
    if (mt_import_describe(import)->is_recording) {
        size_t length;
        const void *bytes = mt_import_recording(import, &length);
        require(mt_store_begin(scratch(), &err) == MT_OK);
        st = mt_recording_import_bytes(scratch(), bytes, length, "input", MT_ORIGIN_RECORDED, NULL, &err);
        require(st == MT_OK || err.message[0]);
        mt_store_rollback(scratch());
    } else {
        check_results(import);
    }
    mt_import_close(import);
    return 0;
}
