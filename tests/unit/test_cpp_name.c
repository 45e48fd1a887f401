#include "tests/unit/unit.h"

#include <string.h>

#include "tuner/base/cpp_name.h"

/* Names that NVRTC and GCC made. */
static const struct {
    const char *mangled, *plain;
} names[] = {
    {"_Z9decoratedPf", "decorated"},
    {"_Z7genericILi2EEvPf", "generic<…>"},
    {"_ZN1a1b1cEPf", "a::b::c"},
    {"_ZN2ns4tileILi4EE3runEv", "ns::tile<…>::run"},
    {"_ZN2ns4tileIfL4Mode1EE3runEPKf", "ns::tile<…>::run"},
    {"_ZN2ns4tileIN2ns4HalfELNS_4ModeE2EE3runEv", "ns::tile<…>::run"},
    {"_ZN2ns4tileINS_4HalfES1_JifEE3runEv", "ns::tile<…>::run"},
    {"_ZNK2ns4tile3runEv", "ns::tile::run"},
    {"_ZN42_INTERNAL_5f9c1b_4_k_cu_d41d8cd9_1234567_89hiddenEv", NULL}, /* the length is a lie */
    {"_ZN12_GLOBAL__N_16hiddenEPf", "hidden"},
    {"_ZN2ns12_GLOBAL__N_12in6hiddenIiEEvPf", "ns::in::hidden<…>"},
    {"_ZL6hiddenPf", "hidden"},
    {"_ZN30_INTERNAL_00000000_4_k_cu_cfun4atabE", "atab"},
    {"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move<…>"},
    {"_ZNSt6vectorIfE4sizeEv", "std::vector<…>::size"},
    {"k", NULL}, {"", NULL}, {"_Z", NULL}, {"_Z99x", NULL}, {"_ZN", NULL}, {"_ZN3abc", "abc"}, {"_Z1kI", "k<…>"}, {"_Z1kIL", "k<…>"}, {"_Z1kIS", "k<…>"}, {"_Z1kI99", "k<…>"}, {"_ZplRK1aS1_", NULL},
};

START_TEST(names_are_as_people_wrote_them)
{
    mt_strbuf out = {0};
    bool is_one = mt_cpp_name(names[_i].mangled, strlen(names[_i].mangled), &out);
    ck_assert_msg(is_one == (names[_i].plain != NULL), "%s", names[_i].mangled);
    ck_assert_str_eq(mt_strbuf_text(&out), names[_i].plain ? names[_i].plain : "");
    for (size_t cut = 0; cut < strlen(names[_i].mangled); cut++) { /* no cut name reads behind its end */
        char *copy = strndup(names[_i].mangled, cut);
        mt_cpp_name(copy, cut, &out);
        free(copy);
    }
    mt_strbuf_free(&out);
}
END_TEST

START_TEST(texts_keep_the_name_in_brackets)
{
    mt_strbuf out = {0};
    mt_cpp_names_in("ptxas fatal   : Unresolved extern function '_Z1ff'\nit's '_Z' and '_Z1k\n'_ZN1a1bEv'", &out);
    ck_assert_str_eq(mt_strbuf_text(&out), "ptxas fatal   : Unresolved extern function 'f' (_Z1ff)\nit's '_Z' and '_Z1k\n'a::b' (_ZN1a1bEv)");
    mt_strbuf_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpp_name");
    TCase *cases = tcase_create("cpp_name");
    tcase_add_loop_test(cases, names_are_as_people_wrote_them, 0, sizeof names / sizeof *names);
    tcase_add_test(cases, texts_keep_the_name_in_brackets);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
