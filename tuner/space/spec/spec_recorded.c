/* `points = recorded`: a space that lives on recordings alone. Its points are those that were recorded, so that it has nothing to compile, to launch or to exclude. */
#include "tuner/space/spec/spec_internal.h"

static mt_status need_key(mt_reader *reader, const char *key, bool has_it, mt_error *err)
{
    const mt_ini_section *kernel = reader->sections[MT_SECTION_KERNEL][0];
    if (has_it) return MT_OK;
    return mt_reader_fail(reader, err, kernel->line, "[kernel] has no `%s`: expected a line `%s = …`", key, key);
}

static mt_status refuse_key(mt_reader *reader, const mt_ini_section *section, const char *key, mt_error *err)
{
    const mt_ini_entry *entry = mt_ini_find(section, key);
    if (!entry) return MT_OK;
    return mt_reader_fail(reader, err, entry->line, "`%s` in a space with points = recorded: expected none, its points are those of the recording and nothing is compiled", key);
}

static mt_status refuse_sections(mt_reader *reader, mt_error *err)
{
    static const mt_section_kind kinds[] = { MT_SECTION_LET, MT_SECTION_CONSTRAINT, MT_SECTION_ARG, MT_SECTION_PREPARE, MT_SECTION_LAUNCH, MT_SECTION_FINISH };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!reader->counts[kinds[i]]) continue;
        return mt_reader_fail(reader, err, reader->sections[kinds[i]][0]->line,
                              "[%s] in a space with points = recorded: expected none, its points are those of the recording and nothing is compiled", mt_section_names[kinds[i]]);
    }
    return MT_OK;
}

mt_status mt_check_recorded(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    if (!spec->is_recorded) {
        MT_TRY(need_key(reader, "source", spec->source != NULL, err));
        MT_TRY(need_key(reader, "reference", spec->reference || spec->reference_file || spec->reference_is_default, err));
        return MT_OK;
    }
    static const char *const of_kernel[] = { "source", "reference", "compiler", "options", "include", "macros", "per" }, *const of_algorithm[] = { "requires", "options", "bake", "entry" };
    for (size_t i = 0; i < sizeof of_kernel / sizeof *of_kernel; i++) MT_TRY(refuse_key(reader, reader->sections[MT_SECTION_KERNEL][0], of_kernel[i], err));
    for (size_t k = 0; k < reader->counts[MT_SECTION_ALGORITHM]; k++)
        for (size_t i = 0; i < 4; i++) MT_TRY(refuse_key(reader, reader->sections[MT_SECTION_ALGORITHM][k], of_algorithm[i], err));
    for (size_t k = 0; k < reader->counts[MT_SECTION_PARAM]; k++) MT_TRY(refuse_key(reader, reader->sections[MT_SECTION_PARAM][k], "when", err));
    st = refuse_sections(reader, err);
done:
    return st;
}
