/* Packs: the same answers as the database that they were made of, the same bytes each time, and none that was changed is believed. */
#include "tests/unit/fallback_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/exchange/pack_make.h"
#include "db/exchange/pack_sign.h"
#include "tuner/base/file.h"

static char pack_path[192];

/* Of the fixture's database as it is; the caller frees the bytes. */
static mt_packed pack_of(const char *kernel)
{
    mt_store *store = NULL, *copy = NULL;
    mt_packed packed = {0};
    const mt_filter filter = {.kernel = kernel};
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_pack_gather(store, &filter, NULL, &copy, &fixture_err));
    ck_ok(mt_pack_make(copy, &filter, &packed, &fixture_err));
    mt_store_close(copy);
    mt_store_close(store);
    return packed;
}

static void write_pack(const mt_packed *packed)
{
    snprintf(pack_path, sizeof pack_path, "%s/t.pack", fixture_folder);
    ck_ok(mt_file_write_atomic(pack_path, packed->bytes, packed->contents.bytes, &fixture_err));
    ck_assert_int_eq(chmod(pack_path, 0644), 0);
}

static mt_pack_contents make_pack(void)
{
    mt_packed packed = pack_of("toy");
    mt_pack_contents contents = packed.contents;
    write_pack(&packed);
    mt_packed_free(&packed);
    return contents;
}

/* Eight shapes, from which others are predicted, code for one, and a kernel that nobody packs. */
static lookup_cubin fill(void)
{
    lookup_cubin cubin = lookup_make_cubin(90);
    smooth(MT_ORIGIN_MEASURED);
    lookup_writer w = lookup_begin(lookup_spec, "unpacked_kernel", "ffeeddccbbaa99887766554433221100");
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=64;C=2", 77);
    lookup_end(&w);
    lookup_store_cubin(&cubin, sizeof cubin);
    fixture_sql("UPDATE answer SET cubin_hash = NULL WHERE shape_key NOT LIKE '%N=64;%'");
    return cubin;
}

static tunelookup_plan *plan_of(const char *path, tunelookup_db **db)
{
    ck_lookup(tunelookup_open(path, TUNELOOKUP_USER_CUBINS, db));
    return prepare(*db, &lookup_h100);
}

START_TEST(test_hash)
{
    static const struct { size_t length; const char *hex; } known[] = { /* by another implementation */
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"}, {1, "e88bd757ad5b9bedf372d8d3f0cf6c962a469db61a265f6418e1ffed86da29ec"},
        {63, "a69e023685fa5f19fca13acc02142a9cf8450ce5b77966586e0d000c4a4ea942"}, {127, "c9ae3859964b35f04c54b36d33cf299d7290ee621005d28e51598a943560aaaa"},
        {128, "f0501d06597880592bc49234eef100ec1ff349058d0e9d9b753504e24af86dd6"}, {129, "a34a4e1e03c541dfbf3099c4b6c143c022ced65c28bd7e8a10e0a098461aecf0"},
        {256, "d93ebb9c802f5630ab22516fd82b6c21bc8bd551d531349b715f046ed11ed871"}, {4096, "3b7dcca5dcb409b9ee1d33ac58a03966d5e86581278891945e3d2fd80e3aad58"},
    };
    unsigned char bytes[4096], digest[MT_BLAKE2B_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(7 * i + 3);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char hex[2 * MT_BLAKE2B_BYTES + 1];
        mt_blake2b(bytes, known[i].length, digest);
        for (int k = 0; k < MT_BLAKE2B_BYTES; k++) snprintf(hex + 2 * k, 3, "%02x", digest[k]);
        ck_assert_str_eq(hex, known[i].hex);
    }
}
END_TEST

