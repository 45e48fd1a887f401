/* A search space's text with those of the files that it includes: each stands in front of the file that includes it, behind a line that the
 * .ini reader understands (ini.h). A file that is included twice stands there once. */
#pragma once

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

/* Appends to *text. Circles, missing files and more than 64 files are errors that name the line of the `include`. A file without includes is
 * appended as it is. */
mt_status mt_include_read(const char *path, mt_strbuf *text, mt_error *err);
