#include "reports/answers.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"

/* What shapes without a row of their own are answered with, and what that costs: each tuned shape was left out once. */
typedef struct prediction {
    const mt_report_subject *group; /* a subject of what it is for */
    int64_t held_out;
    double mean, worst;
} prediction;

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    prediction *predictions;
    size_t count, capacity, rows;
} state;

static const mt_column answer_columns[] = {{"Kernel", NULL}, {"GPU", NULL}, {"L2 cache", NULL}, {"Rows are", NULL}, {"Exactly", "%.0f"}, {"Not exactly", "%.0f"},
                                           {"Others get", NULL}, {"Usually ×", "%.3f"}, {"At worst ×", "%.3f"}, {"Tried on", "%.0f"}, {0}};
static const mt_column unanswered_columns[] = {{"Kernel", NULL}, {"GPU", NULL}, {"Shape", NULL}, {"Gets", NULL}, {"Expected ×", "%.3f"}, {"Interval ×", NULL}, {"Usually ×", "%.3f"}, {"At worst ×", "%.3f"}, {"Shape's values", NULL}, {0}};
static const mt_column miss_columns[] = {{"Asked for", "%.0f"}, {"Kernel", NULL}, {"GPU", NULL}, {"Gets today", NULL}, {"Expected ×", "%.3f"}, {"Interval ×", NULL}, {"Usually ×", "%.3f"}, {"At worst ×", "%.3f"},
                                         {"Shape's values", NULL}, {"Workloads", NULL}, {"Last", NULL}, {0}};

static const mt_report_subject *group_of(const mt_report_data *data, const mt_portfolio_info *p)
{
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (s->is_current && strcmp(s->gpu_key, p->gpu_key) == 0 && strcmp(s->kernel, p->kernel) == 0 && strcmp(s->kernel_key, p->kernel_key) == 0 &&
            strcmp(mt_l2_name(s->l2), p->l2) == 0 && strcmp(mt_origin_name(s->origin), p->origin) == 0)
            return s;
    }
    return NULL;
}

static mt_status keep_portfolio(void *context, const mt_portfolio_info *p, mt_error *err)
{
    state *s = context;
    const mt_report_subject *group = group_of(s->context->data, p);
    if (!group || !p->members) return MT_OK;
    prediction *more = mt_grow(s->predictions, s->count, &s->capacity, sizeof *more);
    if (!more) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    s->predictions = more;
    more[s->count++] = (prediction){group, p->held_out, p->held_out_mean, p->held_out_worst};
    return MT_OK;
}

static const prediction *prediction_for(const state *s, const mt_report_subject *subject)
{
    for (size_t i = 0; i < s->count; i++)
        if (mt_report_is_same_group(s->predictions[i].group, subject)) return &s->predictions[i];
    return NULL;
}

/* No answer is faster than the best: the interval begins at 1. */
static void add_interval(mt_doc *doc, const mt_report_answer *answer)
{
    if (answer->is_predicted && isfinite(answer->bound)) mt_doc_textf(doc, "1 to %.3f", answer->bound);
    else mt_doc_text(doc, answer->is_predicted ? "no bound known" : NULL);
}

static void add_tried(mt_doc *doc, const prediction *p)
{
    mt_doc_number(doc, p && p->held_out ? p->mean : NAN);
    mt_doc_number(doc, p && p->held_out ? p->worst : NAN);
}

/* What one shape gets, as the library says it. Where it cannot be asked, what the rows say. */
static mt_report_answer answer_of(const state *s, const mt_report_subject *group, const char *shape_key)
{
    const mt_report_lookup *lookup = s->context->lookup;
    const mt_report_question question = {group->gpu_key, group->kernel, group->kernel_key, shape_key, group->origin};
    mt_report_answer answer;
    if (group->origin == MT_ORIGIN_IMPORTED) return (mt_report_answer){.gets = "nothing: imported rows never answer", .slowdown = NAN, .bound = NAN, .is_nothing = true};
    if (lookup && lookup->ask(lookup->context, &question, &answer)) return answer;
    bool has_row = mt_report_has_winner(s->context->data, group, shape_key);
    return (mt_report_answer){.gets = has_row ? "its own row" : prediction_for(s, group) ? "a prediction, else the default" : "the default", .slowdown = NAN, .bound = NAN, .is_predicted = !has_row, .is_own = has_row};
}

