#include "tuner/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int digit_value(char c)
{
    if (is_digit(c)) return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool mt_text_int64(const char *text, size_t length, int64_t *value)
{
    size_t at = 0;
    bool negative = length && text[0] == '-';
    if (length && (text[0] == '-' || text[0] == '+')) at++;
    int base = 10;
    if (length - at > 2 && text[at] == '0' && lower(text[at + 1]) == 'x') {
        base = 16;
        at += 2;
    }
    if (at == length) return false;
    int64_t result = 0; /* built on the negative side, where the range is one larger */
    for (; at < length; at++) {
        int digit = digit_value(text[at]);
        if (digit >= base) return false;
        if (__builtin_mul_overflow(result, base, &result) || __builtin_sub_overflow(result, digit, &result)) return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, result, &result)) return false;
    *value = result;
    return true;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit on at least one side of the point. */
static bool is_decimal_number(const char *text)
{
    if (*text == '+' || *text == '-') text++;
    size_t digits = 0;
    for (; is_digit(*text); text++) digits++;
    if (*text == '.')
        for (text++; is_digit(*text); text++) digits++;
    if (!digits) return false;
    if (lower(*text) == 'e') {
        text++;
        if (*text == '+' || *text == '-') text++;
        if (!is_digit(*text)) return false;
        while (is_digit(*text)) text++;
    }
    return *text == '\0';
}

bool mt_text_double(const char *text, double *value)
{
    if (!is_decimal_number(text)) return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    double result = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    if (!isfinite(result)) return false;
    *value = result;
    return true;
}

bool mt_text_bool(const char *text, bool *value)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"yes", true}, {"no", false}, {"true", true}, {"false", false}, {"on", true}, {"off", false}, {"1", true}, {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

bool mt_text_is_identifier(const char *text, size_t length)
{
    if (length == 0 || !is_letter(text[0])) return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(text[i]) && !is_digit(text[i])) return false;
    return true;
}

static bool is_word_part(char c)
{
    return is_letter(c) || is_digit(c);
}

bool mt_text_has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !is_word_part(at[-1])) && !is_word_part(at[length])) return true;
    return false;
}

size_t mt_text_utf8(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (length == 0) return 0;
    if (s[0] < 0x80) return 1;
    size_t size = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
    bool beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : size;
}

uint32_t mt_text_code_point(const char *text, size_t length)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; i++) code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

/* Unicode's Bidi_Control: they make a line read otherwise than it is. */
static bool turns_direction(uint32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool mt_text_is_shown(const char *text, size_t left, size_t *length)
{
    size_t size = mt_text_utf8(text, left);
    *length = size ? size : 1;
    if (!size) return false;
    uint32_t code = mt_text_code_point(text, size);
    return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && !turns_direction(code);
}

static void defuse(char *text, size_t length, const char *kept)
{
    for (size_t at = 0, size; at < length; at += size)
        if (!mt_text_is_shown(text + at, length - at, &size) && !(text[at] && strchr(kept, text[at]))) memset(text + at, '?', size);
}

void mt_text_defuse(char *text, size_t length)
{
    defuse(text, length, "\n\t");
}

void mt_text_one_line(char *text, size_t length)
{
    defuse(text, length, "");
}

enum { WORD_LIMIT = 64 }; /* longer words get no suggestion */

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The same for characters that are taken for each other: O and 0, l and 1, either case. */
static char alike(char c)
{
    c = lower(c);
    return c == 'o' ? '0' : c == 'l' ? '1' : c;
}

/* Edit distance where swapping neighbours is one step, and case and the letters that look like digits are free: those are the usual slips. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++) last[j] = j;
    memcpy(before, last, (b_length + 1) * sizeof *before);
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = alike(a[i - 1]) == alike(b[j - 1]);
            row[j] = min2(min2(last[j] + 1, row[j - 1] + 1), last[j - 1] + !same);
            if (i > 1 && j > 1 && alike(a[i - 1]) == alike(b[j - 2]) && alike(a[i - 2]) == alike(b[j - 1])) row[j] = min2(row[j], before[j - 2] + 1);
        }
        size_t *reused = before;
        before = last;
        last = row;
        row = reused;
    }
    return last[b_length];
}

static size_t span(const char *text, const char *end, bool (*is)(char))
{
    size_t length = 0;
    while (text + length < end && is(text[length])) length++;
    return length;
}

static bool is_zero(char c) { return c == '0'; }

int mt_text_natural(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const char *x = a, *y = b, *x_end = a + a_length, *y_end = b + b_length;
    while (x < x_end && y < y_end) {
        size_t m = span(x, x_end, is_digit), n = span(y, y_end, is_digit);
        if (!m || !n) {
            if (*x != *y) return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++, y++;
            continue;
        }
        size_t x_zeros = span(x, x_end, is_zero), y_zeros = span(y, y_end, is_zero);
        if (m - x_zeros != n - y_zeros) return m - x_zeros < n - y_zeros ? -1 : 1;
        int order = memcmp(x + x_zeros, y + y_zeros, m - x_zeros);
        if (order) return order;
        x += m, y += n;
    }
    if (x < x_end || y < y_end) return x < x_end ? 1 : -1;
    return a_length != b_length ? (a_length > b_length ? 1 : -1) : memcmp(a, b, a_length); /* "01" and "1" are two texts */
}

int mt_text_decimals(double us)
{
    return us < 10 ? 3 : us < 1000 ? 2 : us < 10000 ? 1 : 0;
}

const char *mt_text_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (length > WORD_LIMIT) return NULL;
    size_t limit = length / 3 ? length / 3 : 1;
    if (length == 1) limit = 0; /* one letter for another is no likeness */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > WORD_LIMIT) continue;
        size_t distance = edit_distance(word, length, candidates[i], candidate_length);
        if (distance > limit || (nearest && distance == limit)) continue;
        nearest = candidates[i];
        limit = distance;
    }
    return nearest;
}

int mt_text_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *mt_text_literal_end(const char *at)
{
    const char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at == quote ? at + 1 : at;
}
