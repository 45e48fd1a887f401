/* Man pages of the commands, made of the same tables as their help. */
#pragma once

#include "tuner/cli/command.h"

/* Writes msda-tune-NAME.1 of every command that help names into the folder, which is made if it is not there. */
mt_status mt_man_pages_write(const char *folder, mt_error *err);
