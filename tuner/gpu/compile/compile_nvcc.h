/* One compile with nvcc. */
#pragma once

#include "tuner/gpu/compile/compile_cache.h"

/* With request->nvcc: what NVRTC does for others. A source that does not compile is MT_OK with ok = false. */
mt_status mt_compile_with_nvcc(const mt_compile_request *request, mt_cache_entry *entry, mt_compile_result *result, mt_error *err);
