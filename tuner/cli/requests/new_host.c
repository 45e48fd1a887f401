#include "tuner/cli/requests/new_host.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/signature_code.h"
#include "tuner/space/source/host_header.h"

/* The words of a declaration so far. */
typedef struct declaration {
    bool is_scope;    /* namespace, extern "C", struct: what its braces hold are declarations */
    bool is_struct;   /* … of fields */
    bool is_device;   /* it says for what it is made, or is no function */
    bool is_function; /* "int main(" */
    bool is_const;    /* what it declares does not change, and so is no variable of the host's */
    size_t names;
} declaration;

static bool includes_host(const char *code)
{
    bool is_found = false;
    for (const char *at = code; !is_found && (at = strstr(at, "include")) != NULL;) {
        mt_code_word word = (at += strlen("include"), mt_code_next(&at));
        if (!mt_code_is(word, "<")) continue;
        char *name = mt_strndup(at, strcspn(at, ">\n"));
        is_found = name && (mt_host_header_instead(name) || strcmp(name, "cuda.h") == 0 || strncmp(name, "thrust/", 7) == 0 || strncmp(name, "cublas", 6) == 0);
        mt_free(name);
    }
    return is_found;
}

/* A macro may say it: #define INLINE __device__ inline. */
static bool is_device_macro(const char *code, mt_code_word name)
{
    for (const char *at = code; (at = strstr(at, "define ")) != NULL;) {
        at += strlen("define ");
        size_t length = strcspn(at, "\n");
        const char *look = at;
        mt_code_word macro = mt_code_next(&look);
        bool is_same = macro.length == name.length && strncmp(macro.at, name.at, name.length) == 0;
        if (is_same && (memmem(at, length, "__device__", 10) || memmem(at, length, "__global__", 10))) return true;
    }
    return false;
}

static void note_word(declaration *at, const char *code, mt_code_word word)
{
    static const char *const scopes[] = {"namespace", "extern", "struct", "class", "union"}, *const others[] = {"__device__", "__global__", "__constant__", "__shared__", "__managed__", "using", "typedef", "enum", "static_assert", "friend"};
    bool is_name = mt_code_is_name(word);
    for (size_t i = 0; is_name && i < sizeof scopes / sizeof *scopes; i++) at->is_scope = at->is_scope || mt_code_is(word, scopes[i]);
    for (size_t i = 0; is_name && i < sizeof others / sizeof *others; i++) at->is_device = at->is_device || mt_code_is(word, others[i]);
    at->is_struct = at->is_struct || mt_code_is(word, "struct") || mt_code_is(word, "class") || mt_code_is(word, "union");
    at->is_device = at->is_device || (is_name && is_device_macro(code, word));
    if (mt_code_is(word, "const") || mt_code_is(word, "constexpr") || mt_code_is(word, "*")) at->is_const = !mt_code_is(word, "*");
    at->names += is_name;
}

static bool is_variable(const declaration *at)
{
    return at->names > 1 && !at->is_function && !at->is_device && !at->is_scope && !at->is_const;
}

bool mt_new_has_host_code(const char *source)
{
    bool is_host = false;
    char *code = mt_code_uncommented(source), *bare = mt_code_bare(source);
    declaration now = {0};
    size_t depth = 0, structs = 0; /* open braces of scopes; at which of them a struct began, from 1 */
    const char *at = bare;
    if (code && bare && !mt_text_has_word(source, "__CUDACC_RTC__")) is_host = includes_host(code);
    else at = NULL;
    for (mt_code_word word, before = {"", 0}; at && !is_host && (word = mt_code_next(&at)).length; before = word) {
        bool opens = *word.at == '{', closes = *word.at == '}';
        if (*word.at == '(') {
            bool is_attribute = strncmp(before.at, "__", 2) == 0 || mt_code_is(before, "alignas") || mt_code_is(before, "decltype");
            now.is_function = now.is_function || (now.names > 1 && !is_attribute);
            mt_code_skip(&at, '(', ')');
        } else if (mt_code_is(word, "template")) {
            const char *look = at;
            if (mt_code_is(mt_code_next(&look), "<")) at = look, mt_code_skip(&at, '<', '>');
        } else if (opens || closes || *word.at == ';') {
            bool is_scope = now.is_scope && !now.is_function;
            bool has_value = *word.at == ';' && now.is_const; /* const float half(0.5f); */
            is_host = (now.is_function && !now.is_device && !has_value) || (!opens && !closes && !structs && is_variable(&now));
            if (opens && !is_scope) mt_code_skip(&at, '{', '}');
            if (closes && depth && depth-- == structs) structs = 0;
            if (opens && is_scope && ++depth && now.is_struct && !structs) structs = depth;
            now = (declaration){0};
        } else if (*word.at == '=' || *word.at == '[') { /* values and sizes */
            is_host = *word.at == '=' && !structs && is_variable(&now);
            now.is_device = now.is_device || *word.at == '=';
            if (*word.at == '[') mt_code_skip(&at, '[', ']');
        } else note_word(&now, code, word);
    }
    MT_FREE_EACH(code, bare);
    return is_host;
}
