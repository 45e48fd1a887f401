#include "tests/unit/unit.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/spec/spec.h"

/* Every option of every command, by the tables: an option that is added is looked at too. */

static char scratch[] = "/tmp/mt_test_outputs_XXXXXX";

static bool writes(const mt_option *o)
{
    return o->kind == MT_OPTION_OUTPUT || o->kind == MT_OPTION_PAGE;
}

static bool reads(const mt_option *o)
{
    return o->kind == MT_OPTION_INPUT || o->kind == MT_OPTION_DATABASE || o->kind == MT_OPTION_SPACE || o->kind == MT_OPTION_INPUTS;
}

static void make(const char *name, const char *bytes, size_t length)
{
    mt_error err = {0};
    ck_assert_msg(mt_file_write_cached(name, bytes, length, &err) == MT_OK, "%s", err.message);
}

static void enter_scratch(void)
{
    static const char header[] = "SQLite format 3\0and so on";
    strcpy(strrchr(scratch, '_') + 1, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    ck_assert_int_eq(chdir(scratch), 0);
    make("text", "text", 4);
    make("base.sqlite", header, sizeof header);
    make("base.sqlite-wal", "rows", 4);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(link("text", "hard"), 0);
    ck_assert_int_eq(symlink("text", "soft"), 0);
    ck_assert_int_eq(mkdir("share", 0700), 0);
    ck_assert_int_eq(mkdir("share/msda-tune-shipped", 0700), 0);
    ck_assert_int_eq(symlink("share/msda-tune-shipped", "to_shipped"), 0);
    ck_assert_int_eq(symlink("/proc/self/mem", "to_kernel"), 0);
    make("share/msda-tune-shipped/devices.ini", "x", 1);
    make("kernel.cu", "#include \"part.h\"\nextern \"C\" __global__ void plain(float *out) { DO; }\n", 68);
    make("part.h", "\n", 1);
    setenv("MSDA_TUNE_DB", "default.sqlite", 1);
    setenv("MSDA_TUNE_SHARE", "nowhere", 1);
}

/* What a command would get of "--OUT path", and of "--IN input" unless NULL, with `operand` unless NULL. */
static mt_status check(const mt_command *c, const mt_option *out, const char *path, const mt_option *in, const char *input, const char *operand, mt_error *err)
{
    unsigned char *values = mt_alloc(1, c->values_size);
    mt_parsed parsed = {.operands = &operand, .operand_count = operand != NULL};
    mt_strbuf word = {0};
    mt_strbuf_addf(&word, "name=%s", input ? input : "");
    char *words[] = {(char *)(uintptr_t)mt_strbuf_text(&word)};
    ck_assert_ptr_nonnull(values);
    *(const char **)(void *)(values + out->offset) = path;
    if (in && in->kind == MT_OPTION_INPUTS) *(mt_texts *)(void *)(values + in->offset) = (mt_texts){words, 1, 1};
    else if (in) *(const char **)(void *)(values + in->offset) = input;
    *err = (mt_error){0};
    mt_status st = mt_output_files_check(c->name, c->options, values, &parsed, err);
    mt_strbuf_free(&word);
    mt_free(values);
    return st;
}

static void ck_refused(const mt_command *c, const mt_option *out, const char *path, const mt_option *in, const char *input, const char *operand)
{
    mt_error err;
    mt_status st = check(c, out, path, in, input, operand, &err);
    ck_assert_msg(st == MT_ERR_USAGE, "%s --%s %s%s%s %s is not refused", c->name, out->name, path, in ? " --" : "", in ? in->name : "", input ? input : "");
    ck_assert_msg(strstr(err.message, out->name) && (strstr(err.message, path) || (in && writes(in) && strstr(err.message, input))), "%s", err.message);
}

static void ck_fine(const mt_command *c, const mt_option *out, const char *path)
{
    mt_error err;
    ck_assert_msg(check(c, out, path, NULL, NULL, NULL, &err) == MT_OK, "%s", err.message);
}

static void folder_alone(const mt_command *c, const mt_option *out)
{
    static const char *const refused[] = {"share/msda-tune-shipped", "share/msda-tune-shipped/new", "to_shipped/new"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) ck_refused(c, out, refused[i], NULL, NULL, NULL);
    ck_fine(c, out, "share");
}

static size_t each_output(void (*look)(const mt_command *, const mt_option *))
{
    size_t count = 0;
    for (size_t i = 0; i < mt_command_count(); i++) {
        const mt_command *c = mt_command_at(i);
        for (const mt_option *o = c->options; o && o->name; o++)
            if (writes(o)) look(c, o), count++;
            else if (o->kind == MT_OPTION_FOLDER) folder_alone(c, o);
    }
    return count;
}

static void place_alone(const mt_command *c, const mt_option *out)
{
    static const char *const refused[] = {"base.sqlite", "./base.sqlite", "base.sqlite-wal", "share/msda-tune-shipped/devices.ini", "share/msda-tune-shipped/new", "to_shipped/devices.ini", "/proc/self/mem", "/proc/self/comm", "/proc/sys/kernel/ostype", "to_kernel"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) ck_refused(c, out, refused[i], NULL, NULL, NULL);
    if (out->kind == MT_OPTION_PAGE) ck_refused(c, out, "pipe", NULL, NULL, NULL);
    ck_fine(c, out, "text");
    ck_fine(c, out, "new");
    ck_fine(c, out, "-");
}

START_TEST(no_output_replaces_a_database_or_what_came_with_the_tool)
{
    enter_scratch();
    ck_assert_uint_ge(each_output(place_alone), 8);
}
END_TEST

static void beside_inputs(const mt_command *c, const mt_option *out)
{
    for (const mt_option *in = c->options; in->name; in++) {
        if (in == out || (!reads(in) && !writes(in))) continue;
        ck_refused(c, out, "text", in, "text", NULL);
        ck_refused(c, out, "text", in, "hard", NULL);
        ck_refused(c, out, "soft", in, "text", NULL);
        if (in->kind != MT_OPTION_SPACE) ck_refused(c, out, "new", in, "./new", NULL);
        if (strcmp(in->name, "db") == 0) ck_refused(c, out, "default.sqlite", NULL, NULL, NULL);
        mt_error err;
        ck_assert_msg(check(c, out, "text", in, "other", NULL, &err) == MT_OK, "%s", err.message);
    }
    ck_refused(c, out, "text", NULL, NULL, "hard");
}

START_TEST(no_output_is_what_the_command_reads)
{
    enter_scratch();
    ck_assert_uint_ge(each_output(beside_inputs), 8);
}
END_TEST

/* A database that is filled is none of the files that are read. */
START_TEST(no_database_is_an_input)
{
    size_t count = 0;
    enter_scratch();
    for (size_t i = 0; i < mt_command_count(); i++) {
        const mt_command *c = mt_command_at(i);
        for (const mt_option *db = c->options; db && db->name; db++) {
            if (db->kind != MT_OPTION_DATABASE) continue;
            for (const mt_option *in = c->options; in->name; in++) {
                if (in->kind != MT_OPTION_INPUT && in->kind != MT_OPTION_INPUTS) continue;
                mt_error err;
                ck_refused(c, db, "base.sqlite", in, "./base.sqlite", NULL);
                ck_refused(c, db, "new.sqlite", in, "./new.sqlite", NULL);
                if (strcmp(db->name, "db") == 0) ck_assert_int_eq(check(c, db, NULL, in, "default.sqlite", NULL, &err), MT_ERR_USAGE);
                ck_assert_msg(check(c, db, "base.sqlite", in, "text", NULL, &err) == MT_OK, "%s", err.message);
                count++;
            }
        }
    }
    ck_assert_uint_ge(count, 5);
}
END_TEST

static void beside_source(const mt_command *c, const mt_option *out)
{
    for (const mt_option *in = c->options; in->name; in++) {
        if (in->kind != MT_OPTION_SPACE) continue;
        ck_refused(c, out, "kernel.cu", in, "space.ini", NULL);
        ck_refused(c, out, "./part.h", in, "space.ini", NULL);
        ck_refused(c, out, "text", in, "reference.ini", NULL);
    }
}

START_TEST(nor_the_source_of_its_search_space)
{
    static const char *const references[] = {"plain", "file:text"}, *const names[] = {"space.ini", "reference.ini"};
    enter_scratch();
    for (size_t i = 0; i < 2; i++) {
        mt_strbuf ini = {0};
        mt_strbuf_addf(&ini, "[kernel]\nname = k\nsource = kernel.cu\nreference = %s\n[shape s]\nN = 1\n[param K]\nvalues = 1, 2\n[algorithm plain]\nentry = plain\n"
                             "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[launch 1]\nargs = out\nblock = 1\ngrid = N\n", references[i]);
        make(names[i], mt_strbuf_text(&ini), ini.length);
        mt_spec *spec = NULL;
        mt_error err = {0};
        ck_assert_msg(mt_spec_load(names[i], &spec, &err) == MT_OK, "%s", err.message);
        mt_spec_free(spec);
        mt_strbuf_free(&ini);
    }
    each_output(beside_source);
}
END_TEST

static void is_told_by_its_kind(const mt_command *c, const mt_option *o)
{
    bool names_file = o->value && (strncmp(o->value, "FILE", 4) == 0 || strcmp(o->value, "DIR") == 0 || strcmp(o->value, "FOLDER") == 0 || strcmp(o->value, "LIST") == 0 || strcmp(o->value, "NAME=FILE") == 0);
    bool has_kind = reads(o) || writes(o) || o->kind == MT_OPTION_FOLDER;
    ck_assert_msg(names_file == has_kind, "%s --%s %s: an option that names a file has a kind that says what the command does with it", c->name, o->name, o->value ? o->value : "");
}

START_TEST(options_that_name_files_say_so)
{
    for (size_t i = 0; i < mt_command_count(); i++) {
        const mt_command *c = mt_command_at(i);
        for (const mt_option *o = c->options; o && o->name; o++) is_told_by_its_kind(c, o);
    }
}
END_TEST

UNIT_MAIN("output files", no_output_replaces_a_database_or_what_came_with_the_tool, no_output_is_what_the_command_reads, no_database_is_an_input, nor_the_source_of_its_search_space, options_that_name_files_say_so)
