/* What in a source asks whether a file is there: __has_include, and macros through which it is asked. NVRTC looks on the disk for an absolute path and does not list what it was asked for, so that all
 * that may be asked for must be told from the text; macros are not expanded. */
#pragma once

#include "tuner/space/source/directive.h"
#include "tuner/space/source/source_files.h"
#include "tuner/space/spec/spec.h"

typedef struct mt_definition {
    char *name, *body;  /* owned; the body: what stands behind the name in its line, parameters too */
    bool is_of_options; /* or of a knob */
} mt_definition;

typedef struct mt_askers {
    char **names; /* macros whose body asks, or has a macro that does */
    size_t count;
    mt_definition *definitions; /* of all macros of the source, the options and the knobs, sorted */
    size_t definition_count, definition_capacity;
} mt_askers; /* zeroed struct is empty */

/* What was found before is forgotten. */
mt_status mt_askers_find(const mt_spec *spec, const mt_source *source, mt_askers *askers, mt_error *err);
/* The definitions of that macro. */
const mt_definition *mt_askers_definitions(const mt_askers *askers, const char *name, size_t length, size_t *count);
/* From now on the walk finds what they ask for. */
void mt_askers_know(const mt_askers *askers, mt_directive_walk *walk);
/* An error that names the place where something else is asked for than names, and macros that stand for names. */
mt_status mt_askers_check(const mt_spec *spec, const mt_source *source, const mt_askers *askers, mt_error *err);
void mt_askers_free(mt_askers *askers);
