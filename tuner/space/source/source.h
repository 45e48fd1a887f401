/* The kernel's source with every file of the user's that it may include, read once, so that what is hashed is what is compiled: NVRTC gets these texts in memory, no folder but the toolkit's, and
 * runs in a folder that holds nothing. */
#pragma once

#include "tuner/space/source/source_files.h"
#include "tuner/space/spec/spec.h"

/* Follows #include and __has_include of all files and of -include, whatever conditions stand around them: "…" beside the including file, beside the source, then in the folders of [kernel] include and
 * of -I (from the .ini's folder); <…> in the folders only. Names found nowhere are left to NVRTC, which knows the toolkit's headers. A macro that names a file is followed through its definitions in the
 * files and in the options, whatever files these could name. What __has_include is asked for must be names, or macros that stand for names (askers.h). A file has one name, under which all spellings of it are compiled. */
mt_status mt_source_load(const mt_spec *spec, mt_source *source, mt_error *err);
/* The same as a compiler of the host reads it: headers of the host stay what they are, and <cuda_runtime.h> is included first. */
mt_status mt_source_load_for_host(const mt_spec *spec, mt_source *source, mt_error *err);
/* The host header whose stub the file is; NULL: one of the user's. */
const char *mt_source_stub_name(const mt_source_file *file);
/* The file that a line of a compiler's log is of, "NAME(LINE): …"; NULL: none of the source's. */
const mt_source_file *mt_source_file_of(const mt_source *source, const char *line);
void mt_source_free(mt_source *source); /* zeroed struct is fine */
/* Identity of the kernel: source, includes, options without paths, semantics (mt_spec_semantics), and the contents of a `reference = file:…`. */
mt_status mt_source_key(const mt_spec *spec, const mt_source *source, mt_hash *key, mt_error *err);
