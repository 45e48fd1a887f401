#include "tuner/evaluate/compile_error.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/strbuf.h"

/* NVRTC ends at once at "catastrophic" errors, such as a header that is not there: these are the same whatever the knobs are. */
static bool says_error(const char *text, bool *is_catastrophic)
{
    static const char plain[] = "): error", catastrophic[] = "): catastrophic error";
    *is_catastrophic = strncmp(text, catastrophic, sizeof catastrophic - 1) == 0;
    return *is_catastrophic || strncmp(text, plain, sizeof plain - 1) == 0;
}

/* The first "NAME(LINE): error" of the log that names a file of the source; NULL: none does. */
static const mt_source_file *first_error(const mt_source *source, const char *log, long *line, bool *is_catastrophic)
{
    for (const char *at = log; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const mt_source_file *file = mt_source_file_of(source, at);
        char *end = NULL;
        if (file) *line = strtol(at + strlen(file->name) + 1, &end, 10);
        if (file && says_error(end, is_catastrophic)) return file;
    }
    return NULL;
}

/* Of a brace without an end: where it opens. The error in front is of what follows it. NULL: the log names none. */
static const mt_source_file *open_brace(const mt_source *source, const char *log, long *line)
{
    const char *at = strstr(log, "At end of source: error: expected a \"}\"");
    for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const mt_source_file *file = mt_source_file_of(source, at);
        const char *note = file ? strstr(at, "to match this \"{\"") : NULL;
        if (!note || note > at + strcspn(at, "\n")) continue;
        *line = strtol(at + strlen(file->name) + 1, NULL, 10);
        return file;
    }
    return NULL;
}

/* The name in front of the first parenthesis behind `text` that is no attribute's, as __launch_bounds__(…) is; NULL: there is none in this declaration. */
static const char *declared_name(const char *text, const char *end, size_t *length)
{
    for (const char *at = text; at < end && *at != ';' && *at != '{'; at++) {
        if (*at != '(') continue;
        const char *last = at, *first;
        while (last > text && isspace((unsigned char)last[-1])) last--;
        for (first = last; first > text && (isalnum((unsigned char)first[-1]) || first[-1] == '_'); first--) {}
        *length = (size_t)(last - first);
        if (*length && strncmp(first, "__", 2) != 0) return first;
        for (int depth = 0; at < end; at++) {
            depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
            if (!depth) break;
        }
    }
    return NULL;
}

/* Behind the braces that open first behind `text`; its end where none do. Those in literals and comments are counted too: most come in pairs. */
static const char *body_end(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
        if (depth <= 0 && *text == '}') return text + 1;
    }
    return text;
}

static bool has_body(const char *name)
{
    return name[strcspn(name, ";{")] == '{';
}

/* The function of the device's that begins last before the end of that line, and has not ended before it; is_outer: the first that has not, since a brace is missing in it. */
static const char *function_at(const char *text, long line, bool is_outer, size_t *length)
{
    static const char *const words[] = {"__global__", "__device__"};
    const char *begin = text, *end = text, *found = NULL;
    for (long i = 0; i < line && *end; i++) begin = end, end += strcspn(end, "\n"), end += *end == '\n';
    const char *whole = text + strlen(text); /* a declaration goes on behind the line with the mistake */
    for (const char *at = text; at < end; at++) {
        for (size_t w = 0; w < 2; w++) {
            size_t skipped = strlen(words[w]), name_length;
            const char *name = strncmp(at, words[w], skipped) == 0 ? declared_name(at + skipped, whole, &name_length) : NULL;
            if (!name || (is_outer && !(has_body(name) && body_end(name) > begin))) continue;
            found = name, *length = name_length;
            if (is_outer) return found;
        }
    }
    return found && body_end(found) > begin ? found : NULL;
}

static long line_of(const char *text, const char *at)
{
    long line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* Where a brace has no end, in the function that lacks it: the compiler stumbles over the next one. */
static bool tell_open_brace(const mt_source *source, const char *log, const mt_source_file *stumbled, long stumbled_line, mt_strbuf *where)
{
    long line;
    size_t length;
    const mt_source_file *file = open_brace(source, log, &line);
    if (!file) return false;
    const char *name = function_at(file->text, file == stumbled ? stumbled_line : LONG_MAX, true, &length);
    if (name) line = line_of(file->text, name);
    mt_strbuf_addf(where, "%s:%ld: ", file->path, line);
    if (name) mt_strbuf_addf(where, "in %.*s(): ", (int)length, name);
    mt_strbuf_add(where, "a brace has no end");
    if (stumbled) mt_strbuf_addf(where, " (the compiler stumbles in line %ld%s%s)", stumbled_line, file == stumbled ? "" : " of ", file == stumbled ? "" : stumbled->path);
    mt_strbuf_add(where, ": ");
    return true;
}

void mt_attribute_compile_error(const mt_source *source, bool is_by_default, const mt_pool_result *result, mt_error *error)
{
    const mt_compiled *compiled = result->compiled;
    const char *log = !compiled ? result->text : compiled->log ? compiled->log : "", *name = NULL;
    mt_strbuf where = {0};
    size_t length = 0;
    long line = 0;
    bool is_catastrophic = false;
    const mt_source_file *file = first_error(source, log, &line, &is_catastrophic);
    bool is_brace = tell_open_brace(source, log, file, line, &where);
    if (file && !is_brace) mt_strbuf_addf(&where, "%s:%ld: ", file->path, line);
    if (file && !is_brace && !is_catastrophic) name = function_at(file->text, line, false, &length);
    if (name) mt_strbuf_addf(&where, "in %.*s(): ", (int)length, name);
    mt_error_set(error, MT_ERR_COMPILE, "%sthe kernel's source does not compile%s:\n%s", mt_strbuf_text(&where),
                 is_by_default && !is_catastrophic ? " with the knobs of the default point" : "", log);
    mt_strbuf_free(&where);
}
