/* [algorithm], [param], [let] and [constraint]: the knobs and what they must keep. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { VALUE_LIMIT = 4096 }; /* of one knob; a range a..b with a slip must not eat the memory */

#define TARGET(type) ((type *)(void *)((char *)object + rule->offset))

/* ---- [algorithm] ---- */

mt_status mt_parse_bake(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_algorithm *algorithm = object;
    algorithm->bake_all = strcmp(value, "all") == 0;
    if (algorithm->bake_all || strcmp(value, "none") == 0) return MT_OK;
    mt_status st = mt_split(value, &algorithm->bake, &algorithm->bake_count, err);
    const mt_shape *shape = &reader->spec->shapes[0];
    for (size_t i = 0; st == MT_OK && i < algorithm->bake_count; i++) {
        const char *known[64] = { "all", "none" };
        char hint[512];
        size_t count = 2;
        if (mt_settings_find(shape->settings, shape->setting_count, algorithm->bake[i])) continue;
        for (size_t k = 0; k < shape->setting_count && count < 64; k++) known[count++] = shape->settings[k].name;
        st = mt_reader_fail(reader, err, entry->line, "bake: `%s` is no shape value%s", algorithm->bake[i],
                            mt_reader_suggest(algorithm->bake[i], known, count, hint, sizeof hint));
    }
    return st;
}

mt_status mt_parse_requires(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                            mt_error *err)
{
    mt_algorithm *algorithm = object;
    algorithm->has_requires = true;
    return mt_parse_bool_expr(reader, rule, entry, value, object, err);
}

static mt_status read_algorithms(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_ALGORITHM];
    spec->algorithms = mt_alloc(count, sizeof *spec->algorithms);
    if (!spec->algorithms) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_ALGORITHM][i];
        mt_algorithm *algorithm = &spec->algorithms[i];
        spec->algorithm_count = i + 1;
        *algorithm = (mt_algorithm){ .bake_all = true, .name = mt_strdup(section->name) };
        if (strcmp(section->name, "reference") == 0) {
            return mt_reader_fail(reader, err, section->line,
                                  "[algorithm reference]: the name is taken by [launch reference N]; expected another");
        }
        MT_TRY(mt_rules_check(reader, section, MT_RULES_ALGORITHM, err));
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_ALGORITHM, MT_PASS_NAMES, algorithm, err));
        algorithm->entry_line = mt_ini_line_of(section, "entry");
        if (!algorithm->entry) algorithm->entry = mt_strdup(section->name);
        if (!algorithm->doc) algorithm->doc = mt_strdup("");
        if (!algorithm->options) algorithm->options = mt_strdup("");
        if (!algorithm->name || !algorithm->entry || !algorithm->doc || !algorithm->options) return mt_reader_no_memory(reader, err);
    }
done:
    return st;
}

/* ---- [param] ---- */

static mt_status add_number(mt_reader *reader, mt_param *param, int64_t number, size_t *capacity, mt_error *err)
{
    int64_t *added = MT_APPEND(param->numbers, param->value_count, *capacity);
    if (!added) return mt_reader_no_memory(reader, err);
    *added = number;
    return MT_OK;
}

/* Numbers that follow each other by `step`, or by `factor` where that is not 0. */
typedef struct number_range {
    int64_t first, last, step, factor;
} number_range;

static bool parse_integer(const char *text, size_t length, int64_t *number)
{
    while (length > 0 && strchr(" \t", *text)) text++, length--;
    while (length > 0 && strchr(" \t", text[length - 1])) length--;
    return mt_text_int64(text, length, number);
}

/* "2^5": the base and the power. */
static bool parse_power(const char *text, size_t length, int64_t *base, int64_t *power)
{
    const char *caret = memchr(text, '^', length);
    int64_t exponent;
    if (!caret || !parse_integer(text, (size_t)(caret - text), base) || !parse_integer(caret + 1, length - (size_t)(caret + 1 - text), &exponent)) return false;
    if (*base < 2 || exponent < 0) return false;
    *power = 1;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*power, *base, power)) return false;
    return true;
}

