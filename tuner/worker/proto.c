#include "tuner/worker/proto.h"

#include <math.h>
#include <string.h>

#include "tuner/base/outcome_columns.h"
#include "tuner/worker/codec.h"

const char *mt_work_name(mt_work work)
{
    static const char *const names[] = {
#define MT_WORK_TEXT(name, text) text,
        MT_WORK_MAP(MT_WORK_TEXT)
#undef MT_WORK_TEXT
    };
    return (size_t)work < MT_WORK_COUNT ? names[work] : "?";
}

static uint32_t status_limit(void)
{
#define MT_STATUS_COUNT(name, exit_code) +1
    return 0 MT_STATUS_MAP(MT_STATUS_COUNT);
#undef MT_STATUS_COUNT
}

static void status_field(mt_codec *codec, mt_status *status)
{
    *status = (mt_status)mt_codec_choice(codec, (uint32_t)*status, status_limit());
}

static void l2_field(mt_codec *codec, mt_l2 *l2)
{
    *l2 = (mt_l2)mt_codec_choice(codec, (uint32_t)*l2, MT_L2_WARM + 1);
}

static void energy_source_field(mt_codec *codec, mt_energy_source *source)
{
    *source = (mt_energy_source)mt_codec_choice(codec, (uint32_t)*source, MT_ENERGY_POWER + 1);
}

static void facts_fields(mt_codec *codec, mt_device_facts *facts)
{
    mt_codec_array(codec, facts->name, sizeof facts->name);
#define FACT_FIELD(field, meaning) mt_codec_i64(codec, &facts->field);
    MT_FACTS_MAP(FACT_FIELD)
#undef FACT_FIELD
    mt_codec_i64(codec, &facts->driver_version);
    mt_codec_i64(codec, &facts->nvrtc_version);
}

static void hello_fields(mt_codec *codec, mt_hello *hello)
{
    mt_codec_u32(codec, &hello->pid);
    status_field(codec, &hello->status);
    mt_codec_text(codec, &hello->error);
    mt_codec_i64(codec, &hello->nvrtc_version);
    for (size_t i = 0; i < MT_PROTO_FOLDERS; i++) mt_codec_text(codec, &hello->header_folders[i]);
    mt_codec_text(codec, &hello->compiler);
    facts_fields(codec, &hello->facts);
    mt_codec_text(codec, &hello->bus_id);
    mt_codec_i32(codec, &hello->device_count);
    mt_codec_i32(codec, &hello->foreign_processes);
    mt_codec_i32(codec, &hello->busy_percent);
    energy_source_field(codec, &hello->energy);
}

static void compile_fields(mt_codec *codec, mt_compile_order *order)
{
    mt_codec_u64(codec, &order->id);
    order->kind = (mt_compile_kind)mt_codec_choice(codec, (uint32_t)order->kind, MT_COMPILE_KIND_COUNT);
    mt_codec_text(codec, &order->arch);
    mt_codec_text(codec, &order->cache_dir);
    mt_codec_text(codec, &order->entries);
    mt_codec_texts(codec, &order->options, &order->option_count);
    mt_codec_u32(codec, &order->macro_count);
    if (codec->mode == MT_CODEC_READ && order->macro_count > order->option_count) codec->failed = true;
}

static void compiled_fields(mt_codec *codec, mt_compiled *compiled)
{
    mt_codec_u64(codec, &compiled->id);
    status_field(codec, &compiled->status);
    mt_codec_text(codec, &compiled->error);
    mt_codec_bool(codec, &compiled->ok);
    mt_codec_bool(codec, &compiled->is_cached);
    mt_codec_text(codec, &compiled->log);
    mt_codec_text(codec, &compiled->cubin_path);
    mt_codec_array(codec, compiled->cubin.hex, sizeof compiled->cubin.hex);
    mt_codec_i64(codec, &compiled->compile_ns);
    mt_codec_bool(codec, &compiled->has_resources);
    mt_codec_u32(codec, &compiled->registers);
    mt_codec_u32(codec, &compiled->spill_bytes);
    mt_codec_u32(codec, &compiled->static_smem_bytes);
}

