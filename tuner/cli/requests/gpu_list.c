#include "tuner/cli/requests/gpu_list.h"

#include <string.h>

#include "tuner/base/text.h"

enum { MOST = 1023 };

static mt_status add(mt_gpu_list *list, int ordinal, mt_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->ordinals[i] == ordinal) return MT_OK;
    }
    if (list->count == MT_DEVICES_MAX) return MT_FAIL(err, MT_ERR_USAGE, "--gpu names more than %d GPUs", MT_DEVICES_MAX);
    list->ordinals[list->count++] = ordinal;
    return MT_OK;
}

mt_status mt_gpu_list_parse(const char *text, mt_gpu_list *list, mt_error *err)
{
    *list = (mt_gpu_list){.is_all = strcmp(text, "all") == 0};
    if (list->is_all || strcmp(text, "auto") == 0) return add(list, 0, err);
    for (const char *at = text;; at++) {
        int64_t ordinal;
        size_t length = strcspn(at, ",");
        if (!mt_text_int64(at, length, &ordinal) || ordinal < 0 || ordinal > MOST)
            return MT_FAIL(err, MT_ERR_USAGE, "--gpu is '%s', expected auto, all, a device number or several (0,1), or recorded:NAME", text);
        mt_status st = add(list, (int)ordinal, err);
        if (st != MT_OK) return st;
        at += length;
        if (!*at) return MT_OK;
    }
}
