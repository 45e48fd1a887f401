/* Arguments as numbers: tensors, arrays of tensor maps, scalars. */
#include <inttypes.h>

#include "tuner/base/alloc.h"
#include "tuner/space/launch/plan_internal.h"
#include "tuner/space/points/env.h"

static const int64_t count_limit = 255;         /* maps of 128 bytes in the 32,764 bytes of a kernel's parameters */
static const uint64_t byte_limit = UINT64_C(1) << 62;

static mt_status dtype_of(mt_planner *planner, const mt_arg *arg, mt_dtype *dtype)
{
    mt_place place = mt_spec_place(planner->spec, arg->line);
    char *text = NULL;
    mt_status st = mt_env_expand(planner->env, arg->dtype_text, &text, planner->err);
    if (st == MT_OK && !mt_dtype_from_name(text, dtype)) {
        st = MT_FAIL(planner->err, MT_ERR_SPEC, "%s:%d: [arg %s] dtype = %s is `%s` here: expected a name such as f16", place.path, place.line, arg->name,
                     arg->dtype_text, text);
    }
    mt_free(text);
    return st;
}

/* ---- tensors ---- */

/* An input or output of no elements is a mistake in the file; scratch may be empty where a point needs none. */
static mt_status check_dim(mt_planner *planner, const mt_arg *arg, size_t dim, int64_t value)
{
    mt_place place = mt_spec_place(planner->spec, arg->line);
    if (value >= 1 || (value == 0 && arg->role == MT_ROLE_SCRATCH)) return MT_OK;
    if (arg->role == MT_ROLE_SCRATCH) return mt_planner_refuse(planner, "[arg %s] dimension %zu is %" PRId64 ": must not be negative",
                                                               arg->name, dim, value);
    return MT_FAIL(planner->err, MT_ERR_SPEC, "%s:%d: [arg %s] dimension %zu (%s) is %" PRId64 " for shape %s: expected at least 1",
                   place.path, place.line,
                   arg->name, dim, arg->shape.items[dim].source, value, mt_env_shape(planner->env)->name);
}

static mt_status plan_init(mt_planner *planner, const mt_arg *arg, mt_plan_tensor *tensor)
{
    int64_t bounds[2] = { 0 };
    mt_place place = mt_spec_place(planner->spec, arg->line);
    tensor->init_a = arg->init_a, tensor->init_b = arg->init_b;
    for (size_t i = 0; i < arg->init_bounds.count; i++) {
        mt_status st = mt_planner_int(planner, &arg->init_bounds.items[i], &bounds[i]);
        if (st != MT_OK) return st;
    }
    if (!arg->init_bounds.count) return MT_OK;
    if (bounds[0] > bounds[1])
        return MT_FAIL(planner->err, MT_ERR_SPEC, "%s:%d: [arg %s] init is uniform(%" PRId64 ", %" PRId64 ") for shape %s: expected the smaller bound first", place.path, place.line, arg->name,
                       bounds[0], bounds[1], mt_env_shape(planner->env)->name);
    tensor->init_a = (double)bounds[0], tensor->init_b = (double)bounds[1];
    return MT_OK;
}

static mt_status plan_tensor(mt_planner *planner, size_t index)
{
    mt_status st = MT_OK;
    const mt_arg *arg = &planner->spec->args[index];
    mt_place place = mt_spec_place(planner->spec, arg->line);
    mt_plan_tensor *tensor = &planner->plan->args[index].tensor;
    tensor->arg = index;
    tensor->rank = arg->shape.count;
    tensor->elements = 1;
    MT_TRY(dtype_of(planner, arg, &tensor->dtype));
    MT_TRY(plan_init(planner, arg, tensor));
    for (size_t i = 0; i < tensor->rank; i++) {
        MT_TRY(mt_planner_int(planner, &arg->shape.items[i], &tensor->dims[i]));
        MT_TRY(check_dim(planner, arg, i, tensor->dims[i]));
        bool overflows = __builtin_mul_overflow(tensor->elements, (uint64_t)tensor->dims[i], &tensor->elements);
        if (overflows || tensor->elements > byte_limit / 8) {
            return MT_FAIL(planner->err, MT_ERR_SPEC, "%s:%d: [arg %s] dimension %zu (%s) is %" PRId64 " for shape %s, which makes more elements than the limit of 2^59", place.path, place.line, arg->name, i,
                           arg->shape.items[i].source, tensor->dims[i], mt_env_shape(planner->env)->name);
        }
    }
    tensor->bytes = tensor->elements * mt_dtype_bytes(tensor->dtype);
done:
    return st;
}

/* ---- tensor maps ---- */

static mt_status length_of(mt_planner *planner, const mt_arg *arg, const char *what, size_t dim, const mt_expr *expr, int64_t low,
                           int64_t *value)
{
    mt_status st = mt_planner_int(planner, expr, value);
    if (st != MT_OK || *value >= low) return st;
    return mt_planner_refuse(planner, "[arg %s] %s of dimension %zu is %" PRId64 ": must be at least %" PRId64, arg->name, what, dim, *value,
                             low);
}