START_TEST(test_same_answers)
{
    static const int64_t asked[] = {64, 128, 2048, 100, 300, 3000, 60000, 2000000};
    lookup_cubin cubin = fill();
    mt_pack_contents contents = make_pack();
    tunelookup_db *dbs[2];
    tunelookup_plan *plans[2] = {plan_of(fixture_db, &dbs[0]), plan_of(pack_path, &dbs[1])};
    bool is_predicted = false;
    ck_assert_int_eq(contents.winners, 8);
    ck_assert_int_eq(contents.without_code, 7);
    ck_assert_int_eq(contents.cubins, 1);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        tunelookup_result a = find(plans[0], asked[i]), b = find(plans[1], asked[i]);
        ck_assert_int_eq(a.match, b.match);
        is_predicted = is_predicted || b.match == TUNELOOKUP_MATCH_NEAREST;
        if (a.match == TUNELOOKUP_MATCH_NONE) continue;
        ck_assert_str_eq(a.variant, b.variant);
        ck_assert(a.median_ns == b.median_ns || (isnan(a.median_ns) && isnan(b.median_ns)));
        ck_assert(a.expected_slowdown == b.expected_slowdown || (isnan(a.expected_slowdown) && isnan(b.expected_slowdown)));
    }
    ck_assert(is_predicted);
    const void *bytes;
    size_t count;
    tunelookup_result r = find(plans[1], 64);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_lookup(tunelookup_cubin(&r, &bytes, &count));
    ck_assert_uint_eq(count, sizeof cubin);
    ck_assert_mem_eq(bytes, &cubin, sizeof cubin);
    for (int i = 0; i < 2; i++) tunelookup_close(dbs[i]);
    ck_lookup(tunelookup_open(pack_path, 0, &dbs[0])); /* as with databases, code of a file that was not shipped is asked for */
    r = find(prepare(dbs[0], &lookup_h100), 64);
    ck_lookup_fails(tunelookup_cubin(&r, &bytes, &count), TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED, "USER_CUBINS");
    tunelookup_close(dbs[0]);
}
END_TEST

/* Variants that are not safe on another GPU are not handed out on this one: their rows are in the pack though that GPU's winners are not. */
START_TEST(test_what_is_not_safe)
{
    tunelookup_db *db;
    fill();
    make_pack();
    ck_assert_str_eq(find(plan_of(pack_path, &db), 50).variant, plain64);
    tunelookup_close(db);
    mt_store *store = fixture_open();
    mt_subject subject = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", lookup_kernel_key, "H=3,5;N=64;dtype=f16", 13000, MT_ORIGIN_MEASURED);
    mt_kernel_row kernel = {.name = "toy", .key = lookup_kernel_key, .spec_json = lookup_spec};
    mt_shape_row shape = {.name = "shape", .key = "H=3,5;N=64;dtype=f16"};
    ck_ok(mt_store_kernel(store, &kernel, &subject.kernel, &fixture_err));
    ck_ok(mt_store_shape(store, subject.kernel, &shape, &subject.shape, &fixture_err));
    ck_ok(mt_store_workload(store, subject.kernel, &shape, &subject.workload, &fixture_err));
    mt_outcome wrong = fixture_outcome(MT_OUTCOME_WRONG_RESULT, NAN);
    fixture_put(store, fixture_session(store), &subject, plain64, &wrong);
    mt_store_close(store);
    make_pack();
    ck_assert_str_ne(find(plan_of(pack_path, &db), 50).variant, plain64);
    tunelookup_close(db);
}
END_TEST

static bool holds(const mt_packed *packed, const char *text)
{
    return memmem(packed->bytes, packed->contents.bytes, text, strlen(text)) != NULL;
}

/* Of the rows alone: neither who measured, nor the file's history, nor what else was in it. */
START_TEST(test_same_bytes)
{
    fill();
    fixture_sql("UPDATE session SET host = 'the-host', command = 'the-command', boot_id = 'the-boot', warnings = 'the-warning', space_path = '/the/path'; UPDATE measurement SET text = 'the-log'");
    mt_packed first = pack_of("toy");
    fixture_sql("UPDATE session SET host = 'elsewhere', command = 'another', process_id = process_id + 1, times_json = '{\"total_ns\":5}'; UPDATE answer SET updated_unix_ms = updated_unix_ms + 5; "
                "UPDATE best SET updated_unix_ms = updated_unix_ms + 5; UPDATE portfolio SET updated_unix_ms = updated_unix_ms + 5; UPDATE measurement SET text = NULL; VACUUM; "
                "CREATE TABLE passing (x); DROP TABLE passing");
    mt_packed second = pack_of("toy");
    ck_assert_uint_eq(first.contents.bytes, second.contents.bytes);
    ck_assert(memcmp(first.bytes, second.bytes, first.contents.bytes) == 0);
    static const char *const others[] = {"the-host", "the-command", "the-boot", "the-warning", "/the/path", "the-log", "unpacked_kernel", "ALGO=wide;B=64;C=2"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) ck_assert_msg(!holds(&first, others[i]), "it holds %s", others[i]);
    ck_assert(holds(&first, wide64));
    mt_packed_free(&first);
    mt_packed_free(&second);
}
END_TEST

