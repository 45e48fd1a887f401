#include "tuner/cli/output/list_json.h"

#include <stdio.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/share.h"
#include "tuner/cli/output/space_json.h"
#include "tuner/search/strategy.h"

static void begin_item(mt_strbuf *out, bool is_first, const char *name, const char *value)
{
    mt_strbuf_addf(out, "%s{\"%s\":", is_first ? "\n " : ",\n ", name);
    mt_strbuf_add_json(out, value);
}

/* A space that does not load has its error instead of facts: a broken file must not hide the others. */
static void add_space(mt_strbuf *out, const char *path)
{
    mt_spec *spec = NULL;
    mt_error problem = {0};
    mt_strbuf_add_member(out, "path", path);
    if (mt_spec_load(path, &spec, &problem) == MT_OK) {
        mt_strbuf_add_char(out, ',');
        mt_space_json_facts(out, spec);
        mt_strbuf_add(out, ",\"shapes\":[");
        for (size_t i = 0; i < spec->shape_count; i++) {
            mt_strbuf_add(out, i ? ",{" : "{");
            mt_space_json_shape(out, &spec->shapes[i]);
            mt_strbuf_add_char(out, '}');
        }
        mt_strbuf_add_char(out, ']');
    } else {
        mt_strbuf_add_member(out, "error", problem.message);
    }
    mt_spec_free(spec);
}

static mt_status add_spaces(mt_strbuf *out, mt_error *err)
{
    mt_texts names = {0};
    mt_status st = mt_share_spaces(&names, err);
    mt_strbuf_add(out, "{\"spaces\":[");
    for (size_t i = 0; i < names.count && st == MT_OK; i++) {
        char *path = NULL;
        st = mt_share_space(names.items[i], &path, err);
        if (st != MT_OK) break;
        begin_item(out, i == 0, "name", names.items[i]);
        add_space(out, path);
        mt_strbuf_add_char(out, '}');
        mt_free(path);
    }
    mt_texts_free(&names);
    return st;
}

static void add_strategies(mt_strbuf *out)
{
    mt_strbuf_add(out, "],\n\"strategies\":[");
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        begin_item(out, i == 0, "name", mt_strategy_at(i)->name);
        mt_strbuf_add_member(out, "summary", mt_strategy_at(i)->summary);
        mt_strbuf_add_char(out, '}');
    }
}

typedef struct recorded_list {
    mt_store *store;
    mt_strbuf *out;
    size_t gpus, subjects; /* written; of the GPU at hand */
} recorded_list;

static mt_status add_subject(void *context, const mt_tuned_info *row, mt_error *err)
{
    recorded_list *list = context;
    (void)err;
    mt_strbuf_add(list->out, list->subjects++ ? ",{\"kernel\":" : "{\"kernel\":");
    mt_strbuf_add_json(list->out, row->kernel);
    mt_strbuf_add_member(list->out, "kernel_key", row->kernel_key);
    mt_strbuf_add_member(list->out, "shape", row->shape);
    mt_strbuf_add_member(list->out, "workload", row->workload);
    mt_strbuf_add_member(list->out, "l2", row->l2);
    mt_strbuf_addf(list->out, ",\"variants\":%lld}", (long long)row->variants);
    return MT_OK;
}

static mt_status add_device(void *context, const mt_device_row *row, int64_t variants, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    recorded_list *list = context;
    const mt_filter filter = {.gpu = row->key, .origin = &recorded};
    begin_item(list->out, list->gpus++ == 0, "gpu", row->key);
    mt_strbuf_add_member(list->out, "gpu_name", row->name);
    mt_strbuf_addf(list->out, ",\"variants\":%lld,\"recorded\":[", (long long)variants);
    list->subjects = 0;
    mt_status st = mt_query_tuned(list->store, &filter, add_subject, list, err);
    mt_strbuf_add(list->out, "]}");
    return st;
}

static mt_status add_recorded(mt_strbuf *out, mt_store *const *stores, size_t count, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    recorded_list list = {.out = out};
    mt_status st = MT_OK;
    mt_strbuf_add(out, "],\n\"recorded_gpus\":[");
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        list.store = stores[i];
        if (list.store) st = mt_query_devices(list.store, &recorded, add_device, &list, err);
    }
    mt_strbuf_add(out, "]}");
    return st;
}

mt_status mt_list_json_print(mt_store *const *stores, size_t count, mt_error *err)
{
    mt_strbuf out = {0};
    mt_status st = MT_OK;
    MT_TRY(add_spaces(&out, err));
    add_strategies(&out);
    MT_TRY(add_recorded(&out, stores, count, err));
    if (out.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "list: out of memory");
    else printf("%s\n", mt_strbuf_text(&out));
done:
    mt_strbuf_free(&out);
    return st;
}
