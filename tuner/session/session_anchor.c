/* The anchor of a subject: one variant that is timed again at intervals. The kernel is the same, so what moves is the machine. */
#include <math.h>

#include "tuner/base/clock.h"
#include "tuner/session/session_internal.h"

enum { EVERY_EVALUATIONS = 50 };
static const int64_t every_ns = 30000000000;

bool mt_anchor_is_due(const mt_session *session, const mt_anchor *anchor)
{
    if (!session->evaluator->can_retime || anchor->index == MT_NO_POINT || anchor->state != MT_ANCHOR_RESTS || anchor->since == 0) return false;
    return isnan(anchor->first_ns) || anchor->since >= EVERY_EVALUATIONS || mt_clock_now_ns() - anchor->last_at_ns >= every_ns;
}

mt_method mt_anchor_method(const mt_anchor *anchor)
{
    return mt_method_of(isnan(anchor->first_ns) ? 0 : anchor->batch);
}

double mt_anchor_moved(double low_ns, double high_ns, double later_low_ns, double later_high_ns)
{
    if (later_low_ns > high_ns) return later_low_ns / high_ns - 1;
    return later_high_ns < low_ns ? 1 - later_high_ns / low_ns : 0;
}

mt_status mt_anchor_note(mt_session *session, const mt_subject *subject, mt_anchor *anchor, const char *variant, const mt_outcome *outcome, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_status st = mt_store_anchor(session->store, session->id, subject, variant, outcome, err);
    session->times.database_ns += mt_clock_now_ns() - before;
    anchor->last_at_ns = mt_clock_now_ns();
    anchor->since = 0;
    anchor->state = MT_ANCHOR_RESTS;
    const mt_timing *timing = &outcome->timing;
    if (isnan(anchor->first_ns)) {
        anchor->first_ns = timing->median_ns;
        anchor->first_low_ns = timing->low_ns;
        anchor->first_high_ns = timing->high_ns;
        anchor->batch = timing->batch;
        return st;
    }
    if ((timing->batch > 1) != (anchor->batch > 1)) return st; /* the graph could not be made this time: what differs is the method */
    double moved = mt_anchor_moved(anchor->first_low_ns, anchor->first_high_ns, timing->low_ns, timing->high_ns);
    if (!(session->drift >= moved)) session->drift = moved; /* also when there was none */
    return st;
}
