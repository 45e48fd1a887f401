/* Memory of libtunelookup: an arena for what lives and dies together, and one place where tests can make an allocation fail. */
#include "db/lookup/lookup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 64 and 256 KiB, 1 MiB, then 4 MiB each: the largest kernel that is shipped takes one MiB, and a mapping more of which it used a tenth cost a huge page's clearing. */
enum { FIRST_CHUNK = 64 << 10, LARGEST_CHUNK = 4 << 20, GROWTH = 4, MAPPED_CHUNK = 2 << 20 /* a huge page */, ALIGNMENT = 16 };

typedef struct mt_lookup_arena_chunk {
    struct mt_lookup_arena_chunk *next;
    size_t used, bytes; /* of data */
    size_t mapped;      /* length of the mapping; 0 = from calloc */
    _Alignas(ALIGNMENT) unsigned char data[];
} mt_lookup_arena_chunk;

static size_t fail_countdown; /* written by single-threaded tests only */

void mt_lookup_fail_at(size_t n)
{
    fail_countdown = n;
}

void *mt_lookup_alloc(size_t bytes)
{
    if (fail_countdown && --fail_countdown == 0) return NULL;
    return calloc(1, bytes ? bytes : 1);
}

/* Pages of its own for a large chunk, in huge ones where the system has them: touching a few megabytes for the first time page by page may take longer than filling them. */
static mt_lookup_arena_chunk *map_chunk(size_t bytes)
{
    if (fail_countdown && --fail_countdown == 0) return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* a wish */
    mt_lookup_arena_chunk *chunk = memory;
    chunk->mapped = bytes;
    return chunk;
}

static mt_lookup_arena_chunk *add_chunk(mt_lookup_arena *arena, size_t at_least)
{
    size_t bytes = arena->next_bytes ? arena->next_bytes : FIRST_CHUNK;
    arena->next_bytes = bytes < LARGEST_CHUNK ? bytes * GROWTH : bytes;
    if (bytes < at_least) bytes = at_least;
    size_t whole = sizeof(mt_lookup_arena_chunk) + bytes;
    if (bytes >= MAPPED_CHUNK) whole = (whole + MAPPED_CHUNK - 1) / MAPPED_CHUNK * MAPPED_CHUNK;
    mt_lookup_arena_chunk *chunk = bytes >= MAPPED_CHUNK ? map_chunk(whole) : mt_lookup_alloc(whole);
    if (!chunk) return NULL;
    chunk->bytes = whole - sizeof *chunk;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *mt_lookup_arena_take(mt_lookup_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    mt_lookup_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->bytes - chunk->used < bytes) chunk = add_chunk(arena, bytes);
    if (!chunk) return NULL;
    void *memory = chunk->data + chunk->used;
    chunk->used += bytes;
    return memory;
}

char *mt_lookup_arena_text(mt_lookup_arena *arena, const char *text, size_t length)
{
    char *copy = mt_lookup_arena_take(arena, length + 1, 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

void mt_lookup_arena_free(mt_lookup_arena *arena)
{
    while (arena->chunks) {
        mt_lookup_arena_chunk *next = arena->chunks->next;
        if (arena->chunks->mapped) munmap(arena->chunks, arena->chunks->mapped);
        else free(arena->chunks);
        arena->chunks = next;
    }
}
