/* A worker that acts out what a variant's knob DO says, in the place of worker_main.c: the coordinator's half is tested against every way
 * a worker can behave, without CUDA. The test's main() hands over when it is called as `worker`. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/toy.h"
#include "tuner/worker/bundle.h"
#include "tuner/worker/worker.h"
#include "tuner/worker/worker_channel.h"

/* "…DO=x…" or "-DDO=DO_x" asks for x. */
static inline bool scripted_asks(const char *text, const char *what)
{
    const char *at = strstr(text, "DO=");
    if (!at) return false;
    at += 3;
    if (strncmp(at, "DO_", 3) == 0) at += 3;
    size_t length = strlen(what);
    return strncmp(at, what, length) == 0 && (at[length] == '\0' || at[length] == ';');
}

static inline void scripted_send(mt_channel *channel, const mt_message *message)
{
    mt_error err;
    if (mt_channel_send(channel, message, &err) != MT_OK) _exit(9);
}

static inline void scripted_hang(void)
{
    for (;;) pause();
}

static inline void scripted_crash(const char *words)
{
    fprintf(stderr, "%s", words);
    fflush(stderr);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static inline void scripted_compile(mt_channel *channel, const mt_compile_order *order)
{
    const char *text = "";
    for (uint32_t i = 0; i < order->option_count; i++) {
        if (strncmp(order->options[i], "-DDO=", 5) == 0) text = order->options[i];
    }
    if (order->kind != MT_COMPILE_VARIANT) text = "";
    mt_message reply = {.type = MT_MESSAGE_COMPILED, .compiled = {.id = order->id, .ok = true, .log = "fine", .cubin_path = "/proc/version", .compile_ns = 1000, .has_resources = true, .registers = 40, .spill_bytes = 12}};
    reply.compiled.cubin = mt_hash_text(text);
    if (scripted_asks(text, "compile_hang")) scripted_hang();
    if (scripted_asks(text, "compile_killed")) raise(SIGKILL);
    if (scripted_asks(text, "compile_mute")) { /* closed its socket, and does not end */
        close(channel->fd);
        scripted_hang();
    }
    if (scripted_asks(text, "compile_crash")) scripted_crash("internal compiler error\n");
    const char *tunables = getenv("GLIBC_TUNABLES"), *wanted = getenv("SCRIPT_TUNABLES"); /* else: huge pages */
    bool is_roomy = tunables && strcmp(tunables, wanted ? wanted : "glibc.malloc.hugetlb=1") == 0;
    if (scripted_asks(text, "compile_error") || (scripted_asks(text, "roomy") && !is_roomy)) reply.compiled = (mt_compiled){.id = order->id, .log = "toy.cu(1): error: no such thing", .compile_ns = 1000};
    if (order->kind == MT_COMPILE_SUPPORT && getenv("SCRIPT_BAD_REFERENCE")) reply.compiled = (mt_compiled){.id = order->id, .log = "toy.cu(9): error: bad reference"};
    scripted_send(channel, &reply);
}

static inline void scripted_stage(mt_channel *channel, uint64_t id, mt_work work)
{
    mt_message message = {.type = MT_MESSAGE_STAGE, .stage = {.id = id, .work = work}};
    scripted_send(channel, &message);
}

static inline void scripted_evaluate(mt_channel *channel, const mt_evaluate_order *order)
{
    const char *text = order->variant;
    mt_message reply = {.type = MT_MESSAGE_RESULT, .verdict = {.id = order->id, .launch_json = "{}"}};
    mt_outcome *outcome = &reply.verdict.outcome;
    const char *others = getenv("SCRIPT_OTHERS"); /* processes that NVML would count, ours among them */
    reply.verdict.foreign_processes = others ? atoi(others) : 0;
    char *dies = getenv("SCRIPT_REFERENCE_DIES"); /* a file that is removed when it has happened once, or "always" */
    scripted_stage(channel, order->id, MT_WORK_INPUTS);
    scripted_stage(channel, order->id, MT_WORK_REFERENCE);
    if (dies && (strcmp(dies, "always") == 0 || unlink(dies) == 0)) _exit(3);
    scripted_stage(channel, order->id, MT_WORK_LOAD);
    if (scripted_asks(text, "file_missing")) {
        reply.verdict.status = MT_ERR_NOT_FOUND;
        reply.verdict.error = "value.npy: cannot open";
    }
    scripted_stage(channel, order->id, MT_WORK_VALIDATE);
    if (scripted_asks(text, "crash")) scripted_crash("about to \033[31mfall\n");
    if (scripted_asks(text, "quit")) _exit(7);
    if (scripted_asks(text, "run_killed")) raise(SIGKILL);
    if (scripted_asks(text, "garbage")) {
        if (write(channel->fd, "this is no frame at all", 23) < 0) _exit(1);
        scripted_hang();
    }
    scripted_stage(channel, order->id, MT_WORK_TIME);
    if (scripted_asks(text, "hang")) scripted_hang();
    outcome->kind = MT_OUTCOME_OK;
    outcome->timing.median_ns = outcome->timing.low_ns = outcome->timing.high_ns = outcome->timing.min_ns = outcome->timing.mean_ns = 1000;
    outcome->resources.registers = 32;
    if (scripted_asks(text, "wrong")) outcome->kind = MT_OUTCOME_WRONG_RESULT;
    static int served;
    bool damaged = scripted_asks(text, "damaged") && served > 0; /* what ran before it is at fault */
    served++;
    bool sticky = scripted_asks(text, "fault") || damaged, lingers = scripted_asks(text, "linger");
    if (sticky || lingers) outcome->kind = MT_OUTCOME_GPU_FAULT;
    reply.verdict.is_sticky = sticky || lingers;
    scripted_send(channel, &reply);
    if (lingers) scripted_hang(); /* the driver hangs in its own exit */
    if (sticky) _exit(0);
    if (scripted_asks(text, "late_death")) _exit(5);
}

/* The GPU that $SCRIPT_SLOW_END names takes long to be rid of: somebody else still holds the worker's socket. */
static inline void scripted_slow_end(const char *device)
{
    const char *slow = getenv("SCRIPT_SLOW_END");
    if (!slow || strcmp(slow, device) != 0 || fork() != 0) return;
    usleep(5000000);
    _exit(0);
}

/* As a GPU in exclusive mode: the file that $SCRIPT_ALONE names is locked by whoever has the GPU, for as long as it lives. */
static inline bool scripted_is_second(void)
{
    static int fd = -1; /* one descriptor: a lock on a second one would conflict with our own */
    const char *path = getenv("SCRIPT_ALONE");
    if (path && fd < 0) fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
}

static inline void scripted_prepare(mt_channel *channel)
{
    mt_message reply = {.type = MT_MESSAGE_PREPARED};
    if (getenv("SCRIPT_CONTEXT_MS")) usleep(1000 * (useconds_t)atoi(getenv("SCRIPT_CONTEXT_MS")));
    if (scripted_is_second()) reply.prepared.status = MT_ERR_GPU, reply.prepared.error = "the GPU takes one process";
    scripted_send(channel, &reply);
}

static inline int scripted_worker(int argc, char **argv)
{
    mt_channel channel = {.fd = MT_WORKER_SOCKET_FD};
    mt_bundle bundle;
    mt_error err;
    if (argc < 3 || !mt_channel_enter(strtol(argv[1], NULL, 10), 0)) return 1;
    if (mt_bundle_open(MT_WORKER_BUNDLE_FD, &bundle, &err) != MT_OK) return 2;
    mt_bundle_free(&bundle);
    bool is_reserve = strcmp(argv[0], "reserve") == 0, is_device = is_reserve || strcmp(argv[0], "device") == 0;
    if (is_device) scripted_slow_end(argv[2]);
    const char *stillborn = getenv(is_device ? "SCRIPT_STILLBORN_DEVICE" : "SCRIPT_STILLBORN"); /* a file, which the one that dies takes away, or "always" */
    if (stillborn && (strcmp(stillborn, "always") == 0 || unlink(stillborn) == 0)) raise(SIGKILL);
    if (is_device && getenv("SCRIPT_DUMB")) scripted_crash("dead on arrival\n");
    if (is_reserve && getenv("SCRIPT_LATE") && unlink(getenv("SCRIPT_LATE")) == 0) usleep(700000); /* a file that is removed by the one that does so */
    if (is_device && getenv("SCRIPT_START_MS")) usleep(1000 * (useconds_t)atoi(getenv("SCRIPT_START_MS")));
    while (is_reserve && getenv("SCRIPT_GATE") && access(getenv("SCRIPT_GATE"), F_OK) == 0) usleep(10000); /* closed while the file is there */
    mt_message hello = {.type = MT_MESSAGE_HELLO, .hello = {.pid = (uint32_t)getpid(), .nvrtc_version = 13000}};
    hello.hello.facts = toy_facts();
    if (is_device && getenv("SCRIPT_NO_GPU")) hello.hello.status = MT_ERR_NO_GPU, hello.hello.error = "no CUDA device";
    if (is_device && !is_reserve && scripted_is_second()) hello.hello.status = MT_ERR_GPU, hello.hello.error = "the GPU takes one process";
    if (!is_device && getenv("SCRIPT_NO_NVRTC")) hello.hello.status = MT_ERR_UNSUPPORTED, hello.hello.error = "libnvrtc.so.13 not found";
    scripted_send(&channel, &hello);
    for (bool closed = false; !closed;) {
        mt_message message = {0};
        if (mt_channel_receive(&channel, &message, &closed, &err) != MT_OK) return 4;
        if (message.type == MT_MESSAGE_COMPILE) scripted_compile(&channel, &message.compile);
        if (message.type == MT_MESSAGE_PREPARE) scripted_prepare(&channel);
        if (message.type == MT_MESSAGE_EVALUATE) scripted_evaluate(&channel, &message.evaluate);
        mt_message_free(&message);
    }
    mt_channel_free(&channel);
    return 0;
}
