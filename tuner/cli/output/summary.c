#include "tuner/cli/output/summary.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/print_knobs.h"
#include "tuner/session/rates.h"
#include "tuner/space/points/point.h"

enum { INDENT = 14 }; /* of what stands behind a title */

/* A line that fits the page; it breaks behind punctuation. */
__attribute__((format(printf, 2, 3))) static void print_line(FILE *out, const char *format, ...)
{
    mt_strbuf text = {0};
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    mt_print_wrapped(out, mt_strbuf_text(&text), INDENT, ",;:)");
    mt_strbuf_free(&text);
}

/* The value of ALGO, which each variant's text begins with. */
static size_t algorithm_length(const char *variant)
{
    return strncmp(variant, "ALGO=", 5) == 0 ? strcspn(variant + 5, ";") : 0;
}

static void count_algorithm(mt_summary_counts *counts, const char *variant, double ns)
{
    size_t length = algorithm_length(variant), i = 0;
    if (length == 0 || length >= sizeof counts->algorithms[0].name || strlen(variant) >= sizeof counts->algorithms[0].variant) return;
    while (i < counts->algorithm_count && (strlen(counts->algorithms[i].name) != length || strncmp(counts->algorithms[i].name, variant + 5, length) != 0)) i++;
    if (i == MT_SUMMARY_ALGORITHMS) return;
    mt_summary_algorithm *algorithm = &counts->algorithms[i];
    if (i < counts->algorithm_count && algorithm->best_ns <= ns) return;
    if (i == counts->algorithm_count) counts->algorithm_count++;
    snprintf(algorithm->name, sizeof algorithm->name, "%.*s", (int)length, variant + 5);
    snprintf(algorithm->variant, sizeof algorithm->variant, "%s", variant);
    algorithm->best_ns = ns;
}

void mt_summary_count(mt_summary_counts *counts, const char *variant, const mt_outcome *outcome)
{
    if (!outcome) return;
    counts->total++;
    counts->by_kind[outcome->kind]++;
    if (outcome->kind == MT_OUTCOME_OK && variant) count_algorithm(counts, variant, outcome->timing.median_ns);
    if (!mt_outcome_is_timed(outcome->kind)) mt_reasons_add(&counts->reasons, outcome->kind, variant, outcome->text);
}

void mt_summary_name(const mt_space *space, const mt_workload *workload, mt_strbuf *name)
{
    mt_print_clean(name, mt_space_shape(space)->name, 60);
    if (!workload->key[0] && strcmp(workload->name, "default") == 0) return;
    mt_strbuf_add(name, " · ");
    mt_print_clean(name, workload->name, 60);
}

static void print_title(FILE *out, const mt_space *space, const mt_workload *workload, const mt_device_facts *facts, bool is_recorded, mt_l2 l2)
{
    mt_strbuf line = {0};
    mt_print_clean(&line, mt_space_spec(space)->name, 60);
    mt_strbuf_add(&line, " · ");
    mt_summary_name(space, workload, &line);
    if (l2 != MT_L2_COLD) mt_strbuf_addf(&line, " · %s", mt_l2_name(l2));
    mt_strbuf_add(&line, "   on ");
    mt_print_clean(&line, facts->name, 80);
    if (is_recorded) mt_strbuf_add(&line, " (recorded)");
    fprintf(out, "\n");
    mt_print_wrapped(out, mt_strbuf_text(&line), 2, NULL);
    mt_strbuf_free(&line);
}

/* "2.31 × as fast as the default"; nothing when there is no other. */
static void print_against(FILE *out, double best_ns, double other_ns, const char *what)
{
    if (!isfinite(other_ns) || !(other_ns > 0)) return;
    char time[MT_PRINT_TIME_SIZE], speed[MT_PRINT_SPEED_SIZE];
    fprintf(out, "              %s the %s (%s)\n", mt_print_speed(other_ns / best_ns, speed), what, mt_print_us(other_ns, time, sizeof time));
}

