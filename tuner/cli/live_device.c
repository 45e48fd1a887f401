#include "tuner/cli/live_device.h"

#include <stdio.h>
#include <unistd.h>

#include "tuner/base/file.h"
#include "tuner/base/room.h"
#include "tuner/run/eval_worker.h"

/* Workers start for a search space, which they are given as a file; the smallest one serves, since nothing of it is compiled. */
static const char probe[] = "[kernel]\nname = probe\nsource = probe.cu\nreference = probe\n[shape one]\nN = 1\n[algorithm probe]\n"
                            "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n";

static mt_status ask_worker(uv_loop_t *loop, int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    mt_spec *spec = NULL;
    mt_source_file file = {.name = (char *)"probe.cu", .path = (char *)"probe.cu", .text = (char *)""};
    const mt_source source = {&file, 1};
    const mt_worker_options options_of_worker = {.jobs = 1, .device = ordinal, .compile_limit_s = 60, .variant_limit_s = 10, .subject_limit_s = 60};
    mt_evaluator *evaluator = NULL;
    char path[32];
    int fd = -1;
    mt_status st = MT_OK;
    MT_TRY(mt_memfd("probe.ini", probe, sizeof probe - 1, &fd, err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    MT_TRY(mt_spec_load(path, &spec, err));
    MT_TRY(mt_eval_worker_create(loop, spec, &source, &options_of_worker, &evaluator, err));
    *facts = evaluator->facts;
    snprintf(arch, MT_ARCH_SIZE, "%s", evaluator->arch);
done:
    if (evaluator) evaluator->ops->destroy(evaluator);
    mt_spec_free(spec);
    if (fd >= 0) close(fd);
    return st;
}

mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    uv_loop_t loop;
    if (!MT_WITH_CUDA) return MT_FAIL(err, MT_ERR_NO_GPU, "this build has no GPU part (the CUDA Toolkit's headers were not there)");
    mt_status room = mt_room_check(err);
    if (room != MT_OK) return room;
    if (uv_loop_init(&loop) != 0) return MT_FAIL(err, MT_ERR_IO, "no event loop");
    mt_status st = ask_worker(&loop, ordinal, facts, arch, err);
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_loop_close(&loop);
    return st;
}
