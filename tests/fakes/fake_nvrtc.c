/* A compiler that only looks for entries: the "cubin" is text with the architecture, the options and the extern "C" __global__ names. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/gpu/compile/nvrtc_api.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

struct mt_nvrtc_program {
    char *source, *name;
    char log[8192];
    char *cubin;
    size_t cubin_size;
    char names[16][128], lowered[16][128]; /* name expressions, and what stands for them in the "cubin": the name without its namespace and arguments */
    int name_count;
};

#define DECLARE(name, parameters) FAKE_EXPORT int nvrtc##name parameters;
MT_NVRTC_MAP(DECLARE)
#undef DECLARE
FAKE_EXPORT const char *nvrtcGetErrorString(int result);

const char *nvrtcGetErrorString(int result)
{
    switch (result) {
    case MT_NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case MT_NVRTC_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    default: return "NVRTC_ERROR_UNKNOWN";
    }
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 99; /* no real compiler's: the version is part of a cached cubin's key, and ours hold no code */
    return MT_NVRTC_SUCCESS;
}

int nvrtcCreateProgram(mt_nvrtc_program *program, const char *source, const char *name, int header_count, const char *const *headers, const char *const *include_names)
{
    (void)header_count, (void)headers, (void)include_names;
    *program = calloc(1, sizeof **program);
    if (!*program) return 1;
    (*program)->source = strdup(source);
    (*program)->name = strdup(name ? name : "source.cu");
    return (*program)->source && (*program)->name ? MT_NVRTC_SUCCESS : 1;
}

int nvrtcDestroyProgram(mt_nvrtc_program *program)
{
    free((*program)->source);
    free((*program)->name);
    free((*program)->cubin);
    free(*program);
    *program = NULL;
    return MT_NVRTC_SUCCESS;
}

int nvrtcAddNameExpression(mt_nvrtc_program program, const char *name)
{
    if (program->name_count == 16) return 1;
    const char *last = name;
    for (const char *at = strstr(name, "::"); at && !memchr(name, '<', (size_t)(at - name)); at = strstr(last, "::")) last = at + 2;
    snprintf(program->lowered[program->name_count], sizeof *program->lowered, "%.*s", (int)strcspn(last, "<("), last);
    snprintf(program->names[program->name_count++], sizeof *program->names, "%s", name);
    return MT_NVRTC_SUCCESS;
}

int nvrtcGetLoweredName(mt_nvrtc_program program, const char *name, const char **lowered)
{
    for (int i = 0; i < program->name_count; i++) {
        *lowered = program->lowered[i];
        if (strcmp(program->names[i], name) == 0) return MT_NVRTC_SUCCESS;
    }
    return 1;
}

static const char *option_value(int count, const char *const *options, const char *start)
{
    for (int i = 0; i < count; i++)
        if (strncmp(options[i], start, strlen(start)) == 0) return options[i] + strlen(start);
    return NULL;
}

/* The name behind `extern "C" __global__ void [__launch_bounds__(…)]`; *at moves behind it. */
static bool next_entry(const char **at, char *name, size_t size)
{
    const char *found = strstr(*at, "extern \"C\" __global__ void ");
    if (!found) return false;
    found += strlen("extern \"C\" __global__ void ");
    if (strncmp(found, "__launch_bounds__", strlen("__launch_bounds__")) == 0) {
        int depth = 0;
        for (found += strlen("__launch_bounds__"); *found; found++) {
            depth += *found == '(';
            depth -= *found == ')';
            if (*found == ')' && depth == 0) break;
        }
        found += *found == ')';
    }
    found += strspn(found, " \n");
    snprintf(name, size, "%.*s", (int)strcspn(found, " (\n"), found);
    *at = found;
    return true;
}

static void log_compile(const char *name, const char *behaviour, const char *block)
{
    char line[256];
    const char *path = getenv("MSDA_TUNE_FAKE_LOG");
    if (!path || !path[0]) return;
    int length = snprintf(line, sizeof line, "compile %s %s %s\n", name, behaviour, block);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    if (write(fd, line, (size_t)length) < 0) perror(path);
    close(fd);
}

