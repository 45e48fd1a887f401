#include "tuner/cli/requests/database.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/cli/share.h"

/* Where the tuned rows lie that came with the tool, if some did. */
static void add_shipped(mt_strbuf *text)
{
    char *path = NULL;
    mt_error ignored;
    if (mt_share_file("tuned.sqlite", &path, &ignored) == MT_OK && mt_file_exists(path)) {
        mt_strbuf_add(text, "; rows that came with the tool:");
        mt_print_option(text, "--db", path);
    }
    mt_free(path);
}

mt_status mt_database_missing(const char *path, mt_error *err)
{
    if (strcmp(path, ":memory:") == 0) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "--db :memory: is always empty here; expected a file that msda-tune wrote");
    mt_strbuf shipped = {0}, tool = {0};
    add_shipped(&shipped);
    mt_print_program(&tool);
    mt_status st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no database yet; %s --gpu auto --space FILE makes one%s", path, mt_strbuf_text(&tool), mt_strbuf_text(&shipped));
    mt_strbuf_free(&shipped);
    mt_strbuf_free(&tool);
    return st;
}

static mt_status count_winner(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(size_t *)context;
    return MT_OK;
}

/* ---- what --gpu, --kernel, --shape and --workload nearly name ---- */

enum { GPU, KERNEL, SHAPE, WORKLOAD, FIELDS };

/* A GPU by its model, "h100-sxm", and by what leads it, "h100". */
static mt_status add_gpu(mt_texts *names, const char *key, mt_error *err)
{
    mt_status st = MT_OK;
    static const char *const ends[] = {"|", "|-"};
    for (size_t i = 0; i < 2 && st == MT_OK; i++) st = mt_texts_take(names, mt_strndup(key, strcspn(key, ends[i])), err);
    return st;
}

static mt_status add_names(void *context, const mt_tuned_info *row, mt_error *err)
{
    mt_texts *names = context;
    const char *const texts[FIELDS] = {[KERNEL] = row->kernel, [SHAPE] = row->shape, [WORKLOAD] = row->workload};
    mt_status st = add_gpu(&names[GPU], row->gpu_key, err);
    for (size_t i = KERNEL; i < FIELDS && st == MT_OK; i++) st = mt_texts_add(&names[i], texts[i], err);
    return st;
}

static mt_status count_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(size_t *)context;
    return MT_OK;
}

/* One that there is, and this file lacks, is no slip of another's name: a100, h100. */
static bool is_known_gpu(const char *name)
{
    mt_device_facts facts;
    char arch[MT_ARCH_SIZE];
    mt_error ignored;
    return mt_known_device(name, NULL, &facts, arch, &ignored) == MT_OK;
}

void mt_database_near_miss(mt_store *store, const mt_filter *filter, mt_error *err)
{
    static const char *const what[FIELDS] = {"GPU", "kernel", "shape", "workload"};
    const mt_filter alone[FIELDS] = {{.gpu = filter->gpu}, {.kernel = filter->kernel}, {.shape = filter->shape}, {.workload = filter->workload}};
    const char *const words[FIELDS] = {filter->gpu, filter->kernel, filter->shape, filter->workload};
    mt_texts names[FIELDS] = {{0}};
    mt_error ignored = {0}; /* what *err says already stays */
    bool is_read = mt_query_tuned(store, &(mt_filter){0}, add_names, names, &ignored) == MT_OK;
    for (size_t i = 0; is_read && i < FIELDS; i++) {
        size_t rows = 0;
        is_read = !words[i] || mt_query_tuned(store, &alone[i], count_tuned, &rows, &ignored) == MT_OK;
        bool is_slip = is_read && words[i] && !rows && !(i == GPU && is_known_gpu(words[i]));
        const char *near = is_slip ? mt_text_nearest(words[i], (const char *const *)names[i].items, names[i].count) : NULL;
        if (!near) continue;
        MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no %s '%s', did you mean '%s'?", mt_store_path(store), what[i], words[i], near);
        break;
    }
    for (size_t i = 0; i < FIELDS; i++) mt_texts_free(&names[i]);
}

