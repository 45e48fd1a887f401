/* msda-tune device: the facts of a GPU as expressions see them. The coordinator never calls CUDA: a device worker is asked. */
#include <unistd.h>

#include "db/key.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/print.h"
#include "tuner/cli/share.h"
#include "tuner/run/eval_worker.h"

typedef struct device_values {
    int64_t ordinal;
    bool json;
} device_values;

static const mt_option options[] = {
    {"gpu", 0, MT_OPTION_SEED, offsetof(device_values, ordinal), "N", "device number (default 0)"},
    {"json", 0, MT_OPTION_FLAG, offsetof(device_values, json), NULL, "an object instead of text"},
    {0},
};

/* Workers start for a search space, which they are given as a file; the smallest one serves, since nothing of it is compiled. */
static const char probe[] = "[kernel]\nname = probe\nsource = probe.cu\nreference = probe\n[shape one]\nN = 1\n[variant probe]\n"
                            "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n";

static void print_text(const mt_device_facts *facts, const char *key, const char *arch)
{
    mt_strbuf name = {0};
    mt_print_clean(&name, facts->name, 0);
    printf("%s\n  key              %s\n  arch             %s\n", mt_strbuf_text(&name), key, arch);
    for (size_t i = 0; i < mt_facts_count(); i++) printf("  device.%-14s %lld\n", mt_facts_name(i), (long long)mt_facts_value(facts, i));
    printf("  driver           CUDA %lld.%lld\n", (long long)(facts->driver_version / 1000), (long long)(facts->driver_version % 1000 / 10));
    if (facts->nvrtc_version) printf("  NVRTC            %lld.%lld\n", (long long)(facts->nvrtc_version / 1000), (long long)(facts->nvrtc_version % 1000 / 10));
    mt_strbuf_free(&name);
}

static mt_status print_json(const mt_device_facts *facts, const char *key, const char *arch, mt_error *err)
{
    mt_strbuf out = {0};
    mt_strbuf_add(&out, "{\"name\":");
    mt_strbuf_add_json(&out, facts->name);
    mt_strbuf_add(&out, ",\"key\":");
    mt_strbuf_add_json(&out, key);
    mt_strbuf_add(&out, ",\"arch\":");
    mt_strbuf_add_json(&out, arch);
    for (size_t i = 0; i < mt_facts_count(); i++) mt_strbuf_addf(&out, ",\"%s\":%lld", mt_facts_name(i), (long long)mt_facts_value(facts, i));
    mt_strbuf_addf(&out, ",\"driver_version\":%lld,\"nvrtc_version\":%lld}\n", (long long)facts->driver_version, (long long)facts->nvrtc_version);
    mt_status st = out.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "device: out of memory") : MT_OK;
    if (st == MT_OK) fputs(mt_strbuf_text(&out), stdout);
    mt_strbuf_free(&out);
    return st;
}

static mt_status ask_worker(uv_loop_t *loop, int ordinal, bool json, mt_error *err)
{
    mt_spec *spec = NULL;
    mt_source_file file = {.name = (char *)"probe.cu", .path = (char *)"probe.cu", .text = (char *)""};
    const mt_source source = {&file, 1};
    const mt_worker_options options_of_worker = {.jobs = 1, .device = ordinal, .compile_limit_s = 60, .variant_limit_s = 10, .subject_limit_s = 60};
    mt_evaluator *evaluator = NULL;
    char key[MT_KEY_GPU_SIZE];
    char path[32];
    int fd = -1;
    mt_status st = MT_OK;
    MT_TRY(mt_memfd("probe.ini", probe, sizeof probe - 1, &fd, err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    MT_TRY(mt_spec_load(path, &spec, err));
    MT_TRY(mt_eval_worker_create(loop, spec, &source, &options_of_worker, &evaluator, err));
    const mt_device_facts *facts = &evaluator->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, key, sizeof key);
    if (json)
        MT_TRY(print_json(facts, key, evaluator->arch, err));
    else
        print_text(facts, key, evaluator->arch);
done:
    if (evaluator) evaluator->ops->destroy(evaluator);
    mt_spec_free(spec);
    if (fd >= 0) close(fd);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const device_values *values = arguments->values;
    uv_loop_t loop;
    if (!MT_WITH_CUDA) return MT_FAIL(err, MT_ERR_NO_GPU, "this build has no GPU part (the CUDA Toolkit's headers were not there)");
    if (values->ordinal > 1023) return MT_FAIL(err, MT_ERR_USAGE, "device: --gpu is %lld, expected a device number", (long long)values->ordinal);
    if (uv_loop_init(&loop) != 0) return MT_FAIL(err, MT_ERR_IO, "device: no event loop");
    mt_status st = ask_worker(&loop, (int)values->ordinal, values->json, err);
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_loop_close(&loop);
    return st;
}

const mt_command mt_cmd_device = {
    .name = "device",
    .summary = "the facts of the GPU, as search spaces see them",
    .help = "Prints what expressions may use as device.*, and the key that results are stored under. Exits 3 without a usable GPU.",
    .options = options,
    .values_size = sizeof(device_values),
    .run = run,
};
