/* JSON of the database as nodes. SQLite does the parsing (json_tree): parents come before their members, ids ascend. */
#include "db/lookup.h"

#include <sqlite3.h>
#include <string.h>

enum { NODE_LIMIT = 200000 };

typedef struct builder {
    mt_lookup_arena *arena, scratch;
    mt_lookup_json **nodes;
    int64_t *ids;
    uint32_t count, capacity;
} builder;

static bool grow(builder *b)
{
    if (b->count < b->capacity) return true;
    uint32_t capacity = b->capacity ? b->capacity * 2 : 256;
    mt_lookup_json **nodes = mt_lookup_arena_take(&b->scratch, capacity, sizeof *nodes);
    int64_t *ids = mt_lookup_arena_take(&b->scratch, capacity, sizeof *ids);
    if (!nodes || !ids) return false;
    if (b->count) {
        memcpy(nodes, b->nodes, b->count * sizeof *nodes);
        memcpy(ids, b->ids, b->count * sizeof *ids);
    }
    b->nodes = nodes;
    b->ids = ids;
    b->capacity = capacity;
    return true;
}

static mt_lookup_json *node_with_id(const builder *b, int64_t id)
{
    uint32_t low = 0, high = b->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->ids[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < b->count && b->ids[low] == id ? b->nodes[low] : NULL;
}

static mt_lookup_json_kind kind_of(const char *type)
{
    static const char *const names[] = { "null", "false", "true", "integer", "real", "text", "array", "object" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (type && strcmp(type, names[i]) == 0) return (mt_lookup_json_kind)i;
    }
    return MT_LOOKUP_JSON_NULL;
}

/* Column as a copy in the arena. An embedded NUL ends the text: nothing that we store has one. */
static const char *column_text(builder *b, sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return mt_lookup_arena_text(b->arena, text ? text : "", text ? strlen(text) : 0);
}

static bool add_node(builder *b, sqlite3_stmt *row)
{
    mt_lookup_json *node = mt_lookup_arena_take(b->arena, 1, sizeof *node);
    if (!node || !grow(b)) return false;
    node->kind = kind_of((const char *)sqlite3_column_text(row, 3));
    if (node->kind == MT_LOOKUP_JSON_INTEGER) node->number = sqlite3_column_int64(row, 4);
    if (node->kind == MT_LOOKUP_JSON_INTEGER || node->kind == MT_LOOKUP_JSON_REAL) node->real = sqlite3_column_double(row, 4);
    if (node->kind == MT_LOOKUP_JSON_TEXT && !(node->text = column_text(b, row, 4))) return false;
    mt_lookup_json *parent = sqlite3_column_type(row, 1) == SQLITE_NULL ? NULL : node_with_id(b, sqlite3_column_int64(row, 1));
    if (parent) {
        if (parent->kind == MT_LOOKUP_JSON_OBJECT && !(node->key = column_text(b, row, 2))) return false;
        if (parent->last) parent->last->next = node;
        else parent->first = node;
        parent->last = node;
        parent->count++;
    }
    b->ids[b->count] = sqlite3_column_int64(row, 0);
    b->nodes[b->count++] = node;
    return true;
}

tunelookup_status mt_lookup_json_load(sqlite3 *db, const char *path, const char *text, mt_lookup_arena *arena, const mt_lookup_json **root)
{
    tunelookup_status st = TUNELOOKUP_OK;
    builder b = { .arena = arena };
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT id, parent, key, type, atom FROM json_tree(?1)", -1, &rows, NULL);
    if (code == SQLITE_ERROR) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_SQLITE_TOO_OLD, "SQLite %s of this system has no JSON functions", sqlite3_libversion());
        goto done;
    }
    if (code == SQLITE_OK) code = sqlite3_bind_text(rows, 1, text, -1, SQLITE_STATIC);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (b.count >= NODE_LIMIT) {
            st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: JSON with more than %d values", path, NODE_LIMIT);
            goto done;
        }
        if (!add_node(&b, rows)) {
            st = mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
            goto done;
        }
    }
    if (code == SQLITE_ERROR) st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: %s", path, sqlite3_errmsg(db)); /* malformed JSON */
    else if (code != SQLITE_DONE) st = mt_lookup_sqlite_fail(db, path);
    else *root = b.count ? b.nodes[0] : NULL;
done:
    sqlite3_finalize(rows);
    mt_lookup_arena_free(&b.scratch);
    return st;
}

const mt_lookup_json *mt_lookup_json_member(const mt_lookup_json *object, const char *key)
{
    if (!object || object->kind != MT_LOOKUP_JSON_OBJECT) return NULL;
    for (const mt_lookup_json *at = object->first; at; at = at->next) {
        if (strcmp(at->key, key) == 0) return at;
    }
    return NULL;
}

const char *mt_lookup_json_text(const mt_lookup_json *object, const char *key)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member ? member->text : NULL;
}

int64_t mt_lookup_json_int(const mt_lookup_json *object, const char *key, int64_t otherwise)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member && member->kind == MT_LOOKUP_JSON_INTEGER ? member->number : otherwise;
}

bool mt_lookup_json_bool(const mt_lookup_json *object, const char *key)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member && member->kind == MT_LOOKUP_JSON_TRUE;
}
