/* [model]: what a problem costs at least, and what a point of the space is believed to take. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"
#include "tuner/base/file.h"

#include <string.h>

static bool is_key(const char *name)
{
    size_t count;
    const mt_key_rule *rules = mt_rules(MT_RULES_MODEL, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i].key, name) == 0) return true;
    return false;
}

bool mt_is_helper(const mt_ini_section *section, const mt_ini_entry *entry)
{
    return strcmp(section->kind, mt_section_names[MT_SECTION_MODEL]) != 0 || (mt_ini_find(section, "time_ns") && !is_key(entry->key));
}

static bool reads(const mt_expr *expr, const char *name)
{
    for (size_t i = 0; expr->program && i < mt_program_name_count(expr->program); i++)
        if (strcmp(mt_program_name(expr->program, i), name) == 0) return true;
    return false;
}

/* A line that nothing reads is a key misspelt. */
static mt_status check_helpers(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    const mt_expr *const figures[] = {&spec->model_flops, &spec->model_dram_bytes, &spec->model_moved_bytes, &spec->model_ops, &spec->model_floor_ns, &spec->model_time_ns};
    for (size_t i = spec->model_let; i < spec->let_count; i++) {
        const char *keys[16], *name = spec->lets[i].name;
        char hint[512];
        bool is_read = false;
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) is_read = is_read || reads(figures[k], name);
        for (size_t k = i + 1; k < spec->let_count; k++) is_read = is_read || reads(&spec->lets[k].expr, name);
        if (is_read) continue;
        size_t count;
        const mt_key_rule *rules = mt_rules(MT_RULES_MODEL, &count);
        for (size_t k = 0; k < count; k++) keys[k] = rules[k].key;
        return mt_reader_fail(reader, err, reader->lets[i]->line, "`%s` in [model] is no key, and neither time_ns nor a line below reads it%s", name, mt_reader_suggest(name, keys, count, hint, sizeof hint));
    }
    return MT_OK;
}

/* What the problem costs does not depend on how it is computed. */
static mt_status check_figures(mt_reader *reader, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const struct { const char *key; const mt_expr *expr; } figures[] = {{"flops", &spec->model_flops}, {"dram_bytes", &spec->model_dram_bytes}, {"moved_bytes", &spec->model_moved_bytes},
                                                                        {"ops", &spec->model_ops}, {"floor_ns", &spec->model_floor_ns}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        uint64_t knobs = mt_scope_knobs(spec, figures[i].expr);
        char list[512];
        if (knobs) return mt_reader_fail(reader, err, figures[i].expr->line, "%s reads %s: the model describes the problem, not an algorithm; expected shape values, device facts and lets without knobs",
                                         figures[i].key, mt_scope_knob_list(spec, knobs, list, sizeof list));
    }
    return MT_OK;
}

/* Its lines become one, since it goes into lines of other files. */
static mt_status read_correction(mt_reader *reader, int line, mt_error *err)
{
    enum { MOST_BYTES = 4 << 20 };
    mt_spec *spec = reader->spec;
    mt_error why;
    size_t length, kept = 0;
    if (!spec->model_time_ns.program) return mt_reader_fail(reader, err, line, "correction: there is no time_ns that it could correct");
    if (mt_file_read(spec->model_correction_path, MOST_BYTES, &spec->model_correction, &length, &why) != MT_OK) return mt_reader_fail(reader, err, line, "correction: %s", why.message);
    for (size_t i = 0; i < length; i++)
        if (spec->model_correction[i] != '\n') spec->model_correction[kept++] = spec->model_correction[i];
    spec->model_correction[kept] = '\0';
    return MT_OK;
}

mt_status mt_read_model(mt_reader *reader, mt_error *err)
{
    if (reader->counts[MT_SECTION_MODEL] == 0) return MT_OK;
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    const mt_ini_section *section = reader->sections[MT_SECTION_MODEL][0];
    if (!mt_ini_find(section, "time_ns")) MT_TRY(mt_rules_check(reader, section, MT_RULES_MODEL, err));
    for (size_t i = spec->model_let; i < spec->let_count; i++) MT_TRY(mt_read_let(reader, i, err));
    MT_TRY(mt_rules_apply(reader, section, MT_RULES_MODEL, MT_PASS_EXPRESSIONS, spec, err));
    MT_TRY(check_helpers(reader, err));
    MT_TRY(check_figures(reader, err));
    if (spec->model_correction_path) MT_TRY(read_correction(reader, mt_ini_find(section, "correction")->line, err));
done:
    return st;
}
