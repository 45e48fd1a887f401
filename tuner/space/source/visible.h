/* Which macros a source can see at all. A knob of the launch alone, or a shape value that a file does not use, changes no code: compiles that differ in nothing else are
 * one compile, and one cubin, for every variant and shape.
 *
 * Decided by words, not by preprocessing: a macro is seen if its name stands somewhere in the source, in what that includes (the toolkit's headers too), or in the value of a
 * macro that is seen. Comments do not count. Where words can't tell – names pasted by ##, includes named by macros – all macros count as seen. */
#pragma once

#include "tuner/space/source/macros.h"
#include "tuner/space/source/source.h"

typedef struct mt_visible mt_visible; /* one thread */

/* `folders`: where the compiler finds what `source` does not hold (NVRTC's headers); NULL entries are skipped. `identity`: of a compiler whose version does not say all, part of the digest; NULL = nothing. */
mt_status mt_visible_create(const mt_source *source, const char *const *folders, size_t folder_count, const char *identity, mt_visible **visible, mt_error *err);
/* Digest of the headers in the folders that the source may include, by name and content; "" where it includes none. Where a macro names one, or there are very many, all files of the folders count. */
const mt_hash *mt_visible_headers(const mt_visible *visible);
/* Whether that file of the folders is in the digest, however its path is spelled. */
bool mt_visible_counts(const mt_visible *visible, const char *path);
/* The macros that these headers ask for files through (toolkit_asks.h): *count names. */
char *const *mt_visible_asked(const mt_visible *visible, size_t *count);
/* Frees what only mt_visible_filter needs, which from then on takes nothing out. */
void mt_visible_forget_code(mt_visible *visible);
/* Takes -D options out that the source can't see; the order of the others stays. Without memory to decide an option stays. */
void mt_visible_filter(mt_visible *visible, mt_options *options);
void mt_visible_free(mt_visible *visible); /* NULL is a no-op */
