#include "db/store/open/store_image.h"

#include <string.h>

#include "db/store/open/migrate.h"
#include "db/store/open/store_file.h"
#include "db/store/row_number.h"
#include "db/store/row_scan.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

#pragma weak sqlite3_serialize

mt_status mt_store_copy(mt_store *from, mt_store **out, mt_error *err)
{
    mt_status st;
    mt_store *copy = NULL;
    *out = NULL;
    MT_TRY(mt_store_open(":memory:", MT_STORE_READ_WRITE, &copy, err));
    mt_free(copy->path); /* what is said of the copy is said of its original */
    if (!(copy->path = mt_strdup(from->path))) MT_LEAVE(mt_no_memory(from->path, err));
    MT_TRY(mt_store_file_copy(from->db, copy->db, from->path, err));
    MT_TRY(mt_migrate(copy->db, copy->path, false, err));
    mt_row_numbers_mend(copy);
    MT_TRY(mt_row_scan(copy, err));
    *out = copy;
    copy = NULL;
done:
    mt_store_close(copy);
    return st;
}

/* Big-endian, as the head of an SQLite file has its numbers. */
static void put(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> 8 * (3 - i));
}

mt_status mt_store_image(mt_store *copy, unsigned char **bytes, size_t *count, mt_error *err)
{
    enum { LEAST = 512, AT_MODES = 18, AT_CHANGES = 24, AT_SCHEMA_CHANGES = 40, AT_VALID_FOR = 92, AT_VERSION = 96, OLDEST = 3026000 };
    sqlite3_int64 size = 0;
    *bytes = NULL;
    if (!sqlite3_serialize) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "SQLite %s was built without sqlite3_serialize; 3.36 and later have it", sqlite3_libversion());
    mt_status st = mt_sql_exec(copy, "VACUUM", err);
    if (st != MT_OK) return st;
    if (!(*bytes = sqlite3_serialize(copy->db, "main", &size, 0)) || size < LEAST) return mt_no_memory(copy->path, err);
    memset(*bytes + AT_MODES, 1, 2); /* no write-ahead log */
    put(*bytes + AT_CHANGES, 1);
    put(*bytes + AT_SCHEMA_CHANGES, 1);
    put(*bytes + AT_VALID_FOR, 1);
    put(*bytes + AT_VERSION, OLDEST);
    *count = (size_t)size;
    return MT_OK;
}

void mt_store_image_free(unsigned char *bytes)
{
    sqlite3_free(bytes);
}
