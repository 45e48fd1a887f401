/* The files of one compile with nvcc, in a folder of its own, so that nvcc reads the very texts that are hashed, by the names that they have in the source (source_files.h). */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"

#define MT_NVCC_READS "reads"

/* Writes them into the folder (source_folder.h). The main file begins with the macros of the request; its errors have the lines of the source. */
mt_status mt_nvcc_files_write(const mt_compile_request *request, const char *folder, mt_texts *folders, mt_error *err);
/* What is wrong with what the compile read, by its own list in `folder`: a file that is neither of the folder nor in request->visible. Adds a line that names it; false: nothing. */
mt_status mt_nvcc_reads_unknown(const mt_compile_request *request, const char *folder, mt_strbuf *why, bool *is_unknown, mt_error *err);
