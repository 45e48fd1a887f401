/* Whose files are believed: what is run on the GPU must have been written by root or by this user. The same rule as the library's for databases (docs/security.md). */
#pragma once

#include <stddef.h>

#include "tuner/base/status.h"

/* IO error that names the folder (it must exist) and why, when it or one above it belongs to a stranger, or everybody may exchange files in it. `path` itself is not sticky-excused: a stranger
 * could add files to it. */
mt_status mt_trust_folder(const char *path, mt_error *err);
/* Reads a regular file, never through a link, of root or of this user, that no one else may write. As mt_file_read otherwise. */
mt_status mt_trust_read(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err);