static int make_cubin(mt_nvrtc_program program, int count, const char *const *options)
{
    char name[128];
    size_t log_length = 0;
    FILE *out = open_memstream(&program->cubin, &program->cubin_size);
    if (!out) return 1;
    fprintf(out, "FAKE-CUBIN 1\n");
    for (int i = 0; i < count; i++)
        if (strncmp(options[i], "-I", 2) != 0 && strncmp(options[i], "-DIDLE", 6) != 0 && strncmp(options[i], "-Xcudafe=", 9) != 0) fprintf(out, "option %s\n", options[i]);
    const char *stamp = getenv("MSDA_TUNE_FAKE_STAMP");
    if (stamp) fprintf(out, "stamp %s\n", stamp);
    const char *variable = strstr(program->source, "__constant__ float ");
    if (variable) {
        variable += strlen("__constant__ float ");
        int length = (int)strcspn(variable, "[");
        fprintf(out, "variable %.*s %lu\n", length, variable, strtoul(variable + length + 1, NULL, 10));
    }
    for (const char *at = program->source; next_entry(&at, name, sizeof name);) {
        fprintf(out, "entry %s\n", name);
        if (log_length < sizeof program->log - 512)
            log_length += (size_t)snprintf(program->log + log_length, sizeof program->log - log_length,
                                           "ptxas info    : Compiling entry function '%s' for 'fake'\n"
                                           "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                                           "ptxas info    : Used 32 registers, used 0 barriers\n", name);
    }
    fputc('\0', out); /* the driver takes it for a string */
    return fclose(out) == 0 ? MT_NVRTC_SUCCESS : 1;
}

int nvrtcCompileProgram(mt_nvrtc_program program, int count, const char *const *options)
{
    const char *behaviour = option_value(count, options, "-DBEHAVIOUR=BEHAVIOUR_"), *block = option_value(count, options, "-DBLOCK=");
    bool is_support = option_value(count, options, "-DMT_SUPPORT=") != NULL;
    const char *unknown = getenv("MSDA_TUNE_FAKE_OLD_NVRTC");
    if (unknown && option_value(count, options, unknown)) return MT_NVRTC_INVALID_OPTION;
    log_compile(program->name, is_support ? "support" : behaviour ? behaviour : "-", block ? block : "-");
    const char *once = getenv("MSDA_TUNE_FAKE_HANG_ONCE"), *slow = getenv("MSDA_TUNE_FAKE_COMPILE_MS");
    if (slow) usleep((useconds_t)atoi(slow) * 1000);
    while (once && unlink(once) == 0) pause();
    const char *killed = getenv("MSDA_TUNE_FAKE_KILLED");
    if (killed && !is_support && behaviour && strcmp(behaviour, killed) == 0) raise(SIGKILL);
    while (!is_support && behaviour && strcmp(behaviour, "compile_hang") == 0)
        pause();
    const char *missing = getenv("MSDA_TUNE_FAKE_MISSING_HEADER");
    if (!is_support && missing && strstr(program->source, missing)) {
        snprintf(program->log, sizeof program->log, "%s(1): catastrophic error: cannot open source file \"%s\"\n", program->name, missing);
        return MT_NVRTC_COMPILATION;
    }
    if (!is_support && behaviour && strcmp(behaviour, "compile_error") == 0) {
        snprintf(program->log, sizeof program->log, "%s(9): error: #error directive: \"BEHAVIOUR = compile_error\"\n", program->name);
        return MT_NVRTC_COMPILATION;
    }
    int code = make_cubin(program, count, options);
    if (!is_support && behaviour && strcmp(behaviour, "too_much_smem") == 0) { /* as NVRTC 13 does: with -v the reason is lost */
        if (!option_value(count, options, "--ptxas-options=-v"))
            snprintf(program->log, sizeof program->log, "ptxas error   : Entry function 'k' uses too much shared data (0x40000 bytes, 0xc000 max)\n");
        return MT_NVRTC_COMPILATION;
    }
    if (!is_support && behaviour && strcmp(behaviour, "serialized") == 0)
        snprintf(program->log + strlen(program->log), sizeof program->log - strlen(program->log),
                 "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'k'\n");
    return code;
}

int nvrtcGetProgramLogSize(mt_nvrtc_program program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return MT_NVRTC_SUCCESS;
}

int nvrtcGetProgramLog(mt_nvrtc_program program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return MT_NVRTC_SUCCESS;
}

int nvrtcGetCUBINSize(mt_nvrtc_program program, size_t *size)
{
    *size = program->cubin_size;
    return MT_NVRTC_SUCCESS;
}

int nvrtcGetCUBIN(mt_nvrtc_program program, char *cubin)
{
    memcpy(cubin, program->cubin, program->cubin_size);
    return MT_NVRTC_SUCCESS;
}
