#include "tuner/cpu/cpu_program.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/cpp_name.h"
#include "tuner/base/text.h"
#include "tuner/gpu/verify_rules.h"

static const char head[] = "\n# 1 \"msda-tune\"\n"
                           "void mt_cpu_fill(char what, char *data, size_t count, int dtype, unsigned long long seed, double a, double b);\n"
                           "void mt_cpu_widen(const char *data, size_t count, int dtype, char *out);\n"
                           "void mt_cpu_compare(const char *out, const char *reference, size_t count, int dtype, size_t element_bytes, unsigned long long poison, const char *path);\n"
                           "extern \"C\" void __asan_on_error() { mt_cpu::on_error(); }\n"
                           "int main()\n{\n";
static const char tail[] = "mt_cpu::finish(\"ok\", \"%llu\", mt_cpu::threads_run);\n}\n";

static bool is_input(const mt_cpu_job *job, size_t i)
{
    const mt_arg *arg = &job->spec->args[i];
    return arg->kind == MT_ARG_TENSOR && job->tensors[i].bytes && (arg->role == MT_ROLE_IN || arg->role == MT_ROLE_INOUT);
}

static bool is_output(const mt_cpu_job *job, size_t i)
{
    return mt_arg_is_output(&job->spec->args[i]) && job->plan->args[i].used && job->written[i] != MT_DTYPE_COUNT; /* what the reference does not make is not compared */
}

static void add_buffer(const mt_cpu_job *job, size_t i, const char *prefix, mt_dtype dtype, mt_strbuf *out)
{
    size_t element = mt_dtype_bytes(dtype);
    mt_strbuf_addf(out, "char *%s%zu = mt_cpu::add_buffer(\"%s\", %lluull, %zu);\n", prefix, i, job->spec->args[i].name, (unsigned long long)(job->tensors[i].elements * element), element);
}

static void add_load(const mt_cpu_job *job, size_t i, mt_strbuf *out)
{
    mt_strbuf_addf(out, "mt_cpu::load(a%zu, %lluull, \"" MT_CPU_INPUT "\");\n", i, (unsigned long long)job->tensors[i].bytes, i);
}

/* ---- inputs ---- */

static mt_status add_generator(const mt_cpu_job *job, size_t i, mt_strbuf *out, mt_error *err)
{
    char *expression = mt_cpp_expression(job->spec->args[i].init_kernel);
    if (!expression) return mt_no_memory("program", err);
    mt_strbuf_addf(out, "{ unsigned long long count = %lluull, seed = %d; mt_cpu::launch(\"%s\", %s, {1, 1, 1}, {1, 1, 1}, 0, 1, {&a%zu, &count, &seed}); }\n", (unsigned long long)job->tensors[i].elements, MT_CPU_SEED,
                   job->spec->args[i].init_kernel, expression, i);
    mt_free(expression);
    return MT_OK;
}

static mt_status add_contents(const mt_cpu_job *job, size_t i, mt_strbuf *out, mt_error *err)
{
    static const char kinds[] = {[MT_INIT_UNIFORM] = 'u', [MT_INIT_NORMAL] = 'n', [MT_INIT_RAMP] = 'r'};
    const mt_plan_tensor *tensor = &job->tensors[i];
    switch (job->spec->args[i].init) {
    case MT_INIT_ZEROS: return MT_OK; /* as it is made */
    case MT_INIT_FILE: add_load(job, i, out); return MT_OK;
    case MT_INIT_KERNEL: return add_generator(job, i, out, err);
    default:
        mt_strbuf_addf(out, "mt_cpu_fill('%c', a%zu, %lluull, %d, %lluull, %.17g, %.17g);\n", kinds[job->spec->args[i].init], i, (unsigned long long)tensor->elements, (int)tensor->dtype,
                       (unsigned long long)mt_plan_seed(MT_CPU_SEED, i), tensor->init_a, tensor->init_b);
        return MT_OK;
    }
}

