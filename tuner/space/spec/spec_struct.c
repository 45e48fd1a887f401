/* [arg] of kind struct: its members, and what launches reach through structs and tensor maps. */
#include "tuner/space/spec/spec_internal.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

/* ---- arrays: f32[3](0, 0, 1) ---- */

/* The product of the lengths in "[2, 3]". 0: they are none. */
static int64_t array_elements(const char *open, const char *close, mt_error *err)
{
    enum { MOST = 4096 };
    char **lengths = NULL, *text = mt_strndup(open + 1, (size_t)(close - open - 1));
    size_t count = 0;
    int64_t elements = text && mt_split(text, &lengths, &count, err) == MT_OK && count ? 1 : 0;
    for (size_t i = 0; i < count && elements; i++) {
        int64_t length;
        bool is_fine = mt_text_int64(lengths[i], strlen(lengths[i]), &length) && length >= 1 && length <= MOST / elements;
        elements = is_fine ? elements * length : 0;
    }
    mt_strings_free(lengths, count);
    mt_free(text);
    return elements;
}

/* An array as so many literals; anything else as it is. */
static mt_status add_member(mt_reader *reader, const char *item, int line, mt_strbuf *out, mt_error *err)
{
    const char *open = strchr(item, '['), *close = open ? strchr(open, ']') : NULL;
    size_t length = strlen(item), count = 0;
    char **values = NULL, *inside = NULL;
    if (out->length) mt_strbuf_add(out, ", ");
    if (!open) {
        mt_strbuf_add(out, item);
        return MT_OK;
    }
    int64_t elements = close ? array_elements(open, close, err) : 0;
    if (!elements || close[1] != '(' || item[length - 1] != ')')
        return mt_reader_fail(reader, err, line, "members: %s: expected an array as DTYPE[LENGTH](VALUE, …), such as f32[3](0, 0, 1), of at most 4096 elements", item);
    inside = mt_strndup(close + 2, length - (size_t)(close + 2 - item) - 1);
    mt_status st = inside ? mt_split(inside, &values, &count, err) : mt_reader_no_memory(reader, err);
    if (st == MT_OK && count != 1 && (int64_t)count != elements)
        st = mt_reader_fail(reader, err, line, "members: %s has %zu values: expected %lld, or one for all", item, count, (long long)elements);
    for (int64_t i = 0; st == MT_OK && i < elements; i++) mt_strbuf_addf(out, "%s%.*s(%s)", i ? ", " : "", (int)(open - item), item, values[count == 1 ? 0 : i]);
    mt_strings_free(values, count);
    mt_free(inside);
    return st;
}

mt_status mt_members_written_out(mt_reader *reader, const char *value, int line, char **text, mt_error *err)
{
    char **items = NULL;
    size_t count = 0;
    mt_strbuf out = {0};
    mt_status st = mt_split(value, &items, &count, err);
    for (size_t i = 0; i < count && st == MT_OK; i++) st = add_member(reader, items[i], line, &out, err);
    *text = st == MT_OK ? mt_strbuf_take(&out) : NULL;
    if (st == MT_OK && !*text) st = mt_reader_no_memory(reader, err);
    mt_strings_free(items, count);
    mt_strbuf_free(&out);
    return st;
}

/* ---- members ---- */

mt_status mt_parse_members(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    mt_arg *arg = object;
    mt_status st = mt_read_arg_list(reader, entry, value, &arg->members, &arg->member_count, err);
    if (st == MT_OK && !arg->member_count) st = mt_reader_fail(reader, err, entry->line, "[arg %s] has no members: expected arguments by name or as DTYPE(VALUE)", arg->name);
    if (st == MT_OK && (arg->align & (arg->align - 1))) st = mt_reader_fail(reader, err, entry->line, "[arg %s] align = %lld: expected a power of two", arg->name, (long long)arg->align);
    for (size_t i = 0; st == MT_OK && i < arg->member_count; i++)
        if (spec->args[arg->members[i]].kind == MT_ARG_STRUCT && arg->members[i] >= (size_t)(arg - spec->args))
            st = mt_reader_fail(reader, err, entry->line, "[arg %s] contains [arg %s]: expected a struct that stands above it", arg->name, spec->args[arg->members[i]].name);
    return st;
}

bool mt_is_member(const mt_spec *spec, const mt_arg *arg)
{
    for (size_t i = 0; i < spec->arg_count; i++)
        for (size_t k = 0; k < spec->args[i].member_count; k++)
            if (&spec->args[spec->args[i].members[k]] == arg) return true;
    return false;
}

/* ---- what a launch reaches ---- */

static void mark(const mt_spec *spec, size_t index, bool *is_reached)
{
    const mt_arg *arg = &spec->args[index];
    is_reached[index] = true;
    if (arg->kind == MT_ARG_TENSORMAP) is_reached[arg->of] = true;
    for (size_t i = 0; i < arg->member_count; i++) mark(spec, arg->members[i], is_reached); /* members stand above: no circle */
}

mt_status mt_launch_reach(mt_reader *reader, mt_launch *launch, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    bool *is_reached = mt_alloc(spec->arg_count, sizeof *is_reached);
    launch->reached = mt_alloc(spec->arg_count, sizeof *launch->reached);
    if (!is_reached || !launch->reached) {
        mt_free(is_reached);
        return mt_reader_no_memory(reader, err);
    }
    for (size_t i = 0; i < launch->arg_count; i++) mark(spec, launch->args[i], is_reached);
    for (size_t i = 0; i < spec->arg_count; i++)
        if (is_reached[i]) launch->reached[launch->reached_count++] = i;
    mt_free(is_reached);
    return MT_OK;
}
