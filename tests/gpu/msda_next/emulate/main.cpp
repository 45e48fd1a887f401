/* Runs one point of msda_next on the host against the definition. Made and called by emulate.py. */
#include "cuda_fp16.h"

dim threadIdx, blockIdx, gridDim;
alignas(128) char shared[SHARED_BYTES];
Copy pending_copy[64];

#include "msda.cu"

struct Fiber { ucontext_t context; std::vector<char> stack; bool done; };
struct Warp { int arrived, generation, leavers; uint64_t value[2][32]; };
struct Block { std::vector<Fiber> fibers; std::vector<Warp> warps; std::vector<char> memory; int arrived, generation, done; };
static std::vector<Block> blocks;
static ucontext_t scheduler;
static int current_block, current_thread;
static uint64_t randomness = 88172645463325252ull;
static unsigned random_below(unsigned n) { randomness ^= randomness << 13; randomness ^= randomness >> 7; randomness ^= randomness << 17; return (randomness >> 11) % n; }

void wait_in_turn(void) { swapcontext(&blocks[current_block].fibers[current_thread].context, &scheduler); }

uint64_t warp_exchange(uint64_t mine, int from)
{
    Warp &warp = blocks[current_block].warps[current_thread / 32];
    int generation = warp.generation;
    uint64_t *value = warp.value[generation & 1];
    value[current_thread % 32] = mine;
    if (++warp.arrived == 32) {
        warp.arrived = 0;
        warp.generation++;
    }
    while (warp.generation == generation)
        wait_in_turn();
    return value[from];
}

void block_barrier(void)
{
    Block &block = blocks[current_block];
    int generation = block.generation;
    if (++block.arrived == THREADS - block.done) {
        block.arrived = 0;
        block.generation++;
    }
    while (block.generation == generation)
        wait_in_turn();
}

static value_t *value, *out;
static loc_t *loc, *attn;
static unsigned tickets[2], first_block;

static void run_thread(void)
{
#if SCHEDULE == SCHEDULE_dynamic
    ENTRY(value, loc, attn, out, tickets);
#else
    ENTRY(value, loc, attn, out);
#endif
    Block &block = blocks[current_block];
    block.fibers[current_thread].done = true;
    block.done++;
    if (block.arrived && block.arrived == THREADS - block.done) {
        block.arrived = 0;
        block.generation++;
    }
    wait_in_turn();
}

/* Ends at a page that can't be read. */
template <typename T> static T *guarded(size_t count, bool at_start)
{
    size_t bytes = (count * sizeof(T) + 4095) / 4096 * 4096;
    char *at = (char *)mmap(NULL, bytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at, 4096, PROT_NONE);
    mprotect(at + 4096 + bytes, 4096, PROT_NONE);
    return (T *)(at + 4096 + (at_start ? 0 : bytes - count * sizeof(T)));
}

static double uniform(void) { return random_below(1 << 24) / (double)(1 << 24); }

