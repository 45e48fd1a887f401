/* msda-tune list: what there is to tune, with what, on what. */
#include <string.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/list_json.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/share.h"
#include "tuner/search/strategy.h"

typedef struct list_values {
    const char *recordings;
    bool json;
} list_values;

static const mt_option options[] = {
    {"recordings", 0, MT_OPTION_INPUT, offsetof(list_values, recordings), "FILE", "database of recorded GPUs instead of the shipped one"},
    {"json", 0, MT_OPTION_FLAG, offsetof(list_values, json), NULL, "an object instead of text, with each space's knobs, constraints, shapes\nand workloads"},
    {0},
};

enum { LABEL_WIDTH = 12, LINE_WIDTH = MT_PAGE_COLUMNS - 1 /* and a comma */ };

/* One name of a list behind a label; a line that gets too long goes on below. *column: where the line is, 0 = not begun. */
static void print_name(const char *label, const char *name, size_t *column)
{
    size_t start = 6 + (strlen(label) < LABEL_WIDTH ? LABEL_WIDTH : strlen(label) + 1);
    if (!*column) printf("      %-*s", (int)start - 6, label);
    else if (*column + strlen(name) + 2 > LINE_WIDTH) printf(",\n%*s", (int)start, "");
    else printf(", ");
    bool is_new_line = !*column || *column + strlen(name) + 2 > LINE_WIDTH;
    *column = (is_new_line ? start : *column + 2) + strlen(name);
    fputs(name, stdout);
}

static void print_names(const char *label, const char *const *names, size_t count)
{
    size_t column = 0;
    for (size_t i = 0; i < count; i++) print_name(label, names[i], &column);
    printf("\n");
}

static void print_wrapped(const char *begin, const char *text, size_t indent)
{
    mt_strbuf line = {0};
    mt_strbuf_add(&line, begin);
    mt_strbuf_add(&line, text);
    mt_print_wrapped(stdout, mt_strbuf_text(&line), indent, NULL);
    mt_strbuf_free(&line);
}

static void print_spec(const mt_spec *spec)
{
    const char *names[256];
    size_t count = 0;
    for (size_t i = 0; i < spec->algorithm_count && count < 256; i++) names[count++] = spec->algorithms[i].name;
    print_names("algorithms", names, count);
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
    mt_texts names = {0};
    mt_status st = mt_share_spaces(&names, err);
    printf("Search spaces (--space NAME or a file of your own):\n");
    for (size_t i = 0; i < names.count && st == MT_OK; i++) {
        char *path = NULL;
        mt_spec *spec = NULL;
        mt_error problem = {0};
        st = mt_share_space(names.items[i], &path, err);
        if (st != MT_OK) break;
        printf("  %s\n", names.items[i]);
        if (mt_spec_load(path, &spec, &problem) == MT_OK) print_spec(spec);
        else print_wrapped("      error     ", problem.message, 16);
        mt_spec_free(spec);
        mt_free(path);
    }
    if (st == MT_OK && !names.count) printf("  none\n");
    mt_texts_free(&names);
    return st;
}

static void list_strategies(void)
{
    printf("\nStrategies (--strategy NAME):\n  %-12s %s\n", "auto", "exhaustive when the budget covers the space, else mixed");
    for (size_t i = 0; i < mt_strategy_count(); i++) printf("  %-12s %s\n", mt_strategy_at(i)->name, mt_strategy_at(i)->summary);
}

typedef struct recorded_list {
    mt_store *store;
    size_t gpus;
    mt_strbuf kernel, shape; /* of the row before */
    size_t column;
} recorded_list;

/* Rows come ordered by kernel and shape; a shape has one for each workload, cache state and toolchain. */
static mt_status print_recorded(void *context, const mt_tuned_info *row, mt_error *err)
{
    recorded_list *list = context;
    mt_strbuf kernel = {0}, shape = {0};
    (void)err;
    mt_print_clean(&kernel, row->kernel, 0);
    mt_print_clean(&shape, row->shape, 0);
    bool is_same_kernel = list->column && strcmp(mt_strbuf_text(&kernel), mt_strbuf_text(&list->kernel)) == 0;
    if (!is_same_kernel && list->column) {
        printf("\n");
        list->column = 0;
    }
    if (!is_same_kernel || strcmp(mt_strbuf_text(&shape), mt_strbuf_text(&list->shape)) != 0) print_name(mt_strbuf_text(&kernel), mt_strbuf_text(&shape), &list->column);
    mt_strbuf_free(&list->kernel);
    mt_strbuf_free(&list->shape);
    list->kernel = kernel;
    list->shape = shape;
    return MT_OK;
}

static mt_status print_device(void *context, const mt_device_row *row, int64_t variants, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    recorded_list *list = context;
    mt_strbuf line = {0};
    mt_print_clean(&line, row->key, 0);
    mt_strbuf_add(&line, "  ");
    mt_print_clean(&line, row->name, 0);
    mt_strbuf_addf(&line, ", %lld variant%s recorded", (long long)variants, variants == 1 ? "" : "s");
    print_wrapped("  ", mt_strbuf_text(&line), 4);
    mt_strbuf_free(&line);
    const mt_filter filter = {.gpu = row->key, .origin = &recorded};
    list->column = 0;
    list->gpus++;
    mt_status st = mt_query_tuned(list->store, &filter, print_recorded, list, err);
    if (list->column) printf("\n");
    return st;
}

static mt_status list_devices(mt_store *store, size_t *count, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    recorded_list list = {.store = store};
    mt_status st = mt_query_devices(store, &recorded, print_device, &list, err);
    mt_strbuf_free(&list.kernel);
    mt_strbuf_free(&list.shape);
    *count += list.gpus;
    return st;
}

/* The databases of recordings: the shipped one, or `given`, and one's own. NULL where there is none. */
static mt_status open_recordings(const char *given, mt_store *stores[2], mt_error *err)
{
    mt_error missing = {0};
    if (mt_share_recordings(given, &stores[0], &missing) != MT_OK && given) return MT_FAIL(err, missing.status, "%s", missing.message);
    if (!given) mt_share_open_own_recordings(true, &stores[1]);
    return MT_OK;
}

static mt_status list_recordings(mt_store *const stores[2], mt_error *err)
{
    size_t count = 0;
    mt_status st = MT_OK;
    printf("\nRecorded GPUs (--gpu recorded:NAME; a kernel without a search space above needs the file of one):\n");
    for (size_t i = 0; i < 2 && st == MT_OK; i++) {
        if (i && stores[i]) print_wrapped("  your own, whose shapes are replayed rather than the shipped ones, in ", mt_store_path(stores[i]), 4);
        if (stores[i]) st = list_devices(stores[i], &count, err);
    }
    if (st == MT_OK && !count) printf("  none\n");
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const list_values *values = arguments->values;
    mt_store *stores[2] = {0};
    mt_status st = MT_OK;
    MT_TRY(open_recordings(values->recordings, stores, err));
    if (values->json) MT_LEAVE(mt_list_json_print(stores, 2, err));
    MT_TRY(list_spaces(err));
    list_strategies();
    MT_TRY(list_recordings(stores, err));
done:
    for (size_t i = 0; i < 2; i++) mt_store_close(stores[i]);
    return st;
}

const mt_command mt_cmd_list = {
    .name = "list",
    .summary = "the shipped search spaces, the strategies, the recorded GPUs",
    .help = "Lists the search spaces that came with the tool, the search strategies, and the GPUs that can be\n"
            "replayed.",
    .options = options,
    .values_size = sizeof(list_values),
    .run = run,
};
