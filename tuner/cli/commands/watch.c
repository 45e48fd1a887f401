#include "tuner/cli/commands/watch.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "reports/format.h"
#include "reports/report.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/summary.h"

enum { REFRESH_S = 5, SHARE = 10 /* a page is made in one part of so many of the time */, SECTIONS = 2 /* the first ones: what fits a screen */ };

/* ---- how far the search is ---- */

static const mt_column columns[] = {{"Shape", NULL}, {"Best so far (µs)", MT_DOC_US}, {"Evaluations", "%.0f"}, {"Of at most", "%.0f"}, {"Time spent", NULL}, {"Left, at most", NULL}, {0}};

static void add_subject(const mt_watched *s, int64_t now_ns, mt_doc *doc)
{
    char spent[MT_PRINT_TIME_SIZE], left[MT_PRINT_TIME_SIZE];
    double seconds = (double)((s->ended_ns ? s->ended_ns : now_ns) - s->began_ns) / 1e9;
    mt_doc_text(doc, s->name);
    mt_doc_number(doc, s->best_ns / 1e3);
    mt_doc_number(doc, (double)s->done);
    mt_doc_number(doc, (double)s->total);
    mt_doc_text(doc, mt_print_seconds(seconds, spent, sizeof spent));
    mt_doc_text(doc, s->ended_ns ? "" : mt_print_left(s->done, s->total, s->measured, seconds, left));
}

/* Those that are being searched first; those that have ended are folded, since their bests stand below. */
static void add_subjects(const mt_watch *watch, mt_doc *doc)
{
    int64_t now_ns = watch->now_ns();
    mt_doc_table(doc, "progress", "How far the search is", columns);
    for (int ended = 0; ended < 2; ended++) {
        bool is_first = true;
        for (size_t i = 0; i < watch->count; i++) {
            if ((watch->subjects[i].ended_ns != 0) != ended) continue;
            if (is_first) mt_doc_group(doc, ended, ended ? "Ended" : "Being searched", "", "");
            is_first = false;
            add_subject(&watch->subjects[i], now_ns, doc);
        }
    }
}

static void add_progress(const mt_watch *watch, bool is_last, mt_doc *doc)
{
    char now[16] = "", spent[MT_PRINT_TIME_SIZE];
    time_t seconds = (time_t)(mt_clock_unix_ms() / 1000);
    struct tm tm;
    size_t ended = watch->skipped, done = 0, total = 0;
    for (size_t i = 0; i < watch->count; i++) ended += watch->subjects[i].ended_ns != 0, done += watch->subjects[i].done, total += watch->subjects[i].total;
    if (gmtime_r(&seconds, &tm)) strftime(now, sizeof now, "%H:%M:%S", &tm);
    mt_doc_section_begin(doc, "progress", "Progress");
    if (watch->planned) mt_doc_figure(doc, "Subjects done", "%zu of %zu", ended, watch->planned);
    if (watch->planned > 1 || !total) mt_doc_figure(doc, "Evaluations", "%zu", done);
    else mt_doc_figure(doc, "Evaluations", "%zu of at most %zu", done, total);
    mt_doc_figure(doc, "Time spent", "%s", mt_print_seconds((double)(watch->now_ns() - watch->first_ns) / 1e9, spent, sizeof spent));
    add_subjects(watch, doc);
    if (is_last) mt_doc_note(doc, "The search ended at %s UTC: this page is final.", now);
    else mt_doc_note(doc, "Written at %s UTC; the page loads itself again every %d seconds, until the search has ended. A search may end before its evaluations are spent, where going on would hardly gain.", now, REFRESH_S);
}

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
    if (!doc->title) doc->title = mt_strdup("msda-tune report"), doc->source = mt_strdup(watch->db); /* no database yet */
    doc->failed |= !doc->title || !doc->source;
    return st == MT_ERR_NOTHING_VALID || st == MT_ERR_NOT_FOUND ? MT_OK : st; /* nothing was measured yet */
}