/* A variable that an argument fills, where this source has it. */
static mt_status add_constant(const mt_cpu_job *job, size_t i, mt_strbuf *out, mt_error *err)
{
    const char *name = job->spec->args[i].constant, *last = name ? strrchr(name, ':') : NULL;
    if (!name || !mt_text_has_word(job->source, last ? last + 1 : name)) return MT_OK;
    mt_strbuf_addf(out, "if (sizeof %s < %lluull) mt_cpu::finish(\"failed\", \"%s has %%zu bytes, and its argument %llu\", sizeof %s);\nmemcpy(&%s, a%zu, %lluull);\n", name, (unsigned long long)job->tensors[i].bytes, name,
                   (unsigned long long)job->tensors[i].bytes, name, name, i, (unsigned long long)job->tensors[i].bytes);
    return out->failed ? mt_no_memory("program", err) : MT_OK;
}

static void add_unchanged(const mt_cpu_job *job, mt_strbuf *out)
{
    for (size_t i = 0; i < job->spec->arg_count; i++)
        if (is_input(job, i) && job->spec->args[i].role == MT_ROLE_IN)
            mt_strbuf_addf(out, "mt_cpu::expect_unchanged(\"%s\", a%zu, %lluull, \"" MT_CPU_INPUT "\");\n", job->spec->args[i].name, i, (unsigned long long)job->tensors[i].bytes, i);
}

/* ---- launches ---- */

/* Puts the argument's bytes, which are those of a parameter, `offset` bytes behind the beginning of s<k>. */
static void add_bytes(const mt_cpu_job *job, size_t index, size_t k, uint64_t offset, const char *prefix, mt_strbuf *out)
{
    const mt_plan_arg *arg = &job->plan->args[index];
    const mt_arg *from = &job->spec->args[index];
    if (arg->kind == MT_ARG_STRUCT) {
        for (size_t i = 0; i < from->member_count; i++) add_bytes(job, from->members[i], k, offset + arg->offsets[i], prefix, out);
    } else if (arg->kind == MT_ARG_SCALAR) {
        for (size_t b = 0; b < mt_dtype_bytes(arg->scalar_dtype); b++) mt_strbuf_addf(out, "s%zu[%llu] = %u;\n", k, (unsigned long long)(offset + b), arg->scalar[b]);
    } else {
        mt_strbuf_addf(out, "memcpy(s%zu + %llu, &%s%zu, 8);\n", k, (unsigned long long)offset, mt_arg_is_output(from) ? prefix : "a", index);
    }
}

static mt_status add_launch(const mt_cpu_job *job, const mt_plan_launch *launch, const char *prefix, mt_strbuf *out, mt_error *err)
{
    char *expression = mt_cpp_expression(launch->entry);
    if (!expression) return mt_no_memory("program", err);
    mt_strbuf_add(out, "{\n");
    for (size_t k = 0; k < launch->from->arg_count; k++) {
        const mt_plan_arg *arg = &job->plan->args[launch->from->args[k]];
        if (arg->kind != MT_ARG_SCALAR && arg->kind != MT_ARG_STRUCT) continue;
        mt_strbuf_addf(out, "alignas(256) unsigned char s%zu[%llu] = {};\n", k, arg->kind == MT_ARG_STRUCT ? (unsigned long long)arg->struct_bytes : 8ull);
        add_bytes(job, launch->from->args[k], k, 0, prefix, out);
    }
    mt_strbuf_addf(out, "mt_cpu::launch(\"%s\", %s, {%u, %u, %u}, {%u, %u, %u}, %u, %u, {", launch->entry, expression, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
                   launch->smem_bytes, launch->repeat);
    for (size_t k = 0; k < launch->from->arg_count; k++) {
        size_t arg = launch->from->args[k];
        bool is_expected = mt_arg_is_output(&job->spec->args[arg]);
        if (job->plan->args[arg].kind == MT_ARG_STRUCT) mt_strbuf_addf(out, "{s%zu, sizeof s%zu}, ", k, k);
        else if (job->plan->args[arg].kind == MT_ARG_SCALAR) mt_strbuf_addf(out, "s%zu, ", k);
        else if (is_expected && *prefix == 'r') mt_strbuf_addf(out, "{&%s%zu, 0, %zu}, ", prefix, arg, mt_dtype_is_float(job->written[arg]) ? mt_dtype_bytes(job->written[arg]) : 0);
        else mt_strbuf_addf(out, "&%s%zu, ", is_expected ? prefix : "a", arg);
    }
    mt_strbuf_add(out, "});\n}\n");
    mt_free(expression);
    return MT_OK;
}

