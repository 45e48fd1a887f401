/* Which files libtunelookup believes. docs/security.md gives the rules and their reasons.
 *
 * Nothing is opened here: closing any descriptor of a database file would drop the POSIX locks that another SQLite connection of this process holds on it.
 * Between stat and SQLite's open the file could be exchanged only by those who may write in its folders, which is why folders are checked as well. */
#include "db/lookup/lookup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted_owner(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* A file: nobody but a trusted owner may write. */
static tunelookup_status check_file(const char *path, const struct stat *info)
{
    if (!S_ISREG(info->st_mode)) return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: is not a regular file", path);
    if (!is_trusted_owner(info->st_uid)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_UNTRUSTED, "%s: belongs to user %ld, neither to root nor to user %ld", path, (long)info->st_uid, (long)geteuid());
    }
    if (info->st_mode & (S_IWGRP | S_IWOTH)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_UNTRUSTED, "%s: others than its owner may write it (mode %03o); chmod go-w", path, (unsigned)(info->st_mode & 0777));
    }
    return TUNELOOKUP_OK;
}

/* A folder on the way: whoever may write in it can exchange what lies below. Who gives a group that right trusts its members with it (Debian's /usr/local is writable by
 * group staff, and a umask of 002 makes every folder so); that a member's own file is refused for its owner guards against accidents only. */
static tunelookup_status check_folder(const char *path, const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0) return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: %s", folder, strerror(errno));
    if (!is_trusted_owner(info.st_uid)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_UNTRUSTED, "%s: lies in %s, which belongs to user %ld", path, folder, (long)info.st_uid);
    }
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_UNTRUSTED, "%s: lies in %s, where everybody may exchange files (mode %03o)", path, folder,
                              (unsigned)(info.st_mode & 0777));
    }
    return TUNELOOKUP_OK;
}

static tunelookup_status check_folders(const char *path, char *real)
{
    tunelookup_status st = TUNELOOKUP_OK;
    for (char *slash = strrchr(real, '/'); slash && st == TUNELOOKUP_OK; slash = strrchr(real, '/')) {
        *slash = '\0';
        st = check_folder(path, *real ? real : "/");
    }
    return st;
}

/* What SQLite reads beside the file has the same power as the file itself. */
static tunelookup_status check_companions(const char *real)
{
    static const char *const suffixes[] = { "-wal", "-journal", "-shm" };
    char name[PATH_MAX + 16];
    struct stat info;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", real, suffixes[i]);
        if (lstat(name, &info) != 0) continue;
        tunelookup_status st = check_file(name, &info);
        if (st != TUNELOOKUP_OK) return st;
    }
    return TUNELOOKUP_OK;
}

/* A sticky folder keeps what is there from strangers, but they may add a file that was missing: a -wal between our look at it and SQLite's. */
static bool is_shared_folder(const char *real)
{
    struct stat info;
    char folder[PATH_MAX];
    strcpy(folder, real);
    *strrchr(folder, '/') = '\0';
    return stat(*folder ? folder : "/", &info) != 0 || (info.st_mode & S_IWOTH) || ((info.st_mode & S_IWGRP) && (info.st_mode & S_ISVTX));
}

tunelookup_status mt_lookup_check_trust(const char *path, char real[PATH_MAX], bool *is_shared)
{
    struct stat info;
    char folders[PATH_MAX];
    if (!realpath(path, real) || stat(real, &info) != 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return mt_lookup_fail(missing ? TUNELOOKUP_ERR_NOT_FOUND : TUNELOOKUP_ERR_IO, "%s: %s", path, strerror(errno));
    }
    tunelookup_status st = check_file(path, &info);
    if (st == TUNELOOKUP_OK) st = check_folders(path, strcpy(folders, real));
    if (st == TUNELOOKUP_OK) st = check_companions(real);
    *is_shared = st == TUNELOOKUP_OK && is_shared_folder(real);
    return st;
}
