/* What of a stranger's text may be shown to a person: nothing that steers a terminal or makes a line read otherwise than it is. And hashes as text. */
#include "db/lookup/lookup.h"

/* The code point of the UTF-8 character that starts at `text`, and its bytes; 0 when there is none. */
static uint32_t decode(const unsigned char *text, unsigned *length)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned size = text[0] < 0x80 ? 1 : text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf8 ? 4 : 0;
    uint32_t code = size > 1 ? text[0] & (0x7fu >> size) : text[0];
    for (unsigned i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    *length = size;
    return size && code >= least[size] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? code : 0;
}

/* C0, DEL, C1, and Unicode's Bidi_Control. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool mt_lookup_is_shown(const char *text, const char *at)
{
    const char *first = at;
    unsigned length = 0;
    while (first > text && at - first < 3 && ((unsigned char)*first & 0xc0) == 0x80) first--;
    uint32_t code = decode((const unsigned char *)first, &length);
    return at - first < (ptrdiff_t)length && !is_control(code);
}

void mt_lookup_hex(const unsigned char digest[16], char hex[MT_LOOKUP_KEY_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[32] = '\0';
}
