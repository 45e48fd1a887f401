#include "tuner/cpu/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/space/signature/signature_code.h"

/* Where the text is, by its line marks. */
typedef struct place {
    const char *file; /* in quotes */
    size_t length;
    long line;
    bool is_of_source;
} place;

static bool is_of_source(const mt_source *source, const char *name, size_t length)
{
    for (size_t i = 0; i < source->file_count; i++)
        if (strlen(source->files[i].name) == length && strncmp(source->files[i].name, name, length) == 0) return true;
    return false;
}

/* `# 12 "k.cu" 2` at the start of a line. */
static void read_mark(const mt_source *source, const char *mark, place *at)
{
    char *end;
    long line = strtol(mark + 1, &end, 10);
    const char *quote = end > mark + 1 && *end == ' ' && end[1] == '"' ? end + 2 : NULL;
    if (!quote) return;
    *at = (place){quote, strcspn(quote, "\"\n"), line - 1, false}; /* the mark's own line end counts */
    at->is_of_source = is_of_source(source, at->file, at->length);
}

static void count_lines(place *at, const char *from, const char *to)
{
    for (; from < to; from++) at->line += *from == '\n';
}

static void add_line_ends(mt_strbuf *out, const char *from, const char *to)
{
    for (; from < to; from++)
        if (*from == '\n') mt_strbuf_add_char(out, '\n');
}

static bool is_word_in(mt_code_word word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mt_code_is(word, words[i])) return true;
    return false;
}

/* ---- assembler ---- */