static void evaluate_fields(mt_codec *codec, mt_evaluate_order *order)
{
    mt_codec_u64(codec, &order->id);
    mt_codec_text(codec, &order->shape);
    mt_codec_text(codec, &order->shape_key);
    mt_codec_text(codec, &order->workload);
    mt_codec_text(codec, &order->variant);
    mt_codec_text(codec, &order->cubin_path);
    mt_codec_text(codec, &order->support_path);
    mt_codec_text(codec, &order->tool_path);
    mt_codec_u64(codec, &order->seed);
    mt_codec_bool(codec, &order->guard_pages);
    mt_codec_texts(codec, &order->inputs, &order->input_count);
    l2_field(codec, &order->l2);
    mt_codec_f64(codec, &order->interval);
    mt_codec_u32(codec, &order->min_samples);
    mt_codec_u32(codec, &order->max_samples);
    mt_codec_i64(codec, &order->max_ns);
    mt_codec_f64(codec, &order->graph_below_ns);
    mt_codec_f64(codec, &order->race_ns);
    mt_codec_f64(codec, &order->race_factor);
    mt_codec_bool(codec, &order->is_retime);
    order->depth = (mt_depth)mt_codec_choice(codec, (uint32_t)order->depth, MT_DEPTH_COUNT);
    order->method = (mt_method)mt_codec_choice(codec, (uint32_t)order->method, MT_METHOD_COUNT);
    mt_codec_i64(codec, &order->energy_ns);
    mt_codec_text(codec, &order->baseline);
    mt_codec_u32(codec, &order->algorithm);
}

static void stage_fields(mt_codec *codec, mt_stage_report *report)
{
    mt_codec_u64(codec, &report->id);
    report->work = (mt_work)mt_codec_choice(codec, (uint32_t)report->work, MT_WORK_COUNT);
}

/* A field by its type in MT_OUTCOME_COLUMNS. */
#define FIELD_REAL(member) mt_codec_f64(codec, &(member))
#define FIELD_U32(member) mt_codec_u32(codec, &(member))
#define FIELD_I32(member) mt_codec_i32(codec, &(member))
#define FIELD_I64(member) mt_codec_i64(codec, (int64_t *)&(member))
#define FIELD_BOOL(member) mt_codec_bool(codec, &(member))
#define FIELD_CHARS(member) mt_codec_array(codec, (member), sizeof(member))
#define OUTCOME_FIELD(column, key, type, group, member) FIELD_##type(outcome->member);

static void energy_fields(mt_codec *codec, mt_energy *energy)
{
    energy_source_field(codec, &energy->source);
    double *numbers[] = {&energy->run_uj, &energy->error_uj, &energy->power_w, &energy->loop_ms, &energy->period_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) mt_codec_f64(codec, numbers[i]);
    mt_codec_u64(codec, &energy->runs);
}

/* The text is `char *` in the outcome, because there it is owned. */
static void owned_text(mt_codec *codec, char **text)
{
    const char *borrowed = *text;
    mt_codec_text(codec, &borrowed);
    *text = (char *)borrowed;
}

static void outcome_fields(mt_codec *codec, mt_outcome *outcome)
{
    outcome->kind = (mt_outcome_kind)mt_codec_choice(codec, (uint32_t)outcome->kind, MT_OUTCOME_KIND_COUNT);
    owned_text(codec, &outcome->text);
    MT_OUTCOME_COLUMNS(OUTCOME_FIELD)
    mt_codec_u32(codec, &outcome->timing.limited);
    l2_field(codec, &outcome->timing.l2);
    mt_codec_u64(codec, &outcome->cycles.blocks);
    mt_codec_u64(codec, &outcome->cycles.min);
    mt_codec_u64(codec, &outcome->cycles.max);
    mt_codec_f64(codec, &outcome->cycles.mean);
    energy_fields(codec, &outcome->energy);
    mt_codec_floats(codec, &outcome->sample_ns, outcome->timing.samples);
}

/* A worker that says OK, or that it stopped early, must have measured something: rankings must not see NaN, zero or negative times. */
static bool outcome_is_sane(const mt_outcome *outcome)
{
    bool is_timed = mt_outcome_is_timed(outcome->kind);
    const mt_energy *energy = &outcome->energy;
    if (energy->source != MT_ENERGY_NONE && !(isfinite(energy->run_uj) && energy->run_uj > 0 && energy->error_uj >= 0)) return false;
    return !is_timed || (isfinite(outcome->timing.median_ns) && outcome->timing.median_ns > 0);
}

static void verdict_fields(mt_codec *codec, mt_verdict *verdict)
{
    mt_codec_u64(codec, &verdict->id);
    status_field(codec, &verdict->status);
    mt_codec_text(codec, &verdict->error);
    mt_codec_bool(codec, &verdict->is_sticky);
    outcome_fields(codec, &verdict->outcome);
    mt_codec_text(codec, &verdict->launch_json);
    mt_codec_i32(codec, &verdict->foreign_processes);
    mt_codec_text(codec, &verdict->vacuous);
    if (codec->mode == MT_CODEC_READ && verdict->status == MT_OK && !outcome_is_sane(&verdict->outcome)) codec->failed = true;
}

static void prepared_fields(mt_codec *codec, mt_prepared *prepared)
{
    status_field(codec, &prepared->status);
    mt_codec_text(codec, &prepared->error);
}

static void load_fields(mt_codec *codec, mt_load *load)
{
    mt_codec_i32(codec, &load->all_percent);
    mt_codec_i32(codec, &load->others_percent);
}

