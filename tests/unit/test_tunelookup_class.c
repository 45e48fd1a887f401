/* A plan that is bound to a class of equal bits: the fastest variant with the member's bits on the shape, rows of batches alike, from a database and from a pack. */
#include "tests/unit/fallback_fixture.h"

#include <sys/stat.h>

#include "db/exchange/pack_make.h"
#include "tuner/base/file.h"



#define BATCH "00000000000000ba" /* which one rows are of */
#define BATCH2 "00000000000000bb"
#define A1 "a1a1a1a1a1a1a1a1"
#define A2 "a2a2a2a2a2a2a2a2"
#define A3 "a3a3a3a3a3a3a3a3"
#define B1 "b1b1b1b1b1b1b1b1"
#define B2 "b2b2b2b2b2b2b2b2"

/* One result; texts "": none is stored. */
static void put(lookup_writer *w, int64_t n, const char *workload, const char *variant, double median_ns, const char *bits, const char *row_bits)
{
    char shape[64];
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, median_ns);
    snprintf(shape, sizeof shape, "H=3,5;N=%lld;dtype=f16", (long long)n);
    mt_shape_row shape_row = {.name = shape, .key = shape}, workload_row = {.name = workload, .key = workload};
    ck_ok(mt_store_shape(w->store, w->subject.kernel, &shape_row, &w->subject.shape, &fixture_err));
    ck_ok(mt_store_workload(w->store, w->subject.kernel, &workload_row, &w->subject.workload, &fixture_err));
    strcpy(outcome.bits, bits);
    strcpy(outcome.row_bits, row_bits);
    fixture_put(w->store, w->session, &w->subject, variant, &outcome);
    ck_ok(mt_store_refresh_best(w->store, &w->subject, &fixture_err));
}

static lookup_writer begin(void)
{
    return lookup_begin(lookup_spec, "toy", lookup_kernel_key);
}

static tunelookup_plan *prepare_class(tunelookup_db *db, const char *member, const char *workload)
{
    char class[128];
    const char *names[LOOKUP_NAMES + 2];
    size_t count = LOOKUP_NAMES;
    tunelookup_plan *plan;
    memcpy(names, lookup_names, LOOKUP_NAMES * sizeof *names);
    snprintf(class, sizeof class, "class=%s", member);
    names[count++] = class;
    if (workload) names[count++] = workload;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", names, count, &plan));
    return plan;
}

static tunelookup_status ask(const tunelookup_plan *plan, int64_t n, tunelookup_result *result)
{
    return tunelookup_find(plan, (const int64_t[]){n, 3, 5}, result);
}

#define ck_answers(plan, n, wanted)                                                                       \
    do {                                                                                                  \
        tunelookup_result r_;                                                                             \
        ck_assert_msg(ask(plan, n, &r_) == TUNELOOKUP_OK, "%s", lookup_explain(&r_));                     \
        ck_assert_int_eq(r_.match, TUNELOOKUP_MATCH_EXACT);                                               \
        ck_assert_msg(strcmp(r_.variant, wanted) == 0, "%s", lookup_explain(&r_));                        \
    } while (0)
#define ck_nothing(plan, n, says)                                                                         \
    do {                                                                                                  \
        tunelookup_result r_;                                                                             \
        ck_assert_int_eq(ask(plan, n, &r_), TUNELOOKUP_ERR_NOT_IN_CLASS);                                 \
        ck_assert_int_eq(r_.match, TUNELOOKUP_MATCH_NONE);                                                \
        ck_says(&r_, says);                                                                               \
    } while (0)

static void put_rows(lookup_writer *w)
{
    put(w, 64, "default", wide64, 100, B1, "");
    put(w, 64, "default", wide, 150, A1, "");
    put(w, 64, "default", plain, 300, A1, "");
    put(w, 128, "default", wide64, 200, B1, "");
    put(w, 128, "default", plain, 280, A2, "");
    put(w, 128, "default", plain64, 290, A2, "");
    put(w, 256, "default", wide64, 300, "", "");
    put(w, 256, "default", plain, 500, "", "");
    put(w, 512, "default", wide64, 600, A1, "");
}

