#include "tuner/cli/requests/results.h"

#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/text.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/space/source/source.h"
#include "tuner/space/spec/spec_json.h"

/* ---- what it is about ---- */

static mt_status need(const char *path, const mt_import_about *about, const char *what, const char *option, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_USAGE, "%s: this %s does not say %s: expected %s", path, about->format, what, option);
}

/* "a100" is four models: which one was taken decides what the results are compared with. */
static void tell_choice(const char *gpu, const char *chosen_name)
{
    mt_strbuf libraries = {0};
    mt_known_device_candidates(gpu, chosen_name, &libraries);
    if (libraries.length) mt_log_warn("--gpu %s is taken as %s; say it if it was another: %s", gpu, chosen_name, mt_strbuf_text(&libraries));
    mt_strbuf_free(&libraries);
}

/* A GPU that devices.ini lacks (another maker's, say) has results all the same; only its facts are not known. */
static mt_status find_gpu(const char *gpu, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err)
{
    mt_status st = mt_known_device(gpu, NULL, facts, arch, err);
    if (st == MT_OK) tell_choice(gpu, facts->name);
    if (st != MT_ERR_NOT_FOUND) return st;
    mt_strbuf shown = {0};
    mt_print_clean(&shown, gpu, 0);
    mt_log_warn("devices.ini has no GPU '%s': its results are kept without the facts of the GPU", mt_strbuf_text(&shown));
    mt_strbuf_free(&shown);
    *facts = (mt_device_facts){0};
    snprintf(facts->name, sizeof facts->name, "%s", gpu);
    mt_facts_arch(0, arch, MT_ARCH_SIZE);
    return MT_OK;
}

/* "4096,4096": whole numbers, as a search space writes them. */
static mt_status check_problem(const char *problem, mt_error *err)
{
    const char *at = problem;
    while (at && *at) {
        size_t length = strcspn(at, ",");
        int64_t number;
        while (*at == ' ') at++, length--;
        if (!mt_text_int64(at, length, &number) || number < 1) return MT_FAIL(err, MT_ERR_USAGE, "import: --problem-size is '%s', expected whole numbers such as 4096,4096", problem);
        at += length;
        if (*at == ',' && !*++at) return MT_FAIL(err, MT_ERR_USAGE, "import: --problem-size is '%s', expected a number behind the comma", problem);
    }
    return MT_OK;
}

/* ---- the search space ---- */

/* Where the section of the text's only shape begins and ends: at the line ends in front of its header and of the next one. */
static bool find_shape(const char *text, size_t *begin, size_t *end)
{
    const char *shape = strstr(text, "\n[shape "), *next = shape ? strstr(shape + 1, "\n[") : NULL;
    *begin = shape ? (size_t)(shape - text) : 0;
    *end = next ? (size_t)(next - text) : 0;
    return next != NULL;
}

/* Another file of the same kernel differs in its shape alone, between the same head and the same rest: then `joined` gets the old text's shapes and the new one, which may be among them.
 * A shape of that name with other values stays another file. */
static bool join_shapes(const char *old, const mt_strbuf *ini, mt_strbuf *joined)
{
    const char *text = mt_strbuf_text(ini);
    size_t begin, end, old_length = strlen(old);
    if (!find_shape(text, &begin, &end)) return false;
    size_t rest = ini->length - end, header = strcspn(text + begin + 1, "\n") + 2;
    if (old_length < begin + rest || memcmp(old, text, begin) != 0 || memcmp(old + old_length - rest, text + end, rest) != 0) return false;
    const char *shapes = old + begin, *behind = old + old_length - rest;
    if (strncmp(shapes, "\n[shape ", 8) != 0) return false;
    const char *known = memmem(shapes, (size_t)(behind - shapes), text + begin, end - begin), *same_name = memmem(shapes, (size_t)(behind - shapes), text + begin, header);
    if (same_name && !known) return false;
    mt_strbuf_add_bytes(joined, old, (size_t)(behind - old));
    if (!known) mt_strbuf_add_bytes(joined, text + begin, end - begin);
    mt_strbuf_add_bytes(joined, behind, rest);
    return true;
}

