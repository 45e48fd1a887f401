/* A default variant and its reference, run on the CPU: `msda-tune check --run`. The sources are compiled by the host's C++ compiler for blocks of fibers (shim/block.cuh); inputs and comparisons are the
 * GPU's. No CUDA is needed. */
#pragma once

#include "tuner/base/outcome.h"
#include "tuner/space/points/space.h"
#include "tuner/space/launch/plan.h"

typedef struct mt_cpu_output {
    size_t arg;
    bool passes;
    mt_accuracy accuracy;
    char *text; /* owned: as a GPU's verdict says it */
} mt_cpu_output;

typedef struct mt_cpu_report {
    const char *outcome; /* ok, wrong_result, out_of_bounds, wrote_input, deadlock, timeout, failed, refused; lives as long as the program */
    char *text;          /* why, where it is not ok; owned */
    bool is_of_reference; /* not of the variant */
    bool has_sanitizer;  /* reads and writes beside buffers are told */
    char *compiler;      /* owned */
    unsigned long long threads, reference_threads;
    mt_cpu_output *outputs; /* those that were compared; owned */
    size_t output_count;
    mt_plan plan;        /* the variant's; owned */
} mt_cpu_report;

typedef struct mt_cpu_request {
    const mt_spec *spec;
    const mt_shape *shape;
    const mt_workload *workload;
    const mt_device_facts *facts;
    const mt_point *point;
    double compile_limit_s, run_limit_s;
} mt_cpu_request;

/* How much there is to do with the shape, as a rough number, to choose the smallest: elements of what goes in and out. */
mt_status mt_cpu_size(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, double *size, mt_error *err);
/* MT_OK whatever comes of it; errors are of this machine or of the search space. */
mt_status mt_cpu_run(const mt_cpu_request *request, mt_cpu_report *report, mt_error *err);
void mt_cpu_report_free(mt_cpu_report *report); /* zeroed struct is fine */
