#include "tuner/cluster/part_progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/job.h"

enum { FILE_MAX_BYTES = 64 << 20 };

const char *mt_cluster_stand_name(mt_cluster_stand stand)
{
    static const char *const names[] = {"waiting", "running", "done", "stopped", "failed"};
    return names[stand];
}

/* ---- plan.tsv and jobs.tsv ---- */

/* The next line's fields; false at the end. `text` is written to. */
static bool next_line(char **text, char *fields[4], size_t *count)
{
    char *line = *text;
    if (!*line) return false;
    char *end = line + strcspn(line, "\n");
    *text = end + (*end == '\n');
    *end = '\0';
    *count = 0;
    for (char *field = line; field && *count < 4; (*count)++) {
        fields[*count] = field;
        field = strchr(field, '\t');
        if (field && *count < 3) *field++ = '\0';
    }
    return true;
}

/* *text stays NULL where there is none. */
static mt_status read_file(const char *folder, const char *name, char **text, mt_error *err)
{
    size_t length;
    char *path = mt_path_join(folder, name);
    if (path && !mt_file_exists(path)) {
        mt_free(path);
        return MT_OK;
    }
    mt_status st = path ? mt_file_read(path, FILE_MAX_BYTES, text, &length, err) : mt_no_memory("slurm", err);
    mt_free(path);
    return st;
}

static mt_status read_plan(const char *folder, mt_cluster_progress *p, mt_error *err)
{
    char *text = NULL, *at, *fields[4];
    size_t count;
    mt_status st = read_file(folder, "plan.tsv", &text, err);
    if (st != MT_OK) return st;
    if (!text) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: has no plan.tsv; expected a folder that 'msda-tune slurm -o DIR' wrote", folder);
    at = text;
    while (st == MT_OK && next_line(&at, fields, &count)) {
        if (count == 3 && strcmp(fields[0], "#") == 0 && strcmp(fields[1], "plan") == 0) snprintf(p->plan, sizeof p->plan, "%s", fields[2]);
        if (*fields[0] == '#') continue;
        if (count != 4 || strtoll(fields[2], NULL, 10) < 1 || strchr(fields[0], '/')) {
            st = MT_FAIL(err, MT_ERR_SPEC, "%s/plan.tsv: line %zu: expected part, job, number and name, with tabs between them", folder, p->row_count + 1);
            break;
        }
        mt_cluster_row *row = MT_APPEND(p->rows, p->row_count, p->row_capacity);
        if (!row) {
            st = mt_no_memory("slurm", err);
            break;
        }
        *row = (mt_cluster_row){.part = mt_strdup(fields[0]), .job = mt_strdup(fields[1]), .index = strtoll(fields[2], NULL, 10), .label = mt_strdup(fields[3])};
        if (!row->part || !row->job || !row->label) st = mt_no_memory("slurm", err);
    }
    mt_free(text);
    return st;
}

/* Notes the job numbers; those of other stages go into `stages` as "name\tnumber\n". */
static mt_status read_jobs(const char *folder, mt_cluster_progress *p, mt_strbuf *ids, mt_strbuf *stages, mt_error *err)
{
    char *text = NULL, *at, *fields[4];
    size_t count;
    mt_status st = read_file(folder, "jobs.tsv", &text, err);
    if (!text) return st;
    at = text;
    while (next_line(&at, fields, &count)) {
        long long id = count >= 2 ? strtoll(fields[1], NULL, 10) : 0, before = count == 3 ? strtoll(fields[2], NULL, 10) : 0;
        bool is_array = false;
        if (id <= 0) continue;
        p->is_submitted = true;
        mt_strbuf_addf(ids, "%s%lld", ids->length ? "," : "", id);
        for (size_t i = 0; i < p->row_count; i++) {
            if (strcmp(p->rows[i].job, fields[0]) != 0) continue;
            is_array = true;
            if (p->rows[i].index <= before) continue; /* several arrays, in order */
            p->rows[i].job_id = id;
            p->rows[i].before = before;
        }
        if (!is_array) mt_strbuf_addf(stages, "%s\t%lld\n", fields[0], id);
    }
    mt_free(text);
    return ids->failed || stages->failed ? mt_no_memory("slurm", err) : MT_OK;
}

