/* msda-tune check: compiles a search space for a GPU that need not be there. */
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/cli/check/check.h"
#include "tuner/cli/check/cover.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/check_json.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/same_code.h"
#include "tuner/cli/requests/check_run.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/cli/share.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/space/source/idle.h"

typedef struct check_values {
    const char *space, *gpu, *arch;
    mt_texts shapes, sets;
    int64_t jobs;
    double compile_limit_s;
    double run_limit_s;
    bool sample, list, no_cache, json, run;
} check_values;

#define FIELD(name) offsetof(check_values, name)
static const mt_option options[] = {
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one"},
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "NAME", "whose facts to use (default: h100, or the one that fits --arch)"},
    {"arch", 0, MT_OPTION_TEXT, FIELD(arch), "A", "architecture to compile for (default: the GPU's own)"},
    {"shape", 0, MT_OPTION_TEXTS, FIELD(shapes), "NAME", "only this [shape], or the one with the values\n\"N=1;M=8;H=92,46;dtype=f16\"; may be repeated"},
    {"sample", 0, MT_OPTION_FLAG, FIELD(sample), NULL, "a covering sample: each value of each knob at least once for each\nalgorithm"},
    {"list", 0, MT_OPTION_FLAG, FIELD(list), NULL, "one line for every point"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "an object instead of text: the space's facts, the shapes' points,\nand what was found, with file and line"},
    {"run", 0, MT_OPTION_FLAG, FIELD(run), NULL, "run the default variant and the reference on the CPU, with the smallest\nshape or that of --shape, and compare; nothing is compiled for a GPU"},
    {"set", 0, MT_OPTION_TEXTS, FIELD(sets), "NAME=VALUE", "with --run: a value in the place of the smallest shape's; may be repeated"},
    {"run-limit", 0, MT_OPTION_SECONDS, FIELD(run_limit_s), "S", "longest run of each of the two with --run (default 60)"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "compile workers (default: the host's cores, at most 32)"},
    {"compile-limit", 0, MT_OPTION_SECONDS, FIELD(compile_limit_s), "S", "longest compile of one variant (default 60)"},
    {"no-cache", 0, MT_OPTION_FLAG, FIELD(no_cache), NULL, "neither use nor fill the cache of compiled kernels"},
    {0},
};

typedef struct checking {
    const check_values *values;
    uv_loop_t loop;
    bool loop_open;
    char *space_path, *cache_dir;
    char arch[MT_ARCH_SIZE];
    mt_device_facts facts;
    mt_spec *spec;
    mt_requested_shapes wanted;
    mt_texts values_set; /* the shape of --set, as its values */
    mt_source source;
    mt_evaluator *evaluator;
    mt_space **spaces; /* one per shape of the spec; the evaluator refers to them */
    size_t trials;     /* given out over all shapes: ids are unique */
    size_t failed, illegal; /* of them */
    mt_check_json json;
    uint64_t idle;     /* knobs that the source does not hold, by index */
    mt_same_code codes;
    mt_texts warned;
    mt_strbuf refused; /* shapes whose reference, the default variant, may not run */
} checking;

/* The points of one shape and where their compiles stand. */
typedef struct batch {
    size_t subject, *points, count, submitted, done;
    uint64_t first_id;
    char **texts;
} batch;

static void warn(void *checking_, const char *text)
{
    checking *c = checking_;
    size_t before = c->warned.count;
    mt_error ignored;
    if (mt_texts_add_once(&c->warned, text, &ignored) == MT_OK && c->warned.count == before) return; /* it was told of another shape */
    mt_log_warn("%s", text);
    mt_check_json_message(&c->json, &c->source, "warning", text);
}

static void tell_error(checking *c, const char *text)
{
    mt_log_error("%s", text);
    mt_check_json_message(&c->json, &c->source, "error", text);
}

/* Returns how many. */
static size_t tell_lines(checking *c, const mt_strbuf *lines, bool are_errors)
{
    size_t count = 0;
    for (const char *line = mt_strbuf_text(lines); *line;) {
        size_t length = strcspn(line, "\n");
        char *text = mt_strndup(line, length);
        count += length > 0;
        if (text && *text && !are_errors) warn(c, text);
        if (text && *text && are_errors) tell_error(c, text);
        mt_free(text);
        line += length + (line[length] == '\n');
    }
    return count;
}

static bool is_wanted(const checking *c, const mt_shape *shape)
{
    const mt_texts *wanted = &c->wanted.shapes;
    if (!wanted->count) return shape->is_main;
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->items[i], shape->name) == 0) return true;
    return false;
}

