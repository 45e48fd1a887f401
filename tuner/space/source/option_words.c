#include "tuner/space/source/option_words.h"

#include <ctype.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

static const char blanks[] = " \t";

/* Behind the word that starts at `at`. A quote without its partner is a letter like any other. */
static const char *word_end(const char *at)
{
    while (*at && !strchr(blanks, *at)) {
        const char *partner = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
        at = partner ? partner + 1 : at + 1;
    }
    return at;
}

static char *unquoted(const char *start, size_t length)
{
    bool is_quoted = length >= 2 && (*start == '"' || *start == '\'') && memchr(start + 1, *start, length - 1) == start + length - 1;
    return is_quoted ? mt_strndup(start + 1, length - 2) : mt_strndup(start, length);
}

static const char *behind(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* The path of an option that names one, "" when it is the next word; NULL: another option. */
static const char *path_of(const char *word, mt_word_kind *kind)
{
    static const struct { const char *name; mt_word_kind kind; } options[] = {{"--include-path", MT_WORD_FOLDER}, {"--pre-include", MT_WORD_HEADER}, {"-include", MT_WORD_HEADER}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *rest = behind(word, options[i].name);
        if (!rest || (*rest && *rest != '=')) continue;
        *kind = options[i].kind;
        return rest + (*rest == '=');
    }
    const char *folder = behind(word, "-I");
    *kind = MT_WORD_FOLDER;
    return folder ? folder + (*folder == '=') : NULL;
}

/* What hands an option on to a part of NVRTC that no list of ours covers, and what may be handed on: warnings of the front end, numbers and switches of the optimiser, all of ptxas that names no file. */
static const struct { const char *name; enum { FRONT_END, OPTIMISER, ASSEMBLER } part; } passes[] = {
    {"-Xcudafe", FRONT_END}, {"--cudafe-options", FRONT_END}, {"-Xnvvm", OPTIMISER}, {"-Xopt", OPTIMISER}, {"-Xptxas", ASSEMBLER}, {"--ptxas-options", ASSEMBLER}, {"-ptxas-options", ASSEMBLER},
};

/* Of `passes`; their number: another option. */
static size_t pass_of(const char *word)
{
    size_t i = 0;
    for (; i < sizeof passes / sizeof *passes; i++) {
        const char *rest = behind(word, passes[i].name);
        if (rest && (!*rest || *rest == '=')) break;
    }
    return i;
}

static bool is_number_or_switch(const char *value)
{
    return !*value || strcmp(value, "true") == 0 || strcmp(value, "false") == 0 || value[strspn(value, "0123456789.-")] == '\0';
}

static bool may_be_handed_on(int part, const char *value)
{
    static const char *const warnings[] = {"--diag_", "--display_error_number", "--no_warnings", "--promote_warnings"};
    if (!*value) return false; /* it would take what comes behind it */
    if (part == OPTIMISER) {
        const char *number = strchr(value, '=');
        return *value == '-' && !strchr(value, '/') && (!number || is_number_or_switch(number + 1));
    }
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (behind(value, warnings[i])) return true;
    return false;
}

/* By what stands anywhere in it, or by its name; the first that fits counts. Folders have other compilers' words here, since what to write instead is the same. */
static const struct { const char *text; enum { ANYWHERE, BEGINNING, NAME } place; mt_word_kind kind; } refused[] = {
    {"use-pch", ANYWHERE, MT_WORD_FILE}, {"options-file", ANYWHERE, MT_WORD_FILE}, {"optf", ANYWHERE, MT_WORD_FILE}, {"include", ANYWHERE, MT_WORD_FILE}, {"apply-controls", ANYWHERE, MT_WORD_FILE},
    {"-isystem", BEGINNING, MT_WORD_FILE}, {"-iquote", BEGINNING, MT_WORD_FILE}, {"-idirafter", BEGINNING, MT_WORD_FILE}, {"-imacros", BEGINNING, MT_WORD_FILE}, {"-isysroot", BEGINNING, MT_WORD_FILE},
    {"-iprefix", BEGINNING, MT_WORD_FILE}, {"-iwithprefix", BEGINNING, MT_WORD_FILE},
    {"pch", ANYWHERE, MT_WORD_OUTPUT}, {"output-file", ANYWHERE, MT_WORD_OUTPUT}, {"stats-file", ANYWHERE, MT_WORD_OUTPUT}, {"device-time-trace", ANYWHERE, MT_WORD_OUTPUT},
    {"-time", NAME, MT_WORD_OUTPUT}, {"--time", NAME, MT_WORD_OUTPUT}, {"-o", NAME, MT_WORD_OUTPUT},
    {"-arch", NAME, MT_WORD_TARGET}, {"--gpu-architecture", NAME, MT_WORD_TARGET}, {"--gpu-name", NAME, MT_WORD_TARGET}, {"-gpu-name", NAME, MT_WORD_TARGET}, {"-fdevice-syntax-only", NAME, MT_WORD_TARGET}, {"--fdevice-syntax-only", NAME, MT_WORD_TARGET},
    {"-rdc=true", NAME, MT_WORD_LINKED}, {"--relocatable-device-code=true", NAME, MT_WORD_LINKED}, {"-dc", NAME, MT_WORD_LINKED}, {"--device-c", NAME, MT_WORD_LINKED}, {"-dlto", NAME, MT_WORD_LINKED},
    {"--dlink-time-opt", NAME, MT_WORD_LINKED}, {"-optix-ir", NAME, MT_WORD_LINKED}, {"--optix-ir", NAME, MT_WORD_LINKED},
};

static bool is_refused(const char *word, size_t i)
{
    const char *rest = behind(word, refused[i].text);
    if (refused[i].place == ANYWHERE) return strstr(word, refused[i].text) != NULL;
    return rest && (refused[i].place == BEGINNING || !*rest || *rest == '=');
}

/* Of a word for ptxas, or several behind commas: what is no option and no number is a file to assemble. */
static mt_word_kind kind_for_assembler(const char *value)
{
    mt_word_kind kind = *value ? MT_WORD_PLAIN : MT_WORD_FILE; /* it would take what comes behind it */
    for (const char *at = value; *at && kind == MT_WORD_PLAIN;) {
        size_t length = strcspn(at, ",");
        char *word = mt_strndup(at, length);
        if (!word || memchr(at, '/', length) || (*word != '-' && word[strspn(word, "0123456789")])) kind = MT_WORD_FILE;
        for (size_t i = 0; word && kind == MT_WORD_PLAIN && i < sizeof refused / sizeof *refused; i++)
            if (is_refused(word, i)) kind = refused[i].kind;
        if (word && kind == MT_WORD_PLAIN && behind(word, "-o") && !behind(word, "-opt-") && !strstr(word, "${")) kind = MT_WORD_OUTPUT; /* -oFILE; what a knob makes comes here again */
        mt_free(word);
        at += length + (at[length] == ',');
    }
    return kind;
}

static mt_word_kind kind_of(const char *word)
{
    if (*word == '@') return MT_WORD_FILE;
    if (*word != '-' || behind(word, "-D") || behind(word, "--define-macro") || strcmp(word, "--no-source-include") == 0) return MT_WORD_PLAIN;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_refused(word, i)) return refused[i].kind;
    size_t pass = pass_of(word);
    if (pass == sizeof passes / sizeof *passes) return MT_WORD_PLAIN;
    const char *value = word + strlen(passes[pass].name);
    if (passes[pass].part == ASSEMBLER) return kind_for_assembler(value + (*value == '='));
    return may_be_handed_on((int)passes[pass].part, value + (*value == '=')) ? MT_WORD_PLAIN : MT_WORD_FILE;
}

