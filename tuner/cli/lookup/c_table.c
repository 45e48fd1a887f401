/* msda-tune export --c-table. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/cli/lookup/table_answers.h"

static const char types[] =
    "/* One kernel launch; see tunelookup_launch_info. args: names of the arguments that the kernel takes, in their order, with commas. */\n"
    "typedef struct PREFIX_launch {\n"
    "    const char *entry, *args;\n"
    "    uint32_t grid[3], block[3], cluster[3], smem_bytes;\n"
    "    int32_t carveout_percent, cooperative, programmatic, is_prepare, is_finish, repeat;\n"
    "} PREFIX_launch;\n\n"
    "/* match: 1 exact, 2 nearest, 3 architecture, 4 default. Numbers that are not known are -1. */\n"
    "typedef struct PREFIX_answer {\n"
    "    const char *variant;\n"
    "    const PREFIX_launch *launches;\n"
    "    int32_t launch_count, match;\n"
    "    double median_ns, expected_slowdown, slowdown_bound;\n"
    "} PREFIX_answer;\n\n"
    "typedef struct PREFIX_row {\n"
    "    const char *strings;\n"
    "    int32_t count;\n"
    "    int64_t values[PREFIX_VALUES];\n"
    "    PREFIX_answer answer;\n"
    "} PREFIX_row;\n\n";

static const char functions[] =
    "static inline int PREFIX_compare(const PREFIX_row *row, const char *strings, const int64_t *values, int32_t count)\n"
    "{\n"
    "    int order = strcmp(row->strings, strings);\n"
    "    int32_t i;\n"
    "    if (order) return order;\n"
    "    if (row->count != count) return row->count < count ? -1 : 1;\n"
    "    for (i = 0; i < count; i++)\n"
    "        if (row->values[i] != values[i]) return row->values[i] < values[i] ? -1 : 1;\n"
    "    return 0;\n"
    "}\n\n"
    "/* The answer for a shape, or NULL where the table has none for it. Any thread; nothing is allocated. */\n"
    "static inline const PREFIX_answer *PREFIX_find(const char *strings, const int64_t *values, int32_t count)\n"
    "{\n"
    "    size_t low = 0, high = sizeof PREFIX_rows / sizeof *PREFIX_rows;\n"
    "    while (low < high) {\n"
    "        size_t middle = low + (high - low) / 2;\n"
    "        int order = PREFIX_compare(&PREFIX_rows[middle], strings, values, count);\n"
    "        if (order == 0) return &PREFIX_rows[middle].answer;\n"
    "        if (order < 0) low = middle + 1;\n"
    "        else high = middle;\n"
    "    }\n"
    "    return NULL;\n"
    "}\n\n"
    "/* The value of a knob, \"64\" of \"BM=64\", and its length, or NULL where the variant has none of that name. */\n"
    "static inline const char *PREFIX_knob(const PREFIX_answer *answer, const char *name, size_t *length)\n"
    "{\n"
    "    size_t name_length = strlen(name);\n"
    "    const char *at;\n"
    "    for (at = answer->variant; *at; at += strcspn(at, \";\"), at += *at == ';') {\n"
    "        if (strncmp(at, name, name_length) != 0 || at[name_length] != '=') continue;\n"
    "        at += name_length + 1;\n"
    "        *length = strcspn(at, \";\");\n"
    "        return at;\n"
    "    }\n"
    "    return NULL;\n"
    "}\n\n";

/* `text` with `prefix` for each PREFIX. */
static void add_text(mt_strbuf *out, const char *text, const char *prefix)
{
    for (const char *at; (at = strstr(text, "PREFIX")); text = at + strlen("PREFIX")) {
        mt_strbuf_add_bytes(out, text, (size_t)(at - text));
        mt_strbuf_add(out, prefix);
    }
    mt_strbuf_add(out, text);
}

/* A C string; whatever a compiler might take for something else is written in octal. */
static void add_string(mt_strbuf *out, const char *text)
{
    mt_strbuf_add_char(out, '"');
    for (const char *at = text; *at; at++) {
        bool is_plain = (unsigned char)*at >= ' ' && (unsigned char)*at < 0x7f && !strchr("\"\\?", *at);
        if (is_plain) mt_strbuf_add_char(out, *at);
        else mt_strbuf_addf(out, "\\%03o", (unsigned)(unsigned char)*at);
    }
    mt_strbuf_add_char(out, '"');
}

/* Text in a comment: never its end. */
static void add_comment(mt_strbuf *out, const char *text)
{
    for (const char *at = text; *at; at++) mt_strbuf_add_char(out, (*at == '/' && at > text && at[-1] == '*') || (unsigned char)*at < ' ' ? '?' : *at);
}

static void add_real(mt_strbuf *out, double value)
{
    mt_strbuf_addf(out, ", %.17g", isfinite(value) ? value : -1.0);
}

static void add_triple(mt_strbuf *out, const uint32_t *three)
{
    mt_strbuf_addf(out, "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, ", three[0], three[1], three[2]);
}