int main(int argc, char **argv)
{
    bool at_start = argc > 1 && atoi(argv[1]) % 2;
    unsigned block_count = argc > 2 ? atoi(argv[2]) : 4;
    randomness += argc > 1 ? atoi(argv[1]) * 7919 : 0;
    size_t values = (size_t)N * S * M * D, points = (size_t)N * LQ * M * L * P, outs = (size_t)N * LQ * M * D;
    value = guarded<value_t>(values, at_start);
    loc = guarded<loc_t>(2 * points, at_start);
    attn = guarded<loc_t>(points, at_start);
    out = guarded<value_t>(outs, at_start);
    for (size_t i = 0; i < values; i++) value[i] = (value_t)(uniform() - 0.5);
    for (size_t i = 0; i < points; i++) {
        loc[2 * i] = uniform() * 1.2 - 0.1;
        loc[2 * i + 1] = uniform() * 1.2 - 0.1;
        if (random_below(50) == 0) loc[2 * i + random_below(2)] = random_below(2) ? 1.0 : 0.0;
        if (random_below(100) == 0) loc[2 * i + random_below(2)] = random_below(3) == 0 ? NAN : random_below(2) ? INFINITY : -1e30;
        int level = i / P % L;
        if (random_below(20) == 0) loc[2 * i] = (random_below(level_width(level)) + 0.5f) / level_width(level); /* on a pixel */
        attn[i] = uniform() / (L * P) * 2;
    }
    memset(out, 0xff, outs * sizeof *out);
    const unsigned total = SCHEDULE == SCHEDULE_grid ? TILES : block_count; /* block_count of them at a time */
    for (unsigned run = 0; run < (SCHEDULE == SCHEDULE_dynamic ? 2 : 1); run++) /* the second run finds the tickets as the first one left them */
    for (first_block = 0; first_block < total; first_block += block_count) {
        gridDim = {total, 1, 1};
        if (block_count > total - first_block) block_count = total - first_block;
        blocks.clear();
        blocks.resize(block_count);
        for (unsigned b = 0; b < block_count; b++) {
            blocks[b].fibers.resize(THREADS);
            blocks[b].warps.resize(THREADS / 32);
            blocks[b].memory.assign(SHARED_BYTES, (char)0xa5);
            for (Fiber &fiber : blocks[b].fibers) {
                fiber.stack.resize(48 << 10);
                getcontext(&fiber.context);
                fiber.context.uc_stack.ss_sp = fiber.stack.data();
                fiber.context.uc_stack.ss_size = fiber.stack.size();
                makecontext(&fiber.context, run_thread, 0);
            }
        }
        unsigned live = block_count;
        long long idle = 0;
        while (live > 0) {
            current_block = random_below(block_count);
            Block &block = blocks[current_block];
            if (block.done == THREADS) continue;
            memcpy(shared, block.memory.data(), SHARED_BYTES);
            blockIdx = {first_block + current_block, 0, 0};
            int favourite = random_below(THREADS / 32); /* a warp that runs ahead for a while */
            for (int i = 0; i < 40000 && block.done < THREADS; i++) {
                int t = random_below(4) ? favourite * 32 + (int)random_below(32) : (int)random_below(THREADS);
                if (block.fibers[t].done) continue;
                current_thread = t;
                threadIdx = {(unsigned)t, 0, 0};
                swapcontext(&scheduler, &block.fibers[t].context);
            }
            memcpy(block.memory.data(), shared, SHARED_BYTES);
            if (block.done == THREADS) live--;
            if (++idle > 2000) { printf("hangs\n"); return 1; }
        }
        if (tickets[0] || tickets[1]) { printf("tickets %u %u\n", tickets[0], tickets[1]); return 1; }
    }
    double error = 0, norm = 0, worst = 0;
    for (size_t item = 0; item < (size_t)N * LQ * M; item++) {
        double sum[D] = {0};
        size_t n = item / ((size_t)LQ * M), m = item % M;
        for (int l = 0; l < L; l++)
            for (int p = 0; p < P; p++) {
                size_t i = (item * L + l) * P + p;
                double x = (double)loc[2 * i] * level_width(l) - 0.5, y = (double)loc[2 * i + 1] * level_height(l) - 0.5;
                if (!(x > -1 && x < level_width(l) && y > -1 && y < level_height(l))) continue;
                int x0 = floor(x), y0 = floor(y);
                for (int c = 0; c < 4; c++) {
                    int column = x0 + c % 2, row = y0 + c / 2;
                    if (column < 0 || row < 0 || column >= level_width(l) || row >= level_height(l)) continue;
                    double w = attn[i] * (c % 2 ? x - x0 : 1 - x + x0) * (c / 2 ? y - y0 : 1 - y + y0);
                    for (int d = 0; d < D; d++)
                        sum[d] += w * (double)value[((n * S + level_start(l) + row * level_width(l) + column) * M + m) * D + d];
                }
            }
        for (int d = 0; d < D; d++) {
            double difference = (double)out[item * D + d] - sum[d];
            error += difference * difference;
            norm += sum[d] * sum[d];
            if (!(fabs(difference) <= worst)) worst = fabs(difference);
        }
    }
    printf("error %.2e, worst %.2e of %.2e\n", sqrt(error / norm), worst, sqrt(norm / outs));
    return !(sqrt(error / norm) < 1e-3);
}