const char *mt_word_refusal(mt_word_kind kind)
{
    switch (kind) {
    case MT_WORD_FILE: return "the tool can't see which files this reads; expected options written out, and headers by -I, -include or [kernel] include";
    case MT_WORD_OUTPUT: return "this writes a file, and compiles have no place for one: many run at a time, and none where the code is known already; expected no such option";
    case MT_WORD_TARGET: return "the GPU, or --arch, says what is compiled for; expected no such option";
    case MT_WORD_LINKED: return "this makes code that only a linker makes whole, and no GPU loads; expected no such option";
    default: return NULL;
    }
}

static char *take(const char **at)
{
    *at += strspn(*at, blanks);
    const char *end = word_end(*at);
    char *text = unquoted(*at, (size_t)(end - *at));
    *at = end;
    return text;
}

/* What stands between an option and its value where they are one word; NULL: the option has none, or it is there. */
static const char *separator_of(const char *word)
{
    if (strcmp(word, "-D") == 0 || strcmp(word, "-U") == 0) return "";
    size_t pass = pass_of(word);
    bool hands_on = pass < sizeof passes / sizeof *passes && strcmp(word, passes[pass].name) == 0;
    return hands_on || strcmp(word, "--define-macro") == 0 || strcmp(word, "--undefine-macro") == 0 ? "=" : NULL;
}

