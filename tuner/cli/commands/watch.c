#include "tuner/cli/commands/watch.h"

#include <string.h>

#include "reports/format.h"
#include "reports/report.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"

enum { REFRESH_S = 5, SHARE = 10 /* a page is made in one part of so many of the time */, SECTIONS = 2 /* the first ones: what fits a screen */ };

/* ---- a page ---- */

static mt_status make(const mt_watch *watch, mt_doc *doc, mt_error *err)
{
    const char *sections[SECTIONS];
    mt_store *store = NULL;
    for (size_t i = 0; i < SECTIONS; i++) sections[i] = mt_report_section_name(i);
    const mt_report_options options = {.sections = sections, .section_count = SECTIONS, .most_rows = MT_REPORT_PAGE_ROWS};
    mt_status st = mt_store_open(watch->db, MT_STORE_READ_ONLY, &store, err);
    if (st == MT_OK) st = mt_report_make(store, &watch->filter, &options, doc, err);
    mt_store_close(store);
    return st;
}

static mt_status make_empty(const mt_watch *watch, mt_doc *doc)
{
    mt_doc_free(doc);
    *doc = (mt_doc){.title = mt_strdup("msda-tune report"), .source = mt_strdup(watch->db)};
    doc->failed = !doc->title || !doc->source;
    mt_doc_section_begin(doc, "empty", "Nothing yet");
    mt_doc_note(doc, "No variant has been measured yet. This page loads itself again.");
    return MT_OK;
}

/* Files of this kind are made anew in seconds, so that nobody waits for the disk. */
static mt_status write_page(const mt_watch *watch, bool is_last, mt_error *err)
{
    mt_doc doc = {0};
    mt_strbuf page = {0};
    mt_status st = make(watch, &doc, err);
    if (st == MT_ERR_NOTHING_VALID || st == MT_ERR_NOT_FOUND) st = make_empty(watch, &doc);
    doc.refresh_s = is_last ? 0 : REFRESH_S;
    if (st == MT_OK && !mt_doc_is_ok(&doc)) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    if (st == MT_OK) mt_format_html(&doc, &page);
    if (st == MT_OK && page.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    if (st == MT_OK) st = mt_file_check_output(watch->path, err);
    if (st == MT_OK) st = mt_file_write_cached(watch->path, page.text, page.length, err);
    mt_strbuf_free(&page);
    mt_doc_free(&doc);
    return st;
}

static void work(void *context)
{
    mt_watch *watch = context;
    watch->status = write_page(watch, false, &watch->error);
    atomic_store(&watch->is_done, true);
}

/* ---- when ---- */

static void warn(mt_watch *watch)
{
    if (watch->status == MT_OK || watch->has_warned) return;
    watch->has_warned = true; /* once: the session is what counts */
    mt_log_warn("--watch: %s", watch->error.message);
}

static void join(mt_watch *watch)
{
    if (!watch->is_running) return;
    uv_thread_join(&watch->thread);
    watch->is_running = false;
    watch->took_ns = watch->now_ns() - watch->began_ns;
    warn(watch);
}

static void look(mt_watch *watch)
{
    int64_t now = watch->now_ns(), pause = (int64_t)REFRESH_S * 1000000000;
    if (watch->is_running && atomic_load(&watch->is_done)) join(watch);
    if (watch->took_ns * SHARE > pause) pause = watch->took_ns * SHARE;
    if (watch->is_running || !watch->has_news || now - watch->began_ns < pause) return;
    watch->has_news = false;
    watch->began_ns = now;
    atomic_store(&watch->is_done, false);
    watch->is_running = uv_thread_create(&watch->thread, work, watch) == 0;
}

/* ---- the session's progress, passed on ---- */

static void subject_begin(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw)
{
    mt_watch *watch = context;
    if (watch->next.subject_begin) watch->next.subject_begin(watch->next.context, space, workload, strategy, total, raw);
    look(watch);
}

static void evaluated(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best)
{
    mt_watch *watch = context;
    if (watch->next.evaluated) watch->next.evaluated(watch->next.context, done, total, variant, outcome, known, best_ns, best);
    watch->has_news |= !known;
    look(watch);
}

static void subject_end(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary)
{
    mt_watch *watch = context;
    if (watch->next.subject_end) watch->next.subject_end(watch->next.context, space, workload, summary);
    watch->has_news = true; /* the final's pick */
    look(watch);
}

static void skipped(void *context, const char *shape, const char *workload, const char *reason)
{
    mt_watch *watch = context;
    if (watch->next.skipped) watch->next.skipped(watch->next.context, shape, workload, reason);
}

static void tick(void *context)
{
    mt_watch *watch = context;
    if (watch->next.tick) watch->next.tick(watch->next.context);
    look(watch);
}

mt_progress mt_watch_progress(mt_watch *watch)
{
    return (mt_progress){watch, subject_begin, evaluated, subject_end, skipped, tick};
}

/* ---- begin and end ---- */

mt_status mt_watch_begin(mt_watch *watch, const char *path, const char *db, const mt_filter *filter, const mt_progress *next, mt_error *err)
{
    if (strcmp(db, ":memory:") == 0) return MT_FAIL(err, MT_ERR_USAGE, "tune: --watch shows what is in the database; expected --db FILE instead of :memory:");
    *watch = (mt_watch){.path = path, .db = db, .filter = *filter, .next = *next, .now_ns = mt_clock_now_ns, .began_ns = mt_clock_now_ns()};
    mt_status st = write_page(watch, false, err);
    if (st != MT_OK) watch->path = NULL;
    return st;
}

void mt_watch_end(mt_watch *watch)
{
    if (!watch->path) return;
    join(watch);
    watch->status = write_page(watch, true, &watch->error);
    warn(watch);
    watch->path = NULL;
}
