#include "db/store/open/device_match.h"

#include <string.h>
#include <strings.h>

#include "db/key.h"

bool mt_device_matches(const char *wanted, const char *key, const char *name)
{
    if (!*wanted) return false;
    if (strcasecmp(wanted, key) == 0 || strcasecmp(wanted, name) == 0) return true;
    size_t model = strcspn(key, "|");
    size_t length = strlen(wanted);
    if (length <= model && strncasecmp(wanted, key, length) == 0 && (length == model || key[length] == '-')) return true;
    if (strchr(wanted, '|')) return false; /* a whole key: of another GPU, then */
    char canonical[MT_KEY_MODEL_SIZE];
    mt_key_model(wanted, canonical, sizeof canonical);
    return model && strlen(canonical) == model && strncasecmp(canonical, key, model) == 0;
}

static void match_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *wanted = (const char *)sqlite3_value_text(values[0]);
    const char *key = (const char *)sqlite3_value_text(values[1]);
    const char *name = (const char *)sqlite3_value_text(values[2]);
    sqlite3_result_int(context, wanted && key && name && mt_device_matches(wanted, key, name));
}

int mt_device_match_register(sqlite3 *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
#ifdef SQLITE_DIRECTONLY
    flags |= SQLITE_DIRECTONLY; /* not from a schema that a stranger wrote */
#endif
    return sqlite3_create_function(db, "mt_device_matches", 3, flags, NULL, match_function, NULL, NULL);
}
