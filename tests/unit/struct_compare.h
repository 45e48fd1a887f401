/* For test_tunelookup_spaces.c: what the library says of structs, and what tunelookup_cuda.h packs, against the tuner's plan. */
#pragma once

#include "tests/unit/lookup_fixture.h"
#include "tests/unit/space_fixture.h"
#include "tuner/space/launch/plan.h"

#if MT_WITH_CUDA
#include "tests/unit/fakes.h"
#include "tuner/gpu/device/api.h"

static mt_cuda_api driver;
#define TUNELOOKUP_CU(name) (driver.name)
#include "include/tunelookup_cuda.h"
#endif

static void compare_struct(const tunelookup_result *result, int index, const tunelookup_arg_info *got, const mt_plan_arg *want, const mt_arg *from)
{
    ck_assert_uint_eq(got->bytes, want->struct_bytes);
    ck_assert_uint_eq((size_t)got->member_count, from->member_count);
    for (size_t i = 0; i < from->member_count; i++) {
        int32_t arg;
        uint64_t offset;
        ck_lookup(tunelookup_member(result, index, (int)i, &arg, &offset));
        ck_assert_uint_eq((size_t)arg, from->members[i]);
        ck_assert_uint_eq(offset, want->offsets[i]);
    }
}

/* Structs as a program packs them: each member's bytes where they belong. */
static void compare_packed(const tunelookup_result *result, const mt_plan *plan, const mt_spec *spec)
{
#if MT_WITH_CUDA
    static tunelookup_cuda_params params;
    if (!driver.cuTensorMapEncodeTiled) return;
    memset(&params, 0, sizeof params);
    for (size_t i = 0; i < plan->arg_count; i++) params.tensors[i] = (CUdeviceptr)(i + 1) << 20;
    ck_assert_int_eq(tunelookup_cuda_pack(result, &params), CUDA_SUCCESS);
    for (size_t i = 0; i < plan->arg_count; i++) {
        ck_assert_int_eq(params.parameters[i] != NULL, plan->args[i].used);
        for (size_t k = 0; params.parameters[i] && k < spec->args[i].member_count; k++) {
            const mt_plan_arg *member = &plan->args[spec->args[i].members[k]];
            const unsigned char *at = (const unsigned char *)params.parameters[i] + plan->args[i].offsets[k];
            ck_assert_mem_eq(at, params.parameters[spec->args[i].members[k]], mt_plan_parameter_bytes(member));
            if (member->kind == MT_ARG_SCALAR) ck_assert_mem_eq(at, member->scalar, mt_dtype_bytes(member->scalar_dtype));
            if (member->kind == MT_ARG_TENSOR) ck_assert_mem_eq(at, &params.tensors[spec->args[i].members[k]], sizeof(CUdeviceptr));
        }
        if (params.parameters[i] && plan->args[i].kind == MT_ARG_STRUCT) ck_assert_uint_eq((uintptr_t)params.parameters[i] % plan->args[i].struct_align, 0);
    }
#endif
}
