/* What `msda-tune check` warns of once a variant has compiled: __constant__ variables whose contents nobody gives. A kernel reads zeros there, in the reference too, so that nothing would be found wrong. */
#include "tuner/cli/check/check.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/evaluate/candidate.h"
#include "tuner/space/launch/cubin.h"
#include "tuner/space/signature/constants.h"

/* The argument that fills the variable; NULL: none. */
static const mt_arg *filler_of(const mt_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->arg_count; i++)
        if (spec->args[i].constant && strcmp(spec->args[i].constant, name) == 0) return &spec->args[i];
    return NULL;
}

static void tell(const mt_space *space, const mt_needs *needs, const char *name, int64_t bytes, mt_strbuf *out)
{
    const mt_spec *spec = mt_space_spec(space);
    const mt_arg *arg = filler_of(spec, name);
    mt_place place = mt_spec_place(spec, arg ? arg->line : 0);
    for (size_t i = 0; i < needs->variable_count && arg; i++) {
        const mt_needed_variable *variable = &needs->variables[i];
        if (strcmp(variable->name, name) != 0 || variable->bytes >= (uint64_t)bytes) continue;
        mt_strbuf_addf(out, "%s:%d: [arg %s] fills %llu of the %lld bytes of the __constant__ variable %s; the others are zeros\n", place.path, place.line, arg->name, (unsigned long long)variable->bytes,
                       (long long)bytes, name);
    }
    if (!arg) mt_strbuf_addf(out, "%s: no argument fills the __constant__ variable %s (%lld bytes), so that kernels read zeros: expected an input with `constant %s` in [args], or values in the source\n", spec->path, name, (long long)bytes, name);
}

mt_status mt_check_constants(const mt_space *space, size_t index, const mt_device_facts *facts, const mt_source *source, const char *cubin_path, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_constants constants = {0};
    mt_candidate candidate = {0};
    mt_env *env = NULL;
    char *cubin = NULL;
    size_t bytes;
    for (size_t i = 0; i < source->file_count; i++) MT_TRY(mt_constants_read(source->files[i].text, &constants, err));
    if (!constants.count) goto done;
    MT_TRY(mt_file_read(cubin_path, 0, &cubin, &bytes, err));
    MT_TRY(mt_env_create(mt_space_spec(space), mt_space_shape(space), facts, &env, err));
    MT_TRY(mt_candidate_make(env, space, index, &candidate, err));
    for (size_t i = 0; i < constants.count; i++) {
        int64_t size = constants.items[i].is_used ? mt_variable_bytes(cubin, bytes, constants.items[i].name) : 0;
        if (size > 0) tell(space, &candidate.needs, constants.items[i].name, size, out);
    }
done:
    mt_candidate_free(&candidate);
    mt_env_free(env);
    mt_free(cubin);
    mt_free(constants.items);
    return st;
}
