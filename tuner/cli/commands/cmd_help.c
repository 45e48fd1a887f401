/* msda-tune help [COMMAND] */
#include "tuner/cli/command.h"
#include "tuner/cli/man_page.h"

typedef struct help_values {
    const char *man_pages;
} help_values;

static const mt_option options[] = {
    {"man-pages", 0, MT_OPTION_FOLDER, offsetof(help_values, man_pages), "FOLDER", "write a man page of every command into FOLDER instead"},
    {0},
};

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const help_values *values = arguments->values;
    const mt_command *command = NULL;
    if (arguments->operand_count > 1) return MT_FAIL(err, MT_ERR_USAGE, "help: one command at a time");
    if (values->man_pages) return mt_man_pages_write(values->man_pages, err);
    if (arguments->operand_count == 1) {
        command = mt_command_find(arguments->operands[0]);
        if (!command || !command->summary) return mt_command_unknown(arguments->operands[0], err);
    }
    mt_command_help(command);
    return MT_OK;
}

const mt_command mt_cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .help = "Without a word: the overview.",
    .options = options,
    .values_size = sizeof(help_values),
    .run = run,
};
