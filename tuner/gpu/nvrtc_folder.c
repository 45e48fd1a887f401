/* Where NVRTC runs. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/nvrtc.h"

/* A folder that is deleted while somebody is in it stays empty: nobody can put a header into it. */
static int open_empty_folder(void)
{
    const char *root = getenv("TMPDIR");
    char *name = mt_path_join(root && root[0] ? root : "/tmp", "msda-tune-XXXXXX");
    int folder = -1;
    if (name && mkdtemp(name)) {
        folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rmdir(name);
    }
    mt_free(name);
    return folder >= 0 ? folder : open("/proc/self/fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* no temporary folder: one without headers */
}

int mt_nvrtc_leave_folder(void)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), empty = here >= 0 ? open_empty_folder() : -1;
    bool is_gone = empty >= 0 && fchdir(empty) == 0;
    if (empty >= 0) close(empty);
    if (is_gone) return here;
    if (here >= 0) close(here);
    return -1;
}

void mt_nvrtc_return_to(int folder)
{
    if (folder < 0) return;
    if (fchdir(folder) != 0) _exit(1); /* relative paths would mean something else from here on */
    close(folder);
}