/* Files of this kind are made anew in seconds, so that nobody waits for the disk. */
static mt_status write_page(mt_watch *watch, mt_error *err)
{
    mt_strbuf page = {0};
    mt_status st = make(watch, &watch->doc, err);
    if (st == MT_OK && !mt_doc_is_ok(&watch->doc)) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    if (st == MT_OK) mt_format_html(&watch->doc, &page);
    if (st == MT_OK && page.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    if (st == MT_OK) st = mt_file_check_output(watch->path, err);
    if (st == MT_OK) st = mt_file_write_cached(watch->path, page.text, page.length, err);
    mt_strbuf_free(&page);
    mt_doc_free(&watch->doc);
    return st;
}

/* What only the session's thread knows goes into the page before another makes the rest of it. */
static void begin_page(mt_watch *watch, bool is_last)
{
    watch->doc = (mt_doc){.refresh_s = is_last ? 0 : REFRESH_S};
    add_progress(watch, is_last, &watch->doc);
}

static void work(void *context)
{
    mt_watch *watch = context;
    watch->status = write_page(watch, &watch->error);
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
    begin_page(watch, false);
    watch->is_running = uv_thread_create(&watch->thread, work, watch) == 0;
    if (!watch->is_running) mt_doc_free(&watch->doc);
}

/* ---- the session's progress, noted and passed on ---- */

static mt_watched *current(mt_watch *watch)
{
    return watch->count && !watch->subjects[watch->count - 1].ended_ns ? &watch->subjects[watch->count - 1] : NULL;
}

/* Without memory the page lacks the shape: the session is what counts. */
static void note_subject(mt_watch *watch, const mt_space *space, const mt_workload *workload, size_t total)
{
    mt_strbuf name = {0};
    mt_watched *subjects = mt_grow(watch->subjects, watch->count, &watch->capacity, sizeof *subjects);
    if (subjects) watch->subjects = subjects;
    mt_summary_name(space, workload, &name);
    char *text = mt_strbuf_take(&name);
    if (subjects && text) subjects[watch->count++] = (mt_watched){.name = text, .total = total, .best_ns = INFINITY, .began_ns = watch->now_ns()};
    else mt_free(text);
}

static void subject_begin(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw)
{
    mt_watch *watch = context;
    if (watch->next.subject_begin) watch->next.subject_begin(watch->next.context, space, workload, strategy, total, raw);
    note_subject(watch, space, workload, total);
    look(watch);
}

static void evaluated(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best)
{
    mt_watch *watch = context;
    mt_watched *subject = current(watch);
    if (watch->next.evaluated) watch->next.evaluated(watch->next.context, done, total, variant, outcome, known, best_ns, best);
    if (subject) subject->done = done, subject->total = total, subject->best_ns = best_ns, subject->measured += !known;
    watch->has_news |= !known;
    look(watch);
}

static void subject_end(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary)
{
    mt_watch *watch = context;
    mt_watched *subject = current(watch);
    if (watch->next.subject_end) watch->next.subject_end(watch->next.context, space, workload, summary);
    if (subject) subject->ended_ns = watch->now_ns(), subject->best_ns = summary->best_ns;
    watch->has_news = true; /* the final's pick */
    look(watch);
}

static void skipped(void *context, const char *shape, const char *workload, const char *reason)
{
    mt_watch *watch = context;
    if (watch->next.skipped) watch->next.skipped(watch->next.context, shape, workload, reason);
    watch->skipped++;
}

static void tick(void *context)
{
    mt_watch *watch = context;
    if (watch->next.tick) watch->next.tick(watch->next.context);
    look(watch);
}

static void planned(void *context, size_t subjects)
{
    mt_watch *watch = context;
    watch->planned = subjects;
}

mt_progress mt_watch_progress(mt_watch *watch)
{
    return (mt_progress){watch, subject_begin, evaluated, subject_end, skipped, tick, planned};
}

/* ---- begin and end ---- */

mt_status mt_watch_begin(mt_watch *watch, const char *path, const char *db, const mt_filter *filter, const mt_progress *next, mt_error *err)
{
    if (strcmp(db, ":memory:") == 0) return MT_FAIL(err, MT_ERR_USAGE, "tune: --watch shows what is in the database; expected --db FILE instead of :memory:");
    *watch = (mt_watch){.path = path, .db = db, .filter = *filter, .next = *next, .now_ns = mt_clock_now_ns, .began_ns = mt_clock_now_ns(), .first_ns = mt_clock_now_ns()};
    begin_page(watch, false);
    mt_status st = write_page(watch, err);
    if (st != MT_OK) watch->path = NULL;
    return st;
}

void mt_watch_end(mt_watch *watch)
{
    if (!watch->path) return;
    join(watch);
    begin_page(watch, true);
    watch->status = write_page(watch, &watch->error);
    warn(watch);
    for (size_t i = 0; i < watch->count; i++) mt_free(watch->subjects[i].name);
    mt_free(watch->subjects);
    watch->path = NULL;
}