static mt_status check_before(checking *c, mt_error *err)
{
    mt_strbuf text = {0}, types = {0};
    mt_status st = MT_OK;
    c->idle = mt_idle_knobs(c->spec, &c->source);
    mt_idle_tell_unread(c->spec, c->idle, &text);
    mt_strbuf_add(&text, "\n");
    mt_idle_tell(c->spec, mt_idle_reference_knobs(c->spec, &c->source), " of what is right, and reads_knobs makes a reference of each value", "the reference never", &text);
    mt_strbuf_add(&text, "\n");
    mt_check_taken_names(c->spec, &c->source, &text);
    for (size_t i = 0; i < c->spec->shape_count; i++)
        if (is_wanted(c, &c->spec->shapes[i])) MT_TRY(mt_check_types(c->spec, &c->spec->shapes[i], &c->facts, &c->source, &types, err));
    tell_lines(c, &text, false);
    size_t wrong = tell_lines(c, &types, true);
    if (wrong) st = MT_FAIL(err, MT_ERR_SPEC, "%s: %zu argument%s not what the kernel declares", c->space_path, wrong, wrong == 1 ? " is" : "s are");
done:
    mt_strbuf_free(&text);
    mt_strbuf_free(&types);
    return st;
}

static mt_status open_all(checking *c, mt_error *err)
{
    const check_values *v = c->values;
    mt_status st = MT_OK;
    mt_hash key;
    if (v->json && v->list) return MT_FAIL(err, MT_ERR_USAGE, "check: --json and --list are two forms; expected one of them");
    if (v->run && (v->list || v->sample)) return MT_FAIL(err, MT_ERR_USAGE, "check: --run runs one variant; expected no %s", v->list ? "--list" : "--sample");
    if ((v->run_limit_s > 0 || v->sets.count) && !v->run) return MT_FAIL(err, MT_ERR_USAGE, "check: %s without --run; expected both", v->sets.count ? "--set" : "--run-limit");
    if (v->sets.count && v->shapes.count) return MT_FAIL(err, MT_ERR_USAGE, "check: --set changes the smallest shape, and --shape names another; expected one of them");
    if (!v->space) return MT_FAIL(err, MT_ERR_USAGE, "check: --space FILE is missing; 'msda-tune list' names the shipped ones");
    st = mt_known_device(v->gpu || v->arch ? v->gpu : "h100", v->arch, &c->facts, c->arch, err);
    if (st != MT_OK) return st == MT_ERR_NOT_FOUND ? MT_ERR_USAGE : st;
    MT_TRY(mt_share_space(v->space, &c->space_path, err));
    c->wanted.command = "check";
    if (v->sets.count) MT_TRY(mt_check_run_values(c->space_path, &v->sets, &c->facts, &c->values_set, err));
    MT_TRY(mt_requested_shapes_load(c->space_path, v->sets.count ? &c->values_set : &v->shapes, &c->spec, &c->wanted, err));
    if (v->run) return MT_OK; /* nothing of what follows, which needs CUDA */
    MT_TRY(mt_source_load(c->spec, &c->source, err));
    MT_TRY(mt_source_key(c->spec, &c->source, &key, err)); /* a file of the reference's that is not there fails here, as for tune */
    MT_TRY(check_before(c, err));
    c->spaces = mt_alloc(c->spec->shape_count, sizeof *c->spaces);
    c->cache_dir = v->no_cache ? NULL : mt_path_user_cache();
    c->codes.spec = c->spec;
    if (!c->spaces || (!v->no_cache && !c->cache_dir)) return MT_FAIL(err, MT_ERR_NO_MEMORY, "check: out of memory");
    MT_TRY(mt_process_limits_check(err));
    if (uv_loop_init(&c->loop) != 0) return MT_FAIL(err, MT_ERR_IO, "check: no event loop");
    c->loop_open = true;
    mt_worker_options worker = {.jobs = (size_t)v->jobs, .arch = c->arch, .cache_dir = c->cache_dir,
                                .compile_limit_s = v->compile_limit_s > 0 ? v->compile_limit_s : 60, .variant_limit_s = 10, .subject_limit_s = 60};
    MT_TRY(mt_eval_compile_create(&c->loop, c->spec, &c->source, &worker, &c->facts, &c->evaluator, err));
done:
    return st;
}

