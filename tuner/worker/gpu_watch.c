#include "tuner/worker/gpu_watch.h"

#include "tuner/base/alloc.h"
#include "tuner/worker/worker.h"

/* Of one question: a driver that does not answer NVML within this time is in trouble. */
static const double ANSWER_S = 20;

struct mt_gpu_watch {
    uv_loop_t *loop;
    mt_worker *worker;     /* NULL = it is gone */
    size_t open_handles;
    bool has_facts, is_asked;
    mt_device_facts facts;
    mt_load load;
    mt_error failure;      /* status MT_OK = none */
    mt_strbuf question;
};

static void on_message(void *context, mt_message *message)
{
    mt_gpu_watch *self = context;
    mt_worker_deadline(self->worker, 0);
    if (message->type == MT_MESSAGE_HELLO && message->hello.status != MT_OK) {
        MT_FAIL(&self->failure, message->hello.status, "%s", message->hello.error ? message->hello.error : "no GPU");
    } else if (message->type == MT_MESSAGE_HELLO) {
        self->has_facts = true;
        self->facts = message->hello.facts;
        self->load = (mt_load){message->hello.busy_percent, -1};
    } else if (message->type == MT_MESSAGE_LOAD) {
        self->is_asked = false;
        self->load = message->load;
    }
}

static void on_gone(void *context, const mt_worker_death *death)
{
    mt_gpu_watch *self = context;
    self->worker = NULL;
    if (self->failure.status == MT_OK) /* a hello that says why comes first */
        MT_FAIL(&self->failure, MT_ERR_WORKER, "the process that watches the GPU ended (%s)%s%s", death->is_timeout ? "it did not answer" : death->how, *death->log_tail ? ":\n" : "", death->log_tail);
}

mt_status mt_gpu_watch_start(uv_loop_t *loop, int ordinal, mt_gpu_watch **watch, mt_error *err)
{
    const mt_message question = {.type = MT_MESSAGE_ASK_LOAD};
    mt_gpu_watch *self = mt_alloc(1, sizeof *self);
    if (!self) return mt_no_memory("watch of the GPU", err);
    *self = (mt_gpu_watch){.loop = loop, .load = {-1, -1}};
    const mt_worker_launch launch = {.role = "watch", .device = ordinal, .bundle_fd = -1, .message = on_message, .gone = on_gone, .context = self, .open_handles = &self->open_handles};
    mt_status st = mt_proto_encode(&question, &self->question, err);
    if (st == MT_OK) st = mt_worker_spawn(loop, &launch, &self->worker, err);
    if (st == MT_OK) *watch = self;
    else mt_gpu_watch_destroy(self);
    return st;
}

const mt_device_facts *mt_gpu_watch_facts(const mt_gpu_watch *self)
{
    return self->has_facts ? &self->facts : NULL;
}

mt_status mt_gpu_watch_check(const mt_gpu_watch *self, mt_error *err)
{
    return self->failure.status == MT_OK ? MT_OK : MT_FAIL(err, self->failure.status, "%s", self->failure.message);
}

mt_load mt_gpu_watch_load(mt_gpu_watch *self)
{
    mt_load load = self->load;
    if (!self->worker || self->is_asked) return load;
    self->is_asked = mt_worker_send(self->worker, &self->question, NULL) == MT_OK;
    if (self->is_asked) mt_worker_deadline(self->worker, ANSWER_S);
    return load;
}

void mt_gpu_watch_destroy(mt_gpu_watch *self)
{
    if (!self) return;
    if (self->worker) mt_worker_kill(self->worker);
    while (self->open_handles) uv_run(self->loop, UV_RUN_ONCE);
    mt_strbuf_free(&self->question);
    mt_free(self);
}
