#include "tuner/cli/requests/described_space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/exchange/foreign/foreign.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/path.h"
#include "tuner/cli/output/print.h"

/* "a/gemm.json.gz" → "a/gemm.ini". */
static char *default_output(const char *path)
{
    char *folder = mt_path_folder(path), *stem = mt_path_stem(path), *output = NULL;
    mt_strbuf name = {0};
    size_t length = stem ? strlen(stem) : 0;
    if (length > 5 && strcmp(stem + length - 5, ".json") == 0) stem[length - 5] = '\0';
    if (folder && stem) {
        mt_strbuf_addf(&name, "%s.ini", stem);
        output = strcmp(folder, ".") == 0 ? mt_strdup(mt_strbuf_text(&name)) : mt_path_join(folder, mt_strbuf_text(&name));
    }
    mt_strbuf_free(&name);
    mt_free(folder);
    mt_free(stem);
    return output;
}

/* A search space names its source from its own folder: "" where that is the file's, else the file's folder in full. */
static char *folder_from(const char *output, const char *path)
{
    char *here = mt_path_folder(strcmp(output, "-") == 0 ? "x" : output), *there = mt_path_folder(path);
    char *a = here ? realpath(here, NULL) : NULL, *b = there ? realpath(there, NULL) : NULL;
    char *folder = mt_strdup(b && !(a && strcmp(a, b) == 0) ? b : "");
    free(a); /* realpath's */
    free(b);
    mt_free(here);
    mt_free(there);
    return folder;
}

static void tell(const char *path, const char *output, const mt_foreign_about *about)
{
    char *folder = mt_path_folder(path), *source = folder && about->source ? mt_path_join(folder, about->source) : NULL;
    mt_strbuf command = {0};
    if (source && !mt_file_exists(source)) mt_log_warn("%s: its kernel %s is not there: put it there, or change source in %s", path, about->source, output);
    if (about->missing) mt_tell("%s written of a %s. Fill in what it lacks: %zu comment%s begin%s with FILL IN\n", output, about->format, about->missing, about->missing == 1 ? "" : "s", about->missing == 1 ? "s" : "");
    else mt_tell("%s written of a %s\n", output, about->format);
    mt_strbuf_add(&command, "msda-tune check");
    mt_print_option(&command, "--space", output);
    mt_tell("Next: %s --sample\n", mt_strbuf_text(&command));
    mt_strbuf_free(&command);
    mt_free(source);
    mt_free(folder);
}

mt_status mt_describe_space(const char *path, const char *named, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf ini = {0};
    mt_foreign_about about = {0};
    struct stat info;
    char *output = named ? mt_strdup(named) : default_output(path), *folder = output ? folder_from(output, path) : NULL;
    if (!folder) MT_LEAVE(mt_no_memory(path, err));
    if (!named && stat(output, &info) == 0) MT_LEAVE(MT_FAIL(err, MT_ERR_USAGE, "%s is there already: expected another name, -o FILE", output));
    MT_TRY(mt_foreign_space(path, folder, &ini, &about, err));
    fflush(stdout);
    MT_TRY(mt_file_write_output(output, ini.text, ini.length, err));
    if (strcmp(output, "-") != 0) tell(path, output, &about);
done:
    mt_foreign_about_free(&about);
    mt_strbuf_free(&ini);
    mt_free(folder);
    mt_free(output);
    return st;
}