/* "a..b", "a..b step s", "2^5..2^10" or one integer. */
static bool parse_range(const char *text, number_range *range)
{
    const char *dots = strstr(text, ".."), *step = strstr(text, "step");
    size_t left = dots ? (size_t)(dots - text) : strlen(text);
    int64_t base;
    *range = (number_range){.step = 1};
    if (!dots) {
        bool ok = strchr(text, '^') ? parse_power(text, left, &base, &range->first) : parse_integer(text, left, &range->first);
        range->last = range->first;
        return ok;
    }
    if (memchr(text, '^', left)) return parse_power(text, left, &range->factor, &range->first) && parse_power(dots + 2, strlen(dots + 2), &base, &range->last) && base == range->factor;
    if (step && (step < dots || !parse_integer(step + 4, strlen(step + 4), &range->step) || range->step < 1)) return false;
    size_t right = step ? (size_t)(step - (dots + 2)) : strlen(dots + 2);
    return parse_integer(text, left, &range->first) && parse_integer(dots + 2, right, &range->last);
}

/* The number behind `number`; false: that was the last. */
static bool next_number(const number_range *range, int64_t *number)
{
    if (range->factor) return !__builtin_mul_overflow(*number, range->factor, number) && *number <= range->last;
    if ((uint64_t)range->last - (uint64_t)*number < (uint64_t)range->step) return false;
    *number += range->step;
    return true;
}

/* "range(32, 1024+1, 32)" of Python, whose end is not among the numbers: adds what it is here. The end may be a sum. */
static bool add_range_of_python(const char *item, mt_strbuf *out)
{
    long long numbers[3] = {0, 0, 1}, last;
    size_t count = 0;
    const char *at = strstr(item, "range(");
    if (!at) return false;
    for (at += strlen("range("); count < 3; at++) {
        char *end;
        numbers[count] = strtoll(at, &end, 10);
        if (end == at) return false;
        for (at = end + strspn(end, " "); *at == '+' || *at == '-'; at = end + strspn(end, " ")) {
            long long more = strtoll(at + 1 + strspn(at + 1, " "), &end, 10);
            if (end == at + 1 || (*at == '+' ? __builtin_add_overflow(numbers[count], more, &numbers[count]) : __builtin_sub_overflow(numbers[count], more, &numbers[count]))) return false;
        }
        count++;
        if (*at != ',') break;
    }
    if (count == 1) numbers[1] = numbers[0], numbers[0] = 0;
    if (*at != ')' || numbers[2] < 1 || numbers[0] < 0 || numbers[1] <= numbers[0]) return false;
    last = numbers[0] + (numbers[1] - 1 - numbers[0]) / numbers[2] * numbers[2];
    mt_strbuf_addf(out, numbers[2] == 1 ? "%lld..%lld" : "%lld..%lld step %lld", numbers[0], last, numbers[2]);
    return true;
}

static mt_status no_number(mt_reader *reader, const mt_ini_entry *entry, const char *item, mt_error *err)
{
    mt_strbuf range = {0};
    if (add_range_of_python(entry->value, &range)) {
        mt_status st = mt_reader_fail(reader, err, entry->line, "values: `%s` is Python's; expected %s, whose last number is a value, too", item, mt_strbuf_text(&range));
        mt_strbuf_free(&range);
        return st;
    }
    const char *advice = "expected all values of one kind; other texts stand in quotes, as \"1.0f\"";
    if (*item == '[' || *item == '(' || *item == '{') advice = "expected a list without brackets";
    else if (strchr(item, '^')) advice = "expected powers of one base, 2^5..2^10, that fit into 64 bits";
    else if (strstr(item, "..") || strstr(item, "range(")) advice = "expected a..b, or a..b step s with a step of at least 1";
    else if (!*item) advice = "expected a value between two commas, and none behind the last";
    else if (strchr(item, ' ')) advice = "expected commas between values, or quotes around each text";
    else if (*item == '-') advice = "expected quotes around an option: \"-O3\"";
    return mt_reader_fail(reader, err, entry->line, "values: `%s` is neither an integer nor a range a..b; %s", item, advice);
}

static mt_status add_new_number(mt_reader *reader, const mt_ini_entry *entry, mt_param *param, int64_t number, size_t *capacity, mt_error *err)
{
    if (param->value_count == VALUE_LIMIT) return mt_reader_fail(reader, err, entry->line, "values: more than %d values", VALUE_LIMIT);
    for (size_t k = 0; k < param->value_count; k++) {
        if (param->numbers[k] == number) return mt_reader_fail(reader, err, entry->line, "values: %" PRId64 " is there twice", number);
    }
    return add_number(reader, param, number, capacity, err);
}

