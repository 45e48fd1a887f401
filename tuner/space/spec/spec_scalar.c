/* Values of scalars: bool and fp8 too, which no tensor has. They are bytes, which is how everything from here on sees them. */
#include "tuner/space/spec/spec_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

static const char *const byte_types[] = { [MT_BYTE_BOOL] = "bool", [MT_BYTE_E4M3] = "e4m3", [MT_BYTE_E5M2] = "e5m2" };

mt_byte_type mt_byte_type_of(const char *name)
{
    for (mt_byte_type type = MT_BYTE_BOOL; type <= MT_BYTE_E5M2; type++)
        if (strcmp(byte_types[type], name) == 0) return type;
    return MT_BYTE_NONE;
}

bool mt_is_texture(const char *word)
{
    return strcasestr(word, "texture") || strcasestr(word, "surface");
}

mt_status mt_parse_scalar_dtype(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_arg *arg = object;
    arg->byte_type = mt_byte_type_of(value);
    return mt_parse_dtype_text(reader, rule, entry, arg->byte_type ? "u8" : value, object, err);
}

/* true or false, of a number whether it is another than 0. */
static mt_status bool_value(mt_reader *reader, const mt_ini_entry *entry, const char *value, mt_arg *arg, mt_error *err)
{
    mt_strbuf text = { 0 };
    mt_strbuf_addf(&text, "(%s) + 0 != 0", value);
    mt_status st = text.failed ? mt_reader_no_memory(reader, err) : mt_scope_expr(reader, entry->line, mt_strbuf_text(&text), MT_TYPE_INT, &arg->value, err);
    mt_strbuf_free(&text);
    return st;
}

static mt_status fp8_value(mt_reader *reader, const mt_ini_entry *entry, const char *value, mt_arg *arg, mt_error *err)
{
    bool is_e4m3 = arg->byte_type == MT_BYTE_E4M3;
    uint16_t bits;
    double number;
    char text[16];
    if (!mt_text_double(value, &number) || !mt_small_float(number, is_e4m3 ? 4 : 5, is_e4m3 ? 3 : 2, !is_e4m3, &bits))
        return mt_reader_fail(reader, err, entry->line, "value = %s of dtype %s: expected a decimal number up to %s", value, byte_types[arg->byte_type], is_e4m3 ? "448" : "57344");
    snprintf(text, sizeof text, "%u", bits);
    return mt_scope_expr(reader, entry->line, text, MT_TYPE_INT, &arg->value, err);
}

mt_status mt_parse_scalar_value(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                                mt_error *err)
{
    mt_arg *arg = object;
    int64_t whole;
    if (arg->byte_type == MT_BYTE_BOOL) return bool_value(reader, entry, value, arg, err);
    if (arg->byte_type) return fp8_value(reader, entry, value, arg, err);
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
