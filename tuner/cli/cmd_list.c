/* msda-tune list: what there is to tune, with what, on what. */
#include "db/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/print.h"
#include "tuner/cli/share.h"
#include "tuner/search/strategy.h"

typedef struct list_values {
    const char *recordings;
} list_values;

static const mt_option options[] = {
    {"recordings", 0, MT_OPTION_TEXT, offsetof(list_values, recordings), "FILE", "database of recorded GPUs instead of the shipped one"},
    {0},
};

static void print_names(const char *label, const char *const *names, size_t count)
{
    printf("      %-10s", label);
    for (size_t i = 0; i < count; i++) printf("%s%s", i ? ", " : "", names[i]);
    printf("\n");
}

static void print_spec(const mt_spec *spec)
{
    const char *names[256];
    size_t count = 0;
    for (size_t i = 0; i < spec->variant_count && count < 256; i++) names[count++] = spec->variants[i].name;
    print_names("variants", names, count);
    for (count = 0; count + 1 < spec->param_count && count < 256; count++) names[count] = spec->params[count + 1].name;
    print_names("knobs", names, count);
    for (count = 0; count < spec->shape_count && count < 256; count++) names[count] = spec->shapes[count].name;
    print_names("shapes", names, count);
    for (count = 0; count < spec->workload_count && count < 256; count++) names[count] = spec->workloads[count].name;
    if (spec->workload_count > 1 || spec->workloads[0].key[0]) print_names("workloads", names, count);
}

/* A space that does not load is listed with its error: a broken file must not hide the others. */
static mt_status list_spaces(mt_error *err)
{
    mt_names names = {0};
    mt_status st = mt_share_spaces(&names, err);
    printf("Search spaces (--space NAME or a file of your own):\n");
    for (size_t i = 0; i < names.count && st == MT_OK; i++) {
        char *path = NULL;
        mt_spec *spec = NULL;
        mt_error problem = {0};
        st = mt_share_space(names.items[i], &path, err);
        if (st != MT_OK) break;
        printf("  %s\n", names.items[i]);
        if (mt_spec_load(path, &spec, &problem) == MT_OK)
            print_spec(spec);
        else
            printf("      error     %s\n", problem.message);
        mt_spec_free(spec);
        mt_free(path);
    }
    if (st == MT_OK && !names.count) printf("  none\n");
    mt_names_free(&names);
    return st;
}

static void list_strategies(void)
{
    printf("\nStrategies (--strategy NAME):\n  %-12s %s\n", "auto", "exhaustive when the budget covers the space, else portfolio");
    for (size_t i = 0; i < mt_strategy_count(); i++) printf("  %-12s %s\n", mt_strategy_at(i)->name, mt_strategy_at(i)->summary);
}

static mt_status print_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    size_t *count = context;
    mt_strbuf line = {0};
    (void)err;
    mt_print_clean(&line, row->key, 0);
    mt_strbuf_add(&line, "  ");
    mt_print_clean(&line, row->name, 0);
    printf("  %s, %lld variant%s recorded\n", mt_strbuf_text(&line), (long long)measurements, measurements == 1 ? "" : "s");
    mt_strbuf_free(&line);
    ++*count;
    return MT_OK;
}

static mt_status list_recordings(const char *given, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    mt_store *store = NULL, *own = NULL;
    mt_error missing = {0};
    size_t count = 0;
    mt_status st = MT_OK;
    printf("\nRecorded GPUs (--gpu recorded:NAME):\n");
    if (mt_share_recordings(given, &store, &missing) == MT_OK)
        st = mt_query_devices(store, &recorded, print_device, &count, err);
    else if (given)
        st = MT_FAIL(err, missing.status, "%s", missing.message);
    if (st == MT_OK && !given) st = mt_share_open_own_recordings(&own, err);
    if (st == MT_OK && own) st = mt_query_devices(own, &recorded, print_device, &count, err);
    if (st == MT_OK && !count) printf("  none\n");
    mt_store_close(own);
    mt_store_close(store);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const list_values *values = arguments->values;
    mt_status st = MT_OK;
    MT_TRY(list_spaces(err));
    list_strategies();
    MT_TRY(list_recordings(values->recordings, err));
done:
    return st;
}

const mt_command mt_cmd_list = {
    .name = "list",
    .summary = "the shipped search spaces, the strategies, the recorded GPUs",
    .help = "Lists the search spaces that came with the tool, the search strategies, and the GPUs that can be replayed.",
    .options = options,
    .values_size = sizeof(list_values),
    .run = run,
};
