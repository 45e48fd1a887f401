/* Whatever happens in whatever order: an evaluation ends, as its variant deserves, a GPU that is gone is noticed, and no state contradicts another.
 * $SEEDS: how many orders of events for each room (1000). */
#include "tests/unit/gpu_simulation.h"
#include "tuner/worker/device_worker_internal.h"

enum { MAX_ORDERS = 8, MAX_EVENTS = 2000 /* between an order and its end: some fifty, if all goes well */, SHARED = -1 /* room for a number of contexts that changes */ };
static uint32_t seeds = 1000;
static const int rooms[] = {1, 2, 3, MAX_PROCESSES, SHARED};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

static const struct script {
    const char *name;
    mt_outcome_kind end;
} scripts[] = {{"ok", MT_OUTCOME_OK}, {"crash", MT_OUTCOME_CRASHED}, {"hang", MT_OUTCOME_TIMEOUT}, {"fault", MT_OUTCOME_GPU_FAULT}, {"linger", MT_OUTCOME_GPU_FAULT},
    {"late_death", MT_OUTCOME_OK}, {"damaged", MT_OUTCOME_GPU_FAULT /* or OK, in a fresh process */}, {"killed", MT_OUTCOME_CRASHED}, {"vanish", MT_OUTCOME_CRASHED /* told to nobody */}};
enum { DAMAGED = 6, KILLED, VANISH };

static struct {
    mt_device_worker *worker;
    const struct script *script;
    uint64_t id;
    int notices; /* of the order */
    uint32_t events_per_tick;
    bool is_shared, is_done, has_failed, may_fail;
    uint32_t seed;
} session;

static void on_done(void *context, uint64_t id, mt_outcome *outcome, char **launch_json)
{
    const struct script *script = session.script;
    (void)context;
    (void)launch_json;
    must(id == session.id && !session.is_done, "seed %u: %llu ended twice, or not now", session.seed, (unsigned long long)id);
    must(!session.has_failed, "seed %u: %s is told of a GPU that was given up", session.seed, script->name);
    must(!gpu.is_gone, "seed %u: %s is blamed for a GPU that is gone", session.seed, script->name);
    bool may_be_ok = script == &scripts[DAMAGED] && outcome->kind == MT_OUTCOME_OK;
    must(outcome->kind == script->end || may_be_ok, "seed %u: %s ended as %s (%s)", session.seed, script->name, mt_outcome_name(outcome->kind), outcome->text ? outcome->text : "");
    must(session.notices == (script == &scripts[KILLED]), "seed %u: %s was tried %d times more", session.seed, script->name, session.notices); /* the first kill may have had nothing to do with it */
    session.is_done = true;
}

static void on_failed(void *context, const mt_error *error)
{
    (void)context;
    must(gpu.is_gone || session.may_fail, "seed %u: %s", session.seed, error->message);
    must(!session.has_failed, "seed %u: failed twice", session.seed);
    session.has_failed = true;
}

static void on_count(void *context, int count)
{
    (void)context;
    must(count == 0, "seed %u: %d foreign processes", session.seed, count);
}

static void on_text(void *context, const char *text)
{
    (void)context;
    session.notices += strstr(text, "tried once more") != NULL;
}

static void tick(void)
{
    gpu.now_ns += 250000000;
    mt_device_worker_tick(session.worker);
}

static const char *slot_contradiction(const slot *at)
{
    enum slot_state was = mt_slot_was(at);
    if ((at->state == SLOT_FREE) != !at->worker) return "a slot is free and has a process, or neither";
    if (mt_slot_is_leaving(at) && (was == SLOT_FREE || was >= SLOT_LEAVING)) return "a process leaves that was not there";
    if (at->is_warm && was < SLOT_ENTERING) return "a process has inputs and no context";
    return NULL;
}

static const char *order_contradiction(const mt_device_worker *self)
{
    const struct order *order = &self->order;
    const slot *at = self->active;
    bool has_end = mt_order_is_suspect(order) || order->state == ORDER_HELD;
    if (has_end != (order->outcome.kind != 0 || order->outcome.text)) return "an end is kept for nobody, or none for a suspect or an end that is held back";
    if (order->state == ORDER_HELD && !mt_incident_is_open(&self->incident)) return "an end is held back and nothing has happened";
    if (self->life == LIFE_FAILED && order->state != ORDER_NONE) return "an order outlives its GPU";
    if (!mt_order_is_sent(order) || self->life != LIFE_WORKING) return NULL;
    if (!at || mt_slot_was(at) < SLOT_READY) return "an order is with nobody";
    return NULL;
}

/* What contradicts itself now, in words; NULL = nothing. */
static const char *contradiction(const mt_device_worker *self)
{
    const char *found = order_contradiction(self);
    if (self->active && self->active->state == SLOT_FREE) return "nobody is at work";
    for (size_t i = 0; i < SLOTS && !found; i++) found = slot_contradiction(&self->slots[i]);
    return found;
}

