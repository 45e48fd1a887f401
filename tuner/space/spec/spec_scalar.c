/* Values of scalars: bool too, which no tensor has. It is a byte, which is how everything from here on sees it. */
#include "tuner/space/spec/spec_internal.h"

#include <string.h>
#include <strings.h>

#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

bool mt_is_texture(const char *word)
{
    return strcasestr(word, "texture") || strcasestr(word, "surface");
}

mt_status mt_parse_scalar_dtype(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_arg *arg = object;
    arg->is_bool = strcmp(value, "bool") == 0;
    return mt_parse_dtype_text(reader, rule, entry, arg->is_bool ? "u8" : value, object, err);
}

/* true or false, of a number whether it is another than 0. */
static mt_status bool_value(mt_reader *reader, const mt_ini_entry *entry, const char *value, mt_arg *arg, mt_error *err)
{
    mt_strbuf text = { 0 };
    mt_strbuf_addf(&text, "(%s) + 0 != 0", value);
    mt_status st = text.failed ? mt_reader_no_memory(reader, err) : mt_scope_expr(reader, entry->line, mt_strbuf_text(&text), MT_TYPE_INT, &arg->value, err);
    if (st != MT_OK && strstr(err->message, "'+' needs an integer")) st = mt_reader_fail(reader, err, entry->line, "value = %s of dtype bool: expected a condition, true, false, or an integer, which is true where it is not 0", value);
    mt_strbuf_free(&text);
    return st;
}

mt_status mt_parse_scalar_value(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                                mt_error *err)
{
    mt_arg *arg = object;
    int64_t whole;
    if (arg->is_bool) return bool_value(reader, entry, value, arg, err);
    if (!mt_text_int64(value, strlen(value), &whole) && mt_text_double(value, &arg->literal)) {
        mt_dtype dtype;
        if (mt_dtype_from_name(arg->dtype_text, &dtype) && !mt_dtype_is_float(dtype)) {
            return mt_reader_fail(reader, err, entry->line, "value = %s needs a floating dtype, it is %s: expected an integer expression",
                                  value, arg->dtype_text);
        }
        return MT_OK;
    }
    return mt_scope_expr(reader, entry->line, value, MT_TYPE_INT, &arg->value, err);
}
