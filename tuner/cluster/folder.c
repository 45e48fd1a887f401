#include "tuner/cluster/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/hash.h"
#include "tuner/base/log.h"
#include "tuner/cluster/jobs.h"

enum { FILE_MAX_BYTES = 64 << 20, OLD_MAX = 10000 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A file's text; NULL when it is not there. */
static mt_status read_text(const char *folder, const char *name, char **text, mt_error *err)
{
    size_t length;
    char *path = mt_path_join(folder, name);
    *text = NULL;
    mt_status st = !path ? mt_no_memory("slurm", err) : mt_file_exists(path) ? mt_file_read(path, FILE_MAX_BYTES, text, &length, err) : MT_OK;
    mt_free(path);
    return st;
}

/* ---- what is ours in it ---- */

/* By its first lines: people may keep scripts of their own beside ours. */
static bool is_script(const char *folder, const char *name)
{
    static const char sign[] = "#SBATCH --job-name=msda-tune-";
    char head[128] = "";
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 3, ".sh") != 0) return false;
    if (strcmp(name, "submit.sh") == 0) return true;
    char *path = mt_path_join(folder, name);
    mt_error ignored;
    int fd = -1;
    bool is_open = path && mt_file_open_regular(path, &fd, &ignored) == MT_OK;
    mt_free(path);
    if (!is_open) return false;
    ssize_t got = pread(fd, head, sizeof head - 1, 0);
    close(fd);
    head[got > 0 ? got : 0] = '\0';
    return strstr(head, sign) != NULL;
}

/* Databases with what SQLite keeps beside them. */
static bool is_result(const char *name)
{
    return begins(name, "merged.sqlite") || (begins(name, "part-") && strstr(name, ".sqlite"));
}

static bool is_ours(const char *folder, const char *name)
{
    static const char *const others[] = {"plan.tsv", "jobs.tsv", "parts.txt", "report.html", "log"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0) return true;
    return is_result(name) || is_script(folder, name);
}

/* Calls back for each name in the folder until that fails. */
typedef mt_status (*name_callback)(void *context, const char *folder, const char *name, mt_error *err);
static mt_status each_name(const char *folder, name_callback callback, void *context, mt_error *err)
{
    mt_status st = MT_OK;
    DIR *dir = opendir(folder);
    if (!dir) return MT_FAIL(err, MT_ERR_IO, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; st == MT_OK && (entry = readdir(dir));) st = callback(context, folder, entry->d_name, err);
    closedir(dir);
    return st;
}

/* The first result there is, or the list of jobs that were submitted. */
static mt_status see_begun(void *context, const char *folder, const char *name, mt_error *err)
{
    char *found = context, *jobs = NULL;
    mt_status st = strcmp(name, "jobs.tsv") == 0 ? read_text(folder, name, &jobs, err) : MT_OK;
    bool is_begun = is_result(name) || (jobs && *jobs); /* empty: sbatch refused the first one */
    if (is_begun && (!*found || strcmp(name, found) < 0)) snprintf(found, 256, "%s", name);
    mt_free(jobs);
    return st;
}

static mt_status remove_script(void *context, const char *folder, const char *name, mt_error *err)
{
    (void)context;
    if (!is_script(folder, name)) return MT_OK;
    char *path = mt_path_join(folder, name);
    mt_status st = !path ? mt_no_memory("slurm", err) : unlink(path) == 0 ? MT_OK : MT_FAIL(err, MT_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
    mt_free(path);
    return st;
}

/* ---- another plan ---- */

static size_t task_count(const char *table)
{
    size_t count = 0;
    for (; *table; table += strcspn(table, "\n"), table += *table == '\n') count += *table != '#';
    return count;
}

static const char plan_line[] = "#\tplan\t";

/* Behind the line with the plan's identity. */
static const char *without_id(const char *table)
{
    if (!begins(table, plan_line)) return table;
    table += strcspn(table, "\n");
    return table + (*table == '\n');
}

/* Behind the line that says of which space it is. */
static const char *tasks_of(const char *table)
{
    table = without_id(table);
    return *table == '#' ? table + strcspn(table, "\n") : table;
}

/* Two plans are never taken for one, though they were made alike: what their tasks are given beside (a budget, a GPU) may differ. */
static void new_id(const mt_cluster_plan *plan, const mt_strbuf *table, char id[MT_JOB_PLAN_SIZE])
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%s\n%s\n%lld\n%lld\n%ld", mt_strbuf_text(table), plan->folder, (long long)mt_clock_unix_ms(), (long long)mt_clock_now_ns(), (long)getpid());
    mt_hash hash = mt_hash_text(mt_strbuf_text(&text));
    snprintf(id, MT_JOB_PLAN_SIZE, "%.12s", hash.hex);
    mt_strbuf_free(&text);
}

/* The identity in a table that holds the same plan; "" where it has none, or one that no script could hold. */
static void read_id(const char *table, char id[MT_JOB_PLAN_SIZE])
{
    const char *at = begins(table, plan_line) ? table + strlen(plan_line) : "";
    size_t length = strcspn(at, "\n");
    bool is_id = length && length < MT_JOB_PLAN_SIZE && strspn(at, "0123456789abcdef") == length;
    snprintf(id, MT_JOB_PLAN_SIZE, "%.*s", is_id ? (int)length : 0, at);
}

