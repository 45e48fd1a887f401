/* JSON as columns of the tuning database hold it, and what is wrong with a file's. Stricter than SQLite's: what passes here fails in none of its functions. libc only, no state; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An object in which no object has two members of one name. */
bool mt_row_json_is_sound(const char *text, size_t size);
/* device.facts_json: {"cc":90,"sm_count":132,…}. */
bool mt_row_facts_are_sound(const char *text, size_t size);
/* measurement.launch_json: {"launches":[{"entry":"k","grid":[1,1,1],"block":[64,1,1],"cluster":[2,1,1],"smem":0,"carveout":-1,"cooperative":true,"programmatic":true}, …]}. Each member may be
 * missing, others are ignored. */
bool mt_row_launch_is_sound(const char *text, size_t size);
/* A name that an object of the text has twice: where it stands the second time, behind its quote, and its length. NULL = there is none. The text need not be sound; what is no JSON is not told. */
const char *mt_json_repeated(const char *text, size_t size, size_t *length);