/* The next cells of a table. */
static void add_answer(const state *s, const mt_report_answer *answer, const prediction *p)
{
    mt_doc_text(s->doc, answer->gets);
    mt_doc_number(s->doc, answer->slowdown);
    add_interval(s->doc, answer);
    add_tried(s->doc, answer->is_predicted ? p : NULL);
}

/* The last cells of the groups' table; NULL = the default is all there is. `nothing`: why no shape of the group has an answer, NULL where some has. */
static void add_prediction(mt_doc *doc, const prediction *p, const char *nothing)
{
    if (nothing) mt_doc_text(doc, nothing);
    else mt_doc_text(doc, p ? "a prediction, else the default" : "the default");
    add_tried(doc, nothing ? NULL : p);
}

/* ---- groups ---- */

static bool is_first(const mt_report_data *data, size_t i)
{
    if (!data->subjects[i].is_current) return false;
    for (size_t k = 0; k < i; k++)
        if (mt_report_is_same_group(&data->subjects[k], &data->subjects[i])) return false;
    return true;
}

/* A kernel's source on a GPU. */
typedef struct answered {
    const mt_report_subject *first;
    const prediction *prediction;
    size_t exact, without;  /* shapes that are answered by a row of their own, and others */
    const char *nothing;    /* what the latter get, as long as none of all shapes has an answer */
    bool has_answer;
} answered;
typedef struct groups { state *s; answered *items; size_t count; } groups;

static bool is_shape_of(const mt_shape_info *shape, const mt_report_subject *first)
{
    return strcmp(shape->kernel, first->kernel) == 0 && strcmp(shape->kernel_key, first->kernel_key) == 0;
}

static mt_status count_shape(void *context, const mt_shape_info *shape, mt_error *err)
{
    groups *all = context;
    (void)err;
    for (size_t i = 0; i < all->count; i++) {
        answered *g = &all->items[i];
        if (!is_shape_of(shape, g->first)) continue;
        const mt_report_answer answer = answer_of(all->s, g->first, shape->key);
        *(answer.is_own ? &g->exact : &g->without) += 1;
        g->has_answer = g->has_answer || !answer.is_nothing;
        g->nothing = g->has_answer ? NULL : answer.gets;
    }
    return MT_OK;
}

typedef struct listing { state *s; const answered *group; } listing;

static mt_status list_shape(void *context, const mt_shape_info *shape, mt_error *err)
{
    const listing *l = context;
    const mt_report_subject *first = l->group->first;
    state *s = l->s;
    (void)err;
    if (!is_shape_of(shape, first)) return MT_OK;
    const mt_report_answer answer = answer_of(s, first, shape->key);
    if (answer.is_own || s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_text(s->doc, shape->kernel);
    mt_doc_text(s->doc, first->gpu_name);
    mt_doc_text(s->doc, shape->name);
    add_answer(s, &answer, l->group->prediction);
    mt_doc_knobs(s->doc, shape->key);
    return MT_OK;
}

static void add_group(mt_doc *doc, const answered *g)
{
    const char *texts[] = {g->first->kernel, g->first->gpu_name, mt_l2_name(g->first->l2), mt_origin_name(g->first->origin)};
    for (size_t i = 0; i < 4; i++) mt_doc_text(doc, texts[i]);
    mt_doc_number(doc, (double)g->exact);
    mt_doc_number(doc, (double)g->without);
    add_prediction(doc, g->prediction, g->nothing);
    mt_doc_number(doc, g->prediction && g->prediction->held_out && !g->nothing ? (double)g->prediction->held_out : NAN);
}

/* Shapes are read once for all groups, and once more for each that has some without a row: reading them parses programs. */
static mt_status add_groups(state *s, mt_error *err)
{
    const mt_report_data *data = s->context->data;
    groups all = {.s = s};
    size_t capacity = 0;
    mt_status st = MT_OK;
    for (size_t i = 0; i < data->count; i++) {
        if (!is_first(data, i)) continue;
        answered *items = mt_grow(all.items, all.count, &capacity, sizeof *items);
        if (!items) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
        if (!items) goto done;
        all.items = items;
        items[all.count++] = (answered){.first = &data->subjects[i], .prediction = prediction_for(s, &data->subjects[i])};
    }
    MT_TRY(mt_query_shapes(s->context->store, count_shape, &all, err));
    mt_doc_table(s->doc, "answers", "How many shapes today's sources answer exactly, and what others get", answer_columns);
    mt_doc_group(s->doc, false, "How many shapes today's sources answer exactly, and what others get", "", "");
    for (size_t i = 0; i < all.count; i++) add_group(s->doc, &all.items[i]);
    mt_doc_table(s->doc, "unanswered", "Known shapes that are not answered exactly", unanswered_columns);
    for (size_t i = 0; i < all.count; i++) {
        listing l = {s, &all.items[i]};
        if (l.group->without) MT_TRY(mt_query_shapes(s->context->store, list_shape, &l, err));
    }
done:
    mt_free(all.items);
    return st;
}

/* ---- misses ---- */

/* The group that a miss is of: today's source of its kernel on its GPU, before others one that has the shape. NULL = none. */
static const mt_report_subject *find_group(const mt_report_data *data, const mt_miss *miss)
{
    const mt_report_subject *found = NULL;
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (!s->is_current || s->origin == MT_ORIGIN_IMPORTED || strcmp(s->kernel, miss->kernel) != 0 || !mt_miss_fits_gpu(miss->gpu, s->gpu_key)) continue;
        if (s->best && strcmp(s->shape_key, miss->shape_key) == 0) return s;
        if (!found) found = s;
    }
    return found;
}

