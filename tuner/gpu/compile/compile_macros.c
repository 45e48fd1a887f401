#include "tuner/gpu/compile/compile_macros.h"

#include <string.h>

#include "tuner/base/text.h"
#include "tuner/space/signature/open_macros.h"
#include "tuner/space/source/directive.h"
#include "tuner/space/source/option_words.h"

static const char guard_mark[] = "msda-tune guard: ";

typedef struct macro {
    const char *name, *value;
    size_t length;
} macro;

/* The i-th macro of the request; false: it defines none. */
static bool macro_at(const mt_compile_request *request, size_t i, macro *out)
{
    out->name = mt_word_macro(request->options[i], &out->length, &out->value);
    return out->name && out->value;
}

static const char *kind_of(const macro *m)
{
    if (strncmp(m->name, "SHAPE_", 6) == 0) return "shape value";
    return strncmp(m->name, "WORKLOAD_", 9) == 0 ? "workload value" : strncmp(m->name, "MT_", 3) == 0 ? "macro of the tool" : "knob";
}

static bool is_integer(const char *text)
{
    int64_t number;
    return mt_text_int64(text, strlen(text), &number);
}

/* The number of a macro's value: itself, or that of the macro it names, as MODE=MODE_fast does. NULL: none. */
static const char *number_of(const mt_compile_request *request, const macro *m)
{
    if (is_integer(m->value)) return m->value;
    for (size_t i = 0; i < request->macro_count; i++) {
        macro other;
        if (macro_at(request, i, &other) && strlen(m->value) == other.length && strncmp(m->value, other.name, other.length) == 0 && is_integer(other.value)) return other.value;
    }
    return NULL;
}

/* The source takes the macro away, or gives it another value: where it does, and, as headers of the toolkit may too, at its end. */
static const char *const guard_words[] = {"undefines ", "defines "};

static void add_guard(mt_strbuf *text, bool defines, const macro *m)
{
    mt_strbuf_addf(text, "error %s%s%.*s", guard_mark, guard_words[defines], (int)m->length, m->name);
}

/* The macro whose name stands at `text`. */
static bool find_macro(const mt_compile_request *request, const char *text, macro *found)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    for (size_t i = 0; i < request->macro_count; i++)
        if (macro_at(request, i, found) && found->length == length && strncmp(found->name, text, length) == 0) return true;
    return false;
}

/* Of the definition whose body stands at `body`. */
static bool is_the_value(const macro *m, const char *body)
{
    size_t length = strlen(m->value);
    if (*body == '(' || strncmp(body = mt_directive_blanks(body), m->value, length) != 0) return false;
    body = mt_directive_blanks(body + length);
    return !*body || *body == '\n' || (body[0] == '/' && body[1] == '/');
}

mt_status mt_compile_add_guarded(const mt_compile_request *request, const char *text, mt_strbuf *out, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what;
    mt_status st = mt_directive_open(text, &walk, err);
    if (st != MT_OK) return st;
    while (mt_directive_next(&walk, &what)) {
        macro m;
        bool defines = what.kind == MT_DIRECTIVE_DEFINE;
        if ((!defines && what.kind != MT_DIRECTIVE_UNDEFINE) || !find_macro(request, what.name, &m) || (defines && is_the_value(&m, what.rest))) continue;
        mt_strbuf_add_bytes(out, text, (size_t)(what.start - text));
        add_guard(out, defines, &m);
        for (const char *at = what.start; at < what.end; at++)
            if (*at == '\n') mt_strbuf_add(out, " \\\n"); /* lines keep their numbers */
        mt_strbuf_add(out, defines ? " " : "");
        text = what.end;
    }
    mt_strbuf_add(out, text);
    mt_directive_close(&walk);
    return MT_OK;
}

void mt_compile_add_guards(const mt_compile_request *request, mt_strbuf *text)
{
    if (request->macro_count) mt_strbuf_add(text, "\n#line 1 \"msda-tune\"\n");
    for (size_t i = 0; i < request->macro_count; i++) {
        macro m;
        if (!macro_at(request, i, &m)) continue;
        const char *number = number_of(request, &m);
        mt_strbuf_addf(text, "#ifndef %.*s\n#", (int)m.length, m.name);
        add_guard(text, false, &m);
        if (number) mt_strbuf_addf(text, "\n#elif (%.*s) != (%s)\n#", (int)m.length, m.name, number);
        if (number) add_guard(text, true, &m);
        mt_strbuf_add(text, "\n#endif\n");
    }
}

