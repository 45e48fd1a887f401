/* A result in words. */
#include "db/lookup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct text {
    char *out;
    size_t size, used; /* used: as if there were room */
} text;

static void add(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parts may come from a stranger's file: control characters are shown as '?', also line breaks unless they end the piece. */
static void add(text *to, const char *format, ...)
{
    char piece[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    for (const char *at = piece; *at; at++, to->used++) {
        bool is_fine = mt_lookup_is_shown(piece, at) || (*at == '\n' && !at[1]);
        if (to->used + 1 < to->size) to->out[to->used] = is_fine ? *at : '?';
    }
    if (to->size) to->out[to->used < to->size ? to->used : to->size - 1] = '\0';
}

static void add_shape(text *to, const mt_lookup_block *block, const int64_t *values)
{
    for (uint32_t i = 0; i < block->model.name_count; i++) {
        const mt_lookup_model_name *name = &block->model.names[i];
        add(to, "%s%s=", i ? ";" : "", name->name);
        if (name->kind == MT_LOOKUP_NAME_STRING) add(to, "%s", name->string);
        else for (uint32_t k = 0; k < name->length; k++) add(to, "%s%lld", k ? "," : "", (long long)values[name->offset + k]);
    }
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* All at once: whoever gives one fact would else be told of the next. */
static void add_missing_facts(text *to, const mt_lookup_model *model)
{
    if (!model->missing_facts) return;
    add(to, "missing: ");
    for (uint32_t i = 0, seen = 0; i < MT_LOOKUP_FACTS; i++) {
        if (model->missing_facts & UINT32_C(1) << i) add(to, "%s device.%s", seen++ ? "," : "", mt_lookup_fact_names[i]);
    }
    add(to, ": read by the kernel's expressions and not given by the caller\n");
}

/* Rows and files that could have answered but for a reason. */
static void add_left_out(text *to, const mt_lookup_block *block)
{
    uint32_t recorded = block->hidden_recorded, imported = block->hidden_imported, damaged = block->hidden_damaged;
    if (recorded) add(to, "note:     %u row%s of recorded GPUs %s left out; open with TUNELOOKUP_RECORDED to use them\n", (unsigned)recorded, plural(recorded), recorded == 1 ? "is" : "are");
    if (imported) add(to, "note:     %u imported row%s %s left out: nobody validated them here\n", (unsigned)imported, plural(imported), imported == 1 ? "is" : "are");
    if (damaged) add(to, "note:     %u damaged row%s %s left out: a column holds what no tuner writes\n", (unsigned)damaged, plural(damaged), damaged == 1 ? "is" : "are");
    if (block->left_out) add(to, "note:     left out: %s\n", block->left_out);
}

static void add_duration(text *to, double ns)
{
    if (ns >= 1e6) add(to, "%.4g ms", ns / 1e6);
    else if (ns >= 1e3) add(to, "%.4g µs", ns / 1e3);
    else add(to, "%.4g ns", ns);
}

static void add_source(text *to, const mt_lookup_block *block, const mt_lookup_row *row)
{
    long long nvrtc = row->toolchain->numbers[0], driver = row->toolchain->numbers[1];
    time_t seconds = (time_t)(row->created_unix_ms / 1000);
    struct tm day;
    char date[32] = "unknown";
    if (gmtime_r(&seconds, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
    add(to, "source:   %s@%s, %s, CUDA %lld.%lld, driver %lld.%lld, %s\n", block->kernel, block->kernel_key, *row->toolchain->text ? row->toolchain->text : "unknown architecture",
        nvrtc / 1000, nvrtc % 1000 / 10, driver / 1000, driver % 1000 / 10, date);
    add(to, "from:     %s (%s%s), measurement %lld\n", block->db->files[row->file].path, block->db->files[row->file].is_shipped ? "shipped" : "user's",
        row->is_recorded ? ", a recorded GPU" : "", (long long)row->measurement);
}

static void explain_row(text *to, const mt_lookup_block *block, const mt_lookup_row *row)
{
    add(to, "exact:    tuned for %s and this shape (%s), workload %s\n", block->gpus[row->file] ? block->gpus[row->file] : block->gpu, row->shape_name, row->workload);
    add(to, "variant:  %s\n", row->variant->text);
    add(to, "measured: ");
    add_duration(to, row->median_ns);
    if (row->low_ns <= row->high_ns) {
        add(to, " (95 %%: ");
        add_duration(to, row->low_ns);
        add(to, " to ");
        add_duration(to, row->high_ns);
        add(to, ")");
    }
    add(to, ", %s; validated", row->is_warm ? "warm" : "cold");
    if (row->norm_error == row->norm_error) add(to, ", error %.2g", row->norm_error);
    add(to, "\n");
    if (row->slowdown == row->slowdown) add(to, "expected: %.3f times the best", row->slowdown);
    else add(to, "expected: unknown, not measured on every workload");
    if (row->workload_count > 1) add(to, " on the worst of %d workloads", row->workload_count);
    add(to, "\n");
    add_source(to, block, row);
    if (block->left_out) add(to, "note:     left out: %s\n", block->left_out);
}

static void explain_none(text *to, const mt_lookup_block *block, const tunelookup_result *result)
{
    char why[512];
    if (result->reason_ == MT_LOOKUP_REASON_REJECTED && result->row_ < block->row_count) {
        const mt_lookup_row *row = block->rows[result->row_];
        mt_lookup_scene scene;
        uint32_t launches;
        const char *refusal = row->variant->problem;
        if (!refusal) {
            mt_lookup_scene_fill(&scene, block, row->variant, result->values_);
            refusal = mt_lookup_scene_refusal(&scene, why, sizeof why);
            if (!refusal) refusal = mt_lookup_scene_illegal(&scene, &launches);
        }
        add(to, "none:     the variant tuned for this GPU and shape is refused: %s\n", refusal ? refusal : "it is fine now");
        add(to, "variant:  %s\n", row->variant->text);
        if (!row->variant->problem) add_missing_facts(to, &block->model);
    } else if (result->reason_ == MT_LOOKUP_REASON_NO_SHAPE) {
        add(to, "none:     this shape was not tuned on %s", block->gpu);
        if (block->workload) add(to, " for workload %s", block->workload);
        add(to, "; %u other shape%s of its kind %s\n", (unsigned)block->row_count, plural(block->row_count), block->row_count == 1 ? "was" : "were");
    } else {
        add(to, "none:     nothing of this kind was tuned on %s", block->gpu);
        if (block->workload) add(to, " for workload %s", block->workload);
        if (*block->elsewhere) add(to, "; the kernel has winners on: %s", block->elsewhere);
        add(to, "\n");
        if (*block->unknown) add(to, "unknown:  %s\n", block->unknown);
    }
    add(to, "asked:    ");
    add_shape(to, block, result->values_);
    add(to, "\n");
    add(to, "source:   %s@%s\n", block->kernel, block->kernel_key);
    add_left_out(to, block);
}

size_t tunelookup_explain(const tunelookup_result *result, char *buffer, size_t size)
{
    text to = { buffer, buffer ? size : 0, 0 };
    const mt_lookup_block *block = result ? result->block_ : NULL;
    add(&to, "%s", "");
    if (!block) add(&to, "none:     no result\n");
    else if (result->match == TUNELOOKUP_MATCH_NONE || result->row_ >= block->row_count) explain_none(&to, block, result);
    else explain_row(&to, block, block->rows[result->row_]);
    return to.used;
}
