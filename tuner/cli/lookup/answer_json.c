/* `msda-tune lookup --json`. */
#include <inttypes.h>
#include <string.h>

#include "tuner/cli/lookup/lookup_print.h"

/* ,"name":[1,2,3] */
static void add_numbers(mt_strbuf *out, const char *name, const uint64_t *numbers, size_t count)
{
    mt_strbuf_addf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(out, "%s%" PRIu64, i ? "," : "", numbers[i]);
    mt_strbuf_add_char(out, ']');
}

static void add_numbers32(mt_strbuf *out, const char *name, const uint32_t *numbers, size_t count)
{
    uint64_t wide[8];
    for (size_t i = 0; i < count; i++) wide[i] = numbers[i];
    add_numbers(out, name, wide, count);
}

/* A list of one ends with a comma ("7,"), as the .ini writes it. */
static void add_value(mt_strbuf *out, const mt_lookup_query_value *value)
{
    size_t length = strlen(value->text);
    if (value->kind == MT_ASKED_LIST) mt_strbuf_addf(out, "[%.*s]", (int)(length && value->text[length - 1] == ',' ? length - 1 : length), value->text);
    else mt_strbuf_add(out, value->text);
}

static void add_shape(mt_strbuf *out, const mt_lookup_query *asked)
{
    mt_strbuf_add(out, ",\"shape\":{");
    for (size_t i = 0; i < asked->value_count; i++) {
        const mt_lookup_query_value *value = &asked->values[i];
        if (i) mt_strbuf_add_char(out, ',');
        mt_strbuf_add_json(out, value->name);
        mt_strbuf_add_char(out, ':');
        if (value->kind == MT_ASKED_STRING) mt_strbuf_add_json(out, value->text);
        else add_value(out, value);
    }
    mt_strbuf_add_char(out, '}');
}

/* "ALGO=direct;CPB=8" → {"ALGO":"direct","CPB":8} */
static void add_knobs(mt_strbuf *out, const tunelookup_result *result)
{
    mt_strbuf_add(out, ",\"knobs\":{");
    for (const char *at = result->variant; *at;) {
        char name[128];
        const char *text = NULL;
        int64_t number;
        size_t length = strcspn(at, ";"), name_length = strcspn(at, "=");
        if (name_length < sizeof name && name_length < length) {
            memcpy(name, at, name_length);
            name[name_length] = '\0';
            if (at != result->variant) mt_strbuf_add_char(out, ',');
            mt_strbuf_add_json(out, name);
            mt_strbuf_add_char(out, ':');
            if (tunelookup_param(result, name, &number) == TUNELOOKUP_OK) mt_strbuf_addf(out, "%lld", (long long)number);
            else mt_strbuf_add_json(out, tunelookup_param_text(result, name, &text) == TUNELOOKUP_OK ? text : "");
        }
        at += length + (at[length] == ';');
    }
    mt_strbuf_add_char(out, '}');
}

static void add_launch(mt_strbuf *out, const tunelookup_result *result, int index)
{
    tunelookup_launch_info launch;
    if (index) mt_strbuf_add_char(out, ',');
    if (tunelookup_launch(result, index, &launch) != TUNELOOKUP_OK) {
        mt_strbuf_add(out, "{\"error\":");
        mt_strbuf_add_json(out, tunelookup_detail());
        mt_strbuf_add_char(out, '}');
        return;
    }
    mt_strbuf_add(out, "{\"entry\":");
    mt_strbuf_add_json(out, launch.entry);
    add_numbers32(out, "grid", launch.grid, 3);
    add_numbers32(out, "block", launch.block, 3);
    if (launch.cluster[0]) add_numbers32(out, "cluster", launch.cluster, 3);
    mt_strbuf_addf(out, ",\"smem_bytes\":%" PRIu32 ",\"carveout_percent\":%d,\"cooperative\":%s,\"programmatic\":%s,\"prepare\":%s,\"finish\":%s,\"repeat\":%d,\"args\":[", launch.smem_bytes,
        (int)launch.carveout_percent, launch.cooperative ? "true" : "false", launch.programmatic ? "true" : "false", launch.is_prepare ? "true" : "false", launch.is_finish ? "true" : "false", (int)launch.repeat);
    for (int i = 0; i < launch.arg_count; i++) mt_strbuf_addf(out, "%s%d", i ? "," : "", (int)launch.args[i]);
    mt_strbuf_add(out, "]}");
}

static void add_map(mt_strbuf *out, const tunelookup_result *result, int index, int map)
{
    tunelookup_tensormap_info info;
    if (map) mt_strbuf_add_char(out, ',');
    if (tunelookup_tensormap(result, index, map, &info) != TUNELOOKUP_OK) {
        mt_strbuf_add(out, "null");
        return;
    }
    mt_strbuf_addf(out, "{\"offset_bytes\":%" PRIu64, info.offset_bytes);
    add_numbers(out, "dims", info.dims, info.rank);
    add_numbers(out, "stride_bytes", info.stride_bytes, info.rank ? info.rank - 1 : 0);
    add_numbers32(out, "box", info.box, info.rank);
    mt_strbuf_addf(out, ",\"swizzle_bytes\":%d,\"fill_nan\":%s,\"l2_promotion_bytes\":%d}", (int)info.swizzle_bytes, info.fill_nan ? "true" : "false", (int)info.l2_promotion_bytes);
}

static void add_scalar(mt_strbuf *out, const tunelookup_arg_info *arg)
{
    mt_strbuf_add(out, ",\"hex\":\"");
    for (uint64_t i = 0; i < arg->bytes && i < sizeof arg->scalar; i++) mt_strbuf_addf(out, "%02x", arg->scalar[i]);
    mt_strbuf_add_char(out, '"');
}

