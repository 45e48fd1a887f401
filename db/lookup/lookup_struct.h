/* Sizes of arguments as parameters of kernels, and where a struct's members are. */
#pragma once

#include "db/lookup/lookup.h"

typedef struct mt_lookup_size { uint64_t bytes, align; } mt_lookup_size;

/* *rule: why it can't be one. */
mt_program_status mt_lookup_env_size(const mt_lookup_env *env, const mt_lookup_model_arg *arg, mt_lookup_size *size, const char **rule);
/* Of a struct, and the offset of one member; a member that it has not leaves *offset alone. */
mt_program_status mt_lookup_env_struct(const mt_lookup_env *env, const mt_lookup_model_arg *arg, uint32_t member, mt_lookup_size *size, uint64_t *offset, const char **rule);
