#include "db/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_FORMAT = 8, AT_COUNT = 12, AT_FILE_BYTES = 16, AT_FIRST = 24, ENTRY_AT = MT_PACK_NAME, ENTRY_BYTES = ENTRY_AT + 8, ENTRY_HASH = ENTRY_BYTES + 8 };

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

uint64_t mt_pack_padded(uint64_t bytes)
{
    return (bytes + MT_PACK_ALIGN - 1) / MT_PACK_ALIGN * MT_PACK_ALIGN;
}

uint64_t mt_pack_front_bytes(uint32_t count)
{
    return mt_pack_padded(MT_PACK_HEAD + (uint64_t)count * MT_PACK_ENTRY);
}

bool mt_pack_is_name(const char *path)
{
    static const char suffix[] = ".pack";
    size_t length = strlen(path);
    return length >= sizeof suffix && strcmp(path + length - (sizeof suffix - 1), suffix) == 0 && path[length - sizeof suffix] != '/';
}

/* ---- making one ---- */

void mt_pack_finish_head(unsigned char *head)
{
    mt_blake2b(head, MT_PACK_AT_HEAD_HASH, head + MT_PACK_AT_HEAD_HASH);
}

void mt_pack_front(mt_pack_part *parts, uint32_t count, unsigned char *front)
{
    uint64_t first = mt_pack_front_bytes(count), at = first;
    memset(front, 0, (size_t)first);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *entry = front + MT_PACK_HEAD + (size_t)i * MT_PACK_ENTRY;
        parts[i].at = at;
        at += mt_pack_padded(parts[i].bytes);
        memcpy(entry, parts[i].name, MT_PACK_NAME);
        put(entry + ENTRY_AT, parts[i].at, 8);
        put(entry + ENTRY_BYTES, parts[i].bytes, 8);
        memcpy(entry + ENTRY_HASH, parts[i].hash, MT_BLAKE2B_BYTES);
    }
    memcpy(front, MT_PACK_MAGIC, AT_FORMAT);
    put(front + AT_FORMAT, MT_PACK_FORMAT, 4);
    put(front + AT_COUNT, count, 4);
    put(front + AT_FILE_BYTES, at, 8);
    put(front + AT_FIRST, first, 8);
    mt_blake2b(front + MT_PACK_HEAD, (size_t)first - MT_PACK_HEAD, front + MT_PACK_AT_TABLE_HASH);
    mt_pack_finish_head(front);
}

/* ---- reading one ---- */

static mt_pack_verdict say(mt_pack_verdict verdict, char why[MT_PACK_WHY], const char *what)
{
    snprintf(why, MT_PACK_WHY, "%s", what);
    return verdict;
}

static bool has_hash(const void *bytes, size_t count, const unsigned char *hash)
{
    unsigned char digest[MT_BLAKE2B_BYTES];
    mt_blake2b(bytes, count, digest);
    return memcmp(digest, hash, sizeof digest) == 0;
}

