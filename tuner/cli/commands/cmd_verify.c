/* msda-tune verify: the winners of a database validated once more, with inputs that they have never seen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/measure/rerun.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/verify_pack.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/evaluate/external_tool.h"

static const double SANITIZER_S = 600;
/* Events around one launch also time the way from the one to the kernel and from there to the other, which is another on another host: 0.8 to 1.2 µs more on a host with four busy H200 than
 * on one with a single one, for every kernel of 10 to 20 µs alike. Launches in graphs (batch > 1) contain none of it. */
static const double EVENTS_NS = 1200;
enum { TIMINGS = 3 }; /* with --within: a winner that seems too slow is timed again before it is said to be */

typedef struct verify_values {
    mt_filter_values filter;
    const char *db, *space, *within;
    int64_t device, seed;
    double variant_limit_s;
    bool sanitize, bits;
    const char *pack, *key;
} verify_values;

#define FIELD(name) offsetof(verify_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space; default: the one each winner was tuned with"},
    {"device", 0, MT_OPTION_SEED, FIELD(device), "N", "device number (default 0)"},
    {"seed", 0, MT_OPTION_SEED, FIELD(seed), "N", "seed of the inputs; default: from the clock, printed"},
    {"within", 0, MT_OPTION_TEXT, FIELD(within), "%", "fail a winner that is slower than its stored time by more than this"},
    {"sanitize", 0, MT_OPTION_FLAG, FIELD(sanitize), NULL, "also under compute-sanitizer: memcheck and racecheck"},
    {"bits", 0, MT_OPTION_FLAG, FIELD(bits), NULL, "also with the inputs of seed 0: exit with 5 where a winner's outputs have\nother bits than when it was stored"},
    {"pack", 0, MT_OPTION_INPUT, FIELD(pack), "FILE", "instead, and without a GPU: check every byte of this pack"},
    {"key", 0, MT_OPTION_INPUT, FIELD(key), "FILE.pub", "with --pack: it must be signed by this public key"},
    {"variant-limit", 0, MT_OPTION_SECONDS, FIELD(variant_limit_s), "S", "longest stay of one variant on the GPU (default 10)"},
    {0},
};

typedef struct winner {
    char *gpu_key, *kernel, *kernel_key, *shape, *workload, *variant, *space;
    mt_l2 l2;
    int64_t session;
    char *shape_key;
    double median_ns;        /* as stored */
    uint32_t batch;          /* likewise: by which method it was timed */
    char bits[MT_BITS_SIZE]; /* likewise, by this toolchain; "" = not known */
    mt_toolchain_row toolchain;
    char *arch;              /* the toolchain's */
    bool is_space_by_name;   /* the shipped one of the kernel, if there is one */
} winner;

typedef struct verification {
    const verify_values *values;
    winner *winners;
    size_t count, capacity;
    char *sanitizer;
    mt_rerun *rerun;
    const char *rerun_space; /* what it was opened with */
    mt_l2 rerun_l2;
    uint64_t seed;
    double within;           /* as a part of 1; INFINITY = times do not count */
    double worst;            /* most that a good one was slower than stored, as a factor; 0 = none */
    size_t good, bad, skipped;
    size_t kept, changed, unknown; /* bits */
    bool is_by_default;      /* some were compared with what a default variant computes */
} verification;

static void free_winner(winner *w)
{
    MT_FREE_EACH(w->gpu_key, w->kernel, w->kernel_key, w->shape, w->workload, w->variant, w->space, w->shape_key, w->arch);
}

