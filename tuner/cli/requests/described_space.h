/* import --space: the search space of a problem that another tool's file describes. */
#pragma once

#include "tuner/base/status.h"

/* output NULL: beside the file, by its name with .ini, where no such file is. */
mt_status mt_describe_space(const char *path, const char *output, mt_error *err);
