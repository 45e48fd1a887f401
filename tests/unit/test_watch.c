/* When the page of `tune --watch` is written: when there is news, and never more often than each five seconds. */
#include "tests/unit/store_fixture.h"

#include <stdarg.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
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

static void finish(mt_watch *watch, const mt_progress *progress)
{
    do {
        progress->tick(progress->context);
        usleep(1000);
    } while (watch->is_running);
}

/* Ticks until no page is under way. True: there is a page now; it is taken away. */
static bool writes(mt_watch *watch, const mt_progress *progress)
{
    finish(watch, progress);
    return unlink(page) == 0;
}

/* The page has all these texts; the last argument is NULL. */
static void tells(const char *text, ...)
{
    char *all;
    size_t length;
    va_list texts;
    ck_ok(mt_file_read(page, 1 << 24, &all, &length, &fixture_err));
    va_start(texts, text);
    for (; text; text = va_arg(texts, const char *)) ck_assert_msg(strstr(all, text) != NULL, "the page lacks %s", text);
    va_end(texts);
    mt_free(all);
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

/* The page tells how far each shape's search is, of how many, and that it is loaded again; the last one that it is over. */
START_TEST(the_page_tells_how_far_the_search_is)
{
    const mt_device_facts facts = {.name = "NVIDIA H100 80GB HBM3"};
    mt_space *space = NULL;
    mt_spec *spec = NULL;
    mt_store *store = fixture_open();
    snprintf(page, sizeof page, "%s/watched.html", fixture_folder);
    mt_subject s = fixture_subject(store);
    mt_outcome o = fixture_outcome(MT_OUTCOME_OK, 21000);
    fixture_put(store, fixture_session(store), &s, "A=1", &o);
    mt_watch watch = {0};
    const mt_filter filter = {0};
    const mt_progress next = {0};
    ck_ok(mt_spec_load(TEST_DATA_DIR "/cli/demo.ini", &spec, &fixture_err));
    ck_ok(mt_space_create(spec, &spec->shapes[0], &facts, &space, &fixture_err));
    ck_ok(mt_watch_begin(&watch, page, fixture_db, &filter, &next, &fixture_err));
    watch.now_ns = clock_of_the_test;
    watch.first_ns = watch.began_ns = now_ns = 1000000000;
    const mt_progress progress = mt_watch_progress(&watch);
    progress.planned(progress.context, 3);
    progress.skipped(progress.context, "huge", NULL, "too large");
    progress.subject_begin(progress.context, space, &spec->workloads[0], "mixed", 400, 4000);
    for (size_t i = 1; i <= 10; i++) progress.evaluated(progress.context, i, 400, "A=1", &o, false, 21000, "A=1");
    now_ns += 20000000000;
    finish(&watch, &progress);
    tells("<dt>Subjects done</dt><dd>1 of 3</dd>", "<dt>Time spent</dt><dd>20 s</dd>", "loads itself again every 5 seconds", "http-equiv=\"refresh\" content=\"5\"", "Being searched",
                   "data-h=\"Best so far (µs)\">21.00</td><td class=\"n\" role=\"cell\" data-h=\"Evaluations\">10</td><td class=\"n\" role=\"cell\" data-h=\"Of at most\">400</td>"
                   "<td role=\"cell\" data-h=\"Time spent\">20 s</td><td role=\"cell\" data-h=\"Left, at most\">13 min 00 s</td>", NULL);
    progress.subject_end(progress.context, space, &spec->workloads[0], &(mt_subject_summary){.best_ns = 20500});
    mt_watch_end(&watch);
    tells("<dt>Subjects done</dt><dd>2 of 3</dd>", "this page is final", "Ended", "data-h=\"Best so far (µs)\">20.50</td>", NULL);
    mt_space_free(space);
    mt_spec_free(spec);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("watch", the_page_tells_how_far_the_search_is, a_page_is_written_when_there_is_news_and_time)