/* Where the search space will stand, and what will stand there. */
static mt_status plan_space(const mt_results_options *options, const char *kernel, const mt_strbuf *ini, mt_results *results, mt_error *err)
{
    char *old = NULL;
    size_t length = 0;
    mt_error ignored;
    mt_strbuf *path = &results->space_path, *space = &results->space;
    mt_status st = MT_OK;
    if (options->space_path) mt_strbuf_add(path, options->space_path);
    else mt_strbuf_addf(path, "%s.ini", kernel);
    if (path->failed) return mt_no_memory("import", err);
    bool is_there = !options->space_path && mt_file_exists(mt_strbuf_text(path));
    bool is_read = is_there && mt_file_read(mt_strbuf_text(path), 0, &old, &length, &ignored) == MT_OK && strlen(old) == length;
    if (!is_there) mt_strbuf_add(space, mt_strbuf_text(ini));
    else if (!is_read || !join_shapes(old, ini, space))
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: exists and is another search space than that of this import, with other knobs, or another shape of the same name: expected --space-out FILE", mt_strbuf_text(path));
    if (space->failed) st = mt_no_memory("import", err);
    mt_free(old);
    return st;
}

/* ---- line 1 ---- */

static void add_text(mt_strbuf *json, const char *before, const char *text)
{
    mt_strbuf_add(json, before);
    mt_strbuf_add_json(json, text);
}

static void add_gpu(const mt_device_facts *facts, mt_strbuf *json)
{
    char key[MT_KEY_GPU_SIZE];
    char *facts_json = mt_facts_to_json(facts);
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, key, sizeof key);
    add_text(json, "{\"key\":", key);
    add_text(json, ",\"name\":", facts->name);
    mt_strbuf_addf(json, ",\"facts\":%s}", facts_json ? facts_json : "");
    json->failed = json->failed || !facts_json;
    mt_free(facts_json);
}

static void add_shape(const mt_spec *spec, mt_strbuf *json)
{
    add_text(json, "{\"name\":", spec->shapes[0].name);
    add_text(json, ",\"key\":", spec->shapes[0].key);
    mt_strbuf_add_char(json, '}');
}

/* Of a file that says nothing of the sort. */
static mt_status add_header(const mt_import *import, const mt_spec *spec, const mt_device_facts *facts, const char *arch, const char *kernel_key, mt_strbuf *json, mt_error *err)
{
    char *spec_json = mt_spec_json(spec);
    mt_strbuf_add(json, "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":");
    add_gpu(facts, json);
    add_text(json, ",\"kernel\":{\"name\":", spec->name);
    add_text(json, ",\"key\":", kernel_key);
    mt_strbuf_addf(json, ",\"spec\":%s},\"shape\":", spec_json ? spec_json : "");
    add_shape(spec, json);
    add_text(json, ",\"workload\":{\"name\":", spec->workloads[0].name);
    add_text(json, ",\"key\":", spec->workloads[0].key);
    add_text(json, "},\"regime\":", mt_l2_name(spec->l2));
    add_text(json, ",\"toolchain\":{\"nvrtc\":0,\"driver\":0,\"arch\":", arch);
    mt_strbuf_addf(json, "},\"recorded_unix_ms\":%lld}\n", (long long)mt_import_describe(import)->newest_unix_ms);
    json->failed = json->failed || !spec_json;
    mt_free(spec_json);
    return json->failed ? mt_no_memory("import", err) : MT_OK;
}

/* Of a file that this tool wrote: what a person says replaces its own. The programs of another shape would not fit the new one. */
static mt_status rename_header(mt_import *import, const mt_spec *spec, const mt_device_facts *facts, bool has_problem, const char *kernel_key, mt_strbuf *json, mt_error *err)
{
    mt_strbuf name = {0}, key = {0}, gpu = {0}, shape = {0};
    char *programs = has_problem ? mt_spec_json(spec) : NULL;
    mt_status st = MT_OK;
    mt_strbuf_add_json(&name, spec->name);
    mt_strbuf_add_json(&key, kernel_key);
    if (facts) add_gpu(facts, &gpu);
    if (has_problem) add_shape(spec, &shape);
    if (name.failed || key.failed || gpu.failed || shape.failed || has_problem != !!programs) st = mt_no_memory("import", err);
    const mt_import_names names = {mt_strbuf_text(&name), mt_strbuf_text(&key), facts ? mt_strbuf_text(&gpu) : NULL, has_problem ? mt_strbuf_text(&shape) : NULL, programs};
    if (st == MT_OK) st = mt_import_own_line1(import, &names, json, err);
    mt_strbuf_free(&name);
    mt_strbuf_free(&key);
    mt_strbuf_free(&gpu);
    mt_strbuf_free(&shape);
    mt_free(programs);
    return st;
}

/* Shape and workload of the search space are looked up by their keys: as the file has them, or not at all. */
static mt_status check_subject(const char *path, const mt_import_about *about, const mt_spec *spec, bool has_problem, mt_error *err)
{
    if (!about->has_line1) return MT_OK;
    const mt_shape *shape = &spec->shapes[0];
    const mt_workload *workload = &spec->workloads[0];
    bool is_shape = has_problem || (strcmp(shape->name, about->shape) == 0 && strcmp(shape->key, about->shape_key) == 0);
    bool is_workload = strcmp(workload->name, about->workload) == 0 && strcmp(workload->key, about->workload_key) == 0;
    if (is_shape && is_workload) return MT_OK;
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s: the %s '%s' with the key '%s' is none that a search space can have; expected NAME=VALUE pairs joined by `;`", path, is_shape ? "workload" : "shape",
                   is_shape ? about->workload : about->shape, is_shape ? about->workload_key : about->shape_key);
}

