#include "tuner/cli/requests/sources.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/space/source/source.h"

static mt_source_states *find(const mt_sources *sources, const char *kernel)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->items[i].kernel, kernel) == 0) return &sources->items[i];
    return NULL;
}

static mt_status see_state(void *context, const char *name, const char *key, mt_error *err)
{
    mt_sources *sources = context;
    mt_source_states *states = find(sources, name);
    if (!states) {
        if (!(states = MT_APPEND(sources->items, sources->count, sources->capacity))) return mt_no_memory("kernels", err);
        *states = (mt_source_states){.kernel = mt_strdup(name)};
        if (!states->kernel) return mt_no_memory("kernels", err);
    }
    states->count++;
    snprintf(states->newest.hex, sizeof states->newest.hex, "%s", key);
    return MT_OK;
}

/* *kernel, unless NULL: the name that the search space gives it; mt_free. */
static mt_status key_of(const char *path, mt_hash *key, char **kernel, mt_error *err)
{
    mt_spec *spec = NULL;
    mt_source source = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_spec_load(path, &spec, err));
    MT_TRY(mt_source_load(spec, &source, err));
    MT_TRY(mt_source_key(spec, &source, key, err));
    if (kernel && !(*kernel = mt_strdup(spec->name))) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
done:
    mt_source_free(&source);
    mt_spec_free(spec);
    return st;
}

/* A kernel of which no space is known, or a broken one, has no state of today: that must not hide its rows. */
static void find_today(mt_source_states *states)
{
    char *path = NULL;
    mt_error ignored;
    if (mt_requested_shapes_space(NULL, states->kernel, &path, &ignored) == MT_OK && key_of(path, &states->today, NULL, &ignored) != MT_OK) states->today = (mt_hash){0};
    mt_free(path);
}

static mt_status see_today(void *context, const char *name, const char *key, mt_error *err)
{
    mt_source_states *states = find(context, name);
    (void)err;
    if (states && strcmp(states->today.hex, key) == 0) states->has_today = true;
    return MT_OK;
}

mt_status mt_sources_load(mt_store *store, const char *given, mt_sources *sources, mt_error *err)
{
    char *path = NULL, *kernel = NULL;
    mt_hash key;
    mt_source_states *of_given;
    mt_status st = MT_OK;
    if (given) MT_TRY(mt_share_space(given, &path, err));
    if (given) MT_TRY(key_of(path, &key, &kernel, err)); /* one that somebody names must be sound */
    MT_TRY(mt_query_kernels(store, see_state, sources, err));
    of_given = kernel ? find(sources, kernel) : NULL;
    if (of_given) of_given->is_given = true, of_given->today = key;
    for (size_t i = 0; i < sources->count; i++)
        if (!sources->items[i].is_given) find_today(&sources->items[i]);
    MT_TRY(mt_query_kernels(store, see_today, sources, err));
done:
    mt_free(kernel);
    mt_free(path);
    return st;
}

const char *mt_sources_today(const mt_sources *sources, const char *kernel)
{
    const mt_source_states *states = find(sources, kernel);
    return states && states->today.hex[0] ? states->today.hex : NULL;
}

const char *mt_sources_given(const mt_sources *sources, const char *kernel)
{
    const mt_source_states *states = find(sources, kernel);
    return states && states->is_given ? states->today.hex : NULL;
}

const char *mt_sources_mark(mt_sources *sources, const char *kernel, const char *key)
{
    mt_source_states *states = find(sources, kernel);
    if (!states) return "";
    if (!states->listed.hex[0]) snprintf(states->listed.hex, sizeof states->listed.hex, "%s", key);
    states->is_mixed = states->is_mixed || strcmp(states->listed.hex, key) != 0;
    if (!states->today.hex[0] || (states->count < 2 && states->has_today)) return "";
    return mt_sources_is_old(sources, kernel, key) ? ", not today's" : ", today's";
}

bool mt_sources_is_old(mt_sources *sources, const char *kernel, const char *key)
{
    const mt_source_states *states = find(sources, kernel);
    return states && states->today.hex[0] && strcmp(states->today.hex, key) != 0;
}

/* Rows never answer for other source without it being said. */
static void hint_of_given(const mt_source_states *states, FILE *out)
{
    mt_strbuf line = {0};
    if (!states->is_given || !states->listed.hex[0] || strcmp(states->listed.hex, states->today.hex) == 0) return;
    mt_print_clean(&line, states->kernel, 60);
    fprintf(out, "\n%s: this is of another state of the source (%.8s) than --space names (%.8s)\n", mt_strbuf_text(&line), states->listed.hex, states->today.hex);
    mt_strbuf_free(&line);
}

void mt_sources_hint(const mt_sources *sources, FILE *out)
{
    for (size_t i = 0; i < sources->count; i++) {
        const mt_source_states *states = &sources->items[i];
        mt_strbuf line = {0};
        if (!states->is_mixed) {
            hint_of_given(states, out);
            continue;
        }
        mt_print_clean(&line, states->kernel, 60);
        mt_strbuf_addf(&line, " has rows of %zu states of its source", states->count);
        if (!states->today.hex[0]) mt_strbuf_add(&line, " (--space FILE tells which is today's)");
        else if (!states->has_today) mt_strbuf_addf(&line, ", none of them today's, source %.8s", states->today.hex);
        mt_strbuf_addf(&line, "; to list one alone: --kernel-key %.8s", states->has_today ? states->today.hex : states->newest.hex);
        fprintf(out, "\n%s\n", mt_strbuf_text(&line));
        mt_strbuf_free(&line);
    }
}

void mt_sources_free(mt_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) mt_free(sources->items[i].kernel);
    mt_free(sources->items);
    *sources = (mt_sources){0};
}
