/* msda-tune verify --pack. */
#pragma once

#include "tuner/base/status.h"

/* Reads every part of the pack and tells what it holds. DB error: a byte was changed, or `key` (a public key's file; NULL = nobody asks) did not sign it. */
mt_status mt_verify_pack(const char *path, const char *key, mt_error *err);
