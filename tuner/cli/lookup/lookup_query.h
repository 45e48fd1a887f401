/* What `msda-tune lookup` asks about, put together from a database's names, a search space and --set: the GPU's facts, the kernel, the shape's values. */
#pragma once

#include "include/tunelookup.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/options.h"
#include "tuner/cli/share.h"
#include "tuner/space/facts.h"
#include "tuner/space/spec/spec.h"

/* One value of the shape, as text. */
typedef enum mt_lookup_query_kind { MT_ASKED_INT, MT_ASKED_LIST, MT_ASKED_STRING } mt_lookup_query_kind;
typedef struct mt_lookup_query_value {
    char *name, *text;
    mt_lookup_query_kind kind;
} mt_lookup_query_value;

typedef struct mt_lookup_query {
    char *kernel;                 /* "NAME" or "NAME@KEY": what the library is asked for */
    char *shown;                  /* what people are told: as they gave it */
    const char *space;            /* --space, borrowed; NULL = not given */
    char space_key[33];           /* of its source as it is now, where it is of that kernel; else "" */
    mt_lookup_query_value values[TUNELOOKUP_MAX_VALUES];
    size_t value_count;
    mt_device_facts facts;
    bool is_recorded;             /* the GPU is a recorded one */
    /* for tunelookup_prepare and _find */
    char *names[TUNELOOKUP_MAX_VALUES + 2];
    size_t name_count;
    int64_t numbers[TUNELOOKUP_MAX_VALUES];
    size_t number_count;
} mt_lookup_query; /* zero-initialise; mt_lookup_query_free */

typedef struct mt_lookup_query_options {
    const char *gpu, *kernel, *shape, *workload, *member, *space, *db; /* each may be NULL; member: of a class of equal bits */
    const mt_texts *set;
} mt_lookup_query_options;

/* Unknown names are USAGE errors that say what was probably meant, or what there is. Nothing stored: NOTHING_VALID. */
mt_status mt_lookup_query_make(const mt_lookup_query_options *options, mt_lookup_query *asked, mt_error *err);
void mt_lookup_query_free(mt_lookup_query *asked);

/* Between lookup_query.c and lookup_device.c: the databases to take names and recorded GPUs from: --db, or else the user's where it exists and the shipped ones. */
typedef struct mt_lookup_query_files {
    char *paths[3];
    size_t count;
} mt_lookup_query_files;
mt_status mt_lookup_query_device(const char *gpu, const mt_lookup_query_files *files, mt_lookup_query *asked, mt_error *err);

/* Between lookup_query.c and lookup_values.c. "no shape 'sed48', did you mean 'seed48'?" or what there is; name NULL = --what is missing. USAGE. */
mt_status mt_lookup_query_unknown(const char *what, const char *name, const mt_texts *known, mt_error *err);
/* The values become those of a stored key, "D=32;H=92,46;dtype=f16" with "int,list,string", or of a search space's shape. */
mt_status mt_lookup_values_take_key(mt_lookup_query *asked, const char *key, const char *kinds, mt_error *err);
mt_status mt_lookup_values_take_shape(mt_lookup_query *asked, const mt_shape *shape, mt_error *err);
/* Replaces one of them: "NAME=VALUE"; or all: "N=1;H=92,46;dtype=f16" in any order. USAGE for what is unknown, missing or given twice. */
mt_status mt_lookup_values_set(mt_lookup_query *asked, const char *pair, mt_error *err);
mt_status mt_lookup_values_give(mt_lookup_query *asked, const char *text, const mt_texts *keys, mt_error *err);
mt_status mt_lookup_values_bind(mt_lookup_query *asked, const char *what, const char *value, mt_error *err); /* one more of names[], behind the values': a workload, a class */
mt_status mt_lookup_values_push(mt_lookup_query *asked, mt_error *err); /* into names[] and numbers[] */
void mt_lookup_values_clear(mt_lookup_query *asked);
