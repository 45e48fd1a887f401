#include "tuner/cli/requests/new_knobs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/signature_constants.h"

enum { MOST_VALUES = MT_OPEN_MACRO_COMPARED + 2 };

/* Values of a knob, each once, rising. */
typedef struct list {
    long values[MOST_VALUES];
    size_t count;
} list;

static void add(list *to, long value)
{
    size_t place = 0;
    while (place < to->count && to->values[place] < value) place++;
    if (to->count == MOST_VALUES || (place < to->count && to->values[place] == value)) return;
    memmove(to->values + place + 1, to->values + place, (to->count++ - place) * sizeof *to->values);
    to->values[place] = value;
}

static void add_powers(list *to, long from, long last)
{
    for (long value = from; value <= last; value *= 2) add(to, value);
}

/* 0 to 2: the threads of a block along x (or all of them), y, z; -1: something else, such as WORK_PER_THREAD, blocks_per_sm, or BLOCK_M, which is a tile. */
static int axis_of(const char *name)
{
    size_t length = strlen(name);
    char last = length > 2 && name[length - 2] == '_' ? name[length - 1] | 0x20 : '\0';
    if ((!strcasestr(name, "block") && !strcasestr(name, "thread")) || strcasestr(name, "per_") || strcasestr(name, "unroll")) return -1;
    return !last ? 0 : last >= 'x' && last <= 'z' ? last - 'x' : -1;
}

static bool is_of_axis(const char *name)
{
    size_t length = strlen(name);
    return length > 2 && name[length - 2] == '_' && (name[length - 1] | 0x20) >= 'x' && (name[length - 1] | 0x20) <= 'z';
}

static bool is_power(long value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

/* Arrays in shared memory most often grow with the knobs, and have 48 KiB. */
static void choose_threads(const mt_open_macro *macro, int axis, bool has_shared, list *to)
{
    if (macro->value > 0 && macro->value % 32 != 0) add_powers(to, is_power(macro->value) && macro->value > 1 ? macro->value / 2 : macro->value, macro->value);
    else if (axis == 0) add_powers(to, 32, has_shared ? 128 : macro->value < 0 ? 256 : 1024);
    else if (axis == 1) add_powers(to, 1, has_shared ? 4 : 8);
    else add(to, 1);
}

static void choose_number(long value, bool has_shared, list *to)
{
    bool may_differ = value <= 1 || (is_power(value) && value <= 1024); /* else a size */
    if (may_differ && value > 1) add(to, value / 2);
    if (may_differ && (value <= 1 || !has_shared)) add(to, value ? 2 * value : 1);
}

/* What stands behind the line, where it is a guess. */
static const char *choose_values(const mt_open_macro *macro, bool has_shared, list *to)
{
    int axis = axis_of(macro->name);
    if (macro->value >= 0) add(to, macro->value);
    if (macro->is_of_types) {
        if (!to->count && macro->compared_count) add(to, macro->compared[0]);
        return "it chooses a type, which [args] name";
    }
    for (size_t i = 0; i < macro->compared_count; i++) add(to, macro->compared[i]);
    if (macro->is_unroll || (strcasestr(macro->name, "unroll") && macro->value != 0)) add_powers(to, 1, 4);
    else if (macro->compared_count == 1 && to->count == 1) add(to, macro->compared[0] ? 0 : 1);
    else if (!macro->compared_count && axis >= 0) choose_threads(macro, axis, has_shared, to);
    else if (!macro->compared_count && macro->value >= 0) choose_number(macro->value, has_shared, to);
    if (to->count) return NULL;
    add(to, 1);
    return "guess: the source reads it and gives it no value";
}

static void add_knob(mt_new_knobs *knobs, const char *prefix, const mt_open_macro *macro, bool has_shared)
{
    list values = {.count = 0};
    const char *remark = choose_values(macro, has_shared, &values);
    int axis = axis_of(macro->name);
    bool is_block = axis >= 0 && values.values[0] > 0 && !knobs->block[axis][0];
    if (is_block) snprintf(knobs->block[axis], sizeof knobs->block[axis], "%s%s", prefix, macro->name);
    mt_strbuf_addf(&knobs->params, "%s%s = ", prefix, macro->name);
    for (size_t i = 0; i < values.count; i++) mt_strbuf_addf(&knobs->params, "%s%ld", i ? ", " : "", values.values[i]);
    if (macro->value >= 0 && macro->value != values.values[0]) mt_strbuf_addf(&knobs->params, " default %ld", macro->value);
    if (is_block && axis == 0) mt_strbuf_add(&knobs->params, " doc \"threads of a block\"");
    mt_strbuf_addf(&knobs->params, "%s%s\n", remark ? " ; " : "", remark ? remark : "");
}

/* Whether a line of [params] begins with the name. */
static bool is_parameter_word(const char *params, mt_code_word name)
{
    for (const char *line = params; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name.at, name.length) == 0 && line[name.length] == ' ') return true;
    return false;
}

