#include "tuner/cli/requests/input_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

enum { BLOCK_BYTES = 1 << 20 };

struct input {
    char name[256];
    uint64_t contents;
};

static bool is_input(const mt_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (strcmp(arg->name, name) == 0) return arg->kind == MT_ARG_TENSOR && (arg->role == MT_ROLE_IN || arg->role == MT_ROLE_INOUT);
    }
    return false;
}

/* In blocks: inputs may be larger than the memory that is free. */
static mt_status hash_file(const char *path, uint64_t *hash, mt_error *err)
{
    int fd;
    mt_status st = mt_file_open_regular(path, &fd, err);
    if (st != MT_OK) return st;
    FILE *file = fdopen(fd, "rb");
    if (!file) {
        st = MT_FAIL(err, MT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
        close(fd);
        return st;
    }
    char *block = mt_alloc(1, BLOCK_BYTES);
    st = block ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    size_t count;
    *hash = 0;
    while (block && (count = fread(block, 1, BLOCK_BYTES, file)) > 0) *hash = mt_hash_u64(block, count, *hash);
    if (st == MT_OK && ferror(file)) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    mt_free(block);
    fclose(file);
    return st;
}

static mt_status read_input(const mt_spec *spec, const char *word, struct input *input, mt_error *err)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1]) return MT_FAIL(err, MT_ERR_USAGE, "tune: --input is '%s', expected NAME=FILE.npy", word);
    snprintf(input->name, sizeof input->name, "%.*s", (int)(equals - word), word);
    if (!is_input(spec, input->name)) return MT_FAIL(err, MT_ERR_USAGE, "--input %s: expected the name of an argument with role in or inout", input->name);
    return hash_file(equals + 1, &input->contents, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->name, ((const struct input *)b)->name);
}

mt_status mt_inputs_identify(const mt_spec *spec, const mt_texts *words, mt_hash *identity, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    struct input *inputs = mt_alloc(words->count, sizeof *inputs);
    if (!inputs) return MT_FAIL(err, MT_ERR_NO_MEMORY, "--input: out of memory");
    for (size_t i = 0; i < words->count; i++) MT_TRY(read_input(spec, words->items[i], &inputs[i], err));
    qsort(inputs, words->count, sizeof *inputs, by_name);
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0 && by_name(&inputs[i - 1], &inputs[i]) == 0) MT_LEAVE(MT_FAIL(err, MT_ERR_USAGE, "tune: --input %s is given twice", inputs[i].name));
        mt_strbuf_addf(&text, "%s=%016" PRIx64 "\n", inputs[i].name, inputs[i].contents);
    }
    if (text.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "--input: out of memory");
    else *identity = mt_hash_text(mt_strbuf_text(&text));
done:
    mt_strbuf_free(&text);
    mt_free(inputs);
    return st;
}
