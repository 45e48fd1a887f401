/* The names behind a cubin, as compile workers write them. */
#include "db/cubin_names.h"
#include "tests/unit/unit.h"
#include "tuner/base/strbuf.h"

#include <string.h>

static const char names[] = "ns::conv<float, 4>\0_ZN2ns4convIfLi4EEEvPT_\0plain\0_Z5plainPf"; /* and the last NUL */

static mt_strbuf with_names(const char *footer)
{
    mt_strbuf cubin = {0};
    mt_strbuf_add_bytes(&cubin, "ELF", 4);
    mt_strbuf_add_bytes(&cubin, names, sizeof names);
    if (footer) mt_strbuf_add(&cubin, footer);
    else mt_strbuf_addf(&cubin, MT_CUBIN_NAMES_FORMAT, sizeof names);
    return cubin;
}

START_TEST(names_lead_to_symbols)
{
    mt_strbuf cubin = with_names(NULL);
    ck_assert_str_eq(mt_cubin_symbol(cubin.text, cubin.length, "ns::conv<float, 4>"), "_ZN2ns4convIfLi4EEEvPT_");
    ck_assert_str_eq(mt_cubin_symbol(cubin.text, cubin.length, "plain"), "_Z5plainPf");
    ck_assert_str_eq(mt_cubin_symbol(cubin.text, cubin.length, "_Z5plainPf"), "_Z5plainPf"); /* a symbol is no name */
    ck_assert_str_eq(mt_cubin_symbol(cubin.text, cubin.length, "other"), "other");
    ck_assert_str_eq(mt_cubin_symbol("ELF", 4, "plain"), "plain");
    ck_assert_str_eq(mt_cubin_symbol(NULL, 0, "plain"), "plain");
    mt_strbuf_free(&cubin);
}
END_TEST

/* What a hostile file holds leads nowhere, and no read leaves it. */
START_TEST(damage_is_no_name)
{
    static const char *const footers[] = {"ffffffff msda-tune names\n", "00000000 msda-tune names\n", "-0000001 msda-tune names\n", "0000003b msda-tune names", "        msda-tune names\n\n\n", "0000003A msda-tune names\n"};
    for (size_t i = 0; i < sizeof footers / sizeof *footers; i++) {
        mt_strbuf cubin = with_names(footers[i]);
        ck_assert_str_eq(mt_cubin_symbol(cubin.text, cubin.length, "plain"), "plain");
        mt_strbuf_free(&cubin);
    }
    mt_strbuf whole = with_names(NULL);
    for (size_t cut = 0; cut < whole.length; cut++) {
        char *copy = malloc(cut + !cut); /* exactly as long, so that a sanitizer sees a read behind it */
        memcpy(copy, whole.text, cut);
        ck_assert_str_eq(mt_cubin_symbol(copy, cut, "plain"), "plain");
        free(copy);
    }
    for (size_t at = 4; at < 4 + sizeof names; at++) { /* a NUL too many or too few */
        char kept = whole.text[at];
        whole.text[at] = kept ? '\0' : 'x';
        ck_assert_ptr_nonnull(mt_cubin_symbol(whole.text, whole.length, "plain"));
        whole.text[at] = kept;
    }
    mt_strbuf_free(&whole);
}
END_TEST

UNIT_MAIN("cubin names", names_lead_to_symbols, damage_is_no_name)
