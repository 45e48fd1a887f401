/* Between space.c (queries), space_walk.c (enumeration) and space_default.c. */
#ifndef MT_SPACE_SPACE_INTERNAL_H
#define MT_SPACE_SPACE_INTERNAL_H

#include "tuner/space/scene_internal.h"
#include "tuner/space/space.h"

struct mt_space {
    const mt_spec *spec;
    const mt_shape *shape;
    mt_device_facts facts;

    /* Points packed as level + 1 (0 = inactive), one byte per knob or two where a knob has more than 254 values. */
    unsigned char *points;
    size_t count, capacity, stride;
    uint16_t offset[MT_MAX_PARAMS];
    bool is_wide[MT_MAX_PARAMS];
    uint32_t *index; /* open addressing: point number + 1; 0 = empty */
    size_t index_size;

    bool is_listed;          /* made of a list of points */
    uint64_t not_listed;     /* the others */
    uint64_t raw_count;
    uint64_t *pruned; /* per kind */
    bool *is_exact;
    uint64_t when_knobs[MT_MAX_PARAMS];
};

/* One condition: a constraint or a variant's `requires`. */
typedef struct mt_check {
    const mt_expr *expr;
    size_t kind;     /* index for mt_space_pruned */
    int variant;     /* −1: all */
    uint64_t knobs;  /* that it reads */
    int depth;       /* the last of them; −1: none */
    size_t *lets;    /* that it needs, in order of evaluation */
    size_t let_count;
} mt_check;

/* All conditions in the file's order, constraints first; *count of them. mt_checks_free them. */
mt_status mt_checks_make(const mt_spec *spec, mt_check **checks, size_t *count, mt_error *err);
void mt_checks_free(mt_check *checks, size_t count);

/* Fills points, raw_count and the pruned counts (space_walk.c). `watch`: may be NULL. */
mt_status mt_space_walk(mt_space *space, const mt_space_watch *watch, mt_error *err);

/* Over the points, once they are all there (space.c). */
mt_status mt_space_build_index(mt_space *space, mt_error *err);
/* An empty space with its layout; mt_space_free it. */
mt_status mt_space_begin(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **space, mt_error *err);
void mt_space_pack(const mt_space *space, const mt_point *point, unsigned char *bytes);
/* Whether knob `param` is active for the knobs set before it. */
mt_status mt_space_is_active(const mt_scene *scene, size_t param, bool *is_active, mt_error *err);

#endif
