/* The programs in a kernel's stored expressions (kernel.spec_json), as the lookup will read them. */
#ifndef MT_DB_STORE_SPEC_PROGRAMS_H
#define MT_DB_STORE_SPEC_PROGRAMS_H

#include "db/store/store.h"

/* Whether each can be read; `why` names the first that cannot. `spec_json` is JSON. Who takes expressions over from a file asks: those that can't be read would take the place of good ones. `store` lends
 * SQLite's JSON functions. */
mt_status mt_spec_programs_check(mt_store *store, const char *spec_json, bool *are_sound, char *why, size_t size, mt_error *err);

#endif
