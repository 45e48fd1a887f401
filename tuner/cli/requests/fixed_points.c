#include "tuner/cli/requests/fixed_points.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/output/print.h"
#include "tuner/space/points/space.h"

void mt_fixed_points_free(mt_fixed_points *points)
{
    mt_texts_free(&points->texts);
    mt_free(points->fixed);
    *points = (mt_fixed_points){0};
}

static mt_status parse(const mt_spec *spec, const char *where, const char *variant, mt_point *point, mt_error *err)
{
    char *text = mt_print_unlisted(variant);
    if (!text) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    mt_error why;
    mt_status st = mt_point_parse(spec, text, point, &why);
    mt_free(text);
    return st == MT_OK ? MT_OK : MT_FAIL(err, st == MT_ERR_NO_MEMORY ? st : MT_ERR_USAGE, "tune: %s: %s", where, why.message);
}

static mt_status add_points(mt_fixed_points *points, const mt_space *space, size_t index, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = mt_space_neighbours(space, index, NULL, 0), *neighbours = mt_alloc(capacity + 1, sizeof *neighbours);
    if (!neighbours) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    size_t count = mt_space_neighbours(space, index, neighbours, capacity);
    for (size_t i = 0; i <= count && i <= capacity; i++) {
        mt_point point;
        mt_space_at(space, i ? neighbours[i - 1] : index, &point);
        MT_TRY(mt_texts_take(&points->texts, mt_point_text(mt_space_spec(space), &point), err));
    }
done:
    mt_free(neighbours);
    return st;
}

/* A knob that is missing is missing on all shapes: told once. */
static void tell_why(mt_fixed_points *points, const mt_space *space, const mt_point *point)
{
    mt_error why;
    mt_space_explain(space, point, &why);
    if (strcmp(points->why, why.message) == 0) return;
    mt_log_warn("--around: %s", why.message);
    snprintf(points->why, sizeof points->why, "%s", why.message);
}

/* The variant is left out, with a warning, on a shape where it may not run. A shape without a recording is the session's to skip. */
static mt_status add_target(mt_fixed_points *points, const mt_session_params *plan, mt_evaluator *evaluator, const mt_session_target *target, const mt_point *point, mt_error *err)
{
    mt_space *space = NULL;
    size_t index, before = points->texts.count;
    mt_status st = mt_evaluator_space(evaluator, plan->spec, target->shape, target->workload, plan->l2, NULL, &space, err);
    if (st == MT_ERR_NOT_FOUND && evaluator->is_recorded) st = mt_texts_take(&points->texts, mt_point_text(plan->spec, point), err);
    else if (st == MT_OK && !mt_space_find(space, point, &index)) tell_why(points, space, point);
    else if (st == MT_OK) st = add_points(points, space, index, err);
    if (st == MT_OK && points->texts.count > before)
        points->fixed[points->count++] = (mt_session_fixed){.shape = target->shape, .workload = target->workload, .variant_count = points->texts.count - before};
    mt_space_free(space);
    return st;
}

mt_status mt_fixed_points_around(const mt_session_params *plan, mt_evaluator *evaluator, const char *variant, mt_fixed_points *points, mt_error *err)
{
    mt_status st = MT_OK;
    mt_point point;
    mt_session_target *targets = NULL;
    size_t count = 0, text = 0;
    MT_TRY(parse(plan->spec, "--around", variant, &point, err));
    MT_TRY(mt_session_plan(plan, &targets, &count, err));
    if (!(points->fixed = mt_alloc(count + 1, sizeof *points->fixed))) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory"));
    for (size_t i = 0; i < count; i++) MT_TRY(add_target(points, plan, evaluator, &targets[i], &point, err));
    if (points->count == 0) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "tune: --around: that variant may run on none of the shapes");
    for (size_t i = 0; i < points->count; text += points->fixed[i++].variant_count) points->fixed[i].variants = (const char *const *)points->texts.items + text;
done:
    mt_free(targets);
    return st;
}

/* ---- listed ones ---- */

enum { LIST_BYTES_MAX = 1 << 24 };

static mt_status add_line(mt_fixed_points *points, const mt_spec *spec, const char *path, size_t line, char *text, mt_error *err)
{
    char where[512];
    mt_point point;
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1])) text[--length] = '\0';
    if (!*text || *text == '#') return MT_OK;
    snprintf(where, sizeof where, "%s:%zu", path, line);
    mt_status st = parse(spec, where, text, &point, err);
    return st == MT_OK ? mt_texts_take(&points->texts, mt_point_text(spec, &point), err) : st;
}

mt_status mt_fixed_points_listed(const mt_session_params *plan, const char *path, mt_fixed_points *points, mt_error *err)
{
    mt_status st = MT_OK;
    mt_session_target *targets = NULL;
    size_t line = 1, length;
    char *text = NULL;
    MT_TRY(mt_file_read(path, LIST_BYTES_MAX, &text, &length, err));
    for (char *at = text, *next; at; at = next, line++) {
        if ((next = strchr(at, '\n'))) *next++ = '\0';
        MT_TRY(add_line(points, plan->spec, path, line, at, err));
    }
    if (points->texts.count == 0) MT_LEAVE(MT_FAIL(err, MT_ERR_USAGE, "tune: --variants: %s names no variant; expected one a line, as 'msda-tune show' prints them", path));
    MT_TRY(mt_session_plan(plan, &targets, &points->count, err));
    if (!(points->fixed = mt_alloc(points->count + 1, sizeof *points->fixed))) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory"));
    for (size_t i = 0; i < points->count; i++)
        points->fixed[i] = (mt_session_fixed){targets[i].shape, targets[i].workload, (const char *const *)points->texts.items, points->texts.count};
done:
    mt_free(targets);
    mt_free(text);
    return st;
}
