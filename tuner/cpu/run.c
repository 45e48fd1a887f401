#include "tuner/cpu/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/child.h"
#include "tuner/base/file.h"
#include "tuner/base/stop_signals.h"
#include "tuner/base/text.h"
#include "tuner/cpu/build.h"
#include "tuner/cpu/cpu_program.h"
#include "tuner/gpu/verify_rules.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/source/declared.h"
#include "tuner/space/spec/npy.h"

enum { MOST_THREADS = 16 << 20, MOST_BYTES = 1 << 30, MOST_OUTPUT = 4 << 20 };

typedef struct runner {
    const mt_cpu_request *request;
    mt_cpu_report *report;
    mt_source source;
    mt_cpu_builder builder;
    mt_env *env;
    mt_plan reference;
    mt_plan_tensor *tensors;
    mt_dtype *written;
    char *lost_read; /* the first lane that was shown something by none; NULL: none was */
} runner;

/* Takes the text. */
static mt_status end_with(runner *self, const char *outcome, mt_strbuf *text, mt_error *err)
{
    self->report->outcome = outcome;
    mt_free(self->report->text);
    self->report->text = mt_strbuf_take(text);
    return self->report->text ? MT_OK : mt_no_memory("check --run", err);
}

static bool has_ended(const runner *self)
{
    return self->report->outcome != NULL;
}

/* ---- what can't be run ---- */

static void refuse_launch(const mt_plan_launch *launch, mt_strbuf *why)
{
    const char *phase = mt_launch_phase_names[launch->from->phase];
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1) mt_strbuf_addf(why, "[%s %d]: a cluster of blocks", phase, launch->from->number);
    else if (launch->from->cooperative) mt_strbuf_addf(why, "[%s %d]: a cooperative launch, whose blocks wait for each other", phase, launch->from->number);
    else if (launch->from->resident) mt_strbuf_addf(why, "[%s %d]: a resident launch, whose blocks wait for each other", phase, launch->from->number);
}

static unsigned long long threads_of(const mt_plan *plan)
{
    unsigned long long sum = 0;
    for (size_t i = 0; i < plan->launch_count; i++) {
        const mt_plan_launch *one = &plan->launches[i];
        unsigned long long blocks = (unsigned long long)one->grid[0] * one->grid[1] * one->grid[2], threads = (unsigned long long)one->block[0] * one->block[1] * one->block[2] * one->repeat;
        sum += blocks > MOST_THREADS || threads > MOST_THREADS ? MOST_THREADS + 1 : blocks * threads;
    }
    return sum;
}

static mt_status refuse_plan(runner *self, const mt_plan *plan, mt_error *err)
{
    mt_strbuf why = {0};
    const mt_spec *spec = self->request->spec;
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->arg_count; i++) {
        if (plan->args[i].kind == MT_ARG_TENSORMAP && plan->args[i].used && !why.length) mt_strbuf_addf(&why, "argument %s: a tensor map, which only the copy engine of a GPU reads", spec->args[i].name);
        bytes += self->tensors[i].bytes;
    }
    for (size_t i = 0; i < plan->launch_count && !why.length; i++) refuse_launch(&plan->launches[i], &why);
    if (!why.length && bytes > MOST_BYTES) mt_strbuf_addf(&why, "shape %s has %llu MiB of arguments, and the CPU gets at most %d: expected a smaller one, as by --set %s=…", self->request->shape->name, (unsigned long long)(bytes >> 20), MOST_BYTES >> 20, self->request->shape->settings[0].name);
    if (!why.length && threads_of(plan) > MOST_THREADS)
        mt_strbuf_addf(&why, "shape %s takes more than %d million threads, too many for the CPU: expected a smaller one, as by --set %s=…", self->request->shape->name, MOST_THREADS >> 20, self->request->shape->settings[0].name);
    mt_status st = why.length ? end_with(self, "refused", &why, err) : MT_OK;
    mt_strbuf_free(&why);
    return st;
}

/* ---- the plans ---- */

/* Scratch is the plan's alone; what goes in and out has one size for both. */
static void learn_tensors(runner *self, const mt_plan *plan)
{
    for (size_t i = 0; i < plan->arg_count; i++)
        if (plan->args[i].kind == MT_ARG_TENSOR && plan->args[i].tensor.bytes) self->tensors[i] = plan->args[i].tensor;
}

