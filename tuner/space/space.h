/* The valid points of a spec for one shape on one device: enumerated once, with constraints pruning as early as their names are known. */
#ifndef MT_SPACE_SPACE_H
#define MT_SPACE_SPACE_H

#include "tuner/base/rng.h"
#include "tuner/space/scene.h"

typedef struct mt_space mt_space; /* immutable after creation: any thread may read */

/* The spec and the shape must outlive the space. A space without a valid point is MT_OK with count 0. Order: the file's (ALGO
 * slowest), deterministic. Refuses more than 50 million valid points. */
mt_status mt_space_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **space, mt_error *err);
void mt_space_free(mt_space *space); /* NULL is a no-op */

/* Asked every few milliseconds while points are enumerated, which may take minutes where constraints prune late: any status but MT_OK, with
 * its message, ends the enumeration and is returned. */
typedef struct mt_space_watch {
    mt_status (*look)(void *context, mt_error *err);
    void *context;
} mt_space_watch;

mt_status mt_space_create_watched(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch, mt_space **space, mt_error *err);

/* A space of exactly these points (each once, in this order), whatever the constraints say: for replayed tables. `points` is copied. */
mt_status mt_space_create_from_points(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_point *points, size_t count, mt_space **space, mt_error *err);

const mt_spec *mt_space_spec(const mt_space *space);
const mt_shape *mt_space_shape(const mt_space *space);
/* Whether the valid points were enumerated: then indices are 0 … count − 1. A space too large for that is sampled instead: an index is a point's rank among
 * all combinations, most ranks are no valid point, and the count is an estimate. Use sample, find, at and neighbours, which hold for both. */
bool mt_space_is_enumerated(const mt_space *space);
size_t mt_space_count(const mt_space *space);       /* valid points; an estimate unless enumerated */
size_t mt_space_index_limit(const mt_space *space); /* every index is below; = count where enumerated */
/* A uniform draw of a valid point. False: none was found (a sampled space whose valid points are too rare, or an empty one). Threads: any. */
bool mt_space_sample(const mt_space *space, mt_rng *rng, size_t *index);
/* Points before constraints and `requires` (conditional knobs counted where active); saturates at UINT64_MAX. */
uint64_t mt_space_raw_count(const mt_space *space);
void mt_space_at(const mt_space *space, size_t index, mt_point *point);
bool mt_space_find(const mt_space *space, const mt_point *point, size_t *index); /* false: not valid */

/* Constraints that pruned: index < spec constraint_count is that constraint; index − constraint_count is variant i's `requires`.
 * The count is of pruned branches' points where known exactly (leaf checks), else of branches; `is_exact` tells. */
size_t mt_space_pruned_kinds(const mt_space *space);
uint64_t mt_space_pruned(const mt_space *space, size_t kind, const char **name, const char **why, bool *is_exact);

/* The default point: the first [variant] and every active knob at its default. NOT_FOUND, naming the constraint, when it is not valid here. */
mt_status mt_space_default(const mt_space *space, size_t *index, mt_error *err);
/* The default point of variant `name`, for the baseline. */
mt_status mt_space_variant_default(const mt_space *space, const char *name, size_t *index, mt_error *err);

/* Valid points that differ from `index` in one knob (any value; knobs that become active take their default, inactive ones drop).
 * Writes at most capacity indices, returns how many there are in all. */
size_t mt_space_neighbours(const mt_space *space, size_t index, size_t *out, size_t capacity);

#endif
