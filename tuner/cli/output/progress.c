#include "tuner/cli/output/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/cli/output/print.h"

enum { REDRAW_NS = 100000000, DEFAULT_WIDTH = 80 };
#define SILENCE_NS 10000000000LL /* between plain lines */

static int terminal_width(void)
{
    struct winsize size = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return DEFAULT_WIDTH;
}

static void clear_hook(void *context)
{
    mt_display_clear(context);
}

void mt_display_init(mt_display *display, bool quiet)
{
    const char *term = getenv("TERM");
    *display = (mt_display){.progress = stderr, .summary = stdout, .quiet = quiet, .now_ns = mt_clock_now_ns};
    display->is_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    display->width = terminal_width();
    mt_log_set_hook(clear_hook, display);
}

/* Shapes that are skipped for one reason, one after the other, make one line. */
static void tell_skipped(mt_display *display)
{
    if (!display->skipped_count) return;
    mt_display_clear(display);
    fprintf(display->progress, "skipped: %s", mt_strbuf_text(&display->skipped_first));
    if (display->skipped_count > 1) fprintf(display->progress, " and %zu more", display->skipped_count - 1);
    fprintf(display->progress, ": %s\n", mt_strbuf_text(&display->skipped_why));
    display->skipped_count = 0;
}

void mt_display_end(mt_display *display)
{
    tell_skipped(display);
    mt_strbuf_free(&display->skipped_first);
    mt_strbuf_free(&display->skipped_why);
    mt_display_clear(display);
    mt_log_set_hook(NULL, NULL);
}

void mt_display_clear(mt_display *display)
{
    if (!display->drawn_lines) return;
    if (display->drawn_lines > 1) fprintf(display->progress, "\033[%zuA", display->drawn_lines - 1);
    fputs(display->drawn_lines > 1 ? "\r\033[J" : "\r\033[K", display->progress);
    fflush(display->progress);
    display->drawn_lines = 0;
}

/* "12.3/s  43 s left": from what was measured, since known variants cost nothing. In a narrow terminal without the rate, which is what one looks for last. */
static void add_rate(const mt_display *display, mt_strbuf *line)
{
    char left[MT_PRINT_TIME_SIZE], speed[32];
    double seconds = (double)(display->now_ns() - display->began_ns) / 1e9;
    if (!display->measured || seconds <= 0) return;
    double rate = (double)display->measured / seconds;
    mt_print_left(display->done, display->total, display->measured, seconds, left);
    snprintf(speed, sizeof speed, "  %.*f/s", rate < 10 ? 1 : 0, rate);
    size_t columns = mt_print_columns(mt_strbuf_text(line)) + strlen(speed) + (*left ? mt_print_columns(left) + strlen("   left") : 0);
    if (!display->is_terminal || columns + 2 <= (size_t)display->width) mt_strbuf_add(line, speed);
    if (*left) mt_strbuf_addf(line, "  %s left", left);
}

static void compose(const mt_display *display, mt_strbuf *line)
{
    char best[MT_PRINT_TIME_SIZE];
    size_t failed = 0;
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++)
        if (mt_outcome_is_failure((mt_outcome_kind)kind)) failed += display->counts.by_kind[kind];
    mt_strbuf_addf(line, "%s  %zu/%zu", display->title, display->done, display->total);
    if (isfinite(display->best_ns)) mt_strbuf_addf(line, "  best %s", mt_print_us(display->best_ns, best, sizeof best));
    if (failed) mt_strbuf_addf(line, "  %zu failed", failed);
    add_rate(display, line);
}

/* "[########------------]": `width` characters within. */
static void add_bar(const mt_display *display, size_t width, mt_strbuf *line)
{
    size_t full = display->total ? display->done * width / display->total : 0;
    mt_strbuf_add_char(line, '[');
    for (size_t i = 0; i < width; i++) mt_strbuf_add(line, i < full ? "█" : "░");
    mt_strbuf_add_char(line, ']');
}

/* Of what the terminal shows now: people resize it. */
static void refresh_width(mt_display *display)
{
    if (!display->has_own_width) display->width = terminal_width();
}

