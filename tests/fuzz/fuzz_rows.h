/* One row of the toy kernel, N = 64, H = 3,5, dtype f16, as SQL: what the fuzz targets that read databases begin with. */
#pragma once

#define FUZZ_ROWS(spec, cubin) \
    "INSERT INTO device VALUES (1, 'h100-sxm|cc90|sm132|80g', 'NVIDIA H100 80GB HBM3', '{}');" \
    "INSERT INTO kernel VALUES (1, 'toy', '00112233445566778899aabbccddeeff', '" spec "');" \
    "INSERT INTO shape VALUES (1, 1, 'H=3,5;N=64;dtype=f16', 's'); INSERT INTO workload VALUES (1, 1, 'w', 'w');" \
    "INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a'); INSERT INTO variant VALUES (1, 1, 'ALGO=wide;B=32;C=2');" \
    "INSERT INTO subject VALUES (1, 1, 1, 1, 1, 'cold', 'measured');" \
    "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms) " \
    "VALUES (1, '', '', '', 1, '', '', '', 0, 'measured', 0);" \
    "INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns) " \
    "VALUES (1, 1, 1, 1, 1, 0, 1, 'ok', 1000); INSERT INTO best VALUES (1, 1, 1, 0, NULL);" \
    "INSERT INTO answer VALUES (1, 1, 1, 'measured', 'cold', 1, 'H=3,5;N=64;dtype=f16', 's', 1, 1, 1, 1000, 990, 1010, 1e-4, 0, 0, " cubin ", '28')"
