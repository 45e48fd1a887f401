/* Time. */
#ifndef MT_BASE_CLOCK_H
#define MT_BASE_CLOCK_H

#include <stdint.h>

int64_t mt_clock_now_ns(void);  /* monotonic; only differences mean something */
int64_t mt_clock_thread_cpu_ns(void); /* processor time of this thread */
int64_t mt_clock_unix_ms(void); /* wall clock, for records that people read */

#endif
