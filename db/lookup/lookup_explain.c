/* A result in words. */
#include "db/lookup/lookup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct text {
    char *out;
    size_t size, used; /* used: as if there were room */
} text;

static void add(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_list(text *to, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Parts may come from a stranger's file: control characters are shown as '?', also line breaks unless they end the piece. */
static void add_list(text *to, const char *format, va_list args)
{
    char piece[1024];
    vsnprintf(piece, sizeof piece, format, args);
    for (const char *at = piece; *at; at++, to->used++) {
        bool is_fine = mt_lookup_is_shown(piece, at) || (*at == '\n' && !at[1]);
        if (to->used + 1 < to->size) to->out[to->used] = is_fine ? *at : '?';
    }
    if (to->size) to->out[to->used < to->size ? to->used : to->size - 1] = '\0';
}

static void add(text *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_list(to, format, args);
    va_end(args);
}

static void on_say(void *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void on_say(void *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_list(context, format, args);
    va_end(args);
}

static void add_shape(text *to, const mt_lookup_answers *answers, const int64_t *values)
{
    for (uint32_t i = 0; i < answers->model.name_count; i++) {
        const mt_lookup_model_name *name = &answers->model.names[i];
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

/* The workload that was asked for, where nothing answers that was measured with it. */
static void add_workload_note(text *to, const mt_lookup_answers *answers)
{
    if (answers->missing_workload) add(to, "note:     no row here is of workload %s; rows of other workloads answer%s%s\n", answers->missing_workload, *answers->unknown_workload ? "; " : "", answers->unknown_workload);
    else if (*answers->unknown_workload) add(to, "note:     %s\n", answers->unknown_workload);
}

/* Where rows of other workloads than the asked one answer. */
static void add_other_workload_note(text *to, const mt_lookup_answers *answers, const mt_lookup_row *row)
{
    if (row->is_other_workload) add(to, "note:     no row of this shape answers for workload %s; its row%s of other workloads do%s\n", answers->workload, row->workload_count > 1 ? "s" : "", row->workload_count > 1 ? "" : "es");
}

/* Of files: rows that are damaged, one that could not be read, and one that knows the kernel by another text of its search space. */
static void add_file_notes(text *to, const mt_lookup_answers *answers)
{
    const mt_lookup_file *files = answers->db->files;
    const uint32_t damaged = answers->hidden_damaged;
    add_workload_note(to, answers);
    if (damaged) add(to, "note:     %u damaged row%s %s left out, as it or what it refers to is none that msda-tune writes: %s\n", (unsigned)damaged, plural(damaged), damaged == 1 ? "is" : "are", answers->damaged->why);
    for (uint32_t i = 0; i < answers->left_out_count; i++) add(to, "note:     left out: %s\n", answers->left_out[i].why);
    if (answers->other_spec_file == answers->spec_file) return;
    add(to, "note:     %s has another version of this kernel's expressions; those of %s are used, which comes first (running msda-tune tune on it renews them)\n", files[answers->other_spec_file].path,
        files[answers->spec_file].path);
}

/* Rows and files that could have answered but for a reason. */
static void add_left_out(text *to, const mt_lookup_answers *answers)
{
    uint32_t recorded = answers->hidden_recorded, imported = answers->hidden_imported;
    if (recorded) add(to, "note:     %u row%s of recorded GPUs %s left out; TUNELOOKUP_RECORDED, or `msda-tune lookup --gpu recorded:NAME`, asks %s\n", (unsigned)recorded, plural(recorded), recorded == 1 ? "is" : "are", recorded == 1 ? "it" : "them");
    if (imported) add(to, "note:     %u imported row%s %s left out: nobody validated them here\n", (unsigned)imported, plural(imported), imported == 1 ? "is" : "are");
    if (answers->damaged_predictors) add(to, "note:     %u damaged portfolio%s left out: a column has a value that msda-tune never writes\n", (unsigned)answers->damaged_predictors, answers->damaged_predictors == 1 ? " is" : "s are");
    if (answers->hidden_shapes) add(to, "note:     %u shape%s of a portfolio %s left out, of other values than the kernel has: %s\n", (unsigned)answers->hidden_shapes, plural(answers->hidden_shapes),
                                  answers->hidden_shapes == 1 ? "is" : "are", answers->hidden_shape);
    if (answers->other_predictors) add(to, "note:     %u portfolio%s left out: another version of msda-tune chose %s (a session on the file renews it)\n", (unsigned)answers->other_predictors, answers->other_predictors == 1 ? " is" : "s are",
                                     answers->other_predictors == 1 ? "it" : "them");
    add_file_notes(to, answers);
}

static void add_duration(text *to, double ns)
{
    if (ns >= 1e6) add(to, "%.4g ms", ns / 1e6);
    else if (ns >= 1e3) add(to, "%.4g µs", ns / 1e3);
    else add(to, "%.4g ns", ns);
}

static void add_source(text *to, const mt_lookup_answers *answers, const mt_lookup_row *row)
{
    long long nvrtc = row->toolchain->numbers[0], driver = row->toolchain->numbers[1];
    time_t seconds = (time_t)(row->created_unix_ms / 1000);
    struct tm day;
    char date[32] = "unknown";
    if (gmtime_r(&seconds, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
    add(to, "source:   %s@%s, %s, CUDA %lld.%lld, driver %lld.%lld, %s\n", answers->kernel, answers->kernel_key, *row->toolchain->text ? row->toolchain->text : "unknown architecture",
        nvrtc / 1000, nvrtc % 1000 / 10, driver / 1000, driver % 1000 / 10, date);
    add(to, "from:     %s (%s%s), measurement %lld\n", answers->db->files[row->file].path, answers->db->files[row->file].is_shipped ? "shipped" : "user's",
        row->is_recorded ? ", a recorded GPU" : "", (long long)row->measurement);
}

static void add_measured(text *to, const mt_lookup_answers *answers, const mt_lookup_row *row, const char *where)
{
    add(to, row->is_recorded ? "recorded: " : "measured: ");
    add_duration(to, row->median_ns);
    if (answers->model.per) add(to, " per unit of work (per = %s)", answers->model.per);
    if (row->low_ns <= row->high_ns) {
        add(to, " (95 %%: ");
        add_duration(to, row->low_ns);
        add(to, " to ");
        add_duration(to, row->high_ns);
        add(to, ")");
    }
    add(to, ", %s%s; ", row->is_warm ? "warm" : "cold", where);
    if (row->norm_error == row->norm_error) add(to, "validated%s%s, error %.2g\n", row->is_recorded ? " where it was recorded" : "", answers->model.is_by_default ? " against the default variant's output" : "", row->norm_error);
    else add(to, "its error is not stored\n");
}

/* Of an answer within a limit: how it keeps it. */
static void add_within(text *to, const tunelookup_result *result)
{
    char shapes[64] = "the only tuned shape";
    if (isinf(result->max_error_)) return;
    if (result->error_shapes > 1) snprintf(shapes, sizeof shapes, "each of %d tuned shapes", (int)result->error_shapes);
    if (!result->error_shapes) add(to, "within:   the fastest variant that is known to have an error of at most %.3g on this shape; its error is %.3g\n", result->max_error_, result->norm_error);
    else add(to, "within:   its error was at most %.3g on %s with this shape's strings on which it was validated; the limit is %.3g. On a shape like these it is greater in one of %d cases\n",
             result->norm_error, shapes, result->max_error_, (int)result->error_shapes + 1);
}

/* Of an exact row; of several workloads, on the worst. */
static void add_slowdown(text *to, const mt_lookup_answers *answers, const mt_lookup_row *row)
{
    unsigned count = row->workload_count;
    const char *missing = row->is_other_workload ? answers->workload : answers->missing_workload;
    if (count == 1 && !missing && row->slowdown <= 1) return; /* the best that is known: that goes without saying */
    add(to, "expected: ");
    if (missing && count == 1) {
        add(to, "unknown for workload %s; with workload %s it is the best\n", missing, row->workload);
        return;
    }
    if (row->slowdown == row->slowdown && count > 1) add(to, "%.3f × the best time of a workload, where it does worst of %u", row->slowdown, count);
    else if (row->slowdown == row->slowdown) add(to, "%.3f × the best time", row->slowdown);
    else if (isinf(row->known_slowdown)) add(to, "unknown, because each workload's winner fails on another workload");
    else add(to, "unknown, because no winner was timed on all %u workloads, this one on %u of them; on the worst of those it takes %.3f × the best time", count, count - row->unmeasured,
             row->known_slowdown);
    add(to, "\n");
}

static void explain_row(text *to, const mt_lookup_answers *answers, const mt_lookup_row *row, const tunelookup_result *result)
{
    add(to, row->is_recorded ? "exact:    recorded on %s for this shape (%s), " : "exact:    tuned for %s and this shape (%s), ", answers->gpus[row->file] ? answers->gpus[row->file] : answers->gpu, row->shape_name);
    if (row->workload_count > 1) add(to, "chosen for all %u workloads; the time is of ", (unsigned)row->workload_count);
    add(to, "workload %s\n", row->workload);
    add(to, "variant:  %s\n", row->variant->text);
    add_measured(to, answers, row, "");
    add_within(to, result);
    if (answers->member) add(to, "class:    the fastest that is known to have the bits of %s on this shape\n", answers->member);
    add_slowdown(to, answers, row);
    add_source(to, answers, row);
    add_other_workload_note(to, answers, row);
    add_file_notes(to, answers);
}

/* ---- no row ---- */

/* Of this shape, of whatever workload. */
static const mt_lookup_damaged *find_damaged(const mt_lookup_answers *answers, const int64_t *values)
{
    const mt_lookup_damaged *row = answers->damaged;
    while (row && (!row->values || memcmp(row->values, values, answers->value_count * sizeof *values) != 0)) row = row->next;
    return row;
}

/* Within a limit: of what was measured for the shape nothing keeps it, or what does may not run. */
static void add_no_front(text *to, const mt_lookup_row *row, double max_error, const char *head)
{
    double least = INFINITY;
    for (; row; row = row->slower)
        if (row->most_error < least) least = row->most_error;
    if (least <= max_error) add(to, "%-9s what was measured for this GPU and shape with an error of at most %.3g may not run here\n", head, max_error);
    else if (isinf(least)) add(to, "%-9s no error is known of the variants that were measured for this GPU and shape\n", head);
    else add(to, "%-9s no variant that was measured for this GPU and shape has an error of at most %.3g; the least is %.3g\n", head, max_error, least);
}

/* Of a plan that is bound to a class. */
static void add_no_class(text *to, const mt_lookup_answers *answers, const mt_lookup_row *winner, const char *head)
{
    if (winner->of_class) add(to, "%-9s what has the bits of the class on this GPU and shape may not run here\n", head);
    else add(to, "%-9s no variant is known to have the bits of the class on this GPU and shape\n", head);
    add(to, "class:    %s\n", answers->member);
}

/* Why no exact row answers. */
static void add_no_row(text *to, const mt_lookup_answers *answers, const tunelookup_result *result, const char *head)
{
    char why[512];
    uint8_t launches;
    uint32_t index = mt_lookup_index_of(answers, result->values_);
    const mt_lookup_damaged *damaged = find_damaged(answers, result->values_);
    if (index < answers->row_count) {
        const mt_lookup_variant *variant = answers->rows[index]->variant;
        bool is_fine = mt_lookup_may_run(answers, variant, result->values_, &launches, why, sizeof why);
        const char *unsafe = mt_lookup_unsafe_on(answers, variant->text, result->values_);
        if (!isinf(result->max_error_)) {
            add_no_front(to, answers->rows[index], result->max_error_, head);
            return;
        }
        if (answers->member) {
            add_no_class(to, answers, answers->rows[index], head);
            return;
        }
        add(to, "%-9s the variant tuned for this GPU and shape is refused: %s\n", head, unsafe ? unsafe : is_fine ? "it is fine now" : why);
        add(to, "tuned:    %s\n", variant->text);
        if (!variant->problem) add_missing_facts(to, &answers->model);
    } else if (damaged) {
        add(to, "%-9s the row of this GPU and shape is left out, as it or what it refers to is damaged: %s\n", head, damaged->why);
    } else if (answers->row_count) {
        add(to, "%-9s this shape was not tuned on %s", head, answers->gpu);
        if (answers->workload) add(to, " for workload %s", answers->workload);
        add(to, "; others with the same string values and list lengths were\n");
    } else {
        add(to, "%-9s no shape like this was tuned on %s", head, answers->gpu);
        if (answers->workload) add(to, " for workload %s", answers->workload);
        if (answers->other_kinds) add(to, "; %u row%s there %s of other strings or list lengths", (unsigned)answers->other_kinds, plural(answers->other_kinds), answers->other_kinds == 1 ? "is" : "are");
        else if (*answers->elsewhere) add(to, "; the kernel has winners on: %s", answers->elsewhere);
        add(to, "\n");
        if (*answers->unknown) add(to, "unknown:  %s\n", answers->unknown);
    }
}

/* What was considered below the exact row, in the order of the steps; decides anew, which gives the same. */
static mt_lookup_decision add_steps(text *to, const mt_lookup_answers *answers, const tunelookup_result *result)
{
    const mt_lookup_trace trace = { on_say, to };
    mt_lookup_decision decision;
    mt_lookup_descend(answers, result->values_, result->max_error_, &trace, &decision);
    return decision;
}

static void add_asked(text *to, const mt_lookup_answers *answers, const tunelookup_result *result)
{
    add(to, "asked:    ");
    add_shape(to, answers, result->values_);
    add(to, "\n");
}

static void explain_none(text *to, const mt_lookup_answers *answers, const tunelookup_result *result)
{
    add_no_row(to, answers, result, "none:");
    if (!answers->member) add_steps(to, answers, result);
    add_asked(to, answers, result);
    add(to, "source:   %s@%s\n", answers->kernel, answers->kernel_key);
    add_left_out(to, answers);
}

static void add_expected(text *to, const mt_lookup_answers *answers, const mt_lookup_decision *decision, const char *what)
{
    bool is_known = decision->slowdown == decision->slowdown && decision->predictor < answers->predictor_count;
    uint32_t count = is_known ? answers->predictors[decision->predictor].held_out : 0;
    bool is_foreign = decision->match == TUNELOOKUP_MATCH_ARCHITECTURE;
    if (is_known) {
        add(to, "expected: %s%.3f × the time of the best variant for this shape%s", what, decision->slowdown, is_foreign ? " there" : "");
        if (decision->bound == decision->bound) add(to, ", in nine of ten cases no more than %.2f ×", decision->bound);
        bool is_surveyed = answers->predictors[decision->predictor].rule.costs_decide;
        if (is_surveyed) add(to, "; estimated on %u shapes that the correction of the cost model had not seen%s\n", (unsigned)count, is_foreign ? ", and how it carries over to this GPU was not measured" : "");
        else add(to, "; estimated on %u tuned shape%s, %sleft out once%s\n", (unsigned)count, plural(count), count == 1 ? "" : "each ", is_foreign ? ", and how it carries over to this GPU was not measured" : "");
    }
    else if (decision->match == TUNELOOKUP_MATCH_DEFAULT) add(to, "expected: unknown: there is no estimate for the default on this shape\n");
    else add(to, "expected: unknown: %s\n", is_foreign ? "how such a variant carries over to this GPU was not measured" : "there is no estimate for this shape");
}

/* Nearest, architecture, default. */
static void explain_step(text *to, const mt_lookup_answers *answers, const tunelookup_result *result)
{
    const mt_lookup_row *row = answers->rows[result->row_];
    char where[160];
    add_no_row(to, answers, result, "no row:");
    mt_lookup_decision decision = add_steps(to, answers, result);
    if (result->match == TUNELOOKUP_MATCH_DEFAULT) {
        add(to, "default:  the kernel's default variant; nobody validated it for this shape\n");
        add(to, "variant:  %s\n", row->variant->text);
        add_expected(to, answers, &decision, "it takes ");
        add(to, "source:   %s@%s\n", answers->kernel, answers->kernel_key);
    } else {
        const char *gpu = decision.predictor < answers->predictor_count ? answers->predictors[decision.predictor].gpu : answers->gpu;
        if (result->match == TUNELOOKUP_MATCH_NEAREST) add(to, "answer:   a variant that was measured on another shape (%s) on %s\n", row->shape_name, gpu);
        else add(to, "answer:   a variant that was measured on shape %s on another GPU of this architecture, %s\n", row->shape_name, gpu);
        add(to, "variant:  %s\n", row->variant->text);
        snprintf(where, sizeof where, ", on shape %.120s", row->shape_name);
        add_measured(to, answers, row, where);
        add_within(to, result);
        add_expected(to, answers, &decision, "");
        add_source(to, answers, row);
    }
    add_left_out(to, answers);
}

size_t tunelookup_explain(const tunelookup_result *result, char *buffer, size_t size)
{
    text to = { buffer, buffer ? size : 0, 0 };
    const mt_lookup_answers *answers = result ? result->answers_ : NULL;
    add(&to, "%s", "");
    if (!answers) add(&to, "none:     no result\n");
    else if (result->match == TUNELOOKUP_MATCH_NONE || result->row_ >= answers->row_total) explain_none(&to, answers, result);
    else if (result->match == TUNELOOKUP_MATCH_EXACT) explain_row(&to, answers, answers->rows[result->row_], result);
    else explain_step(&to, answers, result);
    return to.used;
}
