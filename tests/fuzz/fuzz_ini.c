/* The .ini reader on any bytes: no fault, and what it accepts keeps its promises. Then a space's reader, which writes out the short forms first. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuner/base/alloc.h"
#include "tuner/space/ini/ini.h"
#include "tuner/space/spec/spec.h"

static void require(int holds)
{
    if (!holds) abort();
}

static void check_entry(const mt_ini_section *section, const mt_ini_entry *entry)
{
    size_t length = strlen(entry->value);
    require(entry->key[0] != '\0' && entry->line >= 1);
    require(length == 0 || (entry->value[0] != ' ' && entry->value[length - 1] != ' '));
    require(mt_ini_find(section, entry->key) == entry); /* no duplicates */
    char *text = mt_ini_unquote(entry->value);
    require(text && strlen(text) <= length);
    mt_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mt_ini ini;
    mt_error err = {0};
    if (mt_ini_parse("fuzz.ini", (const char *)data, size, &ini, &err) != MT_OK) {
        require(strchr(err.message, ':') && ini.sections == NULL); /* "@file" lines name other files */
        return 0;
    }
    for (size_t i = 0; i < ini.section_count; i++) {
        require(ini.sections[i].kind[0] != '\0');
        for (size_t j = 0; j < ini.sections[i].entry_count; j++) check_entry(&ini.sections[i], &ini.sections[i].entries[j]);
    }
    mt_ini_free(&ini);
    mt_spec *spec = NULL;
    require((mt_spec_parse("fuzz.ini", (const char *)data, size, &spec, &err) == MT_OK) == (spec != NULL));
    mt_spec_free(spec);
    return 0;
}