static mt_status add_winner(void *context, const mt_measurement_row *row, mt_error *err)
{
    verification *v = context;
    winner *w = MT_APPEND(v->winners, v->count, v->capacity);
    if (!w) return MT_FAIL(err, MT_ERR_NO_MEMORY, "verify: out of memory");
    *w = (winner){mt_strdup(row->gpu_key), mt_strdup(row->kernel), mt_strdup(row->kernel_key), mt_strdup(row->shape), mt_strdup(row->workload), mt_strdup(row->variant), NULL,
                  row->outcome.timing.l2, row->session, mt_strdup(row->shape_key), row->outcome.timing.median_ns,
                  row->outcome.timing.batch, "", {row->nvrtc_version, row->driver_version, NULL}, mt_strdup(row->arch), false};
    w->toolchain.arch = w->arch;
    memcpy(w->bits, row->outcome.bits, sizeof w->bits);
    if (!w->arch || !w->gpu_key || !w->kernel || !w->kernel_key || !w->shape || !w->workload || !w->variant || !w->shape_key) return MT_FAIL(err, MT_ERR_NO_MEMORY, "verify: out of memory");
    return MT_OK;
}

static mt_status add_space(void *context, const mt_session_info *row, mt_error *err)
{
    verification *v = context;
    for (size_t i = 0; i < v->count; i++) {
        if (v->winners[i].session != row->id) continue;
        const char *own = strcmp(row->strategy, "import") == 0 ? "" : row->space_path; /* an import's path is that of the rows; a pack has none */
        const char *space = v->values->space ? v->values->space : own;
        if (!*space) continue;
        v->winners[i].space = mt_strdup(space);
        if (!v->winners[i].space) return MT_FAIL(err, MT_ERR_NO_MEMORY, "verify: out of memory");
    }
    return MT_OK;
}

/* Packs and imported rows have no search space of their own: that of the kernel's name serves. A winner without one is skipped. */
static mt_status find_spaces(verification *v, mt_error *err)
{
    for (size_t i = 0; i < v->count; i++) {
        winner *w = &v->winners[i], *before = i ? w - 1 : NULL;
        if (w->space) continue;
        w->is_space_by_name = true;
        if (before && before->is_space_by_name && strcmp(before->kernel, w->kernel) == 0) {
            if (before->space && !(w->space = mt_strdup(before->space))) return mt_no_memory("verify", err);
            continue;
        }
        mt_status st = mt_requested_shapes_space(NULL, w->kernel, &w->space, err);
        if (st != MT_OK && st != MT_ERR_NOT_FOUND) return st;
    }
    return MT_OK;
}

static mt_status gather(verification *v, mt_error *err)
{
    mt_status st = MT_OK;
    mt_store *store = NULL;
    mt_filter_box box;
    mt_origin measured = MT_ORIGIN_MEASURED;
    mt_filter_fill(&v->values->filter, &box);
    if (!box.filter.origin) box.filter.origin = &measured; /* a recorded winner was measured elsewhere */
    MT_TRY(mt_database_open(v->values->db, &store, err));
    MT_TRY(mt_query_best(store, &box.filter, add_winner, v, err));
    MT_TRY(mt_query_sessions(store, add_space, v, err));
    MT_TRY(find_spaces(v, err));
    if (v->count == 0) st = mt_database_nothing(store, &box.filter, err);
done:
    mt_store_close(store);
    return st;
}

/* One set of workers serves the winners of one file. */
static mt_status open_space(verification *v, const winner *w, mt_error *err)
{
    if (v->rerun && strcmp(v->rerun_space, w->space) == 0 && v->rerun_l2 == w->l2) return MT_OK;
    mt_rerun_close(v->rerun);
    v->rerun = NULL;
    const char **keys = mt_alloc(v->count, sizeof *keys);
    if (!keys) return MT_FAIL(err, MT_ERR_NO_MEMORY, "verify: out of memory");
    for (size_t i = 0; i < v->count; i++) keys[i] = v->winners[i].shape_key;
    mt_rerun_options wishes = {.bench = {.shape_keys = keys, .shape_key_count = v->count, .space = w->space, .device = (int)v->values->device, .seed = v->seed,
                                         .variant_limit_s = v->values->variant_limit_s}, .l2 = w->l2};
    mt_status st = mt_rerun_open(&wishes, &v->rerun, err);
    mt_free(keys);
    v->rerun_space = w->space;
    v->rerun_l2 = w->l2;
    return st;
}

/* Without a sign of zero. */
static double per_cent_more(double now_ns, double stored_ns)
{
    return round(1000 * (now_ns / stored_ns - 1)) / 10 + 0.0;
}

