/* msda-tune tune: the main job. Opens what a session needs, runs it, says where the results lie. */
#include <string.h>

#include "db/exchange/merge.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/job.h"
#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/commands/watch.h"
#include "tuner/cli/lookup/known_answer.h"
#include "tuner/cli/measure/sibling.h"
#include "tuner/cli/output/events.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/requests/fixed_points.h"
#include "tuner/cli/requests/gpu_list.h"
#include "tuner/cli/requests/input_files.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/cli/requests/live_device.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/cli/share.h"
#include "tuner/evaluate/eval_replay.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/external_tool.h"
#include "tuner/space/source/idle.h"

enum { BOTH_L2 = 3 /* "cold,warm" among the choices */ };

typedef struct tune_values {
    const char *gpu, *space, *strategy, *db, *arch, *recordings, *from_misses;
    mt_texts shapes, workloads, inputs;
    int64_t budget, seed, jobs;
    double time_s, compile_limit_s, variant_limit_s;
    int l2, reuse, guard, objective;
    mt_limit max_error;
    int64_t graph_below_us;
    const char *events, *shard, *known, *around, *variants, *space_key, *plan, *watch;
    bool quick, no_cache, no_race, verbose, progress, diagnose, resume, until_flat;
} tune_values;

#define FIELD(name) offsetof(tune_values, name)
static const mt_option options[] = {
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "auto (default: the first), all, device numbers (0 or 0,1), or\nrecorded:NAME for a GPU that was recorded elsewhere; GPUs of\none model share the work"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one"},
    {"shape", 0, MT_OPTION_TEXTS, FIELD(shapes), "NAME", "tune only this [shape], or the one with the values\n\"N=1;M=8;H=92,46;dtype=f16\"; may be repeated"},
    {"from-misses", 0, MT_OPTION_INPUT, FIELD(from_misses), "FILE", "tune what programs asked for in vain (tunelookup_flush_misses);\nfirst the shapes asked for often whose answers may be slowest;\nspaces are found by kernel"},
    {"workload", 0, MT_OPTION_WORDS, FIELD(workloads), "NAME", "use this [workload]; may be repeated"},
    {"strategy", 0, MT_OPTION_TEXT, FIELD(strategy), "NAME", "search strategy ('msda-tune list' names them; default: the file's,\nelse auto)"},
    {"around", 0, MT_OPTION_TEXT, FIELD(around), "VARIANT", "instead of a search: this variant, as listings print it, and every one\nthat differs from it in one knob, for 'show --ablation'"},
    {"variants", 0, MT_OPTION_INPUT, FIELD(variants), "FILE", "instead of a search: the variants of this file, one a line, as\nlistings print them"},
    {"quick", 0, MT_OPTION_FLAG, FIELD(quick), NULL, "8 evaluations per shape: what the lookup answers today, what its\npredictor would try next, and the kernel's default. --from-misses\ndoes this by itself"},
    {"budget", 0, MT_OPTION_COUNT, FIELD(budget), "N", "evaluations per shape and workload, known ones included (default: the\nfile's, else 400; strategy exhaustive: all points)"},
    {"until-flat", 0, MT_OPTION_FLAG, FIELD(until_flat), NULL, "end where going on is expected to gain less than 0.5 %, the budget at\nthe latest. The default of strategy auto where no --budget is given:\na --budget is spent"},
    {"time", 0, MT_OPTION_SECONDS, FIELD(time_s), "S", "seconds for the whole command (default: the file's, else 300)"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"seed", 0, MT_OPTION_SEED, FIELD(seed), "N", "seed of the search and of the inputs (default 0)"},
    {"l2", 0, MT_OPTION_CHOICE, FIELD(l2), "cold|warm|cold,warm", "flush the L2 cache before each sample, or not (default: the file's,\nelse cold); cold,warm: search by the file's state, and measure what\npassed in the other one too"},
    {"objective", 0, MT_OPTION_CHOICE, FIELD(objective), "time|energy|edp", "what the winner is picked by among the finalists: time, energy, or\nenergy × time (default: the file's); the search goes by time"},
    {"max-error", 0, MT_OPTION_LIMIT, FIELD(max_error), "E", "only variants whose error (norm-wise) is at most E may win; others are\nmeasured and stored. Holds for the shape until it is tuned again"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "compile workers (default: the host's cores, at most 32)"},
    {"arch", 0, MT_OPTION_TEXT, FIELD(arch), "A", "compile for this architecture instead of the device's: sm_90a …"},
    {"reuse", 0, MT_OPTION_CHOICE, FIELD(reuse), "major|any|exact|none", "which stored results count as known: same toolchain major\nversion (default), any, exactly the same, none"},
    {"shard", 0, MT_OPTION_TEXT, FIELD(shard), "I/N", "one of N tasks on the same space, I from 1: exhaustive and random\nsearch take the I-th part of it, the others an island: all of it,\nwith another seed"},
    {"known", 0, MT_OPTION_INPUT, FIELD(known), "FILE", "database whose results count as known too, if it is there (the\nmerged one of other tasks); it is only read"},
    {"space-key", 0, MT_OPTION_TEXT, FIELD(space_key), "KEY", "refuse a search space that was edited since 'msda-tune slurm' wrote\nthis key into the task: parts of two states are not disjoint"},
    {"plan", 0, MT_OPTION_TEXT, FIELD(plan), "ID", "the plan of 'msda-tune slurm' that this is a task of: its sessions\ncarry it, and a database of another plan's is refused"},
    {"resume", 0, MT_OPTION_FLAG, FIELD(resume), NULL, "for jobs that are started again: --db must be given, and what it\nholds must be of this kernel; then go on from there"},
    {"input", 0, MT_OPTION_INPUTS, FIELD(inputs), "NAME=FILE", "read argument NAME from a .npy file; may be repeated"},
    {"guard", 0, MT_OPTION_CHOICE, FIELD(guard), "bands|pages", "bands (default): patterns around each buffer show writes out of\nbounds; pages: buffers end at an unmapped page, so that a read past\nthe end faults (slower)"},
    {"diagnose", 0, MT_OPTION_FLAG, FIELD(diagnose), NULL, "run a variant that faulted once more under compute-sanitizer\nand keep what that says"},
    {"compile-limit", 0, MT_OPTION_SECONDS, FIELD(compile_limit_s), "S", "longest compile of one variant (default 60)"},
    {"variant-limit", 0, MT_OPTION_SECONDS, FIELD(variant_limit_s), "S", "longest stay of one variant on the GPU (default 10)"},
    {"no-race", 0, MT_OPTION_FLAG, FIELD(no_race), NULL, "time every variant to the end, however slow (for recordings)"},
    {"graph-below", 0, MT_OPTION_COUNT, FIELD(graph_below_us), "US", "batch kernels shorter than this many microseconds in CUDA graphs\n(default: the file's, else 10; 1 = none)"},
    {"no-cache", 0, MT_OPTION_FLAG, FIELD(no_cache), NULL, "neither use nor fill the cache of compiled kernels"},
    {"recordings", 0, MT_OPTION_INPUT, FIELD(recordings), "FILE", "database of recorded GPUs instead of one's own and the shipped one"},
    {"progress", 0, MT_OPTION_FLAG, FIELD(progress), NULL, "on a terminal: a view with the best, the rate, the time left and\nthe last failures, instead of one line"},
    {"watch", 0, MT_OPTION_PAGE, FIELD(watch), "FILE", "keep in FILE how far the search is and the first screen of the\nreport, an HTML page that a browser loads again by itself"},
    {"events", 0, MT_OPTION_OUTPUT, FIELD(events), "FILE", "append what happens to FILE, as JSON lines"},
    {"verbose", 'v', MT_OPTION_FLAG, FIELD(verbose), NULL, "list all knobs of the best variants, not only those that differ from\nthe default"},
    {0},
};

