#include "tuner/cli/commands/complete_values.h"

#include <stddef.h>
#include <string.h>

#include "db/store/query.h"
#include "reports/report.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/search/strategy.h"
#include "tuner/space/spec/spec.h"

/* Names are gathered into `names`. Callbacks get it as their context. */
typedef struct gathering {
    const mt_complete_line *line;
    mt_texts *names;
} gathering;

static bool is_command(const gathering *g, const char *name)
{
    return strcmp(g->line->command, name) == 0;
}

/* ---- which databases ---- */

typedef mt_status (*visitor)(mt_store *store, gathering *g, mt_error *err);

static void visit_store(mt_store *store, visitor visit, gathering *g)
{
    mt_error ignored = {0};
    if (store) visit(store, g, &ignored);
    mt_store_close(store);
}

static void visit_file(const char *path, visitor visit, gathering *g)
{
    mt_error ignored = {0};
    mt_store *store = NULL;
    if (mt_file_exists(path) && mt_store_open(path, MT_STORE_READ_ONLY, &store, &ignored) == MT_OK) visit_store(store, visit, g);
}

static void visit_shipped(const char *name, visitor visit, gathering *g)
{
    mt_error ignored = {0};
    char *path = NULL;
    if (mt_share_file(name, &path, &ignored) == MT_OK) visit_file(path, visit, g);
    mt_free(path);
}

/* The databases that the command would read: its operands, else --db or the user's; `lookup` also asks the shipped ones. */
static void visit_databases(visitor visit, gathering *g)
{
    mt_error ignored = {0};
    char *path = NULL;
    for (size_t i = 0; i < g->line->operand_count; i++) visit_file(g->line->operands[i], visit, g);
    if (g->line->operand_count) return;
    if (mt_store_default_path(g->line->db, &path, &ignored) == MT_OK) visit_file(path, visit, g);
    mt_free(path);
    if (g->line->db || !is_command(g, "lookup")) return;
    visit_shipped("recordings.sqlite", visit, g);
    visit_shipped("tuned.sqlite", visit, g);
}

static void visit_recordings(visitor visit, gathering *g)
{
    mt_error ignored = {0};
    mt_store *store = NULL;
    if (mt_share_recordings(g->line->recordings, &store, &ignored) == MT_OK) visit_store(store, visit, g);
    if (g->line->recordings) return;
    mt_share_open_own_recordings(false, &store);
    visit_store(store, visit, g);
}

/* ---- --gpu ---- */

static mt_status add_model(const char *lead, const char *key, gathering *g, mt_error *err)
{
    mt_strbuf name = {0};
    mt_strbuf_add(&name, lead);
    mt_strbuf_add_bytes(&name, key, strcspn(key, "|"));
    mt_status st = mt_texts_add(g->names, mt_strbuf_text(&name), err);
    mt_strbuf_free(&name);
    return st;
}

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    (void)measurements;
    return add_model("", row->key, context, err);
}

static mt_status on_recorded(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    (void)measurements;
    return add_model("recorded:", row->key, context, err);
}

static mt_status add_stored_gpus(mt_store *store, gathering *g, mt_error *err)
{
    return mt_query_devices(store, NULL, on_device, g, err);
}

static mt_status add_recorded_gpus(mt_store *store, gathering *g, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    return mt_query_devices(store, &recorded, on_recorded, g, err);
}

/* What --gpu means to a command: a GPU to work on, one whose facts are known, or one of the database's. */
enum { AUTO = 1, ALL = 2, KNOWN = 4, STORED = 8, STORED_RECORDED = 16, RECORDINGS = 32 };

static int gpus_of(const char *command)
{
    static const struct { const char *command; int which; } others[] = {
        {"tune", AUTO | ALL | RECORDINGS},
        {"portfolio", AUTO | ALL | STORED | STORED_RECORDED | RECORDINGS},
        {"lookup", AUTO | KNOWN | STORED | STORED_RECORDED},
        {"check", KNOWN},
        {"import", KNOWN},
        {"device", 0}, /* a number */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].command, command) == 0) return others[i].which;
    return STORED;
}

static void add_gpus(gathering *g)
{
    mt_error ignored = {0};
    int which = gpus_of(g->line->command);
    if (which & AUTO) mt_texts_add(g->names, "auto", &ignored);
    if (which & ALL) mt_texts_add(g->names, "all", &ignored);
    if (which & KNOWN) mt_known_device_names(g->names, &ignored);
    if (which & STORED) visit_databases(add_stored_gpus, g);
    if (which & STORED_RECORDED) visit_databases(add_recorded_gpus, g);
    if (which & RECORDINGS) visit_recordings(add_recorded_gpus, g);
}

/* ---- --kernel, --shape, --workload ---- */

/* A file may know kernels and shapes that it has no result of. */
typedef struct subjects {
    gathering *g;
    size_t member; /* of mt_tuned_info: what is gathered */
} subjects;

/* Whether the command is for winners: failures are nothing to it. */
static bool wants_winners(const gathering *g)
{
    static const char *const commands[] = {"lookup", "portfolio", "verify", "profile", "compile"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is_command(g, commands[i])) return true;
    return false;
}

