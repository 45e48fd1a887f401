#include "reports/usual.h"

#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"

/* "A=1", borrowed from a variant's text. */
typedef struct piece { const char *text; size_t length, name, times; } piece;

static piece piece_at(const char *text)
{
    size_t length = strcspn(text, ";"), name = strcspn(text, "=;");
    return (piece){text, length, name < length ? name : length, 1};
}

static const char *behind(const piece *p) { return p->text + p->length + (p->text[p->length] == ';'); }

static int compare(const char *a, size_t m, const char *b, size_t n)
{
    int order = memcmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

static int by_name(const piece *a, const piece *b) { return compare(a->text, a->name, b->text, b->name); }

static int by_text(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    int order = by_name(x, y);
    return order ? order : compare(x->text, x->length, y->text, y->length);
}

/* The knobs of the group's winners; NULL without any or when memory runs out. */
static piece *collect(const mt_report_data *data, const mt_report_subject *first, size_t *count, size_t *winners, bool *has_failed)
{
    piece *pieces = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (!s->best || !mt_report_is_same_group(first, s)) continue;
        ++*winners;
        for (const char *at = s->best; *at; at = behind(&pieces[*count - 1])) {
            piece *more = mt_grow(pieces, *count, &capacity, sizeof *pieces);
            *has_failed = !more;
            if (!more) return pieces;
            pieces = more;
            pieces[(*count)++] = piece_at(at);
        }
    }
    return pieces;
}

static void add_piece(const piece *p, mt_strbuf *text)
{
    if (text->length) mt_strbuf_add_char(text, ';');
    mt_strbuf_add_bytes(text, p->text, p->length);
}

size_t mt_usual_of(const mt_report_data *data, const mt_report_subject *first, mt_strbuf *usual)
{
    size_t count = 0, winners = 0;
    bool has_failed = false;
    piece *pieces = collect(data, first, &count, &winners, &has_failed), *most = NULL;
    if (count && !has_failed) qsort(pieces, count, sizeof *pieces, by_text);
    for (size_t i = 0; i < count && !has_failed; i++) {
        if (i && by_text(&pieces[i - 1], &pieces[i]) == 0) pieces[i].times += pieces[i - 1].times;
        if (!most || by_name(most, &pieces[i]) != 0) {
            if (most) add_piece(most, usual);
            most = &pieces[i];
        } else if (pieces[i].times > most->times) most = &pieces[i];
    }
    if (most) add_piece(most, usual);
    usual->failed = usual->failed || has_failed;
    mt_free(pieces);
    return winners;
}

void mt_usual_difference(const char *usual, const char *variant, mt_strbuf *difference)
{
    piece p;
    for (const char *at = variant; *at; at = behind(&p)) {
        p = piece_at(at);
        if (!mt_key_has_pair(usual, p.text, p.length)) add_piece(&p, difference);
    }
}
