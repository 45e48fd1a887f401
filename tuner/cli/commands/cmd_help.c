/* msda-tune help [COMMAND] */
#include "tuner/cli/command.h"

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const mt_command *command = NULL;
    if (arguments->operand_count > 1) return MT_FAIL(err, MT_ERR_USAGE, "help: one command at a time");
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
    .run = run,
};