/* Of the variants with the member's bits on the shape the fastest answers; without them nothing does, whatever the predictors know. */
START_TEST(test_whole_outputs)
{
    tunelookup_result r, several[3];
    tunelookup_launch_info launch;
    size_t count;
    lookup_writer w = begin();
    put_rows(&w);
    lookup_end(&w);
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    tunelookup_plan *plan = prepare_class(db, plain, NULL);
    ck_answers(plan, 64, wide);
    ck_answers(plan, 128, plain);
    ck_lookup(ask(plan, 64, &r));
    ck_assert_msg(r.median_ns == 150 && r.expected_slowdown == 1.5 && r.validated == 1, "%g", r.expected_slowdown);
    ck_lookup(tunelookup_launch(&r, 0, &launch));
    ck_says(&r, "class:    the fastest that is known to have the bits of ALGO=plain;B=32 on this shape");
    ck_lookup(tunelookup_find_several(plan, (const int64_t[]){64, 3, 5}, several, 3, &count));
    ck_assert(count == 1 && strcmp(several[0].variant, wide) == 0);
    ck_nothing(plan, 256, "no variant is known to have the bits of the class on this GPU and shape"); /* measured, without fingerprints */
    ck_nothing(plan, 512, "no variant is known to have the bits of the class on this GPU and shape"); /* where the member was not measured */
    ck_nothing(plan, 96, "this shape was not tuned");
    ck_answers(prepare_class(db, wide64, NULL), 64, wide64);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(tunelookup_find_within(plan, (const int64_t[]){64, 3, 5}, i ? 1 : INFINITY, &r), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_str_eq(find(prepare(db, &lookup_h100), 64).variant, wide64);
    tunelookup_close(db);
}
END_TEST

/* Rows of batches: those that both have are compared, also on shapes where the member was not measured; a member whose own rows depend on the batch has no class there. */
START_TEST(test_rows)
{
    lookup_writer w = begin();
    put(&w, 1, "default", wide64, 10, "0000000000000001", BATCH B1);
    put(&w, 1, "default", wide, 12, "0000000000000002", BATCH A1);
    put(&w, 2, "default", wide64, 10, "0000000000000003", BATCH B1 B2);
    put(&w, 2, "default", wide, 11, "0000000000000004", BATCH A1 B2); /* its second row is another one's */
    put(&w, 2, "default", plain64, 13, "0000000000000005", BATCH A1 A2);
    put(&w, 4, "default", wide64, 10, "0000000000000006", BATCH A1 A2 A3);
    put(&w, 4, "default", plain, 20, "0000000000000006", BATCH A1 A2 A3);
    put(&w, 8, "default", wide64, 10, "0000000000000008", BATCH2 A1 A2 A3); /* of another batch: nothing tells */
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare_class(db, plain, NULL), *of_few = prepare_class(db, plain64, NULL), *torn = prepare_class(db, wide64, NULL);
    ck_answers(plan, 1, wide);
    ck_answers(plan, 2, plain64);
    ck_answers(plan, 4, wide64);
    ck_nothing(plan, 8, "no variant is known to have the bits");
    ck_answers(of_few, 1, wide);
    ck_nothing(of_few, 4, "no variant is known to have the bits"); /* of its rows 3 and 4 the member's longest batch says nothing: another batch may have others there */
    for (int n = 1; n <= 4; n *= 2) ck_nothing(torn, n, "no variant is known to have the bits");
    ck_answers(torn, 8, wide64);
    tunelookup_close(db);
}
END_TEST

/* On all of a shape's workloads, unless the plan is of one. What was wrong has no bits, and is not handed out for those of earlier results. */
START_TEST(test_workloads_and_failures)
{
    mt_outcome wrong = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 0);
    lookup_writer w = begin();
    put(&w, 64, "a", wide64, 100, A1, "");
    put(&w, 64, "a", wide, 110, A1, "");
    put(&w, 64, "a", plain, 190, A1, "");
    put(&w, 64, "b", wide64, 100, B1, "");
    put(&w, 64, "b", wide, 110, A2, "");
    put(&w, 64, "b", plain, 190, A2, "");
    put(&w, 128, "a", wide, 100, A1, "");
    put(&w, 128, "a", plain, 190, A1, "");
    fixture_put(w.store, w.session, &w.subject, wide, &wrong);
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    ck_answers(prepare_class(db, plain, "workload=a"), 64, wide64);
    ck_answers(prepare_class(db, plain, "workload=b"), 64, plain); /* wide was wrong elsewhere with these strings */
    ck_answers(prepare_class(db, plain, NULL), 64, plain);
    ck_answers(prepare_class(db, plain, NULL), 128, plain);
    tunelookup_close(db);
}
END_TEST

/* A result without fingerprints (stopped as too slow, other inputs) takes back nothing of an earlier one. */
START_TEST(test_newer_without)
{
    lookup_writer w = begin();
    put(&w, 64, "default", wide, 150, A1, BATCH A1);
    put(&w, 64, "default", plain, 300, A1, BATCH A1);
    put(&w, 64, "default", wide, 150, "", "");
    put(&w, 64, "default", plain, 300, "", "");
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    ck_answers(prepare_class(db, plain, NULL), 64, wide);
    tunelookup_close(db);
}
END_TEST

