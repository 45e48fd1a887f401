#include "db/key.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* Names as CUDA's cuDeviceGetName and nvidia-smi give them, from public logs, and the bytes such boards report. */
typedef struct gpu_case {
    const char *name;
    int64_t cc, sm_count, mem_mib;
    const char *key;
} gpu_case;

static const gpu_case gpus[] = {
    {"Tesla P100-PCIE-16GB", 60, 56, 16276, "p100-pcie|cc60|sm56|16g"},
    {"Tesla P100-SXM2-16GB", 60, 56, 16276, "p100-sxm|cc60|sm56|16g"},
    {"Tesla V100-PCIE-16GB", 70, 80, 16160, "v100-pcie|cc70|sm80|16g"},
    {"Tesla V100-SXM2-16GB", 70, 80, 16160, "v100-sxm|cc70|sm80|16g"},
    {"Tesla V100-SXM2-32GB", 70, 80, 32510, "v100-sxm|cc70|sm80|32g"},
    {"Tesla V100-SXM2-32GB-LS", 70, 80, 32510, "v100-sxm-ls|cc70|sm80|32g"},
    {"Tesla V100-SXM3-32GB", 70, 80, 32510, "v100-sxm3|cc70|sm80|32g"},
    {"NVIDIA TITAN V", 70, 80, 12066, "titan-v|cc70|sm80|12g"},
    {"Tesla T4", 75, 40, 15102, "t4|cc75|sm40|16g"},
    {"NVIDIA GeForce RTX 2080 Ti", 75, 68, 11011, "rtx-2080-ti|cc75|sm68|11g"},
    {"GeForce RTX 2080 Ti", 75, 68, 11019, "rtx-2080-ti|cc75|sm68|11g"},
    {"NVIDIA GeForce RTX 2070 with Max-Q Design", 75, 36, 7982, "rtx-2070|cc75|sm36|8g|max-q"},
    {"Quadro RTX 6000", 75, 72, 24190, "quadro-rtx-6000|cc75|sm72|24g"},
    {"Quadro RTX 8000", 75, 72, 48576, "quadro-rtx-8000|cc75|sm72|48g"},
    {"A100-SXM4-40GB", 80, 108, 40537, "a100-sxm|cc80|sm108|40g"},
    {"NVIDIA A100-SXM4-40GB", 80, 108, 40338, "a100-sxm|cc80|sm108|40g"},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 81050, "a100-sxm|cc80|sm108|80g"},
    {"NVIDIA A100-SXM-64GB", 80, 108, 64981, "a100-sxm|cc80|sm108|64g"},
    {"NVIDIA A100-PCIE-40GB", 80, 108, 40370, "a100-pcie|cc80|sm108|40g"},
    {"NVIDIA A100 80GB PCIe", 80, 108, 81051, "a100-pcie|cc80|sm108|80g"},
    {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 80, 14, 4864, "a100-sxm-mig-1g.5gb|cc80|sm14|5g"},
    {"NVIDIA A100-PCIE-40GB MIG 3g.20gb", 80, 42, 20096, "a100-pcie-mig-3g.20gb|cc80|sm42|20g"},
    {"NVIDIA A800-SXM4-80GB", 80, 108, 81050, "a800-sxm|cc80|sm108|80g"},
    {"NVIDIA A30", 80, 56, 24062, "a30|cc80|sm56|24g"},
    {"NVIDIA A40", 86, 84, 45416, "a40|cc86|sm84|48g"},
    {"NVIDIA A10", 86, 72, 22503, "a10|cc86|sm72|24g"},
    {"NVIDIA A10G", 86, 80, 22502, "a10g|cc86|sm80|24g"},
    {"NVIDIA RTX A6000", 86, 84, 48541, "rtx-a6000|cc86|sm84|48g"},
    {"NVIDIA GeForce RTX 3090", 86, 82, 24107, "rtx-3090|cc86|sm82|24g"},
    {"NVIDIA GeForce RTX 3080 Ti Laptop GPU", 86, 58, 16108, "rtx-3080-ti-laptop|cc86|sm58|16g"},
    {"Orin", 87, 16, 62841, "orin|cc87|sm16|64g"},
    {"Orin (nvgpu)", 87, 8, 7620, "orin|cc87|sm8|8g"},
    {"NVIDIA L4", 89, 58, 22491, "l4|cc89|sm58|24g"},
    {"NVIDIA L20", 89, 92, 45589, "l20|cc89|sm92|48g"},
    {"NVIDIA L40", 89, 142, 45589, "l40|cc89|sm142|48g"},
    {"NVIDIA L40S", 89, 142, 45589, "l40s|cc89|sm142|48g"},
    {"NVIDIA RTX 6000 Ada Generation", 89, 142, 48520, "rtx-6000-ada|cc89|sm142|48g"},
    {"NVIDIA RTX 4000 SFF Ada Generation", 89, 48, 20040, "rtx-4000-sff-ada|cc89|sm48|20g"},
    {"NVIDIA GeForce RTX 4090", 89, 128, 24080, "rtx-4090|cc89|sm128|24g"},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", 89, 76, 15944, "rtx-4090-laptop|cc89|sm76|16g"},
    {"NVIDIA GeForce RTX 4070 Ti SUPER", 89, 66, 15938, "rtx-4070-ti-super|cc89|sm66|16g"},
    {"NVIDIA H100 80GB HBM3", 90, 132, 81090, "h100-sxm|cc90|sm132|80g"},
    {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 90, 16, 9984, "h100-sxm-mig-1g.10gb|cc90|sm16|10g"},
    {"NVIDIA H100 80GB HBM2e", 90, 114, 81004, "h100-hbm2e|cc90|sm114|80g"},
    {"NVIDIA H100 PCIe", 90, 114, 81004, "h100-pcie|cc90|sm114|80g"},
    {"NVIDIA H100 NVL", 90, 132, 95320, "h100-nvl|cc90|sm132|94g"},
    {"NVIDIA GH200 480GB", 90, 132, 97280, "gh200|cc90|sm132|96g"},
    {"NVIDIA H200", 90, 132, 143156, "h200|cc90|sm132|141g"},
    {"NVIDIA H200 NVL", 90, 132, 143156, "h200-nvl|cc90|sm132|141g"},
    {"NVIDIA H20", 90, 78, 97280, "h20|cc90|sm78|96g"},
    {"NVIDIA H20-3e", 90, 78, 143156, "h20-3e|cc90|sm78|141g"},
    {"NVIDIA H800", 90, 132, 81090, "h800-sxm|cc90|sm132|80g"},
    {"NVIDIA H800 PCIe", 90, 114, 81004, "h800-pcie|cc90|sm114|80g"},
    {"NVIDIA B200", 100, 148, 182631, "b200|cc100|sm148|180g"},
    {"NVIDIA GB200", 100, 152, 188416, "gb200|cc100|sm152|192g"},
    {"NVIDIA B300 SXM6 AC", 103, 148, 274500, "b300-sxm-ac|cc103|sm148|288g"},
    {"NVIDIA GB10", 121, 48, 122570, "gb10|cc121|sm48|128g"},
    {"NVIDIA GeForce RTX 5090", 120, 170, 32109, "rtx-5090|cc120|sm170|32g"},
    {"NVIDIA GeForce RTX 5070", 120, 48, 11812, "rtx-5070|cc120|sm48|12g"},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120, 188, 97250, "rtx-pro-6000-workstation|cc120|sm188|96g"},
    {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120, 188, 97250, "rtx-pro-6000-workstation|cc120|sm188|96g|max-q"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 188, 97250, "rtx-pro-6000-server|cc120|sm188|96g"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", 120, 46, 24000, "rtx-pro-6000-server-mig-1g.24gb|cc120|sm46|24g"},
};
enum { GPU_COUNT = sizeof gpus / sizeof gpus[0] };