static mt_status find_written(runner *self, mt_error *err)
{
    mt_declared declared;
    const mt_spec *spec = self->request->spec;
    mt_status st = mt_declared_read(&self->source, &declared, err);
    bool is_first = true;
    for (size_t i = 0; i < spec->arg_count && st == MT_OK; i++) {
        mt_dtype own = self->tensors[i].dtype;
        bool is_made = mt_arg_is_output(&spec->args[i]) && (spec->reference ? self->reference.args[i].used : spec->reference_is_default ? self->report->plan.args[i].used : is_first);
        self->written[i] = !is_made ? MT_DTYPE_COUNT : spec->reference && mt_dtype_is_float(own) ? mt_declared_reference_dtype(&declared, spec, i, own) : own;
        is_first = is_first && !mt_arg_is_output(&spec->args[i]);
    }
    mt_declared_free(&declared);
    return st;
}

static mt_status make_plans(runner *self, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_cpu_request *request = self->request;
    char *illegal = NULL;
    mt_strbuf why = {0};
    MT_TRY(mt_env_create(request->spec, request->shape, request->facts, &self->env, err));
    MT_TRY(mt_env_set_point(self->env, request->point, err));
    MT_TRY(mt_plan_make(self->env, &self->report->plan, &illegal, err));
    if (!illegal) illegal = mt_plan_illegal(self->env, &self->report->plan);
    if (illegal) {
        mt_strbuf_addf(&why, "the variant is illegal: %s", illegal);
        st = end_with(self, "refused", &why, err);
        goto done;
    }
    MT_TRY(mt_plan_reference(self->env, mt_reference_of(mt_env_spec(self->env), NULL), &self->reference, err));
    self->tensors = mt_alloc(request->spec->arg_count, sizeof *self->tensors);
    self->written = mt_alloc(request->spec->arg_count, sizeof *self->written);
    if (!self->tensors || !self->written) {
        st = mt_no_memory("check --run", err);
        goto done;
    }
    learn_tensors(self, &self->report->plan);
    learn_tensors(self, &self->reference);
    MT_TRY(find_written(self, err));
    if (request->spec->reference) MT_TRY(refuse_plan(self, &self->reference, err));
    if (!has_ended(self)) MT_TRY(refuse_plan(self, &self->report->plan, err));
done:
    mt_strbuf_free(&why);
    mt_free(illegal);
    return st;
}

/* ---- contents from files ---- */

static mt_status store(const runner *self, const char *format, size_t arg, const void *data, size_t bytes, mt_error *err)
{
    mt_strbuf name = {0};
    if (strcmp(format, MT_CPU_INPUT) == 0) mt_strbuf_addf(&name, MT_CPU_INPUT, arg);
    else mt_strbuf_addf(&name, MT_CPU_EXPECTED, arg);
    char *path = mt_path_join(self->builder.folder.path, mt_strbuf_text(&name));
    mt_status st = path ? mt_file_write_cached(path, data, bytes, err) : mt_no_memory("check --run", err);
    mt_strbuf_free(&name);
    mt_free(path);
    return st;
}

static mt_status store_input(const runner *self, size_t i, mt_error *err)
{
    const mt_arg *arg = &self->request->spec->args[i];
    const mt_plan_tensor *tensor = &self->tensors[i];
    mt_npy_file file = {0};
    mt_status st = mt_npy_open(arg->init_file, &file, err);
    if (st == MT_OK) st = mt_npy_expect(&file.npy, arg->init_file, arg->name, tensor->dtype, tensor->dims, tensor->rank, err);
    if (st == MT_OK) st = store(self, MT_CPU_INPUT, i, file.data, tensor->bytes, err);
    mt_npy_close(&file);
    return st;
}

