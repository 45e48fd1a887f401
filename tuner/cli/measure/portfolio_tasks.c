#include "tuner/cli/measure/portfolio_tasks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

/* ---- the list ---- */

mt_status mt_portfolio_tasks_add(mt_portfolio_tasks *tasks, const mt_shape *shape, const mt_workload *workload, mt_error *err)
{
    mt_session_fixed *added = MT_APPEND(tasks->fixed, tasks->count, tasks->capacity);
    if (!added) return mt_no_memory("portfolio", err);
    *added = (mt_session_fixed){.shape = shape, .workload = workload};
    return MT_OK;
}

mt_status mt_portfolio_tasks_add_variant(mt_portfolio_tasks *tasks, char *text, mt_error *err)
{
    mt_status st = mt_texts_take(&tasks->texts, text, err);
    tasks->fixed[tasks->count - 1].variant_count += st == MT_OK;
    return st;
}

void mt_portfolio_tasks_seal(mt_portfolio_tasks *tasks)
{
    size_t kept = 0, first = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        mt_session_fixed fixed = tasks->fixed[i];
        fixed.variants = (const char *const *)tasks->texts.items + first;
        first += fixed.variant_count;
        if (fixed.variant_count) tasks->fixed[kept++] = fixed;
    }
    tasks->count = kept;
}

void mt_portfolio_tasks_free(mt_portfolio_tasks *tasks)
{
    mt_texts_free(&tasks->texts);
    mt_free(tasks->fixed);
    if (tasks->fd > 0) close(tasks->fd);
    *tasks = (mt_portfolio_tasks){0};
}

/* ---- shared ---- */

/* A line of keys for each subject, below it one for each variant, which begins with a blank. */
mt_status mt_portfolio_tasks_share(mt_portfolio_tasks *tasks, mt_error *err)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < tasks->count; i++) {
        const mt_session_fixed *fixed = &tasks->fixed[i];
        mt_strbuf_addf(&text, "%s\t%s\n", fixed->shape->key, fixed->workload->key);
        for (size_t v = 0; v < fixed->variant_count; v++) mt_strbuf_addf(&text, " %s\n", fixed->variants[v]);
    }
    mt_status st = text.failed ? mt_no_memory("portfolio", err) : mt_memfd("msda-tune-tasks", mt_strbuf_text(&text), text.length, &tasks->fd, err);
    tasks->is_shared = st == MT_OK;
    mt_strbuf_free(&text);
    return st;
}

static mt_status read_subject(mt_portfolio_tasks *tasks, const mt_spec *spec, const char *shape_key, const char *workload_key, mt_error *err)
{
    const mt_shape *shape = NULL;
    const mt_workload *workload = NULL;
    for (size_t i = 0; i < spec->shape_count; i++)
        if (strcmp(spec->shapes[i].key, shape_key) == 0) shape = &spec->shapes[i];
    for (size_t i = 0; i < spec->workload_count; i++)
        if (strcmp(spec->workloads[i].key, workload_key) == 0) workload = &spec->workloads[i];
    if (!shape || !workload) return MT_FAIL(err, MT_ERR_SPEC, "%s: changed while the tuner was starting; start it again", spec->path);
    return mt_portfolio_tasks_add(tasks, shape, workload, err);
}

mt_status mt_portfolio_tasks_join(mt_portfolio_tasks *tasks, const mt_spec *spec, mt_error *err)
{
    char *text = NULL;
    size_t length;
    mt_status st = mt_file_read("/proc/self/fd/0", 0, &text, &length, err); /* opened anew: others read from the same descriptor. Before anything is locked: closing it would let go */
    for (char *line = text, *end; st == MT_OK && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        char *tab = strchr(line, '\t');
        if (*line == ' ' && tasks->count) {
            st = mt_portfolio_tasks_add_variant(tasks, mt_strdup(line + 1), err);
        } else if (tab) {
            *tab = '\0';
            st = read_subject(tasks, spec, line, tab + 1, err);
        }
    }
    mt_portfolio_tasks_seal(tasks);
    tasks->is_shared = st == MT_OK;
    mt_free(text);
    return st;
}

bool mt_portfolio_tasks_take(void *context, size_t index)
{
    const mt_portfolio_tasks *tasks = context;
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)index, .l_len = 1};
    return fcntl(tasks->fd, F_SETLK, &byte) == 0;
}
