/* `msda-tune list --json`: the shipped search spaces with their facts, the strategies, the recorded GPUs, as one object. */
#pragma once

#include "db/store/query.h"

/* `stores[count]`: databases of recordings. */
mt_status mt_list_json_print(mt_store *const *stores, size_t count, mt_error *err);
