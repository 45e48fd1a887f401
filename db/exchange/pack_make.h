/* Making packs (db/pack.h): of a database what lookups need of some kernels on some GPUs. */
#pragma once

#include "db/pack.h"
#include "db/store/query.h"

/* A copy of the source in memory that holds what may answer for the kernels and GPUs of the filter: their winners, what says of the variants that lookups hand out how they did anywhere, and the
 * predictor. Who measured, where, when and with which samples is not there. All shapes of these kernels stay (the predictor knows them): filter's shape and workload choose code alone.
 * member: the rows of this variant too, and of each shape the fastest of its class of equal bits; NULL = no class. NOT_FOUND where no fingerprint of it is stored.
 * NOTHING_VALID, without a message, where no winner is left; NOT_FOUND where none of them has stored expressions, without which no lookup answers. */
mt_status mt_pack_gather(mt_store *source, const mt_filter *filter, const char *member, mt_store **copy, mt_error *err);

typedef struct mt_pack_contents {
    int64_t winners, without_code;  /* of the filter; those whose code the pack lacks */
    int64_t kernels, gpus;
    int64_t cubins, shared;         /* pieces of code; winners beyond one for each, which share it */
    uint64_t code_bytes, bytes;     /* of the code; of the whole pack */
} mt_pack_contents;

/* A pack, ready to be written. */
typedef struct mt_packed {
    mt_pack_contents contents;
    unsigned char *bytes;           /* contents.bytes of them; the head comes first, where a signature may be put before it is written */
} mt_packed;
/* Of what mt_pack_gather left, perhaps with more code since; the code leaves the copy. mt_packed_free in every case. */
mt_status mt_pack_make(mt_store *copy, const mt_filter *filter, mt_packed *packed, mt_error *err);
void mt_packed_free(mt_packed *packed);
