#include "db/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whose files are believed: root's, one's own, and `also`. */
static bool is_trusted_owner(uid_t owner, uid_t also)
{
    return owner == 0 || owner == geteuid() || owner == also;
}

/* A file: nobody but a trusted owner may write, or those whom `allowed`, mode bits, lets. */
static mt_trust_verdict check_file(const char *path, const struct stat *info, uid_t also, mode_t allowed, mt_trust *trust)
{
    if (!S_ISREG(info->st_mode)) {
        snprintf(trust->why, sizeof trust->why, "%s: is not a regular file", path);
        return MT_TRUST_UNREADABLE;
    }
    if (!is_trusted_owner(info->st_uid, also)) {
        snprintf(trust->why, sizeof trust->why, "%s: belongs to user %ld, neither to root nor to user %ld", path, (long)info->st_uid, (long)geteuid());
        return MT_TRUST_REFUSED;
    }
    if (info->st_mode & (S_IWGRP | S_IWOTH) & ~allowed) {
        snprintf(trust->why, sizeof trust->why, "%s: others than its owner may write it (mode %03o); chmod go-w", path, (unsigned)(info->st_mode & 0777));
        return MT_TRUST_REFUSED;
    }
    return MT_TRUST_OK;
}

/* A folder on the way: whoever may write in it can exchange what lies below. Who gives a group that right trusts its members with it (Debian's /usr/local is writable by
 * group staff, and a umask of 002 makes every folder so); that a member's own file is refused for its owner guards against accidents only. */
static mt_trust_verdict check_folder(const char *path, const char *folder, mt_trust_purpose purpose, mt_trust *trust)
{
    struct stat info;
    if (stat(folder, &info) != 0) {
        snprintf(trust->why, sizeof trust->why, "%s: %s", folder, strerror(errno));
        return MT_TRUST_UNREADABLE;
    }
    if (purpose == MT_TRUST_TO_ACT && !is_trusted_owner(info.st_uid, 0)) {
        snprintf(trust->why, sizeof trust->why, "%s: lies in %s, which belongs to user %ld", path, folder, (long)info.st_uid);
        return MT_TRUST_REFUSED;
    }
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX)) {
        snprintf(trust->why, sizeof trust->why, "%s: lies in %s, where everybody may exchange files (mode %03o)", path, folder, (unsigned)(info.st_mode & 0777));
        return MT_TRUST_REFUSED;
    }
    return MT_TRUST_OK;
}

static mt_trust_verdict check_folders(const char *path, mt_trust_purpose purpose, mt_trust *trust)
{
    char real[PATH_MAX];
    mt_trust_verdict verdict = MT_TRUST_OK;
    strcpy(real, trust->real);
    for (char *slash = strrchr(real, '/'); slash && verdict == MT_TRUST_OK; slash = strrchr(real, '/')) {
        *slash = '\0';
        verdict = check_folder(path, *real ? real : "/", purpose, trust);
    }
    return verdict;
}

/* What SQLite reads beside the file has the same power as the file itself. */
static mt_trust_verdict check_companions(uid_t also, mode_t allowed, mt_trust *trust)
{
    static const char *const suffixes[] = {"-wal", "-journal", "-shm"};
    char name[PATH_MAX + 16];
    struct stat info;
    mt_trust_verdict verdict = MT_TRUST_OK;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && verdict == MT_TRUST_OK; i++) {
        snprintf(name, sizeof name, "%s%s", trust->real, suffixes[i]);
        if (lstat(name, &info) != 0) continue;
        verdict = check_file(name, &info, also, allowed, trust);
        size_t used = strlen(trust->why);
        if (verdict != MT_TRUST_OK) snprintf(trust->why + used, sizeof trust->why - used, "; expected what SQLite keeps beside the database, or nothing");
    }
    return verdict;
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

/* The folder that the path's last part lies in; its slash goes with it. */
static void folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash) snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else strcpy(out, ".");
}

