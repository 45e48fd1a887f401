#include "tuner/evaluate/needs.h"

#include <stdio.h>
#include <string.h>

#include "db/cubin_names.h"
#include "tuner/base/alloc.h"
#include "tuner/base/cpp_name.h"
#include "tuner/base/file.h"
#include "tuner/space/launch/cubin.h"

/* ---- making ---- */

static mt_status add_kernel(mt_needs *needs, const char *entry, const char *algorithm, size_t count, mt_place place, mt_needed_kernel **added, mt_error *err)
{
    mt_needed_kernel kernel = {.entry = mt_strdup(entry), .algorithm = algorithm, .bytes = mt_alloc(count, sizeof *kernel.bytes), .count = count, .place = place, .named = place};
    *added = &needs->kernels[needs->kernel_count++];
    **added = kernel;
    return kernel.entry && kernel.bytes ? MT_OK : mt_no_memory("candidate", err);
}

/* Where the file names the kernel of a launch; algorithm NULL = the reference's. */
static int entry_line(const mt_spec *spec, const mt_launch *launch, const mt_algorithm *algorithm)
{
    if (launch->entry) return launch->entry_line;
    return algorithm ? algorithm->entry_line : spec->reference_line;
}

static mt_status add_launches(mt_needs *needs, const mt_spec *spec, const mt_algorithm *algorithm, const mt_plan *plan, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < plan->launch_count; i++) {
        mt_needed_kernel *kernel = NULL;
        const mt_launch *from = plan->launches[i].from;
        MT_TRY(add_kernel(needs, plan->launches[i].entry, algorithm ? algorithm->name : NULL, from->arg_count, mt_spec_place(spec, from->args_line), &kernel, err));
        kernel->named = mt_spec_place(spec, entry_line(spec, from, algorithm));
        kernel->launch = plan->launches[i];
        kernel->launch.entry = kernel->entry;
        kernel->is_made = !algorithm && from->args_line == spec->reference_line;
        for (size_t a = 0; a < from->arg_count; a++) kernel->bytes[a] = mt_plan_parameter_bytes(&plan->args[from->args[a]]);
    }
done:
    return st;
}

static mt_status make_room(mt_needs *needs, size_t kernels, size_t variables, mt_error *err)
{
    needs->kernels = mt_alloc(kernels, sizeof *needs->kernels);
    needs->variables = mt_alloc(variables, sizeof *needs->variables);
    return needs->kernels && needs->variables ? MT_OK : mt_no_memory("candidate", err);
}

mt_status mt_needs_of_variant(const mt_spec *spec, const mt_plan *plan, const mt_algorithm *algorithm, mt_needs *needs, mt_error *err)
{
    mt_status st;
    MT_TRY(make_room(needs, plan->launch_count, plan->arg_count, err));
    MT_TRY(add_launches(needs, spec, algorithm, plan, err));
    for (size_t i = 0; i < plan->arg_count; i++) { /* by the rules of mt_constants_fill (tuner/gpu/device/constants.c) */
        const mt_arg *arg = &spec->args[i];
        bool is_needed = !plan->args[i].used && !algorithm->is_yardstick;
        if (arg->constant) needs->variables[needs->variable_count++] = (mt_needed_variable){arg->constant, is_needed ? arg->name : NULL, plan->args[i].tensor.bytes};
    }
done:
    return st;
}

mt_status mt_needs_of_support(const mt_spec *spec, const mt_plan *reference, mt_needs *needs, mt_error *err)
{
    enum { PARAMETERS = 3, BYTES = 8 }; /* of every kernel that makes an input */
    mt_status st;
    const mt_algorithm *algorithm = spec->reference_is_default ? &spec->algorithms[0] : NULL;
    MT_TRY(make_room(needs, spec->arg_count + reference->launch_count, 0, err));
    for (size_t i = 0; i < spec->arg_count; i++) {
        mt_needed_kernel *kernel = NULL;
        if (spec->args[i].kind != MT_ARG_TENSOR || spec->args[i].init != MT_INIT_KERNEL) continue;
        MT_TRY(add_kernel(needs, spec->args[i].init_kernel, NULL, PARAMETERS, mt_spec_place(spec, spec->args[i].line), &kernel, err));
        for (size_t a = 0; a < PARAMETERS; a++) kernel->bytes[a] = BYTES;
    }
    st = add_launches(needs, spec, algorithm, reference, err);
done:
    return st;
}

