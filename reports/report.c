#include "reports/report.h"

#include <string.h>

#include "reports/charts.h"
#include "reports/section.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

#define MT_SECTION(name) extern const mt_section mt_section_##name;
#include "reports/sections.def"
#undef MT_SECTION

static const mt_section *const sections[] = {
#define MT_SECTION(name) &mt_section_##name,
#include "reports/sections.def"
#undef MT_SECTION
};
enum { SECTION_COUNT = sizeof sections / sizeof *sections };

size_t mt_report_section_count(void)
{
    return SECTION_COUNT;
}

const char *mt_report_section_name(size_t index)
{
    return sections[index]->name;
}

static mt_status check_sections(const mt_report_options *options, mt_error *err)
{
    const char *names[SECTION_COUNT];
    mt_strbuf all = {0};
    mt_status st = MT_OK;
    for (size_t i = 0; i < SECTION_COUNT; i++) mt_strbuf_addf(&all, "%s%s", i ? ", " : "", names[i] = sections[i]->name);
    for (size_t k = 0; st == MT_OK && k < options->section_count; k++) {
        bool is_known = false;
        for (size_t i = 0; i < SECTION_COUNT; i++) is_known = is_known || strcmp(names[i], options->sections[k]) == 0;
        if (is_known) continue;
        const char *nearest = mt_text_nearest(options->sections[k], names, SECTION_COUNT);
        st = nearest ? MT_FAIL(err, MT_ERR_USAGE, "report: unknown section '%s', did you mean '%s'?", options->sections[k], nearest)
                     : MT_FAIL(err, MT_ERR_USAGE, "report: unknown section '%s', expected one of %s", options->sections[k], mt_strbuf_text(&all));
    }
    mt_strbuf_free(&all);
    return st;
}

static bool is_wanted(const mt_report_options *options, const mt_section *section)
{
    for (size_t k = 0; k < options->section_count; k++)
        if (strcmp(options->sections[k], section->name) == 0) return true;
    return !options->section_count;
}

static mt_status make(const mt_report_context *context, const mt_report_options *options, mt_doc *doc, mt_error *err)
{
    bool has_charts = !options->has_charts;
    mt_status st = MT_OK;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (!is_wanted(options, sections[i])) continue;
        mt_doc_section_begin(doc, sections[i]->name, sections[i]->title);
        MT_TRY(sections[i]->render(context, doc, err));
        if (sections[i] != &mt_section_summary || has_charts) continue;
        MT_TRY(mt_charts_add(context->data, doc, err));
        has_charts = true;
    }
    if (!has_charts) MT_TRY(mt_charts_add(context->data, doc, err)); /* what it notes belongs to the summary, if there is one */
done:
    return st;
}

mt_status mt_report_make(mt_store *store, const mt_filter *filter, const mt_report_options *options, mt_doc *doc, mt_error *err)
{
    mt_report_data data = {0};
    mt_report_context context = {store, filter, &data, options->lookup, options->misses, options->most_rows ? options->most_rows : SIZE_MAX};
    mt_status st;
    doc->title = mt_strdup("msda-tune report");
    doc->source = mt_strdup(mt_store_path(store));
    MT_TRY(check_sections(options, err));
    MT_TRY(mt_report_load(store, filter, options->lookup, &data, err));
    if (!data.rows) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: nothing to report: no measurements match", mt_store_path(store));
    else st = make(&context, options, doc, err);
    if (st == MT_OK && (!mt_doc_is_ok(doc) || !doc->title || !doc->source)) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
done:
    mt_report_data_free(&data);
    return st;
}