/* A GPU whose memory others use takes now fewer contexts, now more. */
static void happen_or_tick(void)
{
    if (session.is_shared && draw(50) == 0) gpu.room = 1 + (int)draw(3);
    if (!happen_any() || draw(session.events_per_tick) == 0) tick();
    const char *found = contradiction(session.worker);
    must(!found, "seed %u: %s", session.seed, found);
}

static void set_up(int room, uint32_t seed)
{
    mt_error err = {0};
    const mt_device_worker_options options = {.variant_limit_s = 1, .subject_limit_s = 1, .done = on_done, .foreign = on_count, .vacuous = on_text, .notice = on_text, .failed = on_failed};
    memset(&session, 0, sizeof session);
    session.events_per_tick = seed % 2 ? 20 : 2;
    session.is_shared = room == SHARED;
    gpu.room = room == SHARED ? 1 : room;
    gpu.is_gone = false;
    gpu.is_stuck = false;
    gpu.deaths = gpu.stops = 0;
    gpu.stillborn = (int)seed % 4; /* one more would be the session's end */
    gpu.seed = session.seed = seed;
    gpu.now_ns = 1000000000;
    must(mt_device_worker_create(&options, &session.worker, &err) == MT_OK, "%s", err.message);
}

static void tear_down(void)
{
    mt_device_worker_destroy(session.worker);
    for (size_t i = 0; i < MAX_PROCESSES; i++)
        if (gpu.processes[i]) forget(i);
}

/* Runs one order to its end. */
static void evaluate(const struct script *script)
{
    mt_error err = {0};
    const mt_evaluate_order order = {.id = ++session.id, .shape = "s", .shape_key = "k", .workload = "w", .variant = script->name, .cubin_path = "c", .tool_path = "t"};
    gpu.deaths = session.id % 3 == 0;
    gpu.stops = session.id % 4 == 1;
    session.script = script;
    session.is_done = false;
    session.notices = 0;
    must(mt_device_worker_evaluate(session.worker, &order, 0, &err) == MT_OK, "%s", err.message);
    for (int count = 0; !session.is_done && !session.has_failed; count++) {
        must(count < MAX_EVENTS, "seed %u, room for %d: order %llu, %s, does not end", session.seed, gpu.room, (unsigned long long)session.id, script->name);
        happen_or_tick();
    }
}

enum fate { STAYS, VANISHES, STICKS };

static void run(int room, uint32_t seed, enum fate fate)
{
    set_up(room, seed);
    uint32_t orders = 1 + draw(MAX_ORDERS);
    while (!mt_device_worker_hello(session.worker)) happen_or_tick();
    for (uint32_t i = 0; i < orders && !session.has_failed; i++) {
        for (uint32_t pause = draw(3) ? 0 : draw(60); pause > 0; pause--) happen_or_tick();
        session.may_fail |= gpu.is_stuck |= fate == STICKS && draw(3) == 0;
        if (!session.has_failed) evaluate(&scripts[draw(VANISH)]);
    }
    if (fate == VANISHES) {
        evaluate(&scripts[VANISH]);
        must(session.has_failed && !session.is_done, "seed %u: nobody noticed that the GPU is gone", seed);
    }
    for (int i = 0; i < 50 && session.has_failed; i++) happen_or_tick();
    tear_down();
}

START_TEST(every_order_ends_as_it_should)
{
    for (uint32_t seed = 1; seed <= seeds; seed++) run(rooms[_i], seed, STAYS);
}
END_TEST

START_TEST(a_gpu_that_is_gone_is_noticed)
{
    for (uint32_t seed = 1; seed <= seeds; seed++) run(rooms[_i], seed, VANISHES);
}
END_TEST

/* A process that hangs in the driver and can't be killed is the end of its GPU; what ran elsewhere on it then is told to nobody. */
START_TEST(a_process_that_does_not_go_ends_all)
{
    for (uint32_t seed = 1; seed <= seeds; seed++) run(rooms[_i], seed, STICKS);
}
END_TEST

int main(void)
{
    if (getenv("SEEDS")) seeds = (uint32_t)strtoul(getenv("SEEDS"), NULL, 10);
    setenv("CUDA_VISIBLE_DEVICES", "0", 1); /* which are there is asked for each process: no need to look through /dev */
    Suite *suite = suite_create("device_worker");
    TCase *group = tcase_create("device_worker");
    tcase_add_loop_test(group, every_order_ends_as_it_should, 0, ROOMS);
    tcase_add_loop_test(group, a_gpu_that_is_gone_is_noticed, 0, ROOMS);
    tcase_add_loop_test(group, a_process_that_does_not_go_ends_all, 0, ROOMS);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