/* ---- parts ---- */

typedef struct reading {
    mt_cluster_progress *progress;
    mt_cluster_row *row;
    bool is_truncated, is_ended, is_of_another; /* plan or task */
    char state[24];
} reading;

static mt_status see_session(void *context, const mt_session_info *info, mt_error *err)
{
    reading *r = context;
    (void)err;
    const char *plan = info->plan;
    if (plan && !mt_job_is_of_plan(plan, r->progress->plan)) snprintf(r->row->why, sizeof r->row->why, "is of plan %.*s, not of this one", mt_job_plan_length(plan), plan);
    else if (plan && !mt_job_is_of_part(plan, r->row->part)) snprintf(r->row->why, sizeof r->row->why, "is of task %.60s of this plan, not of this one", strchr(plan, ':') + 1);
    else plan = NULL;
    r->is_of_another |= plan != NULL;
    if (plan) return MT_OK;
    r->row->sessions++;
    r->row->evaluated += info->evaluated - info->known;
    r->row->failed = info->failed; /* with those known from before */
    if (info->ended_unix_ms) r->row->seconds += (double)(info->ended_unix_ms - info->started_unix_ms) / 1e3;
    r->is_ended = info->ended_unix_ms != 0;
    r->is_truncated = info->is_truncated;
    snprintf(r->state, sizeof r->state, "%s", info->state);
    snprintf(r->row->node, sizeof r->row->node, "%s", info->host);
    snprintf(r->row->session_job, sizeof r->row->session_job, "%s", info->job ? info->job : "");
    return MT_OK;
}

static bool is_of(const mt_cluster_best *best, const mt_measurement_row *row)
{
    return strcmp(best->gpu, row->gpu_key) == 0 && strcmp(best->kernel, row->kernel) == 0 && strcmp(best->shape, row->shape) == 0 && strcmp(best->workload, row->workload) == 0 &&
           strcmp(best->l2, mt_l2_name(row->outcome.timing.l2)) == 0;
}

static mt_status see_best(void *context, const mt_measurement_row *row, mt_error *err)
{
    mt_cluster_progress *p = ((reading *)context)->progress;
    size_t i = 0;
    while (i < p->best_count && !is_of(&p->bests[i], row)) i++;
    if (i == p->best_count) {
        mt_cluster_best *added = MT_APPEND(p->bests, p->best_count, p->best_capacity);
        if (!added) return mt_no_memory("slurm", err);
        *added = (mt_cluster_best){.gpu = mt_strdup(row->gpu_key), .kernel = mt_strdup(row->kernel), .shape = mt_strdup(row->shape), .workload = mt_strdup(row->workload),
                                   .l2 = mt_strdup(mt_l2_name(row->outcome.timing.l2)), .median_ns = INFINITY};
        if (!added->gpu || !added->kernel || !added->shape || !added->workload || !added->l2) return mt_no_memory("slurm", err);
    }
    mt_cluster_best *best = &p->bests[i];
    if (!(row->outcome.timing.median_ns < best->median_ns)) return MT_OK;
    mt_free(best->variant);
    best->variant = mt_strdup(row->variant);
    best->median_ns = row->outcome.timing.median_ns;
    return best->variant ? MT_OK : mt_no_memory("slurm", err);
}

/* By the part alone: what it would be if Slurm knew nothing of the task. */
static void judge_part(const reading *r)
{
    mt_cluster_row *row = r->row;
    if (r->is_of_another) row->stand = MT_CLUSTER_FAILED;
    if (r->is_of_another || !row->sessions) return;
    bool is_done = strcmp(r->state, "done") == 0 && !r->is_truncated;
    row->stand = is_done ? MT_CLUSTER_DONE : strcmp(r->state, "failed") == 0 ? MT_CLUSTER_FAILED : MT_CLUSTER_STOPPED;
    if (is_done) return;
    snprintf(row->why, sizeof row->why, "%s", !r->is_ended ? "running, or killed" : r->is_truncated ? "interrupted, or out of time" : r->state);
}

