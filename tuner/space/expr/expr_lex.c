#include "tuner/space/expr/expr_lex.h"

#include <stdbool.h>
#include <string.h>

#include "tuner/base/text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || mt_text_is_identifier(&c, 1);
}

static void fail_token(mt_token *token, size_t length, const char *problem)
{
    token->kind = MT_TOKEN_BAD;
    token->length = length;
    token->problem = problem;
}

/* The bytes from '1' on that belong together for a reader, so that 1.5, 8u and 0x1g are refused whole. */
static size_t number_length(const char *text)
{
    size_t length = 0;
    while (is_word(text[length]) || (text[length] == '.' && is_digit(text[length + 1]))) length++;
    return length;
}

static int digit_value(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

static void read_number(mt_token *token)
{
    const char *text = token->text;
    size_t length = number_length(text), at = 0;
    bool is_hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    int base = is_hex ? 16 : 10;
    if (is_hex) at = 2;
    bool overflow = false;
    for (uint64_t number = 0; at < length; at++, token->number = number) {
        int digit = digit_value(text[at]);
        if (digit >= base) {
            fail_token(token, length, memchr(text, '.', length) ? "only integers can be used here" : "not a number, expected decimal or 0x… digits");
            return;
        }
        overflow = overflow || __builtin_mul_overflow(number, (uint64_t)base, &number) || __builtin_add_overflow(number, (uint64_t)digit, &number);
    }
    if (overflow || token->number > (uint64_t)INT64_MAX + 1) fail_token(token, length, "does not fit into 64 bits");
    else if (!is_hex && length > 1 && text[0] == '0') fail_token(token, length, "has a leading zero (octal numbers are not supported)");
    else {
        token->kind = MT_TOKEN_NUMBER;
        token->length = length;
    }
}

static void read_string(mt_token *token)
{
    const char *start = token->text + 1, *end = start;
    while (*end != '"' && *end != '\0') {
        if (*end < ' ' || *end > '~') {
            fail_token(token, 1, "opens a string with characters other than printable ASCII");
            return;
        }
        end++;
    }
    if (*end == '\0') {
        fail_token(token, 1, "opens a string that is not closed");
        return;
    }
    token->kind = MT_TOKEN_STRING;
    token->text = start;
    token->length = (size_t)(end - start);
}

static void read_name(mt_token *token)
{
    size_t length = 0;
    const char *text = token->text;
    while (is_word(text[length]) || (text[length] == '.' && mt_text_is_identifier(text + length + 1, 1))) length++;
    token->kind = MT_TOKEN_NAME;
    token->length = length;
}

/* Operators of C that the language leaves out get a word of advice. */
static void read_symbol(mt_token *token)
{
    static const char *const symbols[] = {"<=", ">=", "==", "!=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "?", ":"};
    static const struct {
        const char *text, *problem;
    } refused[] = {
        {"<<", "is not supported, multiply by a power of two"}, {">>", "is not supported, use division"}, {"**", "is not supported, multiply"},
        {"//", "is not supported, use floor_div(a, b)"}, {"&", "is not supported, use && for conditions"},
        {"|", "is not supported, use || for conditions"}, {"=", "is not supported, use == to compare"}, {"^", "is not supported"}, {"~", "is not supported"},
    };
    const char *text = token->text;
    enum { TWO_LONG = 4 };
    for (size_t i = 0; i < TWO_LONG; i++) { /* << and >> before < and > */
        if (strncmp(text, refused[i].text, 2) == 0) {
            fail_token(token, 2, refused[i].problem);
            return;
        }
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t length = strlen(symbols[i]);
        if (strncmp(text, symbols[i], length) != 0) continue;
        token->kind = MT_TOKEN_SYMBOL;
        token->length = length;
        return;
    }
    for (size_t i = TWO_LONG; i < sizeof refused / sizeof refused[0]; i++) {
        if (*text != refused[i].text[0]) continue;
        fail_token(token, 1, refused[i].problem);
        return;
    }
    size_t length = mt_text_utf8(text, strlen(text));
    fail_token(token, length ? length : 1, "is not part of the expression language");
}

mt_token mt_token_next(const char *source, size_t *at)
{
    while (source[*at] == ' ' || source[*at] == '\t' || source[*at] == '\n' || source[*at] == '\r') (*at)++;
    mt_token token = {.kind = MT_TOKEN_END, .text = source + *at, .column = (int)*at + 1};
    char c = source[*at];
    if (c == '\0') return token;
    const bool is_braced = c == '$' && source[*at + 1] == '{' && is_word(source[*at + 2]) && !is_digit(source[*at + 2]);
    if (is_braced) token.text += 2; /* ${NAME}, as texts write it, is NAME */
    if (is_braced) read_name(&token);
    else if (is_digit(c)) read_number(&token);
    else if (c == '"') read_string(&token);
    else if (is_word(c)) read_name(&token);
    else read_symbol(&token);
    if (is_braced && token.text[token.length] != '}') {
        token.text -= 2;
        fail_token(&token, token.length + 2, "has no closing brace");
        return token;
    }
    *at = (size_t)(token.text - source) + token.length + (token.kind == MT_TOKEN_STRING || is_braced);
    return token;
}
