/* Memory. All of the tool's own allocations come from here, so that tests can make the n-th one fail. */
#pragma once

#include <stddef.h>

/* Zeroed memory for count × size bytes; NULL when there is none or the product overflows. count × size = 0 gives a valid pointer. */
void *mt_alloc(size_t count, size_t size);
/* Resizes; new bytes are not zeroed. On failure the old block stays valid and NULL is returned. */
void *mt_realloc(void *memory, size_t count, size_t size);
void mt_free(void *memory); /* NULL is a no-op */
/* MT_FREE_EACH(a, b, c): the same of each. */
#define MT_FREE_EACH(...) mt_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void mt_free_each(void *const *memory, size_t count);
/* Copies of text, owned by the caller (mt_free). NULL in, NULL out. */
char *mt_strdup(const char *text);
char *mt_strndup(const char *text, size_t length);

/* Makes room for one more element in a growing array: `items` (mt_alloc'ed or NULL) holds `count` of capacity `*capacity`.
 * Returns the possibly moved array or NULL (old block still valid). */
void *mt_grow(void *items, size_t count, size_t *capacity, size_t item_size);
/* One more element of the growing array, counted already and not initialised; NULL = out of memory, and nothing has changed. */
#define MT_APPEND(items, count, capacity) mt_append(&(items), &(count), &(capacity), sizeof *(items))
void *mt_append(void *items, size_t *count, size_t *capacity, size_t item_size); /* items: where the array's pointer stands */

/* Tests only: the n-th allocation from now (1 = the next) fails once; 0 switches off. Not thread-safe by intent. */
void mt_alloc_fail_at(size_t n);
