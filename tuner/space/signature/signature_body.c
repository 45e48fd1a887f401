#include "tuner/space/signature/signature_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature_code.h"

/* Whether the words before `name` are `atomicAdd(` or `atomicAdd(&`. */
static bool is_atomic(const mt_code_word before[3])
{
    mt_code_word function = mt_code_is(before[0], "&") ? before[2] : before[1];
    return mt_code_is(mt_code_is(before[0], "&") ? before[1] : before[0], "(") && function.length > 6 && strncmp(function.at, "atomic", 6) == 0;
}

/* Behind `name`: an element that is only assigned to, `name[…] = …`, counts as written alone; all else as read and, where it is not const, maybe written. */
static void note_use(const char *at, bool is_star, mt_parameter *parameter)
{
    mt_code_word word = mt_code_next(&at);
    bool has_index = *word.at == '[';
    while (*word.at == '[') {
        mt_code_skip(&at, '[', ']');
        word = mt_code_next(&at);
    }
    while (*word.at == '.') { /* an element's field */
        mt_code_next(&at);
        word = mt_code_next(&at);
    }
    bool is_element = has_index || is_star, assigns = *word.at == '=' && *at != '=';
    if (is_element && assigns) parameter->is_written = true;
    else if (is_element && !(strchr("+-*/|&^%<>", *word.at) && word.length && (*at == '=' || *at == *word.at))) parameter->is_read = true;
    else parameter->is_read = parameter->is_written = true; /* a += b; a++; or it is handed on */
}

static void note_word(const char *at, const mt_code_word before[3], mt_code_word word, mt_signature *signature, bool *is_more)
{
    for (size_t i = 0; mt_code_is_name(word) && !mt_code_is(before[0], ".") && i < signature->parameter_count; i++) {
        mt_parameter *parameter = &signature->parameters[i];
        if (!parameter->pointers || !mt_code_is(word, parameter->name)) continue;
        if (is_atomic(before)) {
            parameter->is_added = parameter->is_read = parameter->is_written = true;
            continue;
        }
        is_more[i] = true;
        note_use(at, mt_code_is(before[0], "*"), parameter);
        if (mt_code_is(before[0], "&")) parameter->is_read = parameter->is_written = true;
    }
}

/* Behind `extern __shared__`: the type of an element. */
static int element_bytes(const char *at)
{
    mt_strbuf type = {0};
    mt_code_word word, name = {0};
    int lanes;
    while ((word = mt_code_next(&at)).length && !strchr("[;", *word.at)) {
        if (strncmp(word.at, "__align__", 9) == 0 || mt_code_is(word, "alignas") || *word.at == '(') {
            if (*word.at == '(') mt_code_skip(&at, '(', ')');
            continue;
        }
        if (name.length) mt_strbuf_addf(&type, "%s%.*s", type.length ? " " : "", (int)name.length, name.at);
        name = word;
    }
    const char *known = mt_signature_dtype(mt_strbuf_text(&type), &lanes);
    mt_strbuf_free(&type);
    return known ? atoi(known + strcspn(known, "0123456789")) / 8 * lanes : 0; /* f32 has 32 bits */
}

/* `word` of `i += TILE`, where `i` began as threadIdx.x: blocks have TILE threads. `at` stands behind it. */
static mt_status note_stride(const char *at, const mt_code_word before[4], mt_code_word word, mt_code_word counter, mt_signature *signature, mt_error *err)
{
    bool adds = mt_code_is(before[0], "=") && mt_code_is(before[1], "+") && counter.length && counter.length == before[2].length && strncmp(counter.at, before[2].at, counter.length) == 0;
    mt_code_word next = mt_code_next(&at);
    bool is_all = mt_code_is(next, ")") || mt_code_is(next, ";");
    if (!adds || !is_all || signature->steps[0] || !(mt_code_is_name(word) || (*word.at >= '0' && *word.at <= '9'))) return MT_OK;
    return (signature->steps[0] = mt_strndup(word.at, word.length)) ? MT_OK : mt_no_memory("signature", err);
}

mt_status mt_signature_read_body(const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    mt_code_word before[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}}; /* the last one first */
    mt_code_word counter = {"", 0}; /* of the loop that began at threadIdx.x */
    mt_status st = mt_signature_read_blocks(at, end, signature, err);
    mt_signature_read_elements(at, end, signature);
    bool *is_more = mt_alloc(signature->parameter_count + 1, sizeof *is_more); /* than atomics */
    if (!is_more) return mt_no_memory("signature", err);
    for (mt_code_word word; st == MT_OK && (word = mt_code_next(&at)).length && word.at < end;) {
        bool is_place = mt_code_is(before[0], ".") && (mt_code_is(before[1], "threadIdx") || mt_code_is(before[1], "blockIdx"));
        signature->has_rows = signature->has_rows || (is_place && mt_code_is(word, "y"));
        signature->has_planes = signature->has_planes || (is_place && mt_code_is(word, "z"));
        bool is_dynamic = mt_code_is(before[0], "extern") && mt_code_is(word, "__shared__");
        if (is_dynamic) signature->has_dynamic_smem = true, signature->dynamic_bytes = element_bytes(at);
        signature->has_grid_barrier = signature->has_grid_barrier || mt_code_is(word, "this_grid");
        signature->asks_block = signature->asks_block || mt_code_is(word, "blockDim");
        st = note_stride(at, before, word, counter, signature, err);
        if (is_place && mt_code_is(before[1], "threadIdx") && mt_code_is(word, "x") && mt_code_is(before[2], "=")) counter = before[3];
        note_word(at, before, word, signature, is_more);
        memmove(before + 1, before, 3 * sizeof *before);
        before[0] = word;
    }
    for (size_t i = 0; i < 3 && signature->asks_block; i++) {
        mt_free(signature->steps[i]);
        signature->steps[i] = NULL;
    }
    for (size_t i = 0; i < signature->parameter_count; i++) {
        mt_parameter *parameter = &signature->parameters[i];
        parameter->is_added = parameter->is_added && !is_more[i];
        if (parameter->is_const) parameter->is_read = true, parameter->is_written = false;
        else if (!parameter->is_read && !parameter->is_written) parameter->is_read = parameter->is_written = true;
    }
    mt_free(is_more);
    return st;
}
