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
    if (part == ASSEMBLER) return !strchr(value, '/') && (*value == '-' || value[strspn(value, "0123456789")] == '\0'); /* any other word is a file to assemble */
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (behind(value, warnings[i])) return true;
    return false;
}

/* By what stands anywhere in it. Options that write files are among them: a search space names no place to write to. */
static bool opens_a_file(const char *word)
{
    static const char *const parts[] = {"pch", "options-file", "optf", "include", "apply-controls", "output-file", "stats-file", "device-time-trace", "-time="}, *const whole[] = {"-time", "--time", "-o"};
    static const char *const folders[] = {"-isystem", "-iquote", "-idirafter", "-imacros", "-isysroot", "-iprefix", "-iwithprefix"}; /* other compilers' words; NVRTC has them not, but what to write instead is the same */
    if (*word == '@') return true;
    if (*word != '-' || behind(word, "-D") || behind(word, "--define-macro") || strcmp(word, "--no-source-include") == 0) return false;
    size_t pass = pass_of(word);
    if (pass < sizeof passes / sizeof *passes && !may_be_handed_on((int)passes[pass].part, word + strlen(passes[pass].name) + (word[strlen(passes[pass].name)] == '='))) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(word, parts[i])) return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(word, whole[i]) == 0) return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (behind(word, folders[i])) return true;
    return false;
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
        word->kind = opens_a_file(text) ? MT_WORD_FILE : MT_WORD_PLAIN;
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
