#include "tuner/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/file.h"

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* The folder itself must keep strangers out; in one above it a sticky bit is enough, since it keeps what is there. */
static mt_status check_folder(const char *asked, const char *folder, bool is_above, mt_error *err)
{
    struct stat info;
    if (stat(folder, &info) != 0) return MT_FAIL(err, MT_ERR_IO, "%s: %s", folder, strerror(errno));
    if (!is_trusted(info.st_uid))
        return MT_FAIL(err, MT_ERR_IO, "%s: %s belongs to user %ld, neither to root nor to user %ld", asked, folder, (long)info.st_uid, (long)geteuid());
    if ((info.st_mode & S_IWOTH) && !(is_above && (info.st_mode & S_ISVTX)))
        return MT_FAIL(err, MT_ERR_IO, "%s: everybody may write in %s (mode %03o); chmod o-w", asked, folder, (unsigned)(info.st_mode & 07777));
    return MT_OK;
}

mt_status mt_trust_folder(const char *path, mt_error *err)
{
    char real[PATH_MAX];
    if (!realpath(path, real)) return MT_FAIL(err, MT_ERR_IO, "%s: %s", path, strerror(errno));
    mt_status st = check_folder(path, real, false, err);
    for (char *slash = strrchr(real, '/'); slash && st == MT_OK; slash = strrchr(real, '/')) {
        *slash = '\0';
        st = check_folder(path, *real ? real : "/", true, err);
    }
    return st;
}

mt_status mt_trust_read(const char *path, size_t max_bytes, char **data, size_t *length, mt_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0) return MT_FAIL(err, errno == ENOENT ? MT_ERR_NOT_FOUND : MT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    mt_status st = MT_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) st = MT_FAIL(err, MT_ERR_IO, "%s: is not a regular file", path);
    else if (!is_trusted(info.st_uid))
        st = MT_FAIL(err, MT_ERR_IO, "%s: belongs to user %ld, neither to root nor to user %ld", path, (long)info.st_uid, (long)geteuid());
    else if (info.st_mode & S_IWOTH) st = MT_FAIL(err, MT_ERR_IO, "%s: everybody may write it (mode %03o)", path, (unsigned)(info.st_mode & 0777));
    else st = mt_file_read_fd(fd, max_bytes, path, data, length, err);
    close(fd);
    return st;
}
