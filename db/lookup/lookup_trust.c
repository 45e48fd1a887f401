/* Which files libtunelookup believes: db/trust.h has the rule, which the tool keeps too. */
#include "db/lookup/lookup.h"

#include <string.h>

#include "db/trust.h"

tunelookup_status mt_lookup_check_trust(const char *path, char real[PATH_MAX], bool *is_shared)
{
    static const tunelookup_status statuses[] = { [MT_TRUST_OK] = TUNELOOKUP_OK, [MT_TRUST_MISSING] = TUNELOOKUP_ERR_NOT_FOUND, [MT_TRUST_UNREADABLE] = TUNELOOKUP_ERR_IO,
                                                  [MT_TRUST_REFUSED] = TUNELOOKUP_ERR_UNTRUSTED };
    mt_trust trust;
    mt_trust_verdict verdict = mt_trust_check(path, MT_TRUST_TO_ACT, &trust);
    *is_shared = verdict == MT_TRUST_OK && trust.is_shared;
    if (verdict != MT_TRUST_OK) return mt_lookup_fail(statuses[verdict], "%s", trust.why);
    strcpy(real, trust.real);
    return TUNELOOKUP_OK;
}
