/* check --run: the default variant and the reference, on the CPU. */
#pragma once

#include "tuner/base/texts.h"
#include "tuner/space/facts.h"
#include "tuner/space/spec/spec.h"

typedef struct mt_check_run_request {
    const char *path;
    const mt_spec *spec;
    const mt_texts *shapes;  /* names of the spec's; none = its smallest one */
    const mt_device_facts *facts;
    double compile_limit_s, run_limit_s;
    bool json;
} mt_check_run_request;

/* The values of the smallest shape of the space at `path`, those of `sets` ("N=64") in their place, as --shape takes them. */
mt_status mt_check_run_values(const char *path, const mt_texts *sets, const mt_device_facts *facts, mt_texts *values, mt_error *err);
/* Prints what came of it. COMPILE, SPEC or UNSUPPORTED error where that is not what it should be. */
mt_status mt_check_run(const mt_check_run_request *request, mt_error *err);
