/* The texts of a source as files, for a compiler that reads no others: each is found by its name alone, as NVRTC finds it in memory (source_files.h). */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/base/texts.h"
#include "tuner/space/source/source_files.h"

#define MT_SOURCE_MAIN "main.cu"

/* A line that says that file NAME begins behind it: messages name the user's file. */
void mt_source_add_line_mark(const char *name, mt_strbuf *text);
/* Lines that define or undefine what the options -D and -U do; nothing for others. So no compiler takes quotes and blanks for its own. */
void mt_source_add_macro(const char *option, mt_strbuf *text);
/* Writes texts[file_count], one for each file of the source, into the folder, the main one as MT_SOURCE_MAIN. *folders: where headers are found, for -I, from the folder on. */
mt_status mt_source_write(const mt_source *source, char *const *texts, const char *folder, mt_texts *folders, mt_error *err);
