#include "tuner/cli/man_page.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

/* Text as roff takes it literally: hyphens that can be copied, no escapes, no requests. */
static void add_text(mt_strbuf *page, const char *text)
{
    bool begins_line = !page->length || page->text[page->length - 1] == '\n';
    for (; *text; text++) {
        if (begins_line && (*text == '.' || *text == '\'')) mt_strbuf_add(page, "\\&");
        if (*text == '-') mt_strbuf_add(page, "\\-");
        else if (*text == '\\') mt_strbuf_add(page, "\\e");
        else mt_strbuf_add_char(page, *text);
        begins_line = *text == '\n';
    }
}

/* Paragraphs; lines that begin with spaces are examples and stay as they are. An empty line parts paragraphs. */
static void add_paragraphs(mt_strbuf *page, const char *text)
{
    bool is_example = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = mt_strndup(text, length);
        bool wants_example = length && *text == ' ';
        if (!line) page->failed = true;
        if (wants_example != is_example) mt_strbuf_add(page, wants_example ? ".PP\n.nf\n" : ".fi\n");
        if (length == 0) mt_strbuf_add(page, ".PP\n");
        else if (line) {
            add_text(page, line);
            mt_strbuf_add_char(page, '\n');
        }
        is_example = wants_example;
        mt_free(line);
        text += length + (text[length] == '\n');
    }
    if (is_example) mt_strbuf_add(page, ".fi\n");
}

static void add_option(mt_strbuf *page, const mt_option *option)
{
    mt_strbuf_add(page, ".TP\n\\fB");
    if (option->letter) mt_strbuf_addf(page, "\\-%c\\fR, \\fB", option->letter);
    mt_strbuf_add(page, "\\-\\-");
    add_text(page, option->name);
    mt_strbuf_add(page, "\\fR");
    if (option->value) {
        mt_strbuf_add(page, " \\fI");
        add_text(page, option->value);
        mt_strbuf_add(page, "\\fR");
    }
    mt_strbuf_add_char(page, '\n');
    add_text(page, option->help);
    mt_strbuf_add_char(page, '\n');
}

static void compose(const mt_command *command, mt_strbuf *page)
{
    mt_strbuf_addf(page, ".\\\" Made of the command's tables by msda-tune help --man-pages.\n.TH MSDA-TUNE-%s 1 \"\" \"msda-tune %s\" \"msda-tune\"\n.SH NAME\nmsda-tune-%s \\- ", command->name, MT_VERSION, command->name);
    add_text(page, command->summary);
    mt_strbuf_addf(page, "\n.SH SYNOPSIS\n.B msda-tune %s\n", command->name);
    mt_strbuf_add(page, ".RI [ options ]\n");
    if (command->operands) mt_strbuf_add(page, ".I ");
    if (command->operands) add_text(page, command->operands);
    mt_strbuf_add(page, command->operands ? "\n.SH DESCRIPTION\n" : ".SH DESCRIPTION\n");
    add_paragraphs(page, command->help);
    mt_strbuf_add(page, ".SH OPTIONS\n");
    for (const mt_option *o = command->options; o && o->name; o++) add_option(page, o);
    add_option(page, &mt_option_of_all);
    mt_strbuf_add(page, ".SH EXIT STATUS\n0 done, 1 failure, 2 wrong usage, 3 no usable GPU, 4 nothing valid found, 5 slower\n.RB ( \"diff \\-\\-check\" ),\n130 interrupted.\n"
                        ".SH SEE ALSO\n.BR msda-tune (1)\n");
}

static mt_status write_page(const char *folder, const mt_command *command, mt_error *err)
{
    mt_strbuf page = {0}, path = {0};
    mt_strbuf_addf(&path, "%s/msda-tune-%s.1", folder, command->name);
    compose(command, &page);
    mt_status st = page.failed || path.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "help: out of memory") : mt_file_write_atomic(mt_strbuf_text(&path), mt_strbuf_text(&page), page.length, err);
    mt_strbuf_free(&page);
    mt_strbuf_free(&path);
    return st;
}

mt_status mt_man_pages_write(const char *folder, mt_error *err)
{
    mt_status st = mt_dir_make_all(folder, err);
    for (size_t i = 0; st == MT_OK && i < mt_command_count(); i++)
        if (mt_command_at(i)->summary) st = write_page(folder, mt_command_at(i), err);
    return st;
}
