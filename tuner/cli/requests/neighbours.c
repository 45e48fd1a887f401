#include "tuner/cli/requests/neighbours.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/text.h"
#include "tuner/space/space.h"

void mt_neighbours_free(mt_neighbours *around)
{
    for (size_t i = 0; i < around->text_count; i++) mt_free(around->texts[i]);
    mt_free(around->texts);
    mt_free(around->given);
    *around = (mt_neighbours){0};
}

/* "ALGO=a BLOCK=64", as listings print it, is as good as "ALGO=a;BLOCK=64". */
static mt_status parse(const mt_spec *spec, const char *variant, mt_point *point, mt_error *err)
{
    char *text = mt_strdup(variant);
    if (!text) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    for (char *at = text; *at; at++)
        if (*at == ' ') *at = ';';
    mt_error why;
    mt_status st = mt_point_parse(spec, text, point, &why);
    mt_free(text);
    return st == MT_OK ? MT_OK : MT_FAIL(err, st == MT_ERR_NO_MEMORY ? st : MT_ERR_USAGE, "tune: --around: %s", why.message);
}

static mt_status add_text(mt_neighbours *around, const mt_spec *spec, const mt_point *point, mt_error *err)
{
    char **texts = mt_grow(around->texts, around->text_count, &around->text_capacity, sizeof *texts);
    if (!texts) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    around->texts = texts;
    texts[around->text_count] = mt_point_text(spec, point);
    return texts[around->text_count++] ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
}

static mt_status add_points(mt_neighbours *around, const mt_space *space, size_t index, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = mt_space_legal_neighbours(space, index, NULL, 0), *neighbours = mt_alloc(capacity + 1, sizeof *neighbours);
    if (!neighbours) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    size_t count = mt_space_legal_neighbours(space, index, neighbours, capacity);
    for (size_t i = 0; i <= count && i <= capacity; i++) {
        mt_point point;
        mt_space_at(space, i ? neighbours[i - 1] : index, &point);
        MT_TRY(add_text(around, mt_space_spec(space), &point, err));
    }
done:
    mt_free(neighbours);
    return st;
}

/* A knob that is missing is missing on all shapes: told once. */
static void tell_why(mt_neighbours *around, const mt_space *space, const mt_point *point)
{
    mt_error why;
    mt_space_explain(space, point, &why);
    if (strcmp(around->why, why.message) == 0) return;
    mt_log_warn("--around: %s", why.message);
    snprintf(around->why, sizeof around->why, "%s", why.message);
}

/* The variant is left out, with a warning, on a shape where it may not run. A shape without a recording is the session's to skip. */
static mt_status add_target(mt_neighbours *around, const mt_session_params *plan, mt_evaluator *evaluator, const mt_session_target *target, const mt_point *point, mt_error *err)
{
    mt_space *space = NULL;
    size_t index, before = around->text_count;
    mt_status st = mt_evaluator_space(evaluator, plan->spec, target->shape, target->workload, plan->l2, NULL, &space, err);
    if (st == MT_ERR_NOT_FOUND && evaluator->is_recorded)
        st = add_text(around, plan->spec, point, err);
    else if (st == MT_OK && !mt_space_find_legal(space, point, &index))
        tell_why(around, space, point);
    else if (st == MT_OK)
        st = add_points(around, space, index, err);
    if (st == MT_OK && around->text_count > before)
        around->given[around->count++] = (mt_session_given){.shape = target->shape, .workload = target->workload, .variant_count = around->text_count - before};
    mt_space_free(space);
    return st;
}

mt_status mt_neighbours_gather(const mt_session_params *plan, mt_evaluator *evaluator, const char *variant, mt_neighbours *around, mt_error *err)
{
    mt_status st = MT_OK;
    mt_point point;
    mt_session_target *targets = NULL;
    size_t count = 0, text = 0;
    MT_TRY(parse(plan->spec, variant, &point, err));
    MT_TRY(mt_session_plan(plan, &targets, &count, err));
    if (!(around->given = mt_alloc(count + 1, sizeof *around->given))) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
        goto done;
    }
    for (size_t i = 0; i < count; i++) MT_TRY(add_target(around, plan, evaluator, &targets[i], &point, err));
    if (around->count == 0) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "tune: --around: that variant may run on none of the shapes");
    for (size_t i = 0; i < around->count; text += around->given[i++].variant_count) around->given[i].variants = (const char *const *)around->texts + text;
done:
    mt_free(targets);
    return st;
}
