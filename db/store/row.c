#include "db/store/row.h"

#include <string.h>

static const char *const origins[] = {
    [MT_ORIGIN_MEASURED] = "measured",
    [MT_ORIGIN_RECORDED] = "recorded",
    [MT_ORIGIN_IMPORTED] = "imported",
};

const char *mt_origin_name(mt_origin origin)
{
    return origins[origin];
}

bool mt_origin_from_name(const char *name, mt_origin *origin)
{
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        if (strcmp(name, origins[i]) != 0) continue;
        *origin = (mt_origin)i;
        return true;
    }
    return false;
}
