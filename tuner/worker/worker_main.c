/* The only file of this folder that knows tuner/gpu/: what the two kinds of worker do with their orders. */
#include "tuner/worker/worker_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/cubin_names.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/times.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/gpu/trial/evaluate.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/worker/bundle.h"
#include "tuner/worker/single_run.h"
#include "tuner/worker/worker.h"
#include "tuner/worker/worker_channel.h"

enum { COMPILE_NICE = 10 }; /* compiling must not disturb the launches that are being timed */

/* Messages have a limit, and what went wrong first stands first. */
static void cut_text(char *text)
{
    static const char mark[] = "\n[cut]";
    if (!text || strlen(text) <= MT_PROTO_MAX_TEXT) return;
    strcpy(text + MT_PROTO_MAX_TEXT - sizeof mark, mark);
}

/* ---- compile worker ---- */

struct compiler {
    mt_channel channel;
    mt_bundle bundle;
    mt_source tool;
    mt_nvrtc *nvrtc;
    mt_nvcc nvcc;           /* of a source that is for it; the tool's own kernels are NVRTC's */
    mt_visible *visible[2]; /* the toolkit's headers that the kernel's source and the tool's own read; NULL = not looked for yet */
};

/* Once for each source: a toolkit that changes under a running session is not looked for. */
static mt_status find_headers(struct compiler *self, const mt_source *source, bool is_tool, mt_error *err)
{
    return self->visible[is_tool] ? MT_OK : mt_compile_headers(self->nvrtc, source->is_for_nvcc ? &self->nvcc : NULL, source, &self->visible[is_tool], err);
}

static mt_status run_compiler(struct compiler *self, const mt_compile_order *order, mt_compile_result *result, mt_error *err)
{
    if (order->kind == MT_COMPILE_TOOL && self->tool.file_count == 0) {
        mt_status st = mt_compile_tool_source(&self->tool, err);
        if (st != MT_OK) return st;
    }
    bool is_tool = order->kind == MT_COMPILE_TOOL;
    const mt_source *source = is_tool ? &self->tool : &self->bundle.source;
    mt_status st = find_headers(self, source, is_tool, err);
    if (st != MT_OK) return st;
    mt_compile_request request = {
        .source = source,
        .nvcc = source->is_for_nvcc ? &self->nvcc : NULL,
        .macro_count = order->macro_count,
        .visible = self->visible[is_tool],
        .options = order->options,
        .option_count = order->option_count,
        .arch = order->arch,
        .cache_dir = order->cache_dir,
    };
    return mt_compile(self->nvrtc, &request, result, err);
}

/* The lines of `entries` as the compiled code names them; NULL: it can't be told. */
static char *symbols_of(const char *entries, const char *cubin_path)
{
    char *cubin = NULL, *symbols = NULL;
    size_t bytes = 0;
    mt_strbuf text = {0}, entry = {0};
    if (mt_file_read(cubin_path, 0, &cubin, &bytes, NULL) != MT_OK) return NULL;
    for (; *entries; entries += entry.length + 1) {
        mt_strbuf_clear(&entry);
        mt_strbuf_add_bytes(&entry, entries, strcspn(entries, "\n"));
        mt_strbuf_addf(&text, "%s\n", mt_cubin_symbol(cubin, bytes, mt_strbuf_text(&entry)));
        if (entry.failed) break;
    }
    symbols = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    mt_strbuf_free(&entry);
    mt_free(cubin);
    return symbols;
}

static mt_status compile(struct compiler *self, const mt_compile_order *order, mt_error *err)
{
    mt_compile_result result = {0};
    mt_error error = {0};
    mt_message reply = {.type = MT_MESSAGE_COMPILED};
    mt_compiled *compiled = &reply.compiled;
    int64_t start_ns = mt_clock_now_ns();
    compiled->id = order->id;
    compiled->status = run_compiler(self, order, &result, &error);
    compiled->error = compiled->status == MT_OK ? NULL : error.message;
    compiled->ok = result.ok;
    compiled->is_cached = result.cached;
    compiled->cubin_path = result.cubin_path;
    compiled->cubin = result.cubin;
    compiled->compile_ns = result.compile_ns;
    uint32_t registers = 0, static_smem = 0;
    if (result.ok && result.log) {
        compiled->has_resources = mt_compile_resources(result.log, "", &compiled->registers, &compiled->spill_bytes, &compiled->static_smem_bytes);
        uint32_t spill = 0;
        char *entries = order->entries ? symbols_of(order->entries, result.cubin_path) : NULL;
        if (entries && mt_compile_resources(result.log, entries, &registers, &spill, &static_smem)) {
            compiled->registers = registers; /* of what is launched; spills stay the worst of all that was compiled */
            compiled->static_smem_bytes = static_smem;
        }
        mt_free(entries);
    }
    cut_text(result.log);
    compiled->log = result.log;
    mt_times_note("compile", start_ns, result.cached ? "from the cache" : self->bundle.source.is_for_nvcc && order->kind != MT_COMPILE_TOOL ? "by nvcc" : "by NVRTC");
    mt_status st = mt_channel_send(&self->channel, &reply, err);
    mt_compile_result_free(&result);
    return st;
}

