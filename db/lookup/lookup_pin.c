/* Handles that answer from one snapshot or not at all (TUNELOOKUP_PINNED). What is loaded is named by its contents, in the transactions that it is read in: the stamps of files tell less, since two writes
 * within a tick of the file system's clock leave the same ones. */
#include "db/lookup/lookup_pin.h"

#include <string.h>

static tunelookup_status compare(const tunelookup_db *db, const char *pin, const char *id)
{
    if (strcmp(id, pin) == 0) return TUNELOOKUP_OK;
    return mt_lookup_fail(TUNELOOKUP_ERR_OTHER_SNAPSHOT, "%s: the snapshot here is %s, expected %s", db->files[0].path, id, pin);
}

tunelookup_status mt_lookup_pin(tunelookup_db *db, const char *expected)
{
    char id[TUNELOOKUP_SNAPSHOT_ID];
    tunelookup_status st = mt_lookup_snapshot_of(db, NULL, id);
    if (st == TUNELOOKUP_OK && expected) st = compare(db, expected, id);
    if (st == TUNELOOKUP_OK) memcpy(db->pin, id, sizeof db->pin);
    return st;
}

tunelookup_status mt_lookup_pin_check(const tunelookup_db *db, mt_lookup_source *sources)
{
    char id[TUNELOOKUP_SNAPSHOT_ID];
    tunelookup_status st = *db->pin ? mt_lookup_snapshot_of(db, sources, id) : TUNELOOKUP_OK;
    return st == TUNELOOKUP_OK && *db->pin ? compare(db, db->pin, id) : st;
}

/* A file that just now can't be read answers in another process, or a moment later. */
tunelookup_status mt_lookup_pin_check_left_out(const tunelookup_db *db, const mt_lookup_left_out *left_out, uint32_t count)
{
    for (uint32_t i = 0; *db->pin && i < count; i++)
        if (left_out[i].status == TUNELOOKUP_ERR_IO) return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s", left_out[i].why);
    return TUNELOOKUP_OK;
}
