#include "tuner/session/session_search.h"

#include <assert.h>
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"

enum { BATCH = 64 };

struct tell {
    size_t point;
    double time_ns;
};

struct mt_search {
    uv_loop_t *loop;
    const mt_strategy *strategy;
    void *state;               /* of the strategy: the pool's thread's while is_busy */
    void (*woken)(void *context);
    void *context;
    struct tell *tells;        /* not handed over yet */
    size_t tell_count, tell_capacity;
    size_t points[BATCH], at, count;
    const char *arms[BATCH];   /* of points */
    bool is_busy, is_dry;
    double outlook;
    int64_t spent_ns;
    /* the job under way: the pool's thread's */
    uv_work_t work;
    struct tell *job_tells;
    size_t job_tell_count, job_wanted, job_count;
    size_t job_points[BATCH];
    const char *job_arms[BATCH];
    int64_t job_ns;
    double job_outlook;
};

mt_status mt_search_create(uv_loop_t *loop, const mt_strategy *strategy, const mt_search_setup *setup, void (*woken)(void *context), void *context, mt_search **out, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_search *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "search: out of memory");
    *self = (mt_search){.loop = loop, .strategy = strategy, .woken = woken, .context = context, .outlook = NAN};
    self->work.data = self;
    mt_status st = strategy->create(setup, &self->state, err);
    if (st != MT_OK) {
        mt_free(self);
        return st;
    }
    self->spent_ns = mt_clock_now_ns() - before;
    *out = self;
    return MT_OK;
}

mt_status mt_search_tell(mt_search *self, size_t point, double time_ns, mt_error *err)
{
    struct tell *added = MT_APPEND(self->tells, self->tell_count, self->tell_capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "search: out of memory");
    *added = (struct tell){point, time_ns};
    self->is_dry = false;
    return MT_OK;
}

/* ---- one job ---- */

static void think(uv_work_t *work)
{
    mt_search *self = work->data;
    int64_t before = mt_clock_now_ns();
    for (size_t i = 0; i < self->job_tell_count; i++) self->strategy->tell(self->state, self->job_tells[i].point, self->job_tells[i].time_ns);
    self->job_count = self->strategy->ask(self->state, self->job_points, self->job_wanted);
    self->job_outlook = self->strategy->outlook ? self->strategy->outlook(self->state) : NAN;
    for (size_t i = 0; i < self->job_count; i++)
        self->job_arms[i] = self->strategy->arm_of ? self->strategy->arm_of(self->state, self->job_points[i]) : self->strategy->name;
    self->job_ns = mt_clock_now_ns() - before;
}

static void take_over(mt_search *self)
{
    for (size_t i = 0; i < self->job_count; i++) self->points[i] = self->job_points[i], self->arms[i] = self->job_arms[i];
    self->at = 0;
    self->count = self->job_count;
    self->spent_ns += self->job_ns;
    self->outlook = self->job_outlook;
    self->is_busy = false;
    self->is_dry = self->job_count == 0 && self->tell_count == 0;
    mt_free(self->job_tells);
    self->job_tells = NULL;
}

static void on_thought(uv_work_t *work, int status)
{
    mt_search *self = work->data;
    (void)status; /* it is never cancelled */
    take_over(self);
    self->woken(self->context);
}

static void begin_job(mt_search *self, size_t wanted)
{
    self->job_tells = self->tells;
    self->job_tell_count = self->tell_count;
    self->job_wanted = wanted < BATCH ? wanted : BATCH;
    self->tells = NULL;
    self->tell_count = self->tell_capacity = 0;
    self->is_busy = true;
    if (uv_queue_work(self->loop, &self->work, think, on_thought) == 0) return;
    think(&self->work); /* without the pool the loop waits */
    take_over(self);
}

mt_search_answer mt_search_next(mt_search *self, size_t wanted, size_t *point, const char **arm)
{
    assert(wanted > 0);
    if (self->at == self->count && !self->is_busy && !self->is_dry) begin_job(self, wanted);
    if (self->at < self->count) {
        *arm = self->arms[self->at];
        *point = self->points[self->at++];
        return MT_SEARCH_POINT;
    }
    return self->is_busy ? MT_SEARCH_BUSY : MT_SEARCH_DRY;
}

bool mt_search_is_busy(const mt_search *self)
{
    return self->is_busy;
}

double mt_search_outlook(const mt_search *self)
{
    return self->outlook;
}

int64_t mt_search_spent_ns(const mt_search *self)
{
    return self->spent_ns;
}

static void sleep_on(void *context)
{
    (void)context;
}

void mt_search_destroy(mt_search *self)
{
    if (!self) return;
    self->woken = sleep_on; /* whom it would wake is going away */
    while (self->is_busy) uv_run(self->loop, UV_RUN_ONCE);
    self->strategy->destroy(self->state);
    mt_free(self->tells);
    mt_free(self);
}
