/* msda-tune portfolio: the few variants that do well on every tuned shape, and how one of them is chosen for others. */
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/measure/portfolio_measure.h"
#include "tuner/cli/measure/sibling.h"
#include "tuner/cli/output/portfolio_print.h"
#include "tuner/cli/requests/database.h"

enum { DEFAULT_MAX = 8, CANDIDATES_PER_MEMBER = 3 };

typedef struct portfolio_values {
    const char *gpu, *kernel, *space, *db, *within, *recordings;
    int64_t max, candidates, seed, jobs;
    int l2;
    const char *families;
    bool measure, evaluate, json;
} portfolio_values;

#define FIELD(name) offsetof(portfolio_values, name)
static const mt_option options[] = {
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "only this kernel"},
    {"gpu", 0, MT_OPTION_TEXT, FIELD(gpu), "GPU", "only this GPU: key, driver's name or model (h100), or recorded:NAME;\nwith --measure: auto (default), all, device numbers or recorded:NAME"},
    {"max", 0, MT_OPTION_COUNT, FIELD(max), "N", "choose anew: variants of the portfolio, at most (default 8)"},
    {"within", 0, MT_OPTION_TEXT, FIELD(within), "FACTOR", "choose anew: how near to the best a variant must be to serve a shape\n(default 1.10)"},
    {"measure", 0, MT_OPTION_FLAG, FIELD(measure), NULL, "first measure candidates on the shapes where they were not; needs\n--space"},
    {"candidates", 0, MT_OPTION_COUNT, FIELD(candidates), "N", "how many of them (default three times --max)"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space, for --measure"},
    {"l2", 0, MT_OPTION_CHOICE, FIELD(l2), "cold|warm", "only this state of the L2 cache; with --measure the file's is the default"},
    {"evaluate", 0, MT_OPTION_FLAG, FIELD(evaluate), NULL, "tell what each shape would have been answered with, had it not been\ntuned, beside the default and the nearest by volume"},
    {"families", 0, MT_OPTION_TEXT, FIELD(families), "NAMES", "evaluate so, but leave out with each shape all that agree with it in\nthese values: N,K"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "for programs: an array with an object for each kernel and GPU"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"recordings", 0, MT_OPTION_INPUT, FIELD(recordings), "FILE", "database of recorded GPUs instead of the shipped one"},
    {"seed", 0, MT_OPTION_SEED, FIELD(seed), "N", "seed of the inputs (default 0)"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "compile workers while measuring (default: the host's cores, at most 32)"},
    {0},
};

typedef struct found_group {
    mt_portfolio_group group;
    char *gpu_key, *kernel, *kernel_key;
} found_group;

typedef struct work {
    const portfolio_values *values;
    const mt_arguments *arguments;
    mt_predictor_options options;
    mt_store *store;
    mt_portfolio_bench *bench;     /* with --measure */
    found_group *groups;
    size_t count, capacity;
} work;

/* ---- what is asked for ---- */

static mt_status read_limits(work *w, mt_error *err)
{
    const portfolio_values *v = w->values;
    w->options = (mt_predictor_options){v->max ? (size_t)v->max : DEFAULT_MAX, MT_PREDICTOR_WITHIN};
    if (v->max > MT_RULE_VARIANTS) return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --max is %lld, expected at most %d", (long long)v->max, MT_RULE_VARIANTS);
    if (v->candidates > MT_RULE_VARIANTS) return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --candidates is %lld, expected at most %d", (long long)v->candidates, MT_RULE_VARIANTS);
    bool is_number = !v->within || mt_text_double(v->within, &w->options.within);
    if (!is_number || !(w->options.within >= 1 && w->options.within <= 10))
        return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --within is '%s', expected a factor from 1 to 10, such as 1.10", v->within);
    if (v->measure && !v->space) return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --measure needs --space FILE");
    if (v->space && !v->measure) return MT_FAIL(err, MT_ERR_USAGE, "portfolio: --space is for --measure");
    return MT_OK;
}

static mt_status add_group(void *context, const mt_portfolio_group_info *row, mt_error *err)
{
    work *w = context;
    found_group *g = MT_APPEND(w->groups, w->count, w->capacity);
    if (!g) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    *g = (found_group){row->group, mt_strdup(row->gpu_key), mt_strdup(row->kernel), mt_strdup(row->kernel_key)};
    return g->gpu_key && g->kernel && g->kernel_key ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
}

static mt_status find_groups(work *w, mt_error *err)
{
    const portfolio_values *v = w->values;
    mt_origin recorded = MT_ORIGIN_RECORDED, of_bench;
    mt_l2 l2 = v->l2 ? (mt_l2)(v->l2 - 1) : MT_L2_COLD;
    bool is_recorded = v->gpu && strncmp(v->gpu, "recorded:", 9) == 0;
    mt_filter filter = {.gpu = is_recorded ? v->gpu + 9 : v->gpu, .kernel = v->kernel, .origin = is_recorded ? &recorded : NULL, .l2 = v->l2 ? &l2 : NULL};
    if (w->bench) {
        of_bench = mt_portfolio_bench_origin(w->bench);
        l2 = mt_portfolio_bench_l2(w->bench);
        const mt_bench *bench = mt_portfolio_bench_of(w->bench);
        filter = (mt_filter){.gpu = bench->gpu_key, .kernel = bench->spec->name, .kernel_key = bench->kernel_key.hex, .origin = &of_bench, .l2 = &l2};
    }
    mt_status st = mt_query_groups(w->store, &filter, add_group, w, err);
    if (st != MT_OK || w->count) return st;
    st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: nothing that was tuned matches; a portfolio is chosen from tuned shapes", mt_store_path(w->store));
    mt_database_near_miss(w->store, &filter, err);
    return st;
}

