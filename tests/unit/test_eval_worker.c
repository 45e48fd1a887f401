/* The coordinator's half of the worker evaluator, against scripted workers: deadlines, deaths, restarts. */
#include "tests/unit/eval_worker_fixture.h"

START_TEST(all_is_well)
{
    mt_error err = {0};
    set_up("a, b, c, d");
    begin();
    ck_assert_str_eq(evaluator->arch, "sm_90a");
    ck_assert_int_eq(evaluator->facts.nvrtc_version, 13000);
    ck_assert_int_eq(evaluator->facts.sm_count, 132);
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < 4; i++) {
        expect(i, MT_OUTCOME_OK, NULL);
        ck_assert_uint_eq(outcomes[i].resources.registers, 32); /* the device's word */
        ck_assert_uint_eq(outcomes[i].resources.spill_bytes, 12); /* ptxas's */
        ck_assert_int_eq(outcomes[i].compile_ns, 1000);
        ck_assert_int_ge(outcomes[i].wait_ns, 0);
        ck_assert_uint_eq(strlen(outcomes[i].cubin.hex), 32);
    }
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 0);
    free_all();
    tear_down();
}
END_TEST

START_TEST(every_bad_end)
{
    mt_error err = {0};
    set_up("ok, crash, hang, fault, wrong, quit, garbage, linger, compile_error, also_ok");
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL);
    expect(1, MT_OUTCOME_CRASHED, "SIGSEGV in stage validate");
    expect(1, MT_OUTCOME_CRASHED, "about to ?[31mfall"); /* its last words, harmless */
    expect(2, MT_OUTCOME_TIMEOUT, "within " SECONDS(VARIANT_S) ", in stage time");
    expect(3, MT_OUTCOME_GPU_FAULT, NULL);
    expect(4, MT_OUTCOME_WRONG_RESULT, NULL);
    expect(5, MT_OUTCOME_CRASHED, "exit code 7");
    expect(6, MT_OUTCOME_CRASHED, "broke the protocol");
    expect(7, MT_OUTCOME_GPU_FAULT, NULL);
    expect(8, MT_OUTCOME_COMPILE_ERROR, "no such thing");
    expect(9, MT_OUTCOME_OK, NULL);
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 6);
    free_all();
    tear_down();
}
END_TEST

/* Unless the user has words of his own for glibc. */
START_TEST(compilers_have_huge_pages)
{
    static const char own[] = "glibc.malloc.check=0";
    mt_error err = {0};
    ck_assert_int_eq(_i ? setenv("GLIBC_TUNABLES", own, 1) : unsetenv("GLIBC_TUNABLES"), 0);
    set_up("roomy, ok");
    if (_i) env[0] = "SCRIPT_TUNABLES=glibc.malloc.check=0";
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL);
    free_all();
    tear_down();
}
END_TEST

START_TEST(one_restart_each)
{
    static const char *const ways[] = {"crash", "hang", "fault", "linger", "garbage"};
    mt_error err = {0};
    char values[64];
    snprintf(values, sizeof values, "ok, %s, fine", ways[_i]);
    set_up(values);
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL);
    expect(2, MT_OUTCOME_OK, NULL);
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 1);
    free_all();
    tear_down();
}
END_TEST

/* After a fault the suspect is run once more, alone in a fresh worker; what ran first in its worker was alone. */
START_TEST(attribution_is_exact)
{
    mt_error err = {0};
    set_up("fault, ok, linger, fine, damaged, also_ok");
    options.jobs = 1; /* in this order */
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_GPU_FAULT, "alone: nothing else had run");
    expect(2, MT_OUTCOME_GPU_FAULT, "alone: same fault");
    expect(4, MT_OUTCOME_GPU_FAULT, "not reproduced alone: ended as ok");
    ck_assert_int_eq(outcomes[0].guilt, MT_GUILT_SHOWN);
    ck_assert_int_eq(outcomes[2].guilt, MT_GUILT_SHOWN);
    ck_assert_int_eq(outcomes[4].guilt, MT_GUILT_NOT_REPRODUCED);
    for (size_t i = 1; i < 6; i += 2) expect(i, MT_OUTCOME_OK, NULL);
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 3); /* incidents; the replay belongs to its fault */
    free_all();
    tear_down();
}
END_TEST

