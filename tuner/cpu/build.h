/* Programs of check --run, made by the host's C++ compiler in a private folder. */
#pragma once

#include "tuner/base/leftover.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/texts.h"
#include "tuner/space/source/macros.h"
#include "tuner/space/source/source.h"

typedef struct mt_cpu_builder {
    char *compiler;       /* path */
    mt_temporary folder;
    mt_texts source_folders; /* of headers, from the folder on */
    bool has_sanitizer;
    double limit_s;
    int stop;             /* mt_child.stop */
} mt_cpu_builder;

/* `stop` stands in the builder already. Finds $CXX, c++, g++ or clang++; writes the source and what it needs; compiles the tool's own part. IO or COMPILE error. */
mt_status mt_cpu_build_open(const mt_source *source, double limit_s, mt_cpu_builder *builder, mt_error *err);
void mt_cpu_build_close(mt_cpu_builder *builder);
/* The source with these macros, preprocessed and rewritten. *text (owned); NULL: *why says what the compiler said, in its own words. */
mt_status mt_cpu_build_text(mt_cpu_builder *builder, const mt_source *source, const mt_options *options, char **text, mt_strbuf *why, mt_error *err);
/* Makes the program NAME of such a text with its main. *is_made false: as above. */
mt_status mt_cpu_build_program(mt_cpu_builder *builder, const char *name, const char *text, const mt_options *options, bool *is_made, mt_strbuf *why, mt_error *err);
