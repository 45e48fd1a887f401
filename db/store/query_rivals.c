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

bool mt_row_rivals(const mt_measurement_row *row, mt_row_rival *rival)
{
    static const char mark[] = "_best_ratio\":";
    const char *json = row->metrics_json ? row->metrics_json : "", *end = strstr(json, mark), *begin = end;
    while (begin && begin > json && begin[-1] != '"') begin--;
    if (!end || begin == json || (size_t)(end - begin) >= sizeof rival->plugin) return false;
    *rival = (mt_row_rival){0};
    memcpy(rival->plugin, begin, (size_t)(end - begin));
    rival->first_ns = metric(row, rival->plugin, "first_ns");
    rival->first_ratio = metric(row, rival->plugin, "first_ratio");
    rival->best_ns = metric(row, rival->plugin, "best_ns");
    rival->best_ratio = metric(row, rival->plugin, "best_ratio");
    rival->best_low = metric(row, rival->plugin, "best_ratio_low");
    rival->best_high = metric(row, rival->plugin, "best_ratio_high");
    rival->is_limited = metric(row, rival->plugin, "throttled") > 0;
    return true;
}

bool mt_row_is_programmatic(const mt_measurement_row *row)
{
    return row->launch_json && strstr(row->launch_json, "\"programmatic\":true");
}
