#include <string.h>

#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

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

static mt_status fail_damaged(const mt_store *store, const mt_hash *hash, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_DB, "%s: cubin %s is damaged", store->path, hash->hex);
}

/* The bytes of the row at hand: encoding, size, blob. */
static mt_status take_bytes(mt_store *store, sqlite3_stmt *statement, const mt_hash *hash, void **bytes, size_t *count, mt_error *err)
{
    int64_t size = sqlite3_column_int64(statement, 1);
    const void *blob = sqlite3_column_blob(statement, 2);
    size_t length = (size_t)sqlite3_column_bytes(statement, 2);
    bool packed = strcmp(mt_sql_column(statement, 0), "zstd") == 0;
    if (size < 0 || size > 256 << 20 || (!packed && (size_t)size != length)) return fail_damaged(store, hash, err);
    void *copy = mt_alloc((size_t)size, 1);
    if (!copy) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: cubin: out of memory", store->path);
    bool whole = true;
    if (packed)
        whole = ZSTD_decompress(copy, (size_t)size, blob, length) == (size_t)size;
    else if (length)
        memcpy(copy, blob, length);
    mt_hash actual = mt_hash_bytes(copy, (size_t)size);
    if (!whole || strcmp(actual.hex, hash->hex) != 0) {
        mt_free(copy);
        return fail_damaged(store, hash, err);
    }
    *bytes = copy;
    *count = (size_t)size;
    return MT_OK;
}

mt_status mt_store_cubin_load(mt_store *store, const mt_hash *hash, void **bytes, size_t *count, mt_error *err)
{
    mt_status st;
    bool row;
    sqlite3_stmt *statement;
    *bytes = NULL;
    *count = 0;
    MT_TRY(mt_sql_cached_get(store, "SELECT encoding, size_bytes, bytes FROM cubin WHERE hash = ?", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, hash->hex);
    MT_TRY(mt_sql_row(store, &args, &row, "read a cubin", err));
    st = row ? take_bytes(store, statement, hash, bytes, count, err)
             : MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: has no cubin %s", store->path, hash->hex);
    sqlite3_reset(statement);
done:
    return st;
}