/* "  Rates:      2.98 TB/s, 1.2 Gops/s …": what the model says was done in that time. */
static void print_rates(FILE *out, const mt_model *model, const mt_device_facts *facts, const mt_subject_summary *summary)
{
    static const struct {
        const char *metric, *unit;
        double scale, least; /* from there on in this unit */
    } shown[] = {{"dram_bytes_per_s", "GB/s of DRAM at least", 1e-9, 0}, {"moved_bytes_per_s", "GB/s moved", 1e-9, 0}, {"flops_per_s", "TFLOP/s", 1e-12, 1e12}, {"flops_per_s", "GFLOP/s", 1e-9, 0},
                 {"ops_per_s", "Mops/s", 1e-6, 0}, {"clocks_per_op_per_sm", "clocks per op and SM", 1, 0}};
    const mt_timing timing = {.median_ns = summary->best_ns, .sm_mhz = summary->best_sm_mhz};
    mt_metric rates[MT_RATES_MAX];
    size_t count = mt_rates_metrics(model, &timing, facts->sm_count, rates);
    mt_strbuf line = {0};
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < sizeof shown / sizeof shown[0] && (strcmp(rates[i].name, shown[k].metric) != 0 || rates[i].value < shown[k].least)) k++;
        if (k < sizeof shown / sizeof shown[0]) mt_strbuf_addf(&line, "%s%.4g %s", line.length ? ", " : "  Rates:      ", rates[i].value * shown[k].scale, shown[k].unit);
    }
    if (line.length) print_line(out, "%s", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
    const mt_cycles *cycles = &summary->best_cycles;
    if (cycles->blocks) print_line(out, "  Cycles:     %llu / %.0f / %llu per block (least, mean, most of %llu)", (unsigned long long)cycles->min, cycles->mean, (unsigned long long)cycles->max, (unsigned long long)cycles->blocks);
}

static void print_model(FILE *out, const mt_space *space, const mt_device_facts *facts, const mt_subject_summary *summary)
{
    mt_env *env = NULL;
    mt_model model = {NAN, NAN, NAN, NAN, NAN};
    mt_error ignored = {0};
    char time[MT_PRINT_TIME_SIZE];
    if (mt_env_create(mt_space_spec(space), mt_space_shape(space), facts, &env, &ignored) == MT_OK && mt_env_model(env, &model, &ignored) == MT_OK &&
        model.floor_ns > 0)
        fprintf(out, "              the model's floor, %s, is %.0f %% of this time\n", mt_print_us(model.floor_ns, time, sizeof time), 100 * model.floor_ns / summary->best_ns);
    print_rates(out, &model, facts, summary);
    mt_env_free(env);
}

/* "  copy:       94.10 µs, 0.98 × the best's time": what the best is held against. */
static void print_yardsticks(FILE *out, const mt_subject_summary *summary)
{
    char time[MT_PRINT_TIME_SIZE], title[32];
    for (size_t i = 0; i < summary->yardstick_count; i++) {
        const mt_yardstick *yardstick = &summary->yardsticks[i];
        snprintf(title, sizeof title, "%.30s:", yardstick->name);
        fprintf(out, "  %-11s %s", title, mt_print_us(yardstick->median_ns, time, sizeof time));
        if (isfinite(summary->best_ns)) fprintf(out, ", %.3f × the best's time", yardstick->median_ns / summary->best_ns);
        fprintf(out, "\n");
    }
}

static void print_energy(FILE *out, const mt_subject_summary *summary)
{
    const mt_energy *energy = &summary->energy;
    char text[MT_PRINT_ENERGY_SIZE];
    if (summary->wanted != MT_OBJECTIVE_TIME && summary->objective == MT_OBJECTIVE_TIME)
        print_line(out, "              picked by time, not by %s: the energy of the finalists is not known", summary->wanted == MT_OBJECTIVE_EDP ? "energy × time" : "energy");
    if (energy->source == MT_ENERGY_NONE) return;
    fprintf(out, "  Energy:     %s a run, %.0f W", mt_print_energy(energy->run_uj, energy->error_uj, text, sizeof text), energy->power_w);
    fprintf(out, " (%s, loops of %.2g s)\n", energy->source == MT_ENERGY_COUNTER ? "NVML's counter" : "NVML's power readings", energy->loop_ms / 1e3);
    if (summary->objective != MT_OBJECTIVE_TIME) fprintf(out, "              picked by %s\n", summary->objective == MT_OBJECTIVE_EDP ? "energy × time" : "energy");
}

