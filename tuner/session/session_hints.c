/* Warm starts: what was best for near shapes, of this and of like GPUs. The strategy decides what it is worth. */
#include <string.h>

#include "db/store/query.h"
#include "db/rule.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"
#include "tuner/session/session_internal.h"

struct hint {
    size_t index;
    bool is_foreign; /* of another GPU */
    double distance;
};

struct hunt {
    const mt_session *session;
    const mt_session_target *target;
    const mt_space *space;
    char *kinds;      /* of the shape's values */
    struct hint best[MT_HINTS_MAX];
    size_t count;
};

/* "int,list,string" of the shape's values in their key's order, which is sorted by name. mt_free it; NULL when out of memory. */
static char *kinds_of(const mt_shape *shape)
{
    mt_strbuf kinds = {0};
    for (const char *at = shape->key; *at; at += strcspn(at, ";"), at += *at == ';') {
        size_t length = strcspn(at, "="), i = 0;
        while (i + 1 < shape->setting_count && (strncmp(shape->settings[i].name, at, length) != 0 || shape->settings[i].name[length])) i++;
        mt_value_kind kind = shape->settings[i].value.kind;
        mt_strbuf_addf(&kinds, "%s%s", kinds.length ? "," : "", kind == MT_VALUE_STRING ? "string" : kind == MT_VALUE_LIST ? "list" : "int");
    }
    return mt_strbuf_take(&kinds);
}

static bool comes_before(const struct hint *a, const struct hint *b)
{
    return a->is_foreign != b->is_foreign ? b->is_foreign : a->distance < b->distance;
}

/* Keeps the best few, each point once; what came first stays ahead of its equals. */
static void keep(struct hunt *hunt, struct hint hint)
{
    size_t at = 0;
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->best[i].index != hint.index) continue;
        if (!comes_before(&hint, &hunt->best[i])) return;
        memmove(&hunt->best[i], &hunt->best[i + 1], (--hunt->count - i) * sizeof hint);
    }
    while (at < hunt->count && !comes_before(&hint, &hunt->best[at])) at++;
    if (at == MT_HINTS_MAX) return;
    if (hunt->count == MT_HINTS_MAX) hunt->count--;
    memmove(&hunt->best[at + 1], &hunt->best[at], (hunt->count - at) * sizeof hint);
    hunt->best[at] = hint;
    hunt->count++;
}

/* Rows of this very subject are history, which the strategy is told anyway. */
static mt_status on_best(void *context, const mt_measurement_row *row, mt_error *err)
{
    struct hunt *hunt = context;
    const mt_session *session = hunt->session;
    struct hint hint = {.is_foreign = strcmp(row->gpu_key, session->gpu_key) != 0};
    mt_point point;
    mt_error ignored;
    (void)err;
    if (hint.is_foreign && (!row->arch || strcmp(row->arch, session->evaluator->arch) != 0)) return MT_OK;
    bool is_own = !hint.is_foreign && strcmp(row->kernel_key, session->kernel_key.hex) == 0 && strcmp(row->shape_key, hunt->target->shape->key) == 0 &&
                  strcmp(row->workload_key, hunt->target->workload->key) == 0;
    if (is_own) return MT_OK;
    if (mt_point_parse(mt_space_spec(hunt->space), row->variant, &point, &ignored) != MT_OK || !mt_space_find(hunt->space, &point, &hint.index)) return MT_OK;
    hint.distance = mt_rule_key_distance(hunt->target->shape->key, row->shape_key, hunt->kinds); /* of another version of the file: farthest */
    keep(hunt, hint);
    return MT_OK;
}

mt_status mt_session_hints(mt_session *session, const mt_subject *subject, const mt_session_target *target, const mt_space *space, size_t hints[MT_HINTS_MAX], size_t *count, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    struct hunt hunt = {.session = session, .target = target, .space = space, .kinds = kinds_of(target->shape)};
    if (!hunt.kinds) return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    const mt_filter filter = {.kernel = session->params->spec->name, .origin = &session->origin, .l2 = &subject->l2};
    const mt_filter of_shipped = {.kernel = filter.kernel, .l2 = filter.l2};
    mt_status st = mt_query_best(session->store, &filter, on_best, &hunt, err);
    if (st == MT_OK && session->params->shipped) st = mt_query_best(session->params->shipped, &of_shipped, on_best, &hunt, err);
    for (size_t i = 0; i < hunt.count; i++) hints[i] = hunt.best[i].index;
    *count = hunt.count;
    mt_free(hunt.kinds);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}