/* By the same functions as every reader. */
static bool is_refused(void)
{
    mt_pack pack;
    char why[MT_PACK_WHY] = "";
    bool is_bad = mt_pack_open(pack_path, &pack, why) != MT_PACK_OK;
    for (uint32_t i = 0; !is_bad && i < pack.count; i++) {
        unsigned char *bytes = mt_alloc(mt_pack_padded(pack.parts[i].bytes), 1);
        is_bad = mt_pack_read(&pack, &pack.parts[i], bytes, why) == MT_PACK_DAMAGED;
        mt_free(bytes);
        if (is_bad) mt_pack_close(&pack);
    }
    if (!is_bad) mt_pack_close(&pack);
    ck_assert(is_bad == (*why != '\0'));
    return is_bad;
}

static void flip(int fd, off_t at)
{
    unsigned char byte;
    ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
    byte ^= (unsigned char)(1 + at % 255);
    ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

/* Each byte of the head, the table and the code, what fills them up too, and each 97th of the database. */
START_TEST(test_changed_byte)
{
    fill();
    make_pack();
    mt_pack pack;
    char why[MT_PACK_WHY];
    ck_assert_int_eq(mt_pack_open(pack_path, &pack, why), MT_PACK_OK);
    const mt_pack_part database = *mt_pack_find(&pack, MT_PACK_DATABASE);
    mt_pack_close(&pack);
    ck_assert(!is_refused());
    off_t size = (off_t)make_pack().bytes;
    int fd = open(pack_path, O_RDWR);
    for (off_t at = 0; at < size; at += at >= (off_t)database.at && at < (off_t)(database.at + mt_pack_padded(database.bytes) - MT_PACK_ALIGN) ? 97 : 1) {
        flip(fd, at);
        ck_assert_msg(is_refused(), "byte %lld of %lld may be changed", (long long)at, (long long)size);
        flip(fd, at);
    }
    ck_assert(!is_refused());
    for (off_t length = 0; length < size; length += 509) {
        ck_assert_int_eq(ftruncate(fd, length), 0);
        ck_assert_msg(is_refused(), "it may be cut to %lld of %lld bytes", (long long)length, (long long)size);
    }
    close(fd);
    make_pack();
    fd = open(pack_path, O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(fd, "", 1), 1);
    ck_assert(is_refused());
    close(fd);
}
END_TEST

/* What the library says: of head and table when it opens, of a part when it reads that. */
START_TEST(test_refused_by_the_library)
{
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    const void *bytes;
    size_t count;
    mt_pack pack;
    char why[MT_PACK_WHY];
    fill();
    make_pack();
    ck_assert_int_eq(mt_pack_open(pack_path, &pack, why), MT_PACK_OK);
    off_t database = (off_t)mt_pack_find(&pack, MT_PACK_DATABASE)->at;
    off_t code = (off_t)pack.parts[pack.parts[0].at == (uint64_t)database].at;
    mt_pack_close(&pack);
    int fd = open(pack_path, O_RDWR);
    flip(fd, 9);
    ck_lookup_fails(tunelookup_open(pack_path, 0, &db), TUNELOOKUP_ERR_NOT_A_DATABASE, "head");
    flip(fd, 9);
    flip(fd, MT_PACK_HEAD + 5);
    ck_lookup_fails(tunelookup_open(pack_path, 0, &db), TUNELOOKUP_ERR_NOT_A_DATABASE, "table of contents");
    flip(fd, MT_PACK_HEAD + 5);
    flip(fd, database + 5000);
    ck_lookup(tunelookup_open(pack_path, 0, &db));
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_NOT_A_DATABASE, "part database is not what was written");
    tunelookup_close(db);
    flip(fd, database + 5000);
    flip(fd, code + 70);
    tunelookup_result r = find(plan_of(pack_path, &db), 64);
    ck_lookup_fails(tunelookup_cubin(&r, &bytes, &count), TUNELOOKUP_ERR_NOT_A_DATABASE, "is not what was written");
    flip(fd, code + 70);
    ck_lookup(tunelookup_cubin(&r, &bytes, &count));
    tunelookup_close(db);
    close(fd);
    ck_assert_int_eq(chmod(pack_path, 0666), 0);
    ck_lookup_fails(tunelookup_open(pack_path, 0, &db), TUNELOOKUP_ERR_UNTRUSTED, "others than its owner");
    ck_assert_int_eq(chmod(pack_path, 0644), 0);
    char command[1024];
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 644 '%s'", fixture_db, pack_path, pack_path);
    ck_assert_int_eq(system(command), 0);
    ck_lookup_fails(tunelookup_open(pack_path, 0, &db), TUNELOOKUP_ERR_NOT_A_DATABASE, "is no pack");
}
END_TEST