/* `behind`: the name in the guard, where the source's own directive gives what it is defined as. */
static void add_other_value(const macro *m, const char *behind, mt_strbuf *why)
{
    const char *body = *behind == '(' ? behind : behind + strspn(behind, " \t");
    size_t length = (size_t)(mt_directive_line_end(body) - body);
    while (length && strchr(" \t", body[length - 1])) length--;
    if (length) mt_strbuf_addf(why, ", as %.*s where it is %s", (int)(length < 60 ? length : 60), body, *m->value ? m->value : "empty");
}

/* The macro that keeps the source's own value away, as kernel_tuner does in `#ifndef kernel_tuner`; out is "" where there is none. */
static void find_way_out(const mt_compile_request *request, const macro *m, char out[MT_OPEN_MACRO_NAME])
{
    *out = '\0';
    for (size_t i = 0; i < request->source->file_count && !*out; i++) {
        mt_open_macros open;
        mt_error ignored;
        bool is_read = mt_open_macros_read(request->source->files[i].text, "", &open, &ignored) == MT_OK;
        for (size_t k = 0; k < open.count && is_read && *open.guard; k++)
            if (strlen(open.items[k].name) == m->length && strncmp(open.items[k].name, m->name, m->length) == 0) memcpy(out, open.guard, MT_OPEN_MACRO_NAME);
        mt_open_macros_free(&open);
    }
}

bool mt_compile_redefined(const mt_compile_request *request, const char *log, mt_strbuf *why)
{
    static const char *const expected[] = {"no #undef of it", "#ifndef around its own definition"};
    char way_out[MT_OPEN_MACRO_NAME];
    macro m;
    const char *guard = strstr(log, guard_mark), *place = guard, *word = guard ? guard + sizeof guard_mark - 1 : NULL;
    bool defines = word && strncmp(word, guard_words[1], strlen(guard_words[1])) == 0;
    if (!word || !find_macro(request, word + strlen(guard_words[defines]), &m)) return false;
    mt_strbuf_addf(why, "%s %.*s is not in effect: the source %sthe macro %.*s%s", kind_of(&m), (int)m.length, m.name, guard_words[defines], (int)m.length, m.name, defines ? " anew" : "");
    add_other_value(&m, word + strlen(guard_words[defines]) + m.length, why);
    while (place > log && place[-1] != '\n') place--;
    if (strncmp(place, "msda-tune", 9) != 0) mt_strbuf_addf(why, " (%.*s)", (int)strcspn(place, ":\n"), place);
    find_way_out(request, &m, way_out);
    if (*way_out) mt_strbuf_addf(why, "; expected options = -D%s, since the source gives it a value where that macro is not defined\n", way_out);
    else mt_strbuf_addf(why, "; expected %s, or another name\n", expected[defines]);
    return true;
}

void mt_compile_macro_hint(const mt_compile_request *request, const char *log, mt_strbuf *hints)
{
    const char *error = strstr(log, ": error: "), *shown;
    if (!error) return;
    while (error > log && error[-1] != '\n') error--;
    shown = strchr(error, '\n');
    bool is_own = mt_source_file_of(request->source, error) == &request->source->files[0], is_no_name = strncmp(strstr(error, ": error: ") + 9, "expected an identifier", 22) == 0;
    if (!shown || (is_own && !is_no_name)) return; /* in one's own file a knob is used on purpose, but not as the name of something else */
    size_t length = strcspn(++shown, "\n"), caret = shown[length] ? strspn(shown + length + 1, " ") : 0;
    macro at = {0};
    for (const char *word = shown; word < shown + length;) { /* the compiler points at the macro, or behind it */
        size_t letters = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        macro m;
        if (letters && (size_t)(word - shown) <= caret && find_macro(request, word, &m)) at = m;
        word += letters ? letters : 1;
    }
    if (!at.name) return;
    mt_strbuf_addf(hints, "msda-tune: %.*s uses the name %.*s, which is the macro of a %s here: where that is not meant, rename it, or let knobs arrive as KNOB_… by [kernel] macros = KNOB_\n", (int)strcspn(error, ":\n"), error,
                   (int)at.length, at.name, kind_of(&at));
}
