#include "tuner/cli/requests/database.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/output/print.h"
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
    mt_strbuf shipped = {0};
    add_shipped(&shipped);
    mt_status st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no database yet; msda-tune --gpu auto --space FILE makes one%s", path, mt_strbuf_text(&shipped));
    mt_strbuf_free(&shipped);
    return st;
}

static mt_status count_winner(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(size_t *)context;
    return MT_OK;
}

mt_status mt_database_nothing(mt_store *store, mt_error *err)
{
    size_t winners = 0;
    int64_t counts[MT_OUTCOME_KIND_COUNT], rows = 0;
    mt_strbuf shipped = {0}, option = {0};
    const char *path = mt_store_path(store);
    mt_status st = MT_OK;
    MT_TRY(mt_query_best(store, NULL, count_winner, &winners, err));
    MT_TRY(mt_query_outcome_counts(store, NULL, counts, err));
    for (int i = 0; i < MT_OUTCOME_KIND_COUNT; i++) rows += counts[i];
    add_shipped(&shipped);
    mt_print_option(&option, "--db", path);
    const char *db = mt_strbuf_text(&option);
    if (winners)
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no validated results match; it has %zu, msda-tune show%s lists them", path, winners, db);
    else if (rows)
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: holds no validated result; msda-tune show --failures%s tells how the %lld evaluations ended", path, db, (long long)rows);
    else
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: is empty; msda-tune --gpu auto --space FILE%s fills it%s", path, db, mt_strbuf_text(&shipped));
done:
    mt_strbuf_free(&option);
    mt_strbuf_free(&shipped);
    return st;
}

mt_status mt_database_open_as(const char *option, mt_store_mode mode, mt_store **store, mt_error *err)
{
    char *path = NULL;
    mt_status st = MT_OK;
    MT_TRY(mt_store_default_path(option, &path, err));
    if (!mt_file_exists(path)) {
        st = mt_database_missing(path, err);
        goto done;
    }
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
