/* The drift reference of a subject: one variant that is timed again at intervals. The kernel is the same, so what moves is the machine. */
#include <math.h>

#include "tuner/base/clock.h"
#include "tuner/session/session_internal.h"

enum { EVERY_EVALUATIONS = 50 };
static const int64_t every_ns = 30000000000;

bool mt_drift_is_due(const mt_session *session, const mt_drift_reference *reference)
{
    if (!session->evaluator->can_retime || reference->index == MT_NO_POINT || reference->state != MT_DRIFT_RESTS || reference->since == 0) return false;
    return isnan(reference->first_ns) || reference->since >= EVERY_EVALUATIONS || mt_clock_now_ns() - reference->last_at_ns >= every_ns;
}

mt_method mt_drift_method(const mt_drift_reference *reference)
{
    return mt_method_of(isnan(reference->first_ns) ? 0 : reference->batch);
}

double mt_drift_moved(double low_ns, double high_ns, double later_low_ns, double later_high_ns)
{
    if (later_low_ns > high_ns) return later_low_ns / high_ns - 1;
    return later_high_ns < low_ns ? 1 - later_high_ns / low_ns : 0;
}

mt_status mt_drift_note(mt_session *session, const mt_subject *subject, mt_drift_reference *reference, const char *variant, const mt_outcome *outcome, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_status st = mt_store_drift(session->store, session->id, subject, variant, outcome, err);
    session->times.database_ns += mt_clock_now_ns() - before;
    reference->last_at_ns = mt_clock_now_ns();
    reference->since = 0;
    reference->state = MT_DRIFT_RESTS;
    const mt_timing *timing = &outcome->timing;
    if (isnan(reference->first_ns)) {
        reference->first_ns = timing->median_ns;
        reference->first_low_ns = timing->low_ns;
        reference->first_high_ns = timing->high_ns;
        reference->batch = timing->batch;
        return st;
    }
    if ((timing->batch > 1) != (reference->batch > 1)) return st; /* the graph could not be made this time: what differs is the method */
    double moved = mt_drift_moved(reference->first_low_ns, reference->first_high_ns, timing->low_ns, timing->high_ns);
    if (!(session->drift >= moved)) session->drift = moved; /* also when there was none */
    return st;
}