void mt_needs_free(mt_needs *needs)
{
    for (size_t i = 0; i < needs->kernel_count; i++) {
        mt_free(needs->kernels[i].entry);
        mt_free(needs->kernels[i].bytes);
    }
    mt_free(needs->kernels);
    mt_free(needs->variables);
    *needs = (mt_needs){0};
}

/* ---- kernels ---- */

/* The names of the kernels that were compiled, each with a line end: the cubin knows them; where it is not understood here, the lines "Compiling entry function 'NAME' for 'sm_90a'" of ptxas do.
 * false: it can't be told, since the log was cut, or is another compiler's. */
static bool list_kernels(const char *log, const char *cubin, size_t bytes, mt_strbuf *names)
{
    static const char line[] = "Compiling entry function '";
    if (mt_kernels_read(cubin, bytes, names)) return true;
    if (!log || !strstr(log, line) || strlen(log) >= MT_PROTO_MAX_TEXT - 16) return false;
    for (const char *name = log; (name = strstr(name, line));) {
        name += sizeof line - 1;
        mt_strbuf_add_bytes(names, name, strcspn(name, "'"));
        mt_strbuf_add(names, "\n");
    }
    return true;
}

static bool has_line(const char *names, const char *wanted)
{
    for (size_t length; *names; names += length + 1) {
        length = strcspn(names, "\n");
        if (length == strlen(wanted) && strncmp(names, wanted, length) == 0) return true;
    }
    return false;
}

static void add_place(const mt_place *place, mt_strbuf *why)
{
    if (place->path) mt_strbuf_addf(why, "%s:%d: ", place->path, place->line);
}

/* Says what there is instead: most often the name with C++ decoration, _Z9decoratedPf. */
static void explain_missing(const char *names, const mt_needed_kernel *kernel, mt_strbuf *why)
{
    const char *entry = kernel->entry;
    char decorated[320];
    mt_strbuf others = {0};
    size_t known = (size_t)snprintf(decorated, sizeof decorated, "_Z%zu%s", strlen(entry), entry);
    add_place(&kernel->named, why);
    if (kernel->algorithm && strcmp(kernel->algorithm, entry) != 0) mt_strbuf_addf(why, "algorithm %s: ", kernel->algorithm);
    mt_strbuf_addf(why, "no __global__ function %s in the compiled source", entry);
    for (size_t length; *names; names += length + 1) {
        length = strcspn(names, "\n");
        if (known < sizeof decorated && strncmp(names, decorated, known) == 0) {
            mt_strbuf_addf(why, "; it has the C++ name %.*s: %s", (int)length, names,
                           names[known] == 'I' ? "the entry of a template has its arguments, such as scale<float, 4>" : "the entry of an overloaded kernel has its parameters, such as scale(float *, int)");
            goto done;
        }
        if (others.length) mt_strbuf_add(&others, ", ");
        if (!mt_cpp_name(names, length, &others)) mt_strbuf_add_bytes(&others, names, length);
    }
    mt_strbuf_addf(why, ", which has %.300s", others.length ? mt_strbuf_text(&others) : "none");
done:
    mt_strbuf_free(&others);
}

static void check_entries(const mt_needs *needs, const char *log, const char *cubin, size_t bytes, mt_strbuf *why)
{
    mt_strbuf names = {0};
    bool is_known = list_kernels(log, cubin, bytes, &names);
    for (size_t i = 0; is_known && i < needs->kernel_count && !why->length; i++)
        if (!has_line(mt_strbuf_text(&names), mt_cubin_symbol(cubin, bytes, needs->kernels[i].entry))) explain_missing(mt_strbuf_text(&names), &needs->kernels[i], why);
    mt_strbuf_free(&names);
}

/* ---- parameters and variables ---- */

