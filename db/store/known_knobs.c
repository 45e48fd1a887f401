#include "db/store/known_knobs.h"

#include <stdio.h>
#include <string.h>

#include "db/store/sql.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

#define SPEC "json_each(CASE WHEN json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, "
static const char known_sql[] =
    "SELECT ifnull(char(10) || group_concat(line, char(10)) || char(10), '') FROM ("
    "SELECT CASE WHEN json_extract(p.value, '$.string') THEN 's ' ELSE 'i ' END || json_extract(p.value, '$.name') AS line FROM kernel k, " SPEC "'$.params') p WHERE k.id = ?1 AND p.type = 'object' "
    "UNION ALL SELECT 'a ' || json_extract(v.value, '$.name') FROM kernel k, " SPEC "'$.variants') v WHERE k.id = ?1 AND v.type = 'object')";

mt_status mt_known_knobs_read(mt_store *store, int64_t kernel, mt_known_knobs *knobs, mt_error *err)
{
    mt_known_knobs_free(knobs);
    mt_status st = mt_sql_one(store, known_sql, "read a kernel's knobs", MT_IN(MT_INT(kernel)), MT_OUT(MT_TO_TEXT(&knobs->known)), err);
    if (st == MT_OK) knobs->kernel = kernel;
    return st;
}

void mt_known_knobs_free(mt_known_knobs *knobs)
{
    mt_free(knobs->known);
    *knobs = (mt_known_knobs){0};
}

static bool has_line(const mt_known_knobs *knobs, char kind, const char *name, size_t length)
{
    char line[300];
    int written = snprintf(line, sizeof line, "\n%c %.*s\n", kind, (int)length, name);
    return written > 0 && (size_t)written < sizeof line && strstr(knobs->known, line);
}

/* "NAME=value" of `length` bytes; NULL: it is known. */
static const char *problem_of(const mt_known_knobs *knobs, const char *pair, size_t length, size_t name)
{
    const char *value = pair + name + 1;
    int64_t number;
    size_t rest = length - name - 1;
    if (has_line(knobs, 'i', pair, name)) return mt_text_int64(value, rest, &number) ? NULL : "which takes whole numbers, not this";
    if (!has_line(knobs, 's', pair, name)) return "which the kernel's expressions do not know";
    return name != 4 || memcmp(pair, "ALGO", 4) != 0 || has_line(knobs, 'a', value, rest) ? NULL : "which is none of the kernel's";
}

bool mt_known_knobs_cover(const mt_known_knobs *knobs, const char *variant, char *why, size_t size)
{
    if (!knobs->known || !*knobs->known) return true;
    bool has_algorithm = !has_line(knobs, 's', "ALGO", 4);
    for (const char *at = variant; *at; at += *at == ';') {
        size_t length = strcspn(at, ";"), name = strcspn(at, "=;");
        const char *problem = name < length ? problem_of(knobs, at, length, name) : "expected NAME=value";
        if (problem) {
            snprintf(why, size, "its variant has %.*s, %s", (int)(length < 100 ? length : 100), at, problem);
            return false;
        }
        has_algorithm |= name == 4 && memcmp(at, "ALGO", 4) == 0;
        at += length;
    }
    if (!has_algorithm) snprintf(why, size, "its variant does not say which ALGO");
    return has_algorithm;
}
