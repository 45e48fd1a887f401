/* msda-tune device: the facts of a GPU as expressions see them. The coordinator never calls CUDA: a device worker is asked. */
#include "db/key.h"
#include "tuner/cli/command.h"
#include "tuner/cli/requests/live_device.h"
#include "tuner/cli/output/print.h"

typedef struct device_values {
    int64_t ordinal;
    bool json;
} device_values;

static const mt_option options[] = {
    {"gpu", 0, MT_OPTION_SEED, offsetof(device_values, ordinal), "N", "device number (default 0)"},
    {"json", 0, MT_OPTION_FLAG, offsetof(device_values, json), NULL, "an object instead of text"},
    {0},
};

static void print_text(const mt_device_facts *facts, const char *key, const char *arch)
{
    mt_strbuf name = {0};
    mt_print_clean(&name, facts->name, 0);
    printf("%s\n  key                    %s\n  arch                   %s\n", mt_strbuf_text(&name), key, arch);
    for (size_t i = 0; i < mt_facts_count(); i++) printf("  device.%-15s %lld\n", mt_facts_name(i), (long long)mt_facts_value(facts, i));
    printf("  driver                 CUDA %lld.%lld\n", (long long)(facts->driver_version / 1000), (long long)(facts->driver_version % 1000 / 10));
    if (facts->nvrtc_version) printf("  NVRTC                  %lld.%lld\n", (long long)(facts->nvrtc_version / 1000), (long long)(facts->nvrtc_version % 1000 / 10));
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

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const device_values *values = arguments->values;
    mt_device_facts facts;
    char key[MT_KEY_GPU_SIZE], arch[MT_ARCH_SIZE];
    if (values->ordinal > 1023) return MT_FAIL(err, MT_ERR_USAGE, "device: --gpu is %lld, expected a device number", (long long)values->ordinal);
    mt_status st = mt_live_device((int)values->ordinal, &facts, arch, err);
    if (st != MT_OK) return st;
    mt_key_gpu(facts.name, facts.cc, facts.sm_count, facts.mem_bytes, facts.clock_mhz, key, sizeof key);
    if (values->json) return print_json(&facts, key, arch, err);
    print_text(&facts, key, arch);
    return MT_OK;
}

const mt_command mt_cmd_device = {
    .name = "device",
    .summary = "the facts of the GPU, as search spaces see them",
    .help = "Prints what expressions may use as device.*, and the key that results are stored under. Exits 3\n"
            "without a usable GPU.",
    .options = options,
    .values_size = sizeof(device_values),
    .run = run,
};