/* ---- all of it ---- */

mt_status mt_results_convert(mt_import *import, const char *path, const mt_results_options *options, mt_results *results, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_import_about *about = mt_import_describe(import);
    const char *gpu = options->gpu ? options->gpu : about->gpu, *kernel = options->name ? options->name : about->kernel;
    const char *problem = options->problem ? options->problem : about->problem;
    mt_strbuf ini = {0};
    mt_spec *spec = NULL;
    mt_device_facts facts = {0};
    char arch[MT_ARCH_SIZE];
    bool is_file_gpu = about->has_line1 && !options->gpu;
    mt_hash kernel_key;
    const mt_source no_source = {0};
    if (!gpu) return need(path, about, "which GPU it is of", "--gpu NAME, such as a100", err);
    if (!kernel) return need(path, about, "which kernel it is of", "--name NAME", err);
    MT_TRY(check_problem(options->problem, err));
    if (!is_file_gpu) MT_TRY(find_gpu(gpu, &facts, arch, err));
    MT_TRY(mt_import_space(import, kernel, problem, &ini, err));
    st = mt_spec_parse("the search space of this import", mt_strbuf_text(&ini), ini.length, &spec, err);
    if (st != MT_OK) st = mt_error_prefix(err, st, "%s", path);
    if (st != MT_OK) goto done;
    MT_TRY(check_subject(path, about, spec, options->problem != NULL, err));
    MT_TRY(mt_source_key(spec, &no_source, &kernel_key, err));
    MT_TRY(about->has_line1 ? rename_header(import, spec, is_file_gpu ? NULL : &facts, options->problem != NULL, kernel_key.hex, &results->recording, err)
                            : add_header(import, spec, &facts, arch, kernel_key.hex, &results->recording, err));
    MT_TRY(mt_import_lines(import, kernel, &results->recording, err));
    MT_TRY(plan_space(options, kernel, &ini, results, err));
    mt_key_model(is_file_gpu ? gpu : facts.name, results->model, sizeof results->model);
done:
    mt_spec_free(spec);
    mt_strbuf_free(&ini);
    return st;
}

mt_status mt_results_write_space(const mt_results *results, mt_error *err)
{
    return mt_file_write_atomic(mt_strbuf_text(&results->space_path), mt_strbuf_text(&results->space), results->space.length, err);
}

void mt_results_free(mt_results *results)
{
    mt_strbuf_free(&results->space);
    mt_strbuf_free(&results->recording);
    mt_strbuf_free(&results->space_path);
}
