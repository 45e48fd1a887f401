/* Packs (db/pack.h), by their reader and by libtunelookup. Byte 0 says how the rest is used: 0 (mod 3) = the file itself; 1 = a good pack with bytes overwritten, five bytes each: 32 bits of place
 * (little-endian, modulo the size), value: that must be refused somewhere, unless every byte is as before; 2 = the same, and then head and table are given the hashes that they have, as who makes
 * packs to cheat would: answers or errors, no crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/pack.h"
#include "db/store/open/store_image.h"
#include "db/store/sql.h"
#include "include/tunelookup.h"
#include "tests/fuzz/fuzz_rows.h"
#include "tests/fuzz/fuzz_target.h"

enum { PARTS = 2, MOST = 1 << 20 };

static const char code[] = "00112233445566778899aabbccddee00";
static char folder[] = "/tmp/fuzz_pack.XXXXXX", path[64];
static unsigned char good[MOST], bytes[MOST];
static size_t good_bytes;

static void remove_files(void)
{
    unlink(path);
    rmdir(folder);
}

static void check(bool fine)
{
    if (!fine) abort();
}

static void make_good(void)
{
    mt_error err;
    mt_store *store = NULL;
    unsigned char *image = NULL;
    size_t size = 0;
    mt_pack_part parts[PARTS] = {{.name = MT_PACK_DATABASE}, {.bytes = 100}};
    static const char spec[] = "{\"format\":1,\"regime\":\"cold\",\"shape\":[{\"name\":\"H\",\"kind\":\"list\"},{\"name\":\"N\",\"kind\":\"int\"},{\"name\":\"dtype\",\"kind\":\"string\"}],\"params\":["
                               "{\"name\":\"ALGO\",\"string\":true,\"values\":[\"wide\"],\"default\":0},{\"name\":\"B\",\"values\":[32]},{\"name\":\"C\",\"values\":[2]}],\"variants\":[{\"name\":\"wide\",\"entry\":\"k\"}],"
                               "\"launches\":[{\"number\":1,\"args\":[],\"grid\":[\"$N\"],\"block\":[\"$B\"]}]}";
    check(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/t.pack", folder);
    atexit(remove_files);
    check(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &err) == MT_OK);
    check(mt_sql_exec(store, FUZZ_ROWS("{}", "'00112233445566778899aabbccddee00'"), &err) == MT_OK);
    check(mt_sql_do(store, "UPDATE kernel SET spec_json = ?", "set the spec", MT_IN(MT_TEXT(spec)), &err) == MT_OK);
    check(mt_store_image(store, &image, &size, &err) == MT_OK);
    size_t front = mt_pack_front_bytes(PARTS), end = front + mt_pack_padded(size);
    good_bytes = end + mt_pack_padded(parts[1].bytes);
    check(good_bytes <= MOST);
    memcpy(good + front, image, size);
    strcpy(parts[1].name, code);
    parts[0].bytes = size;
    mt_blake2b(good + front, end - front, parts[0].hash);
    mt_blake2b(good + end, good_bytes - end, parts[1].hash);
    mt_pack_front(parts, PARTS, good);
    mt_store_image_free(image);
    mt_store_close(store);
}

static void write_file(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    check(file != NULL);
    if (size) check(fwrite(data, 1, size, file) == size);
    fclose(file);
    chmod(path, 0600);
}

static void patch(const uint8_t *patches, size_t size)
{
    memcpy(bytes, good, good_bytes);
    for (; size >= 5; size -= 5, patches += 5) {
        uint32_t place = patches[0] | (uint32_t)patches[1] << 8 | (uint32_t)patches[2] << 16 | (uint32_t)patches[3] << 24;
        bytes[place % good_bytes] = patches[4];
    }
}

static void make_hashes_right(void)
{
    mt_blake2b(bytes + MT_PACK_HEAD, (size_t)mt_pack_front_bytes(PARTS) - MT_PACK_HEAD, bytes + MT_PACK_AT_TABLE_HASH);
    mt_pack_finish_head(bytes);
}

/* Every part; false: something was refused. */
static bool read_all(void)
{
    mt_pack pack;
    char why[MT_PACK_WHY];
    bool is_good = true;
    if (mt_pack_open(path, &pack, why) != MT_PACK_OK) return false;
    for (uint32_t i = 0; i < pack.count; i++) {
        unsigned char *part = malloc((size_t)mt_pack_padded(pack.parts[i].bytes));
        check(part != NULL);
        if (mt_pack_read(&pack, &pack.parts[i], part, why) != MT_PACK_OK) is_good = false;
        free(part);
    }
    mt_pack_close(&pack);
    return is_good;
}

static void ask(bool is_good)
{
    static const char *const names[] = {"N", "H[0]", "H[1]", "dtype=f16"};
    tunelookup_device device = {.struct_size = sizeof device, .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .mem_bytes = 85017755648, .max_cluster = 16};
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_result result;
    const void *cubin;
    size_t count;
    tunelookup_status st = tunelookup_open(path, TUNELOOKUP_USER_CUBINS, &db);
    if (st == TUNELOOKUP_OK) st = tunelookup_prepare(db, &device, "toy", names, 4, &plan);
    check(!is_good || st == TUNELOOKUP_OK);
    if (plan) {
        check(tunelookup_find(plan, (const int64_t[]){64, 3, 5}, &result) == TUNELOOKUP_OK);
        check(!is_good || result.match == TUNELOOKUP_MATCH_EXACT);
        tunelookup_cubin(&result, &cubin, &count);
    }
    if (!db) return;
    tunelookup_refresh(db);
    tunelookup_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!good_bytes) make_good();
    if (size == 0) return 0;
    bool is_whole = data[0] % 3 == 0;
    if (!is_whole) patch(data + 1, size - 1);
    if (data[0] % 3 == 2) make_hashes_right();
    write_file(is_whole ? data + 1 : bytes, is_whole ? size - 1 : good_bytes);
    bool is_good = read_all() && data[0] % 3 == 1;
    if (is_good) check(memcmp(bytes, good, good_bytes) == 0);
    ask(is_good);
    return 0;
}
