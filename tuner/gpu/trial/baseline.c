#include "tuner/gpu/trial/baseline.h"

#include <stdio.h>
#include <string.h>

#include "include/msda_baseline.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/dynlib.h"

enum { WORKSPACE_BYTES = 32 << 20 /* what NVIDIA recommends for Hopper */ };

struct mt_baseline {
    char *name;                    /* of the plugin; NULL = none is open */
    void *library;
    const msda_baseline *plugin;
    void *problem;                 /* the plugin's; NULL = none */
    char *shape_key;               /* of the problem */
    CUdeviceptr workspace;
    msda_baseline_arg *args;       /* as many as the spec has */
    char text[256];
    int code;                      /* that the algorithm returned last instead of 0 */
};

/* ---- the library ---- */

/* Beside the executable: <prefix>/lib/msda-tune, or where a distribution keeps libraries; a build folder looks the same. */
static void add_places(const char *name, mt_strbuf places[2])
{
    char *self = mt_path_self(), *folder = self ? mt_path_folder(self) : NULL;
    mt_strbuf_addf(&places[0], "%s/../lib/msda-tune/baseline_%s.so", folder ? folder : ".", name);
    mt_strbuf_addf(&places[1], "%s/../lib*/*/msda-tune/baseline_%s.so", folder ? folder : ".", name);
    mt_free(self);
    mt_free(folder);
}

static mt_status open_library(mt_gpu_trial *trial, mt_baseline *self, const char *name)
{
    mt_strbuf places[2] = {0}, tried = {0};
    const msda_baseline *(*get)(void) = NULL;
    const mt_dynlib_symbol symbol = {"msda_baseline_get", (void **)&get, true};
    add_places(name, places);
    const char *names[] = {mt_strbuf_text(&places[0]), mt_strbuf_text(&places[1])};
    self->library = mt_dynlib_open("MSDA_TUNE_BASELINE", names, 2, &tried);
    const char *missing = self->library ? mt_dynlib_symbols(self->library, &symbol, 1) : NULL;
    self->plugin = self->library && !missing ? get() : NULL;
    const msda_baseline *plugin = self->plugin;
    if (!self->library) mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "no plugin for baseline %s: %s", name, mt_strbuf_text(&tried));
    else if (!self->plugin) mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "the plugin of baseline %s has no msda_baseline_get", name);
    else if (self->plugin->abi != MSDA_BASELINE_ABI)
        mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "the plugin of baseline %s has ABI %u, expected %d", name, self->plugin->abi, MSDA_BASELINE_ABI);
    else if (!plugin->open || !plugin->count || !plugin->describe || !plugin->run || !plugin->close)
        mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "the plugin of baseline %s leaves out a function of msda_baseline", name);
    else self->name = mt_strdup(name);
    for (size_t i = 0; i < 2; i++) mt_strbuf_free(&places[i]);
    mt_strbuf_free(&tried);
    return MT_OK;
}

/* ---- the problem ---- */

static void close_problem(mt_baseline *self)
{
    if (self->problem) self->plugin->close(self->problem);
    mt_free(self->shape_key);
    mt_free(self->args);
    self->problem = NULL;
    self->shape_key = NULL;
    self->args = NULL;
}

static msda_baseline_value *list_values(const mt_shape *shape, size_t *count)
{
    msda_baseline_value *values = mt_alloc(shape->setting_count, sizeof *values);
    *count = 0;
    for (size_t i = 0; values && i < shape->setting_count; i++) {
        const mt_setting *setting = &shape->settings[i];
        if (setting->value.kind == MT_VALUE_INT) values[(*count)++] = (msda_baseline_value){.name = setting->name, .number = setting->value.number};
        else if (setting->value.kind == MT_VALUE_STRING) values[(*count)++] = (msda_baseline_value){.name = setting->name, .text = setting->value.string};
    }
    return values;
}

