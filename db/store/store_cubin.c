#include "db/store/store_internal.h"

mt_status mt_store_cubin(mt_store *store, const mt_hash *hash, const void *bytes, size_t count, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.cubin (hash, encoding, size_bytes, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET "
                              "encoding = excluded.encoding, size_bytes = excluded.size_bytes, bytes = excluded.bytes WHERE bytes <> excluded.bytes OR size_bytes <> excluded.size_bytes";
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "store a cubin", MT_IN(MT_TEXT(hash->hex), MT_TEXT("raw"), MT_INT((int64_t)count), MT_BLOB(count ? bytes : "", count)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_answer_code(mt_store *store, int64_t subject, const mt_toolchain_row *toolchain, const mt_hash *hash, const void *bytes, size_t count, mt_error *err)
{
    mt_status st;
    int64_t chain = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_store_cubin(store, hash, bytes, count, err);
    if (st == MT_OK) st = mt_store_toolchain(store, toolchain, &chain, err);
    if (st == MT_OK) st = mt_sql_do(store, "UPDATE main.answer SET cubin_hash = ?, toolchain_id = ? WHERE subject_id = ?", "store a winner's code",
                                    MT_IN(MT_TEXT(hash->hex), MT_INT(chain), MT_INT(subject)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