static void close_all(checking *c)
{
    if (c->evaluator) c->evaluator->ops->destroy(c->evaluator);
    for (size_t i = 0; c->spaces && i < c->spec->shape_count; i++) mt_space_free(c->spaces[i]);
    if (c->loop_open) {
        uv_run(&c->loop, UV_RUN_NOWAIT);
        uv_loop_close(&c->loop);
    }
    mt_source_free(&c->source);
    mt_spec_free(c->spec);
    mt_requested_shapes_free(&c->wanted);
    mt_check_json_free(&c->json);
    mt_free(c->spaces);
    mt_same_code_free(&c->codes);
    mt_texts_free(&c->warned);
    mt_texts_free(&c->values_set);
    mt_strbuf_free(&c->refused);
    mt_free(c->space_path);
    mt_free(c->cache_dir);
}

static mt_status choose_points(const checking *c, const mt_space *space, batch *b, mt_error *err)
{
    mt_status st = MT_OK;
    if (c->values->sample) {
        MT_TRY(mt_cover_sample(space, &b->points, &b->count, err));
    } else if (!mt_space_is_enumerated(space)) {
        char count[MT_SPACE_COUNT_SIZE];
        return MT_FAIL(err, MT_ERR_USAGE, "check: shape %s has %s valid points, too many to compile: expected --sample", mt_space_shape(space)->name,
                       mt_space_count_text(space, count, sizeof count));
    } else {
        b->count = mt_space_count(space);
        b->points = mt_alloc(b->count, sizeof *b->points);
        for (size_t i = 0; b->points && i < b->count; i++) b->points[i] = i;
    }
    b->texts = mt_alloc(b->count, sizeof *b->texts);
    if ((!b->points && b->count) || !b->texts) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "check: out of memory");
done:
    return st;
}

static mt_status submit_next(checking *c, batch *b, mt_error *err)
{
    mt_point point;
    size_t i = b->submitted;
    mt_space_at(c->spaces[b->subject], b->points[i], &point);
    b->texts[i] = mt_point_text(c->spec, &point);
    if (!b->texts[i]) return MT_FAIL(err, MT_ERR_NO_MEMORY, "check: out of memory");
    const mt_trial trial = {.id = b->first_id + i, .subject = b->subject, .index = b->points[i], .variant = b->texts[i]};
    b->submitted++;
    c->trials++;
    return c->evaluator->ops->submit(c->evaluator, &trial, err);
}

static void warn_of_default_code(checking *c, const batch *b, size_t index, const mt_outcome *outcome)
{
    mt_strbuf why = {0};
    bool is_compiled = outcome->cubin.hex[0] != '\0'; /* else it was told before */
    if (outcome->kind == MT_OUTCOME_ILLEGAL && is_compiled) mt_check_default_code(c->spaces[b->subject], index, outcome->text, &why);
    if (why.length) warn(c, mt_strbuf_text(&why));
    mt_strbuf_free(&why);
}

/* Of the first variant of an algorithm that compiled. */
static mt_status warn_of_constants(checking *c, const batch *b, size_t index, const char *cubin_path, mt_error *err)
{
    mt_strbuf lines = {0};
    mt_status st = cubin_path ? mt_check_constants(c->spaces[b->subject], index, &c->facts, &c->source, cubin_path, &lines, err) : MT_OK;
    if (st == MT_OK) tell_lines(c, &lines, false);
    mt_strbuf_free(&lines);
    return st;
}

static mt_status take_event(checking *c, batch *b, mt_check_table *table, mt_error *err)
{
    mt_event event = {0};
    mt_status st = c->evaluator->ops->next(c->evaluator, &event, err);
    if (st != MT_OK || event.kind != MT_EVENT_DONE) return st;
    mt_point point;
    size_t i = (size_t)(event.trial - b->first_id);
    mt_space_at(c->spaces[b->subject], b->points[i], &point);
    mt_check_add(table, (size_t)point.level[0], b->texts[i], &event.outcome);
    warn_of_default_code(c, b, b->points[i], &event.outcome);
    if (event.outcome.kind == MT_OUTCOME_OK) {
        mt_same_code_add(&c->codes, &point, *event.code.hex ? &event.code : &event.outcome.cubin);
        if (table->variants && table->variants[point.level[0]].ok == 1) st = warn_of_constants(c, b, b->points[i], event.cubin_path, err);
    }
    mt_outcome_free(&event.outcome);
    MT_FREE_EACH(event.launch_json, event.cubin_path, b->texts[i]);
    b->texts[i] = NULL;
    b->done++;
    return st;
}