START_TEST(real_names)
{
    ck_assert_int_ge(GPU_COUNT, 40);
    for (size_t i = 0; i < GPU_COUNT; i++) {
        const gpu_case *g = &gpus[i];
        char key[MT_KEY_GPU_SIZE], model[MT_KEY_MODEL_SIZE];
        mt_key_gpu(g->name, g->cc, g->sm_count, g->mem_mib << 20, 1980, key, sizeof key);
        ck_assert_msg(strcmp(key, g->key) == 0, "%s: %s, expected %s", g->name, key, g->key);
        mt_key_model(g->name, model, sizeof model);
        size_t length = strlen(model);
        ck_assert_msg(strncmp(key, model, length) == 0 && key[length] == '|', "%s: model %s", g->name, model);
    }
}
END_TEST

START_TEST(boards_of_one_chip_differ)
{
    static const char *const names[] = {"NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA GH200 480GB",
                                        "NVIDIA H200", "NVIDIA H200 NVL", "NVIDIA H800", "NVIDIA H20", "NVIDIA H100 80GB HBM3 MIG 2g.20gb"};
    enum { COUNT = sizeof names / sizeof names[0] };
    char models[COUNT][MT_KEY_MODEL_SIZE];
    for (size_t i = 0; i < COUNT; i++) {
        mt_key_model(names[i], models[i], MT_KEY_MODEL_SIZE);
        for (size_t j = 0; j < i; j++) ck_assert_str_ne(models[i], models[j]);
    }
}
END_TEST