/* Everything a run holds; zero-initialised, closed in one place. */
typedef struct tuning {
    const tune_values *values;
    const mt_arguments *arguments;
    uv_loop_t loop;
    bool loop_open;
    char *space_path, *db_path, *cache_dir, *sanitizer;
    mt_spec *spec;
    mt_source source;
    mt_hash kernel_key;
    mt_store *store, *recordings, *under; /* under: the shipped recordings beside one's own; NULL = none */
    mt_store *shared; /* with --known */
    mt_store *shipped; /* rows that came with the tool; NULL = none */
    mt_known_answer answer;
    mt_shard shard;
    mt_evaluator *evaluator;
    mt_sibling *sibling; /* tunes GPUs of another model; NULL = there is none */
    mt_hash inputs; /* when --input is given */
    mt_display display;
    mt_events events; /* with --events */
    mt_watch watch; /* with --watch */
    mt_requested_shapes wanted;
    const mt_misses *misses; /* with --from-misses; of these the kernel of the space */
} tuning;

static mt_status unknown_name(const char *option, const char *name, const char *const *known, size_t count, mt_error *err)
{
    mt_strbuf list = {0};
    const char *near = mt_text_nearest(name, known, count);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", known[i]);
    if (near) MT_FAIL(err, MT_ERR_USAGE, "tune: --%s: no '%s' in this search space, did you mean '%s'?", option, name, near);
    else MT_FAIL(err, MT_ERR_USAGE, "tune: --%s: no '%s'; there are: %s", option, name, mt_strbuf_text(&list));
    mt_strbuf_free(&list);
    return MT_ERR_USAGE;
}

