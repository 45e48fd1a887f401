#include "tuner/cli/requests/check_run.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/cpu/run.h"

typedef struct subject {
    const mt_check_run_request *request;
    const mt_shape *shape;
    mt_space *space;
    mt_point point;
    char *variant;
    mt_cpu_report report;
} subject;

/* ---- which one ---- */

static mt_status smallest_shape(const mt_spec *spec, const mt_device_facts *facts, const mt_shape **shape, mt_error *err)
{
    double least = 0;
    mt_status st = MT_OK;
    *shape = NULL;
    for (size_t i = 0; i < spec->shape_count && st == MT_OK; i++) {
        double size;
        st = mt_cpu_size(spec, &spec->shapes[i], facts, &size, err);
        if (*shape && size >= least) continue;
        *shape = &spec->shapes[i];
        least = size;
    }
    return st;
}

/* The last of the texts "NAME=…" that is of the name: its value; NULL: none is. */
static const char *set_value(const mt_texts *sets, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = sets->count; i-- > 0;)
        if (strncmp(sets->items[i], name, length) == 0 && sets->items[i][length] == '=') return sets->items[i] + length + 1;
    return NULL;
}

static mt_status check_sets(const mt_texts *sets, const mt_shape *shape, mt_error *err)
{
    for (size_t i = 0; i < sets->count; i++) {
        char *name = mt_strndup(sets->items[i], strcspn(sets->items[i], "="));
        bool is_known = name && sets->items[i][strlen(name)] && mt_settings_find(shape->settings, shape->setting_count, name);
        mt_free(name);
        if (!is_known) return MT_FAIL(err, MT_ERR_USAGE, "check: --set %s: expected NAME=VALUE with a name of the shapes' values: %s", sets->items[i], shape->key);
    }
    return MT_OK;
}

mt_status mt_check_run_values(const char *path, const mt_texts *sets, const mt_device_facts *facts, mt_texts *values, mt_error *err)
{
    mt_spec *spec = NULL;
    const mt_shape *shape;
    mt_strbuf text = {0};
    mt_status st = mt_spec_load(path, &spec, err);
    if (st == MT_OK) st = smallest_shape(spec, facts, &shape, err);
    if (st == MT_OK) st = check_sets(sets, shape, err);
    for (size_t i = 0; st == MT_OK && i < shape->setting_count; i++) {
        const mt_setting *setting = &shape->settings[i];
        const char *value = set_value(sets, setting->name);
        mt_strbuf_addf(&text, "%s%s=%s", i ? ";" : "", setting->name, value ? value : setting->text);
    }
    if (st == MT_OK) st = mt_texts_take(values, mt_strbuf_take(&text), err);
    mt_strbuf_free(&text);
    mt_spec_free(spec);
    return st;
}

/* The default point; where constraints exclude it, the first one that is valid. */
static mt_status choose(subject *self, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_check_run_request *request = self->request;
    size_t index = 0;
    mt_error excluded;
    if (request->shapes->count > 1) return MT_FAIL(err, MT_ERR_USAGE, "check: --run runs one shape; expected --shape once");
    if (request->spec->is_recorded) return MT_FAIL(err, MT_ERR_SPEC, "%s: points = recorded: there is nothing to run", request->path);
    if (request->shapes->count) self->shape = mt_spec_shape(request->spec, request->shapes->items[0]);
    else MT_TRY(smallest_shape(request->spec, request->facts, &self->shape, err));
    MT_TRY(mt_space_create(request->spec, self->shape, request->facts, &self->space, err));
    if (mt_space_default(self->space, &index, &excluded) != MT_OK && (request->spec->reference_is_default || !mt_space_next(self->space, 0, &index)))
        return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s", excluded.message);
    mt_space_at(self->space, index, &self->point);
    self->variant = mt_point_text(request->spec, &self->point);
    if (!self->variant) st = mt_no_memory("check --run", err);
done:
    return st;
}

/* ---- text ---- */

static void add_dims(const uint32_t *dims, mt_strbuf *text)
{
    int count = dims[2] > 1 ? 3 : dims[1] > 1 ? 2 : 1;
    for (int i = 0; i < count; i++) mt_strbuf_addf(text, "%s%u", i ? "×" : "", dims[i]);
}