static void put_faster(void)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=4", 500);
    lookup_end(&w);
}

/* A newer pack renamed over the old one is seen by refresh; what was found before stays. Nothing lies beside a pack that is read. */
START_TEST(test_refresh)
{
    tunelookup_db *db;
    char name[224];
    fill();
    make_pack();
    tunelookup_plan *plan = plan_of(pack_path, &db);
    tunelookup_result before = find(plan, 64);
    ck_assert_double_eq(before.median_ns, 600);
    put_faster();
    make_pack();
    ck_assert_double_eq(find(plan, 64).median_ns, 600);
    ck_lookup(tunelookup_refresh(db));
    ck_assert_double_eq(find(plan, 64).median_ns, 500);
    ck_assert_str_eq(before.variant, plain64);
    tunelookup_close(db);
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", pack_path, suffixes[i]);
        ck_assert(!mt_file_exists(name));
    }
}
END_TEST

/* A pack is pinned as a database is. Its id is that of its contents, wherever it lies, and once it is another pack, nothing is answered from that. */
START_TEST(test_pinned)
{
    char id[TUNELOOKUP_SNAPSHOT_ID], other[TUNELOOKUP_SNAPSHOT_ID], command[1024], copy[256];
    tunelookup_db *db, *there;
    tunelookup_plan *plan = NULL, *late = NULL;
    fill();
    make_pack();
    snprintf(copy, sizeof copy, "%s/copy.pack", fixture_folder);
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 644 '%s'", pack_path, copy, copy);
    ck_assert_int_eq(system(command), 0);
    ck_lookup(tunelookup_open(pack_path, TUNELOOKUP_PINNED, &db));
    ck_lookup(tunelookup_snapshot_id(db, id));
    plan = prepare(db, &lookup_h100);
    ck_lookup(tunelookup_open_pinned(copy, 0, id, &there));
    ck_assert_double_eq(find(prepare(there, &lookup_h100), 64).median_ns, find(plan, 64).median_ns);
    put_faster();
    make_pack();
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &late), TUNELOOKUP_ERR_OTHER_SNAPSHOT, id);
    ck_lookup_fails(tunelookup_refresh(db), TUNELOOKUP_ERR_OTHER_SNAPSHOT, id);
    ck_assert_double_eq(find(plan, 64).median_ns, 600);
    prepare(there, &lookup_h100);
    tunelookup_close(there);
    ck_lookup(tunelookup_open(pack_path, 0, &there));
    ck_lookup(tunelookup_snapshot_id(there, other));
    ck_assert_str_ne(id, other);
    tunelookup_close(there);
    tunelookup_close(db);
}
END_TEST

START_TEST(test_misses_go_elsewhere)
{
    tunelookup_db *db;
    fill();
    make_pack();
    plan_of(pack_path, &db);
    ck_lookup_fails(tunelookup_flush_misses(db, pack_path), TUNELOOKUP_ERR_ARGUMENT, "or a pack");
    ck_assert(!is_refused());
    tunelookup_close(db);
}
END_TEST

/* Code that two winners share stands in the pack once; a filter of shapes chooses code, and no rows. */
START_TEST(test_which_code)
{
    mt_store *store = NULL, *copy = NULL;
    mt_packed packed = {0};
    tunelookup_db *db;
    const mt_filter filter = {.kernel = "toy", .shape_key = "H=3,5;N=128;dtype=f16"};
    fill();
    fixture_sql("UPDATE answer SET cubin_hash = (SELECT hash FROM cubin) WHERE shape_key LIKE '%N=64;%' OR shape_key LIKE '%N=32;%'");
    mt_pack_contents all = make_pack();
    ck_assert_int_eq(all.cubins, 1);
    ck_assert_int_eq(all.shared, 1);
    ck_assert_int_eq(all.without_code, 6);
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_pack_gather(store, &filter, NULL, &copy, &fixture_err));
    ck_ok(mt_pack_make(copy, &filter, &packed, &fixture_err));
    ck_assert_int_eq(packed.contents.winners, 1);
    ck_assert_int_eq(packed.contents.cubins, 0);
    write_pack(&packed);
    ck_assert_int_eq(find(plan_of(pack_path, &db), 64).match, TUNELOOKUP_MATCH_EXACT);
    tunelookup_close(db);
    mt_packed_free(&packed);
    mt_store_close(copy);
    mt_store_close(store);
}
END_TEST