static void message_fields(mt_codec *codec, mt_message *message)
{
    switch (message->type) {
    case MT_MESSAGE_HELLO: hello_fields(codec, &message->hello); break;
    case MT_MESSAGE_COMPILE: compile_fields(codec, &message->compile); break;
    case MT_MESSAGE_COMPILED: compiled_fields(codec, &message->compiled); break;
    case MT_MESSAGE_EVALUATE:
    case MT_MESSAGE_PREPARE: evaluate_fields(codec, &message->evaluate); break;
    case MT_MESSAGE_PREPARED: prepared_fields(codec, &message->prepared); break;
    case MT_MESSAGE_LOAD: load_fields(codec, &message->load); break;
    case MT_MESSAGE_STAGE: stage_fields(codec, &message->stage); break;
    case MT_MESSAGE_RESULT: verdict_fields(codec, &message->verdict); break;
    case MT_MESSAGE_BYE:
    case MT_MESSAGE_ASK_LOAD:
    case MT_MESSAGE_TYPE_END: break;
    }
}

static void header_fields(mt_codec *codec, uint32_t *magic, uint16_t *version, uint16_t *type, uint32_t *length)
{
    mt_codec_u32(codec, magic);
    mt_codec_u16(codec, version);
    mt_codec_u16(codec, type);
    mt_codec_u32(codec, length);
}

mt_status mt_proto_encode(const mt_message *message, mt_strbuf *out, mt_error *err)
{
    mt_message copy = *message; /* the walk takes records that it could fill; writing leaves them as they are */
    mt_strbuf payload = {0};
    mt_codec body = {.mode = MT_CODEC_WRITE, .out = &payload};
    message_fields(&body, &copy);
    mt_status st = MT_OK;
    if (payload.failed) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "worker message: out of memory"));
    if (body.failed || payload.length > MT_PROTO_MAX_BYTES) MT_LEAVE(MT_FAIL(err, MT_ERR_PROTOCOL, "worker message of %zu bytes; at most %d are allowed", payload.length, MT_PROTO_MAX_BYTES));
    mt_codec head = {.mode = MT_CODEC_WRITE, .out = out};
    uint32_t magic = MT_PROTO_MAGIC, length = (uint32_t)payload.length;
    uint16_t version = MT_PROTO_VERSION, type = (uint16_t)message->type;
    header_fields(&head, &magic, &version, &type, &length);
    if (payload.length) mt_strbuf_add_bytes(out, payload.text, payload.length);
    if (out->failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "worker message: out of memory");
done:
    mt_strbuf_free(&payload);
    return st;
}

mt_status mt_proto_decode(const void *bytes, size_t count, mt_message *message, size_t *used, mt_error *err)
{
    *used = 0;
    memset(message, 0, sizeof *message);
    if (count < MT_PROTO_HEADER_BYTES) return MT_OK;
    mt_codec codec = {.mode = MT_CODEC_READ, .at = bytes, .left = MT_PROTO_HEADER_BYTES};
    uint32_t magic = 0, length = 0;
    uint16_t version = 0, type = 0;
    header_fields(&codec, &magic, &version, &type, &length);
    if (magic != MT_PROTO_MAGIC) return MT_FAIL(err, MT_ERR_PROTOCOL, "worker message: not a frame (magic %08x)", (unsigned)magic);
    if (version != MT_PROTO_VERSION) return MT_FAIL(err, MT_ERR_PROTOCOL, "worker message: version %u, expected %d", (unsigned)version, MT_PROTO_VERSION);
    if (type == 0 || type >= MT_MESSAGE_TYPE_END) return MT_FAIL(err, MT_ERR_PROTOCOL, "worker message: unknown type %u", (unsigned)type);
    if (length > MT_PROTO_MAX_BYTES) return MT_FAIL(err, MT_ERR_PROTOCOL, "worker message of %u bytes; at most %d are allowed", (unsigned)length, MT_PROTO_MAX_BYTES);
    if (count - MT_PROTO_HEADER_BYTES < length) return MT_OK;
    codec.left = length;
    message->type = (mt_message_type)type;
    message_fields(&codec, message);
    if (codec.failed || codec.left) {
        mt_message_free(message);
        if (codec.no_memory) return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker message: out of memory");
        return MT_FAIL(err, MT_ERR_PROTOCOL, "worker message of type %u and %u bytes is malformed", (unsigned)type, (unsigned)length);
    }
    *used = MT_PROTO_HEADER_BYTES + (size_t)length;
    return MT_OK;
}

void mt_message_free(mt_message *message)
{
    mt_codec codec = {.mode = MT_CODEC_FREE};
    message_fields(&codec, message);
    memset(message, 0, sizeof *message);
}