static mt_status store_expected(runner *self, size_t i, mt_error *err)
{
    const mt_spec *spec = self->request->spec;
    const mt_plan_tensor *tensor = &self->tensors[i];
    mt_npy_file file = {0};
    double *wide = NULL;
    mt_status st = mt_npy_open(spec->reference_file, &file, err);
    if (st == MT_OK) st = mt_npy_expect_output(&file.npy, spec->reference_file, spec->args[i].name, tensor->dtype, tensor->dims, tensor->rank, err);
    if (st == MT_OK && file.npy.dtype == MT_F32 && !(wide = mt_alloc(tensor->elements, sizeof *wide))) st = mt_no_memory("check --run", err);
    for (uint64_t k = 0; wide && k < tensor->elements; k++) wide[k] = ((const float *)file.data)[k];
    if (st == MT_OK && file.npy.dtype == MT_F16 && mt_dtype_is_float(tensor->dtype)) st = MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s holds f16, which check --run does not read; expected f32 or f64", spec->reference_file);
    if (st == MT_OK) st = store(self, MT_CPU_EXPECTED, i, wide ? (const void *)wide : file.data, tensor->elements * (mt_dtype_is_float(tensor->dtype) ? 8 : mt_dtype_bytes(tensor->dtype)), err);
    mt_free(wide);
    mt_npy_close(&file);
    return st;
}

static mt_status store_files(runner *self, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = self->request->spec;
    for (size_t i = 0; i < spec->arg_count && st == MT_OK; i++) {
        if (spec->args[i].init_file && self->tensors[i].bytes) st = store_input(self, i, err);
        if (st == MT_OK && spec->reference_file && self->written[i] != MT_DTYPE_COUNT) st = store_expected(self, i, err);
    }
    return st;
}

/* ---- running ---- */

/* "/tmp/x/k.cu:12" of a line, where that file is the source's: adds " (k.cu:12)". */
static bool add_place(const runner *self, const char *line, mt_strbuf *text)
{
    size_t length = strcspn(line, "\n");
    for (size_t i = 0; i < self->source.file_count; i++) {
        const char *name = self->source.files[i].name, *found = memmem(line, length, name, strlen(name)), *digits = found ? found + strlen(name) : NULL;
        if (!found || (found > line && !strchr("/ ", found[-1])) || digits[0] != ':' || digits[1] < '1' || digits[1] > '9') continue;
        mt_strbuf_addf(text, " (%.*s)", (int)(strlen(name) + 1 + strspn(digits + 1, "0123456789")), found);
        return true;
    }
    return false;
}

/* The sanitizer of some g++ does not find the lines of templates, which binutils do: "    #0 0x40e9ae in scale (/tmp/x/variant+0x40e9ae)" */
static mt_status ask_for_place(const runner *self, const char *frame, mt_strbuf *text, mt_error *err)
{
    char address[32] = "", *tool = mt_path_program("addr2line");
    const char *plus = strstr(frame, "+0x");
    if (plus) memcpy(address, plus + 1, strspn(plus + 1, "0x123456789abcdef") % sizeof address);
    const char *argv[] = {tool, "-e", self->report->is_of_reference ? "reference" : "variant", address, NULL}, *env[] = {"LC_ALL=C", NULL};
    const mt_child child = {.argv = argv, .env = env, .folder = self->builder.folder.path, .limit_s = 20, .most_output = 4096};
    mt_child_end end = {0};
    mt_status st = tool && address[0] ? mt_child_run(&child, &end, err) : MT_OK;
    if (end.output) add_place(self, end.output, text);
    mt_child_end_free(&end);
    mt_free(tool);
    return st;
}

/* The first place in the source that the sanitizer's trace names. */
static mt_status add_traced(const runner *self, const char *output, mt_strbuf *text, mt_error *err)
{
    const char *first = strstr(output, "    #0 ");
    for (const char *line = first ? first : ""; *line == ' '; line += strcspn(line, "\n"), line += *line == '\n')
        if (add_place(self, line, text)) return MT_OK;
    return first ? ask_for_place(self, first, text, err) : MT_OK;
}

/* "… is located 0 bytes after global variable 'tile' defined in …": shared memory of a fixed size is a variable here. */
static void add_variable(const char *output, mt_strbuf *text)
{
    static const char mark[] = "global variable '";
    const char *found = strstr(output, mark);
    if (!found) return;
    found += sizeof mark - 1;
    const char *last = found; /* of ns::kernel(float*)::tile the last part */
    for (const char *at = found; *at && *at != '\'' && *at != '\n'; at++)
        if (at[0] == ':' && at[1] == ':') last = at + 2;
    mt_strbuf_addf(text, ", beside %.*s", (int)strcspn(last, "'\n"), last);
}

