#include "tuner/base/texts.h"

#include <string.h>

#include "tuner/base/alloc.h"

mt_status mt_texts_take(mt_texts *texts, char *text, mt_error *err)
{
    char **added = text ? MT_APPEND(texts->items, texts->count, texts->capacity) : NULL;
    if (added) *added = text;
    else mt_free(text);
    return added ? MT_OK : mt_no_memory("texts", err);
}

mt_status mt_texts_add(mt_texts *texts, const char *text, mt_error *err)
{
    return mt_texts_take(texts, mt_strdup(text), err);
}

mt_status mt_texts_add_once(mt_texts *texts, const char *text, mt_error *err)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0) return MT_OK;
    return mt_texts_add(texts, text, err);
}

void mt_texts_free(mt_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) mt_free(texts->items[i]);
    mt_free(texts->items);
    *texts = (mt_texts){0};
}
