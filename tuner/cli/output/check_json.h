/* `msda-tune check --json`: the space's facts, what became of each shape's points, and what was found, as one object. */
#pragma once

#include "tuner/cli/output/check_table.h"
#include "tuner/space/source/source.h"
#include "tuner/space/points/space.h"

typedef struct mt_check_json {
    mt_strbuf shapes, messages; /* the items of the two arrays */
} mt_check_json; /* zero-initialise */

/* A finding. `text` may begin with "FILE:LINE: ", as messages about a search space do, or hold a compiler's log: then each of its "FILE(LINE): error: …" is one. */
void mt_check_json_message(mt_check_json *json, const mt_source *source, const char *severity, const char *text);
/* A shape's points, and what its compiles said. */
void mt_check_json_shape(mt_check_json *json, const mt_space *space, const mt_source *source, size_t checked, const mt_check_table *table);
/* The whole object on `out`; spec NULL = the file could not be read. */
void mt_check_json_print(const mt_check_json *json, FILE *out, const char *space_path, const mt_spec *spec, const char *gpu, const char *arch);
void mt_check_json_free(mt_check_json *json);