START_TEST(driver_reserve_does_not_split_keys)
{
    static const struct { int64_t low_mib, high_mib; int gib; } ranges[] = {
        {80998, 81920, 80}, {40330, 40960, 40}, {15000, 16384, 16}, {22500, 24576, 24}, {45400, 49152, 48}, {95000, 96256, 94}, {97000, 98304, 96}, {142900, 144384, 141}, {182000, 184320, 180}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        char low[MT_KEY_GPU_SIZE], high[MT_KEY_GPU_SIZE], expected[MT_KEY_GPU_SIZE];
        mt_key_gpu("X", 90, 1, ranges[i].low_mib << 20, 0, low, sizeof low);
        mt_key_gpu("X", 90, 1, ranges[i].high_mib << 20, 0, high, sizeof high);
        snprintf(expected, sizeof expected, "x|cc90|sm1|%dg", ranges[i].gib);
        ck_assert_str_eq(low, expected);
        ck_assert_str_eq(high, expected);
    }
    char key[MT_KEY_GPU_SIZE];
    ck_assert_str_eq(mt_key_gpu("X", 90, 1, (int64_t)500 << 30, 0, key, sizeof key), "x|cc90|sm1|512g");
    ck_assert_str_eq(mt_key_gpu("X", 90, 1, INT64_MAX, 0, key, sizeof key), "x|cc90|sm1|8589934592g");
    ck_assert_str_eq(mt_key_gpu("X", 90, 1, 0, 0, key, sizeof key), "x|cc90|sm1|1g");
}
END_TEST

START_TEST(unknown_and_hostile_names)
{
    char model[MT_KEY_MODEL_SIZE], tiny[6], long_name[5000];
    ck_assert_str_eq(mt_key_model("NVIDIA Rubin CPX 9000", model, sizeof model), "rubin-cpx-9000");
    ck_assert_str_eq(mt_key_model("", model, sizeof model), "unknown");
    ck_assert_str_eq(mt_key_model("NVIDIA", model, sizeof model), "unknown");
    ck_assert_str_eq(mt_key_model("a|b;c=d<e>\n\xff", model, sizeof model), "a-b-c-d-e");
    ck_assert_str_eq(mt_key_model("open ( bracket", model, sizeof model), "open-bracket");
    ck_assert_str_eq(mt_key_model("H100 PCIe MIG", model, sizeof model), "h100-pcie-mig-unknown");
    ck_assert_str_eq(mt_key_model("NVIDIA H100 PCIe", tiny, sizeof tiny), "h100-");
    memset(long_name, 'w', sizeof long_name);
    for (size_t i = 40; i < sizeof long_name; i += 41) long_name[i] = ' ';
    long_name[sizeof long_name - 1] = '\0';
    ck_assert_uint_eq(strlen(mt_key_model(long_name, model, sizeof model)), sizeof model - 1);
    char key[MT_KEY_GPU_SIZE];
    mt_key_gpu(long_name, 90, 132, 1, 0, key, sizeof key);
    ck_assert_ptr_nonnull(strstr(key, "|cc90|sm132|1g")); /* a long model does not push the rest out */
}
END_TEST

