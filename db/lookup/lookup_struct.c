/* Structs by value: where in them their members are. As tuner/space/launch/plan_arg.c lays them out: a test compares the two. */
#include "db/lookup/lookup_struct.h"

enum { MAP_BYTES = 128, MAP_ALIGN = 64, POINTER_BYTES = 8 };

static uint64_t round_up(uint64_t bytes, uint64_t align)
{
    return (bytes + align - 1) / align * align;
}

mt_program_status mt_lookup_env_struct(const mt_lookup_env *env, const mt_lookup_model_arg *arg, uint32_t member, mt_lookup_size *size, uint64_t *offset, const char **rule)
{
    uint64_t end = 0;
    *size = (mt_lookup_size){ .align = arg->members.align };
    for (uint32_t i = 0; i < arg->members.count; i++) {
        mt_lookup_size field;
        mt_program_status status = mt_lookup_env_size(env, &env->answers->model.args[arg->members.items[i]], &field, rule);
        if (status != MT_PROGRAM_OK || *rule) return status;
        if (field.align > size->align) size->align = field.align;
        if (i == member) *offset = round_up(end, field.align);
        end = round_up(end, field.align) + field.bytes;
    }
    size->bytes = round_up(end, size->align);
    return MT_PROGRAM_OK;
}

/* Structs contain such that stand above them: it ends. */
mt_program_status mt_lookup_env_size(const mt_lookup_env *env, const mt_lookup_model_arg *arg, mt_lookup_size *size, const char **rule)
{
    tunelookup_arg_info info;
    uint64_t unused;
    if (arg->kind == TUNELOOKUP_ARG_STRUCT) return mt_lookup_env_struct(env, arg, UINT32_MAX, size, &unused, rule);
    *size = (mt_lookup_size){ POINTER_BYTES, POINTER_BYTES };
    if (arg->kind == TUNELOOKUP_ARG_TENSOR) return MT_PROGRAM_OK;
    mt_program_status status = mt_lookup_env_arg(env, arg, &info, rule);
    if (arg->kind == TUNELOOKUP_ARG_TENSORMAP) *size = (mt_lookup_size){ MAP_BYTES * (uint64_t)info.map_count, MAP_ALIGN };
    else *size = (mt_lookup_size){ info.bytes, info.bytes };
    if (!size->align) size->align = 1; /* it could not be computed */
    return status;
}
