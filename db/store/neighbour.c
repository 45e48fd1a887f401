#include "db/store/neighbour.h"

#include <string.h>

bool mt_knob_text_next(const char **at, mt_knob_text *out)
{
    if (!**at) return false;
    size_t length = strcspn(*at, ";");
    const char *equals = memchr(*at, '=', length), *end = *at + length;
    if (!equals) equals = end;
    *out = (mt_knob_text){.name = *at, .name_length = (size_t)(equals - *at), .value = equals < end ? equals + 1 : end};
    out->value_length = (size_t)(end - out->value);
    *at = *end ? end + 1 : end;
    return true;
}

static bool is_same(const char *a, size_t a_length, const char *b, size_t b_length) { return a_length == b_length && memcmp(a, b, a_length) == 0; }

static bool find_knob(const char *variant, const mt_knob_text *like, mt_knob_text *out)
{
    while (mt_knob_text_next(&variant, out))
        if (is_same(out->name, out->name_length, like->name, like->name_length)) return true;
    return false;
}

bool mt_is_neighbour(const char *base, const char *other, mt_knob_text *from, mt_knob_text *to)
{
    mt_knob_text ours, theirs;
    size_t differences = 0;
    while (differences < 2 && mt_knob_text_next(&base, &ours)) {
        if (!find_knob(other, &ours, &theirs) || is_same(ours.value, ours.value_length, theirs.value, theirs.value_length)) continue;
        differences++;
        *from = ours;
        *to = theirs;
    }
    return differences == 1;
}
