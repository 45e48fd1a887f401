#include "db/row_rules.h"
#include "db/row_json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const expectations[] = {
#define KIND(name, expected) expected,
#define WORDS(name, words) words,
#include "db/row_rules.def"
};

enum { REQUIRED = true, NULLABLE = false };
const mt_row_column mt_row_rules[MT_ROW_COLUMN_COUNT] = {
#define COLUMN(table, column, kind, null) {#table, #column, MT_ROW_##kind, null},
#include "db/row_rules.def"
};

/* Lookups ask this some ten thousand times while they prepare: most names differ in the first letter. */
static bool is_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

const mt_row_column *mt_row_columns(const char *table, size_t *count)
{
    size_t first = 0, end;
    while (first < MT_ROW_COLUMN_COUNT && !is_same(mt_row_rules[first].table, table)) first++;
    for (end = first; end < MT_ROW_COLUMN_COUNT && is_same(mt_row_rules[end].table, table);) end++;
    *count = end - first;
    return &mt_row_rules[*count ? first : 0];
}

const mt_row_column *mt_row_column_find(const char *table, const char *name, size_t length)
{
    size_t count;
    const mt_row_column *columns = mt_row_columns(table, &count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(columns[i].name, name, length) == 0 && !columns[i].name[length]) return &columns[i];
    }
    return NULL;
}

/* ---- texts ---- */

static bool is_line(const mt_row_value *value)
{
    for (size_t i = 0; i < value->size; i++) {
        if ((unsigned char)value->text[i] < 0x20 || value->text[i] == 0x7f) return false;
    }
    return true;
}

static bool is_hash(const mt_row_value *value, size_t digits)
{
    for (size_t i = 0; i < value->size; i++) {
        if (!isxdigit((unsigned char)value->text[i])) return false;
    }
    return value->size == digits;
}

static bool is_one_of(const char *words, const mt_row_value *value)
{
    if (!value->size || memchr(value->text, '|', value->size)) return false;
    for (const char *at = words + 1; *at; at += strcspn(at, "|") + 1) {
        if (strcspn(at, "|") == value->size && memcmp(at, value->text, value->size) == 0) return true;
    }
    return false;
}

