#include "tuner/cli/commands/follow_shape.h"

#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/lookup/known_answer.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/space/spec/adhoc.h"

/* ---- the space ---- */

mt_status mt_follow_spaces_check(const char *given, mt_error *err)
{
    char *path = NULL;
    mt_spec *spec = NULL;
    mt_status st = mt_share_space(given, &path, err);
    if (st == MT_OK) st = mt_spec_load(path, &spec, err);
    mt_spec_free(spec);
    mt_free(path);
    return st;
}

void mt_follow_spaces_free(mt_follow_spaces *spaces)
{
    for (size_t i = 0; i < spaces->count; i++) MT_FREE_EACH(spaces->items[i].kernel, spaces->items[i].path);
    spaces->count = 0;
}

static mt_status untold(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s", "");
}

static mt_status find_space(mt_follow_spaces *spaces, const char *kernel, const char **path, mt_error *err)
{
    for (size_t i = 0; i < spaces->count; i++) {
        if (strcmp(spaces->items[i].kernel, kernel) != 0) continue;
        *path = spaces->items[i].path;
        return *path ? MT_OK : untold(err);
    }
    if (spaces->count == MT_FOLLOW_KERNELS) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "of its kernels the first %d are looked at", MT_FOLLOW_KERNELS);
    char *found = NULL, *name = mt_strdup(kernel);
    mt_status st = name ? mt_requested_shapes_space(spaces->given, kernel, &found, err) : mt_no_memory("follow", err);
    if (st != MT_OK && st != MT_ERR_NOT_FOUND) {
        mt_free(name);
        return st;
    }
    spaces->items[spaces->count].kernel = name;
    spaces->items[spaces->count++].path = found;
    *path = found;
    return st == MT_OK ? MT_OK : MT_ERR_NOTHING_VALID;
}

/* ---- the shape ---- */

/* "local2, uniform" */
static mt_status add_bound(const mt_spec *spec, const char *list, mt_texts *workloads, mt_error *err)
{
    mt_status st = MT_OK;
    for (const char *at = list; *at && st == MT_OK; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        st = mt_texts_take(workloads, mt_strndup(at, length), err);
        const char *name = st == MT_OK ? workloads->items[workloads->count - 1] : NULL;
        if (name && !mt_spec_workload(spec, name)) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s has no workload '%.100s'", spec->path, name);
        at += length;
    }
    return st;
}

static mt_status find_workloads(const mt_miss *miss, mt_follow_shape *found, mt_error *err)
{
    mt_status st = add_bound(found->spec, miss->workloads, &found->workloads, err);
    found->wants_default = miss->wants_default;
    if (!found->workloads.count) return st; /* tune takes the shape's own */
    for (size_t i = 0; miss->wants_default && i < found->shape->workload_count && st == MT_OK; i++) st = mt_texts_add_once(&found->workloads, found->shape->workloads[i], err);
    return st;
}

/* The reader passes over what does not fit; here it is said. */
static mt_status does_not_fit(const mt_spec *spec, const mt_miss *miss, mt_error *err)
{
    mt_strbuf ignored = {0};
    mt_error why = {.message = "does not fit the space"};
    char *name = NULL;
    mt_status st = mt_adhoc_add(spec, miss->shape_key, NULL, &ignored, &name, &why);
    mt_strbuf_free(&ignored);
    mt_free(name);
    return MT_FAIL(err, st == MT_ERR_NO_MEMORY ? st : MT_ERR_NOTHING_VALID, "%s %.200s: %s", miss->kernel, miss->shape_key, why.message);
}

static mt_status load(const char *path, const mt_miss *miss, mt_follow_shape *found, mt_error *err)
{
    const char *const keys[] = {miss->shape_key};
    mt_status st = mt_spec_load_shapes(path, keys, 1, &found->spec, err);
    for (size_t i = 0; st == MT_OK && i < found->spec->shape_count; i++)
        if (strcmp(found->spec->shapes[i].key, miss->shape_key) == 0) found->shape = &found->spec->shapes[i];
    return st == MT_OK && !found->shape ? does_not_fit(found->spec, miss, err) : st;
}

mt_status mt_follow_shape_find(mt_follow_spaces *spaces, const mt_miss *miss, mt_follow_shape *found, mt_error *err)
{
    mt_status st;
    MT_TRY(find_space(spaces, miss->kernel, &found->space, err));
    MT_TRY(load(found->space, miss, found, err));
    st = find_workloads(miss, found, err);
done:
    return st;
}

void mt_follow_shape_free(mt_follow_shape *found)
{
    mt_texts_free(&found->workloads);
    mt_spec_free(found->spec);
    *found = (mt_follow_shape){0};
}

/* ---- what is known of it ---- */

bool mt_follow_shape_is_exact(const mt_follow_shape *found, const char *db, const mt_device_facts *facts)
{
    mt_known_answer answer;
    mt_known_answer_open(db, found->spec, facts, false, &answer);
    bool is_exact = !found->wants_default || mt_known_answer_is_exact(&answer, found->shape, NULL);
    for (size_t i = 0; i < found->workloads.count && is_exact; i++) is_exact = mt_known_answer_is_exact(&answer, found->shape, mt_spec_workload(found->spec, found->workloads.items[i]));
    mt_known_answer_close(&answer);
    return is_exact;
}

mt_status mt_follow_shape_is_cut(const mt_follow_shape *found, const char *db, const mt_device_facts *facts, bool *is_cut, mt_error *err)
{
    const mt_origin measured = MT_ORIGIN_MEASURED;
    char gpu[MT_KEY_GPU_SIZE];
    mt_store *store = NULL;
    *is_cut = false;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, gpu, sizeof gpu);
    const mt_filter filter = {.gpu = gpu, .kernel = found->spec->name, .shape_key = found->shape->key, .origin = &measured};
    mt_status st = mt_store_open(db, MT_STORE_READ_ONLY, &store, err);
    if (st == MT_OK) st = mt_query_is_cut_short(store, &filter, is_cut, err);
    mt_store_close(store);
    return st == MT_ERR_NOT_FOUND ? MT_OK : st; /* nothing was tuned yet */
}
