/* What `follow` finds about one miss: the search space of its kernel, its shape and workloads there, and whether lookups already answer it exactly. */
#pragma once

#include "db/exchange/misses.h"
#include "tuner/base/texts.h"
#include "tuner/space/facts.h"
#include "tuner/space/spec/spec.h"

enum { MT_FOLLOW_KERNELS = 64 };

/* Search spaces by kernel, found once. Zero-initialise but for `given`. */
typedef struct mt_follow_spaces {
    const char *given;   /* --space; NULL: those that came with the tool. Borrowed */
    struct { char *kernel, *path; } items[MT_FOLLOW_KERNELS]; /* path NULL: it has none, which was told */
    size_t count;
} mt_follow_spaces;
/* Whether --space can be read: said before a GPU is looked at. */
mt_status mt_follow_spaces_check(const char *given, mt_error *err);
void mt_follow_spaces_free(mt_follow_spaces *spaces);

typedef struct mt_follow_shape {
    const char *space;       /* path; borrowed from the spaces */
    mt_spec *spec;           /* with the shape in it */
    const mt_shape *shape;
    mt_texts workloads;      /* those that programs bound; where one bound none, also the shape's own */
    bool wants_default;
} mt_follow_shape; /* zero-initialise */

/* NOTHING_VALID: it is left out, *err says why, and is empty where that was told before. */
mt_status mt_follow_shape_find(mt_follow_spaces *spaces, const mt_miss *miss, mt_follow_shape *found, mt_error *err);
void mt_follow_shape_free(mt_follow_shape *found);
/* Whether lookups have an exact answer in the database at `db`, or in the user's over the shipped ones, whatever workload is named. */
bool mt_follow_shape_is_exact(const mt_follow_shape *found, const char *db, const mt_device_facts *facts);
/* Whether its last session in the database was cut short. */
mt_status mt_follow_shape_is_cut(const mt_follow_shape *found, const char *db, const mt_device_facts *facts, bool *is_cut, mt_error *err);
