/* One evaluation in a process of its own, for tools that start programs themselves (compute-sanitizer, ncu): `msda-tune worker once PARENT DEVICE CASE`. A case is a file with what a
 * device worker gets from the coordinator: one EVALUATE frame, then the bundle. */
#pragma once

#include "tuner/worker/proto.h"

/* Writes the frame, with another depth, and the bundle to `path`. */
mt_status mt_single_run_save(const char *path, const mt_strbuf *frame, mt_depth depth, int bundle_fd, mt_error *err);
/* *order owns its texts (mt_message_free); *bundle_fd is a memory file that the caller closes. */
mt_status mt_single_run_load(const char *path, mt_message *order, int *bundle_fd, mt_error *err);

typedef struct mt_single_run_command {
    const char *argv[32]; /* NULL-terminated */
    char numbers[2][24];
    char *self;
} mt_single_run_command;
/* Words of the tool in front (`prefix`, NULL-terminated), then this executable as `worker once`. Texts are borrowed; free with mt_single_run_command_free. */
mt_status mt_single_run_command_make(const char *const *prefix, int device, const char *case_path, mt_single_run_command *command, mt_error *err);
void mt_single_run_command_free(mt_single_run_command *command);