/* Two starts, the second of which began when the first was over, and both within the incident: it waited for one after the other. */
static bool has_two_in_a_row(const note *incident, const note *starts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            bool is_after = starts[j].start_ms >= starts[i].end_ms;
            if (starts[i].end_ms > incident->start_ms && is_after && starts[j].end_ms <= incident->end_ms) return true;
        }
    }
    return false;
}

/* A reserve takes over, and what is needed after it starts at once: a fault, its replay and a hang each cost one start of a worker at most, not one after the other.
 * What comes next waits until nothing of ours starts or is torn down beside it. */
START_TEST(no_two_starts_in_a_row)
{
    enum { MOST = 32 };
    mt_error err = {0};
    note incidents[3], starts[MOST];
    set_up("ok, fault, fine, hang, also_ok, crash, good");
    env[0] = "SCRIPT_START_MS=1500";
    options.jobs = 1; /* in this order */
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(1, MT_OUTCOME_GPU_FAULT, "alone: same fault");
    expect(3, MT_OUTCOME_TIMEOUT, NULL);
    expect(5, MT_OUTCOME_CRASHED, NULL);
    for (size_t i = 0; i < 7; i += 2) expect(i, MT_OUTCOME_OK, NULL);
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 3);
    ck_assert_uint_eq(read_notes("incident", incidents, 3), 3);
    size_t count = read_notes("start", starts, MOST);
    ck_assert(count > 4 && count <= MOST);
    for (size_t i = 0; i < 3; i++) ck_assert_msg(!has_two_in_a_row(&incidents[i], starts, count), "incident %zu cost two starts: %.0f ms", i, incidents[i].end_ms - incidents[i].start_ms);
    free_all();
    tear_down();
}
END_TEST

/* With both reserves there, a fault and its replay wait for no start at all, only for a context, which is made meanwhile. */
START_TEST(a_replay_and_what_follows_wait_for_no_start)
{
    enum { STARTS = 4 /* the one at work, two in reserve, the evaluator's own */ };
    mt_error err = {0};
    char gate[128];
    set_up("ok, fault, fine");
    snprintf(gate, sizeof gate, "SCRIPT_GATE=%s/gate", folder);
    const char *both[] = {gate, "SCRIPT_CONTEXT_MS=100", NULL};
    options.env = both;
    options.jobs = 1;
    begin();
    await_notes("start", STARTS);
    await_notes("entered", 1);
    write_file("gate", ""); /* nobody else comes through */
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(1, MT_OUTCOME_GPU_FAULT, "alone: same fault");
    expect(2, MT_OUTCOME_OK, NULL);
    ck_assert_uint_eq(read_notes("incident", NULL, 0), 1);
    free_all();
    tear_down();
}
END_TEST

/* Where a second process can't be had there is no reserve, and nothing else changes. */
START_TEST(a_gpu_for_one_process)
{
    mt_error err = {0};
    char variable[128];
    set_up("ok, fault, fine, crash, hang, good");
    snprintf(variable, sizeof variable, "SCRIPT_ALONE=%s/alone", folder);
    env[0] = variable;
    options.jobs = 1;
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(1, MT_OUTCOME_GPU_FAULT, "alone: same fault");
    expect(3, MT_OUTCOME_CRASHED, NULL);
    expect(4, MT_OUTCOME_TIMEOUT, NULL);
    expect(2, MT_OUTCOME_OK, NULL);
    expect(5, MT_OUTCOME_OK, NULL);
    free_all();
    tear_down();
}
END_TEST

/* There, the reserve that starts first gets the context, and has to do the work, whichever was meant to: here the one at work dies while both start. */
START_TEST(whoever_is_in_the_gpu_works)
{
    mt_error err = {0};
    char alone[128], late[128];
    set_up("crash, ok");
    snprintf(alone, sizeof alone, "SCRIPT_ALONE=%s/alone", folder);
    snprintf(late, sizeof late, "SCRIPT_LATE=%s/late", folder); /* the first of the reserve starts late */
    write_file("late", "");
    const char *both[] = {alone, late, NULL};
    options.env = both;
    options.jobs = 1;
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_CRASHED, NULL);
    expect(1, MT_OUTCOME_OK, NULL);
    free_all();
    tear_down();
}
END_TEST

