/* The program under construction: a list of tokens that can still be changed. Private to expr.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mt_item_form {
    MT_ITEM_WORD,    /* text: an operator */
    MT_ITEM_COUNTED, /* text and a number: min3, jf5 */
    MT_ITEM_NUMBER,
    MT_ITEM_NAME,  /* $text */
    MT_ITEM_STRING /* "text" */
} mt_item_form;

typedef struct mt_item {
    mt_item_form form;
    const char *text; /* into the source, or a constant */
    size_t length;
    int64_t number;
    int column;
} mt_item;

typedef struct mt_items {
    mt_item *list;
    size_t count, capacity;
    bool failed; /* out of memory */
} mt_items; /* zero-initialise */

void mt_items_add(mt_items *items, mt_item item);
void mt_items_add_word(mt_items *items, const char *word, int column);
/* Adds a counted word and returns its index, for mt_items_land. */
size_t mt_items_add_counted(mt_items *items, const char *word, int64_t count, int column);
/* Makes the jump at `jump` go to what is added next. */
void mt_items_land(mt_items *items, size_t jump);
char *mt_items_text(const mt_items *items); /* the program's text, owned by the caller (mt_free); NULL when memory runs out */
int *mt_items_columns(const mt_items *items); /* the same for the columns */
void mt_items_free(mt_items *items);
