/* Variants on the fake driver, without processes: the compiler, the device, a search space and what evaluates its points. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/trial/evaluate.h"
#include "tuner/space/source/macros.h"

/* Everything between an .ini and an outcome. */
typedef struct bench {
    mt_error err;
    mt_spec *spec;
    mt_env *env;
    mt_nvrtc *nvrtc;
    mt_gpu *gpu;
    mt_device_facts facts;
    mt_source source;
    mt_compile_result tool, support;
    mt_subject_request subject;
    mt_timing_options timing;
    bool sticky, is_retime;
    int64_t energy_ns;
    const char *baseline;
    uint32_t algorithm;
    mt_stage stages[32];
    size_t stage_count;
} bench;

#define GOOD(call) ck_assert_msg((call) == MT_OK, "%s", b->err.message)

static void on_stage(void *context, mt_stage stage)
{
    bench *b = context;
    if (b->stage_count < 32) b->stages[b->stage_count++] = stage;
}

static mt_compile_result compile(bench *b, const mt_source *source, const mt_options *options)
{
    mt_compile_result result;
    const mt_compile_request request = {.source = source, .options = options ? (const char *const *)options->items : NULL, .option_count = options ? options->count : 0, .arch = "sm_90a"};
    GOOD(mt_compile(b->nvrtc, &request, &result, &b->err));
    return result;
}

static void open_bench(bench *b, const char *ini, const char *shape)
{
    mt_source tool;
    mt_options options = {0};
    *b = (bench){.timing = {.l2 = MT_L2_COLD, .interval = 0.005, .min_samples = 10, .max_samples = 50, .max_ns = 1000000000, .graph_below_ns = 10000}};
    if (ini) GOOD(mt_spec_parse(TEST_DATA_DIR "/fake/test.ini", ini, strlen(ini), &b->spec, &b->err));
    else GOOD(mt_spec_load(TEST_DATA_DIR "/fake/fake.ini", &b->spec, &b->err));
    GOOD(mt_nvrtc_open(&b->nvrtc, &b->err));
    GOOD(mt_gpu_open(0, &b->gpu, &b->facts, &b->err));
    GOOD(mt_gpu_make_context(b->gpu, &b->err));
    GOOD(mt_compile_tool_source(&tool, &b->err));
    b->tool = compile(b, &tool, NULL);
    mt_source_free(&tool);
    GOOD(mt_gpu_load_tool(b->gpu, b->tool.cubin_path, &b->err));
    GOOD(mt_source_load(b->spec, &b->source, &b->err));
    b->subject = (mt_subject_request){.spec = b->spec, .source = &b->source, .shape = mt_spec_shape(b->spec, shape), .workload = &b->spec->workloads[0], .seed = 1};
    GOOD(mt_env_create(b->spec, b->subject.shape, &b->facts, &b->env, &b->err));
    GOOD(mt_options_support(b->env, b->subject.workload, &options, &b->err));
    b->support = compile(b, &b->source, &options);
    mt_options_free(&options);
    b->subject.support_cubin = b->support.cubin_path;
}

static void close_bench(bench *b)
{
    mt_compile_result_free(&b->tool);
    mt_compile_result_free(&b->support);
    mt_source_free(&b->source);
    mt_env_free(b->env);
    mt_gpu_close(b->gpu);
    mt_nvrtc_close(b->nvrtc);
    mt_spec_free(b->spec);
}

static mt_status try_point(bench *b, const char *text, mt_outcome *outcome)
{
    mt_point point;
    mt_options options = {0};
    GOOD(mt_point_parse(b->spec, text, &point, &b->err));
    GOOD(mt_env_set_point(b->env, &point, &b->err));
    GOOD(mt_options_variant(b->env, &options, &b->err));
    mt_compile_result variant = compile(b, &b->source, &options);
    mt_options_free(&options);
    ck_assert_msg(variant.ok, "%s", variant.log);
    const mt_evaluate_request request = {.subject = &b->subject, .point = &point, .cubin_path = variant.cubin_path, .is_retime = b->is_retime,
                                         .timing = b->timing, .energy_ns = b->energy_ns, .baseline = b->baseline, .algorithm = b->algorithm};
    b->stage_count = 0;
    mt_status st = mt_gpu_evaluate(b->gpu, &request, on_stage, b, outcome, &b->sticky, &b->err);
    mt_compile_result_free(&variant);
    return st;
}
