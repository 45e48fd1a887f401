/* Data that came with the tool: search spaces, kernels, facts of known GPUs, recordings. Found beside the executable, so that a build folder and an
 * installed tree work alike. */
#pragma once

#include "db/store/store.h"
#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/texts.h"

/* <share>/<relative>; mt_free it. */
mt_status mt_share_file(const char *relative, char **path, mt_error *err);
/* `given` as it is, else <share>/search_spaces/<given>, else that with ".ini". NOT_FOUND names the spaces that there are. mt_free *path. */
mt_status mt_share_space(const char *given, char **path, mt_error *err);
/* Stems of the .ini files in <share>/search_spaces, sorted; a missing folder gives none. */
mt_status mt_share_spaces(mt_texts *names, mt_error *err);

/* Opens a database of recordings for reading: `given`, or the shipped one when NULL. */
mt_status mt_share_recordings(const char *given, mt_store **store, mt_error *err);
/* Where one's own recordings are kept, <user data>/recordings.sqlite; its folder is made if `makes_folder`. mt_free *path. */
mt_status mt_share_own_recordings(bool makes_folder, char **path, mt_error *err);
/* The one to replay `kernel` on `gpu` from: `given`, else one's own if they have both, else the shipped one. *under: with one's own the shipped one, which has what these lack; else NULL. */
mt_status mt_share_recordings_of(const char *given, const char *gpu, const char *kernel, mt_store **store, mt_store **under, mt_error *err);
/* One's own; *store is NULL when there are none, or none that can be read: these keep nobody from the shipped ones. tells: then a warning names them. */
void mt_share_open_own_recordings(bool tells, mt_store **store);
/* Adds where the kernel was recorded, the newest kind of GPU first, and the option that replays that one; or that it was recorded nowhere. Whatever happens. given: as of mt_share_recordings. */
/* kernel NULL: of any kernel. */
void mt_share_recorded_hint(const char *given, const char *kernel, mt_strbuf *text);
