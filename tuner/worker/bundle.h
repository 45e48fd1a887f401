/* What every worker inherits: the search space and its source as one memory file, read once by the coordinator, so that what was
 * hashed is what is compiled, and workers parse the very same file. */
#pragma once

#include "tuner/space/source/source.h"

typedef struct mt_bundle {
    const char *path;    /* of the .ini */
    const char *text;    /* of the .ini */
    mt_source source;    /* its texts are owned by the bundle: mt_bundle_free, not mt_source_free */
} mt_bundle;

/* Writes spec->text and the source into a memory file. What was read is what workers get, whatever became of the files since. The caller closes *fd. */
mt_status mt_bundle_make(const mt_spec *spec, const mt_source *source, int *fd, mt_error *err);
/* Reads one; does not move fd's offset, which all workers share. */
mt_status mt_bundle_open(int fd, mt_bundle *bundle, mt_error *err);
void mt_bundle_free(mt_bundle *bundle); /* zeroed struct is fine */
