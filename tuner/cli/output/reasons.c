#include "tuner/cli/output/reasons.h"

#include <ctype.h>
#include <string.h>

#include "tuner/cli/output/print.h"

enum { MOST_COLUMNS = (MT_REASON_TEXT - 8) / 4 /* a character has four bytes at most */, FEW_COLUMNS = 100 };

static const char *behind_number(const char *at)
{
    while (isdigit((unsigned char)*at)) at++;
    return at;
}

static bool is_the_same_but_for_numbers(const char *a, const char *b)
{
    while (*a && *b) {
        bool both = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (!both && *a != *b) return false;
        a = both ? behind_number(a) : a + 1;
        b = both ? behind_number(b) : b + 1;
    }
    return *a == *b;
}

/* The first line says why, with the numbers; of what stands behind it, logs and tools' words, some. */
static size_t columns_of(const char *text)
{
    size_t first = text ? strcspn(text, "\n") : 0;
    return first <= FEW_COLUMNS ? FEW_COLUMNS : first < MOST_COLUMNS ? first : MOST_COLUMNS;
}

void mt_reasons_add(mt_reasons *reasons, mt_outcome_kind kind, const char *variant, const char *text)
{
    mt_strbuf clean = {0};
    size_t of_kind = 0, i = 0;
    mt_print_clean(&clean, text, columns_of(text));
    for (; i < reasons->count; i++) {
        bool is_kind = reasons->items[i].kind == kind;
        of_kind += is_kind;
        if (is_kind && is_the_same_but_for_numbers(reasons->items[i].text, mt_strbuf_text(&clean))) break;
    }
    if (i < reasons->count) {
        reasons->items[i].count++;
    } else if (i == MT_REASONS || of_kind == MT_REASONS_OF_KIND) {
        reasons->untold[kind]++;
    } else {
        mt_reason *reason = &reasons->items[reasons->count++];
        *reason = (mt_reason){.kind = kind, .count = 1};
        snprintf(reason->text, sizeof reason->text, "%s", mt_strbuf_text(&clean));
        snprintf(reason->variant, sizeof reason->variant, "%s", variant ? variant : "");
    }
    mt_strbuf_free(&clean);
}

enum { INDENT = 14 }; /* where the texts of the summary begin */

void mt_reasons_print(const mt_reasons *reasons, mt_outcome_kind kind, FILE *out)
{
    for (size_t i = 0; i < reasons->count; i++) {
        const mt_reason *reason = &reasons->items[i];
        if (reason->kind != kind) continue;
        mt_strbuf line = {0};
        mt_strbuf_addf(&line, "  %5zu %s%s%s", reason->count, mt_outcome_name(kind), reason->text[0] ? ", first: " : "", reason->text);
        mt_print_wrapped(out, mt_strbuf_text(&line), INDENT, NULL);
        mt_strbuf_clear(&line);
        mt_strbuf_addf(&line, "%*s", INDENT, "");
        mt_print_knobs(&line, reason->variant);
        if (reason->variant[0]) mt_print_wrapped(out, mt_strbuf_text(&line), INDENT, NULL);
        mt_strbuf_free(&line);
    }
    if (reasons->untold[kind]) fprintf(out, "  %5zu %s for other reasons\n", reasons->untold[kind], mt_outcome_name(kind));
}
