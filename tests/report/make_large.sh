#!/bin/bash
# Writes made-up recordings of SUBJECTS shapes with ROWS rows each, one file each, into FOLDER: what a report of a large database is tried with. Usage: make_large.sh FOLDER SUBJECTS ROWS
set -eu
folder=$1 subjects=$2 rows=$3
for ((s = 1; s <= subjects; s++)); do
  awk -v s="$s" -v rows="$rows" 'BEGIN {
    srand(s)
    printf "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"h100-sxm|cc90|sm132|80g\",\"name\":\"NVIDIA H100 80GB HBM3\",\"facts\":{\"cc\":90,\"sm_count\":132,\"clock_mhz\":1980}},"
    printf "\"kernel\":{\"name\":\"large\",\"key\":\"0123456789abcdef0123456789abcdef\",\"spec\":{}},\"shape\":{\"name\":\"shape%d\",\"key\":\"N=%d\"},\"workload\":{\"name\":\"even\",\"key\":\"spread=1\"},", s, 1024 * s
    print "\"regime\":\"cold\",\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":1700000000000}"
    for (i = 0; i < rows; i++) {
      # Digits of i are the knobs; their order is the order of the texts.
      a = int(i / 1000) % 10; b = int(i / 100) % 10; c = int(i / 10) % 10; d = i % 10; e = int(i / 10000)
      v = sprintf("A=%d;BLOCK=%d;CLUSTER=%d;DEPTH=%d;E=%d", e, a, b, c, d)
      if (i % 37 == 5) { printf "{\"v\":\"%s\",\"k\":\"wrong_result\",\"t\":\"out[%d] is 0, expected 3.5\",\"out\":\"out\",\"en\":0.25}\n", v, i % 50; continue }
      ns = 20000 * s * (1 + 0.1 * a + 0.05 * (b - 4) ^ 2 + 0.02 * c + 0.3 * rand())
      printf "{\"v\":\"%s\",\"k\":\"ok\",\"flops\":%d,\"bytes\":%d,\"floor\":%d,\"ns\":%d,\"lo\":%d,\"hi\":%d,\"min\":%d,\"mean\":%d,\"sd\":12,\"mhz\":1755,\"n\":30,\"drop\":0,\"batch\":1,\"out\":\"out\",\"en\":%g,\"ew\":1e-07,\"er\":3e-08,\"ei\":7,\"reg\":32,\"spill\":0,\"ssm\":0,\"dsm\":%d,\"bps\":8}\n", v, 4e7 * s, 3e6 * s, 10000 * s, ns, ns * 0.998, ns * 1.002, ns * 0.99, ns, 1e-6 * (1 + d + rand()), 1024 * a
    }
  }' >"$folder/large$s.jsonl"
done
