/* The hot call, and the knobs of what it found. */
#include "db/lookup/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checking a row ---- */

enum { UNCHECKED = 0, REFUSED = 1, LAUNCHES = 2 };

bool mt_lookup_row_check(const mt_lookup_answers *answers, mt_lookup_row *row)
{
    uint8_t state = atomic_load_explicit(&row->state, memory_order_relaxed);
    if (state == UNCHECKED) {
        mt_lookup_env env;
        uint32_t count = 0;
        state = REFUSED;
        if (!row->variant->problem && !row->is_unsafe) {
            mt_lookup_env_fill(&env, answers, row->variant, row->values);
            if (!mt_lookup_env_refusal(&env, NULL, 0) && !mt_lookup_env_illegal(&env, &count)) state = (uint8_t)(LAUNCHES + count);
        }
        atomic_store_explicit(&row->state, state, memory_order_relaxed);
    }
    return state != REFUSED;
}

/* ---- find ---- */

/* The row of the asked shape, or row_count. */
uint32_t mt_lookup_index_of(const mt_lookup_answers *answers, const int64_t *values)
{
    if (!answers->mask) return answers->row_count;
    uint32_t hash = mt_lookup_hash(values, answers->value_count);
    for (uint32_t at = hash & answers->mask; answers->table[at].row; at = (at + 1) & answers->mask) {
        uint32_t index = answers->table[at].row - 1;
        if (answers->table[at].hash == hash && memcmp(answers->rows[index]->values, values, answers->value_count * sizeof *values) == 0) return index;
    }
    return answers->row_count;
}

static void answer_none(const mt_lookup_answers *answers, tunelookup_result *result)
{
    result->match = TUNELOOKUP_MATCH_NONE;
    result->launch_count = result->arg_count = result->validated = result->recorded = 0;
    result->median_ns = result->low_ns = result->high_ns = result->expected_slowdown = result->slowdown_bound = result->norm_error = NAN;
    result->error_shapes = 0;
    result->variant = "";
    result->kernel_key = answers->kernel_key;
}

static void answer_row(const mt_lookup_answers *answers, mt_lookup_row *row, tunelookup_result *result)
{
    result->match = TUNELOOKUP_MATCH_EXACT;
    result->launch_count = atomic_load_explicit(&row->state, memory_order_relaxed) - LAUNCHES;
    result->arg_count = (int32_t)answers->model.arg_count;
    result->validated = 1;
    result->recorded = row->is_recorded;
    result->median_ns = row->median_ns;
    result->low_ns = row->low_ns;
    result->high_ns = row->high_ns;
    result->expected_slowdown = (answers->missing_workload || row->is_other_workload) && row->workload_count == 1 ? NAN : row->slowdown;
    result->slowdown_bound = result->expected_slowdown;
    result->norm_error = row->norm_error;
    result->error_shapes = 0;
    result->variant = row->variant->text;
    result->kernel_key = answers->kernel_key;
}

/* A shape without a row of its own: what was measured is told as it was, on the shape that it was measured for. */
static void answer_decision(const mt_lookup_answers *answers, const mt_lookup_decision *decision, tunelookup_result *result)
{
    const mt_lookup_row *row = answers->rows[decision->row];
    result->match = (tunelookup_match)decision->match;
    result->row_ = decision->row;
    result->launch_count = decision->launches;
    result->arg_count = (int32_t)answers->model.arg_count;
    result->validated = result->match != TUNELOOKUP_MATCH_DEFAULT;
    result->recorded = result->validated && row->is_recorded;
    result->median_ns = row->median_ns;
    result->low_ns = row->low_ns;
    result->high_ns = row->high_ns;
    result->expected_slowdown = decision->slowdown;
    result->slowdown_bound = decision->bound;
    result->norm_error = decision->norm_error;
    result->error_shapes = (int32_t)decision->error_shapes;
    result->variant = row->variant->text;
    result->kernel_key = answers->kernel_key;
}

/* Where the asked shape stands: fills what every result has, and gives its row, or NULL. */
static mt_lookup_row *ask(const tunelookup_plan *plan, const int64_t values[], double max_error, tunelookup_result *result)
{
    const mt_lookup_answers *answers = atomic_load_explicit(&plan->answers, memory_order_acquire);
    result->answers_ = answers;
    result->max_error_ = max_error;
    memset(result->reserved_, 0, sizeof result->reserved_);
    for (uint32_t i = 0; i < answers->value_count; i++) result->values_[answers->order[i]] = values[i];
    result->row_ = mt_lookup_index_of(answers, result->values_);
    return result->row_ < answers->row_count ? answers->rows[result->row_] : NULL;
}

/* No row of the shape answers. */
static void answer_below(const tunelookup_plan *plan, const int64_t values[], tunelookup_result *result)
{
    const mt_lookup_answers *answers = result->answers_;
    mt_lookup_decision decision;
    mt_lookup_decide(answers, result->values_, result->max_error_, &decision);
    if (decision.match != TUNELOOKUP_MATCH_NONE) answer_decision(answers, &decision, result);
    else answer_none(answers, result);
    if (plan->misses) mt_lookup_count_miss(plan->misses, values, answers->value_count);
}

