#include "tuner/cli/output/print_knobs.h"

#include <string.h>

#include "db/key.h"
#include "tuner/cli/output/print.h"

/* The knobs that are told, or the others. Returns how many there were. */
static size_t add_some(mt_strbuf *out, const char *variant, const char *usual, bool told)
{
    size_t count = 0, begin = out->length;
    for (const char *at = variant; at && *at;) {
        size_t length = strcspn(at, ";");
        if (mt_key_is_told(at, length, usual) == told) {
            if (out->length > begin) mt_strbuf_add_char(out, ' ');
            mt_print_knob(out, at, length);
            count++;
        }
        at += length + (at[length] == ';');
    }
    return count;
}

static size_t count_items(const char *variant)
{
    size_t count = variant && *variant;
    for (; variant && *variant; variant++) count += *variant == ';';
    return count;
}

size_t mt_knobs_add_unusual(mt_strbuf *out, const char *variant, const char *usual)
{
    return count_items(variant) - add_some(out, variant, usual, true);
}

size_t mt_knobs_add_told(mt_strbuf *out, const char *variant, const char *usual)
{
    if (!mt_key_is_default(variant, usual)) return mt_knobs_add_unusual(out, variant, usual);
    mt_strbuf_add(out, "the default");
    return count_items(variant);
}

void mt_knobs_add_all(mt_strbuf *out, const char *variant, const char *usual)
{
    size_t told = add_some(out, variant, usual, true);
    if (told && told < count_items(variant)) mt_strbuf_add_char(out, ' ');
    add_some(out, variant, usual, false);
}

void mt_knobs_print_left_out(FILE *out)
{
    fprintf(out, "\nKnobs as in the default are left out (never ALGO); --verbose lists all.\n");
}
