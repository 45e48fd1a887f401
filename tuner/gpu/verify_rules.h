/* What a comparison means: pure functions, no device. */
#pragma once

#include "tuner/base/outcome.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/support.h"
#include "tuner/space/launch/plan.h"

/* The argument with the limits that hold for `dtype`: where its dtype is a shape's (`${NAME}`) and turns out as bf16, rtol and worst are five
 * times as much. Rounding the output to 8 bits costs 1.6e-3 by itself. Its spread is 10 times as much for f16, 50 times for bf16: two sums that differ in
 * the last bits of f32 may round apart. */
mt_arg mt_verify_limits(const mt_arg *arg, mt_dtype dtype);
/* True when the output passes: ‖out − ref‖ ≤ rtol·‖ref‖ + atol, max|out − ref| ≤ worst·max|ref| + atol, NaN and infinities where the
 * reference has them, and (floats) every element written. */
bool mt_verify_passes(const mt_arg *arg, mt_dtype dtype, const mt_compare_result *result);
/* Elements of a float output that are still as before the run, where the kernel may leave none out. */
bool mt_verify_leaves_out(const mt_arg *arg, mt_dtype dtype, const mt_compare_result *result);
/* Whether the comparison can prove nothing: the reference holds no number, or 0 alone. */
bool mt_verify_is_vacuous(const mt_plan_tensor *tensor, const mt_compare_result *result);
/* Integers of which a share may differ: true when no more do. */
bool mt_verify_few_differ(const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t differing);
/* "out: 12 of 1000 elements differ (may_differ = 0.001, which is 1), first 3" */
void mt_verify_describe_differing(const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t differing, uint64_t first, mt_strbuf *text);
/* order = any: true when a second run, `result` against the first, is within the argument's spread: ‖second − first‖ ≤ spread·‖first‖, max|second − first| ≤
 * 20·spread·max|first|, NaN and infinities where the first has them. */
bool mt_verify_repeats(const mt_arg *arg, const mt_compare_result *result);
/* Keeps in *accuracy the worse of what it holds and this output; badness is the error in units of the limit (+Inf: NaN mismatch). *worst is its
 * state, 0 at the start with accuracy zeroed. */
void mt_verify_note(const mt_arg *arg, const mt_compare_result *result, mt_accuracy *accuracy, double *worst);
/* One line on what is wrong: "out: ‖out − ref‖/‖ref‖ = …, limit …; worst element 12 [0,3]: 1.5 instead of 1". */
void mt_verify_describe(const mt_arg *arg, const mt_plan_tensor *tensor, const mt_compare_result *result, mt_strbuf *text);
/* "out: two runs differ: ‖second − first‖/‖first‖ = …, most in element 12 [0,3]: 1.5 after 1" */
void mt_verify_describe_spread(const mt_arg *arg, const mt_plan_tensor *tensor, const mt_compare_result *result, mt_strbuf *text);
/* "12 [0,3]" */
void mt_verify_element(const mt_plan_tensor *tensor, uint64_t index, mt_strbuf *text);
/* One element of what an output must not keep (tool.h): floats a NaN whose payload no hardware makes, integers a fixed byte. pass 0 or 1 give different ones. */
uint64_t mt_verify_poison_bits(mt_dtype dtype, unsigned pass);
/* Where a damaged guard byte lies: "wrote past its end, from byte +4". front: the band before the data, of `band_bytes`. */
void mt_verify_describe_guard(const char *name, bool front, uint64_t band_bytes, uint64_t first, size_t element_bytes, mt_strbuf *text);