/* The last element that the map reaches must lie in its tensor; *reach is in elements. */
static mt_status check_reach(mt_planner *planner, const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t reach, bool overflows)
{
    if (!overflows && reach < tensor->elements) return MT_OK;
    return mt_planner_refuse(planner,
                             "[arg %s] reaches element %" PRIu64 "%s of %s, which has %" PRIu64 ": offset, dims and strides must stay inside", arg->name, reach,
                             overflows ? " or more" : "", planner->spec->args[arg->of].name, tensor->elements);
}

static mt_status plan_map(mt_planner *planner, const mt_arg *arg, const mt_plan_tensor *tensor, mt_plan_map *map)
{
    mt_status st = MT_OK;
    uint64_t bytes = mt_dtype_bytes(tensor->dtype), reach = 0;
    int64_t offset = 0, value;
    bool overflows = false;
    if (arg->offset.program) MT_TRY(mt_planner_int(planner, &arg->offset, &offset));
    if (offset < 0) return mt_planner_refuse(planner, "[arg %s] offset is %" PRId64 ": must not be negative", arg->name, offset);
    value = arg->swizzle_bytes;
    if (arg->swizzle.program) MT_TRY(mt_planner_int(planner, &arg->swizzle, &value));
    if (!mt_swizzle_exists(value)) return mt_planner_refuse(planner, "[arg %s] swizzle is %" PRId64 ": must be 0, 32, 64 or 128", arg->name, value);
    map->swizzle_bytes = (int)value;
    map->rank = (uint32_t)arg->dims.count;
    reach = (uint64_t)offset;
    overflows = __builtin_mul_overflow((uint64_t)offset, bytes, &map->offset_bytes);
    for (size_t i = 0; i < map->rank; i++) {
        uint64_t stride = 1, span;
        MT_TRY(length_of(planner, arg, "dims", i, &arg->dims.items[i], 1, &value));
        map->dims[i] = (uint64_t)value;
        MT_TRY(length_of(planner, arg, "box", i, &arg->box.items[i], 1, &value));
        map->box[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; /* far above what is legal either way */
        if (i > 0) {
            MT_TRY(length_of(planner, arg, "strides", i, &arg->strides.items[i - 1], 0, &value));
            stride = (uint64_t)value;
            overflows |= __builtin_mul_overflow(stride, bytes, &map->stride_bytes[i - 1]);
        }
        overflows |= __builtin_mul_overflow(map->dims[i] - 1, stride, &span) || __builtin_add_overflow(reach, span, &reach);
    }
    MT_TRY(check_reach(planner, arg, tensor, reach, overflows));
done:
    return st;
}

static mt_status plan_tensormap(mt_planner *planner, size_t index)
{
    mt_status st = MT_OK;
    const mt_arg *arg = &planner->spec->args[index];
    mt_plan_arg *planned = &planner->plan->args[index];
    const mt_plan_tensor *tensor = &planner->plan->args[arg->of].tensor;
    int64_t count = 1;
    planned->map_dtype = tensor->dtype;
    if (arg->is_array) MT_TRY(mt_planner_int(planner, &arg->count, &count));
    if (count < 1 || count > count_limit) {
        return mt_planner_refuse(planner, "[arg %s] has %" PRId64 " maps: must be 1 to %" PRId64, arg->name, count, count_limit);
    }
    planned->maps = mt_alloc((size_t)count, sizeof *planned->maps);
    if (!planned->maps) return MT_FAIL(planner->err, MT_ERR_NO_MEMORY, "out of memory");
    planned->map_count = (size_t)count;
    for (int64_t i = 0; i < count; i++) {
        mt_env_put_loop(planner->env, i);
        MT_TRY(plan_map(planner, arg, tensor, &planned->maps[i]));
    }
done:
    return st;
}

/* ---- scalars ---- */

static mt_status plan_scalar(mt_planner *planner, size_t index)
{
    mt_status st = MT_OK;
    const mt_arg *arg = &planner->spec->args[index];
    mt_plan_arg *planned = &planner->plan->args[index];
    int64_t value = 0;
    MT_TRY(dtype_of(planner, arg, &planned->scalar_dtype));
    if (!arg->value.program) {
        if (mt_scalar_from_double(planned->scalar_dtype, arg->literal, planned->scalar)) return MT_OK;
        return mt_planner_refuse(planner, "[arg %s] value %g does not fit %s", arg->name, arg->literal, mt_dtype_name(planned->scalar_dtype));
    }
    MT_TRY(mt_planner_int(planner, &arg->value, &value));
    if (!mt_scalar_from_int(planned->scalar_dtype, value, planned->scalar)) {
        st = mt_planner_refuse(planner, "[arg %s] value %" PRId64 " does not fit %s", arg->name, value, mt_dtype_name(planned->scalar_dtype));
    }
done:
    return st;
}

mt_status mt_planner_arg(mt_planner *planner, size_t arg)
{
    switch (planner->plan->args[arg].kind) {
    case MT_ARG_TENSOR: return plan_tensor(planner, arg);
    case MT_ARG_TENSORMAP: return plan_tensormap(planner, arg);
    default: return plan_scalar(planner, arg);
    }
}
