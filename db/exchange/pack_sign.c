#include "db/exchange/pack_sign.h"

#ifdef MT_WITH_SODIUM

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

_Static_assert(MT_PACK_KEY == crypto_sign_PUBLICKEYBYTES && MT_PACK_KEY == crypto_sign_SEEDBYTES && MT_PACK_SIGNATURE == crypto_sign_BYTES, "Ed25519");

#define SECRET_TITLE "msda-tune Ed25519 secret key\n"
#define PUBLIC_TITLE "msda-tune Ed25519 public key\n"

static mt_status start(mt_error *err)
{
    return sodium_init() >= 0 ? MT_OK : MT_FAIL(err, MT_ERR_UNSUPPORTED, "libsodium can't be set up");
}

/* Never over a file that is there: it may be the only copy of a key. */
static mt_status write_key(const char *path, mode_t mode, const char *title, const unsigned char key[MT_PACK_KEY], mt_error *err)
{
    char text[128], hex[2 * MT_PACK_KEY + 1];
    mt_status st = MT_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return MT_FAIL(err, errno == EEXIST ? MT_ERR_USAGE : MT_ERR_IO, "%s: %s", path, errno == EEXIST ? "is there already, and a key is never written over" : strerror(errno));
    int length = snprintf(text, sizeof text, "%s%s\n", title, sodium_bin2hex(hex, sizeof hex, key, MT_PACK_KEY));
    if (mt_fd_write_all(fd, text, (size_t)length) != 0 || fsync(fd) != 0) st = MT_FAIL(err, MT_ERR_IO, "%s: %s", path, strerror(errno));
    close(fd);
    if (st != MT_OK) unlink(path);
    sodium_memzero(text, sizeof text);
    sodium_memzero(hex, sizeof hex);
    return st;
}

mt_status mt_pack_key_make(const char *path, mt_error *err)
{
    unsigned char public[MT_PACK_KEY], secret[crypto_sign_SECRETKEYBYTES], seed[MT_PACK_KEY];
    mt_strbuf name = {0};
    mt_status st;
    MT_TRY(start(err));
    mt_strbuf_addf(&name, "%s.pub", path);
    if (name.failed) MT_LEAVE(mt_no_memory(path, err));
    randombytes_buf(seed, sizeof seed);
    crypto_sign_seed_keypair(public, secret, seed);
    MT_TRY(write_key(path, 0600, SECRET_TITLE, seed, err));
    st = write_key(mt_strbuf_text(&name), 0644, PUBLIC_TITLE, public, err);
    if (st != MT_OK) unlink(path);
done:
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(seed, sizeof seed);
    mt_strbuf_free(&name);
    return st;
}

static mt_status read_key(const char *path, const char *title, unsigned char key[MT_PACK_KEY], mt_error *err)
{
    char *text = NULL;
    size_t length = 0, taken = 0;
    const char *end = NULL;
    mt_status st;
    MT_TRY(mt_file_read(path, 4096, &text, &length, err));
    const char *digits = strncmp(text, title, strlen(title)) == 0 ? text + strlen(title) : "";
    bool is_one = sodium_hex2bin(key, MT_PACK_KEY, digits, strlen(digits), NULL, &taken, &end) == 0 && taken == MT_PACK_KEY && (strcmp(end, "\n") == 0 || !*end);
    if (!is_one) st = MT_FAIL(err, MT_ERR_USAGE, "%s: is no key: expected the line '%.*s' and %d hex digits", path, (int)strlen(title) - 1, title, 2 * MT_PACK_KEY);
done:
    if (text) sodium_memzero(text, length);
    mt_free(text);
    return st;
}

mt_status mt_pack_sign(const char *path, unsigned char *head, mt_error *err)
{
    unsigned char secret[crypto_sign_SECRETKEYBYTES], seed[MT_PACK_KEY];
    mt_status st;
    MT_TRY(start(err));
    MT_TRY(read_key(path, SECRET_TITLE, seed, err));
    crypto_sign_seed_keypair(head + MT_PACK_AT_KEY, secret, seed);
    crypto_sign_detached(head + MT_PACK_AT_SIGNATURE, NULL, head, MT_PACK_AT_SIGNATURE, secret);
    mt_pack_finish_head(head);
done:
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(seed, sizeof seed);
    return st;
}

mt_status mt_pack_signed_by(const mt_pack *pack, const char *path, mt_error *err)
{
    unsigned char key[MT_PACK_KEY];
    char hex[2 * MT_PACK_KEY + 1];
    mt_status st;
    MT_TRY(start(err));
    MT_TRY(read_key(path, PUBLIC_TITLE, key, err));
    const unsigned char *head = pack->head;
    if (!pack->is_signed) st = MT_FAIL(err, MT_ERR_DB, "is not signed");
    else if (memcmp(key, head + MT_PACK_AT_KEY, sizeof key) != 0) st = MT_FAIL(err, MT_ERR_DB, "is signed by another key, %s", sodium_bin2hex(hex, sizeof hex, head + MT_PACK_AT_KEY, MT_PACK_KEY));
    else if (crypto_sign_verify_detached(head + MT_PACK_AT_SIGNATURE, head, MT_PACK_AT_SIGNATURE, key) != 0) st = MT_FAIL(err, MT_ERR_DB, "has a signature that is not this key's");
done:
    return st;
}

#else

static mt_status without(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "this msda-tune was built without libsodium, which signatures need (package libsodium-dev); packs without them work");
}

mt_status mt_pack_key_make(const char *path, mt_error *err)
{
    (void)path;
    return without(err);
}

mt_status mt_pack_sign(const char *path, unsigned char *head, mt_error *err)
{
    (void)path, (void)head;
    return without(err);
}

mt_status mt_pack_signed_by(const mt_pack *pack, const char *path, mt_error *err)
{
    (void)pack, (void)path;
    return without(err);
}

#endif