static mt_status number_values(mt_reader *reader, const mt_ini_entry *entry, char **items, size_t count, mt_param *param, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        number_range range;
        if (!parse_range(items[i], &range)) return no_number(reader, entry, items[i], err);
        if (range.first > range.last) return mt_reader_fail(reader, err, entry->line, "values: the range %s is empty: expected the smaller number first", items[i]);
        int64_t number = range.first;
        do MT_TRY(add_new_number(reader, entry, param, number, &capacity, err));
        while (next_number(&range, &number));
    }
done:
    return st;
}

static bool is_fraction(const char *item)
{
    double number;
    int64_t integer;
    return mt_text_double(item, &number) && !mt_text_int64(item, strlen(item), &integer);
}

/* Values that are no names: texts in quotes, and fractions. All of a knob's values are then taken as they stand. */
static bool has_texts(char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*items[i] == '"' || is_fraction(items[i])) return true;
    return false;
}

/* A value is a part of a variant's name, "KNOB=VALUE;…", and of one line. */
static bool is_sound_text(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127 || strchr(";\"", *at)) return false;
    return !strstr(text, "${") && *text != ' ' && (!*text || text[strlen(text) - 1] != ' ');
}

static mt_status read_text(mt_reader *reader, const mt_ini_entry *entry, char **item, mt_error *err)
{
    double number;
    bool is_quoted = **item == '"', is_number = mt_text_double(*item, &number);
    char *plain = mt_ini_unquote(*item);
    if (!plain) return mt_reader_no_memory(reader, err);
    mt_free(*item);
    *item = plain;
    if (is_quoted ? is_sound_text(plain) : is_number || mt_text_is_identifier(plain, strlen(plain))) return MT_OK;
    return mt_reader_fail(reader, err, entry->line, "values: `%s`: expected a name, a number, or a text in quotes without `;`, `\"`, `${` and blanks at its ends", plain);
}

static mt_status string_values(mt_reader *reader, const mt_ini_entry *entry, char **items, size_t count, mt_param *param, mt_error *err)
{
    mt_status st = MT_OK;
    param->is_string = true;
    param->is_verbatim = has_texts(items, count);
    param->strings = mt_alloc(count, sizeof *param->strings);
    if (!param->strings) return mt_reader_no_memory(reader, err);
    if (count > VALUE_LIMIT) return mt_reader_fail(reader, err, entry->line, "values: more than %d values", VALUE_LIMIT);
    for (size_t i = 0; i < count; i++) {
        if (param->is_verbatim) MT_TRY(read_text(reader, entry, &items[i], err));
        else if (!mt_text_is_identifier(items[i], strlen(items[i]))) {
            return mt_reader_fail(reader, err, entry->line, "values: `%s` is no name; expected all values of one kind, integers or names; or other texts in quotes", items[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(items[k], items[i]) == 0) return mt_reader_fail(reader, err, entry->line, "values: %s is there twice", items[i]);
        }
        param->strings[i] = mt_strdup(items[i]);
        param->value_count = i + 1;
        if (!param->strings[i]) return mt_reader_no_memory(reader, err);
    }
done:
    return st;
}

mt_status mt_parse_values(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_status st = MT_OK;
    char **items = NULL;
    size_t count = 0;
    MT_TRY(mt_split(entry->value, &items, &count, err)); /* not `value`: a text in quotes stays one */
    if (count == 0) {
        st = mt_reader_fail(reader, err, entry->line, "values is empty: expected integers, ranges a..b or names, separated by commas");
    } else if (mt_text_is_identifier(items[0], strlen(items[0])) || has_texts(items, count)) {
        st = string_values(reader, entry, items, count, object, err);
    } else {
        st = number_values(reader, entry, items, count, object, err);
    }
done:
    mt_strings_free(items, count);
    return st;
}

static bool find_level(const mt_param *param, const char *value, size_t *level)
{
    int64_t number;
    bool is_number = mt_text_int64(value, strlen(value), &number);
    for (size_t i = 0; i < param->value_count; i++) {
        if (param->is_string ? strcmp(param->strings[i], value) == 0 : is_number && param->numbers[i] == number) {
            *level = i;
            return true;
        }
    }
    return false;
}

mt_status mt_parse_default(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                           mt_error *err)
{
    mt_param *param = object;
    param->has_default = true;
    if (find_level(param, value, &param->default_level)) return MT_OK;
    return mt_reader_fail(reader, err, entry->line, "default = %s is not among the values of %s: expected one of them", value, param->name);
}

static mt_status check_only_earlier(mt_reader *reader, int line, const mt_param *param, uint64_t knobs, mt_error *err)
{
    size_t index = (size_t)(param - reader->spec->params);
    uint64_t later = knobs >> index << index; /* itself included */
    char list[512];
    if (!later) return MT_OK;
    return mt_reader_fail(reader, err, line, "when of %s reads %s: expected only knobs that stand before it", param->name,
                          mt_scope_knob_list(reader->spec, later, list, sizeof list));
}

mt_status mt_parse_when(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_param *param = object;
    param->has_when = true;
    mt_status st = mt_parse_bool_expr(reader, rule, entry, value, object, err);
    if (st != MT_OK) return st;
    return check_only_earlier(reader, entry->line, param, mt_scope_knobs(reader->spec, &param->when), err);
}

static char *macro_of(const mt_spec *spec, const char *name)
{
    mt_strbuf text = { 0 };
    mt_strbuf_addf(&text, "%s%s", spec->macros ? spec->macros : "", name);
    char *out = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return out;
}

/* params[0]: which algorithm. */
static mt_status make_algo(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    mt_param *algo = &spec->params[0];
    spec->param_count = 1;
    *algo = (mt_param){ .name = mt_strdup("ALGO"), .doc = mt_strdup("algorithm"), .is_string = true, .macro = macro_of(spec, "ALGO") };
    algo->strings = mt_alloc(spec->algorithm_count, sizeof *algo->strings);
    if (!algo->name || !algo->macro || !algo->doc || !algo->strings) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        algo->strings[i] = mt_strdup(spec->algorithms[i].name);
        algo->value_count = i + 1;
        if (!algo->strings[i]) return mt_reader_no_memory(reader, err);
    }
    return MT_OK;
}