static mt_status add_launch(mt_strbuf *out, const tunelookup_result *result, int index, mt_error *err)
{
    tunelookup_launch_info launch;
    mt_strbuf args = {0};
    if (tunelookup_launch(result, index, &launch) != TUNELOOKUP_OK) return MT_FAIL(err, MT_ERR_DB, "export: a launch of %s: %s", result->variant, tunelookup_detail());
    for (int i = 0; i < launch.arg_count; i++) {
        tunelookup_arg_info arg;
        if (tunelookup_arg(result, launch.args[i], &arg) == TUNELOOKUP_OK) mt_strbuf_addf(&args, "%s%s", i ? "," : "", arg.name);
    }
    mt_strbuf_add(out, "    {");
    add_string(out, launch.entry);
    mt_strbuf_add(out, ", ");
    add_string(out, mt_strbuf_text(&args));
    mt_strbuf_add(out, ", ");
    add_triple(out, launch.grid);
    add_triple(out, launch.block);
    add_triple(out, launch.cluster);
    mt_strbuf_addf(out, "%" PRIu32 ", %d, %d, %d, %d, %d, %d},\n", launch.smem_bytes, launch.carveout_percent, launch.cooperative, launch.programmatic, launch.is_prepare, launch.is_finish, launch.repeat);
    mt_strbuf_free(&args);
    return MT_OK;
}

static mt_status add_launches(const mt_table_answers *answers, const char *prefix, mt_strbuf *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf_addf(out, "static const %s_launch %s_launches[] = {\n", prefix, prefix);
    for (size_t i = 0; i < answers->row_count; i++)
        for (int k = 0; k < answers->rows[i].result.launch_count && st == MT_OK; k++) st = add_launch(out, &answers->rows[i].result, k, err);
    mt_strbuf_add(out, "};\n\n");
    return st;
}

static void add_rows(const mt_table_answers *answers, const char *prefix, mt_strbuf *out)
{
    int first = 0;
    mt_strbuf_addf(out, "static const %s_row %s_rows[] = {\n", prefix, prefix);
    for (size_t i = 0; i < answers->row_count; i++) {
        const mt_table_row *row = &answers->rows[i];
        mt_strbuf_add(out, "    {");
        add_string(out, row->strings);
        mt_strbuf_addf(out, ", %zu, {", row->count);
        for (size_t k = 0; k < row->count; k++) mt_strbuf_addf(out, "%s%" PRId64, k ? ", " : "", row->values[k]);
        mt_strbuf_add(out, row->count ? "}, {" : "0}, {");
        add_string(out, row->result.variant);
        mt_strbuf_addf(out, ", %s_launches + %d, %d, %d", prefix, first, row->result.launch_count, (int)row->result.match);
        add_real(out, row->result.median_ns);
        add_real(out, row->result.expected_slowdown);
        add_real(out, row->result.slowdown_bound);
        mt_strbuf_add(out, "}},\n");
        first += row->result.launch_count;
    }
    mt_strbuf_add(out, "};\n\n");
}

/* What the file is, and how a shape is named. */
static void add_head(const mt_table_answers *answers, const char *prefix, mt_strbuf *out)
{
    const mt_table_row *row = &answers->rows[0];
    size_t values = 1;
    for (size_t i = 0; i < answers->row_count; i++)
        if (answers->rows[i].count > values) values = answers->rows[i].count;
    mt_strbuf_addf(out, "/* What libtunelookup %s answers for %zu shapes of kernel ", tunelookup_version(NULL), answers->row_count);
    add_comment(out, answers->kernel);
    mt_strbuf_addf(out, " (source %s) on ", answers->kernel_key);
    add_comment(out, answers->gpu_key);
    mt_strbuf_add(out, ". Written by msda-tune export --c-table; for other shapes there is no answer here. C99 and C++.\n *\n * A shape is its strings, as in \"");
    add_comment(out, row->strings);
    mt_strbuf_add(out, "\", and its numbers in this order, lists element by element:");
    for (size_t i = 0; i < row->count; i++) {
        mt_strbuf_add(out, i ? ", " : " ");
        add_comment(out, row->names[i]);
    }
    mt_strbuf_add(out, ". */\n");
    add_text(out, "#ifndef PREFIX_table_h\n#define PREFIX_table_h\n\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n", prefix);
    mt_strbuf_addf(out, "enum { %s_VALUES = %zu };\n\n", prefix, values);
}

mt_status mt_c_table(const mt_table_answers *answers, mt_strbuf *out, mt_error *err)
{
    mt_strbuf name = {0};
    mt_strbuf_add(&name, "tuned_");
    for (const char *at = answers->kernel; *at; at++) mt_strbuf_add_char(&name, isalnum((unsigned char)*at) ? *at : '_');
    const char *prefix = mt_strbuf_text(&name);
    add_head(answers, prefix, out);
    add_text(out, types, prefix);
    mt_status st = add_launches(answers, prefix, out, err);
    add_rows(answers, prefix, out);
    add_text(out, functions, prefix);
    mt_strbuf_add(out, "#endif\n");
    mt_strbuf_free(&name);
    return st == MT_OK && out->failed ? mt_no_memory("export", err) : st;
}