static mt_status greet_compiler(struct compiler *self, mt_error *err)
{
    mt_error error = {0};
    mt_message hello = {.type = MT_MESSAGE_HELLO, .hello = {.pid = (uint32_t)getpid(), .foreign_processes = -1, .busy_percent = -1}};
    bool is_for_nvcc = self->bundle.source.is_for_nvcc;
    hello.hello.status = mt_nvrtc_open(&self->nvrtc, &error);
    if (hello.hello.status == MT_OK && is_for_nvcc) hello.hello.status = mt_nvcc_open(mt_nvrtc_path(self->nvrtc), &self->nvcc, &error);
    if (hello.hello.status == MT_OK && is_for_nvcc) {
        hello.hello.nvrtc_version = self->nvcc.version;
        hello.hello.compiler = self->nvcc.identity;
        for (size_t i = 0; i < self->nvcc.folders.count && i < MT_PROTO_FOLDERS; i++) hello.hello.header_folders[i] = self->nvcc.folders.items[i];
    } else if (hello.hello.status == MT_OK) {
        hello.hello.nvrtc_version = mt_nvrtc_version(self->nvrtc);
        mt_nvrtc_header_folders(self->nvrtc, hello.hello.header_folders);
    } else {
        hello.hello.error = error.message;
    }
    mt_status st = mt_channel_send(&self->channel, &hello, err);
    return st == MT_OK ? hello.hello.status : st;
}

static mt_status run_compile_worker(mt_error *err)
{
    struct compiler self = {.channel = {.fd = MT_WORKER_SOCKET_FD}};
    mt_status st = MT_OK;
    MT_TRY(mt_bundle_open(MT_WORKER_BUNDLE_FD, &self.bundle, err));
    MT_TRY(greet_compiler(&self, err));
    for (bool closed = false; !closed;) {
        mt_message message = {0};
        MT_TRY(mt_channel_receive(&self.channel, &message, &closed, err));
        if (message.type == MT_MESSAGE_BYE) closed = true;
        if (message.type == MT_MESSAGE_COMPILE) st = compile(&self, &message.compile, err);
        mt_message_free(&message);
        if (st != MT_OK) goto done;
    }
done:
    for (size_t i = 0; i < 2; i++) mt_visible_free(self.visible[i]);
    mt_nvcc_close(&self.nvcc);
    mt_nvrtc_close(self.nvrtc);
    mt_source_free(&self.tool);
    mt_bundle_free(&self.bundle);
    mt_channel_free(&self.channel);
    return st;
}

/* ---- device worker ---- */

struct runner {
    mt_channel channel;
    mt_bundle bundle;
    mt_spec *spec;
    mt_gpu *gpu;
    bool has_tool;
    uint64_t id; /* of the evaluation under way */
    int32_t foreign;          /* processes on the GPU, and when that was asked */
    int64_t foreign_asked_ns; /* 0 = never */
};

/* The coordinator must know the stage before it begins: a dead worker's last words. */
static void on_stage(void *context, mt_stage stage)
{
    static const mt_work works[] = {
        [MT_STAGE_PREPARE_INPUTS] = MT_WORK_INPUTS,
        [MT_STAGE_REFERENCE] = MT_WORK_REFERENCE,
        [MT_STAGE_LOAD] = MT_WORK_LOAD,
        [MT_STAGE_VALIDATE] = MT_WORK_VALIDATE,
        [MT_STAGE_TIME] = MT_WORK_TIME,
        [MT_STAGE_DONE] = MT_WORK_DONE,
    };
    struct runner *self = context;
    mt_error error;
    if (self->channel.fd < 0) return; /* `once`: nobody listens */
    mt_message message = {.type = MT_MESSAGE_STAGE, .stage = {.id = self->id, .work = works[stage]}};
    (void)mt_channel_send(&self->channel, &message, &error); /* a closed socket shows when the result is sent */
}