static mt_status read_params(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_PARAM];
    if (count + 1 > MT_MAX_PARAMS) {
        return mt_reader_fail(reader, err, reader->sections[MT_SECTION_PARAM][MT_MAX_PARAMS - 1]->line, "more than %d knobs", MT_MAX_PARAMS - 1);
    }
    spec->params = mt_alloc(count + 1, sizeof *spec->params);
    if (!spec->params) return mt_reader_no_memory(reader, err);
    MT_TRY(make_algo(reader, err));
    for (size_t i = 0; i < count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_PARAM][i];
        mt_param *param = &spec->params[i + 1];
        spec->param_count = i + 2;
        param->name = mt_strdup(section->name);
        param->macro = macro_of(spec, section->name);
        if (!param->name || !param->macro) return mt_reader_no_memory(reader, err);
        MT_TRY(mt_rules_check(reader, section, MT_RULES_PARAM, err));
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_PARAM, MT_PASS_NAMES, param, err));
        if (!param->doc && !(param->doc = mt_strdup(""))) return mt_reader_no_memory(reader, err);
    }
done:
    return st;
}

/* ---- [let] ---- */

/* Names of [let], or of the helper lines of [model]. */
static mt_status add_let_names(mt_reader *reader, const mt_ini_section *section, mt_error *err)
{
    mt_spec *spec = reader->spec;
    for (size_t i = 0; i < section->entry_count; i++) {
        const mt_ini_entry *entry = &section->entries[i];
        if (!mt_is_helper(section, entry)) continue;
        if (!mt_text_is_identifier(entry->key, strlen(entry->key))) {
            return mt_reader_fail(reader, err, entry->line, "`%s` can't be a name: expected letters, digits and _", entry->key);
        }
        mt_let *let = &spec->lets[spec->let_count];
        reader->lets[spec->let_count++] = entry;
        if (!(let->name = mt_strdup(entry->key))) return mt_reader_no_memory(reader, err);
    }
    return MT_OK;
}

static mt_status read_let_names(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    const mt_ini_section *lets = reader->counts[MT_SECTION_LET] ? reader->sections[MT_SECTION_LET][0] : NULL;
    const mt_ini_section *model = reader->counts[MT_SECTION_MODEL] ? reader->sections[MT_SECTION_MODEL][0] : NULL;
    size_t most = (lets ? lets->entry_count : 0) + (model ? model->entry_count : 0);
    spec->lets = mt_alloc(most, sizeof *spec->lets);
    reader->lets = mt_alloc(most, sizeof *reader->lets);
    if (!spec->lets || !reader->lets) return mt_reader_no_memory(reader, err);
    if (lets) MT_TRY(add_let_names(reader, lets, err));
    spec->model_let = spec->let_count;
    if (model) MT_TRY(add_let_names(reader, model, err));
done:
    return st;
}