static const char *known_outcome(const char *word, size_t length)
{
    static const char *const known[] = {"ok", "out_of_bounds", "wrote_input", "deadlock", "refused", "failed"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && strncmp(known[i], word, length) == 0) return known[i];
    return "failed";
}

/* Behind the kernel and the thread: what signal the sanitizer tells of. */
static mt_status add_signal(const runner *self, const char *output, mt_strbuf *text, mt_error *err)
{
    static const char mark[] = "AddressSanitizer: ";
    const char *report = strstr(output, mark), *name = report ? report + sizeof mark - 1 : "";
    size_t length = strcspn(name, " \n:");
    if (strncmp(name, "stack-overflow", length) == 0) mt_strbuf_add(text, ": its stack is too small here for its local arrays or its recursion");
    else if (length && strncmp(name, "FPE", length) == 0) mt_strbuf_add(text, " divides an integer by zero, for which a GPU gives any number");
    else mt_strbuf_addf(text, " is ended by the signal %.*s", (int)length, name);
    return add_traced(self, output, text, err);
}

static void describe_silence(const mt_child *child, const mt_child_end *end, mt_strbuf *text)
{
    char how[64];
    mt_child_describe(child, end, how);
    mt_strbuf_addf(text, "%s%s", how,
                   end->is_timeout          ? ": a loop that never ends, or waits for another thread, which has its turn only where this one waits at a barrier or ends; or too much work, where a smaller shape helps"
                   : end->signal == SIGFPE  ? ": an integer is divided by zero, for which a GPU gives any number"
                                            : ", without a word: too deep a stack, perhaps");
}

/* Cuts off the line that may say why a result is wrong. */
static mt_status take_lost_read(runner *self, char *rest, mt_error *err)
{
    char *line = strrchr(rest, '\n');
    if (!line) return MT_OK;
    *line++ = '\0';
    if (!*line || self->lost_read) return MT_OK;
    self->lost_read = mt_strdup(line);
    return self->lost_read ? MT_OK : mt_no_memory("check --run", err);
}

/* "/tmp/x/k.cu:3:20: runtime error: 1e+12 is outside the range of representable values of type 'int'": the first of the source. */
static mt_status take_undefined(runner *self, const char *output, mt_error *err)
{
    static const char mark[] = ": runtime error: ";
    mt_status st = MT_OK;
    for (const char *found = output; !self->lost_read && st == MT_OK && (found = strstr(found, mark)); found += sizeof mark) {
        const char *line = found;
        mt_strbuf text = {0};
        while (line > output && line[-1] != '\n') line--;
        mt_strbuf_addf(&text, "%.*s", (int)strcspn(found + sizeof mark - 1, "\n"), found + sizeof mark - 1);
        if (add_place(self, line, &text)) {
            mt_strbuf_add(&text, ": this processor gives something else than a GPU");
            if (!(self->lost_read = mt_strbuf_take(&text))) st = mt_no_memory("check --run", err);
        }
        mt_strbuf_free(&text);
    }
    return st;
}

/* What the program left as its last word. */
static mt_status judge_word(runner *self, char *word, const char *output, unsigned long long *threads, mt_error *err)
{
    size_t first = strcspn(word, "\n");
    const char *outcome = known_outcome(word, first);
    char *rest = word + first + (word[first] == '\n');
    mt_strbuf text = {0};
    mt_status st = take_lost_read(self, rest, err);
    mt_text_one_line(rest, strlen(rest));
    if (st == MT_OK && strcmp(outcome, "ok") == 0) {
        *threads = strtoull(rest, NULL, 10);
        return take_undefined(self, output, err);
    }
    mt_strbuf_add(&text, rest);
    if (strcmp(outcome, "out_of_bounds") == 0) {
        if (strstr(rest, "no argument's")) add_variable(output, &text);
        if (st == MT_OK) st = add_traced(self, output, &text, err);
    } else if (st == MT_OK && strcmp(outcome, "failed") == 0 && strstr(output, "AddressSanitizer: ")) {
        st = add_signal(self, output, &text, err);
    }
    if (self->lost_read) mt_strbuf_addf(&text, "; %s", self->lost_read);
    if (st == MT_OK) st = end_with(self, outcome, &text, err);
    mt_strbuf_free(&text);
    return st;
}

