/* The valid points of a spec for one shape on one device: enumerated once, with constraints pruning as early as their names are known; or, where there are too many
 * for that, counted and drawn without being enumerated. */
#pragma once

#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/env.h"

typedef struct mt_space mt_space; /* immutable after creation: any thread may read */

/* The spec and the shape must outlive the space. A space without a valid point is MT_OK with count 0. Order: the file's (ALGO slowest), deterministic.
 * Up to 2 million valid points are enumerated and stored: a byte per knob, two per knob of more than 254 values. A space with more, or one that would take long to
 * enumerate, is sampled, with 50 MB at most. Which it is depends on spec, shape and device alone, never on time. Beyond that: 64 KB per condition at most.
 * Refuses (UNSUPPORTED) a space that is neither enumerated nor has fewer than 2^63 combinations, and (NOT_FOUND) one that is sampled and gives no valid point. */
mt_status mt_space_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **space, mt_error *err);
void mt_space_free(mt_space *space); /* NULL is a no-op */

/* Asked every few milliseconds while points are enumerated or counted, which may take seconds: any status but MT_OK, with
 * its message, ends the enumeration and is returned. */
typedef struct mt_space_watch {
    mt_status (*look)(void *context, mt_error *err);
    void *context;
} mt_space_watch;

mt_status mt_space_create_watched(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch, mt_space **space, mt_error *err);

/* The space on a recorded GPU: of the spec's points those that are recorded. `points` may be in any order and more than once; one that lacks an active knob, which the file gained since,
 * is changed to that with the knob's default. What constraints exclude of them counts as pruned by those, everything else that the knobs' values would also allow as pruned, "not recorded". */
mt_status mt_space_create_recorded(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_point *points, size_t count, mt_space **space, mt_error *err);

const mt_spec *mt_space_spec(const mt_space *space);
const mt_shape *mt_space_shape(const mt_space *space);
/* Whether the valid points were enumerated: then indices are 0 … count − 1. A space too large for that is sampled instead: an index is a point's rank among
 * all combinations, most ranks are no valid point, and the count may be an estimate. Use sample, find, at, next and neighbours, which hold for both. */
bool mt_space_is_enumerated(const mt_space *space);
size_t mt_space_count(const mt_space *space);         /* valid points */
bool mt_space_count_is_exact(const mt_space *space);  /* always where enumerated; sampled, where conditions leave few enough states to count through */
/* "123456", or "about 1.0 M (estimated)", in text[size] (MT_SPACE_COUNT_SIZE suffices). Returns text. */
enum { MT_SPACE_COUNT_SIZE = 48 };
const char *mt_space_count_text(const mt_space *space, char *text, size_t size);
size_t mt_space_index_limit(const mt_space *space);   /* every index is below; = count where enumerated */
/* A uniform draw of a valid point. False: none was found (an empty space; a sampled one whose points are rarer than one in a million draws). Threads: any. */
bool mt_space_sample(const mt_space *space, mt_rng *rng, size_t *index);
/* The same among the points of one [algorithm]: in a large space one may have nearly all points, and be no better for it. False also where few of its combinations are valid. Threads: any. */
bool mt_space_sample_variant(const mt_space *space, size_t variant, mt_rng *rng, size_t *index);
/* From this instant (mt_clock_now_ns; 0 = never) on, draws from a space that is sampled find nothing: where valid points are rare, a strategy's next thought may take longer than what is left of the
 * time. Threads: any, also while others draw. */
void mt_space_draw_until(const mt_space *space, int64_t instant_ns);
/* The first valid index from `least` on, in the file's order: walks a sampled space without storing it. False: there is none, or (sampled) it was not found within
 * some 20 million steps. Threads: any. */
bool mt_space_next(const mt_space *space, size_t least, size_t *index);
/* The first valid point of the variant with `param` at `level`. False: as for mt_space_next. Enumerated: looks at all points. */
bool mt_space_first_with(const mt_space *space, size_t variant, size_t param, int level, size_t *index);
/* Points before constraints and `requires` (conditional knobs counted where active); saturates at UINT64_MAX. */
uint64_t mt_space_raw_count(const mt_space *space);
void mt_space_at(const mt_space *space, size_t index, mt_point *point); /* index: a valid point's; sampled: any below the limit, valid or not */
bool mt_space_find(const mt_space *space, const mt_point *point, size_t *index); /* false: not valid. Threads: any */

/* Constraints that pruned: index < spec constraint_count is that constraint; index − constraint_count is variant i's `requires`; of a listed space one more,
 * "not recorded".
 * The count is of pruned branches' points where known exactly, else of branches, or (more than 20 million combinations) an estimate from 20,000 of them; `is_exact` tells. */
size_t mt_space_pruned_kinds(const mt_space *space);
uint64_t mt_space_pruned(const mt_space *space, size_t kind, const char **name, const char **why, bool *is_exact);

/* The kinds that pruned most, as a person reads them: "'fits' excludes 3 of 4: no block is larger: BLOCK <= 1024; 'other' excludes 1 of 4: …". Adds nothing when nothing was pruned.
 * For a space without a valid point. */
void mt_space_tell_pruned(const mt_space *space, mt_strbuf *text);

/* The default point: the first [algorithm] and every active knob at its default. NOT_FOUND, naming the constraint, when it is not valid here. */
mt_status mt_space_default(const mt_space *space, size_t *index, mt_error *err);
/* Whether the default point may run for this shape and device, listed or not: for it as the reference. NOT_FOUND, naming the condition, when it may not. */
mt_status mt_space_default_may_run(const mt_space *space, mt_error *err);
/* Why mt_space_find does not know the point: the NOT_FOUND error names the knobs that it lacks or has too many, or else the condition that excludes it. Threads: any. */
mt_status mt_space_explain(const mt_space *space, const mt_point *point, mt_error *err);
/* The condition that excludes the point from running, named as by mt_space_pruned. False: none does; of a recorded GPU's space the point is then not recorded. Threads: any. */
bool mt_space_excluded_by(const mt_space *space, const mt_point *point, const char **name, const char **why);
/* The default point of variant `name`, for the baseline. */
mt_status mt_space_variant_default(const mt_space *space, const char *name, size_t *index, mt_error *err);

/* Valid points that differ from `index` in one knob (any value; knobs that become active take their default, inactive ones drop).
 * Writes at most capacity indices, returns how many there are in all. */
size_t mt_space_neighbours(const mt_space *space, size_t index, size_t *out, size_t capacity);