/* The reserve is no foreign process; a second one is. */
START_TEST(our_own_processes_are_not_foreign)
{
    mt_error err = {0};
    set_up("a, b, c");
    env[0] = _i ? "SCRIPT_OTHERS=2" : "SCRIPT_OTHERS=1";
    begin();
    await_notes("entered", 1); /* the reserve has its context, which is what NVML would count */
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    ck_assert_msg(_i ? strncmp(evaluator->warning, "1 other process came to GPU 0", 29) == 0 : !evaluator->warning[0], "%s", evaluator->warning);
    free_all();
    tear_down();
}
END_TEST

START_TEST(dies_between_variants)
{
    mt_error err = {0};
    set_up("late_death, ok, run_killed");
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL);
    ck_assert(outcomes[1].kind == MT_OUTCOME_OK); /* handed to the dying worker or to the next, it is nobody's fault */
    expect(2, MT_OUTCOME_CRASHED, "SIGKILL in stage validate");
    ck_assert_msg(strstr(evaluator->warning, "tried once more"), "%s", evaluator->warning); /* the first time it may have been the out-of-memory killer's choice */
    free_all();
    tear_down();
}
END_TEST

START_TEST(slow_compile_stops_nobody)
{
    mt_error err = {0};
    set_up("compile_hang, a, b, c, compile_crash, compile_killed, compile_mute");
    options.compile_limit_s = 100;
    begin();
    ck_assert_msg(run_some(6, &err) == MT_OK, "%s", err.message); /* the first is still at it */
    for (size_t i = 1; i <= 3; i++) expect(i, MT_OUTCOME_OK, NULL);
    expect(4, MT_OUTCOME_COMPILE_ERROR, "SIGSEGV");
    expect(4, MT_OUTCOME_COMPILE_ERROR, "internal compiler error");
    expect(5, MT_OUTCOME_COMPILER_KILLED, "SIGKILL from outside"); /* no verdict on the source: it may have been the out-of-memory killer */
    expect(6, MT_OUTCOME_COMPILE_ERROR, "the compiler died: SIGKILL"); /* by us, since it closed its socket */
    free_all();
    tear_down();
}
END_TEST

START_TEST(slow_compile_ends)
{
    mt_error err = {0};
    set_up("compile_hang, a");
    options.compile_limit_s = VARIANT_MS / 1e3;
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_COMPILE_TIMEOUT, "longer than " SECONDS(VARIANT_S));
    expect(1, MT_OUTCOME_OK, NULL);
    free_all();
    tear_down();
}
END_TEST

START_TEST(no_gpu)
{
    mt_error err = {0};
    set_up("a");
    env[0] = "SCRIPT_NO_GPU=1";
    env[1] = "SCRIPT_NO_NVRTC=1"; /* the missing GPU is the more telling */
    ck_assert_int_eq(create(&err), MT_ERR_NO_GPU);
    ck_assert_str_eq(err.message, "no CUDA device");
    tear_down();
}
END_TEST

/* The first of two GPUs is gone already while the second's processes still end, for longer than a tick takes. */
START_TEST(one_ends_after_the_other)
{
    static const int second[] = {1};
    mt_error err = {0};
    set_up("a, b, c");
    env[0] = "SCRIPT_SLOW_END=1";
    options.more_devices = second;
    options.more_count = 1;
    begin();
    ck_assert_uint_eq(evaluator->device_count, 2);
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < 3; i++) expect(i, MT_OUTCOME_OK, NULL);
    free_all();
    tear_down();
}
END_TEST

START_TEST(no_compiler)
{
    mt_error err = {0};
    set_up("a");
    env[0] = "SCRIPT_NO_NVRTC=1";
    ck_assert_int_eq(create(&err), MT_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "libnvrtc"));
    tear_down();
}
END_TEST

