/* What a store says of variants it knows, collected. */
#pragma once

#include "tests/unit/store_fixture.h"

typedef struct seen {
    int count;
    char variant[32][64];
    char text[32][128];
    mt_outcome_kind kind[32];
    double median_ns[32];
    mt_status answer; /* what the callback returns */
} seen;

static inline mt_status see_known(void *context, const char *variant, mt_outcome_kind kind, double median_ns, double norm_error, const char *text, mt_error *err)
{
    seen *all = context;
    (void)norm_error;
    ck_assert_int_lt(all->count, 32);
    snprintf(all->variant[all->count], 64, "%s", variant);
    snprintf(all->text[all->count], 128, "%s", text ? text : "");
    all->kind[all->count] = kind;
    all->median_ns[all->count++] = median_ns;
    return all->answer == MT_OK ? MT_OK : MT_FAIL(err, all->answer, "stop");
}

static inline mt_status see_text(void *context, const char *variant, const char *text, mt_error *err)
{
    (void)err;
    seen *all = context;
    snprintf(all->variant[all->count], 64, "%s", variant);
    snprintf(all->text[all->count++], 128, "%s", text);
    return MT_OK;
}

static inline seen known_of(mt_store *store, const mt_subject *subject, mt_reuse reuse)
{
    seen all = {0};
    ck_ok(mt_store_known(store, subject, reuse, see_known, &all, &fixture_err));
    return all;
}