static mt_status refuse(const mt_cluster_plan *plan, const char *old, const char *now, const char *begun, mt_error *err)
{
    const char *folder = plan->folder, *how = "expected another folder (-o DIR), or --replace, which moves what is there into old-N";
    if (!old) return MT_FAIL(err, MT_ERR_USAGE, "%s: holds %s, and no plan.tsv that says of what it is; %s", folder, begun, how);
    if (strcmp(tasks_of(old), tasks_of(now)) == 0)
        return MT_FAIL(err, MT_ERR_USAGE, "%s: was begun (%s) with another state of %s: parts of both would not fit together; %s", folder, begun, plan->space, how);
    const char *first = tasks_of(old);
    first += *first == '\n';
    size_t end = strcspn(first, "\n");
    while (end && memchr(first, '\t', end)) end--, first++; /* the last field: what the task is */
    return MT_FAIL(err, MT_ERR_USAGE, "%s: holds another plan, which was begun (%s): %zu tasks, the first of them %.*s; %s", folder, begun, task_count(old), (int)end, first, how);
}

static mt_status check_queue(const char *folder, mt_error *err)
{
    char *jobs = NULL;
    mt_strbuf ids = {0}, answer = {0};
    int code = 0;
    mt_status st;
    MT_TRY(read_text(folder, "jobs.tsv", &jobs, err));
    for (const char *line = jobs; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *tab = memchr(line, '\t', strcspn(line, "\n"));
        long long id = tab ? strtoll(tab + 1, NULL, 10) : 0;
        if (id > 0) mt_strbuf_addf(&ids, "%s%lld", ids.length ? "," : "", id);
    }
    if (!ids.length) goto done;
    const char *const argv[] = {"squeue", "--noheader", "--jobs", mt_strbuf_text(&ids), NULL};
    MT_TRY(mt_cluster_capture(argv, &answer, &code, err));
    if (code == 0 && answer.length) st = MT_FAIL(err, MT_ERR_USAGE, "%s: jobs of the plan that is there wait or run (%s); expected their end first, or scancel", folder, mt_strbuf_text(&ids));
done:
    mt_strbuf_free(&ids);
    mt_strbuf_free(&answer);
    mt_free(jobs);
    return st;
}

static mt_status move_name(void *context, const char *folder, const char *name, mt_error *err)
{
    if (!is_ours(folder, name)) return MT_OK;
    char *from = mt_path_join(folder, name), *to = mt_path_join(context, name);
    mt_status st = !from || !to ? mt_no_memory("slurm", err) : rename(from, to) == 0 ? MT_OK : MT_FAIL(err, MT_ERR_IO, "%s: cannot be moved to %s: %s", from, to, strerror(errno));
    mt_free(from);
    mt_free(to);
    return st;
}

static mt_status move_away(const char *folder, mt_error *err)
{
    char name[32];
    mt_status st;
    MT_TRY(check_queue(folder, err));
    for (int i = 1; i <= OLD_MAX; i++) {
        snprintf(name, sizeof name, "old-%d", i);
        char *to = mt_path_join(folder, name);
        if (!to) return mt_no_memory("slurm", err);
        bool is_there = mt_file_exists(to) || mt_dir_exists(to);
        if (!is_there) st = mt_dir_make_all(to, err);
        if (!is_there && st == MT_OK) st = each_name(folder, move_name, to, err);
        mt_free(to);
        if (!is_there) return st;
    }
    st = MT_FAIL(err, MT_ERR_IO, "%s: holds old-1 to old-%d", folder, OLD_MAX);
done:
    return st;
}

mt_status mt_cluster_folder_claim(mt_cluster_plan *plan, bool replaces, mt_error *err)
{
    char *old = NULL, begun[256] = "";
    mt_strbuf now = {0};
    mt_status st;
    plan->id[0] = '\0';
    mt_cluster_plan_table(plan, &now);
    MT_TRY(read_text(plan->folder, "plan.tsv", &old, err));
    if (now.failed) MT_LEAVE(mt_no_memory("slurm", err));
    bool is_same = old && strcmp(without_id(old), mt_strbuf_text(&now)) == 0;
    if (is_same) read_id(old, plan->id);
    if (!*plan->id) new_id(plan, &now, plan->id);
    if (is_same && replaces) mt_log_info("%s: the same plan: nothing was moved (--replace)", plan->folder);
    if (!is_same) MT_TRY(each_name(plan->folder, see_begun, begun, err));
    if (!*begun) st = old ? each_name(plan->folder, remove_script, NULL, err) : MT_OK; /* all that the plan needs is written next; of a stage that it has no more nothing stays */
    else st = replaces ? move_away(plan->folder, err) : refuse(plan, old, mt_strbuf_text(&now), begun, err);
done:
    mt_strbuf_free(&now);
    mt_free(old);
    return st;
}
