#include "tests/unit/unit.h"
#include "tuner/base/hash.h"

#include <string.h>

/* Hashes are stored, so they must never change: the published XXH3 values of the empty input. */
START_TEST(known_values)
{
    ck_assert_str_eq(mt_hash_text("").hex, "99aa06d3014798d86001c324468d497f");
    ck_assert_uint_eq(mt_hash_u64("", 0, 0), 0x2D06800538D394C2u);
}
END_TEST

START_TEST(bytes_decide)
{
    ck_assert_str_eq(mt_hash_bytes("abc", 3).hex, mt_hash_text("abc").hex);
    ck_assert_str_ne(mt_hash_text("abc").hex, mt_hash_text("abd").hex);
    ck_assert_str_ne(mt_hash_bytes("a\0b", 3).hex, mt_hash_bytes("a\0c", 3).hex);
    ck_assert_uint_eq(strlen(mt_hash_text("abc").hex), 32);
    ck_assert_uint_ne(mt_hash_u64("abc", 3, 1), mt_hash_u64("abc", 3, 2));
}
END_TEST

UNIT_MAIN("hash", known_values, bytes_decide)
