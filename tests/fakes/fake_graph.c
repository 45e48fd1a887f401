/* Stream capture: launches are kept with copies of their parameters and run when the graph is launched. */
#include <stdlib.h>
#include <string.h>

#include "tests/fakes/fake_api.h"

typedef struct node {
    struct node *next;
    CUfunction function;
    CUlaunchConfig config;
    unsigned char *values;
    void *parameters[FAKE_MAX_PARAMETERS];
} node;

struct CUgraph_st {
    node *first, **end;
    int holders; /* the graph and its executable share the nodes */
};

static CUgraph capturing;

bool fake_is_capturing(void)
{
    return capturing != NULL;
}

CUresult fake_capture(CUfunction function, const CUlaunchConfig *config, void **parameters)
{
    const fake_kernel *kernel = fake_kernel_of(function);
    size_t bytes = 0;
    if (!kernel) return CUDA_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < kernel->parameter_count; i++)
        bytes += kernel->parameter_bytes[i];
    node *added = calloc(1, sizeof *added);
    if (added) added->values = malloc(bytes ? bytes : 1);
    if (!added || !added->values) {
        free(added);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    added->function = function;
    added->config = *config;
    bytes = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        added->parameters[i] = memcpy(added->values + bytes, parameters[i], kernel->parameter_bytes[i]);
        bytes += kernel->parameter_bytes[i];
    }
    *capturing->end = added;
    capturing->end = &added->next;
    return CUDA_SUCCESS;
}

CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    capturing = calloc(1, sizeof *capturing);
    if (!capturing) return CUDA_ERROR_OUT_OF_MEMORY;
    capturing->end = &capturing->first;
    capturing->holders = 1;
    return CUDA_SUCCESS;
}

CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    *graph = capturing;
    capturing = NULL;
    return fake_state();
}

static void release(CUgraph graph)
{
    if (--graph->holders > 0) return;
    for (node *next, *at = graph->first; at; at = next) {
        next = at->next;
        free(at->values);
        free(at);
    }
    free(graph);
}

CUresult fake_cuGraphDestroy(CUgraph graph)
{
    release(graph);
    return fake_state();
}

CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    graph->holders++;
    *exec = (CUgraphExec)(void *)graph;
    return fake_state();
}

CUresult fake_cuGraphExecDestroy(CUgraphExec exec)
{
    release((CUgraph)(void *)exec);
    return fake_state();
}

CUresult fake_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    return fake_state();
}

CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUresult code = fake_state();
    (void)stream;
    for (node *at = ((CUgraph)(void *)exec)->first; at && code == CUDA_SUCCESS; at = at->next)
        code = fake_run(at->function, &at->config, at->parameters);
    return code;
}