/* Only ratios of the same rounds: at the power limit a card's times are of the moment. */
static void print_library(FILE *out, const mt_subject_summary *summary)
{
    const mt_row_library *library = &summary->library;
    char time[MT_PRINT_TIME_SIZE];
    if (summary->library_why[0]) {
        mt_strbuf line = {0};
        mt_strbuf_addf(&line, "%*snot compared with baseline %s", INDENT, "", summary->library_why);
        mt_print_wrapped(out, mt_strbuf_text(&line), INDENT, NULL);
        mt_strbuf_free(&line);
    }
    if (library->plugin[0])
        print_line(out, "              %.3f × as fast as the best of %s's algorithms (%s; %.3f to %.3f)", library->best_ratio, library->plugin, mt_print_us(library->best_ns, time, sizeof time),
                library->best_low, library->best_high);
    if (library->plugin[0] && isfinite(library->first_ratio))
        fprintf(out, "              %.3f × as fast as its first choice (%s)\n", library->first_ratio, mt_print_us(library->first_ns, time, sizeof time));
    if (summary->is_programmatic) print_line(out, "              programmatic launch: it overlaps with the kernel in front%s", library->plugin[0] ? ", which the baseline does not" : "");
    if (summary->is_limited) print_line(out, "              power or heat held the clock down (throttled): of the final's figures only ratios of the same rounds count");
}

/* The knobs of a variant on lines of their own: all where they fit one line or are asked for, else those that differ from the default. */
static void print_variant(FILE *out, const mt_space *space, const char *variant, bool is_verbose)
{
    char *usual = mt_point_usual(mt_space_spec(space));
    mt_strbuf knobs = {0}, told = {0};
    mt_strbuf_addf(&knobs, "%*s", INDENT, "");
    mt_knobs_add_all(&knobs, variant, usual);
    mt_strbuf_addf(&told, "%*s", INDENT, "");
    size_t left_out = mt_knobs_add_told(&told, variant, usual);
    bool wants_all = is_verbose || left_out == 0 || mt_print_columns(mt_strbuf_text(&knobs)) <= MT_PAGE_COLUMNS;
    bool is_default = mt_key_is_default(variant, usual);
    if (is_default) mt_strbuf_add(&told, " (--verbose lists its knobs)");
    mt_print_wrapped(out, mt_strbuf_text(wants_all ? &knobs : &told), INDENT, NULL);
    if (!wants_all && !is_default) fprintf(out, "%*sand %zu knob%s as in the default (--verbose lists all)\n", INDENT, "", left_out, left_out == 1 ? "" : "s");
    mt_free(usual);
    mt_strbuf_free(&knobs);
    mt_strbuf_free(&told);
}

static void print_best(FILE *out, const mt_space *space, const mt_device_facts *facts, const mt_subject_summary *summary, bool is_verbose)
{
    char time[2 * MT_PRINT_TIME_SIZE];
    fprintf(out, "  Best:       ");
    mt_color_print(out, MT_COLOR_GOOD, mt_print_interval(summary->best_ns, summary->low_ns, summary->high_ns, time, sizeof time));
    fprintf(out, "\n");
    print_variant(out, space, summary->best, is_verbose);
    if (summary->error_limit.is_given) fprintf(out, "              picked among the variants with an error of at most %.3g\n", summary->error_limit.most);
    print_energy(out, summary);
    if (summary->tied) fprintf(out, "              tied with %zu other%s\n", summary->tied, summary->tied == 1 ? "" : "s");
    print_against(out, summary->best_ns, summary->default_ns, "default");
    print_against(out, summary->best_ns, summary->baseline_ns, "baseline");
    print_library(out, summary);
    print_model(out, space, facts, summary);
}

