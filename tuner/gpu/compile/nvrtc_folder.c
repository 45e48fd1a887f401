/* Where NVRTC runs. */
#include <fcntl.h>
#include <unistd.h>

#include "tuner/gpu/compile/nvrtc_internal.h"

/* A folder into which nobody can put a header, and whose path is the same in every process: with -lineinfo it is in the cubin. (A folder that is deleted already would do too, but NVRTC 13.0 reads
 * behind a buffer of its own where getcwd fails.) */
static int open_folder_without_headers(void)
{
    static const char *const folders[] = {"/proc/sys/vm", "/"};
    int fd = -1;
    for (size_t i = 0; i < 2 && fd < 0; i++) fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd;
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