static mt_status read_part(const char *folder, mt_cluster_progress *p, mt_cluster_row *row, mt_error *err)
{
    reading r = {.progress = p, .row = row};
    mt_store *store = NULL;
    mt_error told;
    char *path = mt_path_join(folder, row->part);
    if (!path) return mt_no_memory("slurm", err);
    mt_status st = MT_OK;
    if (mt_file_exists(path)) {
        st = mt_store_open(path, MT_STORE_READ_ONLY, &store, &told);
        if (st == MT_OK) st = mt_query_sessions(store, see_session, &r, &told);
        if (st == MT_OK && !r.is_of_another) st = mt_query_best(store, NULL, see_best, &r, &told);
        judge_part(&r);
        if (st != MT_OK) snprintf(row->why, sizeof row->why, "%.110s", told.message);
    }
    mt_store_close(store);
    mt_free(path);
    return st == MT_ERR_NO_MEMORY ? mt_no_memory("slurm", err) : MT_OK;
}

/* ---- Slurm's word ---- */

static bool is_among(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

/* Whether the part's last session ran in that very job. */
static bool is_of_entry(const mt_cluster_row *row, const mt_cluster_entry *entry)
{
    char job[MT_JOB_SIZE];
    snprintf(job, sizeof job, entry->index < 0 ? "slurm %lld" : "slurm %lld_%lld", entry->job, entry->index);
    return strcmp(job, row->session_job) == 0;
}

/* What is queued or runs is Slurm's to say; of what has ended the part knows more, unless it is missing. */
static void judge_entry(mt_cluster_row *row, const mt_cluster_entry *entry)
{
    if (entry->node[0] && strcmp(entry->node, "None") != 0) snprintf(row->node, sizeof row->node, "%s", entry->node);
    if (is_among(entry->state, "PENDING CONFIGURING REQUEUED REQUEUE_HOLD SUSPENDED SPECIAL_EXIT RESV_DEL_HOLD")) {
        row->stand = MT_CLUSTER_WAITING;
        snprintf(row->why, sizeof row->why, "%s", row->sessions ? "back in the queue" : "");
    } else if (is_among(entry->state, "RUNNING COMPLETING STAGE_OUT SIGNALING RESIZING STOPPED")) {
        row->stand = MT_CLUSTER_RUNNING;
        row->why[0] = '\0';
        snprintf(row->left, sizeof row->left, "%s", entry->left);
    } else if (strcmp(entry->state, "COMPLETED") == 0) {
        if (row->sessions && row->stand == MT_CLUSTER_DONE) return;
        row->stand = row->sessions ? row->stand : MT_CLUSTER_FAILED;
        if (!row->sessions) snprintf(row->why, sizeof row->why, "COMPLETED, but its part is not there");
    } else { /* where the part is done, an earlier run was, and this one was refused, killed, or had nothing to tune; or it was done itself before Slurm found fault with it */
        bool was_done = row->stand == MT_CLUSTER_DONE;
        if (was_done && strcmp(entry->state, "FAILED") != 0 && is_of_entry(row, entry)) return;
        row->stand = is_among(entry->state, "CANCELLED PREEMPTED TIMEOUT NODE_FAIL") ? MT_CLUSTER_STOPPED : MT_CLUSTER_FAILED;
        row->is_log_wanted = was_done;
        snprintf(row->why, sizeof row->why, "%s", entry->state);
    }
}

/* Slurm makes the log before the script begins: without one the script never ran, and nothing but Slurm's own log tells why. */
static mt_status look_for_log(const char *folder, mt_cluster_row *row, mt_error *err)
{
    mt_strbuf log = {0};
    if (row->stand != MT_CLUSTER_FAILED) return MT_OK;
    mt_strbuf_addf(&log, "%s/log/%s", folder, row->job);
    if (row->before) mt_strbuf_addf(&log, "+%lld", row->before);
    mt_strbuf_addf(&log, "-%lld.txt", row->index - row->before);
    bool is_there = mt_file_exists(mt_strbuf_text(&log)), failed = log.failed;
    mt_strbuf_free(&log);
    if (failed) return mt_no_memory("slurm", err);
    size_t length = strlen(row->why);
    if (!is_there || row->is_log_wanted) snprintf(row->why + length, sizeof row->why - length, is_there ? ": its log tells" : ": no log was written");
    return MT_OK;
}

static mt_status judge_all(const char *folder, mt_cluster_progress *p, const mt_strbuf *ids, const mt_strbuf *stages, mt_error *err)
{
    mt_cluster_jobs jobs = {0};
    mt_strbuf text = {0};
    char *copy = mt_strdup(mt_strbuf_text(stages)), *at = copy, *fields[4];
    size_t count;
    mt_status st = copy ? mt_cluster_jobs_ask(mt_strbuf_text(ids), &jobs, err) : mt_no_memory("slurm", err);
    p->is_asked = jobs.is_answered;
    for (size_t i = 0; i < p->row_count && st == MT_OK; i++) {
        const mt_cluster_entry *entry = p->rows[i].job_id ? mt_cluster_jobs_find(&jobs, p->rows[i].job_id, p->rows[i].index - p->rows[i].before) : NULL;
        if (!entry) continue;
        judge_entry(&p->rows[i], entry);
        st = look_for_log(folder, &p->rows[i], err);
    }
    while (st == MT_OK && next_line(&at, fields, &count)) {
        const mt_cluster_entry *entry = mt_cluster_jobs_find(&jobs, strtoll(fields[1], NULL, 10), -1);
        mt_strbuf_addf(&text, "%s%s (job %s): %s", text.length ? ", " : "", fields[0], fields[1], entry ? entry->state : "not known");
    }
    if (st == MT_OK && !(p->stages = text.length ? mt_strbuf_take(&text) : mt_strdup(""))) st = mt_no_memory("slurm", err);
    mt_strbuf_free(&text);
    mt_cluster_jobs_free(&jobs);
    mt_free(copy);
    return st;
}

/* As long as the tasks that are done took, for those that are not, by as many as run now. */
static void sum_up(mt_cluster_progress *p)
{
    double done_s = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        p->counts[p->rows[i].stand]++;
        if (p->rows[i].stand == MT_CLUSTER_DONE) done_s += p->rows[i].seconds;
    }
    size_t done = p->counts[MT_CLUSTER_DONE], running = p->counts[MT_CLUSTER_RUNNING], open = running + p->counts[MT_CLUSTER_WAITING];
    p->left_s = done && running ? done_s / (double)done * (double)open / (double)running : NAN;
}

