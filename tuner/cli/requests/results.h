/* Results of other tools on their way into recordings: what the file does not say comes from the command line. */
#pragma once

#include "db/exchange/recording/import.h"

typedef struct mt_results_options {
    const char *gpu, *name, *problem; /* --gpu, --name, --problem-size; NULL = the file's */
    const char *space_path;           /* --space-out; NULL = NAME.ini in the current folder, which is not overwritten */
} mt_results_options;

typedef struct mt_results {
    mt_strbuf recording;              /* as mt_recording_import_bytes takes it */
    mt_strbuf space_path, space;      /* the search space: where it is to stand, and its text */
    char model[64];                   /* for --gpu recorded:MODEL */
} mt_results; /* zero-initialise */

/* Makes the recording and the search space. USAGE where something is missing, or another search space stands in the place. */
mt_status mt_results_convert(mt_import *import, const char *path, const mt_results_options *options, mt_results *results, mt_error *err);
/* Once the rows are where they belong: an import that fails leaves nothing behind. */
mt_status mt_results_write_space(const mt_results *results, mt_error *err);
void mt_results_free(mt_results *results);
