/* What of a row tells how it was launched, and how it did against a baseline plugin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/query.h"

double mt_row_metric(const mt_measurement_row *row, const char *name)
{
    char key[128];
    int length = snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = row->metrics_json && length > 0 && (size_t)length < sizeof key ? strstr(row->metrics_json, key) : NULL;
    return found ? strtod(found + length, NULL) : NAN;
}

static double metric(const mt_measurement_row *row, const char *plugin, const char *what)
{
    char name[96];
    int length = snprintf(name, sizeof name, "%s_%s", plugin, what);
    return length > 0 && (size_t)length < sizeof name ? mt_row_metric(row, name) : NAN;
}

bool mt_row_libraries(const mt_measurement_row *row, mt_row_library *library)
{
    static const char mark[] = "_best_ratio\":";
    const char *json = row->metrics_json ? row->metrics_json : "", *end = strstr(json, mark), *begin = end;
    while (begin && begin > json && begin[-1] != '"') begin--;
    if (!end || begin == json || (size_t)(end - begin) >= sizeof library->plugin) return false;
    *library = (mt_row_library){0};
    memcpy(library->plugin, begin, (size_t)(end - begin));
    library->first_ns = metric(row, library->plugin, "first_ns");
    library->first_ratio = metric(row, library->plugin, "first_ratio");
    library->best_ns = metric(row, library->plugin, "best_ns");
    library->best_ratio = metric(row, library->plugin, "best_ratio");
    library->best_low = metric(row, library->plugin, "best_ratio_low");
    library->best_high = metric(row, library->plugin, "best_ratio_high");
    library->is_limited = metric(row, library->plugin, "throttled") > 0;
    return true;
}

bool mt_row_is_programmatic(const mt_measurement_row *row)
{
    return row->launch_json && strstr(row->launch_json, "\"programmatic\":true");
}
