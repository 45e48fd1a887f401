/* Warm starts: what was best for near shapes, of this and of like GPUs. The strategy decides what it is worth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/query.h"
#include "tuner/base/clock.h"
#include "tuner/base/text.h"
#include "tuner/run/session_internal.h"

struct hint {
    size_t index;
    bool is_foreign; /* of another GPU */
    double distance;
};

struct hunt {
    const mt_session *session;
    const mt_session_target *target;
    const mt_space *space;
    struct hint best[MT_HINTS_MAX];
    size_t count;
};

static size_t part_length(const char *text)
{
    return strcspn(text, ";");
}

/* The value of `name` (length given) in a key "D=32;H=92,46;dtype=f16"; NULL = not there. */
static const char *find_value(const char *key, const char *name, size_t length)
{
    while (*key) {
        if (strncmp(key, name, length) == 0 && key[length] == '=') return key + length + 1;
        key += part_length(key);
        key += *key == ';';
    }
    return NULL;
}

static double far_apart(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log(a / b)) : a != b;
}

/* Lists differ by their elements as far as both go, and by their lengths; words that differ count as a factor of e. */
static double value_distance(const char *a, const char *b)
{
    double sum = 0, length_a = 0, length_b = 0;
    size_t size_a = part_length(a), size_b = part_length(b);
    if (size_a == size_b && strncmp(a, b, size_a) == 0) return 0;
    const char *end_a = a + size_a, *end_b = b + size_b;
    while (a < end_a || b < end_b) {
        char *behind_a = (char *)a, *behind_b = (char *)b;
        double x = a < end_a ? strtod(a, &behind_a) : 0, y = b < end_b ? strtod(b, &behind_b) : 0;
        if ((a < end_a && behind_a == a) || (b < end_b && behind_b == b)) return 1; /* no number */
        if (a < end_a && b < end_b) sum += far_apart(x, y);
        length_a += a < end_a;
        length_b += b < end_b;
        a = behind_a + (behind_a < end_a && *behind_a == ',');
        b = behind_b + (behind_b < end_b && *behind_b == ',');
    }
    return sum + far_apart(length_a, length_b);
}

/* Values that only one of the two has count as a factor of e. */
static double key_distance(const char *a, const char *b)
{
    double sum = 0;
    for (const char *at = a; *at; at += part_length(at), at += *at == ';') {
        size_t length = strcspn(at, "=;");
        const char *other = find_value(b, at, length);
        sum += other && at[length] == '=' ? value_distance(at + length + 1, other) : 1;
    }
    for (const char *at = b; *at; at += part_length(at), at += *at == ';')
        sum += !find_value(a, at, strcspn(at, "=;"));
    return sum;
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
    bool is_own = !hint.is_foreign && strcmp(row->kernel_key, session->params->kernel_key.hex) == 0 && strcmp(row->shape_key, hunt->target->shape->key) == 0 &&
                  strcmp(row->workload_key, hunt->target->workload->key) == 0;
    if (is_own) return MT_OK;
    if (mt_point_parse(mt_space_spec(hunt->space), row->variant, &point, &ignored) != MT_OK || !mt_space_find(hunt->space, &point, &hint.index)) return MT_OK;
    hint.distance = key_distance(hunt->target->shape->key, row->shape_key);
    keep(hunt, hint);
    return MT_OK;
}

mt_status mt_session_hints(mt_session *session, const mt_subject *subject, const mt_session_target *target, const mt_space *space, size_t hints[MT_HINTS_MAX], size_t *count, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    struct hunt hunt = {.session = session, .target = target, .space = space};
    const mt_filter filter = {.kernel = session->params->spec->name, .origin = &session->origin, .regime = &subject->regime};
    mt_status st = mt_query_best(session->store, &filter, on_best, &hunt, err);
    for (size_t i = 0; i < hunt.count; i++) hints[i] = hunt.best[i].index;
    *count = hunt.count;
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}
