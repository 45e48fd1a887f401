/* Canonical keys. Part of libtunelookup: libc only, no allocation, no state.
 *
 * A driver's device name is read as words. What says nothing about the model (brands, fillers) or is kept elsewhere in the key
 * (memory size) is dropped; what tells boards of one chip apart (form factor, laptop, edition) stays. Words that are not known stay
 * too: a new board then gets a key of its own, which costs a row and is never wrong. tests/unit/test_key.c holds the real names. */
#include "db/key.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_LIMIT = 16, WORD_SIZE = 32 };

typedef struct model_name {
    char words[WORD_LIMIT][WORD_SIZE]; /* lower case */
    size_t count;
    char mig[WORD_SIZE]; /* profile such as "1g.10gb"; "" for a whole GPU */
    bool is_max_q;       /* the same board at lower clocks */
} model_name;

/* ---- words ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* '.' and '+' occur in MIG profiles (1g.10gb+me). Everything else separates, also '|' and what is not ASCII: keys stay clean. */
static bool is_word_char(char c)
{
    c = lower(c);
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '+';
}

static const char *skip_separators(const char *at)
{
    while (*at && !is_word_char(*at)) {
        const char *close = *at == '(' ? strchr(at, ')') : NULL; /* "Orin (nvgpu)" */
        at = close ? close + 1 : at + 1;
    }
    return at;
}

/* Copies the next word; NULL at the end of the text. */
static const char *next_word(const char *at, char word[WORD_SIZE])
{
    size_t length = 0;
    at = skip_separators(at);
    if (!*at) return NULL;
    for (; is_word_char(*at); at++)
        if (length + 1 < WORD_SIZE) word[length++] = lower(*at);
    word[length] = '\0';
    return at;
}

static bool has_word(const model_name *m, const char *word)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->words[i], word) == 0) return true;
    return false;
}

static void remove_word(model_name *m, size_t index)
{
    m->count--;
    memmove(m->words[index], m->words[index + 1], (m->count - index) * sizeof m->words[0]);
}

/* ---- rules ---- */

static bool is_filler(const char *word)
{
    static const char *const fillers[] = {"nvidia", "corporation", "geforce", "tesla", "gpu", "with", "design", "generation", "edition"};
    for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++)
        if (strcmp(word, fillers[i]) == 0) return true;
    return false;
}

/* 80gb, 144g, hbm3e, gddr6: the key has the memory size in a place of its own. */
static bool is_memory(const char *word)
{
    if (strncmp(word, "hbm", 3) == 0 || strncmp(word, "gddr", 4) == 0) return true;
    size_t digits = strspn(word, "0123456789");
    return digits && (strcmp(word + digits, "gb") == 0 || strcmp(word + digits, "g") == 0);
}

/* Names that leave out the form factor. `needs`: a word that must be there, or NULL. Used only when none of pcie, nvl, sxm is. */
typedef struct implied_form {
    const char *model, *needs, *form;
} implied_form;

static const implied_form implied_forms[] = {
    {"h100", "hbm3", "sxm"},     /* "NVIDIA H100 80GB HBM3"; the others say "PCIe" or "NVL" */
    {"h100", "hbm2e", "hbm2e"},  /* early boards: which form they have can't be told from the name */
    {"h100", "hbm2", "hbm2"},
    {"h800", NULL, "sxm"},       /* "NVIDIA H800" beside "NVIDIA H800 PCIe" */
};

static const char *find_implied_form(const model_name *m)
{
    if (has_word(m, "pcie") || has_word(m, "nvl") || has_word(m, "sxm")) return NULL;
    for (size_t i = 0; i < sizeof implied_forms / sizeof implied_forms[0]; i++) {
        const implied_form *rule = &implied_forms[i];
        if (has_word(m, rule->model) && (!rule->needs || has_word(m, rule->needs)) && m->count < WORD_LIMIT) return rule->form;
    }
    return NULL;
}

/* sxm2 … sxm6 → sxm: a model comes in one of them. Except the V100 of the DGX-2, whose SXM3 boards clock higher than SXM2. */
static void unify_form(model_name *m)
{
    bool is_v100 = has_word(m, "v100");
    for (size_t i = 0; i < m->count; i++) {
        char *word = m->words[i];
        bool is_sxm = strncmp(word, "sxm", 3) == 0 && is_digit(word[3]) && word[4] == '\0';
        if (is_sxm && !(is_v100 && word[3] == '3')) word[3] = '\0';
    }
}

static void take_max_q(model_name *m)
{
    for (size_t i = 0; i + 1 < m->count; i++) {
        if (strcmp(m->words[i], "max") != 0 || strcmp(m->words[i + 1], "q") != 0) continue;
        remove_word(m, i);
        remove_word(m, i);
        m->is_max_q = true;
        return;
    }
}

static void read_words(const char *driver_name, model_name *m)
{
    char word[WORD_SIZE];
    *m = (model_name){0};
    for (const char *at = driver_name; (at = next_word(at, word)) != NULL;) {
        if (strcmp(word, "mig") == 0) {
            if (!next_word(at, m->mig)) strcpy(m->mig, "unknown");
            break;
        }
        if (m->count < WORD_LIMIT && !is_filler(word)) strcpy(m->words[m->count++], word);
    }
}

static void parse_model(const char *driver_name, model_name *m)
{
    read_words(driver_name, m);
    take_max_q(m);
    unify_form(m);
    const char *form = find_implied_form(m); /* reads memory words, so before they go */
    bool is_rtx_pro = has_word(m, "rtx") && has_word(m, "pro");
    for (size_t i = m->count; i-- > 0;)
        if (is_memory(m->words[i]) || (is_rtx_pro && strcmp(m->words[i], "blackwell") == 0)) remove_word(m, i);
    if (form) strcpy(m->words[m->count++], form);
}