/* A name that is given twice, texts that are no variants, and files that have no fingerprints. */
START_TEST(test_refused)
{
    tunelookup_plan *plan;
    const char *names[LOOKUP_NAMES + 2];
    lookup_writer w = begin();
    put(&w, 64, "default", plain, 100, A1, "");
    lookup_end(&w);
    memcpy(names, lookup_names, LOOKUP_NAMES * sizeof *names);
    names[LOOKUP_NAMES] = names[LOOKUP_NAMES + 1] = "class=ALGO=plain;B=32";
    tunelookup_db *db = open_db(0);
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy", names, LOOKUP_NAMES + 2, &plan), TUNELOOKUP_ERR_NAMES, "the class is given twice");
    static const struct { const char *text, *says; } nonsense[] = {{"class=", "its algorithm is not among the kernel's"}, {"class=nonsense", "its text is damaged"}, {"class=ALGO=nobody;B=32", "its algorithm is not"},
                                                                   {"class=ALGO=plain;NOBODY=32", "a knob that the kernel no longer has"}, {"class=ALGO=plain B=32", "its algorithm is not"}};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        names[LOOKUP_NAMES] = nonsense[i].text;
        ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy", names, LOOKUP_NAMES + 1, &plan), TUNELOOKUP_ERR_NAMES, nonsense[i].says);
    }
    ck_answers(prepare_class(db, plain, NULL), 64, plain);
    tunelookup_close(db);
    fixture_sql("ALTER TABLE measurement RENAME COLUMN row_bits TO newer; PRAGMA user_version = 10");
    db = open_db(0);
    ck_nothing(prepare_class(db, plain, NULL), 64, "no variant is known to have the bits");
    tunelookup_close(db);
}
END_TEST

/* A snapshot is of the fingerprints too: with others a class has other members. */
START_TEST(test_snapshots)
{
    char before[TUNELOOKUP_SNAPSHOT_ID], after[TUNELOOKUP_SNAPSHOT_ID];
    lookup_writer w = begin();
    put(&w, 64, "default", plain, 100, A1, BATCH A1);
    lookup_end(&w);
    static const char *const changes[] = {"UPDATE measurement SET bits = '" B1 "'", "UPDATE measurement SET row_bits = '" BATCH B1 "'"};
    for (size_t i = 0; i < 2; i++) {
        tunelookup_db *db = open_db(0);
        ck_lookup(tunelookup_snapshot_id(db, before));
        tunelookup_close(db);
        fixture_sql(changes[i]);
        db = open_db(0);
        ck_lookup(tunelookup_snapshot_id(db, after));
        tunelookup_close(db);
        ck_assert_str_ne(before, after);
    }
}
END_TEST

/* A pack has the member and the fastest of its class, and answers as the database does; without --class it lacks them. */
START_TEST(test_packs)
{
    char path[192];
    mt_store *store = NULL, *copy = NULL;
    const mt_filter filter = {.kernel = "toy"};
    lookup_writer w = begin();
    put_rows(&w);
    lookup_end(&w);
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    snprintf(path, sizeof path, "%s/class.pack", fixture_folder);
    for (int has_class = 0; has_class < 2; has_class++) {
        tunelookup_db *db;
        mt_packed pack = {0};
        ck_ok(mt_pack_gather(store, &filter, has_class ? plain : NULL, &copy, &fixture_err));
        ck_ok(mt_pack_make(copy, &filter, &pack, &fixture_err));
        mt_store_close(copy);
        ck_ok(mt_file_write_atomic(path, pack.bytes, pack.contents.bytes, &fixture_err));
        ck_assert_int_eq(chmod(path, 0644), 0);
        mt_packed_free(&pack);
        ck_lookup(tunelookup_open(path, 0, &db));
        tunelookup_plan *plan = prepare_class(db, plain, NULL);
        if (has_class) ck_answers(plan, 64, wide);
        else ck_nothing(plan, 64, "no variant is known to have the bits");
        if (has_class) ck_answers(plan, 128, plain);
        ck_nothing(plan, 512, "no variant is known to have the bits");
        tunelookup_close(db);
    }
    ck_fails(mt_pack_gather(store, &filter, "ALGO=nobody", &copy, &fixture_err), MT_ERR_NOT_FOUND, "no fingerprints of the variant ALGO=nobody are stored");
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("tunelookup_class", test_whole_outputs, test_rows, test_workloads_and_failures, test_newer_without, test_refused, test_snapshots, test_packs)