static mt_status open_problem(mt_gpu_trial *trial, mt_baseline *self, mt_error *err)
{
    mt_status st = MT_OK;
    char why[256] = "it did not say why";
    const mt_shape *shape = trial->request->subject->shape;
    msda_baseline_problem problem = {.workspace_bytes = WORKSPACE_BYTES};
    msda_baseline_value *values = list_values(shape, &problem.value_count);
    close_problem(self);
    self->shape_key = mt_strdup(shape->key);
    self->args = mt_alloc(trial->spec->arg_count, sizeof *self->args);
    if (!values || !self->shape_key || !self->args) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "baseline"));
    if (!self->workspace) MT_TRIAL_CU(trial->gpu->cuda.cuMemAlloc(&self->workspace, WORKSPACE_BYTES), "the baseline's workspace");
    problem.values = values;
    problem.workspace = self->workspace;
    self->problem = self->plugin->open(&problem, why, sizeof why);
    why[sizeof why - 1] = '\0';
    if (!self->problem) mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "baseline %s: %s", self->name, why);
done:
    mt_free(values);
    return st;
}

static mt_status check_algorithm(mt_gpu_trial *trial, mt_baseline *self)
{
    size_t count = self->plugin->count(self->problem);
    self->code = 0;
    snprintf(self->text, sizeof self->text, "algorithm %u", trial->request->algorithm);
    if (trial->request->algorithm < count) self->plugin->describe(self->problem, trial->request->algorithm, self->text, sizeof self->text);
    else mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "baseline %s has %zu algorithms here", self->name, count);
    self->text[sizeof self->text - 1] = '\0';
    return MT_OK;
}

static void free_baseline(mt_gpu *gpu)
{
    mt_baseline *self = gpu->baseline;
    close_problem(self);
    if (self->workspace) gpu->cuda.cuMemFree(self->workspace);
    mt_free(self->name);
    mt_free(self);
    gpu->baseline = NULL;
}

mt_status mt_baseline_prepare(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    if (!gpu->baseline) gpu->baseline = mt_alloc(1, sizeof *gpu->baseline);
    mt_baseline *self = gpu->baseline;
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "baseline");
    gpu->free_baseline = free_baseline;
    if (self->name && strcmp(self->name, trial->request->baseline) != 0) {
        close_problem(self);
        mt_free(self->name); /* the library stays loaded: unloading what started CUDA's runtime is not safe */
        self->name = NULL;
    }
    if (!self->name) MT_TRIAL_TRY(open_library(trial, self, trial->request->baseline));
    bool is_open = self->problem && strcmp(self->shape_key, trial->request->subject->shape->key) == 0;
    if (!is_open) MT_TRIAL_TRY(open_problem(trial, self, err));
    MT_TRIAL_TRY(check_algorithm(trial, self));
done:
    return st;
}

/* ---- running ---- */

static double scalar_value(const mt_plan_arg *arg)
{
    float single;
    double number;
    if (arg->scalar_dtype == MT_F64) {
        memcpy(&number, arg->scalar, sizeof number);
        return number;
    }
    memcpy(&single, arg->scalar, sizeof single);
    return single;
}

/* Tensors that the compared variants take, and scalars of f32 and f64. */
static size_t list_args(const mt_gpu_trial *trial, const mt_binding *binding, msda_baseline_arg *args)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        const mt_plan_arg *arg = &trial->plan.args[i];
        if (mt_trial_uses(trial, i)) args[count++] = (msda_baseline_arg){.name = trial->spec->args[i].name, .address = binding->address[i]};
        else if (arg->kind == MT_ARG_SCALAR && (arg->scalar_dtype == MT_F32 || arg->scalar_dtype == MT_F64))
            args[count++] = (msda_baseline_arg){.name = trial->spec->args[i].name, .number = scalar_value(arg)};
    }
    return count;
}

CUresult mt_baseline_run(mt_gpu_trial *trial, const mt_binding *binding)
{
    mt_baseline *self = trial->gpu->baseline;
    size_t count = list_args(trial, binding, self->args);
    int code = self->plugin->run(self->problem, trial->request->algorithm, self->args, count, trial->gpu->stream);
    if (code != 0) self->code = code;
    return code == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

void mt_baseline_explain(mt_gpu_trial *trial)
{
    const mt_baseline *self = trial->gpu->baseline;
    if (self->code != 0 && trial->outcome->kind == MT_OUTCOME_LAUNCH_ERROR)
        mt_outcome_set(trial->outcome, MT_OUTCOME_LAUNCH_ERROR, "baseline %s: %s: its error %d", self->name, self->text, self->code);
}

const char *mt_baseline_text(mt_gpu_trial *trial)
{
    return trial->gpu->baseline->text;
}