/* What the first literal begins with: "cp.async.cg.shared.global" */
static void add_instruction(const char *from, const char *to, mt_strbuf *out)
{
    const char *quote = memchr(from, '"', (size_t)(to - from));
    if (!quote) return;
    quote += 1 + strspn(quote + 1, " \t{");
    size_t length = strspn(quote, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:");
    if (length) mt_strbuf_addf(out, " (%.*s)", (int)(length < 60 ? length : 60), quote);
}

/* Without an instruction: it holds the compiler back, and nothing else. */
static bool is_empty(const char *from, const char *to)
{
    const char *quote = memchr(from, '"', (size_t)(to - from));
    const char *text = quote ? quote + 1 + strspn(quote + 1, " \t") : "";
    return *text == '"' || strncmp(text, "//", 2) == 0;
}

/* `asm volatile("…" : …)`, of which *at stands behind the first word. False: a label of a declaration, or something else. */
static bool take_assembler(const char **at, const place *here, mt_strbuf *out)
{
    static const char *const qualifiers[] = {"volatile", "__volatile__", "__volatile", "inline", "goto"};
    const char *start = *at, *next = *at;
    mt_code_word word = mt_code_next(&next);
    while (is_word_in(word, qualifiers, sizeof qualifiers / sizeof *qualifiers)) word = mt_code_next(&next);
    if (!mt_code_is(word, "(")) return false;
    const char *close = mt_code_skip(&next, '(', ')');
    if (is_empty(start, close)) {
        mt_strbuf_add(out, "((void)0)");
        add_line_ends(out, start, next);
        *at = next;
        return true;
    }
    mt_strbuf_addf(out, "mt_cpu::refuse(\"%.*s\", %ld, \"inline PTX", (int)here->length, here->file, here->line);
    add_instruction(start, close, out);
    mt_strbuf_add(out, "\")");
    add_line_ends(out, start, next);
    *at = next;
    return true;
}

/* ---- code of the host ---- */

/* What only the host calls: CUDA's runtime, but for the two functions that kernels have, and launches. */
static bool is_of_host(mt_code_word word, const char *behind)
{
    static const char *const of_kernels[] = {"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"};
    if (mt_code_is(word, "<") && behind[0] == '<' && behind[1] == '<') return true;
    return word.length > 4 && strncmp(word.at, "cuda", 4) == 0 && word.at[4] >= 'A' && word.at[4] <= 'Z' && mt_code_is(mt_code_next(&behind), "(") && !is_word_in(word, of_kernels, 2);
}

/* The body of a function, behind whose `{` *at stands: one that only the host can run has a word in its place. False: another. */
static bool take_host_body(const char **at, const place *here, mt_strbuf *out)
{
    const char *next = *at, *close = mt_code_skip(&next, '{', '}');
    mt_code_word word;
    for (const char *inside = *at; (word = mt_code_next(&inside)).length && word.at < close;) {
        if (!is_of_host(word, inside)) continue;
        mt_strbuf_addf(out, "{ mt_cpu::refuse(\"%.*s\", %ld, \"code of the host (%.*s)\");", (int)here->length, here->file, here->line, mt_code_is(word, "<") ? 3 : (int)word.length, word.at);
        add_line_ends(out, *at, next);
        mt_strbuf_add(out, "}");
        *at = next;
        return true;
    }
    return false;
}

/* ---- shared memory ---- */

/* Parts of a declaration that are no type: alignas(16), __attribute__((aligned(16))). */
static bool is_attribute(mt_code_word word)
{
    static const char *const words[] = {"alignas", "__attribute__", "__attribute", "__declspec"};
    return is_word_in(word, words, sizeof words / sizeof *words);
}

/* `extern __shared__ T name[]`, of which *at stands behind the first word, in either order. False: another declaration. */
static bool take_dynamic(const char **at, bool is_shared, mt_strbuf *out)
{
    const char *start = *at, *next = *at;
    mt_strbuf type = {0};
    mt_code_word word, name = {0};
    bool is_extern = !is_shared, is_array = false;
    while (!is_array && (word = mt_code_next(&next)).length && !mt_code_is(word, ";") && !mt_code_is(word, "{")) {
        const char *behind = next;
        if (is_attribute(word)) {
            if (mt_code_is(mt_code_next(&behind), "(")) mt_code_skip(&behind, '(', ')');
            next = behind;
        } else if (mt_code_is(word, "__shared__")) {
            is_shared = true;
        } else if (mt_code_is(word, "extern")) {
            is_extern = true;
        } else if (mt_code_is(word, "[")) {
            is_array = is_shared && is_extern && name.length && mt_code_is(mt_code_next(&next), "]");
            if (!is_array) break;
        } else {
            if (name.length) mt_strbuf_addf(&type, "%.*s ", (int)name.length, name.at);
            name = word;
        }
    }
    if (is_array) mt_strbuf_addf(out, "static %s*const %.*s = (%s*)mt_cpu::dynamic_shared", mt_strbuf_text(&type), (int)name.length, name.at, mt_strbuf_text(&type));
    if (is_array) add_line_ends(out, start, next);
    if (is_array) *at = next;
    mt_strbuf_free(&type);
    return is_array;
}

/* The names that a declaration declares, of which `from` begins behind __shared__: those in front of `[`, `,` and `;` outside of brackets. *end: behind its `;`. */
static size_t declared_names(const char *from, mt_code_word *names, size_t most, const char **end)
{
    size_t count = 0;
    int angles = 0;
    bool is_named = false;
    mt_code_word word, last = {0};
    for (*end = from; (word = mt_code_next(end)).length && !mt_code_is(word, "{");) {
        bool ends = mt_code_is(word, ";") || (mt_code_is(word, ",") && angles == 0);
        if ((ends || (mt_code_is(word, "[") && angles == 0)) && !is_named && mt_code_is_name(last) && count < most) names[count++] = last, is_named = true;
        if (mt_code_is(word, ";")) return count;
        if (ends) is_named = false;
        if (mt_code_is(word, "(")) mt_code_skip(end, '(', ')');
        else if (mt_code_is(word, "[")) mt_code_skip(end, '[', ']');
        else if (mt_code_is(word, "<")) angles++;
        else if (mt_code_is(word, ">")) angles--;
        last = word;
    }
    return 0;
}

/* `__shared__ T name[n];`, of which *at stands behind the first word, becomes memory of its own, so that what lies beside it is told: a struct of the declaration, and references to its members. What
 * stands behind other words, as `volatile __shared__` does, is a plain variable. */
static bool take_static(const char **at, bool is_first, const place *here, mt_strbuf *out)
{
    enum { MOST_NAMES = 32 };
    const char *end = *at;
    mt_code_word names[MOST_NAMES];
    size_t count = is_first ? declared_names(*at, names, MOST_NAMES, &end) : 0;
    if (!count) {
        mt_strbuf_add(out, "static");
        return true;
    }
    mt_strbuf_addf(out, "struct mt_shared_%ld_%.*s {", here->line, (int)names[0].length, names[0].at);
    mt_strbuf_add_bytes(out, *at, (size_t)(end - *at));
    mt_strbuf_add(out, "};");
    for (size_t i = 0; i < count; i++)
        mt_strbuf_addf(out, " static auto &%.*s = mt_cpu::shared<mt_shared_%ld_%.*s>(\"%.*s\", sizeof(std::remove_all_extents_t<decltype(mt_shared_%ld_%.*s::%.*s)>))->%.*s;", (int)names[i].length, names[i].at, here->line,
                       (int)names[0].length, names[0].at, (int)names[i].length, names[i].at, here->line, (int)names[0].length, names[0].at, (int)names[i].length, names[i].at, (int)names[i].length, names[i].at);
    *at = end;
    return true;
}

void mt_cpu_rewrite(const mt_source *source, const char *text, mt_strbuf *out)
{
    static const char *const assembler[] = {"asm", "__asm__", "__asm"};
    static const char *const ends[] = {";", "{", "}", ")", ":"};
    place here = {.line = 1};
    mt_code_word last = {0};
    const char *at = text;
    if (*text == '#') read_mark(source, text, &here);
    while (*at) {
        const char *line_end = strchr(at, '\n'), *end = line_end ? line_end + 1 : at + strlen(at);
        if (*at == '#' || !here.is_of_source) { /* marks, pragmas, and headers of the host */
            if (*at == '#') read_mark(source, at, &here);
            mt_strbuf_add_bytes(out, at, (size_t)(end - at));
            here.line += line_end != NULL;
            at = end;
            continue;
        }
        const char *next = at;
        mt_code_word word = mt_code_next(&next);
        const char *mark = word.length ? memchr(at, '\n', (size_t)(word.at - at)) : NULL; /* a line that begins between the words may be a mark */
        if (!word.length || mark) {
            const char *to = mark ? mark + 1 : end;
            mt_strbuf_add_bytes(out, at, (size_t)(to - at));
            count_lines(&here, at, to);
            at = to;
            continue;
        }
        const char *behind = next;
        bool is_first = !last.length || is_word_in(last, ends, sizeof ends / sizeof *ends);
        mt_strbuf_add_bytes(out, at, (size_t)(word.at - at));
        const char *peek = next;
        if (mt_code_is(word, "static") && mt_code_is(mt_code_next(&peek), "__shared__")) { /* it is, whoever says so twice */
            add_line_ends(out, word.at, next);
            at = next;
            continue;
        }
        bool is_taken = mt_code_is(word, "{") && mt_code_is(last, ")") ? take_host_body(&behind, &here, out) : is_word_in(word, assembler, 3) ? take_assembler(&behind, &here, out) : mt_code_is(word, "extern") ? take_dynamic(&behind, false, out) : mt_code_is(word, "__shared__") ? take_dynamic(&behind, true, out) || take_static(&behind, is_first, &here, out) : false;
        if (!is_taken) mt_strbuf_add_bytes(out, word.at, word.length);
        count_lines(&here, word.at, behind);
        at = behind;
        last = is_taken ? (mt_code_word){0} : word; /* with its end */
    }
}
