/* Tuners on one machine tell each other which GPU they use: each binds an abstract socket that is named after the GPU and its own process, which /proc/net/unix lists for everybody. It
 * is gone with the process, leaves no file, and does not depend on NVML, which in containers hides processes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The descriptor that holds the name until it is closed; −1 where it can't be had (then others don't see us, which is no error). */
int mt_beacon_announce(const char *bus_id);
/* The process id of another tuner on that GPU, 0 = none is seen. */
int64_t mt_beacon_find_other(const char *bus_id);
