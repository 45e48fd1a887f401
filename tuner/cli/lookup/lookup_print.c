#include "tuner/cli/lookup/lookup_print.h"

#include <inttypes.h>
#include <string.h>

#include "db/lookup/lookup.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/share.h"
#include "tuner/space/spec/spec.h"

const char *mt_lookup_match_name(tunelookup_match match)
{
    static const char *const names[] = {"none", "exact", "nearest", "architecture", "default"};
    return (size_t)match < sizeof names / sizeof *names ? names[match] : "?";
}

const char *mt_lookup_dtype_name(tunelookup_dtype dtype)
{
    static const char *const names[] = {"f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
    return (size_t)dtype < sizeof names / sizeof *names ? names[dtype] : "?";
}

const char *mt_lookup_role_name(tunelookup_role role)
{
    static const char *const names[] = {"in", "out", "inout", "scratch"};
    return (size_t)role < sizeof names / sizeof *names ? names[role] : "?";
}

const char *mt_lookup_kind_name(tunelookup_arg_kind kind)
{
    static const char *const names[] = {"tensor", "tensormap", "scalar"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

/* ---- launches ---- */

static void add_three(mt_strbuf *line, const char *name, const uint32_t size[3])
{
    mt_strbuf_addf(line, "  %s %" PRIu32 "×%" PRIu32 "×%" PRIu32, name, size[0], size[1], size[2]);
}

static void add_args(mt_strbuf *line, const tunelookup_result *result, const tunelookup_launch_info *launch)
{
    mt_strbuf_add(line, "  (");
    for (int i = 0; i < launch->arg_count; i++) {
        tunelookup_arg_info arg;
        if (i) mt_strbuf_add(line, ", ");
        if (tunelookup_arg(result, launch->args[i], &arg) == TUNELOOKUP_OK) mt_print_clean(line, arg.name, 0);
        else mt_strbuf_add_char(line, '?');
    }
    mt_strbuf_add_char(line, ')');
}

static void add_launch(mt_strbuf *line, const tunelookup_result *result, int index)
{
    tunelookup_launch_info launch;
    if (tunelookup_launch(result, index, &launch) != TUNELOOKUP_OK) {
        mt_strbuf_addf(line, "launch %d: can't be computed: ", index + 1);
        mt_print_clean(line, tunelookup_detail(), 0);
        mt_strbuf_add_char(line, '\n');
        return;
    }
    mt_strbuf_addf(line, "launch %d: ", index + 1);
    mt_print_clean(line, launch.entry, 0);
    add_three(line, "grid", launch.grid);
    add_three(line, "block", launch.block);
    if (launch.cluster[0]) add_three(line, "cluster", launch.cluster);
    mt_strbuf_addf(line, "  shared memory %" PRIu32 " bytes", launch.smem_bytes);
    if (launch.carveout_percent >= 0) mt_strbuf_addf(line, "  carve-out %d %%", (int)launch.carveout_percent);
    if (launch.cooperative) mt_strbuf_add(line, "  cooperative");
    if (launch.programmatic) mt_strbuf_add(line, "  programmatic");
    if (launch.repeat > 1) mt_strbuf_addf(line, "  %d times", (int)launch.repeat);
    if (launch.is_prepare) mt_strbuf_add(line, "  once after the inputs change");
    if (launch.is_finish) mt_strbuf_add(line, "  where the outputs are read; not timed");
    add_args(line, result, &launch);
    mt_strbuf_add_char(line, '\n');
}

/* ---- arguments ---- */

static void describe_tensor(mt_strbuf *text, const tunelookup_arg_info *arg)
{
    for (int i = 0; i < arg->rank; i++) mt_strbuf_addf(text, "%s%lld", i ? "×" : "", (long long)arg->dims[i]);
    mt_strbuf_addf(text, " %s, %llu bytes%s", mt_lookup_dtype_name(arg->dtype), (unsigned long long)arg->bytes, arg->zero_before_each ? ", zero before each call" : "");
}

/* The map's numbers, innermost first. */
static void describe_map(mt_strbuf *text, const tunelookup_result *result, int index, int map)
{
    tunelookup_tensormap_info info;
    if (tunelookup_tensormap(result, index, map, &info) != TUNELOOKUP_OK) {
        mt_strbuf_addf(text, "can't be computed: %s", tunelookup_detail());
        return;
    }
    mt_strbuf_add(text, "dims ");
    for (uint32_t i = 0; i < info.rank; i++) mt_strbuf_addf(text, "%s%" PRIu64, i ? "×" : "", info.dims[i]);
    mt_strbuf_add(text, " box ");
    for (uint32_t i = 0; i < info.rank; i++) mt_strbuf_addf(text, "%s%" PRIu32, i ? "×" : "", info.box[i]);
    mt_strbuf_addf(text, " offset %" PRIu64 " bytes", info.offset_bytes);
    if (info.swizzle_bytes) mt_strbuf_addf(text, " swizzle %d", (int)info.swizzle_bytes);
}

/* Its bytes are little-endian; halves stay bytes. */
static void add_scalar(mt_strbuf *text, const tunelookup_arg_info *arg)
{
    const char *dtype = mt_lookup_dtype_name(arg->dtype);
    uint64_t bits = 0;
    if (arg->bytes < 1 || arg->bytes > sizeof bits) return;
    unsigned unused = 64 - 8 * (unsigned)arg->bytes;
    for (uint64_t i = 0; i < arg->bytes && i < sizeof arg->scalar; i++) bits |= (uint64_t)arg->scalar[i] << 8 * i;
    if (*dtype == 'u') {
        mt_strbuf_addf(text, "%" PRIu64, bits);
    } else if (*dtype == 'i') {
        mt_strbuf_addf(text, "%" PRId64, (int64_t)(bits << unused) >> unused);
    } else if (arg->bytes == sizeof(double)) {
        double value;
        memcpy(&value, &bits, sizeof value);
        mt_strbuf_addf(text, "%.9g", value);
    } else if (arg->bytes == sizeof(float)) {
        float value;
        memcpy(&value, &bits, sizeof value);
        mt_strbuf_addf(text, "%.9g", (double)value);
    } else {
        mt_strbuf_addf(text, "0x%04" PRIx64, bits);
    }
}

static void add_argument(mt_table *table, const tunelookup_result *result, int index)
{
    tunelookup_arg_info arg;
    mt_strbuf text = {0};
    tunelookup_status status = tunelookup_arg(result, index, &arg);
    if (status == TUNELOOKUP_OK && !arg.is_used) return;
    if (status != TUNELOOKUP_OK) {
        mt_strbuf_addf(&text, "can't be computed: %s", tunelookup_detail());
    } else if (arg.kind == TUNELOOKUP_ARG_TENSOR) {
        describe_tensor(&text, &arg);
    } else if (arg.kind == TUNELOOKUP_ARG_SCALAR) {
        mt_strbuf_addf(&text, "%s ", mt_lookup_dtype_name(arg.dtype));
        add_scalar(&text, &arg);
    } else {
        describe_map(&text, result, index, 0);
        if (arg.map_count > 1) mt_strbuf_addf(&text, ", the first of %d maps", (int)arg.map_count);
    }
    mt_table_cell(table, status == TUNELOOKUP_OK ? arg.name : "?");
    mt_table_cell(table, status == TUNELOOKUP_OK ? mt_lookup_kind_name(arg.kind) : "");
    mt_table_cell(table, status == TUNELOOKUP_OK && arg.kind == TUNELOOKUP_ARG_TENSOR ? mt_lookup_role_name(arg.role) : "");
    mt_table_cell(table, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

static void print_arguments(FILE *out, const tunelookup_result *result)
{
    static const char *const names[] = {"argument", "kind", "role", "what"};
    mt_table table = {.columns = 4, .wraps = true};
    for (size_t i = 0; i < 4; i++) mt_table_cell(&table, names[i]);
    for (int i = 0; i < result->arg_count; i++) add_argument(&table, result, i);
    mt_table_print(&table, out, "  ");
    mt_table_free(&table);
}

/* The search space: the one that was asked for; else the shipped one of the kernel's name, which only some commands must be told; else a place for the user's to be named. */
static void add_space(mt_strbuf *line, const mt_lookup_query *asked, const char *kernel, bool must_be_told)
{
    char *path = NULL;
    mt_error ignored;
    bool is_shipped = !asked->space && mt_share_space(kernel, &path, &ignored) == MT_OK;
    mt_free(path);
    mt_print_option(line, "--space", asked->space ? asked->space : !is_shipped ? "FILE" : must_be_told ? kernel : NULL);
}

/* As --shape takes it. */
static void add_values(mt_strbuf *text, const mt_lookup_query *asked)
{
    for (size_t i = 0; i < asked->value_count; i++) {
        if (i) mt_strbuf_add_char(text, ';');
        mt_print_clean(text, asked->values[i].name, 0);
        mt_strbuf_add_char(text, '=');
        mt_print_clean(text, asked->values[i].text, 0);
    }
}

/* As --shape takes it: the name that the search space has for these values, else the values. */
static void add_shape(mt_strbuf *text, const mt_lookup_query *asked, const char *kernel)
{
    mt_spec *spec = NULL;
    char *path = NULL;
    mt_error ignored;
    add_values(text, asked);
    if (mt_share_space(asked->space ? asked->space : kernel, &path, &ignored) == MT_OK && mt_spec_load(path, &spec, &ignored) == MT_OK) {
        for (size_t i = 0; i < spec->shape_count; i++) {
            if (strcmp(spec->shapes[i].key, mt_strbuf_text(text)) != 0) continue;
            mt_strbuf_clear(text);
            mt_strbuf_add(text, spec->shapes[i].name);
            break;
        }
    }
    mt_spec_free(spec);
    mt_free(path);
}

/* No winner's code is that of the answer: only tuning this shape, where the GPU is, makes it. */
static void add_tune(mt_strbuf *line, const mt_lookup_query *asked, const tunelookup_result *result)
{
    const mt_lookup_answers *answers = result->answers_;
    mt_strbuf shape = {0};
    if (asked->is_recorded || result->match == TUNELOOKUP_MATCH_EXACT) return;
    add_shape(&shape, asked, answers->kernel);
    mt_strbuf_add(line, "          tuning this shape makes it (no winner has this code, so compile cannot):\n          ");
    mt_print_program(line);
    mt_strbuf_add(line, " tune");
    add_space(line, asked, answers->kernel, true);
    mt_print_option(line, "--shape", mt_strbuf_text(&shape));
    mt_print_option(line, "--db", answers->db->is_default || answers->db->files[0].is_shipped ? NULL : answers->db->files[0].path);
    mt_strbuf_add_char(line, '\n');
    mt_strbuf_free(&shape);
}

/* A line to copy that stores the code of a winner that was imported, or came with the tool, or of the tuned shape whose code a near answer takes: of this one alone, since others of the file may be of another source. Recorded rows never have code. */
static void add_compile(mt_strbuf *line, const mt_lookup_query *asked, const tunelookup_result *result)
{
    const mt_lookup_answers *answers = result->answers_;
    const mt_lookup_row *row = mt_lookup_row_to_compile(result);
    if (!row) {
        add_tune(line, asked, result);
        return;
    }
    const mt_lookup_file *file = &answers->db->files[row->file];
    mt_strbuf_add(line, "          ");
    if (result->match != TUNELOOKUP_MATCH_EXACT && *row->shape_name) {
        mt_strbuf_add(line, "the winner of ");
        mt_print_clean(line, row->shape_name, 0);
        mt_strbuf_add(line, " has the same code; ");
    }
    mt_strbuf_add(line, file->is_shipped ? "this makes it, in a copy because shipped files are never written; lookup --db tuned.sqlite finds it there" : "this makes it");
    if (!MT_WITH_CUDA) mt_strbuf_add(line, " (not by this tool, which was built without the CUDA Toolkit's headers)");
    mt_strbuf_add(line, file->is_shipped ? ":\n          cp -n " : ":\n          ");
    if (file->is_shipped) {
        mt_strbuf_add_word(line, file->path);
        mt_strbuf_add(line, " tuned.sqlite; ");
    }
    mt_print_program(line);
    mt_strbuf_add(line, " compile");
    mt_print_option(line, "--db", file->is_shipped ? "tuned.sqlite" : file->path);
    mt_print_option(line, "--gpu", answers->gpus[row->file]);
    mt_print_option(line, "--kernel", answers->kernel);
    mt_print_option(line, "--shape", *row->shape_name ? row->shape_name : NULL);
    mt_print_option(line, "--workload", *row->workload ? row->workload : NULL);
    mt_print_option(line, "--l2", row->is_warm ? "warm" : "cold");
    add_space(line, asked, answers->kernel, false);
    mt_strbuf_add_char(line, '\n');
}

static void add_cubin(mt_strbuf *line, const mt_lookup_query *asked, const tunelookup_result *result)
{
    const void *cubin;
    size_t bytes;
    tunelookup_status status = tunelookup_cubin(result, &cubin, &bytes);
    if (status == TUNELOOKUP_OK) {
        mt_strbuf_addf(line, "cubin:    %zu bytes\n", bytes);
        return;
    }
    mt_strbuf_add(line, "cubin:    ");
    if (status != TUNELOOKUP_ERR_NOT_FOUND || !*tunelookup_detail()) mt_strbuf_addf(line, "none: %s%s", tunelookup_strerror(status), *tunelookup_detail() ? ": " : "");
    mt_print_clean(line, tunelookup_detail(), 0);
    mt_strbuf_add_char(line, '\n');
    if (status == TUNELOOKUP_ERR_NOT_FOUND) add_compile(line, asked, result);
}

/* Rows never answer for other source without it being said. */
static void add_other_source(mt_strbuf *text, const mt_lookup_query *asked, const tunelookup_result *result)
{
    if (!asked->space_key[0] || strcmp(asked->space_key, result->kernel_key) == 0) return;
    mt_strbuf_addf(text, "note:     the answer is of another state of the source (%.8s) than --space names (%.8s)\n", result->kernel_key, asked->space_key);
}

/* Lines fit the page; those that begin with a blank are commands to be copied, which stay whole, or end with a colon and say whose. */
static void print_lines(FILE *out, const char *text)
{
    enum { INDENT = 10 };
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        char *line = mt_strndup(text, length);
        if (line && *line == ' ' && text[length - 1] != ':') fprintf(out, "%s\n", line);
        else if (line) mt_print_wrapped(out, line, INDENT, NULL);
        mt_free(line);
    }
}

mt_status mt_lookup_print_text(FILE *out, const mt_lookup_query *asked, const char *gpu, const tunelookup_result *result, mt_error *err)
{
    mt_strbuf text = {0};
    char why[4096];
    bool matched = result->match != TUNELOOKUP_MATCH_NONE;
    mt_print_clean(&text, asked->shown, 0);
    mt_strbuf_add(&text, " on ");
    mt_print_clean(&text, asked->facts.name, 0);
    mt_strbuf_addf(&text, "  [%s%s]\n", gpu, asked->is_recorded ? ", recorded" : "");
    if (matched) { /* else the explanation says it */
        mt_strbuf_add(&text, "asked:    ");
        add_values(&text, asked);
        mt_strbuf_add_char(&text, '\n');
    }
    tunelookup_explain(result, why, sizeof why); /* its texts are cleaned by the library */
    mt_strbuf_add(&text, why);
    if (matched) add_other_source(&text, asked, result);
    for (int i = 0; matched && i < result->launch_count; i++) add_launch(&text, result, i);
    if (matched) add_cubin(&text, asked, result);
    mt_status st = text.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "lookup: out of memory") : MT_OK;
    if (st == MT_OK) print_lines(out, mt_strbuf_text(&text));
    if (st == MT_OK && matched) print_arguments(out, result);
    mt_strbuf_free(&text);
    return st;
}
