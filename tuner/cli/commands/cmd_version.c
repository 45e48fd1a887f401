/* msda-tune version */
#include <stdio.h>
#include <uv.h>

#include "tuner/base/toolkit.h"
#include "tuner/cli/command.h"
#include "tuner/cli/requests/live_device.h"

typedef struct version_values {
    bool json;
} version_values;

static const mt_option options[] = {
    {"json", 0, MT_OPTION_FLAG, offsetof(version_values, json), NULL, "an object instead of text: what was built in, and what is found here"},
    {0},
};

/* What the user should know: a folder that was named in vain, and why nothing compiles, if so. */
static void add_problem(mt_strbuf *out, const char *why)
{
    mt_strbuf problem = {0};
    mt_toolkit_ignored(&problem);
    if (why) mt_strbuf_addf(&problem, "%s%s", problem.length ? "; " : "", why);
    if (problem.failed) out->failed = true;
    else if (problem.length) mt_strbuf_add_json(out, mt_strbuf_text(&problem));
    else mt_strbuf_add(out, "null");
    mt_strbuf_free(&problem);
}

static const char *word(bool is_so)
{
    return is_so ? "true" : "false";
}

/* A compiler that is not there is an answer: "problem" says why. */
static mt_status print_json(mt_error *err)
{
    mt_strbuf out = {0};
    mt_error why = {0};
    mt_live_toolkit found;
    bool can_compile = mt_live_compiler(&found, &why) == MT_OK;
    bool has_headers = found.has_headers || (!found.nvrtc_version && mt_toolkit_has_headers()); /* without NVRTC no worker looked for them */
    mt_strbuf_addf(&out, "{\"version\":\"%s\",\"built_with_cuda_headers\":%s,\"has_cuda_headers\":%s,\"has_nvrtc\":%s,\"nvrtc_version\":%lld,\"can_compile\":%s,\"problem\":", MT_VERSION, word(MT_WITH_CUDA),
                   word(has_headers), word(found.nvrtc_version != 0 || (!MT_WITH_CUDA && mt_toolkit_has_nvrtc())), (long long)found.nvrtc_version, word(can_compile));
    add_problem(&out, can_compile ? NULL : !MT_WITH_CUDA && has_headers ? MT_TOOLKIT_BUILD_AGAIN : why.message);
    mt_strbuf_addf(&out, ",\"libuv\":\"%s\"}\n", uv_version_string());
    mt_status st = out.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "version: out of memory") : MT_OK;
    if (st == MT_OK) fputs(mt_strbuf_text(&out), stdout);
    mt_strbuf_free(&out);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    if (((const version_values *)arguments->values)->json) return print_json(err);
    printf("msda-tune %s (%s, libuv %s)\n", MT_VERSION, MT_WITH_CUDA ? "with GPU tuning" : "recorded GPUs only: built without CUDA headers", uv_version_string());
    return MT_OK;
}

const mt_command mt_cmd_version = {
    .name = "version",
    .summary = "print the version, what was built in and what is found here",
    .help = "Prints the version of the tool and what it was built with. With --json also whether kernels can be\n"
            "compiled here: has_cuda_headers and has_nvrtc (found now), can_compile (a small kernel was);\n"
            "\"problem\" says what is lacking, and which CUDA_HOME or CUDA_PATH holds no toolkit.\n"
            "built_with_cuda_headers tells whether this build has the parts for a GPU at all.",
    .options = options,
    .values_size = sizeof(version_values),
    .run = run,
};