START_TEST(worker_that_does_not_start)
{
    mt_error err = {0};
    set_up("a");
    env[0] = "SCRIPT_DUMB=1";
    ck_assert_int_eq(create(&err), MT_ERR_WORKER);
    ck_assert_msg(strstr(err.message, "SIGSEGV") && strstr(err.message, "dead on arrival"), "%s", err.message);
    tear_down();
}
END_TEST

/* By the out-of-memory killer, say, when many compilers start. */
START_TEST(a_worker_is_killed_while_it_starts)
{
    bool is_device = _i / 2, is_always = _i % 2;
    mt_error err = {0};
    char variable[96], once[64];
    set_up("ok, fine");
    snprintf(once, sizeof once, "%s/stillborn", folder);
    write_file("stillborn", "");
    snprintf(variable, sizeof variable, "%s=%s", is_device ? "SCRIPT_STILLBORN_DEVICE" : "SCRIPT_STILLBORN", is_always ? "always" : once);
    env[0] = variable;
    if (is_always) {
        ck_assert_int_eq(create(&err), MT_ERR_WORKER);
        ck_assert_msg(strstr(err.message, is_device ? "the device worker did not start: SIGKILL" : "a compile worker did not start: SIGKILL"), "%s", err.message);
    } else {
        begin();
        ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
        expect(0, MT_OUTCOME_OK, NULL);
        expect(1, MT_OUTCOME_OK, NULL);
        free_all();
    }
    tear_down();
}
END_TEST

START_TEST(bad_reference)
{
    mt_error err = {0};
    set_up("a, b");
    env[0] = "SCRIPT_BAD_REFERENCE=1";
    begin();
    ck_assert_int_eq(run_all(&err), MT_ERR_COMPILE);
    ck_assert_ptr_nonnull(strstr(err.message, "bad reference"));
    free_all();
    tear_down();
}
END_TEST

START_TEST(reference_dies_once)
{
    mt_error err = {0};
    char variable[128];
    set_up("a, b");
    write_file("once", "");
    snprintf(variable, sizeof variable, "SCRIPT_REFERENCE_DIES=%s/once", folder);
    env[0] = variable;
    begin();
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL); /* it was not the variant's fault */
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 1);
    free_all();
    tear_down();
}
END_TEST

START_TEST(reference_dies_always)
{
    mt_error err = {0};
    set_up("a, b");
    env[0] = "SCRIPT_REFERENCE_DIES=always";
    begin();
    ck_assert_int_eq(run_all(&err), MT_ERR_SPEC);
    ck_assert_msg(strstr(err.message, ": [kernel] reference: ") && strstr(err.message, "stage reference"), "%s", err.message);
    free_all();
    tear_down();
}
END_TEST

START_TEST(subject_error_is_the_sessions)
{
    mt_error err = {0};
    set_up("file_missing");
    begin();
    ck_assert_int_eq(run_all(&err), MT_ERR_NOT_FOUND);
    ck_assert_str_eq(err.message, "value.npy: cannot open");
    free_all();
    tear_down();
}
END_TEST

START_TEST(cancel_keeps_the_running_one)
{
    mt_error err = {0};
    mt_event event;
    set_up("a, b, c, d");
    begin();
    for (size_t i = 0; i < 4; i++) {
        mt_trial trial = {.id = i + 1, .index = i, .variant = i == 0 ? "ALGO=plain;DO=a" : "ALGO=plain;DO=b"};
        ck_assert_int_eq(evaluator->ops->submit(evaluator, &trial, &err), MT_OK);
    }
    await_event(MT_EVENT_READY, &event);
    uint64_t first = event.trial;
    ck_assert_int_eq(evaluator->ops->start(evaluator, first, &(mt_trial_start){0}, &err), MT_OK);
    evaluator->ops->cancel(evaluator, false);
    size_t done = 0;
    for (int ticks = 0; ticks < 2;) { /* after its end: it may have to wait until the reserve is there */
        ck_assert_int_eq(evaluator->ops->next(evaluator, &event, &err), MT_OK);
        ticks += done && event.kind == MT_EVENT_TICK;
        done += event.kind == MT_EVENT_DONE;
        if (event.kind == MT_EVENT_DONE) ck_assert_uint_eq(event.trial, first);
        ck_assert(event.kind != MT_EVENT_READY);
        mt_event_free(&event);
    }
    ck_assert_uint_eq(done, 1);
    tear_down();
}
END_TEST

