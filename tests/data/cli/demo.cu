// A kernel for the command-line tests. Never compiled there: its results come from demo.jsonl.
extern "C" __global__ void demo(float *out, int n) {}
