#include "tuner/cli/measure/idle_gap.h"

#include "tuner/base/clock.h"

/* By comparison and not by the clock: the server's may be another host's. */
static bool was_touched(mt_idle_gap *gap)
{
    struct stat now = {0};
    if (!gap->busy_file || stat(gap->busy_file, &now) != 0) return false;
    const struct stat *then = &gap->touched;
    bool is_same = now.st_ino == then->st_ino && now.st_dev == then->st_dev && now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec && now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
    gap->touched = now;
    return !is_same;
}

static bool is_loaded(mt_idle_gap *gap, bool is_tuning)
{
    mt_load load = mt_gpu_watch_load(gap->watch);
    int32_t percent = is_tuning ? load.others_percent : load.all_percent;
    return percent < 0 ? !is_tuning && !gap->busy_file : percent >= gap->below_percent;
}

bool mt_idle_gap_is_busy(mt_idle_gap *gap, bool is_tuning)
{
    bool is_busy = was_touched(gap) | is_loaded(gap, is_tuning);
    if (is_busy) gap->idle_since_ns = 0;
    else if (!gap->idle_since_ns) gap->idle_since_ns = mt_clock_now_ns();
    return is_busy;
}

bool mt_idle_gap_is_open(const mt_idle_gap *gap)
{
    return gap->idle_since_ns && (double)(mt_clock_now_ns() - gap->idle_since_ns) >= gap->idle_s * 1e9;
}
