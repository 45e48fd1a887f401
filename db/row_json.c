#include "db/row_json.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 200 };

/* ---- values ---- */

typedef struct json { const char *at, *end; } json;

typedef bool json_item(json *j, const char *name, size_t length, int depth);
static bool json_value(json *j, int depth);

static void json_blank(json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r')) j->at++;
}

static bool json_take(json *j, char c)
{
    json_blank(j);
    if (j->at == j->end || *j->at != c) return false;
    j->at++;
    return true;
}

static bool json_string(json *j)
{
    if (!json_take(j, '"')) return false;
    for (; j->at < j->end && *j->at != '"'; j->at++) {
        if ((unsigned char)*j->at < 0x20) return false;
        if (*j->at != '\\') continue;
        if (++j->at == j->end || !*j->at || !strchr("\"\\/bfnrtu", *j->at)) return false;
        for (int i = 0; *j->at == 'u' && i < 4; i++) {
            if (j->at + 1 + i >= j->end || !isxdigit((unsigned char)j->at[1 + i])) return false;
        }
    }
    return json_take(j, '"');
}

static bool json_digits(json *j)
{
    const char *from = j->at;
    while (j->at < j->end && isdigit((unsigned char)*j->at)) j->at++;
    return j->at > from;
}

static bool json_number(json *j)
{
    if (*j->at == '-') j->at++;
    const char *from = j->at;
    if (!json_digits(j) || (*from == '0' && j->at > from + 1)) return false;
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        if (!json_digits(j)) return false;
    }
    if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-')) j->at++;
        return json_digits(j);
    }
    return true;
}

/* Members or elements, each at its value for `item` to take; the name is NULL in an array. */
static bool json_list(json *j, char open, json_item *item, int depth)
{
    char close = open == '{' ? '}' : ']';
    if (!json_take(j, open)) return false;
    if (json_take(j, close)) return true;
    do {
        const char *name = NULL;
        size_t length = 0;
        if (open == '{') {
            json_blank(j);
            name = j->at + 1;
            if (!json_string(j)) return false;
            length = (size_t)(j->at - name) - 1;
            if (!json_take(j, ':')) return false;
        }
        if (!item(j, name, length, depth)) return false;
    } while (json_take(j, ','));
    return json_take(j, close);
}

static bool any_item(json *j, const char *name, size_t length, int depth)
{
    (void)name, (void)length;
    return json_value(j, depth);
}

static bool json_value(json *j, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    json_blank(j);
    if (j->at == j->end || !depth) return false;
    if (*j->at == '"') return json_string(j);
    if (*j->at == '{' || *j->at == '[') return json_list(j, *j->at, any_item, depth - 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(j->end - j->at) < length || memcmp(j->at, words[i], length) != 0) continue;
        j->at += length;
        return true;
    }
    return json_number(j);
}

/* Nothing but such a list, without two members of one name in an object. */
static bool is_alone(const char *text, size_t size, json_item *item)
{
    json j = {text, text + size};
    size_t length;
    bool is_sound = json_list(&j, '{', item, JSON_DEPTH - 1);
    json_blank(&j);
    return is_sound && j.at == j.end && !mt_json_repeated(text, size, &length);
}

bool mt_row_json_is_sound(const char *text, size_t size)
{
    return is_alone(text, size, any_item);
}

/* ---- launches ---- */

static bool json_whole(json *j, int64_t least, int64_t most)
{
    int64_t number = 0;
    json_blank(j);
    bool is_negative = j->at < j->end && *j->at == '-';
    j->at += is_negative;
    const char *from = j->at;
    for (; j->at < j->end && isdigit((unsigned char)*j->at); j->at++) {
        if (number <= most) number = 10 * number + (*j->at - '0');
    }
    if (is_negative) number = -number;
    return j->at > from && (*from != '0' || j->at == from + 1) && number >= least && number <= most;
}

/* [x,y,z], or as older files have it x alone. */
static bool json_size(json *j)
{
    enum { AXES = 3, MOST = INT32_MAX };
    int count = 0;
    if (!json_take(j, '[')) return json_whole(j, 1, MOST);
    do {
        if (++count > AXES || !json_whole(j, 1, MOST)) return false;
    } while (json_take(j, ','));
    return json_take(j, ']');
}