/* The other algorithms' best. The baseline has a line already. */
static void print_algorithms(FILE *out, const mt_space *space, const mt_subject_summary *summary, const mt_summary_counts *counts)
{
    const char *baseline = mt_space_spec(space)->baseline;
    char *usual = mt_point_usual(mt_space_spec(space));
    size_t best_length = algorithm_length(summary->best), printed = 0;
    bool has_faster = false;
    for (size_t i = 0; i < counts->algorithm_count; i++) {
        const mt_summary_algorithm *algorithm = &counts->algorithms[i];
        char time[MT_PRINT_TIME_SIZE];
        if ((baseline && strcmp(algorithm->name, baseline) == 0) || (strlen(algorithm->name) == best_length && strncmp(algorithm->name, summary->best + 5, best_length) == 0)) continue;
        has_faster = has_faster || algorithm->best_ns < summary->best_ns;
        mt_strbuf line = {0};
        mt_strbuf_addf(&line, "%s%s ", printed++ ? "              " : "  Others:     ", mt_print_us(algorithm->best_ns, time, sizeof time));
        mt_knobs_add_told(&line, algorithm->variant, usual);
        mt_print_wrapped(out, mt_strbuf_text(&line), INDENT + 2, NULL);
        mt_strbuf_free(&line);
    }
    mt_free(usual);
    if (has_faster && summary->objective == MT_OBJECTIVE_TIME && !summary->error_limit.is_given) fprintf(out, "              (tied within the interval; the final decided)\n");
}

/* What --known has is no row of this database: its time is of another session, perhaps of another board. */
static void print_shared(FILE *out, const mt_space *space, const mt_subject_summary *summary, bool is_verbose)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_strbuf text = {0};
    bool has_own = summary->best && isfinite(summary->best_ns), has_shared = summary->shared_best && isfinite(summary->shared_ns);
    if (!has_own) fprintf(out, "  Best:       %s\n", !has_shared ? "none" : summary->measured == 0 ? "none of this database: all is known" : "none of this database");
    if (!has_shared || (has_own && summary->best_ns <= summary->shared_ns)) return;
    mt_print_clean(&text, summary->shared_path, 0);
    mt_strbuf_addf(&text, " has %s%s", has_own ? "a faster one: " : "", mt_print_us(summary->shared_ns, time, sizeof time));
    fprintf(out, "              %s\n", mt_strbuf_text(&text));
    print_variant(out, space, summary->shared_best, is_verbose);
    mt_strbuf_free(&text);
}

static void print_counts(FILE *out, const mt_spec *spec, const mt_subject_summary *summary, const mt_summary_counts *counts)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_strbuf line = {0};
    if (spec->per.program) print_line(out, "  Times:      per unit of work (per = %s)", spec->per.source);
    if (spec->reference_is_default) print_line(out, "  Reference:  the default's own output (reference = default), itself unchecked");
    if (counts->search[0]) print_line(out, "  Search:     %s", counts->search);
    mt_strbuf_addf(&line, "  Evaluated:  %zu in %s", summary->evaluated - summary->not_run, mt_print_seconds(summary->seconds, time, sizeof time));
    if (summary->known > summary->shared) mt_strbuf_addf(&line, ", %zu of them known from before", summary->known - summary->shared);
    if (summary->shared) mt_strbuf_addf(&line, ", %zu of them known from ", summary->shared);
    if (summary->shared) mt_print_clean(&line, summary->shared_path, 0);
    mt_strbuf_addf(&line, "; %zu ok", summary->ok);
    if (summary->censored) mt_strbuf_addf(&line, ", %zu stopped as too slow", summary->censored);
    if (summary->failed) mt_strbuf_addf(&line, ", %zu failed", summary->failed);
    if (summary->not_run) mt_strbuf_addf(&line, ", %zu not run", summary->not_run);
    if (summary->yardstick) mt_strbuf_addf(&line, ", %zu yardstick%s", summary->yardstick, summary->yardstick == 1 ? "" : "s");
    mt_strbuf_add(&line, summary->end == MT_SUBJECT_INTERRUPTED ? " (interrupted)" : summary->end == MT_SUBJECT_OUT_OF_TIME ? " (time is up)" : "");
    print_line(out, "%s", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
    if (summary->is_flat) fprintf(out, "  Ended:      after %zu of %zu evaluations: expected gain of going on < %g %%\n", summary->evaluated, summary->meant, 100 * MT_FLAT_BELOW);
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) mt_reasons_print(&counts->reasons, (mt_outcome_kind)kind, out);
}

