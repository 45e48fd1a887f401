/* Whether the default points that a space names may run for a shape. */
#include "tuner/cli/check/check.h"

#include "tuner/base/alloc.h"
#include "tuner/evaluate/candidate.h"

/* The default point of the i-th of the names in `defaults`; the first is the space's own. */
static mt_status find(const mt_space *space, size_t i, size_t *index, mt_error *err)
{
    return i ? mt_space_variant_default(space, mt_space_spec(space)->defaults[i], index, err) : mt_space_default(space, index, err);
}

static void tell_illegal(const mt_space *space, size_t index, const char *rule, mt_strbuf *why)
{
    mt_point point;
    mt_space_at(space, index, &point);
    char *text = mt_point_text(mt_space_spec(space), &point);
    mt_strbuf_addf(why, "%s: the default point %s of shape %s is illegal: %s", mt_space_spec(space)->path, text ? text : "", mt_space_shape(space)->name, rule);
    mt_free(text);
}

/* *why stays as it is where the point may run. */
static mt_status judge(const mt_space *space, mt_env *env, size_t i, mt_strbuf *why, mt_error *err)
{
    size_t index;
    mt_candidate candidate = {0};
    mt_error reason;
    mt_status st = find(space, i, &index, &reason);
    if (st != MT_OK) mt_strbuf_add(why, reason.message);
    if (st != MT_OK) return MT_OK;
    st = mt_candidate_make(env, space, index, &candidate, err);
    if (st == MT_OK && candidate.illegal) tell_illegal(space, index, candidate.illegal, why);
    mt_candidate_free(&candidate);
    return st;
}

mt_status mt_check_default(const mt_space *space, const mt_device_facts *facts, mt_strbuf *why, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    size_t count = spec->default_count && !spec->reference_is_default ? spec->default_count : 1;
    mt_env *env = NULL;
    mt_strbuf first = {0}, next = {0};
    mt_status st = mt_env_create(spec, mt_space_shape(space), facts, &env, err);
    bool may_run = false;
    for (size_t i = 0; i < count && st == MT_OK && !may_run; i++) {
        mt_strbuf_clear(&next);
        st = judge(space, env, i, i ? &next : &first, err);
        may_run = !(i ? &next : &first)->length;
    }
    if (st == MT_OK && !may_run) mt_strbuf_add(why, mt_strbuf_text(&first));
    mt_strbuf_free(&first);
    mt_strbuf_free(&next);
    mt_env_free(env);
    return st;
}

void mt_check_default_code(const mt_space *space, size_t index, const char *rule, mt_strbuf *why)
{
    size_t own;
    mt_error ignored;
    if (mt_space_spec(space)->default_count <= 1 && find(space, 0, &own, &ignored) == MT_OK && own == index) tell_illegal(space, index, rule, why);
}
