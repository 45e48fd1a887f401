/* What in a source asks whether a file is there: __has_include, and macros through which it is asked. NVRTC looks on the disk for an absolute path and does not list what it was asked for, so that all
 * that may be asked for must be told from the text; macros are not expanded. */
#ifndef MT_SPACE_ASKERS_H
#define MT_SPACE_ASKERS_H

#include "tuner/space/directive.h"
#include "tuner/space/source.h"

typedef struct mt_askers {
    char **names;
    size_t count;
} mt_askers; /* zeroed struct is empty */

/* Adds the macros of the source whose body asks, or has a macro that does. */
mt_status mt_askers_find(const mt_source *source, mt_askers *askers, mt_error *err);
/* From now on the walk finds what they ask for. */
void mt_askers_know(const mt_askers *askers, mt_directive_walk *walk);
/* An error that names the place where something else is asked for than names, and macros that stand for names. */
mt_status mt_askers_check(const mt_spec *spec, const mt_source *source, const mt_askers *askers, mt_error *err);
void mt_askers_free(mt_askers *askers);

#endif