static bool is_parameter(const char *params, const char *name)
{
    return is_parameter_word(params, (mt_code_word){name, strlen(name)});
}

/* A number or a condition that a template takes. */
static void add_take(mt_new_knobs *knobs, const mt_signature *kernel, const mt_template_parameter *take, bool has_shared)
{
    mt_open_macro macro = {.value = -1};
    if (take->is_type || take->is_other) return;
    snprintf(macro.name, sizeof macro.name, "%s", take->name);
    if (take->standard && *take->standard >= '0' && *take->standard <= '9') macro.value = strtol(take->standard, NULL, 10);
    for (size_t axis = 0; axis < 3 && macro.value < 0; axis++)
        if (kernel->steps[axis] && strcmp(kernel->steps[axis], take->name) == 0) macro.value = kernel->has_rows ? 16 : 256; /* threads */
    if (take->is_bool) macro.value = take->standard && strcmp(take->standard, "true") == 0;
    if (take->is_bool) macro.compared[macro.compared_count++] = 0, macro.compared[macro.compared_count++] = 1;
    add_knob(knobs, MT_NEW_TAKES, &macro, has_shared);
}

/* A name of the tool's own that the source does not use. */
static void name_knob(const char *source, const char *const *names, char out[MT_OPEN_MACRO_NAME])
{
    while (names[1] && mt_text_has_word(source, names[0])) names++;
    snprintf(out, MT_OPEN_MACRO_NAME, "%s", names[0]);
}

/* What a name of the source stands for in a search space: a knob, or a number of 1 to `most`. False: neither. */
static bool find_value(const char *text, const char *name, int64_t most, const mt_new_knobs *knobs, char out[MT_OPEN_MACRO_NAME])
{
    const char *params = mt_strbuf_text(&knobs->params), *at = name;
    char take[MT_OPEN_MACRO_NAME + 8];
    int64_t value = isdigit((unsigned char)*name) ? strtoll(name, NULL, 10) : mt_constant_number(text, mt_code_next(&at));
    snprintf(take, sizeof take, MT_NEW_TAKES "%s", name);
    const char *knob = is_parameter(params, take) ? take : is_parameter(params, name) ? name : NULL;
    if (knob) snprintf(out, MT_OPEN_MACRO_NAME, "%.*s", MT_OPEN_MACRO_NAME - 1, knob); /* a parameter's name is no longer */
    else if (value > 0 && value <= most) snprintf(out, MT_OPEN_MACRO_NAME, "%lld", (long long)value);
    return *out;
}

/* Where the source counts blockIdx in steps of a knob or of a number of its own, blocks have as many threads; each along the axis. */
static void add_steps(const char *text, const mt_signature *kernel, mt_new_knobs *knobs)
{
    for (size_t axis = 0; axis < 3; axis++) {
        if (kernel->rows[axis].factor) find_value(text, kernel->rows[axis].factor, INT32_MAX, knobs, knobs->factors[axis]);
        if (!kernel->steps[axis] || knobs->block[axis][0]) continue;
        bool is_found = find_value(text, kernel->steps[axis], 1024, knobs, knobs->block[axis]);
        knobs->is_fixed = knobs->is_fixed || (is_found && isdigit((unsigned char)knobs->block[axis][0]));
    }
}

/* What __launch_bounds__ says: a number, or a knob, which is then a block's threads unless they have rows. */
static void add_bounds(const char *text, const mt_signature *kernel, bool has_rows, mt_new_knobs *knobs)
{
    const char *at = kernel->bounds;
    bool has_knob = false; /* whose number changes */
    char threads[MT_OPEN_MACRO_NAME] = "";
    if (!at) return;
    for (mt_code_word word; (word = mt_code_next(&at)).length;) has_knob = has_knob || is_parameter_word(mt_strbuf_text(&knobs->params), word);
    if (!has_knob) knobs->most_threads = mt_count_elements(text, kernel->bounds);
    if (knobs->most_threads > 1024) knobs->most_threads = 0;
    if (knobs->most_threads) snprintf(threads, sizeof threads, "%lld", (long long)knobs->most_threads);
    else if (find_value(text, kernel->bounds, 0, knobs, threads)) memcpy(knobs->bounds, threads, sizeof threads);
    if (!*threads || has_rows || (knobs->most_threads && (kernel->asks_block || knobs->block[0][0]))) return;
    memcpy(knobs->block[0], threads, sizeof threads);
    knobs->is_fixed = knobs->is_fixed || knobs->most_threads;
}