/* The tool reads packs as databases, and writes into none. */
START_TEST(test_store)
{
    mt_store *store = NULL;
    fill();
    make_pack();
    ck_ok(mt_store_open(pack_path, MT_STORE_READ_ONLY, &store, &fixture_err));
    int64_t counts[MT_OUTCOME_KIND_COUNT];
    ck_ok(mt_query_outcome_counts(store, &(mt_filter){.kernel = "toy"}, counts, &fixture_err));
    ck_assert_int_eq(counts[MT_OUTCOME_OK], 24);
    mt_store_close(store);
    ck_fails(mt_store_open(pack_path, MT_STORE_READ_WRITE, &store, &fixture_err), MT_ERR_USAGE, "packs are only read");
    mt_packed packed = {0};
    mt_store *copy = NULL;
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_assert_int_eq(mt_pack_gather(store, &(mt_filter){.kernel = "nothing"}, NULL, &copy, &fixture_err), MT_ERR_NOTHING_VALID);
    ck_assert_ptr_null(copy);
    mt_store_close(store);
    mt_packed_free(&packed);
}
END_TEST

#ifdef MT_WITH_SODIUM
START_TEST(test_signature)
{
    char key[192], other[192], public[200], other_public[200], why[MT_PACK_WHY];
    mt_pack pack;
    snprintf(key, sizeof key, "%s/a.key", fixture_folder);
    snprintf(other, sizeof other, "%s/b.key", fixture_folder);
    snprintf(public, sizeof public, "%s.pub", key);
    snprintf(other_public, sizeof other_public, "%s.pub", other);
    fill();
    ck_ok(mt_pack_key_make(key, &fixture_err));
    ck_ok(mt_pack_key_make(other, &fixture_err));
    ck_fails(mt_pack_key_make(key, &fixture_err), MT_ERR_USAGE, "never written over");
    struct stat info;
    ck_assert_int_eq(stat(key, &info), 0);
    ck_assert_int_eq(info.st_mode & 077, 0);
    mt_packed packed = pack_of("toy"), again = pack_of("toy");
    write_pack(&packed);
    ck_assert_int_eq(mt_pack_open(pack_path, &pack, why), MT_PACK_OK);
    ck_fails(mt_pack_signed_by(&pack, public, &fixture_err), MT_ERR_DB, "is not signed");
    mt_pack_close(&pack);
    ck_fails(mt_pack_sign(public, packed.bytes, &fixture_err), MT_ERR_USAGE, "secret key");
    ck_ok(mt_pack_sign(key, packed.bytes, &fixture_err));
    ck_ok(mt_pack_sign(key, again.bytes, &fixture_err));
    ck_assert(memcmp(packed.bytes, again.bytes, packed.contents.bytes) == 0);
    write_pack(&packed);
    ck_assert_int_eq(mt_pack_open(pack_path, &pack, why), MT_PACK_OK);
    ck_assert(pack.is_signed);
    ck_ok(mt_pack_signed_by(&pack, public, &fixture_err));
    ck_fails(mt_pack_signed_by(&pack, other_public, &fixture_err), MT_ERR_DB, "another key");
    ck_fails(mt_pack_signed_by(&pack, key, &fixture_err), MT_ERR_USAGE, "public key");
    mt_pack_close(&pack);
    /* Whoever changes a byte, and the hash beside it, lacks the key. */
    for (size_t at = 8; at < MT_PACK_AT_HEAD_HASH; at++) {
        pack = (mt_pack){.is_signed = true};
        memcpy(pack.head, packed.bytes, sizeof pack.head);
        pack.head[at] ^= 1;
        mt_pack_finish_head(pack.head);
        ck_assert_msg(mt_pack_signed_by(&pack, public, &fixture_err) == MT_ERR_DB, "byte %zu is not signed", at);
    }
    mt_packed_free(&packed);
    mt_packed_free(&again);
}
END_TEST
#else
START_TEST(test_signature)
{
    unsigned char head[MT_PACK_HEAD] = {0};
    ck_fails(mt_pack_sign("key", head, &fixture_err), MT_ERR_UNSUPPORTED, "libsodium");
    ck_fails(mt_pack_key_make("key", &fixture_err), MT_ERR_UNSUPPORTED, "libsodium");
}
END_TEST
#endif

FIXTURE_MAIN("pack", test_hash, test_same_answers, test_what_is_not_safe, test_same_bytes, test_changed_byte, test_refused_by_the_library, test_refresh, test_pinned, test_misses_go_elsewhere, test_which_code, test_store,
                  test_signature)
