/* Arguments of a result: tensors, tensor maps, scalars, structs. As tuner/space/launch/plan_arg.c does it: a test compares the two. */
#include "db/lookup/lookup_struct.h"

#include <string.h>

enum { MAP_LIMIT = 255 }; /* maps of 128 bytes in the 32,764 bytes of a kernel's parameters */
static const uint64_t element_limit = UINT64_C(1) << 59;

static const struct { const char *name; uint32_t bytes; } dtypes[] = {
    { "f16", 2 }, { "bf16", 2 }, { "f32", 4 }, { "f64", 8 }, { "i8", 1 }, { "u8", 1 }, { "i16", 2 }, { "u16", 2 }, { "i32", 4 }, { "u32", 4 }, { "i64", 8 }, { "u64", 8 },
};

uint32_t mt_lookup_dtype_bytes(tunelookup_dtype dtype)
{
    return dtypes[dtype].bytes;
}

static bool find_dtype(const char *name, tunelookup_dtype *dtype)
{
    for (unsigned i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (tunelookup_dtype)i;
            return true;
        }
    }
    return false;
}

static bool dtype_of(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_dtype *dtype)
{
    char text[64];
    return mt_lookup_env_expand(env, arg->dtype, text, sizeof text) && find_dtype(text, dtype);
}

/* ---- tensors ---- */

static mt_program_status tensor_of(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule)
{
    uint64_t elements = 1;
    info->role = arg->role;
    info->rank = (int32_t)arg->shape.count;
    info->zero_before_each = arg->zero_before_each;
    if (!dtype_of(env, arg, &info->dtype)) *rule = "its dtype is unknown";
    for (uint32_t i = 0; i < arg->shape.count && !*rule; i++) {
        mt_program_status status = mt_lookup_env_number(env, arg->shape.items[i], &info->dims[i]);
        if (status != MT_PROGRAM_OK) return status;
        if (info->dims[i] < (arg->role == TUNELOOKUP_SCRATCH ? 0 : 1)) *rule = "a dimension is empty or negative";
        else if (__builtin_mul_overflow(elements, (uint64_t)info->dims[i], &elements) || elements > element_limit) *rule = "it has more than 2^59 elements";
    }
    if (!*rule) info->bytes = elements * mt_lookup_dtype_bytes(info->dtype);
    return MT_PROGRAM_OK;
}

/* ---- scalars ---- */

