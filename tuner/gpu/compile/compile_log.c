/* Reading NVRTC's log: what ptxas says of registers, and hints for errors whose cause is not obvious. */
#include "tuner/gpu/compile/compile_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/cpp_name.h"

typedef struct resources {
    uint32_t registers, spill_bytes, static_smem_bytes;
} resources;

/* The number in front of `unit` in the line, or 0: "ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem". */
static uint32_t number_before(const char *line, size_t length, const char *unit)
{
    const char *found = memmem(line, length, unit, strlen(unit));
    if (!found) return 0;
    const char *digit = found;
    while (digit > line && digit[-1] == ' ')
        digit--;
    while (digit > line && digit[-1] >= '0' && digit[-1] <= '9')
        digit--;
    return (uint32_t)strtoul(digit, NULL, 10);
}

static bool has(const char *line, size_t length, const char *text)
{
    return memmem(line, length, text, strlen(text)) != NULL;
}

/* "Compiling entry function 'NAME' for 'sm_90a'" begins an entry; what follows belongs to it. */
static bool names_one_of(const char *line, size_t length, const char *entries)
{
    const char *quote = memchr(line, '\'', length);
    if (!quote) return false;
    const char *name = quote + 1;
    const char *end = memchr(name, '\'', length - (size_t)(name - line));
    if (!end) return false;
    for (const char *entry = entries; *entry;) {
        size_t entry_length = strcspn(entry, "\n");
        if (entry_length == (size_t)(end - name) && memcmp(entry, name, entry_length) == 0) return true;
        entry += entry_length + (entry[entry_length] == '\n');
    }
    return false;
}

static void keep_larger(uint32_t *kept, uint32_t value)
{
    if (value > *kept) *kept = value;
}

bool mt_compile_resources(const char *log, const char *entries, uint32_t *registers, uint32_t *spill_bytes, uint32_t *static_smem_bytes)
{
    resources worst = {0};
    bool inside = false, seen = false;
    for (const char *line = log ? log : ""; *line;) {
        size_t length = strcspn(line, "\n");
        if (has(line, length, "Compiling entry function")) {
            inside = !entries[0] || names_one_of(line, length, entries);
        } else if (inside && has(line, length, "bytes spill stores")) {
            keep_larger(&worst.spill_bytes, number_before(line, length, "bytes spill stores") + number_before(line, length, "bytes spill loads"));
        } else if (inside && has(line, length, "registers")) {
            seen = true;
            keep_larger(&worst.registers, number_before(line, length, "registers"));
            keep_larger(&worst.static_smem_bytes, number_before(line, length, "bytes smem"));
        }
        line += length + (line[length] == '\n');
    }
    if (!seen) return false;
    *registers = worst.registers;
    *spill_bytes = worst.spill_bytes;
    *static_smem_bytes = worst.static_smem_bytes;
    return true;
}

/* "error: …", "Error: …", "error   : …", "catastrophic error: …", "error #20-D: …" */
static bool says_error(const char *at, size_t length)
{
    static const char *const words[] = {"error", "fatal"};
    for (size_t i = 0; i < 2; i++) {
        if (length < 5 || strncasecmp(at, words[i], 5) != 0) continue;
        const char *behind = at + 5;
        while (behind < at + length && (*behind == ' ' || *behind == '#' || *behind == '-' || (*behind >= '0' && *behind <= '9') || *behind == 'D')) behind++;
        if (behind < at + length && *behind == ':') return true;
    }
    return false;
}

/* What stands in quotes is the user's: a warning may name a variable `error`. */
const char *mt_compile_first_error(const char *log)
{
    for (const char *line = log; *line; line += line[0] == '\n') {
        size_t length = strcspn(line, "\n"), told = strcspn(line, "\"'\n");
        for (const char *at = line; at < line + told; at++)
            if ((at == line || at[-1] == ' ') && says_error(at, length - (size_t)(at - line))) return line;
        line += length;
    }
    return NULL;
}

/* Instructions that exist only in architecture-specific targets. ptxas names the instruction and the target it refused. */
static void add_target_hint(const char *log, mt_strbuf *hints)
{
    static const struct {
        const char *instruction, *needs;
    } rules[] = {
        {"'wgmma", "sm_90a"},
        {"'tcgen05", "sm_100a"},
        {"'setmaxnreg", "an architecture-specific target such as sm_90a"},
    };
    if (!strstr(log, "not supported on .target") && !strstr(log, "cannot be compiled for architecture")) return;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const char *found = strstr(log, rules[i].instruction);
        if (!found) continue;
        size_t length = strcspn(found + 1, "'");
        mt_strbuf_addf(hints, "msda-tune: %.*s needs %s\n", (int)length, found + 1, rules[i].needs);
        return;
    }
}