START_TEST(pairs_are_sorted)
{
    const char *names[] = {"dtype", "H", "N", "A1", "A"}, *values[] = {"f16", "92,46", "48", "2", "1"};
    char out[100];
    size_t length = mt_key_pairs(names, values, 5, out, sizeof out);
    ck_assert_str_eq(out, "A=1;A1=2;H=92,46;N=48;dtype=f16");
    ck_assert_uint_eq(length, strlen(out));
    const char *other_names[] = {"A", "N", "dtype", "A1", "H"}, *other_values[] = {"1", "48", "f16", "2", "92,46"};
    char other[100];
    mt_key_pairs(other_names, other_values, 5, other, sizeof other);
    ck_assert_str_eq(out, other);
}
END_TEST

START_TEST(pairs_fit_or_say_so)
{
    const char *names[] = {"B", "A", "B"}, *values[] = {"22", "1", "3"};
    char out[6];
    ck_assert_uint_eq(mt_key_pairs(names, values, 3, out, sizeof out), strlen("A=1;B=22;B=3")); /* equal names keep their order */
    ck_assert_str_eq(out, "A=1;B");
    ck_assert_uint_eq(mt_key_pairs(names, values, 3, NULL, 0), 12);
    ck_assert_uint_eq(mt_key_pairs(names, values, 0, out, sizeof out), 0);
    ck_assert_str_eq(out, "");
}
END_TEST

/* Of a GPU of which no fact is known. */
START_TEST(a_name_alone)
{
    char key[MT_KEY_GPU_SIZE];
    ck_assert_str_eq(mt_key_gpu("AMD Radeon PRO W6600", 0, 0, 0, 0, key, sizeof key), "amd-radeon-pro-w6600");
}
END_TEST

START_TEST(pairs_of_a_text)
{
    ck_assert(!mt_key_is_told("B=92,46", 7, "A=1;B=92,46;C=x"));
    ck_assert(!mt_key_is_told("C=x;D=1", 3, "A=1;B=92,46;C=x"));
    ck_assert(mt_key_is_told("B=92", 4, "A=1;B=92,46;C=x"));
    ck_assert(mt_key_is_told("A=1", 3, "A=12"));
    ck_assert(mt_key_is_told("A=1", 3, ""));
    ck_assert(mt_key_is_told("A=1", 3, NULL));
    ck_assert(mt_key_is_told("ALGO=a", 6, "ALGO=a"));
}
END_TEST

START_TEST(integers)
{
    static const struct { const char *text; int64_t value; const char *rest; } cases[] = {{"7,", 7, ","}, {"-92;B=1", -92, ";B=1"}, {"007", 7, ""},
        {"9223372036854775807", INT64_MAX, ""}, {"-9223372036854775808", INT64_MIN, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        ck_assert_str_eq(mt_key_int(cases[i].text, &value), cases[i].rest);
        ck_assert_int_eq(value, cases[i].value);
    }
    static const char *const bad[] = {"", "-", "+1", " 1", "a", "--1", "9223372036854775808", "-9223372036854775809"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 5;
        ck_assert_msg(!mt_key_int(bad[i], &value) && value == 5, "'%s'", bad[i]);
    }
}
END_TEST

UNIT_MAIN("key", integers, real_names, boards_of_one_chip_differ, driver_reserve_does_not_split_keys, unknown_and_hostile_names, pairs_are_sorted, pairs_fit_or_say_so, pairs_of_a_text, a_name_alone)
