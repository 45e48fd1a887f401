/* Compiling with NVRTC or nvcc, and the cubin cache. Runs in compile workers; needs no GPU and no driver. */
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/status.h"
#include "tuner/gpu/compile/compile_request.h"
#include "tuner/gpu/compile/nvrtc.h"
#include "tuner/space/source/source.h"

/* A source that does not compile is MT_OK with ok = false. wgmma/setmaxnreg code compiled for a plain arch gets the hint "needs sm_90a" in the log; a missing toolkit header gets one line that says which
 * path to give. What NVRTC read without the request knowing of it (compile_reads.h) is refused likewise. What compiled is kept in cache_dir (compile_cache.h), key = hash(source, options, arch, the compiler, its headers). */
mt_status mt_compile(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_compile_result *result, mt_error *err);
void mt_compile_result_free(mt_compile_result *result); /* zeroed struct is fine */

/* Those of the toolkit's headers that the source may include, and with nvcc of the host's, for mt_compile_request; the caller's (mt_visible_free). */
mt_status mt_compile_headers(const mt_nvrtc *nvrtc, const mt_nvcc *nvcc, const mt_source *source, mt_visible **visible, mt_error *err);

/* The tool's own kernels (poison, guard, compare, flush, hold, clock …), tuner/gpu/support.cu, as a source for mt_compile. */
mt_status mt_compile_tool_source(mt_source *source, mt_error *err);
