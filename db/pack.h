/* A pack: one file that holds what lookups need of some kernels, as a database without its code, and the code beside it. docs/stored_formats.md has the format.
 *
 * What a pack says of itself is checked when it is opened, and a part when it is read, into memory of the reader's own: a file that is cut short or written over meanwhile is an error, never a
 * signal (which is why it is not mapped), and what was checked is what is used. Shared by the tool and libtunelookup. POSIX and libc only; a pack serves any threads while it is open. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/blake.h"

enum {
    MT_PACK_FORMAT = 1,
    MT_PACK_HEAD = 192,     /* bytes of the head, behind which the table of contents begins */
    MT_PACK_ENTRY = 96,     /* bytes of an entry there */
    MT_PACK_NAME = 48,      /* bytes of a part's name, filled up with NUL, one at least */
    MT_PACK_ALIGN = 4096,   /* parts begin at multiples of it; what fills them up is zero, and counts for their hashes */
    MT_PACK_PARTS = 65536,  /* at most */
    MT_PACK_KEY = 32, MT_PACK_SIGNATURE = 64, /* Ed25519 */
    /* places in the head */
    MT_PACK_AT_TABLE_HASH = 32, MT_PACK_AT_KEY = 64, MT_PACK_AT_SIGNATURE = 96, MT_PACK_AT_HEAD_HASH = 160
};
#define MT_PACK_MAGIC "MSDAPACK"
#define MT_PACK_DATABASE "database" /* the part that is the database; the others are cubins, named by their content hash, 32 hex digits */

typedef struct mt_pack_part {
    char name[MT_PACK_NAME];
    uint64_t at, bytes;     /* bytes without what fills it up */
    unsigned char hash[MT_BLAKE2B_BYTES];
} mt_pack_part;

typedef struct mt_pack {
    int fd;
    unsigned char head[MT_PACK_HEAD];
    mt_pack_part *parts;    /* in the order of their places */
    uint32_t count;
    bool is_signed;         /* the head names a key; whether the signature is that key's, mt_pack_signed_by says (db/exchange/pack_sign.h) */
} mt_pack;

typedef enum mt_pack_verdict { MT_PACK_OK, MT_PACK_UNREADABLE /* the system says why */, MT_PACK_DAMAGED, MT_PACK_NEWER, MT_PACK_NO_MEMORY } mt_pack_verdict;
enum { MT_PACK_WHY = 256 };

/* By its name alone, which ends in ".pack": to open what may be a database would drop the locks that SQLite has on it elsewhere in the process. */
bool mt_pack_is_name(const char *path);

/* Reads and checks head and table. `why`: unless OK, what is wrong, without the path. mt_pack_close the pack where it is OK. */
mt_pack_verdict mt_pack_open(const char *path, mt_pack *pack, char why[MT_PACK_WHY]);
void mt_pack_close(mt_pack *pack);

const mt_pack_part *mt_pack_find(const mt_pack *pack, const char *name); /* or NULL */
/* Bytes of a part with what fills it up. */
uint64_t mt_pack_padded(uint64_t bytes);
/* Reads mt_pack_padded(part->bytes) bytes into `to`, and checks them. */
mt_pack_verdict mt_pack_read(const mt_pack *pack, const mt_pack_part *part, void *to, char why[MT_PACK_WHY]);

/* ---- making one ---- */

/* Head and table of a pack with these parts, whose names, bytes and hashes are set; sets their places. `front` has mt_pack_front_bytes(count) bytes. Key and signature are zero. */
uint64_t mt_pack_front_bytes(uint32_t count);
void mt_pack_front(mt_pack_part *parts, uint32_t count, unsigned char *front);
/* The head's own hash, once key and signature stand in it. */
void mt_pack_finish_head(unsigned char *head);