/* On a terminal: a line that comes and goes, since a shape may take minutes. */
static void show_progress(const batch *b)
{
    if (mt_is_quiet() || !isatty(STDERR_FILENO)) return;
    if (b->done < b->count) fprintf(stderr, "\r  %zu of %zu compiled", b->done, b->count);
    else fprintf(stderr, "\r\33[K");
}

static mt_status compile_batch(checking *c, batch *b, mt_check_table *table, mt_error *err)
{
    const mt_shape *shape = &c->spec->shapes[b->subject];
    const mt_workload *workload = shape->workload_count ? mt_spec_workload(c->spec, shape->workloads[0]) : &c->spec->workloads[0];
    mt_status st = MT_OK;
    MT_TRY(c->evaluator->ops->begin(c->evaluator, b->subject, c->spaces[b->subject], workload, c->spec->l2, err));
    while (b->done < b->count) {
        while (b->submitted < b->count && b->submitted - b->done < c->evaluator->ops->capacity(c->evaluator)) MT_TRY(submit_next(c, b, err));
        MT_TRY(take_event(c, b, table, err));
        show_progress(b);
    }
done:
    return st;
}

static void tell_points(const checking *c, const batch *b)
{
    const mt_space *space = c->spaces[b->subject];
    char count[MT_SPACE_COUNT_SIZE];
    printf("%s: %zu of %s valid point%s for %s (%llu before constraints)\n", mt_space_shape(space)->name, b->count, mt_space_count_text(space, count, sizeof count), mt_space_count(space) == 1 ? "" : "s", c->arch,
           (unsigned long long)mt_space_raw_count(space));
    fflush(stdout);
}

/* Of all shapes together, as other tools have them in one space. */
static void tell_sum(const checking *c)
{
    size_t shapes = 0, points = 0;
    uint64_t raw = 0;
    bool is_exact = true;
    for (size_t i = 0; i < c->spec->shape_count; i++) {
        const mt_space *space = c->spaces[i];
        if (!space) continue;
        shapes++;
        points += mt_space_count(space);
        is_exact = is_exact && mt_space_count_is_exact(space);
        if (__builtin_add_overflow(raw, mt_space_raw_count(space), &raw)) raw = UINT64_MAX;
    }
    if (shapes > 1) printf("%zu shapes: %zu of %s%zu valid points for %s (%llu before constraints)\n", shapes, c->trials, is_exact ? "" : "about ", points, c->arch, (unsigned long long)raw);
}

/* The rules that leave a shape without a valid point. */
static void tell_empty(checking *c, const mt_space *space)
{
    mt_strbuf rules = {0}, text = {0};
    mt_space_tell_pruned(space, &rules);
    if (!c->values->json && rules.length) printf("  %s\n", mt_strbuf_text(&rules));
    mt_strbuf_addf(&text, "shape %s has no valid point%s%s", mt_space_shape(space)->name, rules.length ? ": " : "", mt_strbuf_text(&rules));
    mt_check_json_message(&c->json, &c->source, "warning", mt_strbuf_text(&text));
    mt_strbuf_free(&rules);
    mt_strbuf_free(&text);
}

/* Without " of shape NAME", which alone may differ between shapes. */
static char *without_shape(const char *text, const char *shape)
{
    mt_strbuf name = {0}, out = {0};
    mt_strbuf_addf(&name, " of shape %s", shape);
    const char *at = strstr(text, mt_strbuf_text(&name));
    mt_strbuf_add_bytes(&out, text, at ? (size_t)(at - text) : strlen(text));
    if (at) mt_strbuf_add(&out, at + name.length);
    mt_strbuf_free(&name);
    return mt_strbuf_take(&out);
}

/* A reference that may not run is none: the shape is not looked at further. Why is told once; the end names the shapes. */
static void refuse_shape(checking *c, const mt_space *space, const char *why)
{
    const char *shape = mt_space_shape(space)->name;
    size_t before = c->warned.count;
    mt_error ignored;
    char *reason = without_shape(why, shape);
    if (!reason || mt_texts_add_once(&c->warned, reason, &ignored) != MT_OK || c->warned.count > before) tell_error(c, why);
    mt_strbuf_addf(&c->refused, "%s%s", c->refused.length ? ", " : "", shape);
    mt_free(reason);
}

static mt_status check_default(checking *c, const mt_space *space, bool *has_reference, mt_error *err)
{
    mt_strbuf why = {0};
    mt_status st = mt_check_default(space, &c->facts, &why, err);
    *has_reference = !c->spec->reference_is_default || !why.length;
    if (st == MT_OK && !*has_reference) refuse_shape(c, space, mt_strbuf_text(&why));
    else if (st == MT_OK && why.length) warn(c, mt_strbuf_text(&why));
    mt_strbuf_free(&why);
    return st;
}

