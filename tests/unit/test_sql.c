/* One row by one look: values in, columns out. */
#include "tests/unit/store_fixture.h"

#include <math.h>

#include "db/store/sql.h"

typedef struct row { int64_t integer; bool is; double real; char *text; } row;

static mt_status look(mt_store *store, const char *sql, int64_t in, const char *text, row *out)
{
    *out = (row){7, true, 7, (char *)"not touched"};
    return mt_sql_one(store, sql, "look", MT_IN(MT_INT(in), MT_TEXT(text)), MT_OUT(MT_TO_INT(&out->integer), MT_TO_BOOL(&out->is), MT_TO_REAL(&out->real), MT_TO_TEXT(&out->text)), &fixture_err);
}

static void expect_nothing(const row *is)
{
    ck_assert_int_eq(is->integer, 0);
    ck_assert(!is->is && isnan(is->real));
    ck_assert_ptr_null(is->text);
}

static const char echo[] = "SELECT ?1, ?1 > 0, ?1 / 2.0, ?2 WHERE ?1 >= 0";

START_TEST(columns_come_out)
{
    mt_store *store = fixture_open();
    row is;
    for (int i = 1; i < 4; i++) { /* the statement is cached: nothing of the look before stays bound */
        ck_ok(look(store, echo, i, i == 2 ? NULL : "ä;'", &is));
        ck_assert_int_eq(is.integer, i);
        ck_assert(is.is && is.real == i / 2.0);
        if (i == 2) ck_assert_ptr_null(is.text);
        else ck_assert_str_eq(is.text, "ä;'");
        mt_free(is.text);
    }
    mt_store_close(store);
}
END_TEST

START_TEST(no_row_and_null_are_nothing)
{
    mt_store *store = fixture_open();
    row is;
    ck_ok(look(store, echo, -1, "x", &is));
    expect_nothing(&is);
    ck_ok(look(store, "SELECT NULL, NULL, NULL, NULL WHERE ?1 = ?1 OR ?2", 1, "x", &is));
    expect_nothing(&is);
    mt_store_close(store);
}
END_TEST

START_TEST(failures_leave_nothing)
{
    mt_store *store = fixture_open();
    row is;
    ck_fails(look(store, "SELECT no FROM such_table", 1, "x", &is), MT_ERR_DB, "no such table");
    expect_nothing(&is);
    ck_fails(look(store, "SELECT json_extract(?2, '$.a'), ?1, 2, 3", 1, "not JSON", &is), MT_ERR_DB, "look: malformed JSON");
    expect_nothing(&is);
    ck_ok(look(store, echo, 1, "x", &is)); /* prepared */
    mt_free(is.text);
    mt_alloc_fail_at(1);
    mt_status st = look(store, echo, 1, "x", &is);
    mt_alloc_fail_at(0);
    ck_assert_int_eq(st, MT_ERR_NO_MEMORY);
    expect_nothing(&is);
    mt_store_close(store);
}
END_TEST

/* A look that was read does not hold a transaction open: the file can be written by others and checkpointed. */
START_TEST(nothing_stays_open)
{
    mt_store *store = fixture_open();
    row is;
    ck_ok(look(store, "SELECT key, name, 1, facts_json FROM (SELECT ?1 AS key, ?2 AS name, 'x' AS facts_json UNION ALL SELECT 2, 'b', 'y')", 1, "1", &is));
    mt_free(is.text);
    ck_ok(mt_store_seal(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("sql", columns_come_out, no_row_and_null_are_nothing, failures_leave_nothing, nothing_stays_open)
