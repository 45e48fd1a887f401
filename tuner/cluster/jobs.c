#include "tuner/cluster/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"

extern char **environ;

/* ---- running a program ---- */

static pid_t spawn(const char *const *argv, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) != 0) pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

mt_status mt_cluster_capture(const char *const *argv, mt_strbuf *out, int *code, mt_error *err)
{
    int ends[2], status = 0;
    char buffer[4096];
    ssize_t got;
    *code = 127;
    if (pipe2(ends, O_CLOEXEC) != 0) return MT_FAIL(err, MT_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
    pid_t pid = spawn(argv, ends[1]);
    close(ends[1]);
    while (pid > 0 && ((got = read(ends[0], buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) mt_strbuf_add_bytes(out, buffer, (size_t)got);
    close(ends[0]);
    if (pid < 0) return MT_OK;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return out->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", argv[0]) : MT_OK;
}

/* ---- its answer ---- */

static void copy_word(char *out, size_t size, const char *text, size_t length)
{
    size_t end = 0;
    while (end < length && text[end] != ' ' && end + 1 < size) end++; /* "CANCELLED by 1000" */
    memcpy(out, text, end);
    out[end] = '\0';
}

/* The fields of [line, line+length) as starts and lengths. */
static size_t split(const char *line, size_t length, const char *fields[6], size_t lengths[6])
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i <= length && count < 6; i++) {
        if (i < length && line[i] != '|') continue;
        fields[count] = line + begin;
        lengths[count++] = i - begin;
        begin = i + 1;
    }
    return count;
}

static bool parse_line(const char *line, size_t length, mt_cluster_entry *entry)
{
    const char *fields[6];
    size_t lengths[6], count = split(line, length, fields, lengths);
    char *end;
    if (count < 3) return false;
    *entry = (mt_cluster_entry){.index = -1};
    entry->job = strtoll(fields[0], &end, 10);
    if (end == fields[0] || entry->job <= 0) return false;
    bool is_squeue = count == 5;
    if (is_squeue) entry->index = strtoll(fields[1], &end, 10);
    else if (*end == '_' && end[1] != '[') entry->index = strtoll(end + 1, NULL, 10);
    else if (*end == '_') return false; /* "12_[4-8]": pending, which squeue knows */
    if (is_squeue && end == fields[1]) entry->index = -1; /* "N/A" */
    size_t state = is_squeue ? 2 : 1;
    copy_word(entry->state, sizeof entry->state, fields[state], lengths[state]);
    copy_word(entry->node, sizeof entry->node, fields[state + 1], lengths[state + 1]);
    if (is_squeue) copy_word(entry->left, sizeof entry->left, fields[4], lengths[4]);
    return entry->state[0] != '\0';
}

mt_status mt_cluster_jobs_parse(const char *text, mt_cluster_jobs *jobs, mt_error *err)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        mt_cluster_entry entry;
        if (!parse_line(line, strcspn(line, "\n"), &entry)) continue;
        mt_cluster_entry *added = MT_APPEND(jobs->items, jobs->count, jobs->capacity);
        if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "slurm: out of memory");
        *added = entry;
    }
    return MT_OK;
}

static mt_status ask(const char *const *argv, mt_cluster_jobs *jobs, mt_error *err)
{
    mt_strbuf answer = {0};
    int code;
    mt_status st = mt_cluster_capture(argv, &answer, &code, err);
    if (st == MT_OK && code == 0) {
        jobs->is_answered = true;
        st = mt_cluster_jobs_parse(mt_strbuf_text(&answer), jobs, err);
    }
    mt_strbuf_free(&answer);
    return st;
}

mt_status mt_cluster_jobs_ask(const char *ids, mt_cluster_jobs *jobs, mt_error *err)
{
    const char *const queue[] = {"squeue", "--noheader", "--array", "--states=all", "--jobs", ids, "--format=%F|%K|%T|%N|%L", NULL};
    const char *const accounting[] = {"sacct", "--noheader", "--allocations", "--parsable2", "--jobs", ids, "--format=JobID,State,NodeList", NULL};
    mt_status st = MT_OK;
    if (*ids) {
        st = ask(queue, jobs, err);
        if (st == MT_OK) st = ask(accounting, jobs, err);
    }
    return st;
}

const mt_cluster_entry *mt_cluster_jobs_find(const mt_cluster_jobs *jobs, long long job, long long index)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->items[i].job == job && jobs->items[i].index == index) return &jobs->items[i];
    return NULL;
}

void mt_cluster_jobs_free(mt_cluster_jobs *jobs)
{
    mt_free(jobs->items);
    *jobs = (mt_cluster_jobs){0};
}
