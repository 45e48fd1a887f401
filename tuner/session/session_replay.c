/* What the database knows goes to the strategy as in a run that nobody interrupted: the strategy is asked anew, and a point that is known gets its stored cost at once instead of an
 * evaluation. At the first point that is not known the interrupted run is caught up with; what is known besides (of other seeds, strategies, imports) is then told in one go. So is
 * everything when catching up takes too long: a search that is killed again and again gets on in between. */
#include <math.h>

#include "tuner/base/clock.h"
#include "tuner/session/session_run.h"

#define CATCH_UP_NS INT64_C(4000000000)

/* In `seen`: 1 + its place in the history, for a known point whose cost the strategy still has to learn. */
enum { LEARNT = 0 };

mt_status mt_run_note_known(mt_run *run, size_t place, mt_error *err)
{
    if (!mt_index_map_put(&run->seen, run->history.known[place].index, run->search ? place + 1 : LEARNT)) return mt_no_memory("session", err);
    run->untold += run->search != NULL;
    return MT_OK;
}

static mt_status tell(mt_run *run, const mt_known *known, mt_error *err)
{
    if (!mt_index_map_put(&run->seen, known->index, LEARNT)) return mt_no_memory("session", err);
    run->untold--;
    return mt_search_tell(run->search, known->index, mt_run_cost(run, known->kind, known->median_ns, known->norm_error), err);
}

static mt_status tell_rest(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < run->history.known_count && run->untold > 0 && st == MT_OK; i++) {
        size_t mark;
        const mt_known *known = &run->history.known[i];
        if (mt_index_map_get(&run->seen, known->index, &mark) && mark == i + 1) st = tell(run, known, err);
    }
    return st;
}

/* Why a point comes before the strategy's. */
static const char *reason_of(const mt_run *run, size_t index)
{
    mt_point point;
    if (index == run->default_index) return "default";
    if (index == run->baseline_index) return "baseline";
    mt_space_at(run->space, index, &point);
    return mt_space_spec(run->space)->algorithms[point.level[0]].is_yardstick ? "yardstick" : "lookup";
}

/* What a person compares with comes first, then what the strategy asks for. */
static mt_search_answer next_asked(mt_run *run, size_t *index, const char **by)
{
    size_t learnt = run->summary->evaluated - run->untold;
    size_t left = run->total - learnt - run->under_way, room = run->session->evaluator->ops->capacity(run->session->evaluator) - run->under_way;
    if (run->first_count == 0) return mt_search_next(run->search, left < room ? left : room, index, by);
    *index = run->first[0];
    *by = reason_of(run, *index);
    run->first_count--;
    for (size_t i = 0; i < run->first_count; i++) run->first[i] = run->first[i + 1];
    return MT_SEARCH_POINT;
}

static bool takes_too_long(mt_run *run)
{
    int64_t now_ns = mt_clock_now_ns();
    if (run->catching_up_ns == 0) run->catching_up_ns = now_ns;
    return run->untold > 0 && now_ns - run->catching_up_ns > CATCH_UP_NS;
}

mt_status mt_run_next_searched(mt_run *run, size_t *index, const char **by, bool *found, mt_error *err)
{
    mt_status st = MT_OK;
    *found = false;
    while (st == MT_OK && !*found) {
        size_t mark = LEARNT;
        if (takes_too_long(run)) st = tell_rest(run, err);
        mt_search_answer answer = next_asked(run, index, by);
        bool is_seen = answer == MT_SEARCH_POINT && mt_index_map_get(&run->seen, *index, &mark);
        if (answer == MT_SEARCH_BUSY || (answer == MT_SEARCH_DRY && run->untold == 0)) break;
        if (is_seen && mark != LEARNT) st = tell(run, &run->history.known[mark - 1], err);
        if (is_seen) continue;
        st = tell_rest(run, err);
        *found = answer == MT_SEARCH_POINT;
    }
    return st;
}
