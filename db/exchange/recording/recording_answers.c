/* What of a subject is worth shipping: the rows that lookups answer with, or that the choice of an answer for other shapes needs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/recording/recording_internal.h"
#include "db/front_rows.h"
#include "db/store/current.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* The subjects of a shape's other workloads too. */
#define OF_SHAPE "(SELECT o.id FROM subject s JOIN subject o ON o.device_id = s.device_id AND o.shape_id = s.shape_id AND o.regime = s.regime AND o.origin = s.origin WHERE s.id = ?1)"

/* The winner, what it was compared with in its final, the default and the baseline, the portfolio's candidates, and the front of time and error. */
static const char answers_sql[] =
    MT_WITH_GOOD("?1") "SELECT v.text FROM variant v WHERE EXISTS (SELECT 1 FROM best WHERE subject_id = ?1) AND v.id IN ("
    "SELECT m.variant_id FROM best b JOIN measurement m ON m.id = b.measurement_id WHERE b.subject_id = ?1 "
    "UNION SELECT g.variant_id FROM " MT_STANDING "WHERE f.final_id = ?2 "
    "UNION SELECT variant_id FROM landmark WHERE subject_id = ?1 "
    "UNION SELECT p.variant_id FROM portfolio_shape s JOIN portfolio_variant p ON p.portfolio_id = s.portfolio_id WHERE s.subject_id = ?1 "
    "UNION SELECT variant_id FROM (" MT_FRONT_OF("subject_id IN " OF_SHAPE) ")) ORDER BY v.text";

mt_status mt_recording_find_answers(mt_store *store, int64_t subject, mt_recording_answers *answers, mt_error *err)
{
    mt_status st;
    int64_t final;
    mt_recording_answers_free(answers);
    MT_TRY(mt_store_final_of(store, subject, NULL, &final, err));
    MT_TRY(mt_sql_one(store, "SELECT v.text FROM best b JOIN measurement m ON m.id = b.measurement_id JOIN variant v ON v.id = m.variant_id WHERE b.subject_id = ?", "read a winner",
                      MT_IN(MT_INT(subject)), MT_OUT(MT_TO_TEXT(&answers->winner)), err));
    mt_sql_args rows = mt_sql_query(store, answers_sql, MT_IN(MT_INT(subject), MT_INT(final)), &st, err);
    while (mt_sql_each(store, &rows, "list what answers", &st, err))
        st = mt_texts_add(&answers->variants, mt_sql_column(rows.statement, 0), err);
done:
    return st;
}

void mt_recording_answers_free(mt_recording_answers *answers)
{
    mt_texts_free(&answers->variants);
    mt_free(answers->winner);
    *answers = (mt_recording_answers){0};
}

bool mt_recording_is_answer(const mt_recording_answers *answers, const char *variant)
{
    return answers->variants.count && bsearch(&variant, answers->variants.items, answers->variants.count, sizeof *answers->variants.items, mt_text_order);
}

/* Logs are for whoever develops the kernel; why a variant is no answer fits a line. */
static void shorten(mt_strbuf *line, const char *text)
{
    enum { MOST = 160 };
    size_t length = strcspn(text, "\n");
    if (length > MOST) length = MOST;
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80) length--; /* not within a character */
    mt_strbuf_add_bytes(line, text, length);
}

/* Of a variant that did not win, lookups need the time and how wrong it was. */
static void forget_details(mt_outcome *o)
{
    o->timing.min_ns = o->timing.mean_ns = o->timing.stddev_ns = o->timing.sm_mhz = 0;
    o->cubin = (mt_hash){0};
    if (o->kind == MT_OUTCOME_CENSORED) o->text = NULL;
    if (o->kind == MT_OUTCOME_CENSORED) o->accuracy = (mt_accuracy){0};
    o->accuracy.worst_index = 0;
    if (o->accuracy.output[0]) o->accuracy.worst_error = o->accuracy.worst_relative = o->accuracy.worst_value = o->accuracy.worst_reference = NAN;
}

void mt_recording_slim(const mt_recording_answers *answers, mt_measurement_row *row, mt_strbuf *line)
{
    mt_outcome *o = &row->outcome;
    if (!answers->winner || strcmp(answers->winner, row->variant) != 0) forget_details(o);
    o->compile_ns = o->wait_ns = o->validate_ns = o->time_ns = 0;
    o->cubin_cached = false;
    row->evaluation = 0;
    if (!o->text) return;
    shorten(line, o->text);
    o->text = line->length ? (char *)mt_strbuf_text(line) : NULL;
}
