#include "tuner/cli/output/check_json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/space_json.h"

/* ---- findings ---- */

typedef struct place {
    char *file; /* owned; NULL = not said */
    long line;  /* 0 = not said */
} place;

static void add_message(mt_check_json *json, const place *at, const char *severity, const char *text, const char *variant, size_t variants)
{
    mt_strbuf *out = &json->messages;
    mt_strbuf_add(out, out->length ? ",\n {" : "\n {");
    mt_strbuf_add(out, "\"severity\":");
    mt_strbuf_add_json(out, severity);
    mt_strbuf_add_member(out, "file", at->file);
    if (at->line) mt_strbuf_addf(out, ",\"line\":%ld", at->line);
    else mt_strbuf_add(out, ",\"line\":null");
    mt_strbuf_add_member(out, "text", text);
    if (variant) mt_strbuf_add_member(out, "variant", variant);
    if (variant) mt_strbuf_addf(out, ",\"variants\":%zu", variants);
    mt_strbuf_add_char(out, '}');
}

/* "FILE:12: text", "FILE(12): text": *text is what stands behind. False: it says no place. */
static bool read_place(const char **text, char opening, const char *closing, place *at)
{
    size_t length = strcspn(*text, "\n");
    for (const char *c = *text; (size_t)(c - *text) < length; c++) {
        char *end;
        if (*c != opening || c == *text || !isdigit((unsigned char)c[1])) continue;
        at->line = strtol(c + 1, &end, 10);
        if (strncmp(end, closing, strlen(closing)) != 0) continue;
        at->file = mt_strndup(*text, (size_t)(c - *text));
        *text = end + strlen(closing);
        return true;
    }
    at->line = 0;
    return false;
}

/* The compiler names files as they are included. */
static void resolve(place *at, const mt_source *source)
{
    for (size_t i = 0; i < source->file_count; i++) {
        if (!at->file || strcmp(source->files[i].name, at->file) != 0) continue;
        mt_free(at->file);
        at->file = mt_strdup(source->files[i].path);
        return;
    }
}

/* A line of a compiler's log that says a place and a severity. */
static bool add_log_line(mt_check_json *json, const mt_source *source, const char *line, const char *variant, size_t variants)
{
    static const char *const severities[] = {"error", "warning"};
    place at = {0};
    bool is_one = false;
    if (!read_place(&line, '(', "): ", &at)) return false;
    resolve(&at, source);
    for (size_t i = 0; i < 2 && !is_one; i++) {
        size_t length = strlen(severities[i]);
        const char *colon = strchr(line, ':'); /* "error: …", "Error: …", "warning #177-D: …" */
        is_one = strncasecmp(line, severities[i], length) == 0 && (line[length] == ':' || line[length] == ' ') && colon;
        if (is_one) add_message(json, &at, severities[i], colon + 1 + strspn(colon + 1, " "), variant, variants);
    }
    mt_free(at.file);
    return is_one;
}

static bool add_log(mt_check_json *json, const mt_source *source, const char *log, const char *variant, size_t variants)
{
    bool has_place = false;
    while (*log) {
        size_t length = strcspn(log, "\n");
        char *line = mt_strndup(log, length);
        has_place = (line && add_log_line(json, source, line, variant, variants)) || has_place;
        mt_free(line);
        log += length + (log[length] == '\n');
    }
    return has_place;
}

void mt_check_json_message(mt_check_json *json, const mt_source *source, const char *severity, const char *text)
{
    place at = {0};
    if (add_log(json, source, text, NULL, 0)) return;
    read_place(&text, ':', ": ", &at);
    add_message(json, &at, severity, text, NULL, 0);
    mt_free(at.file);
}

static void add_failure(mt_check_json *json, const mt_source *source, const mt_check_message *message)
{
    const char *why = message->why ? message->why : "";
    place at = {0};
    if (add_log(json, source, why, message->variant, message->others + 1)) return;
    read_place(&why, ':', ": ", &at);
    add_message(json, &at, "error", why, message->variant, message->others + 1);
    mt_free(at.file);
}

/* Why points may not run. */
static void add_reason(mt_check_json *json, const mt_reason *reason)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%s: %s", mt_outcome_name(reason->kind), reason->text);
    add_message(json, &(place){0}, "warning", mt_strbuf_text(&text), reason->variant, reason->count);
    mt_strbuf_free(&text);
}

/* ---- shapes ---- */

static void add_variant(mt_strbuf *out, const char *name, const mt_check_variant *v)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, name);
    mt_strbuf_addf(out, ",\"points\":%zu,\"ok\":%zu,\"illegal\":%zu,\"failed\":%zu,\"spilling\":%zu", v->points, v->ok, v->illegal, v->failed, v->spilling);
    if (v->ok) mt_strbuf_addf(out, ",\"least_registers\":%u,\"most_registers\":%u,\"most_spill_bytes\":%u,\"most_static_smem_bytes\":%u", v->least_registers, v->most_registers, v->most_spills, v->most_static_smem);
    mt_strbuf_add_char(out, '}');
}

void mt_check_json_shape(mt_check_json *json, const mt_space *space, const mt_source *source, size_t checked, const mt_check_table *table)
{
    mt_strbuf *out = &json->shapes;
    const mt_spec *spec = mt_space_spec(space);
    mt_strbuf_add(out, out->length ? ",\n {" : "\n {");
    mt_space_json_shape(out, mt_space_shape(space));
    mt_strbuf_addf(out, ",\"points\":%zu,\"points_exact\":%s,\"points_before_constraints\":%llu,\"checked\":%zu,\"variants\":[", mt_space_count(space),
                   mt_space_count_is_exact(space) ? "true" : "false", (unsigned long long)mt_space_raw_count(space), checked);
    bool is_first = true;
    for (size_t i = 0; table->variants && i < spec->algorithm_count; i++) {
        if (!table->variants[i].points) continue;
        if (!is_first) mt_strbuf_add_char(out, ',');
        add_variant(out, spec->algorithms[i].name, &table->variants[i]);
        is_first = false;
    }
    mt_strbuf_add(out, "]}");
    for (size_t i = 0; i < table->message_count; i++) add_failure(json, source, &table->messages[i]);
    for (size_t i = 0; i < table->reasons.count; i++) add_reason(json, &table->reasons.items[i]);
    if (!table->untold) return;
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "shape %s: %zu more variants failed, with other texts", mt_space_shape(space)->name, table->untold);
    add_message(json, &(place){0}, "error", mt_strbuf_text(&text), NULL, 0);
    mt_strbuf_free(&text);
}

void mt_check_json_print(const mt_check_json *json, FILE *out, const char *space_path, const mt_spec *spec, const char *gpu, const char *arch)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, "{\"space\":");
    if (space_path) mt_strbuf_add_json(&text, space_path);
    else mt_strbuf_add(&text, "null");
    mt_strbuf_add_member(&text, "gpu", gpu);
    mt_strbuf_add_member(&text, "arch", arch);
    if (spec) {
        mt_strbuf_add(&text, ",\n ");
        mt_space_json_facts(&text, spec);
    }
    fprintf(out, "%s,\n \"shapes\":[%s],\n \"messages\":[%s]}\n", mt_strbuf_text(&text), mt_strbuf_text(&json->shapes), mt_strbuf_text(&json->messages));
    mt_strbuf_free(&text);
}

void mt_check_json_free(mt_check_json *json)
{
    mt_strbuf_free(&json->shapes);
    mt_strbuf_free(&json->messages);
}
