/* The part of NVRTC's interface that is used here, in our own words: NVRTC comes without typedefs for its functions, and its header
 * may be missing where the library is not. Source: docs.nvidia.com/cuda/nvrtc. */
#pragma once

#include <stddef.h>

typedef struct mt_nvrtc_program *mt_nvrtc_program; /* nvrtcProgram */

enum { MT_NVRTC_SUCCESS = 0, MT_NVRTC_INVALID_OPTION = 5, MT_NVRTC_COMPILATION = 6 };

/* name without "nvrtc", parameters; every one returns an nvrtcResult (int). */
#define MT_NVRTC_MAP(X)                                                                                         \
    X(Version, (int *major, int *minor))                                                                        \
    X(CreateProgram, (mt_nvrtc_program *program, const char *source, const char *name, int header_count,        \
                      const char *const *headers, const char *const *include_names))                            \
    X(DestroyProgram, (mt_nvrtc_program *program))                                                              \
    X(AddNameExpression, (mt_nvrtc_program program, const char *name))                                          \
    X(GetLoweredName, (mt_nvrtc_program program, const char *name, const char **lowered))                       \
    X(CompileProgram, (mt_nvrtc_program program, int option_count, const char *const *options))                 \
    X(GetProgramLogSize, (mt_nvrtc_program program, size_t *size))                                              \
    X(GetProgramLog, (mt_nvrtc_program program, char *log))                                                     \
    X(GetCUBINSize, (mt_nvrtc_program program, size_t *size))                                                   \
    X(GetCUBIN, (mt_nvrtc_program program, char *cubin))

typedef struct mt_nvrtc_api {
#define MT_NVRTC_FIELD(name, parameters) int(*name) parameters;
    MT_NVRTC_MAP(MT_NVRTC_FIELD)
#undef MT_NVRTC_FIELD
    const char *(*GetErrorString)(int result);
    int (*GetNumSupportedArchs)(int *count);  /* NULL where NVRTC is older than 11.2 or does not tell; then the next too */
    int (*GetSupportedArchs)(int *archs);     /* 75 … ascending */
} mt_nvrtc_api;
