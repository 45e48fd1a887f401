#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/base/texts.h"

#include <stdlib.h>

static mt_error err;

START_TEST(copies_takes_and_adds_once)
{
    mt_texts texts = {0};
    char text[] = "b";
    ck_assert_int_eq(mt_texts_add(&texts, text, &err), MT_OK);
    text[0] = 'x'; /* the list has a copy */
    ck_assert_int_eq(mt_texts_take(&texts, mt_strdup("a"), &err), MT_OK);
    ck_assert_int_eq(mt_texts_add_once(&texts, "b", &err), MT_OK);
    ck_assert_int_eq(mt_texts_add_once(&texts, "c", &err), MT_OK);
    ck_assert_uint_eq(texts.count, 3);
    qsort(texts.items, texts.count, sizeof *texts.items, mt_text_order);
    ck_assert_str_eq(texts.items[0], "a");
    ck_assert_str_eq(texts.items[1], "b");
    ck_assert_str_eq(texts.items[2], "c");
    mt_texts_free(&texts);
    ck_assert_uint_eq(texts.count, 0);
}
END_TEST

/* The list stays as it was, and a text that was handed over is freed (what leaks, a sanitizer tells). */
START_TEST(without_memory_nothing_is_added)
{
    mt_texts texts = {0};
    ck_assert_int_eq(mt_texts_add(&texts, "kept", &err), MT_OK);
    ck_assert_int_eq(mt_texts_take(&texts, NULL, &err), MT_ERR_NO_MEMORY);
    mt_alloc_fail_at(1);
    ck_assert_int_eq(mt_texts_add(&texts, "more", &err), MT_ERR_NO_MEMORY);
    mt_alloc_fail_at(0);
    ck_assert_uint_eq(texts.count, 1);
    ck_assert_str_eq(texts.items[0], "kept");
    mt_texts_free(&texts);
    mt_texts none = {0};
    char *text = mt_strdup("taken");
    mt_alloc_fail_at(1); /* the list's own memory */
    ck_assert_int_eq(mt_texts_take(&none, text, &err), MT_ERR_NO_MEMORY);
    mt_alloc_fail_at(0);
    ck_assert_uint_eq(none.count, 0);
}
END_TEST

UNIT_MAIN("texts", copies_takes_and_adds_once, without_memory_nothing_is_added)
