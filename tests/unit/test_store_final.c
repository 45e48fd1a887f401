/* Near-ties, finals and drift references. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/sound_fixture.h"

typedef struct near_ties {
    mt_finalist_row rows[16];
    char text[256];
    size_t count;
    size_t round_count; /* of the finalists read */
    double round_sum;
} near_ties;

static mt_status see_near_tie(void *context, const mt_near_tie *row, mt_error *err)
{
    near_ties *all = context;
    (void)err;
    ck_assert_int_eq(row->smem_bytes, 65536);
    ck_assert_int_eq(row->cluster, 2);
    strcat(strcat(all->text, row->variant), " ");
    all->rows[all->count++] = (mt_finalist_row){.measurement = row->measurement, .median_ns = row->median_ns + 1, .low_ns = 1, .high_ns = 20000, .ratio = 1,
                                                .ratio_low = 0.99, .ratio_high = 1.01, .is_tied = true};
    return MT_OK;
}

static mt_status see_finalist(void *context, const mt_finalist_row *row, mt_error *err)
{
    near_ties *all = context;
    (void)err;
    for (size_t i = 0; i < row->round_count; i++) all->round_sum += (double)row->round_ns[i];
    all->round_count += row->round_count;
    strcat(strcat(strcat(all->text, row->variant), row->is_tied ? "=" : "<"), row->is_picked ? "! " : " ");
    return MT_OK;
}

static mt_status see_best_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    mt_measurement_row *copy = context;
    (void)err;
    *copy = *row;
    copy->variant = NULL;
    return MT_OK;
}

static int64_t current_final(mt_store *store, const mt_subject *s)
{
    int64_t final;
    ck_ok(mt_store_final_current(store, s, NULL, &final, &fixture_err));
    return final;
}

/* A final decides as long as it covers the near-ties of now; its pick and figures are the winner's. */
START_TEST(finals)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    near_ties all = {0}, read = {0};
    mt_measurement_row best = {0};
    ck_assert_int_eq(current_final(store, &s), 0);
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &all, &fixture_err));
    fixture_put_ok(store, session, &s, "A=1", 1000);
    fixture_put_ok(store, session, &s, "A=2", 1010);
    fixture_put_ok(store, session, &s, "A=3", 1029);
    fixture_put_ok(store, session, &s, "A=4", 1031);
    mt_outcome censored = fixture_outcome(MT_OUTCOME_CENSORED, 1001);
    fixture_put(store, session, &s, "A=5", &censored);
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &all, &fixture_err));
    ck_assert_str_eq(all.text, "A=1 A=2 A=3 ");
    all.rows[1].is_picked = true;
    all.rows[2].is_tied = false;
    const float rounds[] = {1, 2, 3};
    all.rows[0].round_ns = rounds;
    mt_final_row final = {.method = "interleaved", .rounds = 3, .confidence = 0.95};
    ck_ok(mt_store_final(store, session, &s, &final, all.rows, all.count, &fixture_err));
    ck_assert_int_eq(current_final(store, &s), 1);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(mt_query_best(store, NULL, see_best_row, &best, &fixture_err));
    ck_assert_int_eq(best.final_id, 1);
    ck_assert_int_eq(best.tied_count, 2);
    ck_assert(best.outcome.timing.median_ns == 1011 && best.outcome.timing.low_ns == 1 && best.outcome.timing.high_ns == 20000);
    /* What the lookup is told is the final's figure, not that of the winner's row. */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM answer a JOIN measurement m ON m.id = a.measurement_id WHERE a.median_ns = 1011 AND a.low_ns = 1 AND a.high_ns = 20000 "
                                    "AND m.median_ns = 1010"), 1);
    ck_ok(mt_query_finalists(store, best.final_id, see_finalist, &read, &fixture_err));
    ck_assert_str_eq(read.text, "A=1= A=2=! A=3< ");
    ck_assert(read.round_count == 3 && read.round_sum == 6); /* of the one that has rounds */
    fixture_sql("UPDATE finalist SET round_ns = x'00'"); /* damaged: as good as none */
    read = (near_ties){0};
    ck_ok(mt_query_finalists(store, best.final_id, see_finalist, &read, &fixture_err));
    ck_assert_uint_eq(read.round_count, 0);
    fixture_put_ok(store, session, &s, "A=6", 1500); /* no near-tie: the final stands */
    ck_assert_int_eq(current_final(store, &s), 1);
    fixture_put_ok(store, session, &s, "A=7", 1005); /* one that it did not see */
    ck_assert_int_eq(current_final(store, &s), 0);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM best b JOIN measurement m ON m.id = b.measurement_id WHERE b.final_id IS NULL AND m.median_ns = 1000"), 1);
    mt_outcome crashed = fixture_outcome(MT_OUTCOME_CRASHED, 0);
    fixture_put(store, session, &s, "A=7", &crashed);
    ck_assert_int_eq(current_final(store, &s), 1);
    fixture_put(store, session, &s, "A=2", &crashed); /* the pick itself */
    ck_assert_int_eq(current_final(store, &s), 0);
    for (int i = 10; i < 20; i++) {
        char variant[16];
        snprintf(variant, sizeof variant, "A=%d", i);
        fixture_put_ok(store, session, &s, variant, 900);
    }
    near_ties most = {0};
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &most, &fixture_err));
    ck_assert_str_eq(most.text, "A=10 A=11 A=12 A=13 A=14 A=15 A=16 A=17 ");
    mt_store_close(store);
}
END_TEST