/* "-D" "X=1" → "-DX=1" */
static char *joined(char *first, const char *separator, char *second)
{
    mt_strbuf text = {0};
    if (first && second) mt_strbuf_addf(&text, "%s%s%s", first, *second ? separator : "", second);
    char *out = first && second ? mt_strbuf_take(&text) : NULL;
    mt_strbuf_free(&text);
    mt_free(first);
    mt_free(second);
    return out;
}

mt_status mt_word_next(const char **at, mt_word *word, mt_error *err)
{
    *word = (mt_word){.kind = MT_WORD_END};
    *at += strspn(*at, blanks);
    if (!**at) return MT_OK;
    char *text = take(at);
    word->kind = MT_WORD_PLAIN;
    const char *separator = text ? separator_of(text) : NULL;
    if (separator) text = joined(text, separator, take(at));
    const char *path = text ? path_of(text, &word->kind) : NULL;
    if (path) {
        char *copy = *path ? unquoted(path, strlen(path)) : take(at);
        mt_free(text);
        text = copy;
    } else if (text) {
        word->kind = kind_of(text);
    }
    word->text = text;
    return text ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "options: out of memory");
}

char *mt_words_without_files(const char *text)
{
    const char *at = text;
    bool names_files = false;
    mt_word word;
    mt_error ignored;
    mt_strbuf plain = {0};
    mt_status st;
    while ((st = mt_word_next(&at, &word, &ignored)) == MT_OK && word.kind != MT_WORD_END) {
        names_files |= word.kind != MT_WORD_PLAIN;
        if (word.kind == MT_WORD_PLAIN) mt_strbuf_addf(&plain, "%s%s", plain.length ? " " : "", word.text);
        mt_free(word.text);
    }
    char *out = st != MT_OK ? NULL : names_files ? mt_strbuf_take(&plain) : mt_strdup(text);
    mt_strbuf_free(&plain);
    return out;
}

const char *mt_word_macro(const char *option, size_t *length, const char **value)
{
    static const struct { const char *prefix; bool defines; } forms[] = {{"-D", true}, {"--define-macro=", true}, {"-U", false}, {"--undefine-macro=", false}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *name = behind(option, forms[i].prefix);
        if (name) name += strspn(name, " \t\"'"); /* "-D X=1", -D"X=1" */
        if (!name || !(isalpha((unsigned char)*name) || *name == '_')) continue;
        *length = 0;
        while (isalnum((unsigned char)name[*length]) || name[*length] == '_') ++*length;
        *value = !forms[i].defines ? NULL : name[*length] == '=' ? name + *length + 1 : name + *length;
        return name;
    }
    return NULL;
}
