/* Opening a database that must be there already, and the filter options that show, export and report share. */
#pragma once

#include "db/store/query.h"
#include "tuner/cli/options.h"

/* --db, $MSDA_TUNE_DB or the user's; read only. A file that is not there is MT_ERR_NOTHING_VALID ("no database yet"). */
mt_status mt_database_open(const char *option, mt_store **store, mt_error *err);
/* The same in another mode. */
mt_status mt_database_open_as(const char *option, mt_store_mode mode, mt_store **store, mt_error *err);

/* MT_ERR_NOTHING_VALID for a database that is not there, and what makes one. */
mt_status mt_database_missing(const char *path, mt_error *err);
/* MT_ERR_NOTHING_VALID for a question that found no winner: whether the file is empty, has failures only, or others than those asked for; and what to do. */
mt_status mt_database_nothing(mt_store *store, const mt_filter *filter, mt_error *err);
/* The same where nothing at all is there, valid or not. */
mt_status mt_database_no_rows(mt_store *store, const mt_filter *filter, mt_error *err);
/* Where a word of the filter names nothing in the file and is close to what does, *err says that instead: "no shape 'sed48', did you mean 'seed48'?" */
void mt_database_near_miss(mt_store *store, const mt_filter *filter, mt_error *err);
/* Many commands take measured rows alone unless --origin says otherwise: where only others match, *err says that instead. */
void mt_database_other_origins(mt_store *store, const mt_filter *filter, mt_error *err);

/* The options --gpu --kernel --shape --workload --cache state --origin. Embed it as the first member of a command's values. */
typedef struct mt_filter_values {
    const char *gpu, *kernel, *shape, *workload;
    int l2, origin;
} mt_filter_values;
#define MT_FILTER_OPTIONS                                                                                                                      \
    {"gpu", 0, MT_OPTION_TEXT, offsetof(mt_filter_values, gpu), "GPU", "only this GPU: key, driver's name or model (h100)"},                   \
        {"kernel", 0, MT_OPTION_TEXT, offsetof(mt_filter_values, kernel), "NAME", "only this kernel"},                                         \
        {"shape", 0, MT_OPTION_TEXT, offsetof(mt_filter_values, shape), "NAME", "only this shape"},                                            \
        {"workload", 0, MT_OPTION_TEXT, offsetof(mt_filter_values, workload), "NAME", "only this workload"},                                   \
        {"l2", 0, MT_OPTION_CHOICE, offsetof(mt_filter_values, l2), "cold|warm", "only this state of the L2 cache"},                        \
    {"origin", 0, MT_OPTION_CHOICE, offsetof(mt_filter_values, origin), "measured|recorded|imported", "only rows of this origin"}

/* A filter and what it points to; must not be copied (the filter points into itself). */
typedef struct mt_filter_box {
    mt_filter filter;
    mt_l2 l2;
    mt_origin origin;
} mt_filter_box;
void mt_filter_fill(const mt_filter_values *values, mt_filter_box *box);
