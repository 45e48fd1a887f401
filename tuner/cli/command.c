#include "tuner/cli/command.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output_files.h"

#define MT_COMMAND(name) extern const mt_command mt_cmd_##name;
#include "tuner/cli/commands.def"
#undef MT_COMMAND

static const mt_command *const commands[] = {
#define MT_COMMAND(name) &mt_cmd_##name,
#include "tuner/cli/commands.def"
#undef MT_COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

size_t mt_command_count(void)
{
    return COMMAND_COUNT;
}

const mt_command *mt_command_at(size_t index)
{
    return commands[index];
}

const mt_command *mt_command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

/* A search space without its option. */
static bool is_space_file(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && strcmp(dot, ".ini") == 0;
}

mt_status mt_command_unknown(const char *name, mt_error *err)
{
    const char *names[COMMAND_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i]->summary) names[count++] = commands[i]->name;
    const char *near = mt_text_nearest(name, names, count);
    if (is_space_file(name)) return MT_FAIL(err, MT_ERR_USAGE, "unknown command '%s'; a search space is tuned with --space %s", name, name);
    if (near) return MT_FAIL(err, MT_ERR_USAGE, "unknown command '%s', did you mean '%s'?", name, near);
    return MT_FAIL(err, MT_ERR_USAGE, "unknown command '%s'; 'msda-tune help' lists them", name);
}

mt_status mt_command_run(const mt_command *command, int argc, char **argv, mt_error *err)
{
    mt_status st = MT_OK;
    mt_parsed parsed = {0};
    void *values = mt_alloc(1, command->values_size);
    if (!values) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", command->name);
    MT_TRY(mt_option_parse(command->name, command->options, argc, argv, values, &parsed, err));
    if (parsed.wants_help) {
        mt_command_help(command);
        goto done;
    }
    if (parsed.operand_count && !command->operands) {
        const char *word = parsed.operands[0];
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: unexpected word '%s'; %s%s", command->name, word, is_space_file(word) ? "did you mean --space " : "options start with --", is_space_file(word) ? word : "");
        goto done;
    }
    MT_TRY(mt_output_files_check(command->name, command->options, values, &parsed, err));
    mt_be_quiet(parsed.is_quiet);
    mt_arguments arguments = {values, parsed.operands, parsed.operand_count, argc, argv};
    st = command->run(&arguments, err);
done:
    mt_option_free(command->options, values, &parsed);
    mt_free(values);
    return st;
}

void mt_command_line(const char *name, const mt_arguments *arguments, mt_strbuf *line)
{
    mt_strbuf_addf(line, "msda-tune %s", name);
    for (int i = 0; i < arguments->argc; i++) {
        mt_strbuf_add_char(line, ' ');
        mt_strbuf_add_word(line, arguments->argv[i]);
    }
}

static void print_overview(void)
{
    printf("msda-tune %s: finds the fastest variant of a CUDA kernel, and remembers it.\n\n"
           "Usage: msda-tune [tune] --gpu auto --space FILE [options]\n"
           "       msda-tune COMMAND [options]\n\nCommands:\n", MT_VERSION);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i]->summary) printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n'msda-tune help COMMAND' explains one. Exit codes: 0 done, 1 failure, 2 usage, 3 no usable GPU,\n"
           "4 nothing valid found, 5 slower (--check), 130 interrupted (what was measured is kept).\n");
}

void mt_command_help(const mt_command *command)
{
    if (!command) {
        print_overview();
        return;
    }
    printf("Usage: msda-tune %s [options]%s%s\n\n%s\n\nOptions:\n", command->name, command->operands ? " " : "", command->operands ? command->operands : "", command->help);
    mt_option_print(command->options);
}
