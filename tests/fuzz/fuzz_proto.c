/* Worker messages from any bytes: no fault, and what is accepted encodes to the very same bytes. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuner/worker/proto.h"

static void require(int holds)
{
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0, used = 0;
    do { /* a stream of frames, as a worker sends them */
        mt_message message;
        mt_error err = {0};
        if (mt_proto_decode(data + at, size - at, &message, &used, &err) != MT_OK) {
            require(used == 0 && err.status != MT_OK && err.message[0]);
            return 0;
        }
        if (used) {
            mt_strbuf again = {0};
            require(used <= size - at);
            require(mt_proto_encode(&message, &again, &err) == MT_OK && again.length == used && memcmp(again.text, data + at, used) == 0);
            mt_strbuf_free(&again);
        }
        mt_message_free(&message);
        at += used;
    } while (used);
    return 0;
}
