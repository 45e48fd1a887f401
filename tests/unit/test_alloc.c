#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"

#include <stdint.h>
#include <string.h>

START_TEST(zeroed_and_checked)
{
    char *bytes = mt_alloc(100, 3);
    for (int i = 0; i < 300; i++) ck_assert_int_eq(bytes[i], 0);
    mt_free(bytes);
    ck_assert_ptr_null(mt_alloc(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(mt_alloc(SIZE_MAX, 1));
    void *nothing = mt_alloc(0, 8);
    ck_assert_ptr_nonnull(nothing);
    mt_free(nothing);
    mt_free(NULL);
}
END_TEST

START_TEST(realloc_keeps_the_block_on_failure)
{
    char *text = mt_strdup("kept");
    ck_assert_ptr_null(mt_realloc(text, SIZE_MAX / 4, 8));
    ck_assert_str_eq(text, "kept");
    text = mt_realloc(text, 1000, 1);
    ck_assert_str_eq(text, "kept");
    mt_free(text);
}
END_TEST

START_TEST(copies)
{
    ck_assert_ptr_null(mt_strdup(NULL));
    ck_assert_ptr_null(mt_strndup(NULL, 3));
    char *a = mt_strndup("abcdef", 3), *b = mt_strndup("ab", 10);
    ck_assert_str_eq(a, "abc");
    ck_assert_str_eq(b, "ab");
    mt_free(a);
    mt_free(b);
}
END_TEST

START_TEST(grows_one_by_one)
{
    int *items = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 1000; count++) {
        items = mt_grow(items, count, &capacity, sizeof *items);
        ck_assert_ptr_nonnull(items);
        ck_assert_uint_gt(capacity, count);
        items[count] = (int)count;
    }
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(items[i], i);
    ck_assert_uint_lt(capacity, 2000);
    mt_free(items);
}
END_TEST

/* The array moves as it grows; without memory it stays where and as it is. */
START_TEST(appends_in_place)
{
    int *items = NULL;
    size_t count = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        int *added = MT_APPEND(items, count, capacity);
        ck_assert_ptr_nonnull(added);
        *added = i;
        ck_assert_uint_eq(count, (size_t)i + 1);
    }
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(items[i], i);
    while (count < capacity) *(int *)MT_APPEND(items, count, capacity) = 0;
    const int *before = items;
    const size_t full = count;
    mt_alloc_fail_at(1);
    ck_assert_ptr_null(MT_APPEND(items, count, capacity));
    mt_alloc_fail_at(0);
    ck_assert(items == before && count == full);
    mt_free(items);
}
END_TEST

START_TEST(the_nth_fails_once)
{
    mt_alloc_fail_at(3);
    void *a = mt_alloc(1, 1), *b = mt_strdup("b"), *c = mt_alloc(1, 1), *d = mt_alloc(1, 1);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_null(c);
    ck_assert_ptr_nonnull(d);
    mt_alloc_fail_at(1);
    mt_alloc_fail_at(0);
    void *e = mt_realloc(NULL, 1, 1);
    ck_assert_ptr_nonnull(e);
    mt_free(a), mt_free(b), mt_free(d), mt_free(e);
}
END_TEST

UNIT_MAIN("alloc", zeroed_and_checked, realloc_keeps_the_block_on_failure, copies, grows_one_by_one, appends_in_place, the_nth_fails_once)