static void put_bytes(uint64_t bits, uint32_t count, unsigned char *bytes)
{
    for (uint32_t i = 0; i < count; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
}

/* A double as a 16-bit float with so many mantissa bits, rounded to nearest even; false on overflow. Works on bits, so that libm is not needed. */
static bool round_to_16_bits(double value, unsigned mantissa_bits, uint64_t *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent_bits = 15 - (int)mantissa_bits, lowest = 2 - (1 << (exponent_bits - 1)), highest = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023, shift = 52 - (int)mantissa_bits;
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, one = UINT64_C(1) << mantissa_bits;
    *out = bits >> 63 << 15;
    if (exponent < lowest) { /* subnormal */
        shift += lowest - exponent;
        exponent = lowest;
    }
    if (shift > 54) return true; /* below half of the smallest */
    uint64_t steps = mantissa >> shift, rest = mantissa & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    if (rest > half || (rest == half && (steps & 1))) steps++;
    if (steps >= 2 * one) {
        steps /= 2;
        exponent++;
    }
    if (exponent > highest) return false;
    if (steps >= one) steps += (uint64_t)(exponent - lowest) << mantissa_bits; /* the leading one adds itself to the exponent */
    *out |= steps;
    return true;
}

static bool float_bits(tunelookup_dtype dtype, double value, uint64_t *bits)
{
    float single = (float)value;
    uint32_t single_bits;
    if (!__builtin_isfinite(value)) return false;
    *bits = 0;
    switch (dtype) {
    case TUNELOOKUP_F16: return round_to_16_bits(value, 10, bits);
    case TUNELOOKUP_BF16: return round_to_16_bits(value, 7, bits);
    case TUNELOOKUP_F32:
        memcpy(&single_bits, &single, sizeof single_bits);
        *bits = single_bits;
        return __builtin_isfinite(single);
    case TUNELOOKUP_F64: memcpy(bits, &value, sizeof *bits); return true;
    default: return false;
    }
}

static bool integer_bits(tunelookup_dtype dtype, int64_t value, uint64_t *bits)
{
    uint32_t width = 8 * mt_lookup_dtype_bytes(dtype);
    bool is_unsigned = dtype == TUNELOOKUP_U8 || dtype == TUNELOOKUP_U16 || dtype == TUNELOOKUP_U32 || dtype == TUNELOOKUP_U64;
    if (dtype <= TUNELOOKUP_F64) return float_bits(dtype, (double)value, bits);
    *bits = (uint64_t)value;
    if (is_unsigned) return value >= 0 && (width == 64 || value >> width == 0);
    if (width == 64) return true;
    int64_t limit = INT64_C(1) << (width - 1);
    return value >= -limit && value < limit;
}

static mt_program_status scalar_of(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule)
{
    int64_t value = 0;
    uint64_t bits = 0;
    if (!dtype_of(env, arg, &info->dtype)) {
        *rule = "its dtype is unknown";
        return MT_PROGRAM_OK;
    }
    mt_program_status status = arg->value ? mt_lookup_env_number(env, arg->value, &value) : MT_PROGRAM_OK;
    if (status != MT_PROGRAM_OK) return status;
    bool fits = arg->value ? integer_bits(info->dtype, value, &bits) : float_bits(info->dtype, arg->literal, &bits);
    if (!fits) *rule = "its value does not fit its dtype";
    info->bytes = mt_lookup_dtype_bytes(info->dtype);
    put_bytes(bits, (uint32_t)info->bytes, info->scalar);
    return MT_PROGRAM_OK;
}

/* ---- tensor maps ---- */

/* One number of at least `low`. */
static mt_program_status length_of(const mt_lookup_env *env, const mt_program *program, int64_t low, uint64_t *out, const char **rule)
{
    int64_t value = 0;
    mt_program_status status = program ? mt_lookup_env_number(env, program, &value) : MT_PROGRAM_OK;
    if (status == MT_PROGRAM_OK && value < low) *rule = "a length is negative or zero";
    *out = (uint64_t)value;
    return status;
}

mt_program_status mt_lookup_env_map(mt_lookup_env *env, const mt_lookup_model_arg *arg, int64_t index, const tunelookup_arg_info *tensor,
                                      tunelookup_tensormap_info *info, const char **rule)
{
    mt_program_status st;
    uint64_t element_bytes = mt_lookup_dtype_bytes(tensor->dtype), reach, box;
    bool overflows;
    *info = (tunelookup_tensormap_info){ .dtype = tensor->dtype, .rank = arg->dims.count, .swizzle_bytes = arg->swizzle_bytes, .fill_nan = arg->fill_nan,
                                         .l2_promotion_bytes = arg->l2_promotion_bytes };
    env->slots[env->answers->model.loop_slot] = (mt_value){ .kind = MT_VALUE_INT, .number = index };
    if ((st = length_of(env, arg->offset, 0, &reach, rule)) != MT_PROGRAM_OK) return st;
    overflows = __builtin_mul_overflow(reach, element_bytes, &info->offset_bytes);
    if (arg->swizzle) {
        uint64_t bytes;
        if ((st = length_of(env, arg->swizzle, 0, &bytes, rule)) != MT_PROGRAM_OK) return st;
        info->swizzle_bytes = bytes <= 128 ? (int32_t)bytes : -1;
    }
    for (uint32_t i = 0; i < info->rank; i++) {
        uint64_t stride = 1, span;
        if ((st = length_of(env, arg->dims.items[i], 1, &info->dims[i], rule)) != MT_PROGRAM_OK) return st;
        if ((st = length_of(env, arg->box.items[i], 1, &box, rule)) != MT_PROGRAM_OK) return st;
        info->box[i] = box > UINT32_MAX ? UINT32_MAX : (uint32_t)box;
        if (i > 0) {
            if ((st = length_of(env, arg->strides.items[i - 1], 0, &stride, rule)) != MT_PROGRAM_OK) return st;
            overflows |= __builtin_mul_overflow(stride, element_bytes, &info->stride_bytes[i - 1]);
        }
        overflows |= __builtin_mul_overflow(info->dims[i] - 1, stride, &span) || __builtin_add_overflow(reach, span, &reach);
    }
    if (!*rule && (overflows || reach >= tensor->bytes / element_bytes)) *rule = "it reaches beyond its tensor";
    if (!*rule) *rule = mt_lookup_map_rule(env, info);
    return MT_PROGRAM_OK;
}

static mt_program_status maps_of(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule)
{
    int64_t count = 1;
    mt_program_status status = arg->count ? mt_lookup_env_number(env, arg->count, &count) : MT_PROGRAM_OK;
    if (status != MT_PROGRAM_OK) return status;
    if (count < 1 || count > MAP_LIMIT) *rule = "it has no or too many maps";
    info->tensor = arg->tensor;
    info->map_count = (int32_t)count;
    if (!dtype_of(env, &env->answers->model.args[arg->tensor], &info->dtype)) *rule = "its dtype is unknown";
    return MT_PROGRAM_OK;
}

/* ---- structs ---- */

static mt_program_status struct_of(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule)
{
    mt_lookup_size size;
    uint64_t unused;
    mt_program_status status = mt_lookup_env_struct(env, arg, UINT32_MAX, &size, &unused, rule);
    info->bytes = size.bytes;
    info->member_count = (int32_t)arg->members.count;
    return status;
}

/* ---- any argument ---- */

mt_program_status mt_lookup_env_arg(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule)
{
    *rule = NULL;
    *info = (tunelookup_arg_info){ .kind = arg->kind, .name = arg->name, .is_used = 1, .tensor = -1 };
    switch (arg->kind) {
    case TUNELOOKUP_ARG_TENSOR: return tensor_of(env, arg, info, rule);
    case TUNELOOKUP_ARG_TENSORMAP: return maps_of(env, arg, info, rule);
    case TUNELOOKUP_ARG_STRUCT: return struct_of(env, arg, info, rule);
    default: return scalar_of(env, arg, info, rule);
    }
}

static void mark(const mt_lookup_model *model, int32_t index, bool used[MT_LOOKUP_ALL_ARGS])
{
    const mt_lookup_model_arg *arg = &model->args[index];
    used[index] = true;
    if (arg->kind == TUNELOOKUP_ARG_TENSORMAP) used[arg->tensor] = true;
    for (uint32_t i = 0; i < arg->members.count; i++) mark(model, arg->members.items[i], used);
}

/* used[i]: some launch takes argument i, a map of it, or a struct with it. */
void mt_lookup_env_used(const mt_lookup_env *env, const mt_lookup_launches *list, bool used[MT_LOOKUP_ALL_ARGS])
{
    const mt_lookup_model *model = &env->answers->model;
    memset(used, 0, MT_LOOKUP_ALL_ARGS);
    for (uint32_t i = 0; i < list->count; i++) {
        for (int32_t k = 0; k < list->items[i]->arg_count; k++) mark(model, list->items[i]->args[k], used);
    }
}

/* ---- results ---- */

static tunelookup_status fail_value(const mt_lookup_model_arg *arg, mt_program_status status, const char *rule)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_VALUE, "argument %s: %s", arg->name, rule ? rule : mt_program_strerror(status));
}

