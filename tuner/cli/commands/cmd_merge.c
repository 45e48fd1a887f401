/* msda-tune merge: what several machines measured becomes one file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/merge.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/print.h"
#include "tuner/predictor/table.h"

typedef struct merge_values {
    const char *into, *files_from, *plan;
    bool with_cubins, seal, same_kernel;
} merge_values;

#define FIELD(name) offsetof(merge_values, name)
static const mt_option options[] = {
    {"into", 0, MT_OPTION_DATABASE, FIELD(into), "FILE", "database that the rows are added to; made if it is not there"},
    {"files-from", 0, MT_OPTION_INPUT, FIELD(files_from), "LIST", "also the files that this file names, one a line: more of them than\nfit onto a command line"},
    {"with-cubins", 0, MT_OPTION_FLAG, FIELD(with_cubins), NULL, "also take over compiled code: as trustworthy as the files are"},
    {"same-kernel", 0, MT_OPTION_FLAG, FIELD(same_kernel), NULL, "refuse files that hold a kernel with another key than the others\n(its source was edited in between)"},
    {"plan", 0, MT_OPTION_TEXT, FIELD(plan), "ID", "leave out files that a task of another plan wrote; `msda-tune slurm`\nmakes plans and gives their ID"},
    {"seal", 0, MT_OPTION_FLAG, FIELD(seal), NULL, "leave the database fit for shipping: one file, readable on\nread-only media"},
    {0},
};

enum { LIST_MAX_BYTES = 64 << 20 };

/* Those of the command line, then those of --files-from. */
typedef struct files {
    const char **paths; /* the array is owned */
    size_t count, capacity;
    char *list;         /* owned; some of the paths point into it */
} files;

static mt_status add_file(files *f, const char *path, mt_error *err)
{
    const char **added = MT_APPEND(f->paths, f->count, f->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "merge: out of memory");
    *added = path;
    return MT_OK;
}

static mt_status read_list(files *f, const char *list, mt_error *err)
{
    size_t length;
    mt_status st;
    MT_TRY(mt_file_read(list, LIST_MAX_BYTES, &f->list, &length, err));
    if (strlen(f->list) != length) return MT_FAIL(err, MT_ERR_USAGE, "%s: holds a NUL byte; expected names of files, one a line", list);
    for (char *line = f->list, *next; *line && st == MT_OK; line = next) {
        size_t end = strcspn(line, "\n");
        next = line + end + (line[end] == '\n');
        line[end] = '\0';
        if (*line) st = add_file(f, line, err);
    }
done:
    return st;
}

static mt_status collect(const mt_arguments *arguments, files *f, mt_error *err)
{
    const merge_values *values = arguments->values;
    mt_status st = MT_OK;
    for (size_t i = 0; i < arguments->operand_count && st == MT_OK; i++) st = add_file(f, arguments->operands[i], err);
    if (st == MT_OK && values->files_from) st = read_list(f, values->files_from, err);
    if (st == MT_OK && !f->count && values->files_from) st = MT_FAIL(err, MT_ERR_USAGE, "%s: names no file; expected one a line", values->files_from);
    return st;
}

/* ---- --same-kernel ---- */

typedef struct kernel { char *name, *key, *path; } kernel;
typedef struct kernels {
    kernel *items;
    size_t count, capacity;
    const char *path; /* of the file at hand */
} kernels;

static mt_status see_kernel(void *context, const char *name, const char *key, mt_error *err)
{
    kernels *seen = context;
    for (size_t i = 0; i < seen->count; i++) {
        const kernel *k = &seen->items[i];
        if (strcmp(k->name, name) != 0) continue;
        if (strcmp(k->key, key) == 0) return MT_OK;
        return MT_FAIL(err, MT_ERR_USAGE, "%s: has kernel %s with key %.8s, expected %.8s as in %s: its source was edited in between; without --same-kernel both are kept, side by side", seen->path, name, key,
                       k->key, k->path);
    }
    kernel *k = MT_APPEND(seen->items, seen->count, seen->capacity);
    if (!k) return mt_no_memory("merge", err);
    *k = (kernel){mt_strdup(name), mt_strdup(key), mt_strdup(seen->path)};
    return k->name && k->key && k->path ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "merge: out of memory");
}

static mt_status see_file(kernels *seen, const char *path, mt_error *err)
{
    seen->path = path;
    return mt_merge_kernels(path, see_kernel, seen, err);
}

static void free_kernels(kernels *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        MT_FREE_EACH(seen->items[i].name, seen->items[i].key, seen->items[i].path);
    }
    mt_free(seen->items);
}

/* ---- merging ---- */

typedef struct part {
    const char *path;
    int64_t oldest_unix_ms;
    mt_merge_counts counts; /* once merged */
} part;

static int by_time(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->oldest_unix_ms != y->oldest_unix_ms) return x->oldest_unix_ms < y->oldest_unix_ms ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void leave_out(size_t *left_out, const mt_error *err)
{
    mt_log_error("%s", err->message);
    (*left_out)++;
}

/* Before anything is written. `parts` become the files that can be merged, in order of time; the others are named and counted. What the command line asks for in error stops all. */
static mt_status check_all(const merge_values *values, const files *f, part *parts, size_t *count, size_t *left_out, mt_error *err)
{
    kernels seen = {0};
    mt_merge_expectation expected = {values->plan, values->same_kernel ? see_kernel : NULL, &seen};
    mt_status st = values->same_kernel ? see_file(&seen, values->into, err) : MT_OK;
    if (st == MT_ERR_NOT_FOUND) st = MT_OK; /* not there yet, or left empty by a merge that was killed at once */
    for (size_t i = 0; i < f->count && st == MT_OK; i++) {
        parts[*count].path = seen.path = f->paths[i];
        st = mt_merge_check(values->into, f->paths[i], &expected, &parts[*count].oldest_unix_ms, err);
        if (st == MT_OK) (*count)++;
        if ((st != MT_ERR_DB && st != MT_ERR_NOT_FOUND) || f->count == 1) continue;
        leave_out(left_out, err);
        st = MT_OK;
    }
    free_kernels(&seen);
    if (st == MT_OK && *count) qsort(parts, *count, sizeof *parts, by_time);
    return st;
}

