/* What a command writes must be no file that it reads, no database, and nothing that came with the tool. */
#pragma once

#include "tuner/cli/options.h"

/* Before the command runs: looks at every option whose kind says that it names an output. USAGE names the option and the file where that file is one of the inputs (options, operands, the default database,
 * a search space with its source: the same file under any name), another output, an SQLite database, of an MT_OPTION_PAGE no regular file, or lies in a share/msda-tune-shipped or in a file system of the kernel's. The database of an MT_OPTION_DATABASE may be there, and must be none of the options' inputs. Inputs that cannot be read are
 * left to the command. `command` stands in messages; `values` and *parsed as filled by mt_option_parse. */
mt_status mt_output_files_check(const char *command, const mt_option *options, const void *values, const mt_parsed *parsed, mt_error *err);
