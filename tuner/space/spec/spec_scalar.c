/* Values of scalars: bool too, which no tensor has. It is a byte, which is how everything from here on sees it. */
#include "tuner/space/spec/spec_internal.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
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

/* FACTOR of 0.5, 1.5: a program has no fractions, but it can choose the bits of one: `FACTOR == "0.5" ? 1056964608 : …`. */
static mt_status fraction_value(mt_reader *reader, const mt_ini_entry *entry, const char *name, const char *const *texts, size_t count, mt_arg *arg, mt_error *err)
{
    static const char *const integers[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "i64"};
    mt_strbuf text = { 0 };
    mt_status st = MT_OK;
    if (!mt_dtype_from_name(arg->dtype_text, &arg->float_dtype) || !mt_dtype_is_float(arg->float_dtype))
        return mt_reader_fail(reader, err, entry->line, "value = %s, which has texts, of dtype %s: expected f16, bf16, f32, f64, f8e4m3 or f8e5m2 for numbers that are texts, or integers", name, arg->dtype_text);
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        double number = 0;
        unsigned char bytes[8];
        int64_t bits = 0;
        if (!mt_text_double(texts[i], &number) || !mt_scalar_from_double(arg->float_dtype, number, bytes)) {
            st = mt_reader_fail(reader, err, entry->line, "value = %s: `%s`, one of its values, is no number that %s holds", name, texts[i], arg->dtype_text);
            break;
        }
        memcpy(&bits, bytes, sizeof bits);
        if (i + 1 < count) mt_strbuf_addf(&text, "%s == \"%s\" ? ", name, texts[i]);
        if (bits == INT64_MIN) mt_strbuf_add(&text, "-9223372036854775807 - 1"); /* −0, of which there is no literal */
        else mt_strbuf_addf(&text, "%" PRId64, bits);
        if (i + 1 < count) mt_strbuf_add(&text, " : ");
    }
    arg->is_bits = true;
    if (st == MT_OK && !text.failed) st = mt_scope_expr(reader, entry->line, mt_strbuf_text(&text), MT_TYPE_INT, &arg->value, err);
    mt_free(arg->dtype_text);
    arg->dtype_text = mt_strdup(integers[mt_dtype_bytes(arg->float_dtype)]);
    if (st == MT_OK && (text.failed || !arg->dtype_text)) st = mt_reader_no_memory(reader, err);
    mt_strbuf_free(&text);
    return st;
}

mt_status mt_parse_scalar_value(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                                mt_error *err)
{
    mt_arg *arg = object;
    int64_t whole;
    const char *const *texts;
    size_t count;
    if (arg->is_bool) return bool_value(reader, entry, value, arg, err);
    if (!mt_text_int64(value, strlen(value), &whole) && mt_text_double(value, &arg->literal)) {
        mt_dtype dtype;
        if (mt_dtype_from_name(arg->dtype_text, &dtype) && !mt_dtype_is_float(dtype)) {
            return mt_reader_fail(reader, err, entry->line, "value = %s needs a floating dtype, it is %s: expected an integer expression",
                                  value, arg->dtype_text);
        }
        return MT_OK;
    }
    if (mt_text_is_identifier(value, strlen(value)) && mt_strings_of(reader->spec, value, &texts, &count)) return fraction_value(reader, entry, value, texts, count, arg, err);
    return mt_scope_expr(reader, entry->line, value, MT_TYPE_INT, &arg->value, err);
}
