/* --diagnose: a variant whose fault was shown runs once more under compute-sanitizer, and what that says is added to the outcome's text. */
#pragma once

#include <uv.h>

#include "tuner/worker/proto.h"

typedef struct mt_diagnose_request {
    uv_loop_t *loop;
    const char *sanitizer;     /* path */
    int device, bundle_fd;
    const mt_strbuf *frame;    /* the variant's order */
    double limit_s;
    void (*done)(void *context, const char *text); /* what to add */
    void *context;
} mt_diagnose_request;

typedef struct mt_diagnosis mt_diagnosis;
/* `done` comes once, from the loop, unless an error is returned. */
mt_status mt_diagnose_start(const mt_diagnose_request *request, mt_diagnosis **diagnosis, mt_error *err);
void mt_diagnose_kill(mt_diagnosis *diagnosis); /* done follows */