static void add_miss(const state *s, const mt_miss *miss)
{
    mt_doc *doc = s->doc;
    const mt_report_subject *group = find_group(s->context->data, miss);
    mt_doc_number(doc, (double)miss->count);
    mt_doc_text(doc, miss->kernel);
    mt_doc_text(doc, group ? group->gpu_name : miss->gpu);
    const mt_report_answer answer = group ? answer_of(s, group, miss->shape_key) : (mt_report_answer){.gets = "nothing: no row for this GPU", .slowdown = NAN};
    add_answer(s, &answer, group ? prediction_for(s, group) : NULL);
    mt_doc_knobs(doc, miss->shape_key);
    mt_doc_text(doc, miss->workloads);
    mt_doc_time(doc, miss->newest_unix_ms);
}

/* All formats list as many: the log is what any program wrote, and what is seldom asked for changes nothing. */
static void add_misses(state *s)
{
    enum { MOST_MISSES = 1000 };
    const mt_misses *misses = s->context->misses;
    const size_t most = s->context->most_rows < MOST_MISSES ? s->context->most_rows : MOST_MISSES, listed = misses->count < most ? misses->count : most;
    double more = 0;
    for (size_t i = listed; i < misses->count; i++) more += (double)misses->items[i].count;
    mt_doc_table(s->doc, "misses", "Shapes that production asked for and that had no row of their own, the most asked for first", miss_columns);
    for (size_t i = 0; i < listed; i++) add_miss(s, &misses->items[i]);
    if (misses->count > listed) mt_doc_note(s->doc, "%zu more shapes were asked for, %.0f times in all.", misses->count - listed, more);
    if (misses->dropped) mt_doc_note(s->doc, "%lld more misses were not counted by shape, because the programs' tables were full%s.", (long long)misses->dropped, misses->count == MT_MISSES_MOST ? ", or the log has too many" : "");
    if (misses->skipped) mt_doc_note(s->doc, "%lld of %lld lines of the log are no misses.", (long long)misses->skipped, (long long)misses->lines);
}

mt_status mt_answers_add(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {.context = context, .doc = doc};
    mt_status st;
    MT_TRY(mt_query_portfolios(context->store, context->filter, keep_portfolio, &s, err));
    MT_TRY(add_groups(&s, err));
    if (s.rows > context->most_rows) mt_doc_note(doc, "%zu more shapes without a row are not listed here; --format csv --section lookup lists all.", s.rows - context->most_rows);
    if (context->misses) add_misses(&s);
done:
    mt_free(s.predictions);
    return st;
}