static mt_status see_fastest(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s %.0f%s ", row->variant, row->outcome.timing.median_ns, row->tied_count ? "!" : "");
    return MT_OK;
}

/* The pick comes first though another took less, finalists with the final's figures; then the others. What did not pass, or did not with its newest row, and yardsticks are left out. */
START_TEST(the_fastest)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    near_ties all = {0};
    char three[256] = "", every[256] = "";
    mt_outcome crashed = fixture_outcome(MT_OUTCOME_CRASHED, 0), yardstick = fixture_outcome(MT_OUTCOME_YARDSTICK, 500);
    fixture_put_ok(store, session, &s, "A=5", 900);
    fixture_put(store, session, &s, "A=5", &crashed);
    fixture_put(store, session, &s, "A=6", &yardstick);
    fixture_put_ok(store, session, &s, "A=4", 1500);
    fixture_put_ok(store, session, &s, "A=3", 2000);
    fixture_put_ok(store, session, &s, "A=3", 1200);
    fixture_put_ok(store, session, &s, "A=1", 1000);
    fixture_put_ok(store, session, &s, "A=2", 1010);
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &all, &fixture_err));
    all.rows[1].is_picked = true;
    mt_final_row final = {.method = "intervals", .rounds = 0, .confidence = 0.95};
    ck_ok(mt_store_final(store, session, &s, &final, all.rows, all.count, &fixture_err));
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(mt_query_fastest(store, NULL, 3, see_fastest, three, &fixture_err));
    ck_assert_str_eq(three, "A=2 1011! A=1 1001 A=3 1200 ");
    ck_ok(mt_query_fastest(store, NULL, 100, see_fastest, every, &fixture_err));
    ck_assert_str_eq(every, "A=2 1011! A=1 1001 A=3 1200 A=4 1500 ");
    const mt_filter other = {.shape = "other"};
    every[0] = '\0';
    ck_ok(mt_query_fastest(store, &other, 100, see_fastest, every, &fixture_err));
    ck_assert_str_eq(every, "");
    mt_store_close(store);
}
END_TEST

/* For energy the fastest are finalists however far apart; such a final is not one for time, and its pick and energies are kept. */
START_TEST(finals_for_energy)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store), final;
    near_ties all = {0}, time = {0};
    mt_measurement_row best = {0};
    const mt_objective by_time = MT_OBJECTIVE_TIME, by_energy = MT_OBJECTIVE_ENERGY;
    fixture_put_ok(store, session, &s, "A=1", 1000);
    fixture_put_ok(store, session, &s, "A=2", 1500);
    fixture_put_ok(store, session, &s, "A=3", 9000);
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &time, &fixture_err));
    ck_assert_str_eq(time.text, "A=1 ");
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_EDP, see_near_tie, &all, &fixture_err));
    ck_assert_str_eq(all.text, "A=1 A=2 A=3 ");
    all.rows[1].is_picked = true;
    all.rows[1].energy = (mt_energy){.source = MT_ENERGY_COUNTER, .run_uj = 250.5, .error_uj = 1.5, .power_w = 400, .loop_ms = 2000, .period_ms = 100, .runs = 3000};
    mt_final_row row = {.method = "interleaved", .rounds = 12, .confidence = 0.95, .objective = MT_OBJECTIVE_ENERGY};
    ck_ok(mt_store_final(store, session, &s, &row, all.rows, all.count, &fixture_err));
    ck_ok(mt_store_final_current(store, &s, &by_energy, &final, &fixture_err));
    ck_assert_int_eq(final, 1);
    ck_ok(mt_store_final_current(store, &s, &by_time, &final, &fixture_err));
    ck_assert_int_eq(final, 0);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(mt_query_best(store, NULL, see_best_row, &best, &fixture_err));
    const mt_energy *energy = &best.outcome.energy;
    ck_assert(best.objective == MT_OBJECTIVE_ENERGY && energy->source == MT_ENERGY_COUNTER && energy->run_uj == 250.5 && energy->error_uj == 1.5);
    ck_assert(energy->power_w == 400 && energy->loop_ms == 2000 && energy->period_ms == 100 && energy->runs == 3000);
    fixture_put_ok(store, session, &s, "A=4", 20000); /* among the eight fastest: it might take less energy */
    ck_ok(mt_store_final_current(store, &s, &by_energy, &final, &fixture_err));
    ck_assert_int_eq(final, 0);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

