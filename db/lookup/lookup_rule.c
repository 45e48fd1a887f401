/* portfolio.rule_json → mt_rule. Everything comes from a file and is checked here; what does not fit makes the whole portfolio useless, which is no error. */
#include "db/lookup/lookup_cost.h"
#include "db/lookup/lookup_front.h"

#include <math.h>
#include <string.h>

typedef struct reading {
    mt_lookup_loader *loader;
    mt_rule *rule;
    mt_rule_feature *features;
    const size_t *names;      /* which value a feature belongs to */
    const int64_t *variants;  /* ids, [variant_count] */
} reading;

static bool number_of(const mt_lookup_json *object, const char *key, double least, double most, double *out)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    bool is_number = member && (member->kind == MT_LOOKUP_JSON_INTEGER || member->kind == MT_LOOKUP_JSON_REAL);
    if (!is_number || !(member->real >= least && member->real <= most)) return false;
    *out = member->real;
    return true;
}

/* One weight for each of the shape's values, in their order. */
static bool read_weights(const reading *r, const mt_lookup_json *array)
{
    const mt_lookup_model *model = &r->loader->answers->model;
    const mt_lookup_json *at = array && array->kind == MT_LOOKUP_JSON_ARRAY ? array->first : NULL;
    for (uint32_t i = 0; i < model->name_count; i++, at = at->next) {
        const char *name = mt_lookup_json_text(at, "name");
        double weight;
        if (!name || strcmp(name, model->names[i].name) != 0 || !number_of(at, "weight", 0, 1e6, &weight)) return false;
        size_t siblings = model->names[i].kind == MT_LOOKUP_NAME_LIST ? MT_RULE_LIST_FEATURES : 1;
        for (size_t k = 0; k < r->rule->feature_count; k++) {
            if (r->names[k] == i) r->features[k] = (mt_rule_feature){ weight / (double)siblings, model->names[i].kind == MT_LOOKUP_NAME_STRING };
        }
    }
    return !at;
}

/* {"reach":5.1,"knots":[[0.3,0.01],…]}, ascending in both. */
static bool read_curve(const mt_lookup_json *object, mt_rule_curve *curve)
{
    const mt_lookup_json *knots = mt_lookup_json_member(object, "knots");
    double distance = 0, value = 0;
    if (!knots || knots->kind != MT_LOOKUP_JSON_ARRAY || knots->count > MT_RULE_KNOTS || !number_of(object, "reach", 0, 1e6, &curve->reach)) return false;
    for (const mt_lookup_json *at = knots->first; at; at = at->next) {
        const mt_lookup_json *x = at->first, *y = x ? x->next : NULL;
        if (!y || !(x->real >= distance && x->real <= 1e6) || !(y->real >= value && y->real <= 64)) return false;
        curve->distance[curve->count] = distance = x->real;
        curve->value[curve->count++] = value = y->real;
    }
    return curve->reach >= distance;
}

/* [17,23,…]: ids of the variants that may be chosen. */
static bool read_usable(const reading *r, const mt_lookup_json *array, bool *is_usable)
{
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY) return false;
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        size_t variant = 0;
        while (variant < r->rule->variant_count && r->variants[variant] != at->number) variant++;
        if (at->kind != MT_LOOKUP_JSON_INTEGER || variant == r->rule->variant_count) return false;
        is_usable[variant] = true;
    }
    return true;
}

/* Whether a tuned shape has all of the strings that the plan is bound to (a type, say). */
static bool has_strings(const mt_lookup_model *model, const mt_rule *rule, const size_t *names, size_t shape)
{
    for (size_t k = 0; k < rule->feature_count; k++) {
        const mt_lookup_model_name *name = &model->names[names[k]];
        double text;
        if (name->kind != MT_LOOKUP_NAME_STRING) continue;
        mt_rule_of_text(name->string, strlen(name->string), &text);
        if (rule->shapes[shape * rule->feature_count + k] != text) return false;
    }
    return true;
}

static bool some_has_strings(const reading *r)
{
    size_t shape = 0;
    while (shape < r->rule->shape_count && !has_strings(&r->loader->answers->model, r->rule, r->names, shape)) shape++;
    return shape < r->rule->shape_count;
}