static mt_status add_launches(const mt_cpu_job *job, const char *prefix, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < job->plan->launch_count && st == MT_OK; i++) st = add_launch(job, &job->plan->launches[i], prefix, out, err);
    return st;
}

/* ---- the reference ---- */

static void add_expected_buffer(const mt_cpu_job *job, size_t i, mt_strbuf *out)
{
    const mt_arg *arg = &job->spec->args[i];
    mt_dtype written = job->written[i];
    unsigned long long count = job->tensors[i].elements;
    add_buffer(job, i, "r", written, out);
    if (arg->role == MT_ROLE_INOUT && written == job->tensors[i].dtype) mt_strbuf_addf(out, "memcpy(r%zu, a%zu, %lluull);\n", i, i, (unsigned long long)job->tensors[i].bytes);
    else if (arg->role == MT_ROLE_INOUT) mt_strbuf_addf(out, "mt_cpu_widen(a%zu, %lluull, %d, r%zu);\n", i, count, (int)job->tensors[i].dtype, i);
    else if (!arg->zero_before_each) mt_strbuf_addf(out, "mt_cpu::repeat_bits(r%zu, %lluull, %zu, %lluull);\n", i, count, mt_dtype_bytes(written), (unsigned long long)mt_verify_poison_bits(written, 0));
}

/* Doubles, as comparisons want floats. */
static void store_expected(const mt_cpu_job *job, size_t i, mt_strbuf *out)
{
    unsigned long long count = job->tensors[i].elements;
    if (mt_dtype_is_float(job->written[i]) && job->spec->args[i].role != MT_ROLE_INOUT && !job->spec->args[i].zero_before_each)
        mt_strbuf_addf(out, "mt_cpu::expect_written(\"%s\", r%zu, %lluull, %zu, %lluull);\n", job->spec->args[i].name, i, count, mt_dtype_bytes(job->written[i]), (unsigned long long)mt_verify_poison_bits(job->written[i], 0));
    if (mt_dtype_is_float(job->written[i]) && job->written[i] != MT_F64)
        mt_strbuf_addf(out, "char *w%zu = mt_cpu::add_buffer(\"%s\", %lluull, 8);\nmt_cpu_widen(r%zu, %lluull, %d, w%zu);\nmt_cpu::store(w%zu, %lluull, \"" MT_CPU_EXPECTED "\");\n", i, job->spec->args[i].name, 8 * count, i, count,
                       (int)job->written[i], i, i, 8 * count, i);
    else mt_strbuf_addf(out, "mt_cpu::store(r%zu, %lluull, \"" MT_CPU_EXPECTED "\");\n", i, count * mt_dtype_bytes(job->written[i]), i);
}

mt_status mt_cpu_program_reference(const mt_cpu_job *job, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    bool runs = job->spec->reference != NULL;
    mt_strbuf_add(out, head);
    for (size_t i = 0; i < job->spec->arg_count; i++) {
        if (!is_input(job, i)) continue;
        add_buffer(job, i, "a", job->tensors[i].dtype, out);
        MT_TRY(add_contents(job, i, out, err));
        mt_strbuf_addf(out, "mt_cpu::store(a%zu, %lluull, \"" MT_CPU_INPUT "\");\n", i, (unsigned long long)job->tensors[i].bytes, i);
        if (runs) MT_TRY(add_constant(job, i, out, err));
    }
    for (size_t i = 0; i < job->spec->arg_count && runs; i++) {
        if (is_output(job, i)) add_expected_buffer(job, i, out);
        else if (job->spec->args[i].role == MT_ROLE_SCRATCH && job->plan->args[i].used && job->plan->args[i].kind == MT_ARG_TENSOR) add_buffer(job, i, "a", job->tensors[i].dtype, out);
    }
    if (runs) MT_TRY(add_launches(job, "r", out, err));
    add_unchanged(job, out);
    for (size_t i = 0; i < job->spec->arg_count && runs; i++)
        if (is_output(job, i)) store_expected(job, i, out);
    mt_strbuf_add(out, tail);
done:
    return st == MT_OK && out->failed ? mt_no_memory("program", err) : st;
}