/* A knob that only the launch reads: powers of two, `standard` among them. */
static void add_launch_knob(const char *source, const char *const *names, long from, long last, long standard, const char *doc, char name[MT_OPEN_MACRO_NAME], mt_strbuf *params)
{
    list values = {.count = 0};
    name_knob(source, names, name);
    add_powers(&values, from < standard ? from : standard, last);
    add(&values, standard);
    mt_strbuf_addf(params, "%s = ", name);
    for (size_t i = 0; i < values.count; i++) mt_strbuf_addf(params, "%s%ld", i ? ", " : "", values.values[i]);
    if (standard != values.values[0]) mt_strbuf_addf(params, " default %ld", standard);
    mt_strbuf_addf(params, " doc \"%s\"\n", doc);
}

/* The threads of a block where the source has no knob for them: a knob that only the launch reads if the kernel asks how many they are, else numbers. */
static void add_block(const char *source, const mt_signature *kernel, bool has_rows, mt_new_knobs *knobs)
{
    static const char *const rows[] = {"BLOCK_Y", "THREADS_Y", "KNOB_BLOCK_Y", NULL}, *const columns[] = {"BLOCK_X", "THREADS_X", "KNOB_BLOCK_X", NULL}, *const ones[] = {"BLOCK", "THREADS", "KNOB_BLOCK", NULL};
    const long most = knobs->most_threads ? (long)knobs->most_threads : 1024, wide = most < 32 ? most : 32;
    knobs->is_literal = !knobs->block[0][0] && knobs->params.length && !mt_text_has_word(source, "blockDim");
    if (knobs->is_literal) {
        snprintf(knobs->block[0], sizeof knobs->block[0], "%s", has_rows ? "32" : "256");
        snprintf(knobs->block[1], sizeof knobs->block[1], "%s", has_rows ? "4" : "");
    }
    bool is_square = has_rows && !kernel->asks_block && knobs->block[0][0] && !knobs->block[1][0] && !knobs->is_literal && !is_of_axis(knobs->block[0]);
    if (is_square) memcpy(knobs->block[1], knobs->block[0], sizeof knobs->block[1]); /* one name for both: BLOCK_SIZE */
    if (!knobs->block[0][0] && has_rows) add_launch_knob(source, columns, 8, most < 128 ? most : 128, wide, "threads of a block", knobs->block[0], &knobs->params);
    else if (!knobs->block[0][0]) add_launch_knob(source, ones, 32, most, knobs->most_threads ? most : 256, "threads of a block", knobs->block[0], &knobs->params);
    if (has_rows && !knobs->block[1][0]) add_launch_knob(source, rows, 1, most < 16 ? most : 16, most / wide < 4 ? most / wide : 4, "rows of threads", knobs->block[1], &knobs->params);
    if (kernel->has_planes && !knobs->block[2][0]) snprintf(knobs->block[2], sizeof knobs->block[2], "1");
    if (kernel->has_planes && !knobs->block[1][0]) snprintf(knobs->block[1], sizeof knobs->block[1], "1");
    if (!knobs->block[1][0]) knobs->block[2][0] = '\0';
}

/* Whether threads have rows: it is asked for them, in the kernel or in what it may call. Of blocks that have rows alone they need none. */
static bool has_thread_rows(const char *text, const mt_signature *kernel)
{
    return kernel->has_rows && strstr(text, "threadIdx.y");
}

mt_status mt_new_knobs_find(const char *source, const char *others, const mt_signature *kernel, mt_new_knobs *knobs, mt_error *err)
{
    mt_open_macros macros;
    bool has_shared = mt_text_has_word(source, "__shared__");
    mt_status st = mt_open_macros_read(source, others, &macros, err);
    for (size_t i = 0; i < macros.count && st == MT_OK; i++) add_knob(knobs, "", &macros.items[i], has_shared);
    for (size_t i = 0; i < kernel->take_count && st == MT_OK; i++) add_take(knobs, kernel, &kernel->takes[i], has_shared);
    char *code = st == MT_OK ? mt_signature_source_of(source, kernel->name) : NULL, *other_code = code ? mt_code_uncommented(others) : NULL;
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%s\n%s", code ? code : "", other_code ? other_code : "");
    bool has_rows = has_thread_rows(mt_strbuf_text(&text), kernel);
    if (st == MT_OK) add_steps(mt_strbuf_text(&text), kernel, knobs);
    if (st == MT_OK) add_bounds(mt_strbuf_text(&text), kernel, has_rows, knobs);
    if (st == MT_OK) add_block(source, kernel, has_rows, knobs);
    if (st == MT_OK && (!other_code || text.failed)) st = mt_no_memory("new", err);
    mt_strbuf_free(&text);
    MT_FREE_EACH(code, other_code);
    snprintf(knobs->guard, sizeof knobs->guard, "%s", macros.guard);
    mt_open_macros_free(&macros);
    return st == MT_OK && knobs->params.failed ? mt_no_memory("new", err) : st;
}