static mt_status check_shape(checking *c, size_t index, mt_error *err)
{
    batch b = {.subject = index, .first_id = c->trials + 1};
    mt_check_table table = {.spec = c->spec, .list = c->values->list};
    mt_status st = MT_OK;
    bool has_reference = true;
    MT_TRY(mt_space_create(c->spec, &c->spec->shapes[index], &c->facts, &c->spaces[index], err));
    MT_TRY(mt_check_files(c->spaces[index], &c->facts, err));
    MT_TRY(choose_points(c, c->spaces[index], &b, err));
    MT_TRY(mt_check_model(c->spaces[index], &c->facts, b.points, b.count, err));
    if (!c->values->json) tell_points(c, &b);
    if (mt_space_count(c->spaces[index])) MT_TRY(check_default(c, c->spaces[index], &has_reference, err));
    else tell_empty(c, c->spaces[index]);
    if (b.count && has_reference) MT_TRY(compile_batch(c, &b, &table, err));
    if (b.done && !c->values->json) mt_check_print(&table, stdout);
    mt_check_json_shape(&c->json, c->spaces[index], &c->source, b.done, &table);
    c->failed += table.failed;
    c->illegal += table.illegal;
    mt_same_code_end_shape(&c->codes);
done:
    for (size_t i = 0; b.texts && i < b.count; i++) mt_free(b.texts[i]);
    mt_free(b.texts);
    mt_free(b.points);
    mt_check_free(&table);
    return st;
}

static mt_status judge(const checking *c, mt_error *err)
{
    if (c->failed) return MT_FAIL(err, MT_ERR_COMPILE, "%zu variant%s of %s did not compile for %s", c->failed, c->failed == 1 ? "" : "s", c->space_path, c->arch);
    if (c->refused.length) return MT_FAIL(err, MT_ERR_NOT_FOUND, "reference = default: the default point may not run at shape%s %s", strchr(mt_strbuf_text(&c->refused), ',') ? "s" : "", mt_strbuf_text(&c->refused));
    if (!c->trials) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s has no valid point for %s", c->space_path, c->arch);
    if (c->illegal == c->trials) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s has no point that may run on %s: %zu of %zu are illegal", c->space_path, c->facts.name, c->illegal, c->trials);
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    checking c = {.values = arguments->values};
    mt_status st = MT_OK;
    MT_TRY(open_all(&c, err));
    if (c.values->run) {
        const mt_check_run_request request = {.path = c.space_path, .spec = c.spec, .shapes = &c.wanted.shapes, .facts = &c.facts, .compile_limit_s = c.values->compile_limit_s > 0 ? c.values->compile_limit_s : 60, .run_limit_s = c.values->run_limit_s > 0 ? c.values->run_limit_s : 60, .json = c.values->json};
        st = mt_check_run(&request, err);
        close_all(&c);
        return st;
    }
    for (size_t i = 0; i < c.spec->shape_count; i++)
        if (is_wanted(&c, &c.spec->shapes[i])) MT_TRY(check_shape(&c, i, err));
    mt_same_code_tell(&c.codes, c.idle, warn, &c);
    if (!c.values->json) tell_sum(&c);
    st = judge(&c, err);
done:
    if (st != MT_OK && !(st == MT_ERR_COMPILE && c.failed)) mt_check_json_message(&c.json, &c.source, "error", err->message); /* of variants that did not compile the logs are there */
    if (c.values->json) mt_check_json_print(&c.json, stdout, c.space_path ? c.space_path : c.values->space, c.spec, *c.facts.name ? c.facts.name : NULL, *c.arch ? c.arch : NULL);
    close_all(&c);
    return st;
}

const mt_command mt_cmd_check = {
    .name = "check",
    .summary = "compile a search space without a GPU",
    .help = "Compiles the valid points of a search space with NVRTC or nvcc, for a GPU whose facts are\n"
            "known (devices.ini), and tells registers, spills and what failed. Exits 1 when something does not\n"
            "compile, 4 when no point is valid for that GPU. With --run the default variant and the reference run\n"
            "on the CPU instead: is the result right, and in bounds? A C++ compiler of the host is enough for\n"
            "plain CUDA C++: no PTX and no tensor maps.\n\n"
            "  msda-tune check --space FILE.ini --gpu h100 --sample",
    .options = options,
    .values_size = sizeof(check_values),
    .run = run,
};