static mt_status check_workloads(const mt_spec *spec, const mt_texts *wanted, mt_error *err)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < spec->workload_count && count < 64; i++) names[count++] = spec->workloads[i].name;
    for (size_t i = 0; i < wanted->count; i++)
        if (!mt_spec_workload(spec, wanted->items[i])) return unknown_name("workload", wanted->items[i], names, count, err);
    return MT_OK;
}

static mt_status check_strategy(const char *name, mt_error *err)
{
    const char *names[32] = {"auto"};
    size_t count = 1;
    if (!name || strcmp(name, "auto") == 0 || mt_strategy_find(name)) return MT_OK;
    for (size_t i = 0; i < mt_strategy_count() && count < 32; i++) names[count++] = mt_strategy_at(i)->name;
    const char *near = mt_text_nearest(name, names, count);
    return MT_FAIL(err, MT_ERR_USAGE, "tune: unknown strategy '%s'%s%s%s", name, near ? ", did you mean '" : "; 'msda-tune list' names them", near ? near : "", near ? "'?" : "");
}

static mt_status open_space(tuning *t, mt_error *err)
{
    mt_status st = MT_OK;
    if (!t->values->space) return MT_FAIL(err, MT_ERR_USAGE, "tune: --space FILE is missing; 'msda-tune list' names the shipped ones");
    MT_TRY(check_strategy(t->values->strategy, err));
    MT_TRY(mt_known_arch_check(t->values->arch, err));
    MT_TRY(mt_share_space(t->values->space, &t->space_path, err));
    MT_TRY(t->misses ? mt_requested_shapes_load_misses(t->space_path, t->misses, t->values->from_misses, &t->spec, &t->wanted, err)
                     : mt_requested_shapes_load(t->space_path, &t->values->shapes, &t->spec, &t->wanted, err));
    MT_TRY(check_workloads(t->spec, &t->values->workloads, err));
    if (t->values->inputs.count) MT_TRY(mt_inputs_identify(t->spec, &t->values->inputs, &t->inputs, err));
    bool replays_points = t->spec->is_recorded && t->values->gpu && strncmp(t->values->gpu, "recorded:", 9) == 0;
    if (!replays_points) MT_TRY(mt_source_load(t->spec, &t->source, err));
    MT_TRY(mt_source_key(t->spec, &t->source, &t->kernel_key, err));
done:
    return st;
}

static mt_status open_recorded(tuning *t, const char *name, mt_error *err)
{
    mt_status st = MT_OK;
    if (t->values->inputs.count) return MT_FAIL(err, MT_ERR_USAGE, "tune: --input needs a real GPU: recordings hold what generated inputs gave");
    MT_TRY(mt_share_recordings_of(t->values->recordings, name, t->spec->name, &t->recordings, &t->under, err));
    MT_TRY(mt_eval_replay_create(t->recordings, name, t->spec, &t->evaluator, err));
    mt_eval_replay_over(t->evaluator, t->under);
done:
    return st;
}

/* Without a GPU, or without a compiler for it, the recordings are the way on. */
static mt_status no_gpu(const tuning *t, const char *what, mt_error *err)
{
    mt_strbuf hint = {0};
    char reason[sizeof err->message];
    snprintf(reason, sizeof reason, "%s", err->message);
    mt_share_recorded_hint(t->values->recordings, t->spec->name, &hint);
    MT_FAIL(err, MT_ERR_NO_GPU, "%s: %.*s\n%s", what, 1500, reason, mt_strbuf_text(&hint));
    mt_strbuf_free(&hint);
    return MT_ERR_NO_GPU;
}

static bool wants_both(const tuning *t)
{
    return t->values->l2 == BOTH_L2;
}

static const char *chosen_strategy(const tuning *t)
{
    return t->values->strategy ? t->values->strategy : t->spec->strategy;
}

