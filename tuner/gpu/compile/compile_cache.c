#include "tuner/gpu/compile/compile_cache.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/file_trust.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/nvrtc_internal.h"

/* First line of a cached log; the entry's key follows, the cubin's hash, and the hash of the log behind the line: an entry under another's name is none. */
static const char log_magic[] = "msda-tune cubin 4 ";

void mt_cache_entry_free(mt_cache_entry *entry)
{
    MT_FREE_EACH(entry->stem, entry->log_path, entry->cubin_path);
    *entry = (mt_cache_entry){0};
}

static void add_part(mt_strbuf *text, const char *part)
{
    mt_strbuf_addf(text, "%zu:", strlen(part)); /* lengths keep ("a","bc") and ("ab","c") apart */
    mt_strbuf_add(text, part);
}

static mt_status request_key(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_hash *key, mt_error *err)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "msda-tune 4;%lld;%zu;", (long long)(request->nvcc ? request->nvcc->version : nvrtc->version), request->macro_count);
    if (request->nvcc) add_part(&text, request->nvcc->identity);
    add_part(&text, request->visible ? mt_visible_headers(request->visible)->hex : "");
    add_part(&text, request->arch);
    for (size_t i = 0; i < request->option_count; i++)
        add_part(&text, request->options[i]);
    for (size_t i = 0; i < request->source->file_count; i++) {
        add_part(&text, request->source->files[i].name);
        add_part(&text, request->source->files[i].text);
    }
    bool failed = text.failed;
    *key = mt_hash_bytes(mt_strbuf_text(&text), text.length);
    mt_strbuf_free(&text);
    return failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "compile key") : MT_OK;
}

/* "STEM" + parts; NULL = no memory. */
static char *path_of(const mt_cache_entry *entry, const char *separator, const char *name, const char *ending)
{
    mt_strbuf path = {0};
    mt_strbuf_addf(&path, "%s%s%s%s", entry->stem, separator, name, ending);
    char *text = mt_strbuf_take(&path);
    mt_strbuf_free(&path);
    return text;
}

mt_status mt_cache_entry_make(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_cache_entry *entry, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf path = {0};
    MT_TRY(request_key(nvrtc, request, &entry->key, err));
    if (request->cache_dir) {
        mt_strbuf_addf(&path, "%s/%.2s", request->cache_dir, entry->key.hex);
        MT_TRY(mt_dir_make_all(mt_strbuf_text(&path), err));
        MT_TRY(mt_trust_folder(mt_strbuf_text(&path), err));
    } else {
        MT_TRY(mt_nvrtc_temporary_dir(nvrtc, err));
        mt_strbuf_add(&path, nvrtc->temporary.path);
    }
    mt_strbuf_addf(&path, "/%s", entry->key.hex);
    entry->stem = mt_strbuf_take(&path);
    entry->log_path = entry->stem ? path_of(entry, "", "", ".log") : NULL;
    if (!entry->log_path) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "cache path");
done:
    mt_strbuf_free(&path);
    return st;
}

/* The log behind its first line, or NULL when it is not whole or of another key. *cubin: the hash that it names. */
static const char *log_body(const char *log, size_t length, const mt_hash *key, mt_hash *cubin)
{
    enum { MAGIC = sizeof log_magic - 1, HEX = MT_HASH_HEX_SIZE - 1, HEADER = MAGIC + 3 * (HEX + 1) };
    if (length < HEADER || memcmp(log, log_magic, MAGIC) != 0) return NULL;
    const mt_hash body = mt_hash_bytes(log + HEADER, length - HEADER);
    const char *named = log + MAGIC + HEX + 1;
    if (memcmp(log + MAGIC, key->hex, HEX) != 0 || memcmp(named + HEX + 1, body.hex, HEX) != 0) return NULL;
    if (strspn(named, "0123456789abcdef") != HEX) return NULL; /* becomes part of a path */
    memcpy(cubin->hex, named, HEX);
    cubin->hex[HEX] = '\0';
    return log + HEADER;
}

/* Whether the file at cubin_path is what its name says. */
static bool is_whole(const mt_cache_entry *entry, const mt_hash *expected)
{
    char *cubin = NULL;
    size_t length = 0;
    if (!entry->cubin_path || mt_trust_read(entry->cubin_path, 0, &cubin, &length, NULL) != MT_OK) return false;
    const mt_hash found = mt_hash_bytes(cubin, length);
    mt_free(cubin);
    return strcmp(found.hex, expected->hex) == 0;
}

bool mt_cache_entry_read(mt_cache_entry *entry, mt_hash *cubin, char **log)
{
    char *text = NULL;
    size_t length = 0;
    *log = NULL;
    if (mt_trust_read(entry->log_path, 0, &text, &length, NULL) != MT_OK) return false;
    const char *body = log_body(text, length, &entry->key, cubin);
    if (body) {
        mt_free(entry->cubin_path);
        entry->cubin_path = path_of(entry, "-", cubin->hex, ".cubin");
        if (is_whole(entry, cubin)) *log = mt_strdup(body);
    }
    mt_free(text);
    return *log != NULL;
}

/* Not synchronised to disk: sixteen compilers that each wait for it twice also keep the database waiting, and a torn entry is only a miss. */
mt_status mt_cache_entry_write(mt_cache_entry *entry, const char *cubin, size_t size, const char *log, mt_hash *hash, mt_error *err)
{
    mt_strbuf text = {0};
    *hash = mt_hash_bytes(cubin, size);
    mt_hash body = mt_hash_text(log);
    mt_strbuf_addf(&text, "%s%s %s %s\n%s", log_magic, entry->key.hex, hash->hex, body.hex, log);
    mt_free(entry->cubin_path);
    entry->cubin_path = path_of(entry, "-", hash->hex, ".cubin");
    mt_status st = text.failed || !entry->cubin_path ? MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log") : mt_file_write_cached(entry->cubin_path, cubin, size, err);
    if (st == MT_OK) st = mt_file_write_cached(entry->log_path, mt_strbuf_text(&text), text.length, err);
    mt_strbuf_free(&text);
    return st;
}
