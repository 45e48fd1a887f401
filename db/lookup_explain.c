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
        bool is_fine = ((unsigned char)*at >= 0x20 && *at != 0x7f) || (*at == '\n' && !at[1]);
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
    add(to, "exact:    tuned for %s and this shape (%s), workload %s\n", block->gpu, row->shape_name, row->workload);
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
    } else if (result->reason_ == MT_LOOKUP_REASON_NO_SHAPE) {
        add(to, "none:     this shape was not tuned on %s", block->gpu);
        if (block->workload) add(to, " for workload %s", block->workload);
        add(to, "; %u other shapes of its kind were\n", (unsigned)block->row_count);
    } else {
        add(to, "none:     nothing of this kind was tuned on %s", block->gpu);
        if (block->workload) add(to, " for workload %s", block->workload);
        if (block->elsewhere && *block->elsewhere) add(to, "; the kernel has winners on: %s", block->elsewhere);
        add(to, "\n");
    }
    add(to, "asked:    ");
    add_shape(to, block, result->values_);
    add(to, "\n");
    add(to, "source:   %s@%s\n", block->kernel, block->kernel_key);
    if (block->hidden_recorded) add(to, "note:     %u rows of recorded GPUs are left out; open with TUNELOOKUP_RECORDED to use them\n", (unsigned)block->hidden_recorded);
    if (block->hidden_imported) add(to, "note:     %u imported rows are left out: nobody validated them here\n", (unsigned)block->hidden_imported);
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