/* Who names a budget wants it spent. */
static bool ends_flat(const tuning *t)
{
    return t->values->until_flat || (!t->values->budget && strcmp(chosen_strategy(t), "auto") == 0);
}

static mt_status check_flat(const tuning *t, mt_error *err)
{
    const char *name = chosen_strategy(t);
    const mt_strategy *strategy = mt_strategy_find(name);
    if (!t->values->until_flat || !strategy || strategy->outlook) return MT_OK;
    return MT_FAIL(err, MT_ERR_USAGE, "tune: --until-flat: strategy %s has no model that could say what going on would gain; expected auto, mixed or surrogate", name);
}

static mt_l2 chosen_l2(const tuning *t)
{
    return t->values->l2 && !wants_both(t) ? (mt_l2)(t->values->l2 - 1) : t->spec->l2;
}

static void warn_of_idle_knobs(const tuning *t)
{
    mt_strbuf text = {0};
    mt_idle_tell_unread(t->spec, mt_idle_knobs(t->spec, &t->source), &text);
    if (text.length) mt_log_warn("%s", mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

static void warn(void *context, const char *text)
{
    (void)context;
    mt_log_warn("%s", text);
}

static mt_status prepare_real(tuning *t, mt_error *err)
{
    const tune_values *v = t->values;
    if (!v->no_cache && !(t->cache_dir = mt_path_user_cache())) return MT_FAIL(err, MT_ERR_NO_MEMORY, "tune: out of memory");
    if (v->diagnose && !(t->sanitizer = mt_external_tool_find("compute-sanitizer")))
        mt_log_warn("--diagnose: compute-sanitizer is neither in PATH nor in CUDA_HOME/bin; faults are stored without its text");
    return MT_OK;
}

static mt_status open_real(tuning *t, const char *gpu, mt_error *err)
{
    const tune_values *v = t->values;
    mt_gpu_list gpus;
    mt_status st = mt_gpu_list_parse(gpu, &gpus, err);
    if (st == MT_OK) st = prepare_real(t, err);
    if (st != MT_OK) return st;
    mt_worker_options options_of_workers = {
        .diagnose = t->sanitizer,
        .jobs = (size_t)v->jobs, .device = gpus.ordinals[0], .more_devices = gpus.ordinals + 1, .more_count = gpus.count - 1, .all_devices = gpus.is_all, .arch = v->arch,
        .cache_dir = t->cache_dir, .seed = (uint64_t)v->seed, .graph_below_ns = (double)v->graph_below_us * 1e3,
        .compile_limit_s = v->compile_limit_s > 0 ? v->compile_limit_s : 60, .variant_limit_s = v->variant_limit_s > 0 ? v->variant_limit_s : 10,
        .subject_limit_s = 60, .inputs = (const char *const *)v->inputs.items, .input_count = v->inputs.count, .guard_pages = v->guard == 2};
    st = mt_eval_worker_create(&t->loop, t->spec, &t->source, &options_of_workers, &t->evaluator, err);
    if (st == MT_OK) warn_of_idle_knobs(t);
    if (st == MT_ERR_COMPILE) return no_gpu(t, "nothing can be compiled for the GPU", err); /* no kernel was yet: NVRTC is missing or broken */
    return st == MT_ERR_NO_GPU ? no_gpu(t, "no usable GPU", err) : st;
}

/* A header that can't be opened is the kernel's mistake, unless nothing that includes one compiles here. */
static mt_status judge_compiler(const tuning *t, mt_error *err)
{
    mt_live_toolkit found;
    mt_error why;
    if (t->evaluator->is_recorded || !strstr(err->message, "catastrophic error") || mt_live_compiler(&found, &why) == MT_OK) return MT_ERR_COMPILE;
    *err = why;
    return no_gpu(t, "nothing can be compiled for the GPU", err);
}

static void clear_display(void *context)
{
    mt_display_clear(context);
}

/* GPUs of other models get rows of their own, from a tuner of their own, and their share of the compile workers. */
static mt_status open_sibling(tuning *t, mt_error *err)
{
    int others[MT_DEVICES_MAX];
    size_t count = t->evaluator->is_recorded || t->misses ? 0 : mt_eval_worker_others(t->evaluator, others); /* misses are one model's */
    if (count == 0) return MT_OK;
    size_t ours = t->evaluator->device_count, jobs = mt_eval_worker_jobs(t->evaluator), theirs = jobs * count / (ours + count);
    mt_eval_worker_set_jobs(t->evaluator, jobs - theirs);
    const mt_sibling_options sibling = {.command = "tune", .argc = t->arguments->argc, .argv = t->arguments->argv, .ordinals = others, .count = count, .jobs = theirs, .before_line = clear_display, .context = &t->display};
    return mt_sibling_start(&t->loop, &sibling, &t->sibling, err);
}

static mt_status open_evaluator(tuning *t, mt_error *err)
{
    const char *gpu = t->values->gpu ? t->values->gpu : "auto";
    mt_status room = mt_process_limits_check(err);
    if (room != MT_OK) return room;
    if (uv_loop_init(&t->loop) != 0) return MT_FAIL(err, MT_ERR_IO, "tune: no event loop");
    t->loop_open = true;
    if (strncmp(gpu, "recorded:", 9) == 0) return open_recorded(t, gpu + 9, err);
    return open_real(t, gpu, err);
}

/* ---- one task of several ---- */

static mt_status check_task(tuning *t, mt_error *err)
{
    const tune_values *v = t->values;
    if (v->shard && !mt_shard_parse(v->shard, &t->shard)) return MT_FAIL(err, MT_ERR_USAGE, "tune: --shard: '%s' is no part; expected I/N with I from 1 to N, N at most %d: 3/8", v->shard, MT_SHARDS_MAX);
    if ((v->around || v->variants) && (v->strategy || v->budget || v->until_flat || v->shard || v->from_misses || (v->around && v->variants)))
        return MT_FAIL(err, MT_ERR_USAGE, "tune: --%s names the points itself; expected no --%s beside it", v->around ? "around" : "variants",
                       v->strategy ? "strategy" : v->budget ? "budget" : v->until_flat ? "until-flat" : v->shard ? "shard" : v->from_misses ? "from-misses" : "variants");
    if (v->quick && (v->budget || v->until_flat || v->strategy || v->shard || v->around || v->variants))
        return MT_FAIL(err, MT_ERR_USAGE, "tune: --quick says how much is evaluated; expected no --%s beside it",
                       v->budget ? "budget" : v->until_flat ? "until-flat" : v->strategy ? "strategy" : v->shard ? "shard" : v->around ? "around" : "variants");
    if (v->plan && !mt_job_is_plan(v->plan))
        return MT_FAIL(err, MT_ERR_USAGE, "tune: --plan: '%s' is no plan's identity; expected what 'msda-tune slurm' writes into plan.tsv", v->plan);
    if (v->resume && !v->db) return MT_FAIL(err, MT_ERR_USAGE, "tune: --resume: expected --db FILE, which this task alone writes");
    if (v->resume && v->reuse == MT_REUSE_NONE + 1) return MT_FAIL(err, MT_ERR_USAGE, "tune: --resume goes on from what is known, --reuse none forgets it; expected one of them");
    return MT_OK;
}

static mt_status check_space_key(const tuning *t, mt_error *err)
{
    const mt_session_params params = {.spec = t->spec, .shapes = (const char *const *)t->wanted.shapes.items, .shape_count = t->wanted.shapes.count,
                                      .workloads = (const char *const *)t->values->workloads.items, .workload_count = t->values->workloads.count};
    mt_session_target *targets = NULL;
    size_t count = 0;
    mt_hash key;
    mt_status st;
    MT_TRY(mt_session_plan(&params, &targets, &count, err));
    MT_TRY(mt_session_plan_key(t->spec, targets, count, &key, err));
    if (strcmp(key.hex, t->values->space_key) != 0)
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: was edited since the task was planned (its key is %.8s, expected %.8s), so that parts would not fit together; plan the new state in another folder: "
                     "msda-tune slurm -o DIR", t->space_path, key.hex, t->values->space_key);
done:
    mt_free(targets);
    return st;
}

static mt_status see_kernel(void *context, const char *name, const char *key, mt_error *err)
{
    const tuning *t = context;
    const char *expected = mt_evaluator_key(t->evaluator, &t->kernel_key)->hex;
    if (strcmp(name, t->spec->name) != 0 || strcmp(key, expected) == 0) return MT_OK;
    return MT_FAIL(err, MT_ERR_USAGE, "%s: holds results of %s with kernel key %.8s, expected %.8s: its source changed since the task was begun; give it another --db", t->db_path, name, key,
                   expected);
}

/* A task that was started again after its source was edited must not go on as if it were the same. */
static mt_status check_resumed(tuning *t, mt_error *err)
{
    return mt_query_kernels(t->store, see_kernel, t, err);
}

/* Where a search begins, unless it is to forget what is known. */
static mt_status open_known(tuning *t, mt_error *err)
{
    char *path = NULL;
    mt_error ignored;
    if (t->values->reuse == MT_REUSE_NONE + 1) return MT_OK;
    mt_known_answer_open(t->db_path, t->spec, &t->evaluator->facts, t->evaluator->is_recorded, &t->answer);
    mt_status st = mt_share_file("tuned.sqlite", &path, err);
    if (st == MT_OK && mt_store_open(path, MT_STORE_READ_ONLY, &t->shipped, &ignored) != MT_OK) t->shipped = NULL; /* a tool without shipped rows searches all the same */
    mt_free(path);
    return st;
}

static double expected_loss(void *context, const char *shape)
{
    tuning *t = context;
    const mt_shape *asked = mt_spec_shape(t->spec, shape);
    return asked && t->spec->workload_count ? mt_known_answer_loss(&t->answer, asked, &t->spec->workloads[0]) : MT_KNOWN_ANSWER_UNKNOWN_LOSS;
}

static mt_status open_all(tuning *t, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(check_task(t, err));
    MT_TRY(open_space(t, err));
    MT_TRY(check_flat(t, err));
    if (t->values->space_key) MT_TRY(check_space_key(t, err));
    MT_TRY(open_evaluator(t, err));
    MT_TRY(mt_store_writable_path(t->values->db, &t->db_path, err));
    MT_TRY(mt_store_open(t->db_path, MT_STORE_READ_WRITE, &t->store, err));
    MT_TRY(open_known(t, err));
    const mt_expected_loss loss = {t, expected_loss};
    if (t->misses) MT_TRY(mt_requested_shapes_choose(t->misses, t->values->from_misses, t->spec, &t->evaluator->facts, mt_is_quiet(), &loss, &t->wanted, err));
    if (t->values->resume) MT_TRY(check_resumed(t, err));
    if (t->values->plan) MT_TRY(mt_merge_check_plan(t->db_path, t->values->plan, err));
    if (t->values->known) st = mt_store_open(t->values->known, MT_STORE_READ_ONLY, &t->shared, err);
    if (t->values->known && st == MT_ERR_NOT_FOUND) st = MT_OK; /* not there yet, or empty: whoever merges may have made it this moment */
done:
    return st;
}

static void close_all(tuning *t)
{
    if (t->evaluator) t->evaluator->ops->destroy(t->evaluator);
    if (t->loop_open) {
        uv_run(&t->loop, UV_RUN_NOWAIT);
        uv_loop_close(&t->loop);
    }
    mt_store_close_unused(t->store);
    mt_store_close(t->recordings);
    mt_store_close(t->under);
    mt_store_close(t->shared);
    mt_store_close(t->shipped);
    mt_known_answer_close(&t->answer);
    mt_events_close(&t->events);
    mt_source_free(&t->source);
    mt_spec_free(t->spec);
    mt_requested_shapes_free(&t->wanted);
    MT_FREE_EACH(t->space_path, t->db_path, t->cache_dir, t->sanitizer);
}

/* A list of shapes that production asked for is long: the everyday way, unless somebody says how much each is worth. */
static bool is_quick(const tune_values *v)
{
    return v->quick || (v->from_misses && !v->budget && !v->strategy);
}

static void print_next(const char *db)
{
    mt_strbuf command = {0};
    mt_print_program(&command);
    mt_strbuf_add(&command, " show");
    mt_print_option(&command, "--db", db);
    printf("Next:         %s\n", mt_strbuf_text(&command));
    mt_strbuf_free(&command);
}

/* The warning stands far above what it is about. */
static void print_source(const tuning *t)
{
    const mt_hash *key = &t->evaluator->kernel_key;
    if (key->hex[0]) printf("Source:       all of this is of %s as it was recorded (source %.8s); nothing of it is of the source as it is now (%.8s)\n", t->spec->name, key->hex, t->kernel_key.hex);
}

static void print_end(const tuning *t, const mt_session_result *result)
{
    if (!t->display.subjects_ended) return;
    printf("\n");
    mt_summary_times(stdout, &result->times, t->evaluator->is_recorded);
    print_source(t);
    printf("Database:     %s%s\n", t->db_path, strcmp(t->db_path, ":memory:") == 0 ? " (not kept)" : "");
    if (result->worker_restarts) printf("Restarts:     %lld of worker processes\n", (long long)result->worker_restarts);
    if (!result->with_winner && result->known_elsewhere) print_next(t->values->known);
    if (result->with_winner && strcmp(t->db_path, ":memory:") != 0) print_next(t->values->db);
}

static mt_status run_session(tuning *t, mt_error *err)
{
    const tune_values *v = t->values;
    mt_strbuf command = {0};
    mt_fixed_points points = {0};
    mt_session_result result = {0};
    mt_command_line("tune", t->arguments, &command);
    mt_display_init(&t->display, mt_is_quiet());
    mt_status st = open_sibling(t, err);
    if (st != MT_OK) goto done;
    if (t->evaluator->is_recorded && v->time_s > 0) mt_log_warn("--time %g: a recording is replayed, which takes seconds; it ends by --budget, not by time", v->time_s);
    t->display.facts = &t->evaluator->facts;
    if (!t->evaluator->is_recorded) t->display.codes.spec = t->spec;
    t->display.is_recorded = t->evaluator->is_recorded;
    t->display.wants_view = v->progress;
    t->display.is_verbose = v->verbose;
    mt_progress progress = mt_display_progress(&t->display);
    if (v->events) {
        st = mt_events_open(&t->events, v->events, &progress, t->evaluator->facts.name, t->evaluator->is_recorded ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED, err);
        if (st != MT_OK) goto done;
        progress = mt_events_progress(&t->events);
    }
    if (v->watch) {
        const mt_filter filter = {.kernel = t->spec->name, .kernel_key = mt_evaluator_key(t->evaluator, &t->kernel_key)->hex};
        st = mt_watch_begin(&t->watch, v->watch, t->db_path, &filter, &progress, err);
        if (st != MT_OK) goto done;
        progress = mt_watch_progress(&t->watch);
    }
    const mt_answers answers = {&t->answer, mt_known_answer_find};
    mt_session_params params = {
        .spec = t->spec, .source = &t->source, .kernel_key = t->kernel_key, .inputs = v->inputs.count ? &t->inputs : NULL, .shapes = (const char *const *)t->wanted.shapes.items, .shape_count = t->wanted.shapes.count,
        .workloads = (const char *const *)v->workloads.items, .workload_count = v->workloads.count, .strategy = chosen_strategy(t),
        .is_quick = is_quick(v), .budget = v->budget, .budget_given = v->budget > 0, .until_flat = ends_flat(t) && !is_quick(v), .time_s = v->time_s, .time_given = v->time_s > 0, .seed = (uint64_t)v->seed, .shard = t->shard, .shared = t->shared, .shipped = t->shipped, .answers = t->values->reuse == MT_REUSE_NONE + 1 ? NULL : &answers,
        .l2 = chosen_l2(t), .both_l2 = wants_both(t), .objective = v->objective ? (mt_objective)(v->objective - 1) : t->spec->objective,
        .error_limit = &v->max_error, .objective_given = v->objective > 0, .no_race = v->no_race, .reuse = v->reuse ? (mt_reuse)(v->reuse - 1) : MT_REUSE_MAJOR, .command = mt_strbuf_text(&command), .plan = v->plan, .progress = &progress};
    if (v->around) st = mt_fixed_points_around(&params, t->evaluator, v->around, &points, err);
    if (v->variants) st = mt_fixed_points_listed(&params, v->variants, &points, err);
    if (st != MT_OK) goto done;
    params.fixed = points.fixed;
    params.fixed_count = points.count;
    st = mt_session_run(&t->loop, &params, t->evaluator, t->store, &result, err);
    mt_watch_end(&t->watch);
    mt_display_end(&t->display);
    print_end(t, &result);
    mt_same_code_tell(&t->display.codes, mt_idle_knobs(t->spec, &t->source), warn, NULL); /* those of which words told before */
    if (st == MT_ERR_COMPILE) st = judge_compiler(t, err);
    if (st == MT_OK && result.interrupted) st = MT_ERR_INTERRUPTED;
    mt_error of_sibling;
    mt_status joined = mt_sibling_join(t->sibling, &of_sibling);
    t->sibling = NULL;
    if (st == MT_OK && joined != MT_OK) st = MT_FAIL(err, joined, "%s", of_sibling.message);
    if (st == MT_ERR_INTERRUPTED) MT_FAIL(err, st, "interrupted; everything measured until then is kept, the same command goes on from there");
done:
    mt_watch_end(&t->watch);
    mt_same_code_free(&t->display.codes);
    mt_fixed_points_free(&points);
    mt_display_end(&t->display); /* also where the session never began: the log must not call what is gone */
    mt_strbuf_free(&command);
    return st;
}

static mt_status run_space(const mt_arguments *arguments, const tune_values *values, const mt_misses *misses, mt_error *err)
{
    tuning t = {.values = values, .arguments = arguments, .misses = misses};
    mt_status st = open_all(&t, err);
    if (st == MT_OK) st = run_session(&t, err);
    close_all(&t);
    return st;
}

/* ---- --from-misses ---- */

/* Kernels that were met, by an index of a miss of theirs. A log of more is no log of a program. */
enum { MOST_KERNELS = 64 };
typedef struct kernels_met {
    size_t of[MOST_KERNELS], count;
} kernels_met;

static bool is_first_of_kernel(const mt_misses *misses, size_t index, kernels_met *met)
{
    for (size_t i = 0; i < met->count; i++)
        if (strcmp(misses->items[met->of[i]].kernel, misses->items[index].kernel) == 0) return false;
    if (met->count == MOST_KERNELS) return false;
    met->of[met->count++] = index;
    return true;
}

/* A kernel without a space, or of whose shapes none passes, is told and left out; *tuned counts the others. */
static mt_status run_kernel(const mt_arguments *arguments, const mt_misses *misses, size_t index, double time_left_s, size_t *tuned, mt_error *err)
{
    tune_values values = *(const tune_values *)arguments->values;
    char *path = NULL;
    mt_status st = mt_requested_shapes_space(values.space, misses->items[index].kernel, &path, err);
    if (st == MT_OK) {
        values.space = path;
        if (values.time_s > 0) values.time_s = time_left_s;
        st = run_space(arguments, &values, misses, err);
        *tuned += st == MT_OK;
    }
    mt_free(path);
    if (st != MT_ERR_NOT_FOUND && st != MT_ERR_NOTHING_VALID) return st;
    mt_log_warn("%s:%lld: left out: %s", values.from_misses, (long long)misses->items[index].line, err->message);
    return MT_OK;
}

static mt_status run_misses(const mt_arguments *arguments, mt_error *err)
{
    const tune_values *v = arguments->values;
    mt_misses misses = {0};
    size_t tuned = 0;
    kernels_met met = {.count = 0};
    mt_status st;
    double deadline_s = (double)mt_clock_now_ns() / 1e9 + v->time_s;
    MT_TRY(mt_misses_read(v->from_misses, warn, NULL, &misses, err));
    if (misses.dropped) mt_log_warn("%s: %lld misses were not counted by shape, because the programs' tables were full; they should flush more often", v->from_misses, (long long)misses.dropped);
    for (size_t i = 0; i < misses.count; i++) {
        double left_s = deadline_s - (double)mt_clock_now_ns() / 1e9;
        if (!is_first_of_kernel(&misses, i, &met)) continue;
        if (v->time_s > 0 && left_s <= 0) break;
        MT_TRY(run_kernel(arguments, &misses, i, left_s, &tuned, err));
    }
    if (met.count == MOST_KERNELS) mt_log_warn("%s: of its kernels the %d that were asked for most are looked at", v->from_misses, MOST_KERNELS);
    if (!tuned) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: nothing is left to tune: %zu shape%s in %lld line%s", v->from_misses, misses.count, misses.count == 1 ? "" : "s",
                             (long long)misses.lines, misses.lines == 1 ? "" : "s");
done:
    mt_misses_free(&misses);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const tune_values *v = arguments->values;
    mt_sibling_enter();
    if (!v->from_misses) return run_space(arguments, v, NULL, err);
    if (v->shapes.count) return MT_FAIL(err, MT_ERR_USAGE, "tune: --from-misses and --shape both say what to tune; expected one of them");
    return run_misses(arguments, err);
}

const mt_command mt_cmd_tune = {
    .name = "tune",
    .summary = "tune a search space (the default command)",
    .help = "Compiles the variants of a search space, refuses those whose output is wrong, times the rest and\n"
            "keeps everything in the database. Running it again measures only what is not known yet. Ctrl-C keeps\n"
            "everything (twice: does not wait for the running variant).\n\n"
            "  msda-tune --gpu auto --space FILE.ini\n"
            "  msda-tune --gpu all --space FILE.ini\n"
            "  msda-tune --gpu recorded:h200 --space FILE.ini --shape NAME --budget 200\n"
            "  msda-tune --from-misses misses.jsonl",
    .options = options,
    .values_size = sizeof(tune_values),
    .run = run,
};