mt_status mt_cluster_progress_read(const char *folder, mt_cluster_progress *progress, mt_error *err)
{
    mt_status st;
    mt_strbuf ids = {0}, stages = {0};
    MT_TRY(read_plan(folder, progress, err));
    MT_TRY(read_jobs(folder, progress, &ids, &stages, err));
    for (size_t i = 0; i < progress->row_count; i++) MT_TRY(read_part(folder, progress, &progress->rows[i], err));
    MT_TRY(judge_all(folder, progress, &ids, &stages, err));
    sum_up(progress);
done:
    mt_strbuf_free(&ids);
    mt_strbuf_free(&stages);
    return st;
}

void mt_cluster_progress_free(mt_cluster_progress *progress)
{
    for (size_t i = 0; i < progress->row_count; i++) {
        MT_FREE_EACH(progress->rows[i].part, progress->rows[i].job, progress->rows[i].label);
    }
    for (size_t i = 0; i < progress->best_count; i++) {
        char *texts[] = {progress->bests[i].gpu, progress->bests[i].kernel, progress->bests[i].shape, progress->bests[i].workload, progress->bests[i].l2, progress->bests[i].variant};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) mt_free(texts[k]);
    }
    MT_FREE_EACH(progress->rows, progress->bests, progress->stages);
    *progress = (mt_cluster_progress){0};
}
