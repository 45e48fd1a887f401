/* Rows of a database that no tuner writes: an older merge took them over, or somebody's program wrote them. They are found when the file is opened, named, and left out of all that is read. */
#pragma once

#include "db/store/store.h"

/* Reads every row once. Where some break the rules, views of the handle's own, named as their tables, hide them and what refers to them; so statements read plain
 * names, and write `main.NAME`. The file is not changed. Memory: 8 bytes for each of them. DB error when it cannot be read. */
mt_status mt_row_scan(mt_store *store, mt_error *err);
/* The same once more, without a word, where rows that were left out have been mended, or PRAGMA temp_store has dropped the views; inside of a transaction too. No statement may be reading. */
mt_status mt_row_scan_again(mt_store *store, mt_error *err);
mt_status mt_row_is_left_out(mt_store *store, const char *table, int64_t row, bool *is, mt_error *err);
/* The row has been written anew: where it was left out it counts again, and so does what refers to it. DB error, which names the row and what a person can do, when it breaks the rules still: what
 * refers to it would be left out too. */
mt_status mt_row_mended(mt_store *store, const char *table, int64_t row, mt_error *err);