/* Of one kernel all that does not fit is told. */
static void check_kernel(const mt_needed_kernel *kernel, const char *cubin, size_t bytes, mt_strbuf *why)
{
    mt_parameters declared;
    if (!mt_parameters_read(cubin, bytes, mt_cubin_symbol(cubin, bytes, kernel->entry), &declared)) return;
    if (kernel->count != declared.count) {
        add_place(&kernel->place, why);
        mt_strbuf_addf(why, "%s has %zu parameter%s, the launch lists %zu", kernel->entry, declared.count, declared.count == 1 ? "" : "s", kernel->count);
    }
    for (size_t i = 0; i < kernel->count && i < declared.count; i++) {
        if (kernel->bytes[i] == declared.bytes[i]) continue;
        bool is_first = !why->length;
        if (is_first) add_place(&kernel->place, why);
        mt_strbuf_addf(why, "%s%sparameter %zu has %u bytes, the launch gives %llu", is_first ? kernel->entry : "", is_first ? ": " : "; ", i + 1, declared.bytes[i], (unsigned long long)kernel->bytes[i]);
    }
    if (why->length && kernel->is_made)
        mt_strbuf_add(why, "; a reference gets the [arg] sections alone, and none of a launch's literals such as i32(N): it reads the values of a shape as macros, or [launch reference 1] lists what it gets");
}

static void check_variable(const mt_needed_variable *variable, const char *cubin, size_t bytes, mt_strbuf *why)
{
    int64_t found = mt_variable_bytes(cubin, bytes, mt_cubin_symbol(cubin, bytes, variable->name));
    if (found == 0 && variable->input) mt_strbuf_addf(why, "no variable %s in the compiled source, and no launch takes %s", variable->name, variable->input);
    else if (found > 0 && (uint64_t)found < variable->bytes)
        mt_strbuf_addf(why, "the variable %s has %lld bytes, its input %llu", variable->name, (long long)found, (unsigned long long)variable->bytes);
}

/* ---- limits ---- */

static void check_limits(const mt_needs *needs, const char *cubin, size_t bytes, const mt_device_facts *facts, mt_outcome *outcome)
{
    char *illegal = NULL;
    for (size_t i = 0; i < needs->kernel_count && !illegal; i++) {
        const mt_needed_kernel *kernel = &needs->kernels[i];
        mt_kernel_code code;
        if (!kernel->launch.block[0]) continue;
        mt_kernel_code_read(cubin, bytes, mt_cubin_symbol(cubin, bytes, kernel->entry), (uint32_t)facts->smem_reserved, &code);
        illegal = mt_plan_code_illegal(&kernel->launch, &code, facts);
    }
    if (illegal) mt_outcome_set(outcome, MT_OUTCOME_ILLEGAL, "%s", illegal);
    mt_free(illegal);
}

/* With registers and launch bounds, which stand outside the code. */
static void hash_code(const mt_needs *needs, const char *cubin, size_t bytes, mt_hash *hash)
{
    mt_strbuf entries = {0}, text = {0};
    for (size_t i = 0; i < needs->kernel_count; i++) {
        mt_kernel_code code;
        const char *symbol = mt_cubin_symbol(cubin, bytes, needs->kernels[i].entry);
        mt_kernel_code_read(cubin, bytes, symbol, 0, &code);
        mt_strbuf_addf(&text, "%u %u %u %u %u ", code.registers, code.most_threads, code.cluster[0], code.cluster[1], code.cluster[2]);
        mt_strbuf_addf(&entries, "%s\n", symbol);
    }
    if (mt_code_hash(cubin, bytes, mt_strbuf_text(&entries), hash)) {
        mt_strbuf_add(&text, hash->hex);
        *hash = mt_hash_text(mt_strbuf_text(&text));
    }
    mt_strbuf_free(&entries);
    mt_strbuf_free(&text);
}

void mt_needs_check(const mt_needs *needs, const mt_compiled *compiled, const mt_device_facts *facts, mt_outcome *outcome, mt_hash *code)
{
    char *cubin = NULL;
    size_t bytes = 0;
    mt_strbuf why = {0};
    if (code) *code = (mt_hash){0};
    if (compiled->cubin_path && mt_file_read(compiled->cubin_path, 0, &cubin, &bytes, NULL) != MT_OK) cubin = NULL, bytes = 0;
    check_entries(needs, compiled->log, cubin, bytes, &why);
    for (size_t i = 0; cubin && i < needs->kernel_count && !why.length; i++) check_kernel(&needs->kernels[i], cubin, bytes, &why);
    for (size_t i = 0; cubin && i < needs->variable_count && !why.length; i++) check_variable(&needs->variables[i], cubin, bytes, &why);
    if (why.length) mt_outcome_set(outcome, MT_OUTCOME_COMPILE_ERROR, "%s", mt_strbuf_text(&why));
    else if (cubin) check_limits(needs, cubin, bytes, facts, outcome);
    if (code && cubin) hash_code(needs, cubin, bytes, code);
    mt_strbuf_free(&why);
    mt_free(cubin);
}