static void add_struct(mt_strbuf *out, const tunelookup_result *result, int index, const tunelookup_arg_info *arg)
{
    mt_strbuf_addf(out, ",\"bytes\":%" PRIu64 ",\"members\":[", arg->bytes);
    for (int member = 0; member < arg->member_count; member++) {
        int32_t from = -1;
        uint64_t offset = 0;
        bool is_known = tunelookup_member(result, index, member, &from, &offset) == TUNELOOKUP_OK;
        if (member) mt_strbuf_add_char(out, ',');
        if (is_known) mt_strbuf_addf(out, "{\"arg\":%d,\"offset\":%" PRIu64 "}", (int)from, offset);
        else mt_strbuf_add(out, "null");
    }
    mt_strbuf_add_char(out, ']');
}

static void add_arg(mt_strbuf *out, const tunelookup_result *result, int index)
{
    tunelookup_arg_info arg;
    if (index) mt_strbuf_add_char(out, ',');
    if (tunelookup_arg(result, index, &arg) != TUNELOOKUP_OK) {
        mt_strbuf_add(out, "{\"error\":");
        mt_strbuf_add_json(out, tunelookup_detail());
        mt_strbuf_add_char(out, '}');
        return;
    }
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, arg.name);
    mt_strbuf_add_member(out, "kind", mt_lookup_kind_name(arg.kind));
    if (arg.kind != TUNELOOKUP_ARG_STRUCT) mt_strbuf_add_member(out, "dtype", mt_lookup_dtype_name(arg.dtype));
    mt_strbuf_addf(out, ",\"used\":%s", arg.is_used ? "true" : "false");
    if (arg.kind == TUNELOOKUP_ARG_TENSOR) {
        uint64_t dims[8];
        for (int i = 0; i < arg.rank; i++) dims[i] = (uint64_t)arg.dims[i];
        mt_strbuf_addf(out, ",\"role\":\"%s\",\"bytes\":%" PRIu64 ",\"zero_before_each\":%s", mt_lookup_role_name(arg.role), arg.bytes, arg.zero_before_each ? "true" : "false");
        add_numbers(out, "dims", dims, (size_t)arg.rank);
    } else if (arg.kind == TUNELOOKUP_ARG_SCALAR) {
        add_scalar(out, &arg);
    } else if (arg.kind == TUNELOOKUP_ARG_STRUCT) {
        add_struct(out, result, index, &arg);
    } else {
        mt_strbuf_addf(out, ",\"tensor\":%d,\"maps\":[", (int)arg.tensor);
        for (int map = 0; map < arg.map_count; map++) add_map(out, result, index, map);
        mt_strbuf_add_char(out, ']');
    }
    mt_strbuf_add_char(out, '}');
}

static void add_answer(mt_strbuf *out, const tunelookup_result *result)
{
    const void *cubin;
    size_t bytes = 0;
    mt_strbuf_add_member(out, "kernel_key", result->kernel_key);
    mt_strbuf_add_member(out, "variant", result->variant);
    add_knobs(out, result);
    mt_strbuf_add_member(out, "origin", !result->validated ? NULL : result->recorded ? mt_origin_name(MT_ORIGIN_RECORDED) : mt_origin_name(MT_ORIGIN_MEASURED));
    mt_strbuf_add_number(out, "median_us", result->median_ns / 1e3);
    mt_strbuf_add_number(out, "low_us", result->low_ns / 1e3);
    mt_strbuf_add_number(out, "high_us", result->high_ns / 1e3);
    mt_strbuf_add_number(out, "norm_error", result->norm_error);
    mt_strbuf_addf(out, ",\"error_shapes\":%d", (int)result->error_shapes);
    mt_strbuf_add_number(out, "expected_slowdown", result->expected_slowdown);
    mt_strbuf_add_number(out, "slowdown_bound", result->slowdown_bound);
    mt_strbuf_add(out, ",\"launches\":[");
    for (int i = 0; i < result->launch_count; i++) add_launch(out, result, i);
    mt_strbuf_add(out, "],\"args\":[");
    for (int i = 0; i < result->arg_count; i++) add_arg(out, result, i);
    mt_strbuf_add_char(out, ']');
    tunelookup_status status = tunelookup_cubin(result, &cubin, &bytes);
    mt_strbuf_addf(out, ",\"cubin_bytes\":%zu", status == TUNELOOKUP_OK ? bytes : 0);
    if (status != TUNELOOKUP_OK) mt_strbuf_add_member(out, "cubin_missing", tunelookup_strerror(status));
}

mt_status mt_lookup_print_json(FILE *out, const mt_lookup_query *asked, const char *gpu, const tunelookup_result *result, mt_error *err)
{
    mt_strbuf text = {0};
    char why[4096];
    mt_strbuf_addf(&text, "{\"match\":\"%s\"", mt_lookup_match_name(result->match));
    mt_strbuf_add_member(&text, "kernel", asked->shown);
    mt_strbuf_add_member(&text, "gpu", gpu);
    mt_strbuf_add_member(&text, "gpu_name", asked->facts.name);
    add_shape(&text, asked);
    if (asked->space_key[0]) mt_strbuf_add_member(&text, "space_key", asked->space_key);
    if (result->match != TUNELOOKUP_MATCH_NONE) add_answer(&text, result);
    tunelookup_explain(result, why, sizeof why);
    mt_strbuf_add_member(&text, "why", why);
    mt_strbuf_add(&text, "}\n");
    mt_status st = text.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "lookup: out of memory") : MT_OK;
    if (st == MT_OK) fputs(mt_strbuf_text(&text), out);
    mt_strbuf_free(&text);
    return st;
}
