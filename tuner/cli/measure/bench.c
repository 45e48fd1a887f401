#include "tuner/cli/measure/bench.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/cli/requests/gpu_list.h"
#include "tuner/cli/share.h"
#include "tuner/evaluate/eval_replay.h"
#include "tuner/space/spec/adhoc.h"

/* Rows belong to a model, and what a bench measures is of one. */
static void tell_others(const mt_evaluator *evaluator)
{
    int others[MT_DEVICES_MAX];
    size_t count = mt_eval_worker_others(evaluator, others);
    for (size_t i = 0; i < count; i++) mt_log_warn("GPU %d is left out: it is of another model than GPU %d", others[i], evaluator->devices[0].ordinal);
}

static mt_status open_real(mt_bench *bench, const mt_bench_options *options, mt_error *err)
{
    mt_gpu_list gpus = {.ordinals = {options->device}, .count = 1};
    mt_status st = options->gpu ? mt_gpu_list_parse(options->gpu, &gpus, err) : MT_OK;
    if (st != MT_OK) return st;
    bench->cache_dir = mt_path_user_cache();
    if (!bench->cache_dir) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    mt_worker_options workers = {.jobs = options->jobs, .device = gpus.ordinals[0], .more_devices = gpus.ordinals + 1, .more_count = gpus.count - 1, .all_devices = gpus.is_all, .cache_dir = bench->cache_dir, .seed = options->seed, .compile_limit_s = 60,
                                 .variant_limit_s = options->variant_limit_s > 0 ? options->variant_limit_s : 10, .subject_limit_s = 60, .guard_pages = options->guard_pages};
    st = mt_eval_worker_create(&bench->loop, bench->spec, &bench->source, &workers, &bench->evaluator, err);
    if (st == MT_OK) tell_others(bench->evaluator);
    return st;
}

static mt_status open_evaluator(mt_bench *bench, const mt_bench_options *options, mt_error *err)
{
    bool is_recorded = options->gpu && strncmp(options->gpu, "recorded:", 9) == 0;
    mt_status st = mt_process_limits_check(err);
    if (st != MT_OK) return st;
    if (uv_loop_init(&bench->loop) != 0) return MT_FAIL(err, MT_ERR_IO, "no event loop");
    bench->has_loop = true;
    if (!is_recorded) return open_real(bench, options, err);
    st = mt_share_recordings(options->recordings, &bench->recordings, err);
    return st == MT_OK ? mt_eval_replay_create(bench->recordings, options->gpu + 9, bench->spec, &bench->evaluator, err) : st;
}

mt_status mt_bench_open(const mt_bench_options *options, mt_bench *bench, mt_error *err)
{
    mt_status st = MT_OK;
    memset(bench, 0, sizeof *bench);
    MT_TRY(mt_share_space(options->space, &bench->path, err));
    MT_TRY(mt_spec_load_shapes(bench->path, options->shape_keys, options->shape_key_count, &bench->spec, err));
    MT_TRY(mt_source_load(bench->spec, &bench->source, err));
    MT_TRY(mt_source_key(bench->spec, &bench->source, &bench->kernel_key, err));
    MT_TRY(open_evaluator(bench, options, err));
    bench->kernel_key = *mt_evaluator_key(bench->evaluator, &bench->kernel_key);
    const mt_device_facts *facts = &bench->evaluator->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, bench->gpu_key, sizeof bench->gpu_key);
done:
    if (st != MT_OK) mt_bench_close(bench);
    return st;
}

void mt_bench_close(mt_bench *bench)
{
    if (bench->evaluator) bench->evaluator->ops->destroy(bench->evaluator);
    if (bench->has_loop) {
        uv_run(&bench->loop, UV_RUN_NOWAIT);
        uv_loop_close(&bench->loop);
    }
    mt_store_close(bench->recordings);
    mt_source_free(&bench->source);
    mt_spec_free(bench->spec);
    mt_free(bench->path);
    mt_free(bench->cache_dir);
    memset(bench, 0, sizeof *bench);
}
