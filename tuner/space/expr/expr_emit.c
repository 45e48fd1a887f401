#include "tuner/space/expr/expr_emit.h"

#include <inttypes.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

void mt_items_add(mt_items *items, mt_item item)
{
    mt_item *grown = items->failed ? NULL : mt_grow(items->list, items->count, &items->capacity, sizeof *grown);
    if (!grown) {
        items->failed = true;
        return;
    }
    items->list = grown;
    grown[items->count++] = item;
}

void mt_items_add_word(mt_items *items, const char *word, int column)
{
    mt_items_add(items, (mt_item){.form = MT_ITEM_WORD, .text = word, .length = strlen(word), .column = column});
}

size_t mt_items_add_counted(mt_items *items, const char *word, int64_t count, int column)
{
    size_t index = items->count;
    mt_items_add(items, (mt_item){.form = MT_ITEM_COUNTED, .text = word, .length = strlen(word), .number = count, .column = column});
    return index;
}

void mt_items_land(mt_items *items, size_t jump)
{
    if (!items->failed) items->list[jump].number = (int64_t)(items->count - jump - 1);
}

char *mt_items_text(const mt_items *items)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < items->count; i++) {
        const mt_item *item = &items->list[i];
        if (i) mt_strbuf_add_char(&text, ' ');
        if (item->form == MT_ITEM_NAME) mt_strbuf_add_char(&text, '$');
        if (item->form == MT_ITEM_STRING) mt_strbuf_add_char(&text, '"');
        if (item->form != MT_ITEM_NUMBER) mt_strbuf_add_bytes(&text, item->text, item->length);
        if (item->form == MT_ITEM_STRING) mt_strbuf_add_char(&text, '"');
        if (item->form == MT_ITEM_NUMBER || item->form == MT_ITEM_COUNTED) mt_strbuf_addf(&text, "%" PRId64, item->number);
    }
    text.failed = text.failed || items->failed;
    return mt_strbuf_take(&text);
}

int *mt_items_columns(const mt_items *items)
{
    int *columns = items->failed ? NULL : mt_alloc(items->count, sizeof *columns);
    for (size_t i = 0; columns && i < items->count; i++) columns[i] = items->list[i].column;
    return columns;
}

void mt_items_free(mt_items *items)
{
    mt_free(items->list);
    *items = (mt_items){0};
}
