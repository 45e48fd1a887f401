/* Makes a tuning database from a space and one variant, as a tuning run would leave it, without a GPU: lookup_make_db SPACE.ini SHAPE VARIANT DATABASE.
 * The device is an H100; the row is marked as measured. */
#include <stdio.h>
#include <string.h>

#include "db/store/store.h"
#include "tuner/base/alloc.h"
#include "tuner/space/points/point.h"
#include "tuner/space/spec/spec_json.h"

static mt_status make(const mt_spec *spec, const mt_shape *shape, const char *variant, const char *path, mt_error *err)
{
    mt_status st;
    mt_store *store = NULL;
    mt_subject subject = { .l2 = spec->l2, .origin = MT_ORIGIN_MEASURED };
    mt_outcome outcome = { .kind = MT_OUTCOME_OK, .timing = { .median_ns = 387000, .low_ns = 386000, .high_ns = 388000, .samples = 100 }, .accuracy = { .norm_error = 3e-4 } };
    char *json = mt_spec_json(spec);
    mt_point point;
    int64_t session;
    MT_TRY(mt_point_parse(spec, variant, &point, err));
    MT_TRY(mt_store_open(path, MT_STORE_READ_WRITE, &store, err));
    MT_TRY(mt_store_device(store, &(mt_device_row){ "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "{}" }, &subject.device, err));
    MT_TRY(mt_store_kernel(store, &(mt_kernel_row){ .name = spec->name, .key = "00112233445566778899aabbccddeeff", .spec_json = json }, &subject.kernel, err));
    MT_TRY(mt_store_shape(store, subject.kernel, &(mt_shape_row){ shape->name, shape->key }, &subject.shape, err));
    MT_TRY(mt_store_workload(store, subject.kernel, &(mt_shape_row){ spec->workloads[0].name, spec->workloads[0].key }, &subject.workload, err));
    MT_TRY(mt_store_toolchain(store, &(mt_toolchain_row){ 13000, 13000, "sm_90a" }, &subject.toolchain, err));
    MT_TRY(mt_store_session_begin(store, &(mt_session_row){ .command = "lookup_make_db", .boot_id = "b", .tool_version = "0", .strategy = "none" }, &session, err));
    MT_TRY(mt_store_step(store, session, &(mt_result){ .subject = &subject, .variant = variant, .outcome = &outcome, .evaluation = 1 }, NULL, err));
    MT_TRY(mt_store_refresh_best(store, &subject, err));
done:
    mt_store_close(store);
    mt_free(json);
    return st;
}

int main(int argc, char **argv)
{
    mt_error err = { .message = "" };
    mt_spec *spec = NULL;
    if (argc != 5) {
        fprintf(stderr, "usage: lookup_make_db SPACE.ini SHAPE VARIANT DATABASE\n");
        return 2;
    }
    mt_status st = mt_spec_load(argv[1], &spec, &err);
    const mt_shape *shape = st == MT_OK ? mt_spec_shape(spec, argv[2]) : NULL;
    if (st == MT_OK) st = shape ? make(spec, shape, argv[3], argv[4], &err) : MT_FAIL(&err, MT_ERR_NOT_FOUND, "no shape %s", argv[2]);
    if (st != MT_OK) fprintf(stderr, "lookup_make_db: %s\n", err.message);
    mt_spec_free(spec);
    return st != MT_OK;
}
