/* The trees that correct a cost model, as kernel.spec_json has them. Everything comes from a file and is checked here. */
#include "db/lookup/lookup_cost.h"

#include <string.h>

#include "db/key.h"

typedef struct reading {
    const mt_lookup_model_reader *from;
    mt_trees *trees;
    mt_trees_name *names;
    mt_trees_split *splits;
    int16_t *leaves;
} reading;

static bool part_of(const char *text, mt_trees_part *part)
{
    for (int i = MT_TREES_LENGTH; text && i < MT_TREES_PARTS; i++) {
        if (strcmp(text, mt_trees_part_names[i]) != 0) continue;
        *part = (mt_trees_part)i;
        return true;
    }
    return !text;
}

static bool read_texts(reading *r, const mt_lookup_json *array, mt_trees_name *name)
{
    mt_lookup_arena *arena = r->from->arena;
    if (!array) return true;
    if (array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_TREES_TEXTS) return false;
    const char **texts = mt_lookup_arena_take(arena, array->count, sizeof *texts);
    for (const mt_lookup_json *at = texts ? array->first : NULL; at; at = at->next) {
        if (at->kind != MT_LOOKUP_JSON_TEXT || !(texts[name->text_count] = mt_lookup_arena_text(arena, at->text, strlen(at->text)))) return false;
        name->text_count++;
    }
    name->texts = texts;
    return texts != NULL;
}

static bool read_edges(reading *r, const mt_lookup_json *array, mt_trees_name *name)
{
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_TREES_EDGES) return false;
    int64_t *edges = mt_lookup_arena_take(r->from->arena, array->count, sizeof *edges);
    for (const mt_lookup_json *at = edges ? array->first : NULL; at; at = at->next) {
        if (at->kind != MT_LOOKUP_JSON_INTEGER || (name->edge_count && at->number <= edges[name->edge_count - 1])) return false;
        edges[name->edge_count++] = at->number;
    }
    name->edges = edges;
    return edges != NULL;
}

static bool read_names(reading *r, const mt_lookup_json *array)
{
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_TREES_NAMES) return false;
    r->names = mt_lookup_arena_take(r->from->arena, array->count, sizeof *r->names);
    for (const mt_lookup_json *at = r->names ? array->first : NULL; at; at = at->next) {
        mt_trees_name *name = &r->names[r->trees->name_count++];
        const char *text = mt_lookup_json_text(at, "name");
        if (!text || !part_of(mt_lookup_json_text(at, "part"), &name->part) || !read_texts(r, mt_lookup_json_member(at, "texts"), name)) return false;
        if (!read_edges(r, mt_lookup_json_member(at, "edges"), name)) return false;
        name->slot = *text ? mt_lookup_model_slot(r->from->model, text) : 0;
        name->name = text;
        if (name->slot == MT_LOOKUP_NO_SLOT) return false;
    }
    r->trees->names = r->names;
    return r->names != NULL;
}

/* A number and the blank behind it. */
static bool take_number(const char **text, int64_t least, int64_t most, int64_t *number)
{
    const char *end = mt_key_int(*text, number);
    if (!end || (*end != ' ' && *end != '\0') || *number < least || *number > most) return false;
    *text = end + (*end == ' ');
    return true;
}

static bool read_tree(reading *r, const char *text, size_t tree)
{
    size_t leaves = (size_t)1 << r->trees->depth;
    int64_t number;
    for (size_t i = 0; text && i + 1 < leaves; i++) {
        mt_trees_split *split = &r->splits[tree * (leaves - 1) + i];
        if (!take_number(&text, 0, (int64_t)r->trees->name_count - 1, &number)) return false;
        split->name = (uint8_t)number;
        if (!take_number(&text, 0, UINT8_MAX, &number)) return false;
        split->edge = (uint8_t)number;
    }
    for (size_t i = 0; text && i < leaves; i++) {
        if (!take_number(&text, INT16_MIN, INT16_MAX, &number)) return false;
        r->leaves[tree * leaves + i] = (int16_t)number;
    }
    return text && !*text;
}

static bool read_trees(reading *r, const mt_lookup_json *array)
{
    mt_lookup_arena *arena = r->from->arena;
    size_t leaves = (size_t)1 << r->trees->depth;
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_TREES_COUNT) return false;
    r->splits = mt_lookup_arena_take(arena, array->count * (leaves - 1), sizeof *r->splits);
    r->leaves = mt_lookup_arena_take(arena, array->count * leaves, sizeof *r->leaves);
    if (!r->splits || !r->leaves) return false;
    for (const mt_lookup_json *at = array->first; at; at = at->next)
        if (!read_tree(r, at->text, r->trees->count++)) return false;
    r->trees->splits = r->splits;
    r->trees->leaves = r->leaves;
    return true;
}

/* Trees that were fitted on one GPU are taken to hold for all of its architecture. */
static bool is_of_device(const mt_lookup_model *model, const mt_lookup_json *object)
{
    return model->facts[0] > 0 && mt_lookup_json_int(object, "cc", 0) == model->facts[0];
}

bool mt_lookup_trees_read(const mt_lookup_model_reader *reader, const mt_lookup_json *object)
{
    reading r = { .from = reader };
    int64_t depth = mt_lookup_json_int(object, "depth", 0);
    if (!object || !is_of_device(reader->model, object)) return true;
    r.trees = mt_lookup_arena_take(reader->arena, 1, sizeof *r.trees);
    if (!r.trees || depth < 1 || depth > MT_TREES_DEPTH) return false;
    r.trees->depth = (size_t)depth;
    reader->model->correction = r.trees;
    return read_names(&r, mt_lookup_json_member(object, "names")) && read_trees(&r, mt_lookup_json_member(object, "trees"));
}
