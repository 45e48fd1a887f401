/* Between the two files of lookup_bench. */
#ifndef MT_TESTS_LOOKUP_BENCH_H
#define MT_TESTS_LOOKUP_BENCH_H

void bench_die(const char *what, const char *why) __attribute__((noreturn));
/* Opens and prepares every kernel of the file for every GPU that has winners of it. Returns the dearest one's median, in ms of processor time. */
double bench_shipped(const char *path, const char *only); /* only: a kernel; NULL = all */

#endif