static bool is_plugin(const mt_row_value *value)
{
    for (size_t i = 0; i < value->size; i++) {
        if (!value->text[i] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", value->text[i])) return false;
    }
    return value->size > 0 && value->size < 32;
}

/* "28,28", "-1", "". */
static bool is_carveout_list(const mt_row_value *value)
{
    const char *at = value->text, *end = at + value->size;
    while (at < end) {
        int number = 0, digits = 0;
        if (*at == '-') {
            if (at + 1 == end || at[1] != '1') return false;
            at += 2;
        } else {
            for (; at < end && isdigit((unsigned char)*at) && digits < 4; at++, digits++) number = 10 * number + (*at - '0');
            if (!digits || number > 100) return false;
        }
        if (at == end) return true;
        if (*at++ != ',' || at == end) return false;
    }
    return true;
}

static size_t name_length(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    return isdigit((unsigned char)*from) ? 0 : (size_t)(at - from);
}

/* A number, or a list of them, is written in one way: "0007", "-0" would be another shape of the same values. Other words are free. */
static bool is_canonical(const char *at, const char *end)
{
    while (at < end) {
        const char *digits = at + (*at == '-'), *stop = digits;
        while (stop < end && isdigit((unsigned char)*stop)) stop++;
        bool is_number = stop > digits && (stop == end || *stop == ',');
        if (is_number && *digits == '0' && (stop > digits + 1 || digits > at)) return false;
        while (stop < end && *stop != ',') stop++;
        at = stop < end ? stop + 1 : end;
    }
    return true;
}

/* As mt_key_pairs of db/key.h writes them; "" = none. */
static bool are_pairs(const mt_row_value *value, bool may_be_empty)
{
    const char *at = value->text, *end = at + value->size, *last = NULL;
    size_t last_length = 0;
    while (at < end) {
        size_t length = name_length(at, end), common = length < last_length ? length : last_length;
        int order = last ? memcmp(last, at, common) : -1;
        if (!length || at + length == end || at[length] != '=' || order > 0 || (order == 0 && last_length >= length)) return false;
        last = at;
        last_length = length;
        const char *text = at + length + 1;
        at = memchr(text, ';', (size_t)(end - text));
        if (!may_be_empty && (text == (at ? at : end) || !is_canonical(text, at ? at : end))) return false;
        if (!at) return is_line(value);
        if (++at == end) return false;
    }
    return true;
}

/* ---- one value ---- */

static bool is_integer_in(const mt_row_value *value, int64_t least, int64_t most)
{
    return value->type == MT_ROW_VALUE_INTEGER && value->integer >= least && value->integer <= most;
}

/* JSON knows no difference between 5 and 5.0. */
static bool is_real_in(const mt_row_value *value, double least, double most)
{
    double real = value->type == MT_ROW_VALUE_INTEGER ? (double)value->integer : value->real;
    return (value->type == MT_ROW_VALUE_REAL || value->type == MT_ROW_VALUE_INTEGER) && real >= least && real <= most;
}

/* In bytes, as row_rules.def says it. */
static size_t longest_of(mt_row_kind kind)
{
    switch (kind) {
    case MT_ROW_JSON: return 16 << 20;
    case MT_ROW_NOTE:
    case MT_ROW_LAUNCH: return MT_ROW_NOTE_LIMIT;
    case MT_ROW_FACTS:
    case MT_ROW_NAME: return 4095;
    case MT_ROW_LABEL: return 1023;
    case MT_ROW_VALUES: return 8191;
    default: return 65535;
    }
}

static bool is_text(mt_row_kind kind, const mt_row_value *value)
{
    if (value->type != MT_ROW_VALUE_TEXT || value->size > longest_of(kind)) return false;
    switch (kind) {
    case MT_ROW_NAME: return value->size > 0 && is_line(value);
    case MT_ROW_LINE: return is_line(value);
    case MT_ROW_SHORT: return value->size < 64 && is_line(value);
    case MT_ROW_LABEL:
    case MT_ROW_NOTE: return true;
    case MT_ROW_VARIANT: return are_pairs(value, true);
    case MT_ROW_VALUES: return are_pairs(value, false);
    case MT_ROW_JSON: return mt_row_json_is_sound(value->text, value->size);
    case MT_ROW_FACTS: return mt_row_facts_are_sound(value->text, value->size);
    case MT_ROW_LAUNCH: return mt_row_launch_is_sound(value->text, value->size);
    case MT_ROW_HASH: return is_hash(value, 32);
    case MT_ROW_PLUGIN: return is_plugin(value);
    case MT_ROW_DIGEST: return is_hash(value, 8);
    case MT_ROW_BITS: return is_hash(value, 16);
    case MT_ROW_ROW_BITS: return value->size >= 2 * 16 && value->size <= 17 * 16 && value->size % 16 == 0 && is_hash(value, value->size);
    case MT_ROW_CARVEOUTS: return is_carveout_list(value);
    default: return is_one_of(expectations[kind], value);
    }
}

bool mt_row_value_is_sound(const mt_row_column *column, const mt_row_value *value)
{
    static const unsigned char zstd_frame[] = {0x28, 0xb5, 0x2f, 0xfd};
    const double finite = MT_ROW_FIGURE_LIMIT;
    if (value->type == MT_ROW_VALUE_NULL) return !column->is_required;
    switch (column->kind) {
    case MT_ROW_ID: return is_integer_in(value, 1, INT64_MAX);
    case MT_ROW_INTEGER: return value->type == MT_ROW_VALUE_INTEGER;
    case MT_ROW_COUNT: return is_integer_in(value, 0, INT64_MAX);
    case MT_ROW_COUNT32: return is_integer_in(value, 0, UINT32_MAX);
    case MT_ROW_VERSION: return is_integer_in(value, 0, 999999);
    case MT_ROW_PERCENT: return is_integer_in(value, -1, 100);
    case MT_ROW_FLAG: return is_integer_in(value, 0, 1);
    case MT_ROW_DATE: return is_integer_in(value, 0, MT_ROW_DATE_LIMIT - 1);
    case MT_ROW_TIME: return is_real_in(value, MT_ROW_TIME_LEAST, MT_ROW_TIME_LIMIT);
    case MT_ROW_SPAN: return is_real_in(value, 0, MT_ROW_TIME_LIMIT);
    case MT_ROW_RATIO: return is_real_in(value, MT_ROW_RATIO_LEAST, MT_ROW_RATIO_LIMIT);
    case MT_ROW_SHARE: return is_real_in(value, 0, 1);
    case MT_ROW_FIGURE: return is_real_in(value, 0, finite);
    case MT_ROW_NUMBER: return is_real_in(value, -finite, finite);
    case MT_ROW_ERROR: return is_real_in(value, 0, HUGE_VAL);
    case MT_ROW_REAL: return is_real_in(value, -HUGE_VAL, HUGE_VAL);
    case MT_ROW_SAMPLES: return value->type == MT_ROW_VALUE_BLOB && value->size > sizeof zstd_frame && memcmp(value->text, zstd_frame, sizeof zstd_frame) == 0;
    case MT_ROW_BYTES: return value->type == MT_ROW_VALUE_BLOB;
    default: return is_text(column->kind, value);
    }
}

/* ---- what is wrong ---- */

static void add_text(const mt_row_value *value, char *out, size_t size)
{
    enum { SHOWN = 40 };
    char shown[SHOWN + 1];
    size_t length = value->size < SHOWN ? value->size : SHOWN;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value->text[i];
        shown[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    shown[length] = '\0';
    snprintf(out, size, "\"%s%s\"", shown, value->size > SHOWN ? "…" : "");
}

static void add_words(const char *words, char *out, size_t size)
{
    size_t used = 0;
    for (const char *at = words + 1; *at && used + 40 < size; at += strcspn(at, "|") + 1) {
        int length = (int)strcspn(at, "|");
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "one of ", length, at);
    }
}

void mt_row_value_explain(const mt_row_column *column, const mt_row_value *value, char *why, size_t size)
{
    char is[64] = "NULL", words[300];
    const char *expected = expectations[column->kind];
    if (value->type == MT_ROW_VALUE_INTEGER) snprintf(is, sizeof is, "%lld", (long long)value->integer);
    if (value->type == MT_ROW_VALUE_REAL) snprintf(is, sizeof is, "%.9g", value->real);
    if (value->type == MT_ROW_VALUE_TEXT) add_text(value, is, sizeof is);
    if (value->type == MT_ROW_VALUE_BLOB) snprintf(is, sizeof is, "a blob");
    if (*expected == '|') {
        add_words(expected, words, sizeof words);
        expected = words;
    }
    snprintf(why, size, "%s is %s; expected %s", column->name, is, expected);
}

/* ---- a row ---- */

bool mt_row_interval_is_sound(double median, double low, double high)
{
    const double slack = 1.000001, least = 1e-3;
    return low <= high && low <= median * slack + least && median <= high * slack + least;
}

bool mt_row_times_are_sound(const float *ns, size_t count)
{
    bool are_sound = true;
    for (size_t i = 0; i < count; i++) are_sound &= ns[i] >= 0 && ns[i] <= (float)MT_ROW_TIME_LIMIT; /* a NaN is neither; the float next to the limit is above it */
    return are_sound;
}

/* A column with its value; NULL where the table has none. */
typedef struct cell {
    const mt_row_column *column;
    const mt_row_value *value;
} cell;

/* What was found, and the interval around it. */
typedef struct interval { cell middle, low, high; } interval;

/* Of a row, the values that must agree with each other. Lookups look at tens of thousands of rows, so that they are found in the one pass over its columns. */
typedef struct pairs {
    const mt_row_value *outcome, *error;
    interval time, ratio;
} pairs;

static void note_ratio(const char *name, cell is, interval *ratio)
{
    if (is_same(name, "ratio")) ratio->middle = is;
    if (is_same(name, "ratio_low")) ratio->low = is;
    if (is_same(name, "ratio_high")) ratio->high = is;
}

static void note(const mt_row_column *column, const mt_row_value *value, pairs *p)
{
    static const char best[] = "best_";
    const cell is = {column, value};
    switch (column->kind) {
    case MT_ROW_OUTCOME: p->outcome = value; break;
    case MT_ROW_TIME: if (is_same(column->name, "median_ns")) p->time.middle = is; break;
    case MT_ROW_SPAN:
        if (is_same(column->name, "low_ns")) p->time.low = is;
        if (is_same(column->name, "high_ns")) p->time.high = is;
        break;
    case MT_ROW_ERROR: if (is_same(column->name, "norm_error")) p->error = value; break;
    case MT_ROW_RATIO:
    case MT_ROW_FIGURE: note_ratio(column->name + (strncmp(column->name, best, strlen(best)) == 0 ? strlen(best) : 0), is, &p->ratio); break;
    default: break;
    }
}

static double real_of(const mt_row_value *value, double fallback)
{
    return !value || value->type == MT_ROW_VALUE_NULL ? fallback : value->type == MT_ROW_VALUE_INTEGER ? (double)value->integer : value->real;
}

/* A missing end is where it does no harm. */
static bool is_interval_sound(const interval *i, const char *what, char *why, size_t size)
{
    double middle = real_of(i->middle.value, NAN), low = real_of(i->low.value, NAN), high = real_of(i->high.value, NAN);
    if (isnan(low)) low = high < middle ? high : middle;
    if (isnan(high)) high = low > middle ? low : middle;
    if (isnan(middle) || mt_row_interval_is_sound(middle, low, high)) return true;
    snprintf(why, size, "%s is %.9g; expected a %s between %s (%.9g) and %s (%.9g)", i->middle.column->name, middle, what, i->low.column->name, low, i->high.column->name, high);
    return false;
}

/* A time where the outcome has one. */
static bool is_timed(const pairs *p, char *why, size_t size)
{
    if (!p->outcome || !isnan(real_of(p->time.middle.value, NAN)) || !is_one_of("|ok|censored|yardstick|", p->outcome)) return true;
    snprintf(why, size, "median_ns is NULL; expected a time, since the outcome is %.*s", (int)p->outcome->size, p->outcome->text);
    return false;
}

/* What was validated has an error that is a number; of a wrong result it may be anything. */
static bool is_error_sound(const pairs *p, char *why, size_t size)
{
    double error = real_of(p->error, 0);
    if (!p->outcome || isfinite(error) || !is_one_of("|ok|", p->outcome)) return true;
    snprintf(why, size, "norm_error is %g; expected a finite number, since the outcome is ok", error);
    return false;
}

bool mt_row_columns_are_sound(const mt_row_column *columns, size_t count, const mt_row_value *values, char *why, size_t size)
{
    pairs p = {0};
    for (size_t i = 0; i < count; i++) {
        note(&columns[i], &values[i], &p);
        if (mt_row_value_is_sound(&columns[i], &values[i])) continue;
        mt_row_value_explain(&columns[i], &values[i], why, size);
        return false;
    }
    return is_error_sound(&p, why, size) && is_timed(&p, why, size) && is_interval_sound(&p.time, "time", why, size) && is_interval_sound(&p.ratio, "ratio", why, size);
}

bool mt_row_is_sound(const char *table, const mt_row_value *values, char *why, size_t size)
{
    size_t count;
    const mt_row_column *columns = mt_row_columns(table, &count);
    return mt_row_columns_are_sound(columns, count, values, why, size);
}
