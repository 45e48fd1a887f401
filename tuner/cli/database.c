#include "tuner/cli/database.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

mt_status mt_database_missing(const char *path, mt_error *err)
{
    if (strcmp(path, ":memory:") == 0) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "--db :memory: is always empty here; expected a file that msda-tune wrote");
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no database yet; msda-tune --gpu auto --space FILE makes one", path);
}

mt_status mt_database_open_as(const char *option, mt_store_mode mode, mt_store **store, mt_error *err)
{
    char *path = NULL;
    mt_status st = MT_OK;
    MT_TRY(mt_store_default_path(option, &path, err));
    if (!mt_file_exists(path)) {
        st = mt_database_missing(path, err);
        goto done;
    }
    MT_TRY(mt_store_open(path, mode, store, err));
done:
    mt_free(path);
    return st;
}

mt_status mt_database_open(const char *option, mt_store **store, mt_error *err)
{
    return mt_database_open_as(option, MT_STORE_READ_ONLY, store, err);
}

void mt_filter_fill(const mt_filter_values *values, mt_filter_box *box)
{
    *box = (mt_filter_box){.filter = {.gpu = values->gpu, .kernel = values->kernel, .shape = values->shape, .workload = values->workload}};
    if (values->regime) {
        box->regime = (mt_regime)(values->regime - 1);
        box->filter.regime = &box->regime;
    }
    if (values->origin) {
        box->origin = (mt_origin)(values->origin - 1);
        box->filter.origin = &box->origin;
    }
}
