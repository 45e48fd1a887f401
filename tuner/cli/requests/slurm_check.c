#include "tuner/cli/requests/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/cluster/scripts.h"
#include "tuner/session/session.h"

/* Quoting makes anything safe for the shell; but a line of a table, and a log that a person reads, must stay one line. */
static mt_status check_text(const char *option, const char *text, mt_error *err)
{
    for (size_t i = 0, length; text && text[i]; i += length)
        if (!mt_text_is_shown(text + i, strlen(text + i), &length)) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --%s: holds a control character; expected one line of UTF-8", option);
    return MT_OK;
}

static mt_status check_texts(const mt_slurm_values *v, mt_error *err)
{
    const struct { const char *option, *text; } texts[] = {{"time", v->time}, {"partition", v->partition}, {"compile-partition", v->compile_partition}, {"account", v->account},
                                                          {"qos", v->qos}, {"gres", v->gres}, {"output", v->output}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mt_status st = check_text(texts[i].option, texts[i].text, err);
        if (st != MT_OK) return st;
        if (texts[i].text && !*texts[i].text) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --%s: is empty", texts[i].option);
    }
    for (size_t i = 0; i < v->gpu_types.count; i++) {
        const char *type = v->gpu_types.items[i];
        if (!*type || strchr("-.", *type) || strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != strlen(type))
            return MT_FAIL(err, MT_ERR_USAGE, "slurm: --gpu-type: '%s' is no type of a gres; expected letters, digits, '_', '-' and '.': h100", type);
    }
    return MT_OK;
}

/* Slurm tells a job at once whose limit is shorter than the warning before it: such a task would go back into the queue for ever. */
static mt_status check_time(const char *text, mt_error *err)
{
    long long seconds;
    if (!text) return MT_OK;
    if (!mt_cluster_time(text, &seconds)) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --time: '%s' is no time limit; expected MINUTES, HOURS:MINUTES:SECONDS or DAYS-HOURS: 4:00:00", text);
    if (seconds && seconds < MT_CLUSTER_LEAST_S)
        return MT_FAIL(err, MT_ERR_USAGE, "slurm: --time: '%s' is %lld s; expected %d minutes at least, since a task stops %d s before the limit and goes back into the queue", text, seconds,
                       MT_CLUSTER_LEAST_S / 60, MT_CLUSTER_SIGNAL_S);
    return MT_OK;
}

static const void *value_of(const mt_option *options, const void *values, const char *name)
{
    while (strcmp(options->name, name) != 0) options++; /* a name of tune's table */
    return (const char *)values + options->offset;
}

/* What the parser takes, and tune refuses in every task. */
static mt_status check_sense(const mt_option *options, const void *values, bool is_sharded, mt_error *err)
{
    const char *strategy = *(const char *const *)value_of(options, values, "strategy"), *around = *(const char *const *)value_of(options, values, "around");
    int64_t budget = *(const int64_t *)value_of(options, values, "budget");
    int reuse = *(const int *)value_of(options, values, "reuse");
    mt_error why;
    if (strategy && mt_session_check_strategy(strategy, &why) != MT_OK) return MT_FAIL(err, MT_ERR_USAGE, "slurm: behind '--': --strategy: %s", why.message);
    if (reuse == MT_REUSE_NONE + 1) return MT_FAIL(err, MT_ERR_USAGE, "slurm: behind '--': --reuse none forgets what is known, and a task that goes back into the queue goes on from there (--resume); expected another --reuse");
    if (around && (is_sharded || strategy || budget))
        return MT_FAIL(err, MT_ERR_USAGE, "slurm: behind '--': --around names the points itself; expected no --%s beside it", is_sharded ? "shards" : strategy ? "strategy" : "budget");
    return MT_OK;
}

/* As tune itself would read them, now and not when a thousand tasks have waited for their GPUs. */
static mt_status parse_tune_words(const mt_arguments *arguments, bool is_sharded, mt_error *err)
{
    const mt_command *tune = mt_command_find("tune");
    mt_parsed parsed = {0};
    mt_status st = MT_OK;
    void *values = mt_alloc(1, tune->values_size);
    char **words = mt_alloc(arguments->operand_count + 1, sizeof *words);
    if (!values || !words) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "slurm: out of memory"));
    for (size_t i = 0; i < arguments->operand_count; i++) words[i] = (char *)(uintptr_t)arguments->operands[i]; /* they are not written to */
    MT_TRY(mt_option_parse("slurm: behind '--': tune", tune->options, (int)arguments->operand_count, words, values, &parsed, err));
    if (parsed.wants_help) st = MT_FAIL(err, MT_ERR_USAGE, "slurm: behind '--' stand options of tune; 'msda-tune help tune' lists them");
    else if (parsed.operand_count) st = MT_FAIL(err, MT_ERR_USAGE, "slurm: '%s': expected options of tune behind '--': slurm --space F -- --budget 500", parsed.operands[0]);
    else st = check_sense(tune->options, values, is_sharded, err);