static void print_launch(const mt_plan_launch *launch)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "  %s %d: %s, grid ", mt_launch_phase_names[launch->from->phase], launch->from->number, launch->entry);
    add_dims(launch->grid, &text);
    mt_strbuf_add(&text, ", block ");
    add_dims(launch->block, &text);
    if (launch->smem_bytes) mt_strbuf_addf(&text, ", %u B of shared memory", launch->smem_bytes);
    if (launch->repeat > 1) mt_strbuf_addf(&text, ", %u times", launch->repeat);
    printf("%s\n", mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

static const char *whose(const mt_cpu_report *report)
{
    return report->is_of_reference ? "the reference" : "the variant";
}

static void print_text(const subject *self)
{
    const mt_cpu_report *report = &self->report;
    const mt_spec *spec = self->request->spec;
    printf("%s (%s) on the CPU: %s\n", self->shape->name, self->shape->key, self->variant);
    for (size_t i = 0; i < report->plan.launch_count; i++) print_launch(&report->plan.launches[i]);
    if (report->threads)
        printf("  %llu threads of the variant, %llu of the reference\n", report->threads, report->reference_threads);
    for (size_t i = 0; i < report->output_count; i++) printf("  %s: %s\n", !report->outputs[i].passes ? "wrong" : spec->reference_is_default ? "ran" : "right", report->outputs[i].text);
    bool is_ok = strcmp(report->outcome, "ok") == 0;
    if (is_ok && spec->reference_is_default) printf("  whether it is right nobody knows: with reference = default it was compared with itself\n");
    if (is_ok && !report->has_sanitizer) printf("  reads and writes out of bounds were not looked for: %s has no AddressSanitizer\n", report->compiler);
    fflush(stdout);
}

/* ---- JSON ---- */

static void add_triple(const char *name, const uint32_t *dims, mt_strbuf *out)
{
    mt_strbuf_addf(out, ",\"%s\":[%u,%u,%u]", name, dims[0], dims[1], dims[2]);
}

static void add_json_launch(const mt_plan_launch *launch, mt_strbuf *out)
{
    mt_strbuf_addf(out, "{\"phase\":\"%s\",\"number\":%d", mt_launch_phase_names[launch->from->phase], launch->from->number);
    mt_strbuf_add_member(out, "entry", launch->entry);
    add_triple("grid", launch->grid, out);
    add_triple("block", launch->block, out);
    mt_strbuf_addf(out, ",\"smem_bytes\":%u,\"repeat\":%u}", launch->smem_bytes, launch->repeat);
}

static void add_json_output(const mt_spec *spec, const mt_cpu_output *output, mt_strbuf *out)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, spec->args[output->arg].name);
    mt_strbuf_addf(out, ",\"passes\":%s", output->passes ? "true" : "false");
    mt_strbuf_add_number(out, "norm_error", output->accuracy.norm_error);
    mt_strbuf_add_number(out, "worst_error", output->accuracy.worst_error);
    mt_strbuf_addf(out, ",\"worst_index\":%llu", (unsigned long long)output->accuracy.worst_index);
    mt_strbuf_add_member(out, "text", output->text);
    mt_strbuf_add(out, "}");
}

/* `outcome`, `text`: of a run that did not come so far as to have its own. */
static mt_status print_json(const subject *self, const char *outcome, const char *text, mt_error *err)
{
    mt_strbuf out = {0};
    const mt_cpu_report *report = &self->report;
    mt_strbuf_add(&out, "{\"space\":");
    mt_strbuf_add_json(&out, self->request->path);
    mt_strbuf_add_member(&out, "shape", self->shape ? self->shape->name : NULL);
    mt_strbuf_add_member(&out, "shape_key", self->shape ? self->shape->key : NULL);
    mt_strbuf_add_member(&out, "variant", self->variant);
    mt_strbuf_add_member(&out, "compiler", report->compiler);
    mt_strbuf_addf(&out, ",\"finds_out_of_bounds\":%s,\"threads\":%llu,\"reference_threads\":%llu,\"launches\":[", report->has_sanitizer ? "true" : "false", report->threads, report->reference_threads);
    for (size_t i = 0; i < report->plan.launch_count; i++) {
        if (i) mt_strbuf_add(&out, ",");
        add_json_launch(&report->plan.launches[i], &out);
    }
    mt_strbuf_add(&out, "],\"outputs\":[");
    for (size_t i = 0; i < report->output_count; i++) {
        if (i) mt_strbuf_add(&out, ",");
        add_json_output(self->request->spec, &report->outputs[i], &out);
    }
    mt_strbuf_add(&out, "]");
    mt_strbuf_add_member(&out, "outcome", outcome);
    mt_strbuf_add_member(&out, "of", !report->outcome || strcmp(report->outcome, "ok") == 0 ? NULL : report->is_of_reference ? "reference" : "variant");
    mt_strbuf_add_member(&out, "text", text);
    mt_strbuf_add(&out, "}");
    mt_status st = out.failed ? mt_no_memory("check --run", err) : MT_OK;
    if (st == MT_OK) printf("%s\n", mt_strbuf_text(&out));
    mt_strbuf_free(&out);
    return st;
}

/* ---- the verdict ---- */

static mt_status judge(const subject *self, mt_error *err)
{
    const mt_cpu_report *report = &self->report;
    if (strcmp(report->outcome, "ok") == 0) return MT_OK;
    if (strcmp(report->outcome, "refused") == 0) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s can't run on the CPU: %s", whose(report), report->text);
    return MT_FAIL(err, MT_ERR_SPEC, "the outcome of %s is %s: %s", whose(report), report->outcome, report->text);
}

mt_status mt_check_run(const mt_check_run_request *request, mt_error *err)
{
    mt_status st = MT_OK;
    subject self = {.request = request};
    MT_TRY(choose(&self, err));
    const mt_workload *workload = self.shape->workload_count ? mt_spec_workload(request->spec, self.shape->workloads[0]) : &request->spec->workloads[0];
    const mt_cpu_request run = {.spec = request->spec, .shape = self.shape, .workload = workload, .facts = request->facts, .point = &self.point, .compile_limit_s = request->compile_limit_s, .run_limit_s = request->run_limit_s};
    MT_TRY(mt_cpu_run(&run, &self.report, err));
    if (request->json) MT_TRY(print_json(&self, self.report.outcome, self.report.text, err));
    else print_text(&self);
    st = judge(&self, err);
done:
    if (st != MT_OK && st != MT_ERR_USAGE && request->json && !self.report.outcome) print_json(&self, "error", err->message, NULL);
    mt_cpu_report_free(&self.report);
    mt_space_free(self.space);
    mt_free(self.variant);
    return st;
}