/* The lines of the view, each ended by a line break but the last. */
static void compose_view(const mt_display *display, mt_strbuf *view)
{
    char best[MT_PRINT_TIME_SIZE], speed[MT_PRINT_SPEED_SIZE];
    const mt_summary_counts *counts = &display->counts;
    mt_strbuf_addf(view, "%s  ", display->title);
    if (display->width >= 72) {
        add_bar(display, display->width > 100 ? 40 : 20, view);
        mt_strbuf_add(view, "  ");
    }
    mt_strbuf_addf(view, "%zu/%zu", display->done, display->total);
    add_rate(display, view);
    mt_strbuf_add(view, "\n  best      ");
    if (isfinite(display->best_ns)) {
        mt_strbuf_add(view, mt_print_us(display->best_ns, best, sizeof best));
        if (display->first_ns > display->best_ns) mt_strbuf_addf(view, "  (%s the first)", mt_print_speed(display->first_ns / display->best_ns, speed));
        mt_strbuf_addf(view, "\n            %s", display->best);
    } else mt_strbuf_add(view, "none yet");
    mt_strbuf_addf(view, "\n  outcomes  %zu ok", counts->by_kind[MT_OUTCOME_OK]);
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++)
        if (kind != MT_OUTCOME_OK && counts->by_kind[kind]) mt_strbuf_addf(view, ", %zu %s", counts->by_kind[kind], mt_outcome_name((mt_outcome_kind)kind));
    for (size_t i = 0; i < MT_DISPLAY_FAILURES && *display->failures[i]; i++) mt_strbuf_addf(view, "\n  %s  %s", i ? "        " : "failed  ", display->failures[i]);
}

/* Each line fits the terminal: one that wraps could not be taken back. */
static void print_fitted(mt_display *display, const char *text)
{
    size_t lines = 0;
    for (bool more = true; more; lines++) {
        size_t length = strcspn(text, "\n");
        char *line = mt_strndup(text, length);
        mt_strbuf fitted = {0};
        mt_print_clean(&fitted, line, display->width > 3 ? (size_t)display->width - 2 : 1);
        fprintf(display->progress, "%s%s\033[K", lines ? "\n" : "", mt_strbuf_text(&fitted));
        mt_strbuf_free(&fitted);
        mt_free(line);
        more = text[length];
        text += length + more;
    }
    display->drawn_lines = lines;
}

static void draw(mt_display *display)
{
    mt_strbuf text = {0};
    refresh_width(display);
    if (display->wants_view) {
        compose_view(display, &text);
        mt_display_clear(display);
    } else {
        compose(display, &text);
        fputc('\r', display->progress);
    }
    print_fitted(display, mt_strbuf_text(&text));
    fflush(display->progress);
    display->drawn_ns = display->now_ns();
    mt_strbuf_free(&text);
}

