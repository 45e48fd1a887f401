#include "tuner/cli/output/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether `out` is a terminal whose owner did not ask for none. */
static bool takes_color(FILE *out)
{
    const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(refused && *refused) && term && strcmp(term, "dumb") != 0 && isatty(fileno(out));
}

void mt_color_print(FILE *out, mt_color color, const char *text)
{
    static const char *const begin[] = {[MT_COLOR_GOOD] = "\033[32m", [MT_COLOR_BAD] = "\033[31m"}; /* of the terminal's own palette, which fits its background */
    bool is_colored = color != MT_COLOR_NONE && takes_color(out);
    fprintf(out, "%s%s%s", is_colored ? begin[color] : "", text, is_colored ? "\033[0m" : "");
}
