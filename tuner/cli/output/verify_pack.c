#include "tuner/cli/output/verify_pack.h"

#include "db/exchange/pack_sign.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"

static mt_status fail(mt_pack_verdict verdict, const char *path, const char *why, mt_error *err)
{
    mt_status st = verdict == MT_PACK_NO_MEMORY ? MT_ERR_NO_MEMORY : verdict == MT_PACK_UNREADABLE ? MT_ERR_IO : MT_ERR_DB;
    return MT_FAIL(err, st, "%s: %s", path, why);
}

static mt_status read_part(const mt_pack *pack, const mt_pack_part *part, const char *path, mt_error *err)
{
    char why[MT_PACK_WHY];
    unsigned char *bytes = mt_alloc(mt_pack_padded(part->bytes), 1);
    if (!bytes) return mt_no_memory(path, err);
    mt_pack_verdict verdict = mt_pack_read(pack, part, bytes, why);
    mt_free(bytes);
    return verdict == MT_PACK_OK ? MT_OK : fail(verdict, path, why, err);
}

static mt_status check_signature(const mt_pack *pack, const char *path, const char *key, mt_error *err)
{
    mt_error why = {0};
    mt_status st = mt_pack_signed_by(pack, key, &why);
    if (st == MT_ERR_DB) return MT_FAIL(err, st, "%s: %s", path, why.message);
    return st == MT_OK ? st : MT_FAIL(err, st, "%s", why.message);
}

mt_status mt_verify_pack(const char *path, const char *key, mt_error *err)
{
    char why[MT_PACK_WHY];
    mt_pack pack;
    uint64_t bytes = 0;
    mt_status st = MT_OK;
    mt_pack_verdict verdict = mt_pack_open(path, &pack, why);
    if (verdict != MT_PACK_OK) return fail(verdict, path, why, err);
    for (uint32_t i = 0; i < pack.count && st == MT_OK; i++) {
        st = read_part(&pack, &pack.parts[i], path, err);
        bytes += pack.parts[i].bytes;
    }
    if (st == MT_OK && !mt_pack_find(&pack, MT_PACK_DATABASE)) st = MT_FAIL(err, MT_ERR_DB, "%s: holds no database", path);
    if (st == MT_OK && key) st = check_signature(&pack, path, key, err);
    if (st == MT_OK) mt_tell("%s: a database and %u piece%s of code, %.1f MiB, as they were written; %s\n", path, pack.count - 1, pack.count == 2 ? "" : "s", (double)bytes / (1 << 20),
                             key ? "signed by that key" : pack.is_signed ? "signed, by whom was not asked (--key)" : "not signed");
    mt_pack_close(&pack);
    return st;
}
