/* Which GPU a person means by "h100", "H100-PCIe", the driver's name or a whole key. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* Without case: the whole key, the driver's name, the model (the key up to '|'), a leading part of the model up to a '-', or another
 * spelling of the driver's name that makes the same model. */
bool mt_device_matches(const char *wanted, const char *key, const char *name);
/* Makes SQL function mt_device_matches(wanted, key, name) on the handle. Returns SQLite's code. */
int mt_device_match_register(sqlite3 *db);
