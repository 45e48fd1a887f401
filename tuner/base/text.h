/* Small helpers on text: numbers, trimming, similarity. Locale-independent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of [text, text+length) is one decimal (or 0x…) int64; false on overflow, junk or emptiness. */
bool mt_text_int64(const char *text, size_t length, int64_t *value);
/* The whole text is one finite decimal number with '.' as the decimal point in every locale. */
bool mt_text_double(const char *text, double *value);
bool mt_text_bool(const char *text, bool *value); /* yes/no, true/false, on/off, 1/0 */
int mt_text_order(const void *a, const void *b); /* of an array of texts, for qsort and bsearch: by their bytes */
bool mt_text_is_identifier(const char *text, size_t length); /* [A-Za-z_][A-Za-z0-9_]* */
bool mt_text_has_word(const char *text, const char *word);   /* the identifier stands in the text, not as a part of a longer one */
/* Bytes of the UTF-8 character at text[0..length), 1–4; 0 when it is not valid UTF-8 or length is 0. */
size_t mt_text_utf8(const char *text, size_t length);
/* The code point of a valid character of `length` bytes. */
uint32_t mt_text_code_point(const char *text, size_t length);
/* Whether the character at text[0..left), left ≥ 1, may be shown to a person as it is: valid UTF-8, no control character (C0, DEL, C1) and none that turns the
 * direction of writing. *length: its bytes, 1 for a byte that is no UTF-8. Line breaks and tabs are control characters. */
bool mt_text_is_shown(const char *text, size_t left, size_t *length);
/* Puts '?' in the place of every byte of text[0..length) that may not be shown, line breaks and tabs excepted: text of files, drivers and other programs must not steer a terminal. */
void mt_text_defuse(char *text, size_t length);
/* The same for text that is one line: line breaks and tabs too. */
void mt_text_one_line(char *text, size_t length);
/* The order of two texts in which the numbers in them, as long as they may be, count as numbers: "a2" before "a10". 0 = the same text. */
int mt_text_natural(const char *a, size_t a_length, const char *b, size_t b_length);
/* How many decimals people are shown of a time in microseconds (or of another quantity in a unit that fits it): a short one keeps its interval, a long one has none that mean nothing. */
int mt_text_decimals(double us);
/* The candidate nearest to `word` (edit distance ≤ 1/3 of its length, at least 1), or NULL. candidates[count]. */
const char *mt_text_nearest(const char *word, const char *const *candidates, size_t count);
/* Behind a string or character literal of C that starts at `at`; an unclosed one ends with its line. */
const char *mt_text_literal_end(const char *at);