static void print_part(const part *p)
{
    const mt_merge_counts *c = &p->counts;
    mt_tell("%s: %lld measurement%s new, %lld known; %lld session%s, %lld subject%s", p->path, (long long)c->measurements, c->measurements == 1 ? "" : "s", (long long)c->known,
           (long long)c->sessions, c->sessions == 1 ? "" : "s", (long long)c->subjects, c->subjects == 1 ? "" : "s");
    if (c->cubins) mt_tell(", %lld cubin%s", (long long)c->cubins, c->cubins == 1 ? "" : "s");
    if (c->cubins_left_out) mt_tell("; %lld cubin%s left out (--with-cubins takes them)", (long long)c->cubins_left_out, c->cubins_left_out == 1 ? "" : "s");
    if (c->rows_left_out) mt_tell("; %lld row%s left out", (long long)c->rows_left_out, c->rows_left_out == 1 ? "" : "s");
    mt_tell("\n");
}

/* Parts are committed several at a time, and told of once they are. */
static void print_committed(const mt_merge *merge, const part *parts, size_t *told)
{
    while (*told < mt_merge_committed(merge)) print_part(&parts[(*told)++]);
}

static mt_status tell_undone(const merge_values *values, size_t undone, mt_status status, mt_error *err)
{
    mt_error told = *err;
    mt_error_set(err, status, "%s\n%zu file%s read and not added to %s; the same command adds %s", told.message, undone, undone == 1 ? " was" : "s were", values->into, undone == 1 ? "it" : "them");
    return status;
}

/* What was merged before a part failed is finished all the same. `parts` are left as those merged, in that order. */
static mt_status merge_parts(mt_store *store, const merge_values *values, part *parts, size_t count, size_t *left_out, mt_error *err)
{
    mt_merge_options how = {.with_cubins = values->with_cubins};
    mt_merge *merge = NULL;
    size_t merged = 0, told = 0;
    mt_status st = mt_merge_begin(store, &how, &merge, err);
    if (st != MT_OK) return st;
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        bool is_bad;
        st = mt_merge_part(merge, parts[i].path, &parts[i].counts, &is_bad, err);
        if (st == MT_OK) parts[merged++] = parts[i];
        print_committed(merge, parts, &told);
        if (st == MT_OK || !is_bad) continue;
        leave_out(left_out, err);
        st = MT_OK;
    }
    mt_error second;
    mt_status finished = mt_merge_finish(merge, st == MT_OK ? err : &second);
    print_committed(merge, parts, &told);
    mt_merge_end(merge);
    if (finished == MT_OK) finished = mt_predictor_refresh_all(store, st == MT_OK ? err : &second);
    if (st == MT_OK) st = finished;
    return told < merged ? tell_undone(values, merged - told, st, err) : st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const merge_values *values = arguments->values;
    mt_store *store = NULL;
    part *parts = NULL;
    files all = {0};
    size_t count = 0, left_out = 0;
    mt_status st;
    if (!arguments->operand_count && !values->files_from) return MT_FAIL(err, MT_ERR_USAGE, "merge: FILE is missing: merge A.sqlite B.sqlite --into ALL.sqlite");
    if (!values->into) return MT_FAIL(err, MT_ERR_USAGE, "merge: --into FILE is missing: merge A.sqlite B.sqlite --into ALL.sqlite");
    MT_TRY(collect(arguments, &all, err));
    if (!(parts = mt_alloc(all.count, sizeof *parts))) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "merge: out of memory"));
    MT_TRY(check_all(values, &all, parts, &count, &left_out, err));
    if (!count) MT_LEAVE(MT_FAIL(err, MT_ERR_DB, "%s: nothing was merged: what is wrong with the %zu files stands above", values->into, all.count));
    MT_TRY(mt_store_open(values->into, MT_STORE_READ_WRITE, &store, err));
    MT_TRY(merge_parts(store, values, parts, count, &left_out, err));
    if (values->seal) MT_TRY(mt_store_seal(store, err));
    mt_tell("Database: %s\n", values->into);
    if (left_out) st = MT_FAIL(err, MT_ERR_DB, "%s: %zu of %zu files left out: what is wrong with them stands above; the others are merged", values->into, left_out, all.count);
done:
    mt_store_close_unused(store);
    MT_FREE_EACH(parts, all.paths, all.list);
    return st;
}

const mt_command mt_cmd_merge = {
    .name = "merge",
    .summary = "add the rows of other databases to one",
    .operands = "FILE…",
    .help = "Adds what the files hold to the database --into: measurements, failures, sessions with host, driver\n"
            "and command. Rows that are there already are recognised by content, so that the order does not\n"
            "matter and repeating adds nothing. Each file is checked: one that is damaged is named and left out,\n"
            "the others are merged and the exit code is 1. A row that holds what no tuner writes is named and\n"
            "left out, the others of its file are merged. A merge that was killed is completed by the same\n"
            "command. Compiled code is left out unless --with-cubins is given.",
    .options = options,
    .values_size = sizeof(merge_values),
    .run = run,
};