static bool is_name(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

static bool json_flag(json *j)
{
    json_blank(j);
    return j->at < j->end && (*j->at == 't' || *j->at == 'f') && json_value(j, 1);
}

static bool launch_member(json *j, const char *name, size_t length, int depth)
{
    if (is_name(name, length, "grid") || is_name(name, length, "block") || is_name(name, length, "cluster")) return json_size(j);
    if (is_name(name, length, "smem")) return json_whole(j, 0, UINT32_MAX);
    if (is_name(name, length, "carveout")) return json_whole(j, -1, 100);
    if (is_name(name, length, "entry")) return json_string(j);
    if (is_name(name, length, "cooperative") || is_name(name, length, "programmatic")) return json_flag(j);
    return json_value(j, depth);
}

static bool launch_item(json *j, const char *name, size_t length, int depth)
{
    (void)name, (void)length;
    return json_list(j, '{', launch_member, depth - 1);
}

static bool launches_member(json *j, const char *name, size_t length, int depth)
{
    return is_name(name, length, "launches") ? json_list(j, '[', launch_item, depth - 1) : json_value(j, depth);
}

bool mt_row_launch_is_sound(const char *text, size_t size)
{
    return is_alone(text, size, launches_member);
}

static bool fact(json *j, const char *name, size_t length, int depth)
{
    (void)name, (void)length, (void)depth;
    return json_whole(j, 0, INT64_C(999999999999999));
}

bool mt_row_facts_are_sound(const char *text, size_t size)
{
    return is_alone(text, size, fact);
}

/* ---- names that are there twice ---- */

typedef struct member { const char *name; size_t length; } member; /* name NULL: an object or array begins here */

typedef struct members {
    member few[64], *items; /* of what is open */
    size_t count, capacity;
} members;

static bool push(members *m, const char *name, size_t length)
{
    if (m->count == m->capacity) {
        member *grown = malloc(2 * m->capacity * sizeof *grown);
        if (!grown) return false;
        memcpy(grown, m->items, m->count * sizeof *grown);
        if (m->items != m->few) free(m->items);
        m->items = grown;
        m->capacity *= 2;
    }
    m->items[m->count++] = (member){name, length};
    return true;
}

static int by_name(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = x->length != y->length ? (x->length > y->length) - (x->length < y->length) : memcmp(x->name, y->name, x->length);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

/* Takes what closes away. Of several names the one that is there again first. */
static const member *pop(members *m)
{
    const member *twice = NULL;
    size_t first = m->count;
    while (first > 0 && m->items[first - 1].name) first--;
    if (m->count - first > 1) qsort(m->items + first, m->count - first, sizeof *m->items, by_name);
    for (size_t i = first + 1; i < m->count; i++) {
        const member *a = &m->items[i - 1], *b = &m->items[i];
        if (a->length == b->length && memcmp(a->name, b->name, a->length) == 0 && (!twice || b->name < twice->name)) twice = b;
    }
    m->count = first ? first - 1 : 0;
    return twice;
}

/* Behind the string that begins at `at`. */
static const char *behind_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) at += *at == '\\';
    return at < end ? at + 1 : end;
}

const char *mt_json_repeated(const char *text, size_t size, size_t *length)
{
    members m = {.capacity = sizeof m.few / sizeof *m.few};
    const member *twice = NULL;
    bool has_room = true;
    m.items = m.few;
    for (const char *at = text, *end = text + size; at < end && !twice && has_room;) {
        const char *begin = at++;
        if (*begin == '{' || *begin == '[') has_room = push(&m, NULL, 0);
        else if (*begin == '}' || *begin == ']') twice = pop(&m);
        if (*begin != '"') continue;
        at = behind_string(begin, end);
        const char *colon = at;
        while (colon < end && (*colon == ' ' || *colon == '\t' || *colon == '\n' || *colon == '\r')) colon++;
        if (colon < end && *colon == ':') has_room = push(&m, begin + 1, (size_t)(at - begin) - 2);
    }
    while (m.count && !twice && has_room) twice = pop(&m); /* a text may lack its end */
    *length = twice ? twice->length : 0;
    const char *name = twice ? twice->name : has_room ? NULL : text; /* without room nothing is taken for sound */
    if (m.items != m.few) free(m.items);
    return name;
}
