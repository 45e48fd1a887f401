/* What going on is expected to gain. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tuner/search/outlook.h"

enum { LONG = 1000 };

/* The Gaussian process looked `looks` times and promised `gain` by each of its candidates. */
static mt_outlook outlook_of(double gain, int candidates, int looks)
{
    mt_outlook outlook = {0};
    for (int i = 0; i < looks; i++) {
        mt_outlook_begin(&outlook);
        for (int k = 0; k < candidates; k++) mt_outlook_note(&outlook, log(gain));
        mt_outlook_end(&outlook, 1);
    }
    return outlook;
}

START_TEST(the_largest_promises_are_summed_up)
{
    mt_outlook outlook = {0};
    mt_outlook_begin(&outlook);
    for (int i = 1; i <= 20; i++) mt_outlook_note(&outlook, log(i % 2 ? i : 21 - i)); /* 1 … 20, not in order */
    mt_outlook_end(&outlook, 0.001);
    ck_assert_double_eq_tol(outlook.gp, 0.001 * (19 + 19 + 17 + 17 + 15 + 15 + 13 + 13), 1e-9);
    ck_assert_double_eq_tol(outlook.promised, 0.019, 1e-9);
}
END_TEST

START_TEST(it_is_too_early_to_say_while_results_improve)
{
    mt_outlook outlook = outlook_of(1e-9, 8, 1);
    ck_assert(isnan(mt_outlook_gain(&outlook, 150, 0)));
    ck_assert(isnan(mt_outlook_gain(&outlook, 150, 99)));
    ck_assert(mt_outlook_gain(&outlook, 150, 100) < 1e-6);
    ck_assert(isnan(mt_outlook_gain(&outlook, 300, 149))); /* a search that was long under way has to wait longer */
    ck_assert(mt_outlook_gain(&outlook, 300, 150) < 1e-6);
}
END_TEST

/* A model that promises much keeps a search going, until it has promised in vain for long; one improvement makes it credible again. */
START_TEST(promises_are_believed_until_they_are_broken)
{
    mt_outlook fresh = outlook_of(0.01, 8, 1), broken = outlook_of(0.01, 8, 100);
    ck_assert(mt_outlook_gain(&fresh, LONG, LONG) > 0.03);
    ck_assert(mt_outlook_gain(&broken, LONG, LONG) < 0.005);
    ck_assert(mt_outlook_gain(&broken, LONG, LONG) > 0);
    mt_outlook_better(&broken);
    ck_assert(mt_outlook_gain(&broken, LONG, LONG) > 0.03);
    mt_outlook_forest(&fresh, log(0.05), 1);
    ck_assert_double_eq_tol(fresh.forest, 0.05, 1e-9);
    ck_assert(mt_outlook_gain(&fresh, LONG, LONG) > 0.08); /* the more optimistic of the two */
}
END_TEST

UNIT_MAIN("outlook", the_largest_promises_are_summed_up, it_is_too_early_to_say_while_results_improve, promises_are_believed_until_they_are_broken)
