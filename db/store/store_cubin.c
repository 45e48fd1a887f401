#include "db/store/store_internal.h"

mt_status mt_store_cubin(mt_store *store, const mt_hash *hash, const void *bytes, size_t count, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "INSERT OR IGNORE INTO main.cubin (hash, encoding, size_bytes, bytes) VALUES (?, ?, ?, ?)", &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_text(&args, hash->hex);
        mt_sql_text(&args, "raw");
        mt_sql_int(&args, (int64_t)count);
        mt_sql_blob(&args, count ? bytes : "", count);
        st = mt_sql_run(store, &args, "store a cubin", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_answer_code(mt_store *store, int64_t subject, const mt_toolchain_row *toolchain, const mt_hash *hash, const void *bytes, size_t count, mt_error *err)
{
    mt_status st;
    int64_t chain = 0;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_store_cubin(store, hash, bytes, count, err);
    if (st == MT_OK) st = mt_store_toolchain(store, toolchain, &chain, err);
    if (st == MT_OK) st = mt_sql_cached_get(store, "UPDATE main.answer SET cubin_hash = ?, toolchain_id = ? WHERE subject_id = ?", &statement, err);
    if (st == MT_OK) {
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_text(&args, hash->hex);
        mt_sql_int(&args, chain);
        mt_sql_int(&args, subject);
        st = mt_sql_run(store, &args, "store a winner's code", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}