done:
    if (values) mt_option_free(tune->options, values, &parsed);
    mt_free(values);
    mt_free(words);
    return st;
}

/* ---- files among the words ---- */

/* The long option that a word is or begins with ("--input=…"); NULL: none of tune's. */
static const mt_option *option_of(const char *word, size_t *length)
{
    *length = strcspn(word, "=");
    for (const mt_option *o = mt_command_find("tune")->options; strncmp(word, "--", 2) == 0 && o->name; o++)
        if (strlen(o->name) + 2 == *length && strncmp(o->name, word + 2, *length - 2) == 0) return o;
    return NULL;
}

/* Behind what names the argument where there is such a thing: NAME=FILE. NULL: no value of a file. */
static const char *file_in(const mt_option *option, const char *value)
{
    const char *equals = strchr(value, '=');
    if (strcmp(option->name, "input") == 0) return equals && equals[1] ? equals + 1 : NULL;
    return strcmp(option->name, "recordings") == 0 || strcmp(option->name, "events") == 0 ? value : NULL;
}

/* One word, quoted; a file's name in `value`, which lies in it, from the root on. */
static void add_word(const char *word, const char *file, const char *here, mt_strbuf *out)
{
    mt_strbuf text = {0};
    if (file && *file != '/') mt_strbuf_addf(&text, "%.*s%s%s%s", (int)(file - word), word, here, here[1] ? "/" : "", file);
    else mt_strbuf_add(&text, word);
    mt_strbuf_add_char(out, ' ');
    mt_strbuf_add_quoted(out, mt_strbuf_text(&text));
    out->failed |= text.failed;
    mt_strbuf_free(&text);
}

mt_status mt_slurm_tune_words(const mt_arguments *arguments, mt_strbuf *out, mt_error *err)
{
    char *here = realpath(".", NULL);
    if (!here) return MT_FAIL(err, MT_ERR_IO, "slurm: the working folder: %s", strerror(errno));
    const mt_option *valued = NULL; /* whose value the word is */
    for (size_t i = 0; i < arguments->operand_count; i++) {
        size_t length;
        const char *word = arguments->operands[i], *file = valued ? file_in(valued, word) : NULL;
        const mt_option *option = valued ? NULL : option_of(word, &length);
        bool has_value = option && word[length] == '=';
        if (has_value) file = file_in(option, word + length + 1);
        add_word(word, file, here, out);
        valued = option && !has_value && option->kind != MT_OPTION_FLAG ? option : NULL;
    }
    free(here); /* realpath's */
    return out->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "slurm: out of memory") : MT_OK;
}

/* ---- the words as a whole ---- */

/* Words behind "--" are tune's; those that the scripts set themselves would be given twice. */
static mt_status check_tune_words(const mt_arguments *arguments, bool is_sharded, mt_error *err)
{
    static const char *const own[] = {"--space", "--shape", "--workload", "--shard", "--db", "--known", "--resume", "--from-misses", "--space-key", "--plan"};
    for (size_t i = 0; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i];
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            size_t length = strlen(own[k]);
            if (strncmp(word, own[k], length) == 0 && (!word[length] || word[length] == '='))
                return MT_FAIL(err, MT_ERR_USAGE, "slurm: %s: the scripts set it; expected further options of tune behind '--'", own[k]);
        }
        mt_status st = check_text("", word, err);
        if (st != MT_OK) return st;
    }
    return parse_tune_words(arguments, is_sharded, err);
}

mt_status mt_slurm_check(const mt_slurm_values *values, const mt_arguments *arguments, mt_error *err)
{
    mt_status st;
    MT_TRY(check_texts(values, err));
    MT_TRY(check_time(values->time, err));
    st = check_tune_words(arguments, values->shards > 0, err);
done:
    return st;
}
