/* A database as bytes: what a pack is made of. */
#pragma once

#include "db/store/store.h"

/* A copy in memory, of today's schema, which is the caller's to change; *copy is closed as any store. */
mt_status mt_store_copy(mt_store *from, mt_store **copy, mt_error *err);

/* The copy as the file that it would be, of the same bytes wherever it was made of the same rows by the same SQLite: what SQLite counts beside them (changes, schema changes, its version) says nothing.
 * mt_store_image_free the bytes. */
mt_status mt_store_image(mt_store *copy, unsigned char **bytes, size_t *count, mt_error *err);
void mt_store_image_free(unsigned char *bytes);
