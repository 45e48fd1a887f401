/* The kernel's source with every file it includes by "…", read once, so that what is hashed is what is compiled. */
#ifndef MT_SPACE_SOURCE_H
#define MT_SPACE_SOURCE_H

#include "tuner/space/spec.h"

typedef struct mt_source_file {
    char *name; /* as NVRTC sees it: the text between the quotes; the main file's base name for files[0] */
    char *path; /* where it was found */
    char *text;
} mt_source_file;

typedef struct mt_source {
    mt_source_file *files; /* files[0] is the .cu */
    size_t file_count;
} mt_source;

/* Follows #include "…" beside the including file, then beside the source, then in the spec's include folders; names found nowhere and <…> are
 * left to NVRTC's own search path. Two different files under one name are refused. */
mt_status mt_source_load(const mt_spec *spec, mt_source *source, mt_error *err);
void mt_source_free(mt_source *source); /* zeroed struct is fine */
/* Identity of the kernel: source, includes, options, semantics (mt_spec_semantics), and the contents of a `reference = file:…`. */
mt_status mt_source_key(const mt_spec *spec, const mt_source *source, mt_hash *key, mt_error *err);

#endif
