/* The states of its source that a kernel has rows of, and which of them is today's: rows of several states look alike in a listing. */
#pragma once

#include <stdio.h>

#include "db/store/query.h"

/* Of one kernel. */
typedef struct mt_source_states {
    char *kernel;
    size_t count;     /* states that the database knows */
    mt_hash newest;   /* the one that it met last */
    mt_hash today;    /* empty: no search space of the kernel is known */
    bool is_given;    /* today's is that of --space */
    bool has_today;   /* the database knows that one too */
    mt_hash listed;   /* the first one that mt_sources_mark was asked for */
    bool is_mixed;    /* it was asked for another one too */
} mt_source_states;

typedef struct mt_sources {
    mt_source_states *items;
    size_t count, capacity;
} mt_sources; /* zero-initialise */

/* Today's state is that of the search space `given` (--space; NULL = none) if its kernel is that one, else that of the kernel's shipped space. */
mt_status mt_sources_load(mt_store *store, const char *given, mt_sources *sources, mt_error *err);
/* ", today's" or ", not today's", for a heading; "" where today's is not known, and where the kernel has one state only and that is today's. */
const char *mt_sources_mark(mt_sources *sources, const char *kernel, const char *key);
/* Whether today's state is known, and another one. */
bool mt_sources_is_old(mt_sources *sources, const char *kernel, const char *key);
/* The key of today's state; NULL = not known. */
const char *mt_sources_today(const mt_sources *sources, const char *kernel);
/* The key of the source of --space as it is now, where that is the kernel's; else NULL. */
const char *mt_sources_given(const mt_sources *sources, const char *kernel);
/* A line for each kernel of which several states were listed: how to list one of them alone. And for that of --space, where what was listed is of another state than its source. */
void mt_sources_hint(const mt_sources *sources, FILE *out);
void mt_sources_free(mt_sources *sources);