/* "name=path" texts → the form that gpu/ takes. The array and one copy of the names behind it are the caller's (mt_free). */
static mt_status split_inputs(const mt_evaluate_order *order, mt_input_file **out, mt_error *err)
{
    mt_input_file *files = mt_alloc(order->input_count + 1, sizeof *files);
    if (!files) return MT_FAIL(err, MT_ERR_NO_MEMORY, "inputs: out of memory");
    for (uint32_t i = 0; i < order->input_count; i++) {
        const char *equals = strchr(order->inputs[i], '=');
        char *name = equals ? mt_strndup(order->inputs[i], (size_t)(equals - order->inputs[i])) : NULL;
        files[i] = (mt_input_file){name, equals ? equals + 1 : NULL};
        if (name) continue;
        while (i-- > 0) mt_free((char *)files[i].arg);
        mt_free(files);
        return MT_FAIL(err, MT_ERR_USAGE, "--input must be NAME=FILE");
    }
    *out = files;
    return MT_OK;
}

static void free_inputs(mt_input_file *files)
{
    for (size_t i = 0; files && files[i].arg; i++) mt_free((char *)files[i].arg);
    mt_free(files);
}

static mt_status find_subject(const struct runner *self, const mt_evaluate_order *order, mt_subject_request *subject, mt_error *err)
{
    subject->spec = self->spec;
    subject->source = &self->bundle.source;
    subject->shape = order->shape ? mt_spec_shape(self->spec, order->shape) : NULL;
    subject->workload = order->workload ? mt_spec_workload(self->spec, order->workload) : NULL;
    if (!subject->shape || !subject->workload || !order->shape_key || strcmp(subject->shape->key, order->shape_key) != 0)
        return MT_FAIL(err, MT_ERR_SPEC, "%s: changed while the tuner was starting; start it again", self->spec->path);
    mt_point point;
    mt_status st = order->variant ? mt_point_parse(self->spec, order->variant, &point, err) : MT_OK;
    if (st != MT_OK) return st;
    subject->combination = mt_reference_of(self->spec, order->variant ? &point : NULL);
    subject->support_cubin = order->support_path;
    subject->seed = order->seed;
    subject->guard_pages = order->guard_pages;
    subject->input_count = order->input_count;
    return MT_OK;
}

static mt_status evaluate(struct runner *self, const mt_evaluate_order *order, mt_outcome *outcome, bool *sticky, mt_error *err)
{
    mt_status st = MT_OK;
    mt_input_file *inputs = NULL;
    mt_subject_request subject = {0};
    mt_point point;
    MT_TRY(find_subject(self, order, &subject, err));
    MT_TRY(split_inputs(order, &inputs, err));
    subject.inputs = inputs;
    MT_TRY(mt_point_parse(self->spec, order->variant, &point, err));
    if (!self->has_tool) {
        MT_TRY(mt_gpu_load_tool(self->gpu, order->tool_path, err));
        self->has_tool = true;
    }
    mt_evaluate_request request = {
        .subject = &subject,
        .point = &point,
        .cubin_path = order->cubin_path,
        .is_retime = order->is_retime,
        .timing = {order->l2, order->interval, order->min_samples, order->max_samples, order->max_ns, order->graph_below_ns, order->race_ns, order->race_factor, order->method},
        .depth = order->depth,
        .energy_ns = order->energy_ns,
        .baseline = order->baseline,
        .algorithm = order->algorithm,
    };
    MT_TRY(mt_gpu_evaluate(self->gpu, &request, on_stage, self, outcome, sticky, err));
done:
    free_inputs(inputs);
    return st;
}

/* Asking takes NVML about a millisecond. */
static int32_t foreign_processes(struct runner *self)
{
    int64_t now = mt_clock_now_ns();
    if (!self->foreign_asked_ns || now - self->foreign_asked_ns > 1000000000) {
        self->foreign = mt_gpu_foreign_processes(self->gpu);
        self->foreign_asked_ns = now;
    }
    return self->foreign;
}

static mt_status answer(struct runner *self, const mt_evaluate_order *order, bool *sticky, mt_error *err)
{
    mt_error error = {0};
    mt_message reply = {.type = MT_MESSAGE_RESULT};
    mt_verdict *verdict = &reply.verdict;
    int64_t start_ns = mt_clock_now_ns();
    verdict->id = self->id = order->id;
    verdict->status = evaluate(self, order, &verdict->outcome, sticky, &error);
    mt_times_note("evaluate", start_ns, order->variant);
    verdict->error = verdict->status == MT_OK ? NULL : error.message;
    verdict->is_sticky = *sticky;
    verdict->foreign_processes = foreign_processes(self);
    if (verdict->status == MT_OK) verdict->launch_json = mt_gpu_launch_json(self->gpu);
    if (verdict->status == MT_OK) verdict->vacuous = mt_gpu_vacuous(self->gpu);
    cut_text(verdict->outcome.text);
    mt_status st = mt_channel_send(&self->channel, &reply, err);
    mt_outcome_free(&verdict->outcome);
    return st;
}

