#include "tuner/space/source/source_folder.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/space/source/option_words.h"

void mt_source_add_line_mark(const char *name, mt_strbuf *text)
{
    mt_strbuf_add(text, "#line 1 \"");
    for (const char *at = name; *at; at++) {
        if (*at == '"' || *at == '\\') mt_strbuf_add_char(text, '\\');
        mt_strbuf_add_char(text, *at);
    }
    mt_strbuf_add(text, "\"\n");
}

/* "-DX" is "#define X 1", "-DF(a)=a*2" is "#define F(a) a*2", "-UX" is "#undef X". */
void mt_source_add_macro(const char *option, mt_strbuf *text)
{
    size_t length;
    const char *value, *name = mt_word_macro(option, &length, &value);
    if (!name) return;
    size_t letters = strlen(name), own = strcspn(name, "=");
    if (letters && strchr("\"'", name[-1]) && name[letters - 1] == name[-1]) letters--; /* -D"X=1" */
    if (!value) mt_strbuf_addf(text, "#undef %.*s\n", (int)length, name);
    else if (own >= letters) mt_strbuf_addf(text, "#define %.*s 1\n", (int)letters, name);
    else mt_strbuf_addf(text, "#define %.*s %.*s/**/\n", (int)own, name, (int)(letters - own - 1), name + own + 1); /* a backslash at the end would join the next line */
}

/* How far above its folder a name leads at most. */
static size_t ups_in(const char *name)
{
    size_t ups = 0;
    for (const char *at = name; (at = strstr(at, "..")); at += 2) ups++;
    return ups;
}

/* A quoted include is looked for beside the including file first. As files are known by their names alone, one with a folder in its name gets a place where nothing else is; the others share one. */
static void add_place(const mt_source *source, size_t file, mt_strbuf *place)
{
    const char *name = source->files[file].name;
    if (!strchr(name, '/')) mt_strbuf_add(place, "plain");
    else mt_strbuf_addf(place, "%zu", file);
    for (size_t i = ups_in(name); i > 0; i--) mt_strbuf_add(place, "/in");
}

static mt_status write_header(const mt_source *source, size_t file, const char *written, const char *folder, mt_texts *folders, mt_error *err)
{
    const char *name = source->files[file].name;
    mt_strbuf place = {0}, path = {0};
    mt_status st = MT_OK;
    char *parent = NULL;
    if (*name == '/') return MT_FAIL(err, MT_ERR_COMPILE, "#include of %s: it would be read wherever it lies then; expected its folder in [kernel] include, and an include without a folder", name);
    add_place(source, file, &place);
    mt_strbuf_addf(&path, "%s/%s/%s", folder, mt_strbuf_text(&place), name);
    parent = path.failed ? NULL : mt_path_folder(mt_strbuf_text(&path));
    if (!parent || place.failed) {
        st = mt_no_memory("source", err);
        goto done;
    }
    MT_TRY(mt_texts_add_once(folders, mt_strbuf_text(&place), err));
    MT_TRY(mt_dir_make_all(parent, err));
    st = mt_file_write_cached(mt_strbuf_text(&path), written, strlen(written), err);
done:
    mt_free(parent);
    mt_strbuf_free(&place);
    mt_strbuf_free(&path);
    return st;
}

mt_status mt_source_write(const mt_source *source, char *const *texts, const char *folder, mt_texts *folders, mt_error *err)
{
    char *path = mt_path_join(folder, MT_SOURCE_MAIN);
    mt_status st = path ? mt_file_write_cached(path, texts[0], strlen(texts[0]), err) : mt_no_memory("source", err);
    for (size_t i = 1; i < source->file_count && st == MT_OK; i++) st = write_header(source, i, texts[i], folder, folders, err);
    mt_free(path);
    return st;
}
