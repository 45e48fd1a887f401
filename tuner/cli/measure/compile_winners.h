/* The winners of a database whose code it does not hold, compiled and stored. */
#pragma once

#include "db/store/query.h"

typedef struct mt_compile_wishes {
    const char *space;              /* NULL = the shipped one of the kernel */
    size_t jobs;                    /* 0 = as many as the host is good for */
    double compile_limit_s;         /* ≤ 0: 60 */
    bool no_cache;
} mt_compile_wishes;

typedef struct mt_compile_total {
    size_t winners;                 /* of the filter, those with code included */
    size_t wanted, failed;          /* that had none; that have none still */
} mt_compile_total;

/* Tells of each kernel, GPU and architecture what was compiled, and warns of what was not: a winner that does not compile, a kernel whose source is not here, or not in that version. */
mt_status mt_compile_missing(mt_store *store, const mt_filter *filter, const mt_compile_wishes *wishes, mt_compile_total *total, mt_error *err);
