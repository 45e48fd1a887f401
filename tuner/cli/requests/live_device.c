#include "tuner/cli/requests/live_device.h"

#include <stdio.h>
#include <unistd.h>

#include "tuner/base/file.h"
#include "tuner/base/process_limits.h"
#include "tuner/evaluate/eval_worker.h"

/* Workers start for a search space, which they are given as a file; the smallest one serves, since nothing of it is compiled. */
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

/* Starts the workers of device `ordinal`, or, where that is negative, a compile worker alone, and takes what they say of themselves. */
static mt_status ask_workers(uv_loop_t *loop, int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    mt_spec *spec = NULL;
    mt_source_file file = {.name = (char *)"probe.cu", .path = (char *)"probe.cu", .text = (char *)""};
    const mt_source source = {&file, 1};
    const mt_worker_options options = {.jobs = 1, .device = ordinal, .compile_limit_s = 60, .variant_limit_s = 10, .subject_limit_s = 60};
    const mt_device_facts none = {0};
    mt_evaluator *evaluator = NULL;
    int fd = -1;
    mt_status st = MT_OK;
    MT_TRY(load_probe(&fd, &spec, err));
    MT_TRY(ordinal < 0 ? mt_eval_compile_create(loop, spec, &source, &options, &none, &evaluator, err) : mt_eval_worker_create(loop, spec, &source, &options, &evaluator, err));
    *facts = evaluator->facts;
    snprintf(arch, MT_ARCH_SIZE, "%s", evaluator->arch);
done:
    if (evaluator) evaluator->ops->destroy(evaluator);
    mt_spec_free(spec);
    if (fd >= 0) close(fd);
    return st;
}

static mt_status ask(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    uv_loop_t loop;
    mt_status st = mt_process_limits_check(err);
    if (st != MT_OK) return st;
    if (uv_loop_init(&loop) != 0) return MT_FAIL(err, MT_ERR_IO, "no event loop");
    st = ask_workers(&loop, ordinal, facts, arch, err);
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_loop_close(&loop);
    return st;
}

mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    return ask(ordinal, facts, arch, err);
}

mt_status mt_live_compiler(int64_t *nvrtc_version, mt_error *err)
{
    mt_device_facts facts = {0};
    char arch[MT_ARCH_SIZE];
    mt_status st = ask(-1, &facts, arch, err);
    *nvrtc_version = facts.nvrtc_version;
    return st;
}