/* The environment, and argument `index` with whether it is used. */
static tunelookup_status find_arg(const tunelookup_result *result, int index, mt_lookup_env *env, const mt_lookup_model_arg **arg, bool *is_used)
{
    mt_lookup_launches list;
    bool used[MT_LOOKUP_ALL_ARGS];
    tunelookup_status st = mt_lookup_result_env(result, env);
    if (st != TUNELOOKUP_OK) return st;
    const mt_lookup_model *model = &env->answers->model;
    if (index < 0 || (uint32_t)index >= model->arg_count) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "argument %d of %u", index, (unsigned)model->arg_count);
    *arg = &model->args[index];
    mt_program_status status = mt_lookup_env_launches(env, &list);
    if (status != MT_PROGRAM_OK) return fail_value(*arg, status, NULL);
    mt_lookup_env_used(env, &list, used);
    *is_used = used[index];
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_arg(const tunelookup_result *result, int index, tunelookup_arg_info *info)
{
    mt_lookup_env env;
    const mt_lookup_model_arg *arg = NULL;
    const char *rule = NULL;
    bool is_used = false;
    if (!info) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "arg is NULL");
    tunelookup_status st = find_arg(result, index, &env, &arg, &is_used);
    if (st != TUNELOOKUP_OK) return st;
    if (!is_used && (arg->kind != TUNELOOKUP_ARG_TENSOR || arg->role == TUNELOOKUP_SCRATCH)) {
        *info = (tunelookup_arg_info){ .kind = arg->kind, .name = arg->name, .role = arg->role, .tensor = arg->tensor };
        return TUNELOOKUP_OK;
    }
    mt_program_status status = mt_lookup_env_arg(&env, arg, info, &rule);
    if (status != MT_PROGRAM_OK || rule) return fail_value(arg, status, rule);
    info->is_used = is_used;
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_tensormap(const tunelookup_result *result, int index, int map, tunelookup_tensormap_info *info)
{
    mt_lookup_env env;
    const mt_lookup_model_arg *arg = NULL;
    tunelookup_arg_info maps, tensor;
    const char *rule = NULL;
    bool is_used = false;
    if (!info) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "info is NULL");
    tunelookup_status st = find_arg(result, index, &env, &arg, &is_used);
    if (st != TUNELOOKUP_OK) return st;
    if (arg->kind != TUNELOOKUP_ARG_TENSORMAP) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "argument %s is no tensor map", arg->name);
    mt_program_status status = mt_lookup_env_arg(&env, arg, &maps, &rule);
    if (status != MT_PROGRAM_OK || rule) return fail_value(arg, status, rule);
    if (map < 0 || map >= maps.map_count) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "argument %s: map %d of %d", arg->name, map, (int)maps.map_count);
    status = mt_lookup_env_arg(&env, &env.answers->model.args[arg->tensor], &tensor, &rule);
    if (status == MT_PROGRAM_OK && !rule) status = mt_lookup_env_map(&env, arg, map, &tensor, info, &rule);
    return status != MT_PROGRAM_OK || rule ? fail_value(arg, status, rule) : TUNELOOKUP_OK;
}

tunelookup_status tunelookup_member(const tunelookup_result *result, int index, int member, int32_t *arg, uint64_t *offset)
{
    mt_lookup_env env;
    const mt_lookup_model_arg *whole = NULL;
    mt_lookup_size size;
    const char *rule = NULL;
    bool is_used = false;
    if (!arg || !offset) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "arg or offset is NULL");
    tunelookup_status st = find_arg(result, index, &env, &whole, &is_used);
    if (st != TUNELOOKUP_OK) return st;
    if (whole->kind != TUNELOOKUP_ARG_STRUCT) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "argument %s is no struct", whole->name);
    if (member < 0 || (uint32_t)member >= whole->members.count) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "argument %s: member %d of %u", whole->name, member, (unsigned)whole->members.count);
    mt_program_status status = mt_lookup_env_struct(&env, whole, (uint32_t)member, &size, offset, &rule);
    *arg = whole->members.items[member];
    return status != MT_PROGRAM_OK || rule ? fail_value(whole, status, rule) : TUNELOOKUP_OK;
}
