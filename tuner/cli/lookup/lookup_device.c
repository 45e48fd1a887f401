/* --gpu of `msda-tune lookup`: a GPU that is there, one of devices.ini, one that a database knows, or a recorded one. */
#include <stdio.h>
#include <string.h>

#include "db/store/open/device_match.h"
#include "db/store/query.h"
#include "tuner/base/text.h"
#include "tuner/cli/lookup/lookup_query.h"
#include "tuner/cli/requests/live_device.h"
#include "tuner/evaluate/facts_json.h"

typedef struct search {
    const char *wanted;
    mt_lookup_query *asked;
    mt_strbuf models;
    size_t found;
    bool is_name_alone; /* a GPU matches of which only the name is known */
} search;

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    search *s = context;
    (void)measurements;
    mt_device_facts facts;
    mt_status st = mt_facts_from_json(row->facts_json, &facts, err);
    if (st != MT_OK) return st;
    bool is_wanted = mt_device_matches(s->wanted, row->key, row->name);
    s->is_name_alone = s->is_name_alone || (is_wanted && !facts.cc);
    if (!facts.cc) return MT_OK; /* results of another tool on a GPU of which only the name is known: no launch can be computed for it */
    mt_strbuf_addf(&s->models, "%s--gpu recorded:%.*s", s->models.length ? ", " : "", (int)strcspn(row->key, "|"), row->key);
    if (s->found || !is_wanted) return MT_OK;
    s->found++;
    s->asked->facts = facts;
    snprintf(s->asked->facts.name, sizeof s->asked->facts.name, "%s", row->name);
    return st;
}

/* *origin NULL: whatever the rows are. */
static mt_status search_files(const mt_lookup_query_files *files, const mt_origin *origin, search *s, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < files->count && st == MT_OK && !s->found; i++) {
        mt_store *store = NULL;
        st = mt_store_open(files->paths[i], MT_STORE_READ_ONLY, &store, err);
        if (st == MT_OK) st = mt_query_devices(store, origin, on_device, s, err);
        mt_store_close(store);
    }
    return st;
}

static mt_status recorded_device(const char *name, const mt_lookup_query_files *files, mt_lookup_query *asked, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    search s = {.wanted = name, .asked = asked};
    asked->is_recorded = true;
    mt_status st = search_files(files, &recorded, &s, err);
    if (st == MT_OK && !s.found)
        st = MT_FAIL(err, MT_ERR_NO_GPU, "lookup: %s GPU '%s'; there are: %s", s.is_name_alone ? "only the name is known, and no fact, of the recorded" : "no recording of", name, s.models.length ? mt_strbuf_text(&s.models) : "none");
    mt_strbuf_free(&s.models);
    return st;
}

/* devices.ini has the facts of GPUs that nothing was tuned on yet; a database has those that devices.ini lacks. */
static mt_status named_device(const char *name, const mt_lookup_query_files *files, mt_lookup_query *asked, mt_error *err)
{
    char arch[MT_ARCH_SIZE];
    mt_error ignored;
    search s = {.wanted = name, .asked = asked};
    mt_status st = mt_known_device(name, NULL, &asked->facts, arch, err);
    if (st != MT_ERR_NOT_FOUND) return st;
    mt_status searched = search_files(files, NULL, &s, &ignored);
    mt_strbuf_free(&s.models);
    return searched == MT_OK && s.found ? MT_OK : MT_ERR_USAGE;
}

mt_status mt_lookup_query_device(const char *gpu, const mt_lookup_query_files *files, mt_lookup_query *asked, mt_error *err)
{
    char arch[MT_ARCH_SIZE];
    int64_t ordinal = 0;
    if (gpu && strncmp(gpu, "recorded:", 9) == 0) return recorded_device(gpu + 9, files, asked, err);
    bool is_number = gpu && mt_text_int64(gpu, strlen(gpu), &ordinal) && ordinal >= 0 && ordinal < 1024;
    if (!gpu || strcmp(gpu, "auto") == 0 || is_number) return mt_live_device((int)ordinal, &asked->facts, arch, err);
    return named_device(gpu, files, asked, err);
}
