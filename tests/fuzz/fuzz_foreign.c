/* Problem descriptions of other tuners from any bytes: no fault; what is accepted becomes a search space of lines that the reader of .ini files takes apart, and what is refused is refused with a message. */
#include <stdlib.h>
#include <string.h>

#include "db/exchange/foreign/foreign.h"
#include "tests/fuzz/fuzz_target.h"

static void require(int holds)
{
    if (!holds) abort();
}

/* Each line is a comment, a section or an entry of ours: nothing of the file begins one. */
static void check_lines(const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t length = strcspn(text, "\n");
        require(length > 0 && !memchr(text, '\r', length));
        require(*text == ';' || *text == '[' || memchr(text, '=', length) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mt_strbuf ini = {0};
    mt_foreign_about about;
    mt_error err = {0};
    mt_status st = mt_foreign_space_bytes(data, size, "input", "", &ini, &about, &err);
    if (st == MT_OK) check_lines(mt_strbuf_text(&ini));
    else require(err.status == st && strncmp(err.message, "input", 5) == 0);
    mt_foreign_about_free(&about);
    mt_strbuf_free(&ini);
    return 0;
}
