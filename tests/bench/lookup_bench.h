/* Between the two files of lookup_bench. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void bench_die(const char *what, const char *why) __attribute__((noreturn));
/* Opens and prepares every kernel of the file (or the kernel `only`) for every GPU that has winners of it, and prints what that costs. */
void bench_shipped(const char *path, const char *only);
/* The same once each, held against bounds on work. False, with a line for each, where one is exceeded. */
bool bench_shipped_check(const char *path);
/* Whether both files answer all shapes that are tuned in `other`, and shapes around them, alike. */
bool bench_same(const char *path, const char *other);

/* SQLite's virtual machine steps since bench_work_begin (lookup_work.c). One thread; they don't nest. */
void bench_work_begin(void);
int64_t bench_work_so_far(void); /* statements that have ended */
int64_t bench_work_end(void);
