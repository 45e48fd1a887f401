/* When the page of `tune --watch` is written: when there is news, and never more often than each five seconds. */
#include "tests/unit/store_fixture.h"

#include <unistd.h>

#include "tuner/cli/commands/watch.h"

static int64_t now_ns;
static int64_t clock_of_the_test(void)
{
    return now_ns;
}

static size_t passed_on;
static void next_tick(void *context)
{
    (void)context;
    passed_on++;
}

static char page[160]; /* beside the database */

/* Ticks until no page is under way. True: there is a page now; it is taken away. */
static bool writes(mt_watch *watch, const mt_progress *progress)
{
    do {
        progress->tick(progress->context);
        usleep(1000);
    } while (watch->is_running);
    return unlink(page) == 0;
}

START_TEST(a_page_is_written_when_there_is_news_and_time)
{
    mt_store *store = fixture_open();
    snprintf(page, sizeof page, "%s/watched.html", fixture_folder);
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_outcome o = fixture_outcome(MT_OUTCOME_OK, 100);
    fixture_put(store, session, &s, "A=1", &o);
    mt_watch watch = {0};
    const mt_filter filter = {0};
    const mt_progress next = {.tick = next_tick};
    ck_ok(mt_watch_begin(&watch, page, fixture_db, &filter, &next, &fixture_err));
    ck_assert_int_eq(unlink(page), 0); /* the first one is there at once */
    watch.now_ns = clock_of_the_test;
    watch.began_ns = now_ns = 1000000000;
    const mt_progress progress = mt_watch_progress(&watch);
    ck_assert(!writes(&watch, &progress));
    now_ns += 60000000000;
    ck_assert(!writes(&watch, &progress)); /* nothing new */
    progress.evaluated(progress.context, 1, 2, "A=1", &o, true, 100, "A=1");
    ck_assert(!writes(&watch, &progress)); /* known from before */
    progress.evaluated(progress.context, 2, 2, "A=2", &o, false, 100, "A=1");
    ck_assert(writes(&watch, &progress));
    progress.evaluated(progress.context, 2, 2, "A=2", &o, false, 100, "A=1");
    now_ns += 4900000000;
    ck_assert(!writes(&watch, &progress)); /* too soon */
    now_ns += 200000000;
    ck_assert(writes(&watch, &progress));
    watch.took_ns = 2000000000; /* a large database: a tenth of the time */
    progress.evaluated(progress.context, 2, 2, "A=2", &o, false, 100, "A=1");
    now_ns += 19000000000;
    ck_assert(!writes(&watch, &progress));
    now_ns += 2000000000;
    ck_assert(writes(&watch, &progress));
    ck_assert_uint_ge(passed_on, 8);
    mt_watch_end(&watch);
    ck_assert_int_eq(unlink(page), 0);
    mt_watch_end(&watch); /* once */
    ck_assert_int_ne(unlink(page), 0);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("watch", a_page_is_written_when_there_is_news_and_time)
