/* Variants: a few hundred serve thousands of rows, so each text is read and taken apart once. */
#include "db/key.h"
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <string.h>

/* ---- the text's parts ---- */

/* The knob of that name, or param_count. Texts have knobs in the order of their names, so that the search goes on where the one before ended; from the beginning where it finds nothing. */
static uint32_t find_knob(const mt_lookup_model *model, const char *name, size_t length, uint32_t *at)
{
    for (uint32_t tried = 0; tried < model->param_count; tried++) {
        uint32_t param = model->params_by_name[*at];
        *at = *at + 1 < model->param_count ? *at + 1 : 0;
        if (strncmp(model->params[param].name, name, length) == 0 && !model->params[param].name[length]) return param;
    }
    return model->param_count;
}

/* One "NAME=value"; a problem or NULL. */
static const char *set_knob(const mt_lookup_model *model, mt_lookup_variant *variant, const char *pair, uint32_t *at)
{
    const char *equals = strchr(pair, '=');
    if (!equals) return "its text is damaged";
    uint32_t param = find_knob(model, pair, (size_t)(equals - pair), at);
    if (param == model->param_count) return "it has a knob that the kernel no longer has";
    mt_value *knob = &variant->knobs[param];
    if (model->params[param].is_string) {
        *knob = (mt_value){ .kind = MT_VALUE_STRING, .string = equals + 1 };
    } else {
        *knob = (mt_value){ .kind = MT_VALUE_INT };
        const char *end = mt_key_int(equals + 1, &knob->number);
        if (!end || *end) return "a knob that takes integers has another value";
    }
    return NULL;
}

/* The implicit knob ALGO names the model's variant. */
static const char *find_algorithm(const mt_lookup_model *model, mt_lookup_variant *variant)
{
    variant->algo = -1;
    for (uint32_t i = 0; i < model->param_count; i++) {
        if (strcmp(model->params[i].name, "ALGO") != 0 || variant->knobs[i].kind != MT_VALUE_STRING) continue;
        for (uint32_t v = 0; v < model->variant_count; v++) {
            if (strcmp(model->variants[v].name, variant->knobs[i].string) == 0) variant->algo = (int32_t)v;
        }
    }
    return variant->algo < 0 ? "its algorithm is not among the kernel's" : NULL;
}

static const char *take_apart(const mt_lookup_model *model, mt_lookup_variant *variant)
{
    const char *problem = NULL;
    uint32_t at = 0;
    for (const char *pair = variant->packed; *pair && !problem; pair += strlen(pair) + 1) problem = set_knob(model, variant, pair, &at);
    return problem ? problem : find_algorithm(model, variant);
}

mt_lookup_variant *mt_lookup_variant_make(mt_lookup_answers *answers, int64_t id, const char *text)
{
    size_t length = strlen(text);
    mt_lookup_variant *variant = mt_lookup_arena_take(&answers->arena, 1, sizeof *variant);
    char *plain = mt_lookup_arena_text(&answers->arena, text, length), *packed = mt_lookup_arena_text(&answers->arena, text, length + 1); /* one more NUL ends it */
    mt_value *knobs = mt_lookup_arena_take(&answers->arena, answers->model.param_count, sizeof *knobs);
    if (!variant || !plain || !packed || !knobs) return NULL;
    for (char *at = packed; *at; at++) {
        if (*at == ';') *at = '\0';
    }
    *variant = (mt_lookup_variant){ .id = id, .text = plain, .packed = packed, .knobs = knobs };
    variant->problem = take_apart(&answers->model, variant);
    return variant;
}

/* ---- by id ---- */

static bool grow_map(mt_lookup_loader *loader)
{
    uint32_t size = loader->variant_mask ? 2 * (loader->variant_mask + 1) : 256;
    uint32_t *map = mt_lookup_arena_take(&loader->scratch, size, sizeof *map);
    mt_lookup_variant **variants = mt_lookup_arena_take(&loader->scratch, size / 2, sizeof *variants);
    if (!map || !variants) return false;
    for (uint32_t i = 0; i < loader->variant_used; i++) {
        uint32_t at = (uint32_t)loader->variants[i]->id & (size - 1);
        while (map[at]) at = (at + 1) & (size - 1);
        map[at] = i + 1;
        variants[i] = loader->variants[i];
    }
    loader->variant_map = map;
    loader->variants = variants;
    loader->variant_mask = size - 1;
    return true;
}

static tunelookup_status read_variant(mt_lookup_loader *loader, int64_t id, mt_lookup_variant **variant)
{
    static const char sql[] = "SELECT text FROM variant WHERE id = ?1 AND kernel_id = ?2";
    const char *path = loader->plan->db->files[loader->file].path;
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = loader->variant_text;
    if (!statement && sqlite3_prepare_v2(loader->db, sql, -1, &statement, NULL) != SQLITE_OK) return mt_lookup_sqlite_fail(loader->db, path);
    loader->variant_text = statement;
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, loader->kernel);
    int code = sqlite3_step(statement);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE && (code & 0xff) != SQLITE_TOOBIG) st = mt_lookup_sqlite_fail(loader->db, path);
    else if (!(*variant = mt_lookup_variant_make(loader->answers, id, text ? text : ""))) st = mt_lookup_no_memory();
    sqlite3_reset(statement);
    return st;
}

tunelookup_status mt_lookup_variant_get(mt_lookup_loader *loader, int64_t id, const mt_lookup_variant **out)
{
    if (loader->variant_used * 2 >= loader->variant_mask && !grow_map(loader)) return mt_lookup_no_memory();
    uint32_t at = (uint32_t)id & loader->variant_mask;
    for (; loader->variant_map[at]; at = (at + 1) & loader->variant_mask) {
        *out = loader->variants[loader->variant_map[at] - 1];
        if ((*out)->id == id) return TUNELOOKUP_OK;
    }
    mt_lookup_variant *variant = NULL;
    tunelookup_status st = read_variant(loader, id, &variant);
    if (st != TUNELOOKUP_OK) return st;
    loader->variants[loader->variant_used] = variant;
    loader->variant_map[at] = ++loader->variant_used;
    *out = variant;
    return TUNELOOKUP_OK;
}
