/* Between spec_short.c and spec_like.c: a file's sections on their way from the short forms to the long ones. */
#pragma once

#include "tuner/space/spec/spec_internal.h"

typedef struct mt_short {
    mt_reader *reader;  /* for messages */
    const mt_ini *in;   /* as it was written */
    mt_ini out;         /* without short forms, as far as it has come */
    size_t shape_values; /* written so far: bounds what `like` can make of a small file */
} mt_short;

/* [shapes]: its keys stand for those that the file's [shape]s do not give. [shapes A | B]: `NAME = a | b` on each line is a [shape NAME] with these values. */
mt_status mt_short_write_shapes(mt_short *all, const mt_ini_section *section, mt_error *err);
/* [shape NAME] with the values of the shape that it is like and of its file's [shapes]. */
mt_status mt_short_write_shape(mt_short *all, const mt_ini_section *section, mt_error *err);