/* The newest first. */
static void note_failure(mt_display *display, const char *variant, const mt_outcome *outcome)
{
    mt_strbuf line = {0};
    memmove(display->failures[1], display->failures[0], sizeof display->failures - sizeof display->failures[0]);
    mt_strbuf_addf(&line, "%s: ", mt_outcome_name(outcome->kind));
    mt_print_clean(&line, outcome->text ? outcome->text : "", 90);
    mt_strbuf_add(&line, "  ");
    mt_print_knobs(&line, variant);
    snprintf(display->failures[0], sizeof display->failures[0], "%s", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
}

static void note(mt_display *display, const char *variant, const mt_outcome *outcome, double best_ns, const char *best)
{
    if (outcome && mt_outcome_is_failure(outcome->kind)) note_failure(display, variant, outcome);
    if (!isfinite(best_ns) || best_ns >= display->best_ns) return;
    mt_strbuf knobs = {0};
    mt_print_knobs(&knobs, best);
    snprintf(display->best, sizeof display->best, "%s", mt_strbuf_text(&knobs));
    if (!isfinite(display->best_ns)) display->first_ns = best_ns;
    mt_strbuf_free(&knobs);
}

/* One line: where it has no room for all, the summary tells the rest. */
static void begin_line(const mt_display *display, mt_strbuf *line)
{
    const char *search = display->counts.search;
    mt_strbuf_addf(line, "%s: up to %zu of %s", display->title, display->total, search);
    if (strlen(mt_strbuf_text(line)) <= MT_PAGE_COLUMNS) return;
    mt_strbuf_free(line);
    mt_strbuf_addf(line, "%s: up to %zu of %.*s", display->title, display->total, (int)strcspn(search, "(") - 1, search);
}

/* A plain line, unless one was said a moment ago. */
static void say(mt_display *display)
{
    mt_strbuf line = {0};
    int64_t now = display->now_ns();
    if (display->spoke_ns && now - display->spoke_ns < SILENCE_NS) return;
    if (display->done) compose(display, &line);
    else begin_line(display, &line);
    mt_print_wrapped(display->progress, mt_strbuf_text(&line), 2, NULL);
    display->spoke_ns = now;
    mt_strbuf_free(&line);
}

/* Where there is a terminal, at most ten times a second unless `at_once`. */
static void show(mt_display *display, bool at_once)
{
    if (display->quiet) return;
    if (!display->is_terminal) say(display);
    else if (at_once || !display->drawn_lines || display->now_ns() - display->drawn_ns >= REDRAW_NS) draw(display);
}

static void subject_begin(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw)
{
    mt_display *display = context;
    mt_strbuf title = {0};
    tell_skipped(display);
    mt_summary_name(space, workload, &title);
    snprintf(display->title, sizeof display->title, "%s", mt_strbuf_text(&title));
    mt_strbuf_free(&title);
    display->counts = (mt_summary_counts){0};
    display->done = display->measured = 0;
    display->total = total;
    display->best_ns = display->first_ns = INFINITY;
    memset(display->failures, 0, sizeof display->failures);
    display->began_ns = display->drawn_ns = display->now_ns();
    char count[MT_SPACE_COUNT_SIZE];
    snprintf(display->counts.search, sizeof display->counts.search, "%s %s point%s (%llu before constraints), strategy %s", mt_space_count_text(space, count, sizeof count),
             display->is_recorded ? "recorded" : "valid", mt_space_count(space) == 1 ? "" : "s", (unsigned long long)raw, strategy);
    show(display, true);
}

/* What the database knew may be another compiler's. */
static void note_code(mt_display *display, const char *variant, const mt_outcome *outcome)
{
    mt_point point;
    mt_error ignored;
    if (!display->codes.spec || !*outcome->cubin.hex || mt_point_parse(display->codes.spec, variant, &point, &ignored) != MT_OK) return;
    mt_same_code_add(&display->codes, &point, &outcome->cubin);
}

static void evaluated(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best)
{
    mt_display *display = context;
    note(display, variant, outcome, best_ns, best);
    display->done = done;
    display->total = total;
    display->measured += !known;
    display->best_ns = best_ns;
    mt_summary_count(&display->counts, variant, outcome);
    if (!known) note_code(display, variant, outcome);
    show(display, false);
}

static void tick(void *context)
{
    show(context, true);
}

static void subject_end(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary)
{
    mt_display *display = context;
    mt_display_clear(display);
    mt_summary_print(display->summary, space, workload, display->facts, display->is_recorded, summary, &display->counts, display->is_verbose);
    fflush(display->summary);
    if (display->codes.spec) mt_same_code_end_shape(&display->codes);
    display->subjects_ended++;
}

static void skipped(void *context, const char *shape, const char *workload, const char *reason)
{
    mt_display *display = context;
    mt_strbuf why = {0};
    mt_print_clean(&why, reason, 300);
    bool is_same = display->skipped_count && strcmp(mt_strbuf_text(&why), mt_strbuf_text(&display->skipped_why)) == 0;
    if (is_same) {
        mt_strbuf_free(&why);
    } else {
        tell_skipped(display);
        mt_strbuf_free(&display->skipped_first);
        mt_strbuf_free(&display->skipped_why);
        mt_print_clean(&display->skipped_first, shape, 60);
        if (workload && *workload) mt_strbuf_add(&display->skipped_first, " · ");
        mt_print_clean(&display->skipped_first, workload, 60);
        display->skipped_why = why;
    }
    display->skipped_count++;
}

mt_progress mt_display_progress(mt_display *display)
{
    return (mt_progress){display, subject_begin, evaluated, subject_end, skipped, tick, NULL};
}
