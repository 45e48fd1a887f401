/* Reading a recording from a file, as the tests of recordings do it. */
#pragma once

#include "db/exchange/recording/recording.h"
#include "tests/unit/store_fixture.h"
#include "tuner/base/file.h"

/* The error is fixture_err. */
static inline mt_status import_file(mt_store *store, const char *path, mt_origin origin)
{
    char *bytes = NULL;
    size_t length;
    mt_status st = mt_file_read(path, (size_t)1 << 30, &bytes, &length, &fixture_err);
    if (st == MT_OK) st = mt_recording_import_bytes(store, bytes, length, path, origin, NULL, &fixture_err);
    mt_free(bytes);
    return st;
}
