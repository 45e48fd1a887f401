#include "tuner/base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Only ever written by tests; with 0 in it, threads merely read it. */
static atomic_size_t fail_countdown;

void mt_alloc_fail_at(size_t n)
{
    fail_countdown = n;
}

static bool must_fail(void)
{
    size_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) return left == 1;
    }
    return false;
}

/* count × size, at least 1 so that malloc(0)'s choice of NULL never looks like a failure. */
static bool total_bytes(size_t count, size_t size, size_t *total)
{
    if (__builtin_mul_overflow(count, size, total) || *total > PTRDIFF_MAX) return false;
    if (*total == 0) *total = 1;
    return true;
}

void *mt_alloc(size_t count, size_t size)
{
    size_t total;
    if (must_fail() || !total_bytes(count, size, &total)) return NULL;
    return calloc(1, total);
}

void *mt_realloc(void *memory, size_t count, size_t size)
{
    size_t total;
    if (must_fail() || !total_bytes(count, size, &total)) return NULL;
    return realloc(memory, total);
}

void mt_free(void *memory)
{
    free(memory);
}

void mt_free_each(void *const *memory, size_t count)
{
    for (size_t i = 0; i < count; i++) free(memory[i]);
}

char *mt_strndup(const char *text, size_t length)
{
    if (!text) return NULL;
    size_t kept = strnlen(text, length);
    char *copy = mt_alloc(kept + 1, 1);
    if (copy) memcpy(copy, text, kept);
    return copy;
}

char *mt_strdup(const char *text)
{
    return text ? mt_strndup(text, strlen(text)) : NULL;
}

void *mt_grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (items && count < *capacity) return items;
    size_t wanted = count < 8 ? 8 : count + count / 2;
    void *grown = mt_realloc(items, wanted, item_size);
    if (grown) *capacity = wanted;
    return grown;
}

void *mt_append(void *items, size_t *count, size_t *capacity, size_t item_size)
{
    void *array;
    memcpy(&array, items, sizeof array);
    if (!(array = mt_grow(array, *count, capacity, item_size))) return NULL;
    memcpy(items, &array, sizeof array);
    return (char *)array + (*count)++ * item_size;
}
