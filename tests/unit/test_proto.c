#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/toy.h"
#include "tuner/base/alloc.h"
#include "tuner/worker/proto.h"

static mt_strbuf encode(const mt_message *message)
{
    mt_strbuf frame = {0};
    mt_error err = {0};
    ck_assert_msg(mt_proto_encode(message, &frame, &err) == MT_OK, "%s", err.message);
    return frame;
}

/* There and back; the caller frees. Also cuts the frame everywhere: a part of a frame is never a message, nor an error. */
static mt_message round_trip(const mt_message *message)
{
    mt_strbuf frame = encode(message);
    mt_message back;
    mt_error err = {0};
    size_t used = 77;
    for (size_t cut = 0; cut < frame.length; cut++) {
        ck_assert_int_eq(mt_proto_decode(frame.text, cut, &back, &used, &err), MT_OK);
        ck_assert_uint_eq(used, 0);
    }
    ck_assert_msg(mt_proto_decode(frame.text, frame.length, &back, &used, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(used, frame.length);
    ck_assert_int_eq(back.type, message->type);
    mt_strbuf again = encode(&back); /* equal bytes = equal fields */
    ck_assert_uint_eq(again.length, frame.length);
    ck_assert_mem_eq(again.text, frame.text, frame.length);
    mt_strbuf_free(&again);
    mt_strbuf_free(&frame);
    return back;
}

START_TEST(hello)
{
    mt_message message = {.type = MT_MESSAGE_HELLO, .hello = {.pid = 4711, .status = MT_ERR_NO_GPU, .error = "no CUDA device", .nvrtc_version = 13000, .bus_id = "0000:0f:00.0", .foreign_processes = -1}};
    message.hello.facts = toy_facts();
    mt_message back = round_trip(&message);
    ck_assert_uint_eq(back.hello.pid, 4711);
    ck_assert_int_eq(back.hello.status, MT_ERR_NO_GPU);
    ck_assert_str_eq(back.hello.error, "no CUDA device");
    ck_assert_str_eq(back.hello.facts.name, "NVIDIA H100 80GB HBM3");
    for (size_t i = 0; i < mt_facts_count(); i++) ck_assert_int_eq(mt_facts_value(&back.hello.facts, i), mt_facts_value(&message.hello.facts, i));
    ck_assert_int_eq(back.hello.facts.driver_version, 13000);
    ck_assert_int_eq(back.hello.foreign_processes, -1);
    mt_message_free(&back);
}
END_TEST

START_TEST(compile)
{
    const char *options[] = {"-DALGO=ALGO_direct", "", "-DX=\"a b\""};
    mt_message message = {.type = MT_MESSAGE_COMPILE, .compile = {.id = UINT64_MAX, .kind = MT_COMPILE_SUPPORT, .arch = "sm_90a", .entries = "f\ng\n", .options = options, .option_count = 3}};
    mt_message back = round_trip(&message);
    ck_assert_uint_eq(back.compile.id, UINT64_MAX);
    ck_assert_ptr_null(back.compile.cache_dir);
    ck_assert_uint_eq(back.compile.option_count, 3);
    for (int i = 0; i < 3; i++) ck_assert_str_eq(back.compile.options[i], options[i]);
    mt_message_free(&back);
    message.compile.option_count = 0;
    back = round_trip(&message);
    ck_assert_uint_eq(back.compile.option_count, 0);
    mt_message_free(&back);
}
END_TEST

START_TEST(compiled)
{
    mt_message message = {.type = MT_MESSAGE_COMPILED, .compiled = {.id = 3, .ok = true, .is_cached = true, .log = "line\nline", .cubin_path = "/c/ab.cubin", .compile_ns = -1, .has_resources = true, .registers = 255, .spill_bytes = 8, .static_smem_bytes = 49152}};
    message.compiled.cubin = mt_hash_text("x");
    mt_message back = round_trip(&message);
    ck_assert_str_eq(back.compiled.cubin.hex, message.compiled.cubin.hex);
    ck_assert(back.compiled.ok && back.compiled.is_cached && back.compiled.has_resources);
    ck_assert_uint_eq(back.compiled.static_smem_bytes, 49152);
    mt_message_free(&back);
}
END_TEST

START_TEST(evaluate)
{
    const char *inputs[] = {"value=/tmp/with space.npy"};
    mt_message message = {.type = MT_MESSAGE_EVALUATE, .evaluate = {.id = 9, .shape = "seed48", .shape_key = "N=48", .workload = "default", .variant = "ALGO=direct;B=2", .cubin_path = "/c", .tool_path = "/t",
        .seed = 42, .guard_pages = true, .inputs = inputs, .input_count = 1, .l2 = MT_L2_WARM, .interval = 0.005, .min_samples = 10, .max_samples = 200, .max_ns = 123456789012, .graph_below_ns = 1e4,
        .race_ns = 30500, .race_factor = 1.1, .depth = MT_DEPTH_RUN, .method = MT_METHOD_EVENTS, .energy_ns = 500000000}};
    mt_message back = round_trip(&message);
    ck_assert_ptr_null(back.evaluate.support_path);
    ck_assert_str_eq(back.evaluate.inputs[0], inputs[0]);
    ck_assert_int_eq(back.evaluate.l2, MT_L2_WARM);
    ck_assert(back.evaluate.interval == 0.005 && back.evaluate.race_ns == 30500 && back.evaluate.race_factor == 1.1);
    ck_assert_int_eq(back.evaluate.max_ns, 123456789012);
    ck_assert(back.evaluate.method == MT_METHOD_EVENTS && back.evaluate.energy_ns == 500000000);
    mt_message_free(&back);
}
END_TEST

START_TEST(prepare)
{
    mt_message message = {.type = MT_MESSAGE_PREPARE, .evaluate = {.shape = "s", .tool_path = "/t", .seed = 7, .guard_pages = true}};
    mt_message back = round_trip(&message);
    ck_assert_str_eq(back.evaluate.shape, "s");
    ck_assert(back.evaluate.guard_pages && back.evaluate.seed == 7);
    mt_message_free(&back);
    message = (mt_message){.type = MT_MESSAGE_PREPARE}; /* a context only */
    back = round_trip(&message);
    ck_assert_ptr_null(back.evaluate.shape);
    mt_message_free(&back);
    message = (mt_message){.type = MT_MESSAGE_PREPARED, .prepared = {.status = MT_ERR_GPU, .error = "none"}};
    back = round_trip(&message);
    ck_assert_int_eq(back.prepared.status, MT_ERR_GPU);
    ck_assert_str_eq(back.prepared.error, "none");
    mt_message_free(&back);
}
END_TEST

START_TEST(load)
{
    mt_message question = {.type = MT_MESSAGE_ASK_LOAD}, back = round_trip(&question);
    mt_message_free(&back);
    mt_message answer = {.type = MT_MESSAGE_LOAD, .load = {.all_percent = 97, .others_percent = -1}};
    back = round_trip(&answer);
    ck_assert_int_eq(back.load.all_percent, 97);
    ck_assert_int_eq(back.load.others_percent, -1);
    mt_message_free(&back);
}
END_TEST

START_TEST(stage_and_bye)
{
    for (int work = 0; work < MT_WORK_COUNT; work++) {
        mt_message message = {.type = MT_MESSAGE_STAGE, .stage = {.id = 1, .work = (mt_work)work}};
        mt_message back = round_trip(&message);
        ck_assert_int_eq(back.stage.work, work);
        ck_assert(mt_work_name(back.stage.work)[0] != '?');
        mt_message_free(&back);
    }
    mt_message bye = {.type = MT_MESSAGE_BYE}, back = round_trip(&bye);
    mt_message_free(&back);
}
END_TEST

static mt_message full_verdict(float *samples)
{
    mt_message message = {.type = MT_MESSAGE_RESULT, .verdict = {.id = 5, .is_sticky = true, .launch_json = "{\"launches\":[]}"}};
    mt_outcome *outcome = &message.verdict.outcome;
    outcome->kind = MT_OUTCOME_OK;
    outcome->timing = (mt_timing){400e3, 399e3, 401e3, 398e3, 400.5e3, 1e3, 1755.0, 12e3, 3, 1, 2, 1, MT_L2_COLD};
    outcome->accuracy = (mt_accuracy){"out", 1e-4, 1e-3, 2e-3, 1ull << 33, NAN, -0.0, 7};
    outcome->resources = (mt_resources){64, 8, 1024, 100000, -1, 2, 16};
    outcome->energy = (mt_energy){MT_ENERGY_POWER, 250.5, 1.5, 400, 2000, 100, 3000};
    outcome->cubin = mt_hash_text("cubin");
    outcome->cubin_cached = true;
    outcome->compile_ns = 1;
    outcome->wait_ns = 2;
    outcome->validate_ns = 3;
    outcome->time_ns = 4;
    outcome->sample_ns = samples;
    return message;
}

START_TEST(result)
{
    float samples[3] = {1.5f, 2.5f, 3.5f};
    mt_message message = full_verdict(samples), back = round_trip(&message);
    const mt_outcome *outcome = &back.verdict.outcome;
    ck_assert(outcome->timing.median_ns == 400e3 && outcome->timing.prepare_ns == 12e3 && outcome->timing.samples == 3);
    ck_assert_mem_eq(outcome->sample_ns, samples, sizeof samples);
    ck_assert(isnan(outcome->accuracy.worst_value) && signbit(outcome->accuracy.worst_reference));
    ck_assert_uint_eq(outcome->accuracy.worst_index, 1ull << 33);
    ck_assert_int_eq(outcome->resources.carveout_percent, -1);
    ck_assert(outcome->energy.source == MT_ENERGY_POWER && outcome->energy.run_uj == 250.5 && outcome->energy.period_ms == 100 && outcome->energy.runs == 3000);
    ck_assert_ptr_null(outcome->text);
    mt_message_free(&back);
    message.verdict.outcome.sample_ns = NULL; /* samples counted, none sent */
    back = round_trip(&message);
    ck_assert_ptr_null(back.verdict.outcome.sample_ns);
    mt_message_free(&back);
}
END_TEST

START_TEST(every_outcome)
{
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        mt_message message = full_verdict(NULL);
        message.verdict.outcome.kind = (mt_outcome_kind)kind;
        message.verdict.outcome.text = "why";
        mt_message back = round_trip(&message);
        ck_assert_int_eq(back.verdict.outcome.kind, kind);
        ck_assert_str_eq(back.verdict.outcome.text, "why");
        mt_message_free(&back);
    }
}
END_TEST

static mt_status decode_bytes(const void *bytes, size_t count, mt_error *err)
{
    mt_message message;
    size_t used;
    mt_status st = mt_proto_decode(bytes, count, &message, &used, err);
    mt_message_free(&message);
    return st;
}

START_TEST(refuses_bad_headers)
{
    mt_message bye = {.type = MT_MESSAGE_BYE};
    mt_strbuf frame = encode(&bye);
    static const struct { size_t at; unsigned char value; const char *names; } cases[] = {
        {0, 0, "magic"}, {4, 2, "version"}, {6, 0, "type"}, {6, 200, "type"}, {11, 0xff, "at most"}, {10, 0x11, "at most"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_error err = {0};
        char bytes[MT_PROTO_HEADER_BYTES];
        memcpy(bytes, frame.text, sizeof bytes);
        bytes[cases[i].at] = (char)cases[i].value;
        ck_assert_int_eq(decode_bytes(bytes, sizeof bytes, &err), MT_ERR_PROTOCOL);
        ck_assert_msg(strstr(err.message, cases[i].names) != NULL, "%s", err.message);
    }
    mt_strbuf_free(&frame);
}
END_TEST

/* Every byte of a real message set to every extreme: an error or a message, never a fault; sanitizers watch. */
START_TEST(survives_damage)
{
    float samples[3] = {1, 2, 3};
    mt_message message = full_verdict(samples);
    mt_strbuf frame = encode(&message);
    static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t at = MT_PROTO_HEADER_BYTES; at < frame.length; at++) {
        for (size_t i = 0; i < sizeof extremes; i++) {
            char kept = frame.text[at];
            mt_error err = {0};
            frame.text[at] = (char)extremes[i];
            mt_status st = decode_bytes(frame.text, frame.length, &err);
            ck_assert(st == MT_OK || st == MT_ERR_PROTOCOL);
            frame.text[at] = kept;
        }
    }
    mt_strbuf_free(&frame);
}
END_TEST

START_TEST(refuses_bad_payloads)
{
    mt_error err = {0};
    mt_message message = full_verdict(NULL);
    message.verdict.outcome.timing.median_ns = NAN; /* "OK" without a time */
    mt_strbuf frame = encode(&message);
    ck_assert_int_eq(decode_bytes(frame.text, frame.length, &err), MT_ERR_PROTOCOL);
    mt_strbuf_free(&frame);
    mt_message stage = {.type = MT_MESSAGE_STAGE, .stage = {.id = 1}};
    frame = encode(&stage);
    frame.text[8]++; /* one byte more than the record has */
    mt_strbuf_add_char(&frame, 'x');
    ck_assert_int_eq(decode_bytes(frame.text, frame.length, &err), MT_ERR_PROTOCOL);
    mt_strbuf_free(&frame);
}
END_TEST

START_TEST(refuses_to_send_too_much)
{
    mt_error err = {0};
    mt_strbuf frame = {0};
    char *log = mt_alloc(MT_PROTO_MAX_BYTES + 2, 1);
    memset(log, 'x', MT_PROTO_MAX_BYTES + 1);
    mt_message message = {.type = MT_MESSAGE_COMPILED, .compiled = {.log = log}};
    ck_assert_int_eq(mt_proto_encode(&message, &frame, &err), MT_ERR_PROTOCOL);
    ck_assert_uint_eq(frame.length, 0);
    log[MT_PROTO_MAX_TEXT] = '\0';
    ck_assert_int_eq(mt_proto_encode(&message, &frame, &err), MT_OK);
    mt_strbuf_free(&frame);
    mt_free(log);
}
END_TEST

START_TEST(memory_runs_out)
{
    const char *options[] = {"-Da", "-Db"};
    mt_message message = {.type = MT_MESSAGE_COMPILE, .compile = {.arch = "a", .cache_dir = "c", .options = options, .option_count = 2}};
    mt_strbuf frame = encode(&message);
    for (size_t n = 1;; n++) {
        mt_error err = {0};
        mt_alloc_fail_at(n);
        mt_status st = decode_bytes(frame.text, frame.length, &err);
        mt_alloc_fail_at(0);
        if (st == MT_OK) break;
        ck_assert_int_eq(st, MT_ERR_NO_MEMORY);
        ck_assert_uint_lt(n, 20);
    }
    mt_strbuf_free(&frame);
}
END_TEST

UNIT_MAIN("proto", hello, compile, compiled, evaluate, prepare, load, stage_and_bye, result, every_outcome, refuses_bad_headers, survives_damage, refuses_bad_payloads, refuses_to_send_too_much, memory_runs_out)