/* From the class alone; what predictors offer was never run on the shape, so that nobody knows its bits. */
static tunelookup_status answer_class(const tunelookup_plan *plan, const int64_t values[], mt_lookup_row *winner, tunelookup_result *result)
{
    const mt_lookup_answers *answers = result->answers_;
    mt_lookup_row *row = winner ? winner->of_class : NULL;
    while (row && !mt_lookup_row_check(answers, row)) row = row->slower;
    if (row) {
        result->row_ = answers->row_count + row->place - 1;
        answer_row(answers, row, result);
        return TUNELOOKUP_OK;
    }
    answer_none(answers, result);
    if (!winner && plan->misses) mt_lookup_count_miss(plan->misses, values, answers->value_count);
    return TUNELOOKUP_ERR_NOT_IN_CLASS;
}

static tunelookup_status answer_any(const tunelookup_plan *plan, const int64_t values[], mt_lookup_row *row, tunelookup_result *result)
{
    if (row && mt_lookup_row_check(result->answers_, row)) answer_row(result->answers_, row, result);
    else answer_below(plan, values, result);
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_find(const tunelookup_plan *plan, const int64_t values[], tunelookup_result *result)
{
    if (!plan || !result || (!values && plan->value_count)) return TUNELOOKUP_ERR_ARGUMENT;
    mt_lookup_row *row = ask(plan, values, INFINITY, result);
    if (((const mt_lookup_answers *)result->answers_)->member) return answer_class(plan, values, row, result);
    return answer_any(plan, values, row, result);
}

tunelookup_status tunelookup_find_within(const tunelookup_plan *plan, const int64_t values[], double max_error, tunelookup_result *result)
{
    if (!plan || !result || (!values && plan->value_count) || !(max_error >= 0) || !(plan->db->flags & TUNELOOKUP_ERRORS)) return TUNELOOKUP_ERR_ARGUMENT;
    mt_lookup_row *row = ask(plan, values, max_error, result);
    const mt_lookup_answers *answers = result->answers_;
    if (answers->member) return TUNELOOKUP_ERR_ARGUMENT;
    if (isinf(max_error)) return answer_any(plan, values, row, result);
    while (row && !(row->most_error <= max_error && mt_lookup_row_check(answers, row))) row = row->slower;
    if (!row) {
        answer_below(plan, values, result);
        return result->match == TUNELOOKUP_MATCH_NONE ? TUNELOOKUP_ERR_NOT_WITHIN : TUNELOOKUP_OK;
    }
    if (row->place) result->row_ = answers->row_count + row->place - 1;
    answer_row(answers, row, result);
    result->norm_error = row->most_error;
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_find_several(const tunelookup_plan *plan, const int64_t values[], tunelookup_result results[], size_t capacity, size_t *count)
{
    mt_lookup_decision decisions[MT_RULE_VARIANTS];
    size_t found = 0;
    if (!count || (!results && capacity)) return TUNELOOKUP_ERR_ARGUMENT;
    *count = 0;
    if (!capacity) return TUNELOOKUP_OK;
    tunelookup_status st = tunelookup_find(plan, values, &results[0]);
    if (st != TUNELOOKUP_OK || results[0].match == TUNELOOKUP_MATCH_NONE) return st;
    *count = 1;
    if (((const mt_lookup_answers *)results[0].answers_)->member) return TUNELOOKUP_OK;
    found = mt_lookup_several(results[0].answers_, results[0].values_, decisions, capacity < MT_RULE_VARIANTS ? capacity : MT_RULE_VARIANTS);
    for (size_t i = 0; i < found && *count < capacity; i++) {
        tunelookup_result *result = &results[*count];
        *result = results[0];
        answer_decision(results[0].answers_, &decisions[i], result);
        *count += strcmp(result->variant, results[0].variant) != 0;
    }
    return TUNELOOKUP_OK;
}

/* ---- knobs ---- */

tunelookup_status tunelookup_param_text(const tunelookup_result *result, const char *name, const char **text)
{
    const mt_lookup_answers *answers = result ? result->answers_ : NULL;
    mt_lookup_clear_detail();
    if (!name || !text || !answers || result->match == TUNELOOKUP_MATCH_NONE || result->row_ >= answers->row_total) {
        return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "a NULL, or a result without a match");
    }
    size_t length = strlen(name);
    for (const char *pair = answers->rows[result->row_]->variant->packed; *pair; pair += strlen(pair) + 1) {
        if (strncmp(pair, name, length) != 0 || pair[length] != '=') continue;
        *text = pair + length + 1;
        return TUNELOOKUP_OK;
    }
    return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "the variant has no knob %s", name);
}

tunelookup_status tunelookup_param(const tunelookup_result *result, const char *name, int64_t *value)
{
    const char *text = NULL;
    char *end;
    if (!value) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "value is NULL");
    tunelookup_status st = tunelookup_param_text(result, name, &text);
    if (st != TUNELOOKUP_OK) return st;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "knob %s is the text %s; ask tunelookup_param_text", name, text);
    *value = number;
    return TUNELOOKUP_OK;
}
