/* msda-tune export --vllm: for each N and K (or E and N) an object whose members are the M, each the configuration of the kernel for it:
 *
 *     N=4096,K=7168,device_name=NVIDIA_H200,dtype=fp8.json     {"1": {"BLOCK_SIZE_M": 64, …}, "16": {…}}
 *
 * as vLLM's fused-MoE and W8A8 kernels, and SGLang's, have them; they take the nearest M. */
#include <inttypes.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/path.h"
#include "tuner/cli/lookup/table_answers.h"
#include "tuner/cli/output/print.h"

/* What such kernels call knobs that go by these names here; all others keep their own. */
static const struct { const char *knob, *name; } renamed[] = {
    {"BM", "BLOCK_SIZE_M"}, {"BN", "BLOCK_SIZE_N"}, {"BK", "BLOCK_SIZE_K"}, {"BLOCK_M", "BLOCK_SIZE_M"}, {"BLOCK_N", "BLOCK_SIZE_N"}, {"BLOCK_K", "BLOCK_SIZE_K"},
    {"GROUP_M", "GROUP_SIZE_M"}, {"WARPS", "num_warps"}, {"NUM_WARPS", "num_warps"}, {"STAGES", "num_stages"}, {"NUM_STAGES", "num_stages"},
};

static bool find_value(const mt_table_row *row, const char *name, int64_t *value)
{
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(row->names[i], name) == 0) return *value = row->values[i], true;
    return false;
}

/* The file's name: all that configurations in it share. Without M, N and K or E: false. */
static bool add_name(const mt_table_answers *answers, const mt_table_row *row, mt_strbuf *name)
{
    int64_t m, n, k, e;
    if (!find_value(row, "M", &m) || !find_value(row, "N", &n) || n < 1 || m < 1) return false;
    bool has_k = find_value(row, "K", &k), has_experts = find_value(row, "E", &e);
    if (!has_k && !has_experts) return false;
    if (has_experts) mt_strbuf_addf(name, "E=%" PRId64 ",", e);
    mt_strbuf_addf(name, "N=%" PRId64, n);
    if (has_k && !has_experts) mt_strbuf_addf(name, ",K=%" PRId64, k);
    mt_strbuf_add(name, ",device_name=");
    for (const char *at = answers->gpu_name; *at; at++) mt_strbuf_add_char(name, *at == ' ' || *at == '/' ? '_' : *at);
    for (size_t i = 0; i < row->count; i++)
        if (!strchr("MNKE", *row->names[i]) || row->names[i][1]) mt_strbuf_addf(name, ",%s=%" PRId64, row->names[i], row->values[i]);
    for (const char *at = row->strings; *at; at += strcspn(at, ";"), at += *at == ';') mt_strbuf_addf(name, ",%.*s", (int)strcspn(at, ";"), at);
    for (char *at = name->text; at && *at; at++) *at = *at == '/' ? '_' : *at;
    mt_strbuf_add(name, ".json");
    return true;
}

/* "BM=64;ALGO=ring" as members; whole numbers are such. */
static void add_knobs(mt_strbuf *out, const char *variant)
{
    const char *separator = "";
    for (const char *at = variant; *at; at += strcspn(at, ";"), at += *at == ';') {
        size_t length = strcspn(at, ";"), name_length = strcspn(at, "=");
        mt_strbuf name = {0}, value = {0};
        mt_strbuf_add_bytes(&name, at, name_length);
        mt_strbuf_add_bytes(&value, at + name_length + 1, length - name_length - 1);
        const char *shown = mt_strbuf_text(&name), *text = mt_strbuf_text(&value);
        for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
            if (strcmp(renamed[i].knob, mt_strbuf_text(&name)) == 0) shown = renamed[i].name;
        mt_strbuf_add(out, separator);
        mt_strbuf_add(out, "        ");
        mt_strbuf_add_json(out, shown);
        mt_strbuf_add(out, ": ");
        bool is_number = *text && strspn(text + (*text == '-'), "0123456789") == strlen(text + (*text == '-')) && text[*text == '-'];
        if (is_number) mt_strbuf_add(out, text);
        else mt_strbuf_add_json(out, text);
        separator = ",\n";
        mt_strbuf_free(&name);
        mt_strbuf_free(&value);
    }
}

/* Rows of one file are neighbours in no order that the table has: so all are looked at, and of rows that were written the name is kept. */
static mt_status write_one(const mt_table_answers *answers, const char *folder, const char *name, mt_error *err)
{
    mt_strbuf out = {0};
    mt_status st = MT_OK;
    char *path = mt_path_join(folder, name);
    mt_strbuf_add(&out, "{");
    const char *separator = "\n";
    for (size_t i = 0; i < answers->row_count; i++) {
        mt_strbuf own = {0};
        int64_t m = 0;
        if (add_name(answers, &answers->rows[i], &own) && strcmp(mt_strbuf_text(&own), name) == 0 && find_value(&answers->rows[i], "M", &m)) {
            mt_strbuf_addf(&out, "%s    \"%" PRId64 "\": {\n", separator, m);
            add_knobs(&out, answers->rows[i].result.variant);
            mt_strbuf_add(&out, "\n    }");
            separator = ",\n";
        }
        mt_strbuf_free(&own);
    }
    mt_strbuf_add(&out, "\n}\n");
    if (!path || out.failed) st = mt_no_memory("export", err);
    if (st == MT_OK) st = mt_file_write_output(path, mt_strbuf_text(&out), out.length, err);
    if (st == MT_OK) mt_tell("%s\n", path);
    mt_strbuf_free(&out);
    mt_free(path);
    return st;
}

mt_status mt_vllm_write(const mt_table_answers *answers, const char *folder, mt_error *err)
{
    mt_status st = MT_OK;
    mt_texts names = {0};
    for (size_t i = 0; i < answers->row_count && st == MT_OK; i++) {
        mt_strbuf name = {0};
        if (!add_name(answers, &answers->rows[i], &name)) st = MT_FAIL(err, MT_ERR_USAGE, "export: --vllm is for products of matrices, whose shapes have whole numbers M and N, and K or E; those of %s have not", answers->kernel);
        else st = mt_texts_add_once(&names, mt_strbuf_text(&name), err);
        mt_strbuf_free(&name);
    }
    if (st == MT_OK) st = mt_dir_make_all(folder, err);
    for (size_t i = 0; i < names.count && st == MT_OK; i++) st = write_one(answers, folder, names.items[i], err);
    mt_texts_free(&names);
    return st;
}