static mt_status on_subject(void *context, const mt_tuned_info *row, mt_error *err)
{
    const subjects *s = context;
    if (!row->ok && wants_winners(s->g)) return MT_OK;
    return mt_texts_add(s->g->names, *(const char *const *)((const char *)row + s->member), err);
}

/* --kernel may be NAME@KEY. */
static mt_status add_of_subjects(mt_store *store, size_t member, gathering *g, mt_error *err)
{
    bool is_of_kernel = g->line->kernel && member != offsetof(mt_tuned_info, kernel);
    char *kernel = is_of_kernel ? mt_strndup(g->line->kernel, strcspn(g->line->kernel, "@")) : NULL;
    const mt_filter filter = {.kernel = kernel};
    subjects s = {g, member};
    mt_status st = mt_query_tuned(store, &filter, on_subject, &s, err);
    mt_free(kernel);
    return st;
}

static mt_status add_stored_kernels(mt_store *store, gathering *g, mt_error *err)
{
    return add_of_subjects(store, offsetof(mt_tuned_info, kernel), g, err);
}

static mt_status add_stored_shapes(mt_store *store, gathering *g, mt_error *err)
{
    return add_of_subjects(store, offsetof(mt_tuned_info, shape), g, err);
}

static mt_status add_stored_workloads(mt_store *store, gathering *g, mt_error *err)
{
    return add_of_subjects(store, offsetof(mt_tuned_info, workload), g, err);
}

static mt_spec *load_space(const char *space)
{
    mt_error ignored = {0};
    char *path = NULL;
    mt_spec *spec = NULL;
    if (mt_share_space(space, &path, &ignored) == MT_OK) mt_spec_load(path, &spec, &ignored);
    mt_free(path);
    return spec;
}

static void add_shipped_kernels(gathering *g)
{
    mt_error ignored = {0};
    mt_texts spaces = {0};
    mt_share_spaces(&spaces, &ignored);
    for (size_t i = 0; i < spaces.count; i++) {
        mt_spec *spec = load_space(spaces.items[i]);
        if (spec) mt_texts_add(g->names, spec->name, &ignored);
        mt_spec_free(spec);
    }
    mt_texts_free(&spaces);
}

static void add_kernels(gathering *g)
{
    if (is_command(g, "key")) add_shipped_kernels(g);
    else if (!is_command(g, "new")) visit_databases(add_stored_kernels, g);
}

static void add_shapes(gathering *g)
{
    mt_error ignored = {0};
    if (!g->line->space) {
        visit_databases(add_stored_shapes, g);
        return;
    }
    mt_spec *spec = load_space(g->line->space);
    for (size_t i = 0; spec && i < spec->shape_count; i++) mt_texts_add(g->names, spec->shapes[i].name, &ignored);
    mt_spec_free(spec);
}

static void add_workloads(gathering *g)
{
    mt_error ignored = {0};
    if (!g->line->space) {
        visit_databases(add_stored_workloads, g);
        return;
    }
    mt_spec *spec = load_space(g->line->space);
    for (size_t i = 0; spec && i < spec->workload_count; i++) mt_texts_add(g->names, spec->workloads[i].name, &ignored);
    mt_spec_free(spec);
}

/* ---- names that the tool itself has ---- */

static void add_spaces(gathering *g)
{
    mt_error ignored = {0};
    mt_share_spaces(g->names, &ignored);
}

static void add_strategies(gathering *g)
{
    mt_error ignored = {0};
    mt_texts_add(g->names, "auto", &ignored);
    for (size_t i = 0; i < mt_strategy_count(); i++) mt_texts_add(g->names, mt_strategy_at(i)->name, &ignored);
}

static void add_sections(gathering *g)
{
    mt_error ignored = {0};
    for (size_t i = 0; i < mt_report_section_count(); i++) mt_texts_add(g->names, mt_report_section_name(i), &ignored);
}

/* ---- all of it ---- */

/* "cold|warm" of the option's table. */
static void add_choices(const char *choices, gathering *g)
{
    mt_error ignored = {0};
    for (const char *at = choices; *at;) {
        size_t length = strcspn(at, "|");
        char *choice = mt_strndup(at, length);
        if (choice) mt_texts_add(g->names, choice, &ignored);
        mt_free(choice);
        at += length + (at[length] == '|');
    }
}

void mt_complete_values_add(const mt_complete_line *line, const mt_option *option, mt_texts *names)
{
    /* An option's name means the same in every command that has it. */
    static const struct { const char *option; void (*add)(gathering *); } sources[] = {
        {"gpu", add_gpus}, {"kernel", add_kernels}, {"shape", add_shapes}, {"workload", add_workloads},
        {"space", add_spaces}, {"strategy", add_strategies}, {"section", add_sections},
    };
    gathering g = {line, names};
    if (option->kind == MT_OPTION_CHOICE) add_choices(option->value, &g);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].option, option->name) == 0) sources[i].add(&g);
}
