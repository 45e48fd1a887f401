#include "tuner/cli/output/check_table.h"

#include <string.h>

#include "tuner/base/alloc.h"

static void count_ok(mt_check_variant *v, const mt_outcome *outcome)
{
    const mt_resources *r = &outcome->resources;
    if (!v->ok || r->registers < v->least_registers) v->least_registers = r->registers;
    if (r->registers > v->most_registers) v->most_registers = r->registers;
    if (r->spill_bytes > v->most_spills) v->most_spills = r->spill_bytes;
    if (r->static_smem_bytes > v->most_static_smem) v->most_static_smem = r->static_smem_bytes;
    v->spilling += r->spill_bytes > 0;
    v->ok++;
}

static void add_line(mt_table *lines, const char *text, const mt_outcome *outcome, bool may_not_run)
{
    mt_strbuf knobs = {0};
    if (!lines->count) {
        lines->columns = 5;
        lines->right = "lrrrl";
        lines->wraps = true;
        for (size_t i = 0; i < 5; i++) mt_table_cell(lines, (const char *const[]){"outcome", "registers", "spills", "compile", "knobs"}[i]);
    }
    mt_table_cell(lines, mt_outcome_name(outcome->kind));
    mt_table_cellf(lines, "%u", outcome->resources.registers);
    mt_table_cellf(lines, "%u", outcome->resources.spill_bytes);
    if (outcome->cubin_cached || !outcome->compile_ns) mt_table_cell(lines, outcome->cubin_cached ? "cached" : "-");
    else mt_table_cellf(lines, "%.0f ms", (double)outcome->compile_ns / 1e6);
    mt_print_knobs(&knobs, text);
    if (may_not_run && outcome->text) mt_strbuf_addf(&knobs, ": %s", outcome->text);
    mt_table_cell(lines, mt_strbuf_text(&knobs));
    mt_strbuf_free(&knobs);
}

/* Whether another variant failed with the same, word for word: a name that is missing fails them all. */
static bool is_told(mt_check_table *table, const char *why)
{
    for (size_t i = 0; i < table->message_count; i++) {
        mt_check_message *message = &table->messages[i];
        if (!message->why || strcmp(message->why, why) != 0) continue;
        message->others++;
        return true;
    }
    return false;
}

/* Logs keep their lines: they point into source code. */
static void add_message(mt_check_table *table, const char *text, const mt_outcome *outcome)
{
    const char *why = outcome->text ? outcome->text : "";
    if (is_told(table, why)) return;
    if (table->message_count == MT_CHECK_EXAMPLES) {
        table->untold++;
        return;
    }
    mt_check_message *message = &table->messages[table->message_count++];
    message->why = mt_strdup(why);
    message->variant = mt_strdup(text);
    message->kind = outcome->kind;
    for (const char *line = why; *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = mt_strndup(line, length);
        mt_strbuf_add(&message->text, "    ");
        mt_print_clean(&message->text, copy, 200);
        mt_strbuf_add(&message->text, "\n");
        mt_free(copy);
        line += length + (line[length] == '\n');
    }
}

void mt_check_add(mt_check_table *table, size_t variant, const char *text, const mt_outcome *outcome)
{
    if (!table->variants) table->variants = mt_alloc(table->spec->algorithm_count, sizeof *table->variants);
    bool failed = outcome->kind == MT_OUTCOME_COMPILE_ERROR || outcome->kind == MT_OUTCOME_COMPILE_TIMEOUT || outcome->kind == MT_OUTCOME_CRASHED;
    table->failed += failed;
    if (failed) add_message(table, text, outcome);
    bool may_not_run = !failed && outcome->kind != MT_OUTCOME_OK;
    table->illegal += may_not_run;
    if (may_not_run) mt_reasons_add(&table->reasons, outcome->kind, text, outcome->text);
    if (table->list) add_line(&table->lines, text, outcome, may_not_run);
    if (!table->variants) return; /* out of memory: the counts are missing, failures are not */
    mt_check_variant *v = &table->variants[variant];
    v->points++;
    v->failed += failed;
    v->cached += outcome->cubin_cached;
    v->compile_ns += (double)outcome->compile_ns;
    if (outcome->kind == MT_OUTCOME_OK) count_ok(v, outcome);
    v->illegal += may_not_run;
}

static void add_variant_row(mt_table *rows, const char *name, const mt_check_variant *v)
{
    size_t compiled = v->points - v->cached - v->illegal;
    mt_table_cell(rows, name);
    mt_table_cellf(rows, "%zu", v->points);
    mt_table_cellf(rows, "%zu", v->ok);
    mt_table_cellf(rows, "%zu", v->illegal);
    mt_table_cellf(rows, "%zu", v->failed);
    if (!v->ok) mt_table_cell(rows, "-");
    else if (v->least_registers == v->most_registers) mt_table_cellf(rows, "%u", v->most_registers);
    else mt_table_cellf(rows, "%u–%u", v->least_registers, v->most_registers);
    mt_table_cellf(rows, "%zu", v->spilling);
    mt_table_cellf(rows, "%u B", v->most_spills);
    mt_table_cellf(rows, "%u B", v->most_static_smem);
    if (compiled) mt_table_cellf(rows, "%.0f ms", v->compile_ns / 1e6 / (double)compiled);
    else mt_table_cell(rows, v->cached ? "cached" : "-");
}

static void print_message(const mt_check_message *message, FILE *out)
{
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "  %s: ", mt_outcome_name(message->kind));
    mt_print_knobs(&line, message->variant);
    fprintf(out, "\n");
    mt_print_wrapped(out, mt_strbuf_text(&line), 4, NULL);
    fputs(mt_strbuf_text(&message->text), out);
    mt_strbuf_free(&line);
}

void mt_check_print(const mt_check_table *table, FILE *out)
{
    static const char *const names[] = {"algorithm", "points", "ok", "illegal", "failed", "registers", "spilling", "spills", "smem", "compile"};
    mt_table rows = {.columns = sizeof names / sizeof names[0], .right = "lrrrrrrrrr"};
    for (size_t i = 0; i < rows.columns; i++) mt_table_cell(&rows, names[i]);
    for (size_t i = 0; table->variants && i < table->spec->algorithm_count; i++)
        if (table->variants[i].points) add_variant_row(&rows, table->spec->algorithms[i].name, &table->variants[i]);
    if (table->list) mt_table_print(&table->lines, out, "  ");
    if (table->list) fprintf(out, "\n");
    mt_table_print(&rows, out, "  ");
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) mt_reasons_print(&table->reasons, (mt_outcome_kind)kind, out);
    for (size_t i = 0; i < table->message_count; i++) {
        print_message(&table->messages[i], out);
        if (table->messages[i].others) fprintf(out, "    and %zu more with the same\n", table->messages[i].others);
    }
    if (table->untold) fprintf(out, "\n  and %zu more like these\n", table->untold);
    fprintf(out, "\n");
    mt_table_free(&rows);
}

void mt_check_free(mt_check_table *table)
{
    mt_free(table->variants);
    mt_table_free(&table->lines);
    for (size_t i = 0; i < table->message_count; i++) {
        mt_strbuf_free(&table->messages[i].text);
        mt_free(table->messages[i].why);
        mt_free(table->messages[i].variant);
    }
}
