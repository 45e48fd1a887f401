#include "tuner/evaluate/facts_json.h"

#include <ctype.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

char *mt_facts_to_json(const mt_device_facts *facts)
{
    mt_strbuf json = {0};
    if (!facts->cc) return mt_strdup("{\"cc\":0}"); /* only its name is known: no fact is said */
    for (size_t i = 0; i < mt_facts_count(); i++) {
        mt_strbuf_addf(&json, "%c\"%s\":%lld", i ? ',' : '{', mt_facts_name(i), (long long)mt_facts_value(facts, i));
    }
    mt_strbuf_add_char(&json, '}');
    return mt_strbuf_take(&json);
}

static void set_fact(mt_device_facts *facts, const char *name, size_t length, int64_t value)
{
#define SET_FACT(field, meaning) \
    if (length == sizeof #field - 1 && memcmp(name, #field, length) == 0) facts->field = value;
    MT_FACTS_MAP(SET_FACT)
#undef SET_FACT
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* One "name":number; NULL when the text is something else. */
static const char *read_pair(const char *at, mt_device_facts *facts)
{
    if (*at != '"') return NULL;
    const char *name = at + 1;
    size_t length = strcspn(name, "\"\\");
    if (name[length] != '"') return NULL;
    at = skip_space(name + length + 1);
    if (*at != ':') return NULL;
    at = skip_space(at + 1);
    size_t digits = strspn(at, "-0123456789");
    int64_t value;
    if (!mt_text_int64(at, digits, &value)) return NULL;
    set_fact(facts, name, length, value);
    return skip_space(at + digits);
}

mt_status mt_facts_from_json(const char *json, mt_device_facts *facts, mt_error *err)
{
    *facts = (mt_device_facts){.cc = -1}; /* 0 is that of a GPU of which only the name is known */
    const char *at = skip_space(json);
    bool ok = *at == '{';
    if (ok) at = skip_space(at + 1);
    while (ok && *at != '}') {
        at = read_pair(at, facts);
        ok = at && (*at == ',' || *at == '}');
        if (ok && *at == ',') at = skip_space(at + 1);
    }
    if (!ok || facts->cc < 0) return MT_FAIL(err, MT_ERR_DB, "device facts are not {\"cc\":90,…}: %.100s", json);
    return MT_OK;
}