/* In reserve: what an order would need is there before it comes. A context that a generator broke is no use to anybody. */
static mt_status prepare(struct runner *self, const mt_evaluate_order *order, mt_error *err)
{
    mt_status st = MT_OK;
    mt_error error = {0};
    mt_input_file *inputs = NULL;
    mt_subject_request subject = {0};
    mt_message reply = {.type = MT_MESSAGE_PREPARED};
    reply.prepared.status = mt_gpu_make_context(self->gpu, &error);
    if (reply.prepared.status != MT_OK) reply.prepared.error = error.message;
    if (reply.prepared.status == MT_OK && order->shape) {
        MT_TRY(find_subject(self, order, &subject, err));
        MT_TRY(split_inputs(order, &inputs, err));
        subject.inputs = inputs;
        MT_TRY(mt_gpu_prepare(self->gpu, order->tool_path, &subject, err));
        self->has_tool = true;
    }
    MT_TRY(mt_channel_send(&self->channel, &reply, err));
done:
    free_inputs(inputs);
    return st;
}

static mt_status open_gpu(struct runner *self, int ordinal, bool is_reserve, mt_hello *hello, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(mt_spec_parse(self->bundle.path, self->bundle.text, strlen(self->bundle.text), &self->spec, err));
    MT_TRY(mt_gpu_open(ordinal, &self->gpu, &hello->facts, err));
    if (!is_reserve) MT_TRY(mt_gpu_make_context(self->gpu, err));
done:
    return st;
}

static mt_status greet_device(struct runner *self, int ordinal, bool is_reserve, mt_error *err)
{
    mt_error error = {0};
    mt_message message = {.type = MT_MESSAGE_HELLO, .hello = {.pid = (uint32_t)getpid(), .foreign_processes = -1, .busy_percent = -1}};
    mt_hello *hello = &message.hello;
    hello->status = open_gpu(self, ordinal, is_reserve, hello, &error);
    if (hello->status == MT_OK && !is_reserve) {
        hello->bus_id = mt_gpu_bus_id(self->gpu);
        hello->device_count = mt_gpu_count(self->gpu);
        hello->foreign_processes = mt_gpu_foreign_processes(self->gpu);
        hello->busy_percent = mt_gpu_busy_percent(self->gpu);
        hello->energy = mt_gpu_energy_source(self->gpu);
    } else if (hello->status != MT_OK) {
        hello->error = error.message;
    }
    mt_status st = mt_channel_send(&self->channel, &message, err);
    return st == MT_OK ? hello->status : st;
}

static mt_status run_device_worker(int ordinal, bool is_reserve, mt_error *err)
{
    struct runner self = {.channel = {.fd = MT_WORKER_SOCKET_FD}};
    mt_status st = MT_OK;
    MT_TRY(mt_bundle_open(MT_WORKER_BUNDLE_FD, &self.bundle, err));
    MT_TRY(greet_device(&self, ordinal, is_reserve, err));
    for (bool closed = false; !closed;) {
        mt_message message = {0};
        bool sticky = false;
        MT_TRY(mt_channel_receive(&self.channel, &message, &closed, err));
        if (message.type == MT_MESSAGE_BYE) closed = true;
        if (message.type == MT_MESSAGE_PREPARE) st = prepare(&self, &message.evaluate, err);
        if (message.type == MT_MESSAGE_EVALUATE) st = answer(&self, &message.evaluate, &sticky, err);
        mt_message_free(&message);
        if (sticky) _exit(0); /* a broken context is not worth tearing down, and the driver may hang in trying */
        if (st != MT_OK) goto done;
    }
done:
    mt_gpu_close(self.gpu);
    mt_spec_free(self.spec);
    mt_bundle_free(&self.bundle);
    mt_channel_free(&self.channel);
    return st;
}

/* ---- watching worker: tells of the GPU, and takes nothing of it ---- */

