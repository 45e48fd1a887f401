/* C++ names in a compile: those that the launches take are asked of NVRTC, and their names in compiled code are written behind the cubin (db/cubin_names.h). */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"
#include "tuner/gpu/compile/nvrtc_internal.h"

/* The name behind MT_NAME_OPTION; NULL: it is another option. */
const char *mt_compile_name_of(const char *option);
/* Before the compile. */
mt_status mt_compile_names_ask(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, mt_error *err);
/* The same for nvcc, which has no name expressions: lines for the source's end, of a table of pointers whose relocations name the kernels. */
mt_status mt_compile_names_table(const mt_compile_request *request, mt_strbuf *text, mt_error *err);
/* After it: the cubin in `image` gets the names, where there are any. `program`: NVRTC's, which tells; of nvcc's cubin the table does. */
mt_status mt_compile_names_add(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, mt_strbuf *image, mt_error *err);
/* Adds a line about the name that made the compile fail, with the kernels that the source has. */
mt_status mt_compile_names_hint(const mt_compile_request *request, const char *log, mt_strbuf *hints, mt_error *err);