/* ---- the variant ---- */

/* The bits of what a run has not written: each run has its own. */
static void add_poison(mt_dtype dtype, mt_strbuf *out)
{
    mt_strbuf_addf(out, "run ? %lluull : %lluull", (unsigned long long)mt_verify_poison_bits(dtype, 1), (unsigned long long)mt_verify_poison_bits(dtype, 0));
}

/* What every run begins with. */
static mt_status add_reset(const mt_cpu_job *job, size_t i, mt_strbuf *out, mt_error *err)
{
    const mt_plan_tensor *tensor = &job->tensors[i];
    if (is_input(job, i)) {
        add_load(job, i, out);
        return add_constant(job, i, out, err);
    }
    if (job->spec->args[i].zero_before_each) {
        mt_strbuf_addf(out, "memset(a%zu, 0, %lluull);\n", i, (unsigned long long)tensor->bytes);
        return MT_OK;
    }
    mt_strbuf_addf(out, "mt_cpu::repeat_bits(a%zu, %lluull, %zu, ", i, (unsigned long long)tensor->elements, mt_dtype_bytes(tensor->dtype));
    add_poison(tensor->dtype, out);
    mt_strbuf_add(out, ");\n");
    return MT_OK;
}

static void add_comparison(const mt_cpu_job *job, size_t i, mt_strbuf *out)
{
    const mt_plan_tensor *tensor = &job->tensors[i];
    bool is_float = mt_dtype_is_float(tensor->dtype);
    unsigned long long count = tensor->elements;
    size_t expected = is_float ? 8 : mt_dtype_bytes(tensor->dtype);
    mt_strbuf_addf(out, "{\nconst size_t bytes = %lluull;\nchar *expected = new char[bytes];\n", count * expected);
    if (job->spec->reference_is_default && is_float) mt_strbuf_addf(out, "if (run == 0) mt_cpu_widen(a%zu, %lluull, %d, expected), mt_cpu::store(expected, bytes, \"" MT_CPU_EXPECTED "\");\n", i, count, (int)tensor->dtype, i);
    else if (job->spec->reference_is_default) mt_strbuf_addf(out, "if (run == 0) mt_cpu::store(a%zu, bytes, \"" MT_CPU_EXPECTED "\");\n", i, i);
    mt_strbuf_addf(out, "mt_cpu::load(expected, bytes, \"" MT_CPU_EXPECTED "\");\n", i);
    mt_strbuf_addf(out, "mt_cpu_compare(a%zu, expected, %lluull, %d, %zu, ", i, count, (int)tensor->dtype, mt_dtype_bytes(tensor->dtype));
    add_poison(tensor->dtype, out);
    mt_strbuf_addf(out, ", run ? \"" MT_CPU_COMPARED "\" : \"" MT_CPU_COMPARED "\");\ndelete[] expected;\n}\n", i, 1, i, 0);
}

mt_status mt_cpu_program_variant(const mt_cpu_job *job, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf_add(out, head);
    for (size_t i = 0; i < job->spec->arg_count; i++)
        if (job->spec->args[i].kind == MT_ARG_TENSOR && job->tensors[i].bytes) add_buffer(job, i, "a", job->tensors[i].dtype, out);
    mt_strbuf_addf(out, "for (int run = 0; run < %d; run++) {\nmt_cpu::begin_run(run);\n", MT_CPU_RUNS);
    for (size_t i = 0; i < job->spec->arg_count; i++)
        if (job->spec->args[i].kind == MT_ARG_TENSOR && job->tensors[i].bytes) MT_TRY(add_reset(job, i, out, err));
    MT_TRY(add_launches(job, "a", out, err));
    add_unchanged(job, out);
    for (size_t i = 0; i < job->spec->arg_count; i++)
        if (is_output(job, i)) add_comparison(job, i, out);
    mt_strbuf_add(out, "}\n");
    mt_strbuf_add(out, tail);
done:
    return st == MT_OK && out->failed ? mt_no_memory("program", err) : st;
}
