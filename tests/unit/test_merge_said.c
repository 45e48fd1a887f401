/* Merging: of texts that two files have for one thing, a padded or a garbled one never replaces a good one, whoever comes first; names stay as the first file has them, and so do expressions and facts that can be read. */
#include "tests/unit/merge_fixture.h"

enum { THREE = 3 };
static const int orders[][THREE] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* The text that is stored once parts with these are merged, which is the same in every order; mt_free. `sql`: sets it, by %s; `ask`: reads it. */
static char *merged(const char *sql, const char *ask, const char *const texts[THREE])
{
    char *first = NULL;
    for (int i = 0; i < THREE; i++) {
        char *change = sqlite3_mprintf(sql, texts[i]);
        remove(part_path(i));
        make_part(i);
        fixture_sql(change);
        sqlite3_free(change);
    }
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        mt_merge_counts counts = {0};
        remove(out_path("out"));
        fixture_stderr_begin();
        merge(merge_out, orders[o], THREE, false, &counts);
        fixture_stderr_end();
        char *now = ask_database(merge_out, ask);
        if (first) ck_assert_msg(strcmp(now, first) == 0, "%d %d %d: %s instead of %s", orders[o][0], orders[o][1], orders[o][2], now, first);
        else first = mt_strdup(now);
        mt_free(now);
    }
    return first;
}

/* The first text is what is kept beside each pair of the others. */
static void expect_kept(const char *sql, const char *ask, const char *good, const char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const texts[THREE] = {good, others[i], others[(i + 1) % count]};
        char *kept = merged(sql, ask, texts);
        ck_assert_msg(strcmp(kept, good) == 0, "%s\nbeside\n%.300s\n%.300s", kept, texts[1], texts[2]);
        mt_free(kept);
    }
}

static const char set_spec[] = "UPDATE kernel SET spec_json = %Q", get_spec[] = "SELECT spec_json FROM kernel WHERE key LIKE '0011%'";
#define SPEC(more) "{\"format\":1,\"shape\":[{\"name\":\"N\",\"kind\":\"int\"},{\"name\":\"dtype\",\"kind\":\"string\"}],\"constraints\":[{\"name\":\"c\",\"why\":\"w\",\"holds\":\"$N 8 >\"}]" more "}"

START_TEST(padded_or_garbled_expressions)
{
    static char long_one[9000];
    snprintf(long_one, sizeof long_one, SPEC(",\"padding\":\"%08000d\""), 1);
    const char *const others[] = {SPEC("      "), SPEC(",\"prepares\":[]"), SPEC(",\"model\":7"), SPEC(",\"params\":[{\"name\":\"A\",\"when\":7}]"), SPEC(",\"launches\":{}"), SPEC(",\"more\":[1,2,{\"lets\":[]}]"), long_one, "{}", "{\"format\":1}", SPEC(",\"launches\":7"), SPEC(",\"lets\":[{\"name\":\"X\",\"value\":\"+ + +\"}]"), "{\"format\":2}"};
    expect_kept(set_spec, get_spec, SPEC(""), others, sizeof others / sizeof *others);
}
END_TEST

/* What the database has, or the file named first, stays, and it is told; no text that says something else takes its place, however many its author tries. */
START_TEST(expressions_that_differ)
{
    enum { TRIED = 20 };
    static const char mine[] = SPEC("");
    make_part(1);
    for (int i = 0; i < TRIED; i++) {
        mt_store *store = NULL;
        mt_merge_counts counts = {0};
        char forged[600];
        snprintf(forged, sizeof forged, "{\"format\":1,\"shape\":[{\"name\":\"N\",\"kind\":\"int\"},{\"name\":\"dtype\",\"kind\":\"string\"}],\"constraints\":[{\"name\":\"c\",\"why\":\"%d\",\"holds\":\"$N 9 >\"}]}", i);
        char *change = sqlite3_mprintf(set_spec, i % 2 ? forged : mine), *other = sqlite3_mprintf(set_spec, i % 2 ? mine : forged);
        remove(part_path(0));
        make_part(0);
        fixture_sql(change);
        use_db(part_path(1));
        fixture_sql(other);
        fixture_stderr_begin();
        mt_merge *merging = begin(part_path(0), false, &store);
        ck_ok(merge_file(merging, part_path(0), part_path(1), &counts));
        finish(merging, store);
        ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "has other expressions there (constraints, launches); those that "));
        char *now = ask_database(part_path(0), get_spec);
        ck_assert_str_eq(now, i % 2 ? forged : mine);
        mt_free(now);
        sqlite3_free(change);
        sqlite3_free(other);
    }
}
END_TEST

/* The same of a GPU's facts, unless the file knows more of them. */
START_TEST(facts_that_differ)
{
    static const struct { const char *mine, *theirs, *kept; } cases[] = {
        {"{\"cc\":90,\"sm_count\":132,\"l2_bytes\":5}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":6}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":5}"},
        {"{\"cc\":90,\"sm_count\":132,\"l2_bytes\":6}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":5}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":6}"},
        {"{\"cc\":90,\"sm_count\":132}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":5}", "{\"cc\":90,\"sm_count\":132,\"l2_bytes\":5}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int order[] = {1};
        mt_merge_counts counts = {0};
        char *mine = sqlite3_mprintf("UPDATE device SET facts_json = %Q", cases[i].mine), *theirs = sqlite3_mprintf("UPDATE device SET facts_json = %Q", cases[i].theirs);
        remove(part_path(0));
        remove(part_path(1));
        make_part(1);
        fixture_sql(theirs);
        make_part(0);
        fixture_sql(mine);
        merge(part_path(0), order, 1, false, &counts);
        char *now = ask_database(part_path(0), "SELECT facts_json FROM device WHERE key LIKE 'h100%'");
        ck_assert_str_eq(now, cases[i].kept);
        mt_free(now);
        sqlite3_free(mine);
        sqlite3_free(theirs);
    }
}
END_TEST