/* ---- one group ---- */

/* Until every candidate has a time everywhere: new times bring new candidates, each time fewer. */
static mt_status measure(work *w, const found_group *g, mt_error *err)
{
    enum { ROUNDS = 4 };
    mt_status st = MT_OK;
    size_t candidates = w->values->candidates ? (size_t)w->values->candidates : w->options.max * CANDIDATES_PER_MEMBER, missing = 1;
    for (int round = 0; round < ROUNDS && missing && st == MT_OK; round++) {
        mt_predictor_table table;
        st = mt_predictor_table_load(w->store, &g->group, w->options.within, &table, err);
        if (st != MT_OK) break;
        st = mt_portfolio_bench_measure(w->bench, w->store, &table, candidates, &missing, err);
        mt_predictor_table_free(&table);
    }
    return st;
}

static mt_status show(work *w, const found_group *g, mt_error *err)
{
    mt_status st = MT_OK;
    mt_predictor_table table = {0};
    mt_predictor *predictor = mt_alloc(1, sizeof *predictor);
    if (!predictor) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    MT_TRY(mt_predictor_table_load(w->store, &g->group, w->options.within, &table, err));
    MT_TRY(mt_predictor_build(&table.data, NULL, &w->options, predictor, err));
    size_t family[MT_RULE_SHAPES];
    if (w->values->families) MT_TRY(mt_predictor_families(&table, w->values->families, family, err));
    const mt_portfolio_view view = {g->gpu_key, g->kernel, g->kernel_key, &table, predictor, &w->options, w->values->families ? family : NULL, w->store};
    bool evaluates = w->values->evaluate || w->values->families;
    if (w->values->json) MT_LEAVE(mt_portfolio_print_json(&view, evaluates, err));
    MT_TRY(mt_portfolio_print(&view, err));
    if (evaluates) MT_TRY(mt_portfolio_print_evaluation(&view, err));
done:
    mt_predictor_table_free(&table);
    mt_free(predictor);
    return st;
}

/* Without limits or measurements nothing is chosen anew: what sessions stored is shown, by the limits that it was chosen by. */
static bool only_shows(const portfolio_values *v)
{
    return !v->max && !v->within && !v->measure;
}

static mt_status stored_limits(work *w, const found_group *g, mt_error *err)
{
    mt_status st;
    bool is_asked;
    int64_t max;
    w->options = (mt_predictor_options){MT_PREDICTOR_AUTO_MAX, MT_PREDICTOR_WITHIN};
    MT_TRY(mt_query_portfolio_limits(w->store, &g->group, &is_asked, &max, &w->options.within, err));
    if (is_asked) w->options.max = (size_t)max;
done:
    return st;
}

static mt_status run_group(work *w, const found_group *g, mt_error *err)
{
    mt_status st = MT_OK;
    if (w->bench) MT_TRY(measure(w, g, err));
    MT_TRY(only_shows(w->values) ? stored_limits(w, g, err) : mt_predictor_refresh(w->store, &g->group, &w->options, err));
    st = show(w, g, err);
done:
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    work w = {.values = arguments->values, .arguments = arguments};
    const portfolio_values *v = w.values;
    mt_strbuf command = {0};
    mt_command_line("portfolio", arguments, &command);
    const mt_portfolio_bench_options bench = {.space = v->space, .gpu = v->gpu, .recordings = v->recordings, .seed = v->seed, .l2 = v->l2, .jobs = (size_t)v->jobs,
                                              .arguments = arguments, .command = mt_strbuf_text(&command)};
    bool is_sibling = mt_sibling_enter();
    mt_status st = MT_OK;
    MT_TRY(read_limits(&w, err));
    MT_TRY(mt_database_open_as(v->db, only_shows(v) ? MT_STORE_READ_ONLY : MT_STORE_READ_WRITE, &w.store, err));
    if (v->measure) MT_TRY(mt_portfolio_bench_open(&bench, w.store, &w.bench, err));
    if (v->measure && is_sibling) MT_LEAVE(mt_portfolio_bench_help(w.bench, w.store, err));
    MT_TRY(find_groups(&w, err));
    if (v->json) printf("[");
    for (size_t i = 0; i < w.count; i++) {
        if (i) printf(v->json ? ",\n" : "\n");
        MT_TRY(run_group(&w, &w.groups[i], err));
    }
    if (v->json) printf("]\n");
done:
    for (size_t i = 0; i < w.count; i++) {
        MT_FREE_EACH(w.groups[i].gpu_key, w.groups[i].kernel, w.groups[i].kernel_key);
    }
    mt_free(w.groups);
    mt_portfolio_bench_close(w.bench);
    mt_store_close(w.store);
    mt_strbuf_free(&command);
    return st;
}

const mt_command mt_cmd_portfolio = {
    .name = "portfolio",
    .summary = "the fewest variants that do well on every tuned shape",
    .help = "Shows the fewest variants that are within 10 % of the best on every tuned shape, and the rule by\n"
            "which the lookup library picks one for a shape that nobody tuned, as the last session stored them.\n"
            "The rule is judged by leaving out one tuned shape at a time. With --max, --within or --measure both\n"
            "are chosen anew and stored. --measure runs the candidates on the shapes where they have no time yet,\n"
            "so that they can be compared everywhere.\n\n"
            "  msda-tune portfolio --kernel NAME --max 8 --within 1.10\n"
            "  msda-tune portfolio --measure --space FILE.ini",
    .options = options,
    .values_size = sizeof(portfolio_values),
    .run = run,
};
