/* Which variants stand beside each other in the table of show --ablation, and in the report's. */
#include "db/store/neighbour.h"
#include "tests/unit/unit.h"
#include "tuner/base/strbuf.h"

static const char base[] = "ALGO=a;BLOCK=64;MODE=fast;TILE=8";

static void neighbour(const char *other, const char *expected)
{
    mt_strbuf change = {0};
    mt_knob_text from, to;
    ck_assert_int_eq(mt_is_neighbour(base, other, &from, &to), expected != NULL);
    if (expected) mt_strbuf_addf(&change, "%.*s: %.*s → %.*s", (int)from.name_length, from.name, (int)from.value_length, from.value, (int)to.value_length, to.value);
    ck_assert_str_eq(mt_strbuf_text(&change), expected ? expected : "");
    mt_strbuf_free(&change);
}

START_TEST(one_knob)
{
    neighbour("ALGO=a;BLOCK=128;MODE=fast;TILE=8", "BLOCK: 64 → 128");
    neighbour("ALGO=a;BLOCK=64;MODE=faster;TILE=8", "MODE: fast → faster");
    neighbour("ALGO=a;BLOCK=64;MODE=fas;TILE=8", "MODE: fast → fas");
}
END_TEST

START_TEST(none_or_more)
{
    neighbour(base, NULL);
    neighbour("ALGO=a;BLOCK=128;MODE=fast;TILE=16", NULL);
    neighbour("OTHER=1", NULL);
    neighbour("", NULL);
}
END_TEST

/* TILE exists for one algorithm only, STEPS for the other: they depend on ALGO. */
START_TEST(knobs_of_one_side)
{
    neighbour("ALGO=b;BLOCK=64;MODE=fast;STEPS=3", "ALGO: a → b");
    neighbour("ALGO=b;BLOCK=128;MODE=fast;STEPS=3", NULL);
    neighbour("ALGO=a;BLOCK=64;MODE=fast;STEPS=3;TILE=8", NULL);
}
END_TEST

UNIT_MAIN("ablation", one_knob, none_or_more, knobs_of_one_side)
