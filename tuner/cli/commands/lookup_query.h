/* What `msda-tune lookup` asks about, put together from a database's names, a search space and --set: the GPU's facts, the kernel, the shape's values. */
#ifndef MT_CLI_ASKED_H
#define MT_CLI_ASKED_H

#include "include/tunelookup.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/options.h"
#include "tuner/space/facts.h"

/* One value of the shape, as text. */
typedef enum mt_asked_kind { MT_ASKED_INT, MT_ASKED_LIST, MT_ASKED_STRING } mt_asked_kind;
typedef struct mt_asked_value {
    char *name, *text;
    mt_asked_kind kind;
} mt_asked_value;

typedef struct mt_asked {
    char *kernel;                 /* "NAME" or "NAME@KEY" */
    const char *space;            /* --space, borrowed; NULL = not given */
    mt_asked_value values[TUNELOOKUP_MAX_VALUES];
    size_t value_count;
    mt_device_facts facts;
    bool is_recorded;             /* the GPU is a recorded one */
    /* for tunelookup_prepare and _find */
    char *names[TUNELOOKUP_MAX_VALUES + 1];
    size_t name_count;
    int64_t numbers[TUNELOOKUP_MAX_VALUES];
    size_t number_count;
} mt_asked; /* zero-initialise; mt_asked_free */

typedef struct mt_asked_options {
    const char *gpu, *kernel, *shape, *workload, *space, *db; /* each may be NULL */
    const mt_words *set;
} mt_asked_options;

/* Unknown names are USAGE errors that say what was probably meant, or what there is. Nothing stored: NOTHING_VALID. */
mt_status mt_asked_make(const mt_asked_options *options, mt_asked *asked, mt_error *err);
void mt_asked_free(mt_asked *asked);

/* Between lookup_query.c and lookup_device.c: the databases to take names and recorded GPUs from: --db, or else the user's where it exists and the shipped ones. */
typedef struct mt_asked_files {
    char *paths[3];
    size_t count;
} mt_asked_files;
mt_status mt_asked_device(const char *gpu, const mt_asked_files *files, mt_asked *asked, mt_error *err);

#endif
