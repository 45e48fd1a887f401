/* From a counter that steps to energy: no device. */
#include <math.h>

#include "tests/unit/unit.h"
#include "tuner/gpu/trial/energy_rules.h"

static const int64_t ms = 1000000;

/* A counter at `watts` that steps every period, polled every 100 µs for 3 s from an odd moment on. */
static mt_energy_meter watch(double watts, int64_t period_ns, int64_t least_ns)
{
    mt_energy_meter meter;
    mt_energy_meter_begin(&meter, MT_ENERGY_COUNTER);
    for (int64_t now = 7 * ms + 13; now < 3000 * ms; now += ms / 10) {
        int64_t told = period_ns ? now / period_ns * period_ns : 0;
        mt_energy_meter_poll(&meter, now, now, floor((double)told * watts / 1e6));
        if (mt_energy_meter_is_done(&meter, least_ns) || mt_energy_meter_is_stuck(&meter, least_ns)) break;
    }
    return meter;
}

/* Between two steps the power is known to a few polls, however slow the counter is. */
START_TEST(power_between_steps)
{
    const int64_t periods[] = {ms, 20 * ms, 100 * ms};
    for (size_t i = 0; i < 3; i++) {
        mt_energy_meter meter = watch(437, periods[i], 500 * ms);
        ck_assert(mt_energy_meter_is_done(&meter, 500 * ms) && !mt_energy_meter_is_stuck(&meter, 500 * ms));
        ck_assert_int_ge(meter.steps, MT_ENERGY_STEPS);
        mt_energy energy = mt_energy_meter_result(&meter, 1000, 600 * ms); /* 0.6 ms each */
        ck_assert_double_eq_tol(energy.power_w, 437, 0.3);
        ck_assert_double_eq_tol(energy.run_uj, 437 * 600, 200);
        ck_assert_double_eq_tol(energy.period_ms, (double)periods[i] / 1e6, 0.01 * (double)periods[i] / 1e6 + 0.01);
        ck_assert(energy.error_uj > 0 && energy.error_uj < 0.001 * energy.run_uj);
        ck_assert(fabs(energy.run_uj - 437 * 600) <= energy.error_uj);
        ck_assert(energy.source == MT_ENERGY_COUNTER && energy.runs == 1000 && energy.loop_ms == 600);
    }
}
END_TEST

/* Some polls are held up between the reading and the clock: the error says what that costs. */
START_TEST(held_up)
{
    for (int held = 0; held < 40; held++) {
        mt_energy_meter meter;
        mt_energy_meter_begin(&meter, MT_ENERGY_COUNTER);
        int64_t now = 7 * ms;
        for (int poll = 0; !mt_energy_meter_is_done(&meter, 60 * ms); poll++) {
            int64_t asked = now;
            now += poll % 40 == held ? 5 * ms : ms / 100;
            mt_energy_meter_poll(&meter, asked, now, floor((double)(asked / (2 * ms) * 2 * ms) * 437 / 1e6));
            now += ms / 10;
        }
        mt_energy energy = mt_energy_meter_result(&meter, 1000, 60 * ms);
        ck_assert_msg(fabs(energy.run_uj - 437 * 60) <= energy.error_uj + 1, "%g ± %g", energy.run_uj, energy.error_uj);
    }
}
END_TEST

START_TEST(a_counter_that_never_moves)
{
    mt_energy_meter meter = watch(437, 0, 50 * ms);
    ck_assert(mt_energy_meter_is_stuck(&meter, 50 * ms) && !mt_energy_meter_is_done(&meter, 50 * ms));
    ck_assert_int_eq(mt_energy_meter_result(&meter, 1000, 600 * ms).source, MT_ENERGY_NONE);
    ck_assert_int_lt(meter.polled_ns, 210 * ms);
    mt_energy_meter_begin(&meter, MT_ENERGY_COUNTER);
    mt_energy_meter_poll(&meter, 5, 5, 1); /* one step is no distance */
    mt_energy_meter_poll(&meter, 50, 50, 2);
    ck_assert_int_eq(mt_energy_meter_result(&meter, 10, 600).source, MT_ENERGY_NONE);
}
END_TEST

START_TEST(power_readings)
{
    mt_energy_meter meter;
    mt_energy_meter_begin(&meter, MT_ENERGY_POWER);
    for (int64_t now = ms; now <= 101 * ms; now += ms) mt_energy_meter_poll(&meter, now, now, now <= 51 * ms ? 200e3 : 300e3); /* mW */
    ck_assert(mt_energy_meter_is_done(&meter, 100 * ms) && !mt_energy_meter_is_done(&meter, 101 * ms) && !mt_energy_meter_is_stuck(&meter, ms));
    mt_energy energy = mt_energy_meter_result(&meter, 100, 100 * ms);
    ck_assert_double_eq_tol(energy.power_w, 250, 1e-6);
    ck_assert_double_eq_tol(energy.run_uj, 250e3, 1);
    ck_assert_double_eq_tol(energy.error_uj, 0.05 * 250e3, 1);
    ck_assert_int_eq(mt_energy_meter_result(&meter, 0, 100 * ms).source, MT_ENERGY_NONE);
}
END_TEST

START_TEST(loops)
{
    const uint64_t l2 = 50 << 20;
    mt_energy_plan plan = mt_energy_plan_make(MT_L2_COLD, 10e3, 10 << 20, l2);
    ck_assert(plan.sets == 15 && plan.runs == 105);
    plan = mt_energy_plan_make(MT_L2_COLD, 500e3, 200 << 20, l2); /* its own data do not fit */
    ck_assert(plan.sets == 1 && plan.runs == 2);
    plan = mt_energy_plan_make(MT_L2_COLD, 1e9, 80 << 20, l2);
    ck_assert(plan.sets == 2 && plan.runs == 2);
    plan = mt_energy_plan_make(MT_L2_COLD, 2e3, 4096, l2); /* as cold as so many copies make it */
    ck_assert(plan.sets == 4096 && plan.runs == 4096);
    plan = mt_energy_plan_make(MT_L2_WARM, 10e3, 10 << 20, l2);
    ck_assert(plan.sets == 1 && plan.runs == 100);
    plan = mt_energy_plan_make(MT_L2_WARM, 0, 0, 0);
    ck_assert(plan.sets == 1 && plan.runs == 4096);
}
END_TEST

UNIT_MAIN("energy_rules", power_between_steps, held_up, a_counter_that_never_moves, power_readings, loops)