mt_status mt_read_knob_names(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(read_algorithms(reader, err));
    MT_TRY(read_params(reader, err));
    MT_TRY(read_let_names(reader, err));
done:
    return st;
}

mt_status mt_read_let(mt_reader *reader, size_t let, mt_error *err)
{
    mt_spec *spec = reader->spec;
    const mt_ini_entry *entry = reader->lets[let];
    char *value = mt_ini_unquote(entry->value);
    if (!value) return mt_reader_no_memory(reader, err);
    mt_status st = mt_scope_expr(reader, entry->line, value, MT_TYPE_LIST, &spec->lets[let].expr, err);
    mt_free(value);
    if (st != MT_OK) return st;
    spec->let_knobs[let] = mt_scope_knobs(spec, &spec->lets[let].expr);
    reader->let_limit = let + 1;
    return MT_OK;
}

mt_status mt_read_lets(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    spec->let_knobs = mt_alloc(spec->let_count, sizeof *spec->let_knobs);
    if (!spec->let_knobs) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < spec->model_let; i++) MT_TRY(mt_read_let(reader, i, err));
done:
    return st;
}

/* ---- conditions ---- */

static mt_status read_constraints(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_CONSTRAINT];
    spec->constraints = mt_alloc(count, sizeof *spec->constraints);
    if (!spec->constraints) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_CONSTRAINT][i];
        mt_constraint *constraint = &spec->constraints[i];
        spec->constraint_count = i + 1;
        if (!(constraint->name = mt_strdup(section->name))) return mt_reader_no_memory(reader, err);
        MT_TRY(mt_rules_check(reader, section, MT_RULES_CONSTRAINT, err));
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_CONSTRAINT, MT_PASS_EXPRESSIONS, constraint, err));
        if (!constraint->why && !(constraint->why = mt_strdup(""))) return mt_reader_no_memory(reader, err);
    }
done:
    return st;
}

mt_status mt_read_conditions(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        MT_TRY(mt_rules_apply(reader, reader->sections[MT_SECTION_ALGORITHM][i], MT_RULES_ALGORITHM, MT_PASS_EXPRESSIONS, &spec->algorithms[i], err));
    }
    for (size_t i = 1; i < spec->param_count; i++) {
        MT_TRY(mt_rules_apply(reader, reader->sections[MT_SECTION_PARAM][i - 1], MT_RULES_PARAM, MT_PASS_EXPRESSIONS, &spec->params[i], err));
    }
    MT_TRY(read_constraints(reader, err));
done:
    return st;
}

/* ---- knobs that the reference reads ---- */

mt_status mt_parse_reads_knobs(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    enum { MOST = 64 };
    mt_spec *spec = object;
    char **names = NULL, hint[512];
    const char *known[MT_MAX_PARAMS];
    size_t count = 0, combinations = 1;
    mt_status st = mt_split(value, &names, &count, err);
    for (size_t i = 0; i < spec->param_count; i++) known[i] = spec->params[i].name;
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        size_t knob = 0;
        while (knob < spec->param_count && strcmp(known[knob], names[i]) != 0) knob++;
        if (knob == spec->param_count) st = mt_reader_fail(reader, err, entry->line, "reads_knobs: `%s` is no knob%s", names[i], mt_reader_suggest(names[i], known, spec->param_count, hint, sizeof hint));
        else if (!(spec->reference_knobs >> knob & 1) && (combinations *= spec->params[knob].value_count) > MOST)
            st = mt_reader_fail(reader, err, entry->line, "reads_knobs = %s: these knobs have more than %d combinations, and each is a reference of its own", value, MOST);
        else spec->reference_knobs |= UINT64_C(1) << knob;
    }
    if (st == MT_OK && spec->reference_is_default)
        st = mt_reader_fail(reader, err, entry->line, "reads_knobs = %s beside reference = default: the default variant's output is what all variants are held against, whatever their knobs; expected a reference with a name, file:PATH.npy, or no reads_knobs", value);
    mt_strings_free(names, count);
    return st;
}