/* *path is a link: becomes what it leads to, with `rest` behind it. False: too long, or no link any more. */
static bool follow(char path[PATH_MAX], const char *rest)
{
    char folder[PATH_MAX], target[PATH_MAX], whole[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = '\0';
    folder_of(path, folder);
    int written = *target == '/' ? snprintf(whole, sizeof whole, "%s%s", target, rest) : snprintf(whole, sizeof whole, "%s/%s%s", folder, target, rest);
    if (written < 0 || (size_t)written >= sizeof whole) return false;
    strcpy(path, whole);
    return true;
}

/* Links on the way, also of one that leads nowhere yet: in a folder where everybody may make them, a stranger's decides which file is written. Linux refuses to follow those (protected_symlinks), but SQLite and realpath
 * follow links themselves, and the switch may be off. */
mt_trust_verdict mt_trust_check_links(const char *path, mt_trust *trust)
{
    enum { HOPS = 40 };
    char at[PATH_MAX], folder[PATH_MAX], rest[PATH_MAX];
    struct stat link, in;
    snprintf(at, sizeof at, "%s", path);
    for (int hops = 0; hops < HOPS; hops++) {
        size_t end = strspn(at, "/");
        bool is_link = false;
        while (!is_link && at[end]) { /* the first link from the left */
            end += strcspn(at + end, "/");
            strcpy(rest, at + end);
            at[end] = '\0';
            is_link = lstat(at, &link) == 0 && S_ISLNK(link.st_mode);
            if (is_link) break;
            strcpy(at + end, rest);
            end += strspn(at + end, "/");
        }
        if (!is_link) return MT_TRUST_OK;
        folder_of(at, folder);
        if (!is_trusted_owner(link.st_uid, 0) && (stat(folder, &in) != 0 || (in.st_mode & S_IWOTH))) {
            snprintf(trust->why, sizeof trust->why, "%s: leads through the link %s of user %ld, in a folder where everybody may make one; expected a link of root or of user %ld", path, at, (long)link.st_uid, (long)geteuid());
            return MT_TRUST_REFUSED;
        }
        if (!follow(at, rest)) return MT_TRUST_OK; /* whoever opens it says why not */
    }
    return MT_TRUST_OK;
}

mt_trust_verdict mt_trust_check(const char *path, mt_trust_purpose purpose, mt_trust *trust)
{
    struct stat info;
    mt_trust_verdict verdict = MT_TRUST_OK;
    *trust->why = '\0';
    trust->is_shared = false;
    if (purpose != MT_TRUST_TO_LOOK && (verdict = mt_trust_check_links(path, trust)) != MT_TRUST_OK) return verdict;
    if (!realpath(path, trust->real) || stat(trust->real, &info) != 0) {
        snprintf(trust->why, sizeof trust->why, "%s: %s", path, strerror(errno));
        if (errno != ENOENT && errno != ENOTDIR) return MT_TRUST_UNREADABLE;
        if (purpose != MT_TRUST_TO_WRITE || strlen(path) >= sizeof trust->real) return MT_TRUST_MISSING;
        strcpy(trust->real, path); /* what lies beside a file that is to be made would become part of it */
        verdict = check_companions(0, 0, trust);
        return verdict == MT_TRUST_OK ? MT_TRUST_MISSING : verdict;
    }
    trust->is_shared = is_shared_folder(trust->real);
    if (purpose == MT_TRUST_TO_LOOK) return check_companions(info.st_uid, info.st_mode, trust);
    uid_t also = purpose == MT_TRUST_TO_WRITE && geteuid() == 0 ? info.st_uid : 0;
    verdict = check_file(path, &info, also, 0, trust);
    if (verdict == MT_TRUST_OK) verdict = check_folders(path, purpose, trust);
    return verdict == MT_TRUST_OK ? check_companions(also, 0, trust) : verdict;
}
