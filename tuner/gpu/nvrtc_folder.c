/* Where NVRTC runs. */
#include <fcntl.h>
#include <unistd.h>

#include "tuner/gpu/nvrtc_internal.h"

/* A folder into which nobody can put a header: its files are named by numbers, by the kernel. (A folder that is deleted already would do too, but NVRTC 13.0 reads behind a buffer of its own
 * where getcwd fails.) */
static int open_folder_without_headers(void)
{
    return open("/proc/self/fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int mt_nvrtc_leave_folder(void)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), there = here >= 0 ? open_folder_without_headers() : -1;
    bool is_gone = there >= 0 && fchdir(there) == 0;
    if (there >= 0) close(there);
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
