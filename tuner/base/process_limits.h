/* Whether the limits of this process leave room for what libuv and SQLite need: where libuv gets no descriptor for its signals, or no thread, it aborts; SQLite names a file that it cannot
 * open, not the limit. */
#pragma once

#include "tuner/base/status.h"

/* IO error for too few descriptors (ulimit -n), NO_MEMORY error for too little address space (-v), data (-d), stack (-s), or too few threads (-u): each names the limit. */
mt_status mt_process_limits_check(mt_error *err);
/* The stack alone: what every command needs, and before it calls anything that takes much of it. */
mt_status mt_process_limits_check_stack(mt_error *err);
