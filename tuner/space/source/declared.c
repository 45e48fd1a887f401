#include "tuner/space/source/declared.h"

#include <string.h>

#include "tuner/base/alloc.h"

mt_status mt_declared_read(const mt_source *source, mt_declared *declared, mt_error *err)
{
    mt_status st = MT_OK;
    *declared = (mt_declared){.source = source};
    if (!source) return MT_OK;
    if (!(declared->files = mt_alloc(source->file_count, sizeof *declared->files))) return mt_no_memory("source", err);
    for (size_t i = 0; i < source->file_count && st == MT_OK; i++) st = mt_signatures_read(source->files[i].text, &declared->files[i], err);
    return st;
}

void mt_declared_free(mt_declared *declared)
{
    for (size_t i = 0; declared->files && i < declared->source->file_count; i++) mt_signatures_free(&declared->files[i]);
    mt_free(declared->files);
    *declared = (mt_declared){0};
}

const mt_signature *mt_declared_kernel(const mt_declared *declared, const char *entry, const char **file)
{
    const mt_signature *found = NULL;
    if (strncmp(entry, "::", 2) == 0) entry += 2;
    for (size_t i = 0; declared->source && i < declared->source->file_count; i++) {
        for (size_t k = 0; k < declared->files[i].count; k++) {
            const mt_signature *kernel = &declared->files[i].items[k];
            if (strcmp(kernel->entry, entry) != 0 && (!kernel->symbol || strcmp(kernel->symbol, entry) != 0)) continue;
            if (found) return NULL;
            found = kernel;
            if (file) *file = declared->source->files[i].path;
        }
    }
    return found && !found->is_template ? found : NULL;
}

bool mt_declared_dtype(const mt_parameter *parameter, mt_dtype *dtype)
{
    return !parameter->is_alias && parameter->pointers <= 1 && parameter->dtype && mt_dtype_from_name(parameter->dtype, dtype);
}

uint64_t mt_declared_align(const mt_parameter *parameter, mt_dtype dtype)
{
    return mt_dtype_bytes(dtype) * (uint64_t)(parameter->lanes == 3 ? 1 : parameter->lanes);
}

/* In a struct, which is the variants' too, or by a map. */
static bool reaches_inside(const mt_launch *launch, size_t arg)
{
    bool is_reached = false;
    for (size_t i = 0; i < launch->reached_count; i++) is_reached = is_reached || launch->reached[i] == arg;
    for (size_t i = 0; i < launch->arg_count; i++) is_reached = is_reached && launch->args[i] != arg;
    return is_reached;
}

mt_dtype mt_declared_reference_dtype(const mt_declared *declared, const mt_spec *spec, size_t arg, mt_dtype own)
{
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        const char *entry = launch->entry ? launch->entry : spec->reference;
        if (!launch->algorithm || strcmp(launch->algorithm, "reference") != 0 || !entry) continue;
        const mt_signature *kernel = mt_declared_kernel(declared, entry, NULL);
        if (reaches_inside(launch, arg)) return own;
        for (size_t k = 0; kernel && kernel->parameter_count == launch->arg_count && k < launch->arg_count; k++) {
            mt_dtype said;
            if (launch->args[k] != arg || !mt_declared_dtype(&kernel->parameters[k], &said)) continue;
            if (said == own || (said == MT_F32 && spec->args[arg].role == MT_ROLE_OUT)) return said;
        }
    }
    return MT_F64;
}
