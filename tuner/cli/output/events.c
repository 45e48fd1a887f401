#include "tuner/cli/output/events.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"

mt_status mt_events_open(mt_events *events, const char *path, const mt_progress *next, const char *gpu, mt_origin origin, mt_error *err)
{
    *events = (mt_events){.next = *next, .gpu = gpu, .origin = mt_origin_name(origin)};
    mt_error why;
    if (mt_file_open_append(path, &events->fd, &why) != MT_OK) return MT_FAIL(err, MT_ERR_IO, "--events: can't be written: %s", why.message);
    events->is_open = true;
    return MT_OK;
}

void mt_events_close(mt_events *events)
{
    if (events->is_open) close(events->fd);
    mt_free(events->shape);
    mt_free(events->workload);
    *events = (mt_events){0};
}

/* ---- lines ---- */

static void add_us(mt_strbuf *line, const char *name, double ns)
{
    mt_strbuf_add_number(line, name, ns > 0 ? ns / 1e3 : NAN);
}

static void begin(const mt_events *events, const char *event, const char *shape, const char *workload, mt_strbuf *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    mt_strbuf_addf(line, "{\"event\":\"%s\",\"unix_ms\":%lld", event, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    mt_strbuf_add_member(line, "gpu", events->gpu);
    mt_strbuf_add_member(line, "origin", events->origin);
    mt_strbuf_add_member(line, "shape", shape);
    mt_strbuf_add_member(line, "workload", workload);
}

/* A reader that goes away (a pipe, a FIFO) costs the events, never the session. Where others handle SIGPIPE, they still get theirs. */
static int write_line(int fd, const mt_strbuf *line)
{
    sigset_t broken, before, pending;
    static const struct timespec at_once = {0};
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    bool was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    int failed = mt_fd_write_all(fd, line->text, line->length), why = errno;
    if (failed && why == EPIPE && !was_pending) sigtimedwait(&broken, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return failed;
}

static void end(mt_events *events, mt_strbuf *line)
{
    mt_strbuf_add(line, "}\n");
    if (!events->has_failed && !line->failed && write_line(events->fd, line) != 0) {
        events->has_failed = true;
        mt_log_warn("--events: writing failed (%s): no more events are written", strerror(errno));
    }
    mt_strbuf_free(line);
}

/* ---- callbacks ---- */

static void subject_begin(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw)
{
    mt_events *events = context;
    mt_strbuf line = {0};
    mt_free(events->shape);
    mt_free(events->workload);
    events->shape = mt_strdup(mt_space_shape(space)->name);
    events->workload = mt_strdup(workload->name);
    begin(events, "begin", events->shape, events->workload, &line);
    mt_strbuf_add_member(&line, "strategy", strategy);
    mt_strbuf_addf(&line, ",\"total\":%zu,\"points_before_constraints\":%llu", total, (unsigned long long)raw);
    end(events, &line);
    if (events->next.subject_begin) events->next.subject_begin(events->next.context, space, workload, strategy, total, raw);
}

static void evaluated(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best)
{
    mt_events *events = context;
    mt_strbuf line = {0};
    begin(events, "evaluated", events->shape, events->workload, &line);
    mt_strbuf_addf(&line, ",\"done\":%zu,\"total\":%zu,\"known\":%s", done, total, known ? "true" : "false");
    mt_strbuf_add_member(&line, "variant", variant);
    mt_strbuf_add_member(&line, "outcome", outcome ? mt_outcome_name(outcome->kind) : NULL);
    mt_strbuf_add_member(&line, "text", outcome ? outcome->text : NULL);
    bool is_timed = outcome && (outcome->kind == MT_OUTCOME_OK || outcome->kind == MT_OUTCOME_CENSORED);
    add_us(&line, "median_us", is_timed ? outcome->timing.median_ns : NAN);
    add_us(&line, "low_us", is_timed ? mt_timing_low_ns(&outcome->timing) : NAN);
    add_us(&line, "high_us", is_timed ? mt_timing_high_ns(&outcome->timing) : NAN);
    add_us(&line, "best_us", best_ns);
    mt_strbuf_add_member(&line, "best", isfinite(best_ns) ? best : NULL);
    end(events, &line);
    if (events->next.evaluated) events->next.evaluated(events->next.context, done, total, variant, outcome, known, best_ns, best);
}

static void subject_end(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary)
{
    mt_events *events = context;
    mt_strbuf line = {0};
    begin(events, "end", events->shape, events->workload, &line);
    mt_strbuf_addf(&line, ",\"evaluated\":%zu,\"known\":%zu,\"ok\":%zu,\"failed\":%zu,\"censored\":%zu,\"tied\":%zu,\"seconds\":%.3f", summary->evaluated - summary->not_run, summary->known, summary->ok,
                   summary->failed, summary->censored, summary->tied, summary->seconds);
    mt_strbuf_addf(&line, ",\"interrupted\":%s,\"out_of_time\":%s", summary->end == MT_SUBJECT_INTERRUPTED ? "true" : "false", summary->end == MT_SUBJECT_OUT_OF_TIME ? "true" : "false");
    if (summary->is_flat) mt_strbuf_addf(&line, ",\"flat\":true,\"meant\":%zu,\"expected_gain\":%.6f", summary->meant, summary->expected_gain);
    const struct { const char *name; double ns; } times[] = {{"best_us", summary->best_ns}, {"low_us", summary->low_ns}, {"high_us", summary->high_ns}, {"default_us", summary->default_ns},
                                                             {"baseline_us", summary->baseline_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) add_us(&line, times[i].name, times[i].ns);
    mt_strbuf_add_member(&line, "best", summary->best);
    end(events, &line);
    if (events->next.subject_end) events->next.subject_end(events->next.context, space, workload, summary);
}

static void skipped(void *context, const char *shape, const char *workload, const char *reason)
{
    mt_events *events = context;
    mt_strbuf line = {0};
    begin(events, "skipped", shape, workload, &line);
    mt_strbuf_add_member(&line, "reason", reason);
    end(events, &line);
    if (events->next.skipped) events->next.skipped(events->next.context, shape, workload, reason);
}

static void tick(void *context)
{
    mt_events *events = context;
    if (events->next.tick) events->next.tick(events->next.context);
}

mt_progress mt_events_progress(mt_events *events)
{
    return (mt_progress){events, subject_begin, evaluated, subject_end, skipped, tick, NULL};
}
