/* Files of results that are to become recordings: Kernel Tuner caches and T4 files (plain or gzip), and recordings themselves (plain, zstd, gzip).
 * docs/database.md says what of them is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_import mt_import;

typedef struct mt_import_about {
    const char *format;     /* "Kernel Tuner cache", "T4 file", "recording" */
    const char *gpu;        /* device name; NULL = the file does not say it. NULL for all of these if it is a recording */
    const char *kernel;
    const char *problem;    /* its size, "4096, 4096" */
    const char *unread_problem; /* a size that is no number and no list of numbers, as the file has it; NULL = none */
    const char *renamed;    /* which parameters have another name here, and why; NULL = none */
    const char *shape, *shape_key, *workload, *workload_key; /* of a T4 file that this tool wrote; NULL = the file does not say it */
    const char *objective;  /* what the file's tool looked for, where that was not the time that ranks here; NULL = the time, or the file does not say it */
    size_t results;
    size_t timeless;        /* results that worked and have no time: left out; `why_timeless` names the first with its line. NULL = none */
    const char *why_timeless;
    size_t odd;             /* results whose time is neither a number nor the name of a failure: failures here; `why_odd` names the first with its line. NULL = none */
    const char *why_odd;
    int64_t newest_unix_ms; /* 0 = unknown: some result has no date */
    bool is_recording;      /* as it is, or a T4 file that this tool wrote: GPU, kernel and shapes stand in it */
    bool has_line1;         /* no recording, but it says what line 1 of one does: a T4 file that this tool wrote, which is to have another name */
    bool is_unfinished;     /* it is cut short, or the run that wrote it did not close it: what is complete is taken */
} mt_import_about;

/* Reads the file whole, at most 1 GiB of text, and tells its format by its content. Errors name file, line and entry. */
mt_status mt_import_open(const char *path, mt_import **import, mt_error *err);
/* The same from memory, which must live as long; `name` stands for the path. */
mt_status mt_import_open_bytes(const void *bytes, size_t length, const char *name, mt_import **import, mt_error *err);
/* The same, but a T4 file that this tool wrote is taken for results of one kernel on one GPU, that may be given another name. A recording stays one. */
mt_status mt_import_open_results(const char *path, mt_import **import, mt_error *err);
void mt_import_close(mt_import *import); /* NULL is a no-op */
const mt_import_about *mt_import_describe(const mt_import *import);

/* A recording's bytes, for mt_recording_import_bytes. */
const void *mt_import_recording(const mt_import *import, size_t *length);

/* The rest is for what is no recording. */

/* Adds a search-space file: every knob with its values, `points = recorded`; shape, workload, cache state and default point if the file says them. kernel, problem: as in the
 * description, or what a person says instead (problem may be NULL). Refuses values that such a file can't hold. */
mt_status mt_import_space(const mt_import *import, const char *kernel, const char *problem, mt_strbuf *ini, mt_error *err);
/* What a person says instead of the file, as members of line 1; NULL = as in the file. */
typedef struct mt_import_names {
    const char *kernel, *kernel_key; /* JSON strings */
    const char *gpu, *shape, *spec;  /* JSON objects */
} mt_import_names;
/* Adds line 1 and its line end, of a file that has one: everything else in it stays (toolchain, workload, cache state, default, final). */
mt_status mt_import_own_line1(mt_import *import, const mt_import_names *names, mt_strbuf *lines, mt_error *err);
/* Adds the lines of a recording behind line 1: the last result of each configuration, sorted by variant. */
mt_status mt_import_lines(const mt_import *import, const char *kernel, mt_strbuf *lines, mt_error *err);