void mt_summary_print(FILE *out, const mt_space *space, const mt_workload *workload, const mt_device_facts *facts, bool is_recorded,
                      const mt_subject_summary *summary, const mt_summary_counts *counts, bool is_verbose)
{
    print_title(out, space, workload, facts, is_recorded, summary->l2);
    if (summary->best && isfinite(summary->best_ns)) print_best(out, space, facts, summary, is_verbose);
    if (summary->best && isfinite(summary->best_ns)) print_algorithms(out, space, summary, counts);
    print_shared(out, space, summary, is_verbose);
    print_yardsticks(out, summary);
    print_counts(out, mt_space_spec(space), summary, counts);
}

static const char *seconds(int64_t ns, char *text, size_t size)
{
    return mt_print_seconds((double)ns / 1e9, text, size);
}

/* Of the GPUs' time, in per cent. */
static void print_idle(FILE *out, const mt_session_times *times, double all_ns)
{
    double rest_ns = all_ns - (double)(times->device_ns + times->idle_setup_ns + times->idle_no_compiled_ns + times->idle_dispatch_ns);
    double part = all_ns > 0 ? 100 / all_ns : 0;
    fprintf(out, "Idle:         %.1f %% before the first variants, %.1f %% without a compiled one,\n%*s%.1f %% until the next was started, %.1f %% else\n", part * (double)times->idle_setup_ns,
        part * (double)times->idle_no_compiled_ns, INDENT, "", part * (double)times->idle_dispatch_ns, rest_ns > 0 ? part * rest_ns : 0);
}

void mt_summary_times(FILE *out, const mt_session_times *times, bool is_recorded)
{
    char total[MT_PRINT_TIME_SIZE], a[MT_PRINT_TIME_SIZE], b[MT_PRINT_TIME_SIZE], c[MT_PRINT_TIME_SIZE];
    const mt_compile_counts *compiles = &times->compiles;
    seconds(times->database_ns, a, sizeof a);
    seconds(times->search_ns, b, sizeof b);
    fprintf(out, "Time:         %s: ", seconds(times->total_ns, total, sizeof total));
    if (is_recorded) {
        fprintf(out, "database %s, search %s\n", a, b);
        return;
    }
    double all_ns = (double)times->total_ns * (double)times->device_count;
    fprintf(out, "GPU%s busy %.0f %%", times->device_count > 1 ? "s" : "", all_ns > 0 ? 100 * (double)times->device_ns / all_ns : 0);
    fprintf(out, " (validating %s, timing %s,\n%*sloading and the rest %s);", seconds(times->validate_ns, a, sizeof a), seconds(times->time_ns, b, sizeof b), INDENT, "",
        seconds(times->device_ns - times->validate_ns - times->time_ns, c, sizeof c));
    fprintf(out, " database %s, search %s\n", seconds(times->database_ns, a, sizeof a), seconds(times->search_ns, b, sizeof b));
    print_idle(out, times, all_ns);
    fprintf(out, "Compiling:    %s in %zu compiles, side by side; %zu from the cache, %zu shared;\n%*scompiled variants waited %s\n", seconds(times->compile_ns, a, sizeof a), compiles->compiled,
        compiles->cached, compiles->shared, INDENT, "", seconds(times->wait_ns, b, sizeof b));
}
