/* Files of results that are cut short, compressed and not: what is complete of them is taken. */
#include "tests/unit/store_fixture.h"

#include "db/exchange/gzip.h"
#include "db/exchange/recording/import.h"
#include "db/exchange/recording/recording.h"
#include "db/exchange/recording/recording_io.h"
#include "tuner/base/file.h"

static mt_import *import;

static const char header[] = "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"g|x\",\"name\":\"G\",\"facts\":{}},\"kernel\":{\"name\":\"k\",\"key\":\"ff\",\"spec\":{}},"
                             "\"shape\":{\"name\":\"s\",\"key\":\"N=1\"},\"workload\":{\"name\":\"w\",\"key\":\"\"},\"regime\":\"cold\","
                             "\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":5}\n";

/* Of a file that is cut anywhere, in the compressed bytes as in the text, what is complete is taken, and that it is cut is said; where nothing is, it is an error. */
static void expect_cut(const char *bytes, size_t length, size_t all, size_t *most)
{
    mt_status st = mt_import_open_bytes(bytes, length, "x", &import, &fixture_err);
    size_t results = st == MT_OK ? mt_import_describe(import)->results : 0;
    if (st != MT_OK) ck_assert_msg(st == MT_ERR_SYNTAX && strstr(fixture_err.message, "cut short"), "%zu bytes: %s", length, fixture_err.message);
    else ck_assert_msg(mt_import_describe(import)->is_unfinished && results > 0 && results < all, "%zu bytes: %zu results of %zu", length, results, all);
    ck_assert_msg(results >= *most, "%zu bytes: %zu results, fewer than before", length, results);
    *most = results;
    mt_import_close(import);
    import = NULL;
}

START_TEST(cut_files)
{
    char *bytes, *text;
    size_t length, size, most = 0;
    bool is_cut;
    ck_ok(mt_file_read(TEST_DATA_DIR "/kernel_tuner/convolution_milo_A100_T4.json.gz", 0, &bytes, &length, &fixture_err));
    ck_ok(mt_import_open_bytes(bytes, length, "x", &import, &fixture_err));
    const size_t all = mt_import_describe(import)->results;
    mt_import_close(import);
    for (size_t cut = 2; cut < length; cut += 1 + length / 15) expect_cut(bytes, cut, all, &most);
    ck_assert_uint_gt(most, all / 2);
    ck_ok(mt_gzip_unpack(bytes, length, 0x7fffffff, "x", &text, &size, &is_cut, &fixture_err));
    ck_assert(!is_cut);
    most = 0;
    for (size_t cut = 2000; cut < size; cut += 1 + size / 15) expect_cut(text, cut, all, &most);
    ck_assert_uint_gt(most, all / 2);
    mt_free(text);
    bytes[length / 2] ^= 0x10;
    ck_fails(mt_import_open_bytes(bytes, length, "x", &import, &fixture_err), MT_ERR_SYNTAX, "x: ");
    mt_free(bytes);
}
END_TEST

START_TEST(gzip_limits)
{
    char *text;
    void *packed;
    size_t size, unpacked, count = (size_t)1 << 20;
    bool is_cut;
    char *zeros = calloc(1, count);
    ck_ok(mt_gzip_pack(zeros, count, "x", &packed, &size, &fixture_err));
    ck_fails(mt_gzip_unpack(packed, size, count - 1, "x", &text, &unpacked, &is_cut, &fixture_err), MT_ERR_SYNTAX, "x: holds more than 0 MiB");
    ck_ok(mt_gzip_unpack(packed, size, count, "x", &text, &unpacked, &is_cut, &fixture_err));
    ck_assert_uint_eq(unpacked, count);
    mt_free(text);
    char *twice = malloc(2 * size); /* gzip files may be joined */
    memcpy(twice, packed, size);
    memcpy(twice + size, packed, size);
    ck_ok(mt_gzip_unpack(twice, 2 * size, 4 * count, "x", &text, &unpacked, &is_cut, &fixture_err));
    ck_assert_uint_eq(unpacked, 2 * count);
    mt_free(text);
    free(twice);
    free(zeros);
    mt_free(packed);
}
END_TEST

/* What is complete of a compressed file that is cut is taken, and where it ends is said. */
START_TEST(cut_compression)
{
    enum { ROWS = 20000, CAPACITY = 4 << 20 };
    char *text = malloc(CAPACITY);
    void *packed = NULL;
    size_t used = (size_t)snprintf(text, CAPACITY, "%s", header), size;
    int64_t before = 0, left_out;
    uint32_t random = 1;
    for (int i = 0; i < ROWS; i++) used += (size_t)snprintf(text + used, CAPACITY - used, "{\"v\":\"A=%d\",\"k\":\"ok\",\"ns\":%u}\n", i, 1000 + (random = random * 1664525 + 1013904223) % 100000);
    ck_ok(mt_lines_pack(text, used, &packed, &size, "x", &fixture_err));
    for (size_t tenth = 3; tenth <= 9; tenth += 3) {
        mt_store *store;
        remove(fixture_db);
        store = fixture_open();
        fixture_stderr_begin();
        ck_ok(mt_recording_import_bytes(store, packed, size * tenth / 10, "x.jsonl.zst", MT_ORIGIN_RECORDED, &left_out, &fixture_err));
        const char *said = fixture_stderr_end();
        ck_assert_ptr_nonnull(strstr(said, "is left out: the compressed data end too early here: the file is cut short"));
        ck_assert_int_ge(left_out, 1);
        mt_store_close(store);
        int64_t rows = fixture_number("SELECT count(*) FROM measurement");
        ck_assert_msg(rows > before && rows < ROWS, "%d rows", (int)rows);
        before = rows;
    }
    mt_free(packed);
    free(text);
}
END_TEST

FIXTURE_MAIN("cut_files", cut_files, gzip_limits, cut_compression)