/* ---- text ---- */

/* Appends at *used as far as it fits, counting what does not. */
static void append(char *out, size_t size, size_t *used, const char *text)
{
    for (; *text; text++, (*used)++)
        if (*used + 1 < size) out[*used] = *text;
    if (size) out[*used < size ? *used : size - 1] = '\0';
}

static void write_model(const model_name *m, char *out, size_t size)
{
    size_t used = 0;
    append(out, size, &used, m->count ? m->words[0] : "unknown");
    for (size_t i = 1; i < m->count; i++) {
        append(out, size, &used, "-");
        append(out, size, &used, m->words[i]);
    }
    if (m->mig[0]) {
        append(out, size, &used, "-mig-");
        append(out, size, &used, m->mig);
    }
}

char *mt_key_model(const char *driver_name, char *out, size_t size)
{
    model_name m;
    parse_model(driver_name, &m);
    write_model(&m, out, size);
    return out;
}

/* The smallest marketed size that holds the bytes. Rounding up, because what is missing was taken away (driver reserve, inline ECC,
 * 10⁹-byte "GB"): 22.0–24 → 24, 44.5–48 → 48, 79.1–80 → 80, 139.8 → 141, 178.4 → 180. */
static long marketed_gib(int64_t bytes)
{
    static const short sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 94, 96, 128, 141, 144, 180, 192, 288};
    const int64_t gib = (int64_t)1 << 30;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (bytes <= sizes[i] * gib) return sizes[i];
    int64_t whole = bytes / gib + (bytes % gib != 0);
    return (long)((whole + 31) / 32 * 32);
}

/* A MIG slice's size is in its profile (3g.40gb); slices come in sizes that no board has. 0 when the profile does not say. */
static long slice_gib(const char *profile)
{
    const char *dot = strrchr(profile, '.');
    if (!dot) return 0;
    long size = 0;
    for (dot++; is_digit(*dot) && size < 10000; dot++) size = size * 10 + (*dot - '0');
    return strncmp(dot, "gb", 2) == 0 ? size : 0;
}

/* clock_mhz is not part of the key: boards of one name report one maximum, and where clocks differ the name says so (Max-Q). */
char *mt_key_gpu(const char *driver_name, int64_t cc, int64_t sm_count, int64_t mem_bytes, int64_t clock_mhz, char *out, size_t size)
{
    (void)clock_mhz;
    model_name m;
    char model[MT_KEY_MODEL_SIZE];
    parse_model(driver_name, &m);
    write_model(&m, model, sizeof model);
    long gib = slice_gib(m.mig);
    if (!gib) gib = marketed_gib(mem_bytes);
    if (cc) snprintf(out, size, "%s|cc%lld|sm%lld|%ldg%s", model, (long long)cc, (long long)sm_count, gib, m.is_max_q ? "|max-q" : "");
    else snprintf(out, size, "%s", model);
    return out;
}

/* ---- pairs ---- */

/* The pair that follows pair `last` (an index, or `count` before the first) in the order of names, equal names in given order. Searching
 * again for each costs count², which needs no memory and is nothing for the dozens of pairs there are. */
static size_t next_pair(const char *const *names, size_t count, size_t last)
{
    size_t next = count;
    for (size_t i = 0; i < count; i++) {
        if (last < count) {
            int order = strcmp(names[i], names[last]);
            if (order < 0 || (order == 0 && i <= last)) continue;
        }
        if (next == count || strcmp(names[i], names[next]) < 0) next = i;
    }
    return next;
}

size_t mt_key_pairs(const char *const *names, const char *const *values, size_t count, char *out, size_t size)
{
    size_t used = 0;
    append(out, size, &used, "");
    for (size_t i = next_pair(names, count, count); i < count; i = next_pair(names, count, i)) {
        if (used) append(out, size, &used, ";");
        append(out, size, &used, names[i]);
        append(out, size, &used, "=");
        append(out, size, &used, values[i]);
    }
    return used;
}

bool mt_key_has_names(const char *pairs, const char *names)
{
    while (*pairs && *names) {
        size_t length = strcspn(names, ",");
        if (strncmp(pairs, names, length) != 0 || pairs[length] != '=') return false;
        names += length + (names[length] == ',');
        pairs += strcspn(pairs, ";");
        pairs += *pairs == ';';
    }
    return !*pairs && !*names;
}

static bool has_pair(const char *pairs, const char *pair, size_t length)
{
    for (const char *at = pairs; at && *at; at += strcspn(at, ";"), at += *at == ';')
        if (strcspn(at, ";") == length && memcmp(at, pair, length) == 0) return true;
    return false;
}

bool mt_key_is_told(const char *pair, size_t length, const char *defaults)
{
    return strncmp(pair, "ALGO=", 5) == 0 || !has_pair(defaults, pair, length);
}

bool mt_key_is_default(const char *variant, const char *defaults)
{
    for (const char *at = variant; *at; at += strcspn(at, ";"), at += *at == ';')
        if (!has_pair(defaults, at, strcspn(at, ";"))) return false;
    return *variant;
}

const char *mt_key_int(const char *text, int64_t *value)
{
    bool is_negative = *text == '-';
    int64_t result = 0; /* built on the negative side, where the range is one larger */
    if (is_negative) text++;
    if (!is_digit(*text)) return NULL;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(result, 10, &result) || __builtin_sub_overflow(result, *text - '0', &result)) return NULL;
    if (!is_negative && __builtin_sub_overflow((int64_t)0, result, &result)) return NULL;
    *value = result;
    return text;
}