/* A database into which an older tool merged such expressions is mended by a file that has good ones. */
START_TEST(garbled_expressions_there)
{
    const int order[] = {1};
    mt_merge_counts counts = {0};
    make_part(1);
    use_db(part_path(1));
    fixture_sql("UPDATE kernel SET spec_json = '" SPEC("") "'");
    make_part(0);
    fixture_sql("UPDATE kernel SET spec_json = '" SPEC(",\"launches\":7") "'");
    merge(part_path(0), order, 1, false, &counts);
    char *now = ask_database(part_path(0), get_spec);
    ck_assert_str_eq(now, SPEC(""));
    mt_free(now);
}
END_TEST

START_TEST(padded_or_garbled_facts)
{
    static const char set[] = "UPDATE device SET facts_json = %Q", get[] = "SELECT facts_json FROM device WHERE key LIKE 'h100%'", good[] = "{\"cc\":90,\"sm_count\":132}";
    const char *const others[] = {"{ \"cc\":90, \"sm_count\":132 }", "{\"cc\":90,\"sm_count\":132,\"padding\":1}", "{\"cc\":90,\"a\":1,\"b\":2,\"c\":3,\"d\":4}", "{}", "{\"cc\":0}", "{\"cc\":\"90\",\"sm_count\":\"one hundred and thirty-two\"}",
                                  /* more facts, but those of the key contradict them */ "{\"cc\":90,\"sm_count\":1,\"l2_bytes\":7,\"clock_mhz\":9}", "{\"cc\":80,\"sm_count\":132,\"l2_bytes\":7,\"clock_mhz\":9}"};
    expect_kept(set, get, good, others, sizeof others / sizeof *others);
}
END_TEST

/* ---- names ---- */

static void expect_names(const char *first, const char *second, const char *expected, const char *told)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    remove(part_path(0));
    make_part(0);
    fixture_sql(first);
    remove(part_path(2));
    make_part(2);
    fixture_sql(second);
    fixture_stderr_begin();
    mt_merge *merging = begin(part_path(0), false, &store);
    ck_ok(merge_file(merging, part_path(0), part_path(2), &counts));
    finish(merging, store);
    const char *said = fixture_stderr_end();
    char *names = ask_database(part_path(0), "SELECT group_concat(name, ' ') FROM (SELECT s.name FROM shape s JOIN kernel k ON k.id = s.kernel_id WHERE k.key LIKE '0011%' ORDER BY s.key)");
    ck_assert_msg(strcmp(names, expected) == 0, "%s\n%s: %s", first, second, names);
    ck_assert_msg(told ? strstr(said, told) != NULL : !*said, "%s\n%s: %s", first, second, said);
    mt_free(names);
}

START_TEST(names_stay)
{
    static const char mine[] = "UPDATE shape SET name = 'large' WHERE key LIKE 'N=48%'; UPDATE shape SET name = 'small' WHERE key LIKE 'N=2;%'";
    expect_names(mine, mine, "small large", NULL);
    expect_names(mine, "UPDATE shape SET name = 'a' WHERE key LIKE 'N=48%'; UPDATE shape SET name = 'small' WHERE key LIKE 'N=2;%'", "small large", "part2.sqlite: shape N=48;dtype=f16 is called \"a\" there and stays \"large\"");
    expect_names(mine, "UPDATE shape SET name = '' WHERE key LIKE 'N=48%'; UPDATE shape SET name = 'shape-01234567' WHERE key LIKE 'N=2;%'", "small large", NULL);
    expect_names("UPDATE shape SET name = '' WHERE key LIKE 'N=48%'; UPDATE shape SET name = 'shape-01234567' WHERE key LIKE 'N=2;%'", mine, "small large", NULL);
    /* A name that another shape has here: by it a person would get both. */
    expect_names(mine, "UPDATE shape SET key = 'N=3;dtype=f16', name = 'large' WHERE key LIKE 'N=2;%'; UPDATE shape SET name = 'large' WHERE key LIKE 'N=48%'", "small shape-32a2fe71 large", "shape N=3;dtype=f16 is called \"large\" there and stays \"shape-");
    expect_names("UPDATE shape SET name = 'same' WHERE key LIKE 'N=48%'; UPDATE shape SET name = 'shape-01234567' WHERE key LIKE 'N=2;%'", "UPDATE shape SET name = 'same' WHERE key LIKE 'N=2;%'", "shape-01234567 same", "is called \"same\" there and stays \"shape-01234567\"");
}
END_TEST

FIXTURE_MAIN("merge_said", padded_or_garbled_expressions, expressions_that_differ, facts_that_differ, garbled_expressions_there, padded_or_garbled_facts, names_stay)