/* A coordinator that was stopped over a deadline (Ctrl-Z) finds the answer in the socket; that is no timeout. */
START_TEST(late_coordinator)
{
    mt_error err = {0};
    mt_event event;
    set_up("a");
    options.variant_limit_s = options.subject_limit_s = VARIANT_S;
    begin();
    mt_trial trial = {.id = 1, .variant = "ALGO=plain;DO=a"};
    ck_assert_int_eq(evaluator->ops->submit(evaluator, &trial, &err), MT_OK);
    await_event(MT_EVENT_READY, &event);
    ck_assert_int_eq(evaluator->ops->start(evaluator, 1, &(mt_trial_start){0}, &err), MT_OK);
    usleep(1000 * (VARIANT_MS + 500));
    await_event(MT_EVENT_DONE, &event);
    ck_assert_int_eq(event.outcome.kind, MT_OUTCOME_OK);
    mt_event_free(&event);
    ck_assert_int_eq(evaluator->ops->restarts(evaluator), 0);
    tear_down();
}
END_TEST

/* One that was stopped when it had killed a worker has not seen it go; that worker is not one that can't be killed, and the GPU is not lost. */
START_TEST(late_after_a_kill)
{
    mt_error err = {0};
    mt_event event;
    set_up("hang");
    options.variant_limit_s = 1;
    begin();
    mt_trial trial = {.id = 1, .variant = "ALGO=plain;DO=hang"};
    ck_assert_int_eq(evaluator->ops->submit(evaluator, &trial, &err), MT_OK);
    await_event(MT_EVENT_READY, &event);
    pid_t worker = (pid_t)event.worker_pid;
    ck_assert_int_eq(evaluator->ops->start(evaluator, 1, &(mt_trial_start){0}, &err), MT_OK);
    while (is_running(worker)) uv_run(&loop, UV_RUN_NOWAIT);
    usleep(1000000 * MT_WORKER_REAP_S + 500000);
    await_event(MT_EVENT_DONE, &event);
    ck_assert_int_eq(event.outcome.kind, MT_OUTCOME_TIMEOUT);
    mt_event_free(&event);
    tear_down();
}
END_TEST

START_TEST(cancel_now_kills)
{
    mt_error err = {0};
    mt_event event;
    set_up("hang, ok");
    options.variant_limit_s = 100;
    begin();
    mt_trial hang = {.id = 1, .variant = "ALGO=plain;DO=hang"}, ok = {.id = 2, .index = 1, .variant = "ALGO=plain;DO=ok"};
    ck_assert_int_eq(evaluator->ops->submit(evaluator, &hang, &err), MT_OK);
    await_event(MT_EVENT_READY, &event);
    ck_assert_int_eq(evaluator->ops->start(evaluator, 1, &(mt_trial_start){0}, &err), MT_OK);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(evaluator->ops->next(evaluator, &event, &err), MT_OK);
    evaluator->ops->cancel(evaluator, true);
    ck_assert_int_eq(evaluator->ops->next(evaluator, &event, &err), MT_OK);
    ck_assert_int_eq(event.kind, MT_EVENT_TICK);
    ck_assert_int_eq(evaluator->ops->submit(evaluator, &ok, &err), MT_OK); /* and it goes on */
    await_event(MT_EVENT_READY, &event);
    ck_assert_int_eq(evaluator->ops->start(evaluator, 2, &(mt_trial_start){0}, &err), MT_OK);
    await_event(MT_EVENT_DONE, &event);
    ck_assert_uint_eq(event.trial, 2);
    ck_assert_int_eq(event.outcome.kind, MT_OUTCOME_OK);
    mt_event_free(&event);
    tear_down();
}
END_TEST

START_TEST(equal_compiles_run_once)
{
    mt_error err = {0};
    mt_event event;
    set_up("a, b");
    begin();
    for (uint64_t id = 1; id <= 6; id++) { /* six trials, one cubin */
        mt_trial trial = {.id = id, .variant = "ALGO=plain;DO=a"};
        ck_assert_int_eq(evaluator->ops->submit(evaluator, &trial, &err), MT_OK);
    }
    size_t ready = 0;
    while (ready < 6) {
        ck_assert_int_eq(evaluator->ops->next(evaluator, &event, &err), MT_OK);
        ready += event.kind == MT_EVENT_READY;
    }
    tear_down();
}
END_TEST

