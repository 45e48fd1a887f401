/* Colour for what a person looks for first: what is fastest, what became slower. On terminals only; NO_COLOR (any text) and TERM=dumb switch it off. Texts say the same without it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef enum mt_color { MT_COLOR_NONE, MT_COLOR_GOOD, MT_COLOR_BAD } mt_color;

/* Prints `text` in the colour where it fits, else as it is. */
void mt_color_print(FILE *out, mt_color color, const char *text);
