/* Which sections an mt_ini has, and which keys each section: what is there twice is found at once, however many there are. */
#pragma once

#include "tuner/space/ini/ini.h"

/* Notes the last section, or the last entry of the last section. False: out of memory. */
bool mt_ini_index_section(mt_ini *ini);
bool mt_ini_index_entry(mt_ini *ini);
/* The noted section [kind name] behind *from (0 = from the start), which is moved on: there may be several of one name. NULL = there is no further one. */
const mt_ini_section *mt_ini_index_find_section(const mt_ini *ini, const char *kind, const char *name, size_t *from);
/* The noted entry of the last section, or NULL. */
const mt_ini_entry *mt_ini_index_find_entry(const mt_ini *ini, const char *key);