/* "271.3 µs (stored 270.9 µs, +0.1 %)  " */
static void add_times(mt_strbuf *line, double now_ns, double stored_ns)
{
    char now[32], stored[32];
    mt_strbuf_add(line, mt_print_us(now_ns, now, sizeof now));
    if (stored_ns > 0) mt_strbuf_addf(line, " (stored %s, %+.1f %%)", mt_print_us(stored_ns, stored, sizeof stored), per_cent_more(now_ns, stored_ns));
    mt_strbuf_add(line, "  ");
}

/* `now_ns` 0: it was not timed. */
static void say(const winner *w, const char *verdict, double now_ns, const char *why)
{
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "%-8s ", verdict);
    mt_print_clean(&line, w->kernel, 0);
    mt_strbuf_add(&line, "  ");
    mt_print_clean(&line, w->shape, 0);
    mt_strbuf_add(&line, " · ");
    mt_print_clean(&line, w->workload, 0);
    mt_strbuf_addf(&line, "  %s  ", mt_l2_name(w->l2));
    if (now_ns > 0) add_times(&line, now_ns, w->median_ns);
    mt_print_knobs(&line, w->variant);
    if (why && *why) {
        mt_strbuf_add(&line, ": ");
        mt_print_clean(&line, why, 400);
    }
    printf("%s\n", mt_strbuf_text(&line));
    fflush(stdout);
    mt_strbuf_free(&line);
}

/* *fault stays empty when the tool found nothing. */
static mt_status sanitize_with(verification *v, const char *tool, mt_strbuf *fault, mt_error *err)
{
    /* The worker asks the driver things that may be refused (how many parameters a kernel has, say): that is no fault of the kernel. */
    const char *const memcheck[] = {v->sanitizer, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "99", NULL};
    const char *const other[] = {v->sanitizer, "--tool", tool, "--error-exitcode", "99", NULL};
    const char *const *prefix = strcmp(tool, "memcheck") == 0 ? memcheck : other;
    mt_rerun_report report;
    mt_status st = mt_rerun_under(v->rerun, prefix, MT_DEPTH_VALIDATE, SANITIZER_S, &report, err);
    if (st == MT_OK && (report.exit_code != 0 || report.is_timeout)) {
        const char *first = strstr(report.text, "=========");
        mt_strbuf_addf(fault, "%s: %s%.2000s", tool, report.is_timeout ? "no end; " : "", first ? first : report.text);
    }
    if (st == MT_OK) mt_free(report.text);
    return st;
}

static bool is_slower(const verification *v, const winner *w, const mt_timing *now)
{
    double more_ns = v->within * w->median_ns, least_ns = now->batch == 1 ? EVENTS_NS : 0;
    return now->median_ns > w->median_ns + (more_ns > least_ns ? more_ns : least_ns);
}

/* Validates and times, again where it seems too slow: *outcome is the first that failed, else the fastest. */
static mt_status run_winner(verification *v, const winner *w, mt_outcome *outcome, mt_error *err)
{
    mt_status st = mt_rerun_variant(v->rerun, w->shape, w->workload, w->variant, w->batch, outcome, err);
    for (int i = 1; i < TIMINGS && st == MT_OK && outcome->kind == MT_OUTCOME_OK && is_slower(v, w, &outcome->timing); i++) {
        mt_outcome again;
        st = mt_rerun_variant(v->rerun, w->shape, w->workload, w->variant, w->batch, &again, err);
        if (st != MT_OK) break;
        mt_outcome worse = again;
        if (again.kind != MT_OUTCOME_OK || again.timing.median_ns < outcome->timing.median_ns) {
            worse = *outcome;
            *outcome = again;
        }
        mt_outcome_free(&worse);
    }
    return st;
}

/* Opens the winner's space; why not, where it is not one of this GPU and of the source as it is now. */
static mt_status reach(verification *v, const winner *w, const char **why_not, mt_error *err)
{
    mt_status st = open_space(v, w, err);
    *why_not = NULL;
    if (st != MT_OK) return st;
    if (strcmp(mt_rerun_gpu_key(v->rerun), w->gpu_key) != 0) *why_not = "it belongs to another GPU";
    else if (strcmp(mt_rerun_kernel_key(v->rerun), w->kernel_key) != 0) *why_not = "the kernel's source has changed since";
    return st;
}

