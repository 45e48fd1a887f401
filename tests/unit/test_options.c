#include "tests/unit/unit.h"
#include "tuner/cli/command.h"

#include <string.h>

typedef struct values {
    bool flag;
    const char *text;
    mt_texts words, texts;
    int choice;
    int64_t count, seed;
    double seconds;
} values;

static const mt_option options[] = {
    {"flag", 'f', MT_OPTION_FLAG, offsetof(values, flag), NULL, "a flag"},
    {"text", 't', MT_OPTION_TEXT, offsetof(values, text), "TEXT", "a text"},
    {"word", 0, MT_OPTION_WORDS, offsetof(values, words), "W", "words"},
    {"input", 0, MT_OPTION_TEXTS, offsetof(values, texts), "T", "texts"},
    {"l2", 0, MT_OPTION_CHOICE, offsetof(values, choice), "cold|warm", "a choice"},
    {"budget", 0, MT_OPTION_COUNT, offsetof(values, count), "N", "a count"},
    {"seed", 0, MT_OPTION_SEED, offsetof(values, seed), "N", "a seed"},
    {"time", 0, MT_OPTION_SECONDS, offsetof(values, seconds), "S", "seconds"},
    {0},
};

typedef struct attempt {
    values v;
    mt_parsed parsed;
    mt_error err;
    mt_status st;
} attempt;

/* argv ends with NULL */
static attempt parse(const char *const *argv)
{
    attempt a = {0};
    int argc = 0;
    while (argv[argc]) argc++;
    a.st = mt_option_parse("demo", options, argc, (char **)argv, &a.v, &a.parsed, &a.err);
    return a;
}

static void drop(attempt *a)
{
    mt_option_free(options, &a->v, &a->parsed);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

START_TEST(every_kind)
{
    attempt a = PARSE("--flag", "--text", "x y", "--word", "a,b", "--word=c", "--input", "v=a,b.npy", "--l2", "warm", "--budget", "12", "--seed=0", "--time", "1.5");
    ck_assert_int_eq(a.st, MT_OK);
    ck_assert(a.v.flag);
    ck_assert_str_eq(a.v.text, "x y");
    ck_assert_uint_eq(a.v.words.count, 3);
    ck_assert_str_eq(a.v.words.items[1], "b");
    ck_assert_str_eq(a.v.words.items[2], "c");
    ck_assert_uint_eq(a.v.texts.count, 1);
    ck_assert_str_eq(a.v.texts.items[0], "v=a,b.npy");
    ck_assert_int_eq(a.v.choice, 2);
    ck_assert_int_eq(a.v.count, 12);
    ck_assert_double_eq(a.v.seconds, 1.5);
    drop(&a);
}
END_TEST

START_TEST(letters_operands_and_the_end_mark)
{
    attempt a = PARSE("-f", "one", "-tX", "-t", "Y", "-", "--", "--flag");
    ck_assert_int_eq(a.st, MT_OK);
    ck_assert_str_eq(a.v.text, "Y");
    ck_assert_uint_eq(a.parsed.operand_count, 3);
    ck_assert_str_eq(a.parsed.operands[0], "one");
    ck_assert_str_eq(a.parsed.operands[1], "-");
    ck_assert_str_eq(a.parsed.operands[2], "--flag");
    drop(&a);
}
END_TEST

START_TEST(refused_with_the_reason)
{
    static const struct { const char *argv[4]; const char *says; } bad[] = {
        {{"--budgte", "3"}, "did you mean '--budget'?"},
        {{"--nothing-like-it"}, "msda-tune help demo"},
        {{"-x"}, "unknown option '-x'"},
        {{"--budget"}, "--budget N"},
        {{"--budget", "0"}, "at least 1"},
        {{"--budget", "9999999999999999999"}, "too large"},
        {{"--word", ",a"}, "empty word"},
        {{"--word", "a,,b"}, "empty word"},
        {{"--word", "a,"}, "empty word"},
        {{"--budget", "3x"}, "whole number"},
        {{"--seed", "-1"}, "at least 0"},
        {{"--l2", "tepid"}, "expected cold|warm"},
        {{"--l2", "col"}, "expected cold|warm"},
        {{"--time", "-2"}, "above 0"},
        {{"--time", "nan"}, "above 0"},
        {{"--flag=yes"}, "takes no value"},
        {{"--text", ""}, "is empty"},
        {{"--text="}, "is empty"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attempt a = parse(bad[i].argv);
        ck_assert_int_eq(a.st, MT_ERR_USAGE);
        ck_assert_msg(strstr(a.err.message, bad[i].says), "%s: %s", bad[i].argv[0], a.err.message);
        drop(&a);
    }
}
END_TEST

START_TEST(help_stops_everything)
{
    attempt a = PARSE("--flag", "--help", "--unknown");
    ck_assert_int_eq(a.st, MT_OK);
    ck_assert(a.parsed.wants_help);
    drop(&a);
}
END_TEST

START_TEST(quiet_is_an_option_of_every_command)
{
    attempt a = PARSE("-f", "--quiet"), b = PARSE("-q"), c = PARSE("--quiet=yes"), d = PARSE("--quite"), e = PARSE("-f");
    ck_assert(a.st == MT_OK && a.parsed.is_quiet && a.v.flag);
    ck_assert(b.st == MT_OK && b.parsed.is_quiet);
    ck_assert_str_eq(c.err.message, "demo: --quiet takes no value");
    ck_assert_ptr_nonnull(strstr(d.err.message, "did you mean '--quiet'?"));
    ck_assert(e.st == MT_OK && !e.parsed.is_quiet);
    for (size_t i = 0; i < mt_command_count(); i++)
        for (const mt_option *o = mt_command_at(i)->options; o && o->name; o++) ck_assert_msg(strcmp(o->name, "quiet") != 0 && o->letter != 'q', "%s has its own", mt_command_at(i)->name);
    attempt *all[] = {&a, &b, &c, &d, &e};
    for (size_t i = 0; i < 5; i++) drop(all[i]);
}
END_TEST

START_TEST(commands_are_found)
{
    mt_error err = {0};
    for (size_t i = 0; i < mt_command_count(); i++) {
        const mt_command *command = mt_command_at(i);
        ck_assert_ptr_eq(mt_command_find(command->name), command);
        ck_assert_msg(!command->run != !command->raw, "%s has exactly one way to run", command->name);
        ck_assert_msg(!command->summary || command->help, "%s has a help page", command->name);
        for (const mt_option *o = command->options; o && o->name; o++) {
            ck_assert_msg(o->help && (o->kind == MT_OPTION_FLAG) == !o->value, "%s --%s", command->name, o->name);
            ck_assert_msg(o->offset < command->values_size, "%s --%s", command->name, o->name);
        }
    }
    ck_assert_int_eq(mt_command_unknown("shwo", &err), MT_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "did you mean 'show'?"));
    mt_command_unknown("workerr", &err); /* hidden commands are not suggested */
    ck_assert_ptr_null(strstr(err.message, "worker'?"));
}
END_TEST

UNIT_MAIN("options", every_kind, letters_operands_and_the_end_mark, refused_with_the_reason, help_stops_everything, quiet_is_an_option_of_every_command, commands_are_found)