START_TEST(compile_only)
{
    mt_error err = {0};
    mt_event event;
    mt_device_facts facts = toy_facts();
    set_up("a, compile_error, b");
    ck_assert_msg(mt_eval_compile_create(&loop, spec, &source, &options, &facts, &evaluator, &err) == MT_OK, "%s", err.message);
    ck_assert_int_eq(evaluator->ops->begin(evaluator, 0, space, &spec->workloads[0], spec->l2, &err), MT_OK);
    ck_assert_msg(run_all(&err) == MT_OK, "%s", err.message);
    expect(0, MT_OUTCOME_OK, NULL);
    expect(1, MT_OUTCOME_COMPILE_ERROR, "no such thing");
    expect(2, MT_OUTCOME_OK, NULL);
    ck_assert_uint_eq(outcomes[0].resources.registers, 40);
    ck_assert_int_eq(evaluator->ops->next(evaluator, &event, &err), MT_OK);
    ck_assert_int_eq(event.kind, MT_EVENT_TICK);
    free_all();
    tear_down();
}
END_TEST

/* A worker whose parent dies must not stay, whatever it is doing. */
START_TEST(workers_die_with_the_coordinator)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    set_up("hang");
    pid_t coordinator = fork();
    if (coordinator == 0) {
        mt_error err;
        mt_event event;
        int64_t pid = 0;
        uv_loop_fork(&loop);
        options.variant_limit_s = 100;
        begin();
        mt_trial trial = {.id = 1, .index = 0, .variant = "ALGO=plain;DO=hang", .retime = 0};
        evaluator->ops->submit(evaluator, &trial, &err);
        do evaluator->ops->next(evaluator, &event, &err);
        while (event.kind != MT_EVENT_READY);
        pid = event.worker_pid;
        evaluator->ops->start(evaluator, 1, &(mt_trial_start){0}, &err);
        for (int i = 0; i < 2; i++) evaluator->ops->next(evaluator, &event, &err);
        if (write(fds[1], &pid, sizeof pid) != sizeof pid) _exit(1);
        for (;;) pause();
    }
    int64_t worker = 0;
    ck_assert_int_eq(read(fds[0], &worker, sizeof worker), sizeof worker);
    ck_assert(worker > 0 && is_running((pid_t)worker));
    kill(coordinator, SIGKILL);
    waitpid(coordinator, NULL, 0);
    for (int i = 0; i < PATIENCE_MS / 10 && is_running((pid_t)worker); i++) usleep(10000);
    ck_assert(!is_running((pid_t)worker));
    tear_down();
}
END_TEST

/* Each by its name, for CK_RUN_CASE. */
static void add(Suite *suite, const TTest *test, int count)
{
    TCase *group = tcase_create(test->name);
    tcase_add_loop_test(group, test, 0, count);
    suite_add_tcase(suite, group);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "worker") == 0) return scripted_worker(argc - 2, argv + 2);
    Suite *suite = suite_create("eval_worker");
    const TTest *const tests[] = {all_is_well, every_bad_end, attribution_is_exact, no_two_starts_in_a_row, a_replay_and_what_follows_wait_for_no_start, a_gpu_for_one_process, whoever_is_in_the_gpu_works,
        dies_between_variants, slow_compile_stops_nobody, slow_compile_ends, no_gpu, one_ends_after_the_other, no_compiler, worker_that_does_not_start, bad_reference, reference_dies_once, reference_dies_always,
        subject_error_is_the_sessions, cancel_keeps_the_running_one, late_coordinator, late_after_a_kill, cancel_now_kills, equal_compiles_run_once, compile_only, workers_die_with_the_coordinator};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) add(suite, tests[i], 1);
    add(suite, one_restart_each, 5);
    add(suite, compilers_have_huge_pages, 2);
    add(suite, a_worker_is_killed_while_it_starts, 4);
    add(suite, our_own_processes_are_not_foreign, 2);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
