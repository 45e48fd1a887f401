/* portfolio.rule_json → mt_rule. Everything comes from a file and is checked here; what does not fit makes the whole portfolio useless, which is no error. */
#include "db/lookup/lookup.h"

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
    const mt_lookup_model *model = &r->loader->block->model;
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

/* Children come behind their parents, so that a walk ends. */
static bool read_node(const reading *r, const mt_lookup_json *object, uint32_t index, uint32_t count, mt_rule_node *node)
{
    int64_t low = mt_lookup_json_int(object, "low", 0), high = mt_lookup_json_int(object, "high", 0), feature = mt_lookup_json_int(object, "feature", -1);
    if (mt_lookup_json_member(object, "variant")) {
        int64_t id = mt_lookup_json_int(object, "variant", 0);
        while (node->variant < r->rule->variant_count && r->variants[node->variant] != id) node->variant++;
        return node->variant < r->rule->variant_count;
    }
    if (low <= index || high <= index || low >= count || high >= count || feature < 0 || (size_t)feature >= r->rule->feature_count) return false;
    node->low = (uint32_t)low;
    node->high = (uint32_t)high;
    node->feature = (uint32_t)feature;
    return number_of(object, "below", -1e12, 1e12, &node->below);
}

static bool read_tree(const reading *r, const mt_lookup_json *array)
{
    if (!array) return true;
    if (array->kind != MT_LOOKUP_JSON_ARRAY || array->count == 0 || array->count > MT_RULE_NODES) return false;
    mt_rule_node *nodes = mt_lookup_arena_take(&r->loader->block->arena, array->count, sizeof *nodes);
    uint32_t index = 0;
    for (const mt_lookup_json *at = array->first; nodes && at; at = at->next, index++) {
        if (!read_node(r, at, index, array->count, &nodes[index])) return false;
    }
    r->rule->nodes = nodes;
    return nodes != NULL;
}

/* Fills features, power, tree and curves; *uses_all: all variants may be chosen, not the members alone. False = damaged, or no memory. */
bool mt_lookup_rule_read(mt_lookup_loader *loader, const mt_lookup_json *root, const size_t *names, const int64_t *variants, mt_rule *rule, bool *uses_all)
{
    mt_rule_feature *features = mt_lookup_arena_take(&loader->block->arena, rule->feature_count, sizeof *features);
    const reading r = { loader, rule, features, names, variants };
    const char *among = mt_lookup_json_text(root, "among");
    int64_t power = mt_lookup_json_int(root, "power", -1);
    if (!features || mt_lookup_json_int(root, "format", 0) != 1 || !among || power < 0 || power > 8) return false;
    rule->features = features;
    rule->power = (int)power;
    *uses_all = strcmp(among, "all") == 0;
    return read_weights(&r, mt_lookup_json_member(root, "weights")) && read_tree(&r, mt_lookup_json_member(root, "tree"))
           && read_curve(mt_lookup_json_member(root, "slowdown"), &rule->slowdown_curve) && read_curve(mt_lookup_json_member(root, "loss"), &rule->loss_curve);
}