/* A row timed by events holds launch latency: beside a best that was timed in graphs it is nearer than it looks. */
START_TEST(methods_are_compared_fairly)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    near_ties graphs = {0}, events = {0};
    mt_outcome by_events = fixture_outcome(MT_OUTCOME_OK, 12500);
    by_events.timing.batch = 1;
    fixture_put_ok(store, session, &s, "A=1", 9800); /* in graphs */
    fixture_put(store, session, &s, "A=2", &by_events);
    fixture_put_ok(store, session, &s, "A=3", 12400);
    by_events = fixture_outcome(MT_OUTCOME_OK, 13500);
    by_events.timing.batch = 1;
    fixture_put(store, session, &s, "A=4", &by_events);
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &graphs, &fixture_err));
    ck_assert_str_eq(graphs.text, "A=1 A=2 ");
    /* The final times both in graphs: so was the winner's time, whatever its own row says. */
    mt_measurement_row best = {0};
    mt_final_row final = {.method = "interleaved", .rounds = 3, .confidence = 0.95};
    graphs.rows[1].is_picked = true;
    ck_ok(mt_store_final(store, session, &s, &final, graphs.rows, graphs.count, &fixture_err));
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(mt_query_best(store, NULL, see_best_row, &best, &fixture_err));
    ck_assert(best.outcome.timing.median_ns == 12501 && best.outcome.timing.batch > 1);
    by_events = fixture_outcome(MT_OUTCOME_OK, 9700);
    by_events.timing.batch = 1;
    fixture_put(store, session, &s, "A=5", &by_events); /* the best is by events too: nothing is taken off */
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, see_near_tie, &events, &fixture_err));
    ck_assert_str_eq(events.text, "A=5 A=1 ");
    mt_store_close(store);
}
END_TEST

/* Rounds of a final run side by side. The host goes down once, whatever ran there how often. */
START_TEST(a_variant_on_two_gpus)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store), left_behind = 0;
    mt_intent first = {.subject = &s, .variant = "A=1", .boot_id = "boot-1", .worker_pid = 5}, second = {.subject = &s, .variant = "A=1", .boot_id = "boot-1", .worker_pid = 6};
    mt_intent other = {.subject = &s, .variant = "A=2", .boot_id = "boot-1", .worker_pid = 7};
    ck_ok(mt_store_next_intent(store, session, NULL, &first, &fixture_err));
    ck_ok(mt_store_next_intent(store, session, NULL, &second, &fixture_err));
    ck_ok(mt_store_next_intent(store, session, NULL, &other, &fixture_err));
    ck_ok(mt_store_next_intent(store, session, &first, NULL, &fixture_err)); /* one ends: the other is still named */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent i JOIN variant v ON v.id = i.variant_id WHERE v.text = 'A=1'"), 1);
    ck_ok(mt_store_next_intent(store, session, NULL, &first, &fixture_err));
    ck_ok(mt_store_settle_intents(store, s.device, s.origin, "boot-2", &left_behind, &fixture_err));
    ck_assert_int_eq(left_behind, 3);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM strike WHERE cause = 'host_down'"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(DISTINCT variant_id) FROM strike"), 2);
    mt_store_close(store);
}
END_TEST

START_TEST(drift_references_and_their_intents)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 1000);
    mt_intent one = {.subject = &s, .variant = "A=1", .boot_id = "boot-1", .worker_pid = 5}, two = {.subject = &s, .variant = "A=2", .boot_id = "boot-1"};
    ck_ok(mt_store_next_intent(store, session, NULL, &one, &fixture_err));
    ck_ok(mt_store_next_intent(store, session, &one, &two, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent i JOIN variant v ON v.id = i.variant_id WHERE v.text = 'A=2'"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 1);
    ck_ok(mt_store_next_intent(store, session, &two, NULL, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 0);
    ck_ok(mt_store_drift(store, session, &s, "A=1", &outcome, &fixture_err));
    ck_ok(mt_store_drift(store, session, &s, "A=1", &outcome, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM anchor WHERE median_ns = 1000 AND sample_count = 3"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 0);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("store_final", finals, the_fastest, finals_for_energy, methods_are_compared_fairly, a_variant_on_two_gpus, drift_references_and_their_intents)
