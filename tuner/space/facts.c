#include "tuner/space/facts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/ini/ini.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define FIELD_ROW(field, meaning) { #field, offsetof(mt_device_facts, field) },
    MT_FACTS_MAP(FIELD_ROW)
#undef FIELD_ROW
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

size_t mt_facts_count(void)
{
    return FIELD_COUNT;
}

const char *mt_facts_name(size_t index)
{
    assert(index < FIELD_COUNT);
    return fields[index].name;
}

int64_t mt_facts_value(const mt_device_facts *facts, size_t index)
{
    assert(index < FIELD_COUNT);
    int64_t value;
    memcpy(&value, (const char *)facts + fields[index].offset, sizeof value);
    return value;
}

void mt_facts_arch(int64_t cc, char *out, size_t size)
{
    /* wgmma, setmaxnreg and tcgen05 exist only in the architecture-specific targets; those run on exactly this capability. */
    snprintf(out, size, "sm_%lld%s", (long long)cc, cc >= 90 ? "a" : "");
}

static bool is_device(const mt_ini_section *section)
{
    return strcmp(section->kind, "device") == 0;
}

/* The section is known by its name, by an alias, or by the driver's device name. */
static bool section_answers_to(const mt_ini_section *section, const char *name)
{
    if (strcasecmp(section->name, name) == 0) return true;
    const mt_ini_entry *driver = mt_ini_find(section, "name");
    if (driver && strcasecmp(driver->value, name) == 0) return true;
    const mt_ini_entry *aliases = mt_ini_find(section, "aliases");
    size_t wanted = strlen(name);
    for (const char *at = aliases ? aliases->value : ""; *at;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ",");
        size_t trimmed = length;
        while (trimmed > 0 && (at[trimmed - 1] == ' ' || at[trimmed - 1] == '\t')) trimmed--;
        if (trimmed == wanted && strncasecmp(at, name, wanted) == 0) return true;
        at += length;
    }
    return false;
}

static mt_status unknown_key(const char *path, const mt_ini_section *section, const mt_ini_entry *entry, mt_error *err)
{
    const char *names[FIELD_COUNT + 2] = { "name", "aliases" };
    for (size_t i = 0; i < FIELD_COUNT; i++) names[i + 2] = fields[i].name;
    size_t first = is_device(section) ? 0 : 2;
    const char *near = mt_text_nearest(entry->key, names + first, FIELD_COUNT + 2 - first);
    return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: unknown key `%s` in a [%s] section%s%s%s", path, entry->line, entry->key, section->kind,
                   near ? ", did you mean `" : is_device(section) ? "; expected name, aliases or a fact such as sm_count" : "; expected a fact such as smem_optin", near ? near : "",
                   near ? "`?" : "");
}

static mt_status read_field(const char *path, const mt_ini_entry *entry, size_t field, mt_device_facts *facts, mt_error *err)
{
    int64_t value;
    bool may_be_zero = strcmp(fields[field].name, "smem_reserved") == 0; /* as before compute capability 8.0 */
    if (!mt_text_int64(entry->value, strlen(entry->value), &value) || value < !may_be_zero) {
        return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: %s = %s: expected a positive integer%s", path, entry->line, entry->key, entry->value, may_be_zero ? " or 0" : "");
    }
    memcpy((char *)facts + fields[field].offset, &value, sizeof value);
    return MT_OK;
}

/* The facts of a section that *facts does not have yet. */
static mt_status read_entries(const char *path, const mt_ini_section *section, mt_device_facts *facts, bool seen[FIELD_COUNT], mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < section->entry_count; i++) {
        const mt_ini_entry *entry = &section->entries[i];
        size_t field = 0;
        if (is_device(section) && strcmp(entry->key, "aliases") == 0) continue;
        if (is_device(section) && strcmp(entry->key, "name") == 0) {
            snprintf(facts->name, sizeof facts->name, "%s", entry->value);
            continue;
        }
        while (field < FIELD_COUNT && strcmp(fields[field].name, entry->key) != 0) field++;
        if (field == FIELD_COUNT) return unknown_key(path, section, entry, err);
        if (seen[field]) continue;
        MT_TRY(read_field(path, entry, field, facts, err));
        seen[field] = true;
    }
done:
    return st;
}

/* What the device's section says, and what [limits CC] says of its compute capability. */
static mt_status read_device(const char *path, const mt_ini *ini, const mt_ini_section *section, mt_device_facts *facts, mt_error *err)
{
    mt_status st = MT_OK;
    mt_device_facts read = { .name = "" };
    bool seen[FIELD_COUNT] = { false };
    char cc[24];
    MT_TRY(read_entries(path, section, &read, seen, err));
    if (!read.name[0]) return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: [device %s] has no `name`; expected the driver's device name", path,
                                      section->line, section->name);
    snprintf(cc, sizeof cc, "%lld", (long long)read.cc);
    for (size_t i = 0; i < ini->section_count; i++)
        if (!is_device(&ini->sections[i]) && strcmp(ini->sections[i].name, cc) == 0) MT_TRY(read_entries(path, &ini->sections[i], &read, seen, err));
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!seen[i]) return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: [device %s] has no `%s`; every fact must be given, here or in [limits %s]", path, section->line,
                                     section->name, fields[i].name, read.cc ? cc : "CC");
    }
    *facts = read;
done:
    return st;
}

/* The nearer of two names, `best` NULL at first. */
static const char *nearer(const char *name, const char *best, const char *other)
{
    const char *const both[] = { best ? best : other, other };
    return mt_text_nearest(name, both, 2);
}

static mt_status unknown_device(const char *path, const char *name, const mt_ini *ini, mt_error *err)
{
    mt_strbuf known = { 0 };
    const char *near = NULL;
    for (size_t i = 0; i < ini->section_count; i++) {
        const mt_ini_section *section = &ini->sections[i];
        if (!is_device(section)) continue;
        mt_strbuf_addf(&known, "%s%s", known.length ? ", " : "", section->name);
        near = nearer(name, near, section->name);
        const mt_ini_entry *aliases = mt_ini_find(section, "aliases");
        char *rest = NULL;
        for (char *alias = aliases ? strtok_r(aliases->value, ", \t", &rest) : NULL; alias; alias = strtok_r(NULL, ", \t", &rest)) near = nearer(name, near, alias);
    }
    mt_status st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: unknown GPU '%s'%s%s%s; known are %s", path, name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                           mt_strbuf_text(&known));
    mt_strbuf_free(&known);
    return st;
}

mt_status mt_facts_load(const char *path, const char *name, mt_device_facts *facts, mt_error *err)
{
    mt_status st = MT_OK;
    char *text = NULL;
    size_t length = 0;
    mt_ini ini = { 0 };
    const mt_ini_section *found = NULL;
    MT_TRY(mt_file_read(path, 0, &text, &length, err));
    MT_TRY(mt_ini_parse(path, text, length, &ini, err));
    for (size_t i = 0; i < ini.section_count; i++) {
        const mt_ini_section *section = &ini.sections[i];
        if (!is_device(section) && strcmp(section->kind, "limits") != 0) {
            st = MT_FAIL(err, MT_ERR_SPEC, "%s:%d: unknown section [%s]; expected [device NAME] or [limits CC]", path, section->line, section->kind);
            goto done;
        }
        if (!found && is_device(section) && section_answers_to(section, name)) found = section;
    }
    if (!found) MT_LEAVE(unknown_device(path, name, &ini, err));
    MT_TRY(read_device(path, &ini, found, facts, err));
done:
    mt_ini_free(&ini);
    mt_free(text);
    return st;
}
