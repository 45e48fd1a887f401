/* The evaluator on any program text, as a hostile database could hold it. */
#include <stdlib.h>
#include <string.h>

#include "db/program.h"
#include "tests/fuzz/fuzz_target.h"

static const int64_t numbers[] = {INT64_MAX, INT64_MIN, 0, 1, -1};

static mt_value value_of(const char *name)
{
    switch (name[0] % 4) {
    case 0: return (mt_value){.kind = MT_VALUE_INT, .number = numbers[(unsigned char)name[strlen(name) - 1] % 5]};
    case 1: return (mt_value){.kind = MT_VALUE_STRING, .string = "text"};
    case 2: return (mt_value){.kind = MT_VALUE_LIST, .list = numbers, .length = 5};
    default: return (mt_value){.kind = MT_VALUE_UNDEFINED};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SLOTS = 32 };
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    size_t bytes = mt_program_bytes(text), token = 0, used = 0;
    void *memory = malloc(bytes);
    mt_program *program;
    mt_value slots[SLOTS], result;
    if (memory && mt_program_load(text, memory, bytes, &program, &used) == MT_PROGRAM_OK) {
        size_t count = mt_program_name_count(program);
        for (size_t i = 0; i < count && i < SLOTS; i++) {
            slots[i] = value_of(mt_program_name(program, i));
            mt_program_bind(program, i, (uint32_t)i);
        }
        mt_program_status st = mt_program_eval(program, slots, count < SLOTS ? count : SLOTS, &result, &token);
        if (used > bytes || (st != MT_PROGRAM_OK && token >= mt_program_token_count(program))) abort();
    }
    free(memory);
    free(text);
    return 0;
}
