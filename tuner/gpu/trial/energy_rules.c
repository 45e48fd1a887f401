#include "tuner/gpu/trial/energy_rules.h"

/* NVIDIA's word for older GPUs, and no better one is given for newer. */
static const double power_accuracy = 0.05;

void mt_energy_meter_begin(mt_energy_meter *meter, mt_energy_source source)
{
    *meter = (mt_energy_meter){.source = source};
}

static void note_step(mt_energy_meter *meter, int64_t now_ns, double reading)
{
    meter->last_step_ns = now_ns;
    meter->last_gap_ns = now_ns - meter->asked_ns;
    meter->last_mj = reading;
    if (meter->steps++ > 0) return;
    meter->first_step_ns = now_ns;
    meter->first_gap_ns = meter->last_gap_ns;
    meter->first_mj = reading;
}

void mt_energy_meter_poll(mt_energy_meter *meter, int64_t asked_ns, int64_t now_ns, double reading)
{
    bool is_first = meter->polled_ns == 0;
    if (is_first) meter->start_ns = now_ns;
    if (!is_first && reading != meter->value) note_step(meter, now_ns, reading);
    if (!is_first) meter->power_sum += reading * (double)(now_ns - meter->polled_ns);
    meter->value = reading;
    meter->asked_ns = asked_ns;
    meter->polled_ns = now_ns;
}

bool mt_energy_meter_is_stuck(const mt_energy_meter *meter, int64_t least_ns)
{
    int64_t since_ns = meter->steps ? meter->last_step_ns : meter->start_ns;
    return meter->source == MT_ENERGY_COUNTER && meter->polled_ns - since_ns > MT_ENERGY_PATIENCE * least_ns;
}

bool mt_energy_meter_is_done(const mt_energy_meter *meter, int64_t least_ns)
{
    if (meter->source == MT_ENERGY_POWER) return meter->polled_ns - meter->start_ns >= least_ns;
    return meter->steps > MT_ENERGY_STEPS && meter->last_step_ns - meter->first_step_ns >= least_ns;
}

mt_energy mt_energy_meter_result(const mt_energy_meter *meter, uint64_t runs, int64_t loop_ns)
{
    static const double mj_per_ns_in_w = 1e6;
    double power_w = 0, accuracy = power_accuracy;
    double between_ns = (double)(meter->last_step_ns - meter->first_step_ns), watched_ns = (double)(meter->polled_ns - meter->start_ns);
    if (meter->source == MT_ENERGY_COUNTER && meter->steps > 1 && between_ns > 0) {
        power_w = (meter->last_mj - meter->first_mj) / between_ns * mj_per_ns_in_w;
        accuracy = (double)(meter->first_gap_ns + meter->last_gap_ns) / between_ns;
    } else if (meter->source == MT_ENERGY_POWER && watched_ns > 0) {
        power_w = meter->power_sum / watched_ns / 1e3;
    }
    if (!(power_w > 0) || runs == 0 || loop_ns <= 0) return (mt_energy){0};
    double run_uj = power_w * (double)loop_ns / (double)runs / 1e3; /* W · ns = nJ */
    return (mt_energy){
        .source = meter->source,
        .run_uj = run_uj,
        .error_uj = run_uj * accuracy,
        .power_w = power_w,
        .loop_ms = (double)loop_ns / 1e6,
        .period_ms = meter->steps > 1 ? between_ns / (double)(meter->steps - 1) / 1e6 : 0,
        .runs = runs,
    };
}

mt_energy_plan mt_energy_plan_make(mt_l2 l2, double run_ns, uint64_t set_bytes, uint64_t l2_bytes)
{
    static const double graph_ns = 1e6; /* long against the gap between two graphs */
    enum { MOST = 4096 };
    uint64_t wanted_bytes = 3 * (l2_bytes > 0 ? l2_bytes : (uint64_t)128 << 20);
    uint64_t sets = set_bytes > 0 ? (wanted_bytes + set_bytes - 1) / set_bytes : MOST;
    if (l2 == MT_L2_WARM || sets < 1) sets = 1;
    if (sets > MOST) sets = MOST;
    uint64_t runs = run_ns > 0 && graph_ns / run_ns < MOST ? (uint64_t)(graph_ns / run_ns) : MOST;
    if (runs < 1) runs = 1;
    runs = (runs + sets - 1) / sets * sets;
    return (mt_energy_plan){(uint32_t)sets, (uint32_t)runs};
}
