/* The end of an mt_spec, finished or not: every field may still be NULL. */
#include "tuner/base/alloc.h"
#include "tuner/space/spec/spec_internal.h"

static void free_settings(mt_setting *settings, size_t count)
{
    for (size_t i = 0; settings && i < count; i++) {
        mt_free(settings[i].name);
        mt_free(settings[i].text);
        mt_free((void *)settings[i].value.string);
        mt_free((void *)settings[i].value.list);
    }
    mt_free(settings);
}

static void free_shape(mt_shape *shape)
{
    mt_free(shape->name);
    mt_free(shape->key);
    free_settings(shape->settings, shape->setting_count);
    mt_strings_free(shape->workloads, shape->workload_count);
}

static void free_workload(mt_workload *workload)
{
    mt_free(workload->name);
    mt_free(workload->key);
    free_settings(workload->settings, workload->setting_count);
}

static void free_algorithm(mt_algorithm *algorithm)
{
    MT_FREE_EACH(algorithm->name, algorithm->entry, algorithm->doc, algorithm->options);
    mt_expr_free(&algorithm->requires_expr);
    mt_strings_free(algorithm->bake, algorithm->bake_count);
}

static void free_param(mt_param *param)
{
    MT_FREE_EACH(param->name, param->macro, param->numbers);
    mt_strings_free(param->strings, param->value_count);
    mt_expr_free(&param->when);
    mt_free(param->doc);
}

static void free_arg(mt_arg *arg)
{
    mt_free(arg->name);
    mt_free(arg->dtype_text);
    mt_expr_list_free(&arg->init_bounds);
    MT_FREE_EACH(arg->init_kernel, arg->init_file, arg->constant, arg->batch, arg->loop);
    mt_expr_list_free(&arg->shape);
    mt_expr_free(&arg->count);
    mt_expr_free(&arg->offset);
    mt_expr_free(&arg->swizzle);
    mt_expr_list_free(&arg->dims);
    mt_expr_list_free(&arg->strides);
    mt_expr_list_free(&arg->box);
    mt_expr_free(&arg->value);
    mt_free(arg->members);
}

static void free_launches(mt_launch *launches, size_t count)
{
    for (size_t i = 0; launches && i < count; i++) {
        mt_launch *launch = &launches[i];
        MT_FREE_EACH(launch->algorithm, launch->entry, launch->args, launch->reached);
        mt_expr_list_free(&launch->grid);
        mt_expr_list_free(&launch->block);
        mt_expr_list_free(&launch->cluster);
        mt_expr_free(&launch->smem);
        mt_expr_free(&launch->carveout);
        mt_expr_free(&launch->blocks_per_sm);
        mt_expr_free(&launch->when);
        mt_expr_free(&launch->repeat);
    }
    mt_free(launches);
}

static void free_owned(mt_spec *spec)
{
    struct mt_ini_data *owned = spec->owned;
    if (!owned) return;
    mt_free(spec->let_knobs);
    size_t names = spec->shape_count ? spec->shapes[0].setting_count : 0;
    for (size_t i = 0; owned->shape_strings && i < names; i++) mt_free(owned->shape_strings[i]);
    mt_free(owned->shape_strings);
    mt_free(owned->shape_string_counts);
    mt_ini_free(&owned->ini);
    mt_free(owned);
}

static void free_kernel(mt_spec *spec)
{
    MT_FREE_EACH(spec->text, spec->path, spec->name, spec->source, spec->reference, spec->reference_file, spec->options, spec->macros);
    mt_strings_free(spec->include_dirs, spec->include_count);
    MT_FREE_EACH(spec->strategy, spec->baseline, spec->defaults_text);
    mt_strings_free(spec->defaults, spec->default_count);
    mt_free(spec->library);
    mt_strings_free(spec->slot_names, spec->slot_count);
    mt_expr_free(&spec->model_flops);
    mt_expr_free(&spec->model_dram_bytes);
    mt_expr_free(&spec->model_time_ns);
    mt_free(spec->model_correction_path);
    mt_free(spec->model_correction);
    mt_expr_free(&spec->model_moved_bytes);
    mt_expr_free(&spec->model_ops);
    mt_expr_free(&spec->model_floor_ns);
    mt_expr_free(&spec->per);
}

/* Frees an array with its elements' own destructor. */
#define FREE_EACH(items, count, free_one)                                       \
    do {                                                                        \
        for (size_t i = 0; (items) && i < (count); i++) free_one(&(items)[i]);  \
        mt_free(items);                                                         \
    } while (0)

static void free_let(mt_let *let)
{
    mt_free(let->name);
    mt_expr_free(&let->expr);
}

static void free_constraint(mt_constraint *constraint)
{
    mt_free(constraint->name);
    mt_free(constraint->why);
    mt_expr_free(&constraint->expr);
}

void mt_spec_free(mt_spec *spec)
{
    if (!spec) return;
    free_owned(spec); /* first: it counts by the arrays below */
    free_kernel(spec);
    FREE_EACH(spec->shapes, spec->shape_count, free_shape);
    FREE_EACH(spec->workloads, spec->workload_count, free_workload);
    FREE_EACH(spec->lets, spec->let_count, free_let);
    FREE_EACH(spec->algorithms, spec->algorithm_count, free_algorithm);
    FREE_EACH(spec->params, spec->param_count, free_param);
    FREE_EACH(spec->constraints, spec->constraint_count, free_constraint);
    FREE_EACH(spec->args, spec->arg_count, free_arg);
    free_launches(spec->launches, spec->launch_count);
    mt_free(spec);
}
