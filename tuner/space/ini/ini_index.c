#include "tuner/space/ini/ini_index.h"

#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* "a", "bc" and "ab", "c" differ */
}

static uint64_t hash_of_section(const char *kind, const char *name)
{
    return mix(mix(UINT64_C(0xcbf29ce484222325), kind), name);
}

static uint64_t hash_of_entry(size_t section, const char *key)
{
    return mix(UINT64_C(0xcbf29ce484222325) + section, key);
}

static size_t first_slot(const mt_ini *ini, uint64_t hash)
{
    return (size_t)(hash ^ hash >> 32) & (ini->slot_count - 1);
}

static void put(const mt_ini *ini, mt_ini_slot slot)
{
    size_t at = first_slot(ini, slot.hash);
    while (ini->slots[at].section) at = (at + 1) & (ini->slot_count - 1);
    ini->slots[at] = slot;
}

static mt_ini_slot slot_of(const mt_ini *ini, size_t section, size_t entry)
{
    const mt_ini_section *of = &ini->sections[section - 1];
    return (mt_ini_slot){.hash = entry ? hash_of_entry(section, of->entries[entry - 1].key) : hash_of_section(of->kind, of->name), .section = section, .entry = entry};
}

/* Puts all in again, in the order of the text: of several sections of one name the first is found first. */
static bool grow(mt_ini *ini)
{
    size_t count = ini->slot_count ? 2 * ini->slot_count : 64;
    mt_ini_slot *slots = mt_alloc(count, sizeof *slots);
    if (!slots) return false;
    mt_free(ini->slots);
    ini->slots = slots;
    ini->slot_count = count;
    for (size_t section = 1; section <= ini->section_count; section++)
        for (size_t entry = 0; entry <= ini->sections[section - 1].entry_count; entry++) put(ini, slot_of(ini, section, entry));
    return true;
}

static bool add(mt_ini *ini, size_t entry)
{
    if (2 * ++ini->slots_used >= ini->slot_count) return grow(ini);
    put(ini, slot_of(ini, ini->section_count, entry));
    return true;
}

bool mt_ini_index_section(mt_ini *ini)
{
    return add(ini, 0);
}

bool mt_ini_index_entry(mt_ini *ini)
{
    return add(ini, ini->sections[ini->section_count - 1].entry_count);
}

const mt_ini_section *mt_ini_index_find_section(const mt_ini *ini, const char *kind, const char *name, size_t *from)
{
    uint64_t hash = hash_of_section(kind, name);
    for (; ini->slot_count; ++*from) {
        const mt_ini_slot *slot = &ini->slots[(first_slot(ini, hash) + *from) & (ini->slot_count - 1)];
        if (!slot->section) break;
        const mt_ini_section *section = &ini->sections[slot->section - 1];
        if (slot->hash != hash || slot->entry || strcmp(section->kind, kind) != 0 || strcmp(section->name, name) != 0) continue;
        ++*from;
        return section;
    }
    return NULL;
}

const mt_ini_entry *mt_ini_index_find_entry(const mt_ini *ini, const char *key)
{
    uint64_t hash = hash_of_entry(ini->section_count, key);
    for (size_t at = ini->slot_count ? first_slot(ini, hash) : 0; ini->slot_count && ini->slots[at].section; at = (at + 1) & (ini->slot_count - 1)) {
        const mt_ini_slot *slot = &ini->slots[at];
        if (slot->hash != hash || slot->section != ini->section_count || !slot->entry) continue;
        const mt_ini_entry *entry = &ini->sections[slot->section - 1].entries[slot->entry - 1];
        if (strcmp(entry->key, key) == 0) return entry;
    }
    return NULL;
}