bool mt_lookup_errors_settle(mt_lookup_loader *loader, const size_t *names, const double *errors, mt_lookup_predictor *predictor)
{
    const mt_rule *rule = &predictor->rule;
    double *most = mt_lookup_arena_take(&loader->answers->arena, rule->variant_count, sizeof *most);
    uint32_t *shapes = mt_lookup_arena_take(&loader->answers->arena, rule->variant_count, sizeof *shapes);
    if (!most || !shapes) return false;
    for (size_t shape = 0; shape < rule->shape_count; shape++) {
        bool counts = has_strings(&loader->answers->model, rule, names, shape);
        for (size_t v = 0, at = shape * rule->variant_count; counts && v < rule->variant_count; v++, at++) {
            if (!rule->rows[at]) continue;
            most[v] = mt_rule_worse(most[v], errors[at]);
            shapes[v]++;
        }
    }
    for (size_t v = 0; v < rule->variant_count; v++)
        if (!shapes[v]) most[v] = NAN;
    predictor->most_error = most;
    predictor->error_shapes = shapes;
    return true;
}

bool mt_lookup_rule_read(mt_lookup_loader *loader, const mt_lookup_json *root, const size_t *names, const int64_t *variants, bool *is_usable, mt_lookup_predictor *predictor)
{
    mt_rule *rule = &predictor->rule;
    mt_rule_feature *features = mt_lookup_arena_take(&loader->answers->arena, rule->feature_count, sizeof *features);
    const reading r = { loader, rule, features, names, variants };
    if (!features || mt_lookup_json_int(root, "format", 0) != MT_RULE_FORMAT) return false;
    rule->features = features;
    if (!some_has_strings(&r)) predictor->rank += MT_LOOKUP_LACKS_STRINGS;
    return read_weights(&r, mt_lookup_json_member(root, "weights")) && read_usable(&r, mt_lookup_json_member(root, "usable"), is_usable)
           && read_curve(mt_lookup_json_member(root, "error"), &rule->error) && read_curve(mt_lookup_json_member(root, "most"), &rule->most);
}

/* ---- what is the same for all shapes of a plan ---- */

static bool settle_plain(mt_lookup_arena *arena, mt_rule *rule)
{
    const size_t cells = rule->shape_count * rule->variant_count;
    double *plain = mt_lookup_arena_take(arena, cells, sizeof *plain), *least_cost = mt_lookup_arena_take(arena, rule->shape_count, sizeof *least_cost);
    bool *is_known = mt_lookup_arena_take(arena, cells, sizeof *is_known);
    if (!plain || !least_cost || !is_known) return false;
    mt_rule_plain(rule, plain, is_known, least_cost);
    rule->plain = plain;
    rule->least_cost = least_cost;
    rule->is_plain_known = is_known;
    return true;
}

/* By the strings alone, which are the only texts of a shape. */
static bool settle_wrong(mt_lookup_answers *answers, mt_lookup_predictor *predictor)
{
    static const int64_t no_shape[TUNELOOKUP_MAX_VALUES];
    const mt_rule *rule = &predictor->rule;
    double features[MT_RULE_FEATURES];
    mt_rule_search search;
    bool *is_wrong = mt_lookup_arena_take(&answers->arena, rule->variant_count, sizeof *is_wrong);
    if (!is_wrong) return false;
    mt_lookup_features_of(answers, no_shape, features);
    memset(search.is_refused, 0, sizeof search.is_refused);
    mt_rule_refuse_wrong(rule, features, &search);
    memcpy(is_wrong, search.is_refused, rule->variant_count * sizeof *is_wrong);
    predictor->is_wrong_here = is_wrong;
    predictor->default_fails = mt_rule_default_fails(rule, features);
    return true;
}

tunelookup_status mt_lookup_rules_settle(mt_lookup_answers *answers)
{
    for (uint32_t i = 0; i < answers->predictor_count; i++)
        if (!settle_plain(&answers->arena, &answers->predictors[i].rule) || !settle_wrong(answers, &answers->predictors[i])) return mt_lookup_no_memory();
    return TUNELOOKUP_OK;
}