static mt_status watch(mt_channel *channel, mt_gpu *gpu, mt_error *err)
{
    mt_status st = MT_OK;
    for (bool closed = false; !closed && st == MT_OK;) {
        mt_message message = {0};
        mt_message reply = {.type = MT_MESSAGE_LOAD};
        st = mt_channel_receive(channel, &message, &closed, err);
        if (st == MT_OK && message.type == MT_MESSAGE_ASK_LOAD) {
            reply.load = (mt_load){mt_gpu_busy_percent(gpu), mt_gpu_others_percent(gpu, getppid())};
            st = mt_channel_send(channel, &reply, err);
        }
        mt_message_free(&message);
    }
    return st;
}

static mt_status run_watching_worker(int ordinal, mt_error *err)
{
    mt_channel channel = {.fd = MT_WORKER_SOCKET_FD};
    mt_gpu *gpu = NULL;
    mt_error error = {0};
    mt_status st;
    mt_message message = {.type = MT_MESSAGE_HELLO, .hello = {.pid = (uint32_t)getpid(), .foreign_processes = -1, .busy_percent = -1}};
    mt_hello *hello = &message.hello;
    hello->status = mt_gpu_open(ordinal, &gpu, &hello->facts, &error);
    if (hello->status == MT_OK) hello->busy_percent = mt_gpu_busy_percent(gpu);
    else hello->error = error.message;
    MT_TRY(mt_channel_send(&channel, &message, err));
    st = hello->status == MT_OK ? watch(&channel, gpu, err) : hello->status;
done:
    mt_gpu_close(gpu);
    mt_channel_free(&channel);
    return st;
}

/* ---- once: under somebody else's tool ---- */

static mt_status evaluate_case(struct runner *self, const char *path, int ordinal, mt_outcome *outcome, mt_error *err)
{
    mt_status st = MT_OK;
    mt_message order = {0};
    mt_device_facts facts;
    bool sticky;
    int bundle_fd = -1;
    MT_TRY(mt_single_run_load(path, &order, &bundle_fd, err));
    MT_TRY(mt_bundle_open(bundle_fd, &self->bundle, err));
    MT_TRY(mt_spec_parse(self->bundle.path, self->bundle.text, strlen(self->bundle.text), &self->spec, err));
    MT_TRY(mt_gpu_open(ordinal, &self->gpu, &facts, err));
    MT_TRY(mt_gpu_make_context(self->gpu, err));
    MT_TRY(evaluate(self, &order.evaluate, outcome, &sticky, err));
done:
    if (bundle_fd >= 0) close(bundle_fd);
    mt_message_free(&order);
    return st;
}

/* Exit code 0: as it should be; 10: the variant's fault, told on stdout; else the machine's. */
static int run_once(const char *path, int ordinal)
{
    enum { VARIANT_FAILED = 10 };
    struct runner self = {.channel = {.fd = -1}};
    mt_outcome outcome = {0};
    mt_error error = {0};
    mt_status st = evaluate_case(&self, path, ordinal, &outcome, &error);
    int code = st != MT_OK ? mt_status_exit_code(st) : outcome.kind == MT_OUTCOME_OK ? 0 : VARIANT_FAILED;
    if (st != MT_OK) fprintf(stderr, "worker: %s\n", error.message);
    else printf("outcome: %s%s%s\n", mt_outcome_name(outcome.kind), outcome.text ? ": " : "", outcome.text ? outcome.text : "");
    mt_outcome_free(&outcome);
    mt_gpu_close(self.gpu);
    mt_spec_free(self.spec);
    mt_bundle_free(&self.bundle);
    return code;
}

int mt_worker_main(int argc, char **argv)
{
    mt_error error = {0};
    mt_status st;
    bool is_compiler = argc > 0 && strcmp(argv[0], "compile") == 0;
    bool is_reserve = argc > 0 && strcmp(argv[0], "reserve") == 0; /* a device worker without a context until it is told to make one */
    bool is_device = is_reserve || (argc > 0 && strcmp(argv[0], "device") == 0);
    if (argc == 4 && strcmp(argv[0], "once") == 0) return run_once(argv[3], atoi(argv[2]));
    bool is_watching = argc > 0 && strcmp(argv[0], "watch") == 0;
    if (argc < 3 || (!is_compiler && !is_device && !is_watching)) {
        fprintf(stderr, "msda-tune worker: started by the tuner only\n");
        return 2;
    }
    if (!mt_channel_enter(strtol(argv[1], NULL, 10), is_compiler ? COMPILE_NICE : 0)) return 1;
    st = is_compiler ? run_compile_worker(&error) : is_watching ? run_watching_worker(atoi(argv[2]), &error) : run_device_worker(atoi(argv[2]), is_reserve, &error);
    if (st != MT_OK) fprintf(stderr, "worker: %s\n", error.message);
    return mt_status_exit_code(st);
}
