/* What `msda-tune check` refuses before compiling: arguments of another type than the kernel's declaration has. A GPU would read the same bytes as something else. */
#include "tuner/cli/check/check_types_internal.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/spec/spec_scope.h"

static bool is_wide(mt_dtype dtype)
{
    return !mt_dtype_is_float(dtype) && mt_dtype_bytes(dtype) >= 4;
}

/* Whether nobody means elements of `given` where the declaration has `declared`. Unsigned integers may hold the bits of floats, and small ones those of anything. */
static bool is_other(mt_dtype declared, mt_dtype given)
{
    if (declared == given) return false;
    if (mt_dtype_is_float(declared)) return true;
    if (!is_wide(declared)) return false;
    if (mt_dtype_is_float(given)) return declared == MT_I32 || declared == MT_I64;
    return is_wide(given) && mt_dtype_bytes(declared) != mt_dtype_bytes(given);
}

static bool is_of_reference(const mt_launch *launch)
{
    return launch->algorithm && strcmp(launch->algorithm, "reference") == 0;
}

/* What the launch hands over: the reference's outputs may be wider. */
mt_status mt_check_dtype(const mt_checking *c, const mt_launch *launch, const mt_arg *arg, mt_dtype *dtype, bool *is_known, mt_error *err)
{
    char *text = NULL;
    mt_status st = MT_OK;
    *is_known = arg->is_bits;
    *dtype = arg->float_dtype;
    if (arg->is_bits) return MT_OK;
    if (mt_scope_knobs_of_text(c->spec, arg->dtype_text)) return MT_OK;
    MT_TRY(mt_env_expand(c->env, arg->dtype_text, &text, err));
    *is_known = mt_dtype_from_name(text, dtype); /* else the launch's plan says it */
    if (*is_known && is_of_reference(launch) && mt_arg_is_output(arg) && mt_dtype_is_float(*dtype)) *dtype = mt_declared_reference_dtype(&c->declared, c->spec, (size_t)(arg - c->spec->args), *dtype);
done:
    mt_free(text);
    return st;
}

static const char *kind_of(const mt_arg *arg)
{
    static const char *const kinds[] = {[MT_ARG_TENSOR] = "a tensor", [MT_ARG_TENSORMAP] = "a tensor map", [MT_ARG_SCALAR] = "a scalar", [MT_ARG_STRUCT] = "a struct"};
    return kinds[arg->kind];
}

static void add_once(const mt_checking *c, const mt_strbuf *line)
{
    if (!line->failed && !strstr(mt_strbuf_text(c->out), mt_strbuf_text(line))) mt_strbuf_add(c->out, mt_strbuf_text(line));
    c->out->failed = c->out->failed || line->failed;
}

/* "[arg a] is a scalar f32, but parameter 2 of scale is float *a (scale.cu)", and what was expected. */
void mt_check_tell(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, const char *expected)
{
    const mt_parameter *p = &at->of->parameters[at->index];
    mt_place named = mt_spec_place(c->spec, arg->line);
    const char *dtype = arg->is_bits ? mt_dtype_name(arg->float_dtype) : arg->dtype_text;
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "%s:%d: [arg %s] is %s%s%s, but %s %zu of %s is %s%s %s%s (%s)%s\n", named.path, named.line, arg->name, kind_of(arg), dtype ? " " : "", dtype ? dtype : "",
                   at->is_field ? "field" : "parameter", at->index + 1, at->of->name, p->is_const && p->pointers ? "const " : "", p->type, p->pointers ? "*" : "", p->name, at->file, expected);
    add_once(c, &line);
    mt_strbuf_free(&line);
    (*c->told)++;
}

static void tell_type(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, mt_dtype dtype)
{
    mt_strbuf expected = {0};
    if (!at->is_field && is_of_reference(at->launch) && mt_arg_is_output(arg) && mt_dtype_is_float(dtype))
        mt_strbuf_addf(&expected, ": expected double *%s, which the reference of a floating output writes%s", at->of->parameters[at->index].name,
                       arg->role == MT_ROLE_OUT ? ", or the output's own type or float" : ", or the output's own type");
    mt_check_tell(c, at, arg, mt_strbuf_text(&expected));
    mt_strbuf_free(&expected);
}

mt_status mt_check_argument(const mt_checking *c, const mt_declared_place *at, size_t index, mt_error *err)
{
    const mt_arg *arg = &c->spec->args[index];
    const mt_parameter *p = &at->of->parameters[at->index];
    mt_dtype declared, given;
    bool is_known, is_tensor = arg->kind == MT_ARG_TENSOR, is_vector_field = at->is_field && !p->pointers; /* whose numbers come one by one */
    if (mt_is_texture(p->type)) {
        mt_check_tell(c, at, arg, ": " MT_NO_TEXTURES);
        return MT_OK;
    }
    if (arg->kind == MT_ARG_STRUCT && !p->pointers) return mt_check_fields(c, at, arg, err);
    if (arg->kind == MT_ARG_TENSORMAP || (p->lanes != 1 && !is_vector_field) || !mt_declared_dtype(p, &declared)) return MT_OK;
    if (arg->kind == MT_ARG_STRUCT) {
        mt_check_tell(c, at, arg, "");
        return MT_OK;
    }
    mt_status st = mt_check_dtype(c, at->launch, arg, &given, &is_known, err);
    if (st != MT_OK || !is_known) return st;
    bool is_scalar_other = declared != given && (mt_dtype_is_float(declared) || mt_dtype_is_float(given));
    if (is_tensor != (p->pointers == 1) || (is_tensor ? is_other(declared, given) : is_scalar_other)) tell_type(c, at, arg, given);
    return MT_OK;
}

/* Where the lists differ in length, the compiled code tells, and the types are those of other parameters. */
static mt_status check_launch(const mt_checking *c, const mt_launch *launch, const char *entry, mt_error *err)
{
    const char *file = NULL;
    const mt_signature *kernel = entry ? mt_declared_kernel(&c->declared, entry, &file) : NULL;
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && kernel && kernel->parameter_count == launch->arg_count && i < launch->arg_count; i++) {
        mt_declared_place at = {launch, kernel, i, false, file};
        st = mt_check_argument(c, &at, launch->args[i], err);
    }
    return st;
}

static mt_status check_launches(const mt_checking *c, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < c->spec->launch_count; i++) {
        const mt_launch *launch = &c->spec->launches[i];
        for (size_t k = 0; k < c->spec->algorithm_count; k++) {
            const mt_algorithm *algorithm = &c->spec->algorithms[k];
            if (mt_plan_takes_launch(c->spec, launch, algorithm->name)) MT_TRY(check_launch(c, launch, launch->entry ? launch->entry : algorithm->entry, err));
        }
        if (is_of_reference(launch)) MT_TRY(check_launch(c, launch, launch->entry ? launch->entry : c->spec->reference, err));
    }
done:
    return st;
}

mt_status mt_check_types(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_source *source, mt_strbuf *out, mt_error *err)
{
    mt_status st;
    mt_env *env = NULL;
    size_t told = 0;
    mt_checking c = {.spec = spec, .source = source, .out = out, .told = &told};
    MT_TRY(mt_env_create(spec, shape, facts, &env, err));
    c.env = env;
    MT_TRY(mt_declared_read(source, &c.declared, err));
    st = check_launches(&c, err);
done:
    mt_declared_free(&c.declared);
    mt_env_free(env);
    return st;
}
