#include "tuner/cli/requests/live_device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/file.h"
#include "tuner/base/process_limits.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/event_queue.h"

/* Workers start for a search space, which they are given as a file; the smallest one serves. */
static const char probe[] = "[kernel]\nname = probe\nsource = probe.cu\nreference = probe\n[shape one]\nN = 1\n[algorithm probe]\n"
                            "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n";

/* *fd stays open as long as workers may be started: they are given the file. */
static mt_status load_probe(int *fd, mt_spec **spec, mt_error *err)
{
    char path[32];
    mt_status st = mt_memfd("probe.ini", probe, sizeof probe - 1, fd, err);
    if (st != MT_OK) return st;
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    return mt_spec_load(path, spec, err);
}

/* What every kernel of the tool's includes: without the toolkit's headers nothing of use compiles. */
static const char probe_source[] = "#include <cuda_fp16.h>\nextern \"C\" __global__ void probe(float *out) { *out = __half2float(__float2half(1.0f)); }\n";
/* An architecture that all versions of NVRTC know that the tool can use. */
static const char probe_arch[] = "sm_80";
static const mt_device_facts probe_facts = {.name = "probe", .cc = 80, .sm_count = 1, .smem_optin = 101376, .smem_per_sm = 102400, .smem_reserved = 1024, .regs_per_sm = 65536, .threads_per_sm = 1536,
                                            .blocks_per_sm = 16, .max_cluster = 1, .l2_bytes = 1 << 20, .mem_bytes = 1 << 30, .clock_mhz = 1000};

typedef mt_status (*use)(mt_evaluator *evaluator, const mt_spec *spec, void *context, mt_error *err);

/* Starts the workers of device `ordinal`, or, where that is negative, a compile worker alone, and lets them be used. */
static mt_status with_workers(uv_loop_t *loop, int ordinal, use callback, void *context, mt_error *err)
{
    mt_spec *spec = NULL;
    mt_source_file file = {.name = (char *)"probe.cu", .path = (char *)"probe.cu", .text = (char *)probe_source};
    const mt_source source = {.files = &file, .file_count = 1};
    const mt_worker_options options = {.jobs = 1, .device = ordinal, .arch = ordinal < 0 ? probe_arch : NULL, .compile_limit_s = 60, .variant_limit_s = 10, .subject_limit_s = 60};
    mt_evaluator *evaluator = NULL;
    int fd = -1;
    mt_status st = MT_OK;
    MT_TRY(load_probe(&fd, &spec, err));
    MT_TRY(ordinal < 0 ? mt_eval_compile_create(loop, spec, &source, &options, &probe_facts, &evaluator, err) : mt_eval_worker_create(loop, spec, &source, &options, &evaluator, err));
    st = callback(evaluator, spec, context, err);
done:
    if (evaluator) evaluator->ops->destroy(evaluator);
    mt_spec_free(spec);
    if (fd >= 0) close(fd);
    return st;
}

static mt_status ask(int ordinal, use callback, void *context, mt_error *err)
{
    uv_loop_t loop;
    mt_status st = mt_process_limits_check(err);
    if (st != MT_OK) return st;
    if (uv_loop_init(&loop) != 0) return MT_FAIL(err, MT_ERR_IO, "no event loop");
    st = with_workers(&loop, ordinal, callback, context, err);
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_loop_close(&loop);
    return st;
}

/* ---- the device ---- */

struct device {
    mt_device_facts *facts;
    char *arch;
};

static mt_status take_facts(mt_evaluator *evaluator, const mt_spec *spec, void *context, mt_error *err)
{
    struct device *device = context;
    (void)spec;
    (void)err;
    *device->facts = evaluator->facts;
    snprintf(device->arch, MT_ARCH_SIZE, "%s", evaluator->arch);
    return MT_OK;
}

mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    struct device device = {facts, arch};
    mt_status st = ask(ordinal, take_facts, &device, err);
    return st == MT_ERR_COMPILE ? mt_error_prefix(err, MT_ERR_NO_GPU, "nothing can be compiled for the GPU") : st; /* NVRTC is missing or broken */
}

/* ---- the compiler ---- */

static mt_status compile_point(mt_evaluator *evaluator, const mt_space *space, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    const mt_trial trial = {.id = 1, .subject = 1, .index = 0, .variant = "ALGO=probe"};
    mt_status st;
    MT_TRY(evaluator->ops->begin(evaluator, 1, space, &spec->workloads[0], spec->l2, err));
    MT_TRY(evaluator->ops->submit(evaluator, &trial, err));
    for (bool is_done = false; !is_done;) {
        mt_event event;
        MT_TRY(evaluator->ops->next(evaluator, &event, err));
        is_done = event.kind == MT_EVENT_DONE;
        if (is_done && event.outcome.kind != MT_OUTCOME_OK) st = MT_FAIL(err, MT_ERR_COMPILE, "%s", event.outcome.text ? event.outcome.text : mt_outcome_name(event.outcome.kind));
        mt_event_free(&event);
    }
done:
    return st;
}

static mt_status try_compiler(mt_evaluator *evaluator, const mt_spec *spec, void *context, mt_error *err)
{
    mt_space *space = NULL;
    *(mt_live_toolkit *)context = (mt_live_toolkit){evaluator->facts.nvrtc_version, evaluator->headers && evaluator->headers[0]};
    mt_status st = mt_space_create(spec, &spec->shapes[0], &probe_facts, &space, err);
    if (st == MT_OK) st = compile_point(evaluator, space, err);
    mt_space_free(space);
    return st;
}

/* Of a log that stands behind "the probe does not compile": the first line, which is the tool's own where it knows what is wrong. Nobody else knows the probe. */
static void keep_reason(mt_error *err)
{
    static const char tool[] = "msda-tune: ";
    const char *log = strstr(err->message, ":\n"), *reason = log ? log + 2 : err->message;
    if (strncmp(reason, tool, sizeof tool - 1) == 0) reason += sizeof tool - 1;
    size_t length = strcspn(reason, "\n");
    memmove(err->message, reason, length);
    err->message[length] = '\0';
}

mt_status mt_live_compiler(mt_live_toolkit *toolkit, mt_error *err)
{
    *toolkit = (mt_live_toolkit){0};
    mt_status st = ask(-1, try_compiler, toolkit, err);
    if (st != MT_OK) keep_reason(err);
    return st;
}