static mt_pack_verdict read_at(int fd, void *to, uint64_t count, uint64_t at, char why[MT_PACK_WHY])
{
    for (unsigned char *next = to; count;) {
        ssize_t got = pread(fd, next, (size_t)count, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return say(MT_PACK_UNREADABLE, why, strerror(errno));
        if (got == 0) return say(MT_PACK_DAMAGED, why, "is cut short");
        next += got;
        at += (uint64_t)got;
        count -= (uint64_t)got;
    }
    return MT_PACK_OK;
}

/* What the head says, against its own hash and the file's length. */
static mt_pack_verdict check_head(mt_pack *pack, char why[MT_PACK_WHY])
{
    struct stat info;
    unsigned char none[MT_PACK_KEY] = { 0 };
    const unsigned char *head = pack->head;
    if (memcmp(head, MT_PACK_MAGIC, AT_FORMAT) != 0) return say(MT_PACK_DAMAGED, why, "is no pack of msda-tune");
    if (!has_hash(head, MT_PACK_AT_HEAD_HASH, head + MT_PACK_AT_HEAD_HASH)) return say(MT_PACK_DAMAGED, why, "is damaged: its head is not what was written");
    uint64_t format = get(head + AT_FORMAT, 4), count = get(head + AT_COUNT, 4), bytes = get(head + AT_FILE_BYTES, 8);
    if (format != MT_PACK_FORMAT) {
        snprintf(why, MT_PACK_WHY, "is a pack of format %u, of a newer msda-tune; format %d is read here", (unsigned)format, MT_PACK_FORMAT);
        return MT_PACK_NEWER;
    }
    if (fstat(pack->fd, &info) != 0) return say(MT_PACK_UNREADABLE, why, strerror(errno));
    if ((uint64_t)info.st_size != bytes) {
        snprintf(why, MT_PACK_WHY, "is cut short or damaged: %llu bytes, expected %llu", (unsigned long long)info.st_size, (unsigned long long)bytes);
        return MT_PACK_DAMAGED;
    }
    if (count > MT_PACK_PARTS || get(head + AT_FIRST, 8) != mt_pack_front_bytes((uint32_t)count)) return say(MT_PACK_DAMAGED, why, "is damaged: its table of contents has no such length");
    pack->count = (uint32_t)count;
    pack->is_signed = memcmp(head + MT_PACK_AT_KEY, none, sizeof none) != 0;
    return MT_PACK_OK;
}

/* Parts lie one behind the other, and fill the file. */
static bool take_parts(mt_pack *pack, const unsigned char *table)
{
    uint64_t at = mt_pack_front_bytes(pack->count), end = get(pack->head + AT_FILE_BYTES, 8);
    for (uint32_t i = 0; i < pack->count; i++) {
        const unsigned char *entry = table + (size_t)i * MT_PACK_ENTRY;
        mt_pack_part *part = &pack->parts[i];
        memcpy(part->name, entry, MT_PACK_NAME);
        part->at = get(entry + ENTRY_AT, 8);
        part->bytes = get(entry + ENTRY_BYTES, 8);
        memcpy(part->hash, entry + ENTRY_HASH, MT_BLAKE2B_BYTES);
        if (part->name[MT_PACK_NAME - 1] || !*part->name || part->at != at || part->at > end || part->bytes > end - part->at || !part->bytes) return false;
        at += mt_pack_padded(part->bytes);
    }
    return at == end;
}

static mt_pack_verdict read_table(mt_pack *pack, char why[MT_PACK_WHY])
{
    uint64_t bytes = mt_pack_front_bytes(pack->count) - MT_PACK_HEAD;
    unsigned char *table = malloc((size_t)bytes);
    pack->parts = calloc((size_t)pack->count + 1, sizeof *pack->parts);
    mt_pack_verdict verdict = table && pack->parts ? read_at(pack->fd, table, bytes, MT_PACK_HEAD, why) : say(MT_PACK_NO_MEMORY, why, "out of memory");
    if (verdict == MT_PACK_OK && (!has_hash(table, (size_t)bytes, pack->head + MT_PACK_AT_TABLE_HASH) || !take_parts(pack, table)))
        verdict = say(MT_PACK_DAMAGED, why, "is damaged: its table of contents is not what was written");
    free(table);
    return verdict;
}

mt_pack_verdict mt_pack_open(const char *path, mt_pack *pack, char why[MT_PACK_WHY])
{
    memset(pack, 0, sizeof *pack);
    pack->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (pack->fd < 0) return say(MT_PACK_UNREADABLE, why, strerror(errno));
    mt_pack_verdict verdict = read_at(pack->fd, pack->head, sizeof pack->head, 0, why);
    if (verdict == MT_PACK_OK) verdict = check_head(pack, why);
    if (verdict == MT_PACK_OK) verdict = read_table(pack, why);
    if (verdict != MT_PACK_OK) mt_pack_close(pack);
    return verdict;
}

void mt_pack_close(mt_pack *pack)
{
    if (pack->fd >= 0) close(pack->fd);
    free(pack->parts);
    pack->parts = NULL;
    pack->fd = -1;
}

const mt_pack_part *mt_pack_find(const mt_pack *pack, const char *name)
{
    for (uint32_t i = 0; i < pack->count; i++)
        if (strcmp(pack->parts[i].name, name) == 0) return &pack->parts[i];
    return NULL;
}

mt_pack_verdict mt_pack_read(const mt_pack *pack, const mt_pack_part *part, void *to, char why[MT_PACK_WHY])
{
    uint64_t bytes = mt_pack_padded(part->bytes);
    mt_pack_verdict verdict = read_at(pack->fd, to, bytes, part->at, why);
    if (verdict != MT_PACK_OK || has_hash(to, (size_t)bytes, part->hash)) return verdict;
    snprintf(why, MT_PACK_WHY, "is damaged: part %s is not what was written", part->name);
    return MT_PACK_DAMAGED;
}
