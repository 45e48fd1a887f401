#include "tuner/worker/bundle.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/worker/codec.h"

static const uint32_t MAGIC = 0x4254534d; /* "MSTB" */
enum { MAX_FILES = 4096 };

static void file_fields(mt_codec *codec, mt_source_file *file)
{
    char **texts[] = {&file->name, &file->path, &file->text};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = *texts[i];
        mt_codec_text(codec, &text);
        *texts[i] = (char *)text; /* owned, once read */
    }
}

static void bundle_fields(mt_codec *codec, mt_bundle *bundle)
{
    uint32_t magic = MAGIC, count = (uint32_t)bundle->source.file_count;
    mt_codec_u32(codec, &magic);
    mt_codec_text(codec, &bundle->path);
    mt_codec_text(codec, &bundle->text);
    mt_codec_u32(codec, &count);
    bundle->source.is_for_nvcc = mt_codec_choice(codec, bundle->source.is_for_nvcc, 2);
    if (codec->mode == MT_CODEC_READ) {
        bool fits = magic == MAGIC && count > 0 && count <= MAX_FILES && !codec->failed;
        bundle->source.files = fits ? mt_alloc(count, sizeof *bundle->source.files) : NULL;
        if (!bundle->source.files) {
            codec->no_memory = fits;
            codec->failed = true;
            return;
        }
        bundle->source.file_count = count;
    }
    for (size_t i = 0; i < bundle->source.file_count; i++) file_fields(codec, &bundle->source.files[i]);
}

mt_status mt_bundle_make(const mt_spec *spec, const mt_source *source, int *fd, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf bytes = {0};
    *fd = -1;
    mt_bundle bundle = {.path = spec->path, .text = spec->text, .source = *source}; /* as they were read: an editor may have saved since */
    mt_codec codec = {.mode = MT_CODEC_WRITE, .out = &bytes};
    bundle_fields(&codec, &bundle);
    if (bytes.failed || codec.failed) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", spec->path));
    MT_TRY(mt_memfd("msda-tune-bundle", bytes.text, bytes.length, fd, err));
done:
    mt_strbuf_free(&bytes);
    return st;
}

mt_status mt_bundle_open(int fd, mt_bundle *bundle, mt_error *err)
{
    memset(bundle, 0, sizeof *bundle);
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_size <= 0) return MT_FAIL(err, MT_ERR_WORKER, "worker: no bundle on descriptor %d", fd);
    size_t size = (size_t)info.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) return MT_FAIL(err, MT_ERR_WORKER, "worker: cannot map the bundle");
    mt_codec codec = {.mode = MT_CODEC_READ, .at = bytes, .left = size};
    bundle_fields(&codec, bundle);
    munmap(bytes, size);
    if (!codec.failed && codec.left == 0 && bundle->path && bundle->text) return MT_OK;
    mt_bundle_free(bundle);
    return codec.no_memory ? MT_FAIL(err, MT_ERR_NO_MEMORY, "worker: out of memory") : MT_FAIL(err, MT_ERR_PROTOCOL, "worker: the bundle is damaged");
}

void mt_bundle_free(mt_bundle *bundle)
{
    mt_codec codec = {.mode = MT_CODEC_FREE};
    bundle_fields(&codec, bundle);
    mt_free(bundle->source.files);
    memset(bundle, 0, sizeof *bundle);
}
