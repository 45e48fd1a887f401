/* Temporary files and folders that outlive nobody: their owner holds a lock on them (flock, which the kernel gives back however the owner ends, also across hosts and PID
 * namespaces), and what is ours but not locked is a leftover of a process that was killed. */
#pragma once

#include "tuner/base/status.h"

typedef struct mt_temporary {
    char *path; /* NULL = none; owned */
    int lock;   /* the descriptor that holds the folder's lock */
} mt_temporary;

/* $TMPDIR, or /tmp. */
const char *mt_temporary_root(void);
/* Makes and locks the folder <root>/msda-tune-XXXXXX, mode 0700, after it has removed the leftovers of that name. IO error naming the folder. */
mt_status mt_temporary_make(const char *root, mt_temporary *temporary, mt_error *err);
void mt_temporary_remove(mt_temporary *temporary); /* with all that is in it; none is a no-op */

/* A new file <target>.tmp.PID.N for writing, locked; the umask decides its mode. *path: owned by the caller. −1 with errno. */
int mt_leftover_create_beside(const char *target, char **path);
/* Removes what dead writers left beside `target`: <target>.tmp.PID.N. What cannot be removed stays. */
void mt_leftover_sweep_beside(const char *target);
/* The same for all targets in the cache's folders <cache>/<2 hex>. */
void mt_leftover_sweep_cache(const char *cache);
