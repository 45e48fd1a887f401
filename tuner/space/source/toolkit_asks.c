#include "tuner/space/source/toolkit_asks.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/source/directive.h"

static mt_status add_once(mt_texts *texts, const char *word, size_t length, mt_error *err)
{
    char *name = mt_strndup(word, length);
    mt_status st = name ? mt_texts_add_once(texts, name, err) : mt_no_memory("headers of the toolkit", err);
    mt_free(name);
    return st;
}

/* The words from `at` up to `end` that are no parameters of the macro in whose body they stand. */
static mt_status add_words(mt_toolkit_asks *self, const char *at, const char *end, const char *parameters, mt_error *err)
{
    mt_directive what;
    mt_status st = MT_OK;
    while (st == MT_OK && mt_directive_operand(&at, &what) && what.name < end)
        if (!what.form && !mt_directive_is_parameter(parameters, what.name, what.length)) st = add_once(&self->macros, what.name, what.length, err);
    return st;
}

/* The parenthesis that closes what is asked for. */
static const char *operand_end(const char *at)
{
    const char *line_end = mt_directive_line_end(at);
    for (int depth = 1; at < line_end && (depth += (*at == '(') - (*at == ')')); at++) {}
    return at;
}

/* One walk: what is asked for, and by which macros; of the macros that it is made of, what they are made of. */
static mt_status walk_once(mt_toolkit_asks *self, const char *text, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what, macro = {0}; /* the last one that was defined */
    const char *body_end = NULL;
    mt_status st = mt_directive_open(text, &walk, err);
    while (st == MT_OK) {
        walk.askers = self->askers.items;
        walk.asker_count = self->askers.count;
        if (!mt_directive_next(&walk, &what)) break;
        bool is_in_macro = body_end && what.rest <= body_end;
        if (what.kind == MT_DIRECTIVE_DEFINE) {
            macro = what;
            body_end = mt_directive_line_end(what.rest);
            for (size_t i = 0; i < self->macros.count && st == MT_OK; i++)
                if (strlen(self->macros.items[i]) == what.length && strncmp(self->macros.items[i], what.name, what.length) == 0) st = add_words(self, what.rest, body_end, what.rest, err);
        } else if (what.kind == MT_DIRECTIVE_ASK) {
            if (is_in_macro && !mt_directive_asks(&walk, macro.name, macro.length)) st = add_once(&self->askers, macro.name, macro.length, err);
            if (st == MT_OK) st = add_words(self, what.rest, operand_end(what.rest), is_in_macro ? macro.rest : NULL, err);
        }
    }
    mt_directive_close(&walk);
    return st;
}

mt_status mt_toolkit_asks_add(mt_toolkit_asks *self, const char *text, mt_error *err)
{
    mt_status st = MT_OK;
    bool asks = self->askers.count || strcasestr(text, "has_include");
    for (size_t before = 0, found = 1; st == MT_OK && asks && before < found;) {
        before = self->askers.count + self->macros.count;
        st = walk_once(self, text, err);
        found = self->askers.count + self->macros.count;
    }
    return st;
}

void mt_toolkit_asks_free(mt_toolkit_asks *self)
{
    mt_texts_free(&self->askers);
    mt_texts_free(&self->macros);
    *self = (mt_toolkit_asks){0};
}
