/* Paths as text, and where the tool's own files lie. */
#pragma once

#include <stdbool.h>

#include "tuner/base/status.h"

/* Paths: results are owned by the caller (mt_free); NULL only when memory runs out. */
char *mt_path_join(const char *folder, const char *name); /* `name` absolute → copy of name */
char *mt_path_folder(const char *path);                   /* "a/b.c" → "a"; "b.c" → "." */
char *mt_path_stem(const char *path);                     /* "a/b.c" → "b" */
bool mt_path_has_user_data(void); /* XDG_DATA_HOME or HOME is an absolute path */
char *mt_path_user_data(void);  /* $XDG_DATA_HOME/msda-tune or $HOME/.local/share/msda-tune (not created); NULL also when neither is an absolute path */
char *mt_path_user_cache(void); /* $XDG_CACHE_HOME/msda-tune or ~/.cache/msda-tune (not created); without HOME the user's folder by the user database */
char *mt_path_program(const char *name); /* in the folders of PATH that are absolute; NULL also where there is none */
char *mt_path_self(void);       /* the running executable */
char *mt_path_share(void);      /* installed data: <prefix>/share/msda-tune-shipped beside <prefix>/bin of the executable, or $MSDA_TUNE_SHARE */
/* USAGE where the file or folder, which need not exist, would lie in a share/msda-tune-shipped, however it is spelled: what came with the tool is never written. All that writes what a
 * user names asks this first; the functions above do. */
mt_status mt_path_check_writable(const char *path, mt_error *err);