static mt_status verify_one(verification *v, const winner *w, mt_error *err)
{
    mt_status st = MT_OK;
    mt_outcome outcome = {0};
    mt_strbuf fault = {0};
    const char *why_not;
    MT_TRY(reach(v, w, &why_not, err));
    if (why_not) {
        say(w, "skipped", 0, why_not);
        v->skipped++;
        goto done;
    }
    MT_TRY(run_winner(v, w, &outcome, err));
    bool ok = outcome.kind == MT_OUTCOME_OK;
    double now_ns = ok ? outcome.timing.median_ns : 0;
    if (ok && is_slower(v, w, &outcome.timing)) mt_strbuf_addf(&fault, "slower than stored by more than %g %%, %d times", 100 * v->within, TIMINGS);
    if (!ok) mt_strbuf_addf(&fault, "%s: %s", mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    if (ok && !fault.length && v->sanitizer) {
        MT_TRY(sanitize_with(v, "memcheck", &fault, err));
        if (!fault.length) MT_TRY(sanitize_with(v, "racecheck", &fault, err));
    }
    v->is_by_default |= mt_rerun_spec(v->rerun)->reference_is_default;
    say(w, fault.length ? "FAILED" : "ok", now_ns, mt_strbuf_text(&fault));
    if (!fault.length && now_ns / w->median_ns > v->worst) v->worst = now_ns / w->median_ns;
    *(fault.length ? &v->bad : &v->good) += 1;
done:
    if (st == MT_ERR_NOT_FOUND) { /* the file has moved on */
        say(w, "skipped", 0, err->message);
        v->skipped++;
        st = MT_OK;
    }
    mt_outcome_free(&outcome);
    mt_strbuf_free(&fault);
    return st;
}

static void add_toolchain(mt_strbuf *line, const mt_toolchain_row *chain)
{
    const long long nvrtc = chain->nvrtc_version, driver = chain->driver_version;
    mt_strbuf_addf(line, "CUDA %lld.%lld, driver %lld.%lld, %s", nvrtc / 1000, nvrtc % 1000 / 10, driver / 1000, driver % 1000 / 10, chain->arch);
}

/* Once more with the inputs of seed 0, of which the stored fingerprint is; what was skipped before is passed over. */
static mt_status compare_bits(verification *v, const winner *w, mt_error *err)
{
    mt_status st = MT_OK;
    mt_outcome outcome = {0};
    mt_strbuf why = {0};
    const char *why_not;
    MT_TRY(reach(v, w, &why_not, err));
    if (why_not) goto done;
    if (!*w->bits) {
        v->unknown++;
        goto done;
    }
    MT_TRY(mt_rerun_variant(v->rerun, w->shape, w->workload, w->variant, w->batch, &outcome, err));
    if (outcome.kind != MT_OUTCOME_OK) {
        mt_strbuf_addf(&why, "%s: %s", mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
        say(w, "FAILED", 0, mt_strbuf_text(&why));
        v->bad++;
    } else if (strcmp(outcome.bits, w->bits) != 0) {
        const mt_toolchain_row now = mt_rerun_toolchain(v->rerun);
        mt_strbuf_add(&why, "with ");
        add_toolchain(&why, &now);
        mt_strbuf_add(&why, " its outputs have other bits than with ");
        add_toolchain(&why, &w->toolchain);
        say(w, "BITS", 0, mt_strbuf_text(&why));
        v->changed++;
    } else {
        v->kept++;
    }
done:
    if (st == MT_ERR_NOT_FOUND) st = MT_OK;
    mt_outcome_free(&outcome);
    mt_strbuf_free(&why);
    return st;
}

static mt_status compare_all_bits(verification *v, mt_error *err)
{
    mt_status st = MT_OK;
    mt_rerun_close(v->rerun); /* its seed is another */
    v->rerun = NULL;
    v->seed = 0;
    for (size_t i = 0; i < v->count && st == MT_OK; i++)
        if (v->winners[i].space) st = compare_bits(v, &v->winners[i], err);
    if (st == MT_OK) printf("Bits: %zu kept, %zu changed, %zu not known\n", v->kept, v->changed, v->unknown);
    return st;
}

static mt_status read_within(const char *text, double *within, mt_error *err)
{
    *within = INFINITY;
    if (!text) return MT_OK;
    if (!mt_text_double(text, within) || !(*within >= 0 && *within <= 1000)) return MT_FAIL(err, MT_ERR_USAGE, "verify: --within is '%s', expected per cent, such as 5", text);
    *within /= 100;
    return MT_OK;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const verify_values *values = arguments->values;
    verification v = {.values = values, .seed = values->seed ? (uint64_t)values->seed : (uint64_t)mt_clock_unix_ms() & 0x7fffffff};
    mt_status st = MT_OK;
    if (values->key && !values->pack) return MT_FAIL(err, MT_ERR_USAGE, "verify: --key goes with --pack");
    if (values->pack) return mt_verify_pack(values->pack, values->key, err);
    MT_TRY(read_within(values->within, &v.within, err));
    MT_TRY(gather(&v, err));
    if (values->sanitize && !(v.sanitizer = mt_external_tool_find("compute-sanitizer"))) {
        st = MT_FAIL(err, MT_ERR_UNSUPPORTED, "--sanitize: compute-sanitizer is neither in PATH nor in CUDA_HOME/bin");
        goto done;
    }
    printf("Seed %llu%s\n", (unsigned long long)v.seed, v.sanitizer ? ", with memcheck and racecheck" : "");
    for (size_t i = 0; i < v.count; i++) {
        if (v.winners[i].space) {
            MT_TRY(verify_one(&v, &v.winners[i], err));
        } else {
            say(&v.winners[i], "skipped", 0, "nobody knows the search space that it came from; give --space");
            v.skipped++;
        }
    }
    printf("%zu ok, %zu failed, %zu skipped", v.good, v.bad, v.skipped);
    if (v.worst > 0) printf("; the slowest beside its stored time: %+.1f %%", per_cent_more(v.worst, 1));
    printf("\n");
    if (values->bits) MT_TRY(compare_all_bits(&v, err));
    if (v.is_by_default) printf("Compared with what the default variant computes, where the search space says reference = default.\n");
    if (v.bad) st = MT_FAIL(err, MT_ERR_GPU, "%zu of %zu winner%s failed", v.bad, v.count, v.count == 1 ? "" : "s");
    else if (v.changed) st = MT_FAIL(err, MT_ERR_CHANGED, "%zu winner%s other bits than stored", v.changed, v.changed == 1 ? " has" : "s have");
    else if (!v.good) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "no winner could be verified");
done:
    mt_rerun_close(v.rerun);
    for (size_t i = 0; i < v.count; i++) free_winner(&v.winners[i]);
    mt_free(v.winners);
    mt_free(v.sanitizer);
    return st;
}

const mt_command mt_cmd_verify = {
    .name = "verify",
    .summary = "validate the winners of a database once more, on this GPU",
    .help = "Runs each winner that belongs to this GPU and to the kernel's source as it is now, with inputs of a\n"
            "fresh seed, through the same checks as tuning does, and tells its time beside the stored one.\n"
            "--within 5 fails those that are slower by more than 5 %. --sanitize adds compute-sanitizer's\n"
            "memcheck and racecheck. Rows that came with the tool or were imported are compiled from the shipped\n"
            "search space of their kernel. Exit code 1 when one fails.\n\n"
            "--bits tells where a toolchain changed the bits of a winner's outputs: exit code 5.\n\n"
            "With --pack FILE no winner runs: each part of the pack is read and checked against its hash, and\n"
            "with --key the signature. Exit code 1 when a byte was changed, or somebody else signed it.",
    .options = options,
    .values_size = sizeof(verify_values),
    .run = run,
};
