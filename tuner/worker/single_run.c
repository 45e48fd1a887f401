#include "tuner/worker/single_run.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static mt_status add_bundle(mt_strbuf *bytes, int fd, mt_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_size <= 0) return MT_FAIL(err, MT_ERR_WORKER, "case: no bundle");
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0); /* the offset is the workers' too */
    if (map == MAP_FAILED) return MT_FAIL(err, MT_ERR_WORKER, "case: cannot map the bundle");
    mt_strbuf_add_bytes(bytes, map, (size_t)info.st_size);
    munmap(map, (size_t)info.st_size);
    return bytes->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "case: out of memory") : MT_OK;
}

mt_status mt_single_run_save(const char *path, const mt_strbuf *frame, mt_depth depth, int bundle_fd, mt_error *err)
{
    mt_status st = MT_OK;
    mt_message order = {0};
    mt_strbuf bytes = {0};
    size_t used = 0;
    MT_TRY(mt_proto_decode(frame->text, frame->length, &order, &used, err));
    if (used == 0 || order.type != MT_MESSAGE_EVALUATE) MT_LEAVE(MT_FAIL(err, MT_ERR_WORKER, "case: nothing was evaluated yet"));
    order.evaluate.depth = depth;
    MT_TRY(mt_proto_encode(&order, &bytes, err));
    MT_TRY(add_bundle(&bytes, bundle_fd, err));
    MT_TRY(mt_file_write_atomic(path, bytes.text, bytes.length, err));
done:
    mt_message_free(&order);
    mt_strbuf_free(&bytes);
    return st;
}

mt_status mt_single_run_load(const char *path, mt_message *order, int *bundle_fd, mt_error *err)
{
    mt_status st = MT_OK;
    char *bytes = NULL;
    size_t length, used = 0;
    *bundle_fd = -1;
    memset(order, 0, sizeof *order);
    MT_TRY(mt_file_read(path, 0, &bytes, &length, err));
    MT_TRY(mt_proto_decode(bytes, length, order, &used, err));
    if (used == 0 || used == length || order->type != MT_MESSAGE_EVALUATE) MT_LEAVE(MT_FAIL(err, MT_ERR_PROTOCOL, "%s: is no case of msda-tune", path));
    MT_TRY(mt_memfd("msda-tune-bundle", bytes + used, length - used, bundle_fd, err));
done:
    mt_free(bytes);
    if (st != MT_OK) mt_message_free(order);
    return st;
}

mt_status mt_single_run_command_make(const char *const *prefix, int device, const char *case_path, mt_single_run_command *command, mt_error *err)
{
    size_t count = 0;
    memset(command, 0, sizeof *command);
    command->self = mt_path_self();
    if (!command->self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "case: out of memory");
    while (prefix[count] && count < 24) {
        command->argv[count] = prefix[count];
        count++;
    }
    snprintf(command->numbers[0], sizeof command->numbers[0], "%ld", (long)getpid());
    snprintf(command->numbers[1], sizeof command->numbers[1], "%d", device);
    const char *const ours[] = {command->self, "worker", "once", command->numbers[0], command->numbers[1], case_path};
    memcpy(command->argv + count, ours, sizeof ours);
    return MT_OK;
}

void mt_single_run_command_free(mt_single_run_command *command)
{
    mt_free(command->self);
    memset(command, 0, sizeof *command);
}