/* `x.cu(1): error: identifier "uint" is undefined`: nvcc includes some of the host's headers unasked, NVRTC none. */
static void add_name_hint(const char *log, mt_strbuf *hints)
{
    static const struct {
        const char *name, *instead;
    } names[] = {
        {"uint", "unsigned int"}, {"ushort", "unsigned short"}, {"ulong", "unsigned long"}, {"uchar", "unsigned char"}, {"ssize_t", "long"},
        {"int8_t", "#include <cstdint>"}, {"int16_t", "#include <cstdint>"}, {"int32_t", "#include <cstdint>"}, {"int64_t", "#include <cstdint>"}, {"uint8_t", "#include <cstdint>"}, {"uint16_t", "#include <cstdint>"},
        {"uint32_t", "#include <cstdint>"}, {"uint64_t", "#include <cstdint>"}, {"uintptr_t", "#include <cstdint>"}, {"FLT_MAX", "#include <cfloat>"}, {"FLT_MIN", "#include <cfloat>"}, {"FLT_EPSILON", "#include <cfloat>"}, {"DBL_MAX", "#include <cfloat>"},
        {"INT_MAX", "#include <climits>"}, {"INT_MIN", "#include <climits>"}, {"UINT_MAX", "#include <climits>"}, {"UINT32_MAX", "#include <cstdint>"}, {"INT32_MAX", "#include <cstdint>"}, {"UINT8_MAX", "#include <cstdint>"}, {"CHAR_BIT", "#include <climits>"}, {"LLONG_MAX", "#include <climits>"}, {"HUGE_VALF", "#include <cmath>"},
        {"INFINITY", "#include <cmath>"}, {"NAN", "#include <cmath>"}, {"M_PI", "#include <cmath>"},
        {"half", "#include <cuda_fp16.h>"}, {"__half", "#include <cuda_fp16.h>"}, {"__half2", "#include <cuda_fp16.h>"}, {"half2", "#include <cuda_fp16.h>"}, {"__nv_fp8_e4m3", "#include <cuda_fp8.h>"}, {"__nv_fp8_e5m2", "#include <cuda_fp8.h>"}, {"__nv_bfloat16", "#include <cuda_bf16.h>"}, {"nv_bfloat16", "#include <cuda_bf16.h>"},
        {"CUDART_PI_F", "#include <math_constants.h>"}, {"CUDART_INF_F", "#include <math_constants.h>"},
    };
    static const char text[] = "error: identifier \"";
    const char *found = strstr(log, text);
    size_t length = found ? strcspn(found + sizeof text - 1, "\"\n") : 0;
    for (size_t i = 0; found && i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != length || strncmp(names[i].name, found + sizeof text - 1, length) != 0) continue;
        bool is_header = names[i].instead[0] == '#';
        mt_strbuf_addf(hints, "msda-tune: %s comes from a header that nvcc includes unasked, and NVRTC does not: expected %s%s%s\n", names[i].name, is_header ? "" : "`", names[i].instead, is_header ? "" : "` in its place");
        return;
    }
}

/* "ptxas error   : Entry function 'k' uses too much shared data (0x40000 bytes, 0xc000 max)", "ptxas error   : File uses too much global constant data (0x40000 bytes, 0x10000 max)" */
static void add_size_hint(const char *log, mt_strbuf *hints)
{
    static const char text[] = " uses too much ";
    const char *found = strstr(log, text), *quote = found;
    if (!found) return;
    const char *what = found + sizeof text - 1, *numbers = what + strcspn(what, "(\n");
    unsigned long long bytes, limit;
    if (sscanf(numbers, "(%llx bytes, %llx max)", &bytes, &limit) != 2) return;
    mt_strbuf_add(hints, "msda-tune: ");
    if (found > log && found[-1] == '\'') {
        for (quote--; quote > log && quote[-1] != '\'' && quote[-1] != '\n';) quote--;
        size_t length = (size_t)(found - 1 - quote);
        if (!mt_cpp_name(quote, length, hints)) mt_strbuf_add_bytes(hints, quote, length);
        mt_strbuf_add(hints, ": ");
    }
    bool is_static = strncmp(what, "shared", 6) == 0;
    mt_strbuf_addf(hints, "%llu bytes of %s%.*s, limit %llu\n", bytes, is_static ? "static " : "", (int)(numbers - what - 1), what, limit);
}

/* ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources … */
bool mt_compile_serialized(const char *log, mt_strbuf *why)
{
    const char *found = log ? strstr(log, "wgmma.mma_async instructions are serialized") : NULL;
    if (!found) return false;
    mt_strbuf_add(why, "wgmma is serialised, many times slower than it should be: ptxas: ");
    mt_strbuf_add_bytes(why, found, strcspn(found, "\n"));
    return true;
}

/* `nvrtc: error: unrecognized option -O3 found` */
static void add_option_hint(const char *log, mt_strbuf *hints)
{
    static const char text[] = "unrecognized option ";
    const char *found = strstr(log, text), *option = found ? found + sizeof text - 1 : NULL, *blank = option ? strchr(option, ' ') : NULL;
    if (!found) return;
    if (strncmp(option, "-O", 2) == 0 && option[2] >= '0' && option[2] <= '9') mt_strbuf_addf(hints, "msda-tune: NVRTC has no %.3s, ptxas has: expected -Xptxas %.3s\n", option, option);
    else if (blank && strncmp(blank, " found", 6) != 0) mt_strbuf_addf(hints, "msda-tune: a text of a knob is one option: expected no blank in it, as in %.*s=%.*s\n", (int)(blank - option), option, (int)strcspn(blank + 1, " \n"), blank + 1);
}

void mt_compile_hints(const char *log, mt_strbuf *hints)
{
    add_option_hint(log, hints);
    add_target_hint(log, hints);
    add_size_hint(log, hints);
    add_name_hint(log, hints);
}

/* `nvrtc: error: invalid value for --std(-std)`: of other options NVRTC says what it expects. */
void mt_compile_standard_hint(const char *log, const char *const *options, size_t count, mt_strbuf *hints)
{
    if (!strstr(log, "invalid value for --std")) return;
    for (size_t i = 0; i < count; i++)
        if (strncmp(options[i], "-std=", 5) == 0 || strncmp(options[i], "--std=", 6) == 0) mt_strbuf_addf(hints, "msda-tune: %s is no standard that NVRTC knows: expected c++03, c++11, c++14, c++17 or c++20\n", options[i]);
}