/* By its last word, or how it ended without one. */
static mt_status judge_end(runner *self, const mt_child *child, const mt_child_end *end, unsigned long long *threads, mt_error *err)
{
    mt_status st = MT_OK;
    char *word = NULL, *path = mt_path_join(self->builder.folder.path, "end");
    size_t length;
    mt_strbuf text = {0};
    mt_error missing;
    if (!path) return mt_no_memory("check --run", err);
    bool has_word = mt_file_read(path, 1 << 20, &word, &length, &missing) == MT_OK && length;
    unlink(path);
    mt_free(path);
    if (has_word && !end->is_timeout) {
        st = judge_word(self, word, end->output, threads, err);
    } else {
        describe_silence(child, end, &text);
        st = end_with(self, end->is_timeout ? "timeout" : "failed", &text, err);
    }
    mt_strbuf_free(&text);
    mt_free(word);
    return st;
}

static mt_status run_program(runner *self, const char *name, unsigned long long *threads, mt_error *err)
{
    static const char asan[] = "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:redzone=1024:max_redzone=2048:hard_rss_limit_mb=8192:allocator_may_return_null=1:detect_odr_violation=0:abort_on_error=0:exitcode=8";
    mt_child_end end = {0};
    char *path = mt_path_join(self->builder.folder.path, name);
    const char *argv[] = {path, NULL}, *env[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", asan, NULL};
    const mt_child child = {.argv = argv, .env = env, .folder = self->builder.folder.path, .limit_s = self->request->run_limit_s, .most_output = MOST_OUTPUT, .memory_bytes = self->builder.has_sanitizer ? 0 : (uint64_t)8 << 30, .stop = self->builder.stop};
    mt_status st = path ? mt_child_run(&child, &end, err) : mt_no_memory("check --run", err);
    if (st == MT_OK) st = judge_end(self, &child, &end, threads, err);
    mt_child_end_free(&end);
    mt_free(path);
    return st;
}

/* The line that says what the host's compiler does not take: the first with an error. */
static mt_status refuse_source(runner *self, const mt_strbuf *why, mt_error *err)
{
    const char *all = mt_strbuf_text(why), *error = strstr(all, "error: ");
    while (error && error > all && error[-1] != '\n') error--;
    mt_strbuf text = {0};
    const char *line = error ? error : all, *folder = self->builder.folder.path;
    size_t length = strcspn(line, "\n");
    if (strncmp(line, folder, strlen(folder)) == 0) line += strlen(folder) + 1, length = strcspn(line, "\n");
    mt_strbuf_addf(&text, "the host's compiler does not take the source: %.*s", (int)length, line);
    mt_status st = end_with(self, "refused", &text, err);
    mt_strbuf_free(&text);
    return st;
}

static mt_status run_part(runner *self, bool is_reference, mt_error *err)
{
    mt_status st = MT_OK;
    mt_options options = {0};
    mt_strbuf why = {0}, program = {0};
    char *text = NULL;
    bool is_made = false;
    mt_cpu_job job = {.spec = self->request->spec, .plan = is_reference ? &self->reference : &self->report->plan, .tensors = self->tensors, .written = self->written};
    self->report->is_of_reference = is_reference;
    MT_TRY(is_reference ? mt_options_support(self->env, self->request->workload, mt_reference_of(mt_env_spec(self->env), NULL), &options, err) : mt_options_variant(self->env, &options, err));
    MT_TRY(mt_cpu_build_text(&self->builder, &self->source, &options, &text, &why, err));
    if (text) {
        job.source = text;
        mt_strbuf_add(&program, text);
        MT_TRY(is_reference ? mt_cpu_program_reference(&job, &program, err) : mt_cpu_program_variant(&job, &program, err));
        MT_TRY(mt_cpu_build_program(&self->builder, is_reference ? "reference" : "variant", mt_strbuf_text(&program), &options, &is_made, &why, err));
    }
    if (is_made) MT_TRY(run_program(self, is_reference ? "./reference" : "./variant", is_reference ? &self->report->reference_threads : &self->report->threads, err));
    else MT_TRY(refuse_source(self, &why, err));
done:
    mt_free(text);
    mt_options_free(&options);
    mt_strbuf_free(&why);
    mt_strbuf_free(&program);
    return st;
}

/* ---- the verdict ---- */

typedef struct compared {
    mt_compare_result result;
    mt_u64 differing, first;
} compared; /* as shim/support_cpu.cpp writes it */

static mt_status read_comparison(const runner *self, size_t i, int run, compared *found, mt_error *err)
{
    mt_strbuf name = {0};
    char *data = NULL;
    size_t length = 0;
    mt_strbuf_addf(&name, "%s/" MT_CPU_COMPARED, self->builder.folder.path, i, run);
    mt_status st = mt_file_read(mt_strbuf_text(&name), 0, &data, &length, err);
    mt_strbuf_free(&name);
    if (st == MT_OK && length != sizeof *found) st = MT_FAIL(err, MT_ERR_IO, "check --run: a comparison of %zu bytes, expected %zu", length, sizeof *found);
    if (st == MT_OK) memcpy(found, data, sizeof *found);
    mt_free(data);
    return st;
}

/* Beside its own first run, whose word is all there is: what it leaves out is wrong in either. */
static bool judge_repeated(const mt_arg *limits, const mt_plan_tensor *tensor, const compared *found, bool *is_left_out, mt_strbuf *text)
{
    bool is_whole = !mt_verify_leaves_out(limits, tensor->dtype, &found->result), repeats = mt_verify_repeats(limits, &found->result) || mt_verify_passes(limits, tensor->dtype, &found->result);
    bool has_old_bits = !repeats && !mt_dtype_is_float(tensor->dtype) && found->result.unwritten >= found->differing; /* each run begins with others */
    *is_left_out = !is_whole || has_old_bits;
    if (has_old_bits) {
        mt_strbuf_addf(text, "%s: %llu of %llu elements not written, first ", limits->name, (unsigned long long)found->differing, (unsigned long long)tensor->elements);
        mt_verify_element(tensor, found->first, text);
    } else if (!is_whole) mt_verify_describe(limits, tensor, &found->result, text);
    else if (!repeats) mt_verify_describe_spread(limits, tensor, &found->result, text);
    else mt_strbuf_addf(text, "%s: all elements written, by two runs alike", limits->name);
    return is_whole && repeats;
}

static bool judge_beside_reference(const mt_arg *limits, const mt_plan_tensor *tensor, const compared *found, bool *is_left_out, mt_strbuf *text)
{
    *is_left_out = limits->may_differ == 0 && mt_verify_leaves_out(limits, tensor->dtype, &found->result);
    if (limits->may_differ > 0) mt_verify_describe_differing(limits, tensor, found->differing, found->first, text);
    else mt_verify_describe(limits, tensor, &found->result, text);
    return limits->may_differ > 0 ? mt_verify_few_differ(limits, tensor, found->differing) : mt_verify_passes(limits, tensor->dtype, &found->result);
}

/* The last run's word, or that of the first which is not right. */
static mt_status judge_output(runner *self, size_t i, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_plan_tensor *tensor = &self->tensors[i];
    mt_cpu_output *output = &self->report->outputs[self->report->output_count];
    const mt_arg limits = mt_verify_limits(&self->request->spec->args[i], tensor->dtype);
    mt_strbuf text = {0};
    compared found;
    output->arg = i;
    output->passes = true;
    for (int run = 0; run < MT_CPU_RUNS && output->passes; run++) {
        double worst = 0;
        bool is_left_out;
        mt_strbuf_clear(&text);
        MT_TRY(read_comparison(self, i, run, &found, err));
        output->passes = self->request->spec->reference_is_default ? judge_repeated(&limits, tensor, &found, &is_left_out, &text) : judge_beside_reference(&limits, tensor, &found, &is_left_out, &text);
        output->accuracy = (mt_accuracy){0};
        mt_verify_note(&limits, &found.result, &output->accuracy, &worst);
        if (mt_verify_is_vacuous(tensor, &found.result)) mt_strbuf_addf(&text, "; the %s is 0 or no number in every element, which proves nothing: expected inputs that give others (init)", self->request->spec->reference_is_default ? "first run" : "reference");
        if (!output->passes && run > 0 && !is_left_out) mt_strbuf_add(&text, "; in a second run from equal inputs, which meets what the first left in variables, and whose threads take turns in another order");
    }
    self->report->output_count++;
    output->text = mt_strbuf_take(&text);
    if (!output->text) st = mt_no_memory("check --run", err);
done:
    mt_strbuf_free(&text);
    return st;
}

static mt_status judge(runner *self, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf wrong = {0};
    self->report->outputs = mt_alloc(self->request->spec->arg_count, sizeof *self->report->outputs);
    if (!self->report->outputs) return mt_no_memory("check --run", err);
    for (size_t i = 0; i < self->request->spec->arg_count && st == MT_OK; i++) {
        if (self->written[i] == MT_DTYPE_COUNT || !self->report->plan.args[i].used) continue;
        st = judge_output(self, i, err);
        const mt_cpu_output *output = &self->report->outputs[self->report->output_count - (st == MT_OK)];
        if (st == MT_OK && !output->passes) mt_strbuf_addf(&wrong, "%s%s", wrong.length ? "; " : "", output->text);
    }
    if (wrong.length && self->lost_read) mt_strbuf_addf(&wrong, "; %s", self->lost_read);
    if (st == MT_OK && wrong.length) st = end_with(self, "wrong_result", &wrong, err);
    else self->report->outcome = "ok";
    mt_strbuf_free(&wrong);
    return st;
}

mt_status mt_cpu_run(const mt_cpu_request *request, mt_cpu_report *report, mt_error *err)
{
    mt_status st = MT_OK;
    runner self = {.request = request, .report = report, .builder.folder.lock = -1};
    sigset_t before;
    int stop = mt_stop_signals_hold(&before);
    self.builder.stop = stop > 0 ? stop : 0;
    *report = (mt_cpu_report){0};
    MT_TRY(mt_source_load_for_host(request->spec, &self.source, err));
    MT_TRY(make_plans(&self, err));
    if (has_ended(&self)) goto done;
    MT_TRY(mt_cpu_build_open(&self.source, request->compile_limit_s, &self.builder, err));
    report->has_sanitizer = self.builder.has_sanitizer;
    if (!(report->compiler = mt_strdup(self.builder.compiler))) st = mt_no_memory("check --run", err);
    if (st == MT_OK) st = store_files(&self, err);
    if (st == MT_OK) st = run_part(&self, true, err);
    if (st == MT_OK && !has_ended(&self)) st = run_part(&self, false, err);
    if (st == MT_OK && !has_ended(&self)) st = judge(&self, err);
done:
    mt_cpu_build_close(&self.builder);
    mt_plan_free(&self.reference);
    mt_env_free(self.env);
    mt_source_free(&self.source);
    mt_free(self.tensors);
    mt_free(self.written);
    mt_free(self.lost_read);
    mt_stop_signals_let_go(stop, &before);
    if (st != MT_OK) mt_cpu_report_free(report);
    return st;
}

mt_status mt_cpu_size(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, double *size, mt_error *err)
{
    mt_env *env = NULL;
    mt_plan plan = {0};
    *size = 0;
    mt_status st = mt_env_create(spec, shape, facts, &env, err);
    if (st == MT_OK) st = mt_plan_reference(env, mt_reference_of(mt_env_spec(env), NULL), &plan, err);
    for (size_t i = 0; i < plan.arg_count && st == MT_OK; i++)
        if (plan.args[i].kind == MT_ARG_TENSOR) *size += (double)plan.args[i].tensor.elements;
    mt_plan_free(&plan);
    mt_env_free(env);
    return st;
}

void mt_cpu_report_free(mt_cpu_report *report)
{
    for (size_t i = 0; report->outputs && i < report->output_count; i++) mt_free(report->outputs[i].text);
    mt_free(report->outputs);
    mt_free(report->text);
    mt_free(report->compiler);
    mt_plan_free(&report->plan);
    *report = (mt_cpu_report){0};
}