void mt_database_other_origins(mt_store *store, const mt_filter *filter, mt_error *err)
{
    size_t others = 0;
    mt_filter wider = *filter;
    mt_error ignored;
    wider.origin = NULL;
    if (!filter->origin || *filter->origin != MT_ORIGIN_MEASURED || mt_query_best(store, &wider, count_winner, &others, &ignored) != MT_OK || !others) return;
    MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: the %zu winner%s that match%s %s recorded elsewhere or imported; --origin recorded or imported takes them", mt_store_path(store), others, others == 1 ? "" : "s",
            others == 1 ? "es" : "", others == 1 ? "was" : "were");
}

mt_status mt_database_nothing(mt_store *store, const mt_filter *filter, mt_error *err)
{
    size_t winners = 0;
    int64_t counts[MT_OUTCOME_KIND_COUNT], rows = 0;
    mt_strbuf shipped = {0}, option = {0}, tool = {0};
    const char *path = mt_store_path(store);
    mt_status st = MT_OK;
    MT_TRY(mt_query_best(store, NULL, count_winner, &winners, err));
    MT_TRY(mt_query_outcome_counts(store, NULL, counts, err));
    for (int i = 0; i < MT_OUTCOME_KIND_COUNT; i++) rows += counts[i];
    add_shipped(&shipped);
    mt_print_option(&option, "--db", path);
    mt_print_program(&tool);
    const char *db = mt_strbuf_text(&option), *program = mt_strbuf_text(&tool);
    if (winners) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no validated results match; it has %zu, %s show%s lists them", path, winners, program, db);
    else if (counts[MT_OUTCOME_OK])
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: holds no winner: tune --max-error asked for smaller errors than its %lld validated results have", path, (long long)counts[MT_OUTCOME_OK]);
    else if (rows)
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: holds no validated result; %s show --failures%s tells how the %lld evaluations ended", path, program, db, (long long)rows);
    else st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: is empty; %s --gpu auto --space FILE%s fills it%s", path, program, db, mt_strbuf_text(&shipped));
    if (rows) mt_database_near_miss(store, filter, err);
    if (winners) mt_database_other_origins(store, filter, err);
done:
    mt_strbuf_free(&option);
    mt_strbuf_free(&shipped);
    mt_strbuf_free(&tool);
    return st;
}

mt_status mt_database_no_rows(mt_store *store, const mt_filter *filter, mt_error *err)
{
    int64_t counts[MT_OUTCOME_KIND_COUNT], rows = 0;
    mt_status st = mt_query_outcome_counts(store, NULL, counts, err);
    for (int i = 0; i < MT_OUTCOME_KIND_COUNT && st == MT_OK; i++) rows += counts[i];
    if (st != MT_OK || !rows) return st == MT_OK ? mt_database_nothing(store, filter, err) : st;
    st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: none of its %lld evaluations matches", mt_store_path(store), (long long)rows);
    mt_database_near_miss(store, filter, err);
    return st;
}

mt_status mt_database_open_as(const char *option, mt_store_mode mode, mt_store **store, mt_error *err)
{
    char *path = NULL;
    mt_status st = MT_OK;
    MT_TRY(mt_store_default_path(option, &path, err));
    if (!mt_file_exists(path)) MT_LEAVE(mt_database_missing(path, err));
    MT_TRY(mt_store_open(path, mode, store, err));
done:
    mt_free(path);
    return st;
}

mt_status mt_database_open(const char *option, mt_store **store, mt_error *err)
{
    return mt_database_open_as(option, MT_STORE_READ_ONLY, store, err);
}

void mt_filter_fill(const mt_filter_values *values, mt_filter_box *box)
{
    *box = (mt_filter_box){.filter = {.gpu = values->gpu, .kernel = values->kernel, .shape = values->shape, .workload = values->workload}};
    if (values->l2) {
        box->l2 = (mt_l2)(values->l2 - 1);
        box->filter.l2 = &box->l2;
    }
    if (values->origin) {
        box->origin = (mt_origin)(values->origin - 1);
        box->filter.origin = &box->origin;
    }
}
