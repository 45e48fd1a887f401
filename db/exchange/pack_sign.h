/* Signatures of packs: Ed25519, by libsodium. In a build without it every function here is UNSUPPORTED and says so. */
#pragma once

#include "db/pack.h"
#include "tuner/base/status.h"

/* A key is a file of two lines, "msda-tune Ed25519 secret key" or "… public key" and 64 hex digits: of a secret one its seed. */

/* Makes a pair: `path`, which only its owner may read, and `path`.pub. Neither may be there. */
mt_status mt_pack_key_make(const char *path, mt_error *err);

/* Puts key and signature into a pack's head (MT_PACK_HEAD bytes). `path`: of the secret key. */
mt_status mt_pack_sign(const char *path, unsigned char *head, mt_error *err);

/* OK where the pack is signed by that public key (a file's path), and nothing of its head was changed since. DB error else, which says what is wrong, without the pack's name. */
mt_status mt_pack_signed_by(const mt_pack *pack, const char *path, mt_error *err);
