#include "tuner/cli/requests/known_device.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"
#include "tuner/space/ini/ini.h"

/* "sm_90a" → 90. */
static bool parse_arch(const char *arch, int64_t *cc)
{
    size_t length = strlen(arch);
    if (strncmp(arch, "sm_", 3) != 0 || length >= MT_ARCH_SIZE) return false;
    size_t digits = strspn(arch + 3, "0123456789");
    const char *suffix = arch + 3 + digits;
    bool suffix_ok = !*suffix || strcmp(suffix, "a") == 0 || strcmp(suffix, "f") == 0;
    return digits >= 2 && suffix_ok && mt_text_int64(arch + 3, digits, cc);
}

static mt_status check_arch(const char *arch, int64_t *cc, mt_error *err)
{
    if (!arch || parse_arch(arch, cc)) return MT_OK;
    return MT_FAIL(err, MT_ERR_USAGE, "--arch is '%s', expected a name like sm_90a", arch);
}

mt_status mt_known_arch_check(const char *arch, mt_error *err)
{
    int64_t cc;
    return check_arch(arch, &cc, err);
}

static bool has_cc(const mt_ini_section *section, int64_t cc)
{
    int64_t value;
    const mt_ini_entry *entry = strcmp(section->kind, "device") == 0 ? mt_ini_find(section, "cc") : NULL;
    return entry && mt_text_int64(entry->value, strlen(entry->value), &value) && value == cc;
}

/* The name of the first device with this compute capability; mt_free it. */
static mt_status find_by_arch(const char *path, int64_t cc, const char *arch, char **name, mt_error *err)
{
    char *text = NULL;
    size_t length = 0;
    mt_ini ini = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_file_read(path, 0, &text, &length, err));
    MT_TRY(mt_ini_parse(path, text, length, &ini, err));
    for (size_t i = 0; i < ini.section_count && !*name; i++)
        if (has_cc(&ini.sections[i], cc)) *name = mt_strdup(ini.sections[i].name);
    if (!*name) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s knows no GPU for %s; give one with --gpu", path, arch);
done:
    mt_ini_free(&ini);
    mt_free(text);
    return st;
}

mt_status mt_known_device(const char *gpu, const char *arch, mt_device_facts *facts, char arch_out[MT_ARCH_SIZE], mt_error *err)
{
    char *path = NULL, *name = NULL;
    int64_t cc = 0;
    mt_status st = MT_OK;
    MT_TRY(check_arch(arch, &cc, err));
    MT_TRY(mt_share_file("devices.ini", &path, err));
    if (!gpu) MT_TRY(find_by_arch(path, cc, arch, &name, err));
    MT_TRY(mt_facts_load(path, gpu ? gpu : name, facts, err));
    if (arch) snprintf(arch_out, MT_ARCH_SIZE, "%s", arch);
    else mt_facts_arch(facts->cc, arch_out, MT_ARCH_SIZE);
done:
    mt_free(name);
    mt_free(path);
    return st;
}

void mt_known_device_candidates(const char *gpu, const char *chosen_name, mt_strbuf *libraries)
{
    char *path = NULL, *text = NULL;
    size_t length = 0, stem = strlen(gpu);
    mt_ini ini = {0};
    mt_error ignored;
    bool is_read = mt_share_file("devices.ini", &path, &ignored) == MT_OK && mt_file_read(path, 0, &text, &length, &ignored) == MT_OK && mt_ini_parse(path, text, length, &ini, &ignored) == MT_OK;
    for (size_t i = 0; is_read && i < ini.section_count; i++) {
        const mt_ini_section *section = &ini.sections[i];
        const mt_ini_entry *name = mt_ini_find(section, "name");
        if (strncasecmp(section->name, gpu, stem) != 0 || section->name[stem] != '-' || !name || strcmp(name->value, chosen_name) == 0) continue;
        mt_strbuf_addf(libraries, "%s%s", libraries->length ? ", " : "", section->name);
    }
    mt_ini_free(&ini);
    mt_free(text);
    mt_free(path);
}

mt_status mt_known_device_names(mt_texts *names, mt_error *err)
{
    char *path = NULL, *text = NULL;
    size_t length = 0;
    mt_ini ini = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_share_file("devices.ini", &path, err));
    MT_TRY(mt_file_read(path, 0, &text, &length, err));
    MT_TRY(mt_ini_parse(path, text, length, &ini, err));
    for (size_t i = 0; i < ini.section_count; i++)
        if (strcmp(ini.sections[i].kind, "device") == 0) MT_TRY(mt_texts_add(names, ini.sections[i].name, err));
done:
    mt_ini_free(&ini);
    mt_free(text);
    mt_free(path);
    return st;
}
