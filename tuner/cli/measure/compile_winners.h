/* The winners of a database whose code it does not hold, compiled and stored. */
#pragma once

#include "db/store/query.h"
#include "tuner/base/strbuf.h"

typedef struct mt_winner {
    int64_t subject, nvrtc_version, driver_version; /* versions that it was measured with */
    char *shape_key, *workload_key, *variant, *cubin_hash; /* the hash of the code that was measured; "" = not known */
} mt_winner;

/* Winners of one kernel source on one GPU for one architecture: one search space, one set of workers. Those of a shape are neighbours. */
typedef struct mt_winner_group {
    char *kernel, *kernel_key, *gpu_key, *gpu_name, *facts_json, *arch;
    mt_winner *winners;
    size_t count, capacity;
} mt_winner_group;

typedef struct mt_winner_list {
    mt_winner_group *groups;
    size_t group_count, group_capacity;
    size_t total;                   /* winners of the filter, those with code included */
} mt_winner_list;

mt_status mt_winners_without_code(mt_store *store, const mt_filter *filter, mt_winner_list *list, mt_error *err);
void mt_winners_free(mt_winner_list *list);

typedef struct mt_compile_wishes {
    const char *space;              /* NULL = the shipped one of the kernel */
    size_t jobs;                    /* 0 = as many as the host is good for */
    double compile_limit_s;         /* ≤ 0: 60 */
    bool no_cache;
} mt_compile_wishes;

typedef struct mt_compile_report {
    size_t compiled, bytes;
    size_t same;                    /* of those compiled: byte for byte what was measured */
    size_t other_versions;          /* of those compiled: measured with another version of NVRTC */
    int64_t nvrtc_version;
    mt_strbuf failures;             /* a line each */
} mt_compile_report;

/* A winner that does not compile is a line of the report. NOT_FOUND: the kernel's source is not here, or not in that version. The report is the caller's in any case. */
mt_status mt_compile_winners(mt_store *store, const mt_winner_group *group, const mt_compile_wishes *wishes, mt_compile_report *report, mt_error *err);
