#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/gpu/verify_rules.h"

static mt_arg output(void)
{
    return (mt_arg){.name = (char *)"out", .rtol = 1e-3, .worst = 2e-2, .role = MT_ROLE_OUT};
}

static mt_compare_result good(void)
{
    return (mt_compare_result){.error_square = 1e-8, .reference_square = 1, .max_error = 1e-4, .max_reference = 0.5, .value = 0.25, .reference = 0.2501,
                               .max_index = 7, .nan_index = UINT64_MAX, .unwritten_index = UINT64_MAX};
}

START_TEST(norm_and_worst_element)
{
    mt_arg arg = output();
    mt_compare_result result = good();
    ck_assert(mt_verify_passes(&arg, MT_F16, &result));
    result.error_square = 1.0001e-6;
    ck_assert(!mt_verify_passes(&arg, MT_F16, &result));
    result.error_square = 1e-6;
    ck_assert(mt_verify_passes(&arg, MT_F16, &result));
    result.max_error = 0.0100001;
    ck_assert(!mt_verify_passes(&arg, MT_F16, &result));
    arg.atol = 1e-3;
    ck_assert(mt_verify_passes(&arg, MT_F16, &result));
}
END_TEST

START_TEST(zero_reference_needs_zeros_or_a_floor)
{
    mt_arg arg = output();
    mt_compare_result result = good();
    result.reference_square = result.max_reference = 0;
    ck_assert(!mt_verify_passes(&arg, MT_F32, &result));
    result.error_square = result.max_error = 0;
    ck_assert(mt_verify_passes(&arg, MT_F32, &result));
    result.error_square = 1e-8, result.max_error = 1e-4;
    arg.atol = 1e-3;
    ck_assert(mt_verify_passes(&arg, MT_F32, &result));
}
END_TEST

START_TEST(nan_and_unwritten)
{
    mt_arg arg = output();
    mt_compare_result result = good();
    result.nan_mismatches = 1;
    ck_assert(!mt_verify_passes(&arg, MT_F32, &result));
    result = good();
    result.unwritten = 1;
    ck_assert(!mt_verify_passes(&arg, MT_F32, &result));
    ck_assert(mt_verify_passes(&arg, MT_I32, &result)); /* an integer may equal the pattern */
    arg.zero_before_each = true;
    ck_assert(mt_verify_passes(&arg, MT_F32, &result));
    result = good();
    result.max_error = -1; /* nothing but NaN where the reference has it */
    result.error_square = result.reference_square = 0;
    ck_assert(mt_verify_passes(&arg, MT_F32, &result));
}
END_TEST

START_TEST(keeps_the_worst)
{
    mt_arg arg = output(), other = output();
    mt_accuracy accuracy = {0};
    double worst = 0;
    other.name = (char *)"other";
    mt_compare_result result = good(), worse = good();
    worse.error_square = 4e-8;
    worse.max_error = 9e-3;
    mt_verify_note(&arg, &result, &accuracy, &worst);
    ck_assert_str_eq(accuracy.output, "out");
    ck_assert_double_eq_tol(accuracy.norm_error, 1e-4, 1e-12);
    mt_verify_note(&other, &worse, &accuracy, &worst);
    ck_assert_str_eq(accuracy.output, "other");
    ck_assert_double_eq_tol(accuracy.worst_relative, 1.8e-2, 1e-12);
    mt_verify_note(&arg, &result, &accuracy, &worst);
    ck_assert_str_eq(accuracy.output, "other");
    result.nan_mismatches = 2;
    result.nan_index = 5;
    result.nan_value = NAN;
    mt_verify_note(&arg, &result, &accuracy, &worst);
    ck_assert_str_eq(accuracy.output, "out");
    ck_assert_uint_eq(accuracy.worst_index, 5);
    ck_assert(isnan(accuracy.worst_value));
}
END_TEST

START_TEST(describes)
{
    mt_arg arg = output();
    const mt_plan_tensor tensor = {.dtype = MT_F32, .rank = 3, .dims = {2, 3, 4}, .elements = 24};
    mt_compare_result result = good();
    mt_strbuf text = {0};
    result.max_index = 23;
    result.error_square = 0.01;
    mt_verify_describe(&arg, &tensor, &result, &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "out: ‖out − ref‖/‖ref‖ = 0.1 (limit 0.001), worst element 23 [1,2,3]: 0.25 instead of 0.2501 (limit ±0.01)");
    mt_strbuf_clear(&text);
    mt_compare_result same = result;
    same.error_square = 0;
    same.value = same.reference;
    mt_verify_describe(&arg, &tensor, &same, &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "out: ‖out − ref‖/‖ref‖ = 0 (limit 0.001)"); /* where nothing differs no element is the worst */
    mt_strbuf_clear(&text);
    result.unwritten = 4;
    result.unwritten_index = 5;
    mt_verify_describe(&arg, &tensor, &result, &text);
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&text), "out: 4 of 24 elements not written, first 5 [0,1,1]; "));
    mt_strbuf_clear(&text);
    mt_verify_describe_guard("out", false, 65536, 12, 4, &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "out: wrote past its end, from byte +12 (element +3)");
    mt_strbuf_clear(&text);
    mt_verify_describe_guard("out", true, 65536, 65520, 4, &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "out: wrote before its start, from byte −16");
    mt_strbuf_free(&text);
}
END_TEST

