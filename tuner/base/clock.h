/* Time. */
#pragma once

#include <stdint.h>

int64_t mt_clock_now_ns(void);  /* monotonic; only differences mean something */
int64_t mt_clock_thread_cpu_ns(void); /* processor time of this thread */
#define MT_CLOCK_LIMIT_MS INT64_C(4102444800000) /* the year 2100 */
/* Wall clock, for records that people read. A clock that is set before 1970 or beyond 2099 says the first or the last millisecond of these: what is stored can be read back
 * (db/row_rules.h has the same limit). It may go backwards. */
int64_t mt_clock_unix_ms(void);