START_TEST(bf16_of_a_shape_may_be_rougher)
{
    mt_arg arg = output();
    mt_compare_result result = good();
    result.error_square = 4.9e-3 * 4.9e-3;
    arg.dtype_text = (char *)"${dtype}";
    const mt_arg f16 = mt_verify_limits(&arg, MT_F16), bf16 = mt_verify_limits(&arg, MT_BF16);
    ck_assert(!mt_verify_passes(&f16, MT_F16, &result));
    ck_assert(mt_verify_passes(&bf16, MT_BF16, &result));
    result.error_square = 5.1e-3 * 5.1e-3;
    ck_assert(!mt_verify_passes(&bf16, MT_BF16, &result));
    const mt_arg e4m3 = mt_verify_limits(&arg, MT_F8E4M3), e5m2 = mt_verify_limits(&arg, MT_F8E5M2);
    ck_assert_double_eq_tol(e4m3.rtol, 50 * arg.rtol, 1e-12);
    ck_assert_double_eq_tol(e5m2.worst, 100 * arg.worst, 1e-12);
    arg.dtype_text = (char *)"bf16"; /* then the file's author knew */
    const mt_arg fixed = mt_verify_limits(&arg, MT_BF16);
    ck_assert_double_eq(fixed.rtol, arg.rtol);
    ck_assert_double_eq(fixed.worst, arg.worst);
}
END_TEST

START_TEST(a_second_run_may_differ_by_the_spread)
{
    mt_arg arg = output();
    arg.dtype_text = (char *)"f32";
    arg.any_order = true;
    arg.spread = 1e-4;
    mt_compare_result result = good(); /* 1e-4 of the norm */
    ck_assert(mt_verify_repeats(&arg, &result));
    result.error_square = 1.01e-8;
    ck_assert(!mt_verify_repeats(&arg, &result));
    result = good();
    result.max_error = 1e-3; /* 20 spreads of the largest element */
    ck_assert(mt_verify_repeats(&arg, &result));
    result.max_error = 1.01e-3; /* one lost addition among very many */
    ck_assert(!mt_verify_repeats(&arg, &result));
    result = good();
    result.nan_mismatches = 1;
    ck_assert(!mt_verify_repeats(&arg, &result));
}
END_TEST

START_TEST(the_spread_of_16_bits_is_wider)
{
    mt_arg arg = output();
    arg.any_order = true;
    arg.spread = 1e-5;
    arg.dtype_text = (char *)"${dtype}";
    ck_assert_double_eq(mt_verify_limits(&arg, MT_F32).spread, 1e-5);
    ck_assert_double_eq_tol(mt_verify_limits(&arg, MT_F16).spread, 1e-4, 1e-18);
    ck_assert_double_eq_tol(mt_verify_limits(&arg, MT_BF16).spread, 5e-4, 1e-18);
    arg.dtype_text = (char *)"f16";
    ck_assert_double_eq(mt_verify_limits(&arg, MT_F16).spread, 1e-5);
}
END_TEST

START_TEST(describes_two_runs)
{
    mt_arg arg = output();
    const mt_plan_tensor tensor = {.dtype = MT_F32, .rank = 2, .dims = {2, 12}, .elements = 24};
    mt_compare_result result = good();
    mt_strbuf text = {0};
    arg.spread = 1e-5;
    mt_verify_describe_spread(&arg, &tensor, &result, &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "out: two runs differ: ‖second − first‖/‖first‖ = 0.0001 (spread = 1e-05), most in element 7 [0,7]: 0.25 after 0.2501 (limit ±0.0001)");
    mt_strbuf_clear(&text);
    result.nan_mismatches = 2, result.nan_index = 13, result.nan_value = NAN, result.nan_reference = 1;
    mt_verify_describe_spread(&arg, &tensor, &result, &text);
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&text), "out: two runs differ: NaN or infinity in one only in 2 elements, first 13 [1,1]: nan after 1; "));
    mt_strbuf_free(&text);
}
END_TEST

UNIT_MAIN("verify_rules", a_second_run_may_differ_by_the_spread, the_spread_of_16_bits_is_wider, describes_two_runs, bf16_of_a_shape_may_be_rougher, norm_and_worst_element, zero_reference_needs_zeros_or_a_floor, nan_and_unwritten, keeps_the_worst, describes)
