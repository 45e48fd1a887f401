// A block of threads on one processor: each thread is a fiber, which runs until it waits for others or ends. One block runs after the other, always in the same order, so that the same source does the same every time.
// It is compiled with every source, so its headers are the small ones: most of the library's containers take longer to read than all of this.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define MT_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MT_CPU_ASAN 1
#endif
#endif
#if MT_CPU_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void __asan_poison_memory_region(const volatile void *address, size_t size);
void __asan_unpoison_memory_region(const volatile void *address, size_t size);
void *__asan_get_report_address(void);
int __asan_get_report_access_type(void);
const char *__asan_get_report_description(void);
}
#endif

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace mt_cpu {

enum { STACK_BYTES = 256 << 10, SHARED_BYTES = 256 << 10, MOST_THREADS = 1024, WARP = 32, VALUE_BYTES = 32 };
#if MT_CPU_ASAN
enum { GAP_BYTES = 8 << 20 }; // on both sides of a buffer, which nobody may touch: what lies that far off is still known to be the buffer's
#else
enum { GAP_BYTES = 0 };
#endif
enum waiting { READY, AT_BLOCK, AT_WARP, ENDED };

struct place {
    const char *file;
    int line;
};
struct fiber {
    ucontext_t context; // of its beginning
    void *jump[5];      // to where it left
    bool has_begun;
    char *stack;
    uint3 index;
    waiting state;
    place where;
    const char *what; // "__syncthreads()"
    unsigned mask;
    int vote;
};
struct buffer {
    buffer *next;
    const char *name;
    char *data;
    size_t bytes, element_bytes;
    bool is_shared; // declared as __shared__
};
struct argument {
    void *data;
    size_t bytes;   // of a struct; else 0
    size_t element; // least bytes of what the parameter points to; 0: anything
    argument(void *data, size_t bytes = 0, size_t element = 0) : data(data), bytes(bytes), element(element) {}
};

inline fiber fibers[MOST_THREADS]; // which stay where they are: a context points into itself
inline size_t made, live, current;
inline void *scheduler_jump[5];
inline const void *scheduler_bottom;
inline size_t scheduler_size;
inline void (*body)();     // calls the kernel, as one thread
inline void (*function)(); // which is this, of another type,
inline const argument *arguments; // with these
inline unsigned char values[MOST_THREADS / WARP][WARP][VALUE_BYTES]; // that lanes show each other
inline int votes[3];                                          // of the last block-wide barrier: how many, all, any
inline buffer *buffers; // the last first
inline char *const dynamic_shared = (char *)mmap(nullptr, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
inline size_t dynamic_bytes;
inline const char *kernel = ""; // that runs; "" = none
inline unsigned long long threads_run; // in one run
inline bool is_second;                 // of two runs: threads and blocks take turns in another order

inline char lost_read[400]; // of the first lane that was shown something by none: "" = none did

// The last word: KIND and a text in the file `end`, for the tool; then, in a line of its own, what may be the reason of a wrong result.
[[noreturn]] inline void finish(const char *kind, const char *format, ...)
{
    FILE *out = fopen("end", "w");
    if (out) {
        va_list list;
        va_start(list, format);
        fprintf(out, "%s\n", kind);
        vfprintf(out, format, list);
        va_end(list);
        fprintf(out, "\n%s", lost_read);
        fclose(out);
    }
    fflush(stdout);
    _exit(out ? 0 : 9);
}

inline void add_thread(char *text, size_t size, const uint3 &thread)
{
    snprintf(text, size, "thread (%u, %u, %u) of block (%u, %u, %u)", thread.x, thread.y, thread.z, blockIdx.x, blockIdx.y, blockIdx.z);
}

[[noreturn]] inline void refuse(const char *file, int line, const char *what)
{
    finish("refused", "%s:%d: %s, which has no counterpart on the CPU", file, line, what);
}

// ---- switching ----

// By jumps: swapcontext asks the kernel, and under the sanitizer it clears the marks of the whole stack, each time.
#define MT_CPU_SWITCH __attribute__((noinline, no_sanitize_address))

// Functions of their own: where a jump follows the place to come back to in one function, and nothing behind it, gcc comes back in front of the jump.
MT_CPU_SWITCH inline void jump_out()
{
    __builtin_longjmp(scheduler_jump, 1);
}

MT_CPU_SWITCH inline void leave()
{
    fiber &own = fibers[current];
#if MT_CPU_ASAN
    void *volatile save = nullptr;
    __sanitizer_start_switch_fiber((void **)&save, scheduler_bottom, scheduler_size);
#endif
    if (__builtin_setjmp(own.jump) == 0) jump_out();
    asm volatile("" ::: "memory");
#if MT_CPU_ASAN
    __sanitizer_finish_switch_fiber(save, &scheduler_bottom, &scheduler_size);
#endif
}

// A fiber is one thread of every block.
inline void run_body()
{
#if MT_CPU_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_bottom, &scheduler_size);
#endif
    for (;;) {
        body();
        fibers[current].state = ENDED;
        leave();
    }
}

MT_CPU_SWITCH inline void jump_in(size_t which)
{
    if (fibers[which].has_begun) __builtin_longjmp(fibers[which].jump, 1);
    fibers[which].has_begun = true;
    setcontext(&fibers[which].context);
}

MT_CPU_SWITCH inline void enter(size_t which)
{
    current = which;
    threadIdx = fibers[which].index;
#if MT_CPU_ASAN
    void *volatile save = nullptr;
    __sanitizer_start_switch_fiber((void **)&save, fibers[which].stack, STACK_BYTES);
#endif
    if (__builtin_setjmp(scheduler_jump) == 0) jump_in(which);
#if MT_CPU_ASAN
    __sanitizer_finish_switch_fiber(save, nullptr, nullptr);
#endif
}

// ---- waiting ----

inline void wait_for(waiting state, unsigned mask, const char *what, place where)
{
    fiber &own = fibers[current];
    if (state == AT_WARP && !(mask >> current % WARP & 1))
        finish("failed", "%s:%d: lane %zu calls %s with the mask 0x%08x, which does not name it: a GPU does anything", where.file, where.line, current % WARP, what, mask);
    own.state = state;
    own.mask = mask;
    own.what = what;
    own.where = where;
    leave();
}

inline void describe(const fiber &one, char *text, size_t size)
{
    if (one.state == ENDED) snprintf(text, size, "thread (%u, %u, %u) has ended", one.index.x, one.index.y, one.index.z);
    else snprintf(text, size, "thread (%u, %u, %u) waits at %s in %s:%d", one.index.x, one.index.y, one.index.z, one.what, one.where.file, one.where.line);
}

[[noreturn]] inline void tell_divergence(const fiber &one, const fiber &other)
{
    char first[300], second[300];
    describe(one, first, sizeof first);
    describe(other, second, sizeof second);
    finish("deadlock", "%s:%d: %s is not reached by all threads that it waits for: in block (%u, %u, %u) %s, %s", one.where.file, one.where.line, one.what, blockIdx.x, blockIdx.y, blockIdx.z, first, second);
}

inline bool same_place(const fiber &a, const fiber &b)
{
    return a.where.line == b.where.line && strcmp(a.where.file, b.where.file) == 0;
}

// The lanes that the mask names, those that have ended excepted, wait with the same mask.
inline bool release_lanes(size_t which)
{
    fiber &one = fibers[which];
    size_t first = which / WARP * WARP;
    for (size_t lane = 0; lane < WARP && first + lane < live; lane++) {
        const fiber &other = fibers[first + lane];
        if (!(one.mask >> lane & 1) || other.state == ENDED) continue;
        if (other.state != AT_WARP || other.mask != one.mask) return false;
    }
    unsigned mask = one.mask;
    for (size_t lane = 0; lane < WARP && first + lane < live; lane++)
        if (mask >> lane & 1 && fibers[first + lane].state == AT_WARP) fibers[first + lane].state = READY;
    return true;
}

// All threads of the block that have not ended: a GPU counts one that has as arrived.
inline bool release_block()
{
    const fiber *first = nullptr;
    for (size_t i = 0; i < live; i++) {
        if (fibers[i].state != AT_BLOCK && fibers[i].state != ENDED) return false;
        if (fibers[i].state == AT_BLOCK && !first) first = &fibers[i];
    }
    votes[0] = 0, votes[1] = 1, votes[2] = 0;
    for (size_t i = 0; i < live; i++) {
        if (fibers[i].state == ENDED) continue;
        if (!same_place(*first, fibers[i])) tell_divergence(*first, fibers[i]);
        votes[0] += fibers[i].vote != 0;
        votes[1] &= fibers[i].vote != 0;
        votes[2] |= fibers[i].vote != 0;
        fibers[i].state = READY;
    }
    return first != nullptr;
}

// False: all have ended.
inline bool release()
{
    bool any = release_block();
    for (size_t i = 0; i < live && !any; i++) any = fibers[i].state == READY;
    for (size_t i = 0; i < live; i++)
        if (fibers[i].state == AT_WARP) any |= release_lanes(i);
    if (any) return true;
    const fiber *one = nullptr, *other = nullptr;
    for (size_t i = 0; i < live; i++)
        if (fibers[i].state != ENDED && !one) one = &fibers[i];
    if (!one) return false;
    for (size_t i = 0; i < live && !other; i++)
        if (&fibers[i] != one && (fibers[i].state != one->state || !same_place(fibers[i], *one))) other = &fibers[i];
    tell_divergence(*one, other ? *other : *one);
}

// ---- blocks and grids ----

inline void make_fibers(size_t count)
{
    live = count;
    for (; made < count; made++) {
        char *memory = (char *)mmap(nullptr, STACK_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) finish("failed", "no memory for %zu threads", count);
        mprotect(memory, 4096, PROT_NONE); // a stack that is too small is told as such
        fiber &one = fibers[made];
        one.stack = memory + 4096;
        getcontext(&one.context);
        one.context.uc_stack.ss_sp = one.stack;
        one.context.uc_stack.ss_size = STACK_BYTES;
        one.context.uc_link = nullptr;
        makecontext(&one.context, (void (*)())run_body, 0);
    }
}

// Shared memory begins with what others left there: bits that are no number, and no index.
inline void spoil_shared()
{
    memset(dynamic_shared, 0xff, dynamic_bytes);
    for (const buffer *one = buffers; one; one = one->next)
        if (one->is_shared) memset(one->data, 0xff, one->bytes);
}

inline void run_block()
{
    spoil_shared();
    for (size_t i = 0; i < live; i++) {
        fiber &one = fibers[i];
        one.index = {unsigned(i % blockDim.x), unsigned(i / blockDim.x % blockDim.y), unsigned(i / blockDim.x / blockDim.y)};
        one.state = READY;
    }
    // The last thread comes first in every other block, and between every other pair of barriers: a read that no barrier parts from another thread's write is wrong in one of the orders.
    bool is_backward = (blockIdx.x & 1) ^ is_second;
    do {
        for (size_t k = 0; k < live; k++) {
            size_t i = is_backward ? live - 1 - k : k;
            if (fibers[i].state == READY) enter(i);
        }
        is_backward = !is_backward;
    } while (release());
}

inline void run_grid(const char *name, dim3 grid, dim3 block, size_t shared)
{
    kernel = name;
    gridDim = grid;
    blockDim = block;
    dynamic_bytes = shared;
    make_fibers(size_t(block.x) * block.y * block.z);
#if MT_CPU_ASAN
    __asan_unpoison_memory_region(dynamic_shared, shared);
    __asan_poison_memory_region(dynamic_shared + shared, SHARED_BYTES - shared);
#endif
    // Those with odd numbers come last, or in a second run first: a block that reads what the one before or behind it writes is wrong where its own number is even.
    const size_t blocks = size_t(grid.x) * grid.y * grid.z;
    for (size_t k = 0; k < blocks; k++) {
        const size_t turn = is_second ? blocks - 1 - k : k, evens = (blocks + 1) / 2, at = turn < evens ? 2 * turn : 2 * (turn - evens) + 1;
        blockIdx = {unsigned(at % grid.x), unsigned(at / grid.x % grid.y), unsigned(at / grid.x / grid.y)};
        run_block();
        threads_run += live;
    }
    kernel = "";
}

inline void begin_run(int run)
{
    is_second = run > 0;
    threads_run = 0;
}

// A kernel with its arguments by their addresses, as the driver takes them.
template <typename... A, size_t... I> void call(void (*typed)(A...), std::index_sequence<I...>)
{
    typed(*(std::remove_cv_t<std::remove_reference_t<A>> *)arguments[I].data...);
}

// Bytes of a number that the parameter points to; 0: it points to something else, or is no pointer.
template <typename A> constexpr size_t pointed()
{
    using T = std::remove_cv_t<std::remove_pointer_t<A>>;
    if constexpr (std::is_pointer<A>::value && std::is_arithmetic<T>::value) return sizeof(T);
    else return 0;
}

template <typename... A> void launch(const char *name, void (*typed)(A...), dim3 grid, dim3 block, size_t shared, unsigned repeat, std::initializer_list<argument> list)
{
    const size_t sizes[] = {sizeof(std::remove_reference_t<A>)..., 0}, elements[] = {pointed<std::remove_cv_t<std::remove_reference_t<A>>>()..., 0};
    if (list.size() != sizeof...(A)) finish("failed", "%s takes %zu arguments, and its launch lists %zu", name, sizeof...(A), list.size());
    arguments = list.begin();
    for (size_t i = 0; i < list.size(); i++) {
        if (arguments[i].bytes && arguments[i].bytes != sizes[i]) finish("failed", "%s: parameter %zu has %zu bytes, and its struct %zu", name, i + 1, sizes[i], arguments[i].bytes);
        if (elements[i] && elements[i] < arguments[i].element)
            finish("failed", "%s writes numbers of %zu bytes through parameter %zu, whose type was read as double *: expected double *, or the type's own name in the declaration, as in float *", name, elements[i], i + 1);
    }
    function = (void (*)())typed;
    body = [] { call((void (*)(A...))function, std::index_sequence_for<A...>()); };
    for (unsigned i = 0; i < repeat; i++) run_grid(name, grid, block, shared);
}

// ---- arguments ----

// Of zeros.
inline char *add_buffer(const char *name, size_t bytes, size_t element_bytes, bool is_shared = false)
{
    void *memory = mmap(nullptr, bytes + 1 + 2 * GAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) finish("failed", "no memory for %s, %zu bytes", name, bytes);
    char *data = (char *)memory + GAP_BYTES;
#if MT_CPU_ASAN
    __asan_poison_memory_region(memory, GAP_BYTES);
    __asan_poison_memory_region(data + bytes, GAP_BYTES);
#endif
    buffers = new buffer{buffers, name, data, bytes, element_bytes, is_shared};
    return data;
}

// What a kernel declares as __shared__: of one type for each place, and instance of a template.
template <typename DECLARED> DECLARED *shared(const char *name, size_t element_bytes)
{
    static DECLARED *const memory = [&] {
        char *data = add_buffer(name, sizeof(DECLARED), element_bytes, true);
        memset(data, 0xff, sizeof(DECLARED));
        return (DECLARED *)data;
    }();
    return memory;
}

inline void load(char *data, size_t bytes, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in || fread(data, 1, bytes, in) != bytes) finish("failed", "cannot read %s", path);
    fclose(in);
}

inline void store(const void *data, size_t bytes, const char *path)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0) finish("failed", "cannot write %s", path);
}

// Whether the kernels left their input as it was.
inline void expect_unchanged(const char *name, const char *data, size_t bytes, const char *path)
{
    char *before = new char[bytes];
    load(before, bytes, path);
    if (memcmp(before, data, bytes) != 0) finish("wrote_input", "%s is an input, and was written", name);
    delete[] before;
}

// Whether the reference wrote every element, which began with these bits.
inline void expect_written(const char *name, const char *data, size_t count, size_t element_bytes, unsigned long long bits)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) left += memcmp(data + i * element_bytes, &bits, element_bytes) == 0;
    if (left) finish("failed", "it writes %zu of the %zu elements of %s: expected all, or `zero = before_each` where it adds to them", count - left, count, name);
}

inline void repeat_bits(char *data, size_t count, size_t element_bytes, unsigned long long bits)
{
    for (size_t i = 0; i < count; i++) memcpy(data + i * element_bytes, &bits, element_bytes);
}

// Called by the sanitizer in front of its report: says whose memory it is.
inline void on_error()
{
#if MT_CPU_ASAN
    const char *address = (const char *)__asan_get_report_address(), *verb = !address ? "touches" : __asan_get_report_access_type() ? "writes" : "reads"; // of a signal no more is known
    char who[120] = "", where[200] = "memory that is no argument's";
    if (!address) strcpy(where, "memory that is no argument's, or at an address that is no multiple of its vector's bytes");
    bool is_access = strcmp(__asan_get_report_description(), "signal") != 0 && strcmp(__asan_get_report_description(), "stack-overflow") != 0;
    if (*kernel) add_thread(who, sizeof who, threadIdx);
    size_t nearest = GAP_BYTES;
    for (const buffer *at = buffers; at; at = at->next) {
        const buffer &one = *at;
        size_t distance = address < one.data ? one.data - address : address >= one.data + one.bytes ? address - (one.data + one.bytes) : 0;
        if (distance > nearest) continue;
        nearest = distance;
        long long bytes = address - one.data, size = (long long)one.element_bytes, index = bytes >= 0 ? bytes / size : -((size - 1 - bytes) / size);
        snprintf(where, sizeof where, "%s[%lld], which has %zu elements", one.name, index, one.bytes / one.element_bytes);
    }
    if (address >= dynamic_shared && address < dynamic_shared + SHARED_BYTES)
        snprintf(where, sizeof where, "dynamic shared memory at byte %td, of which the launch gives %zu", address - dynamic_shared, dynamic_bytes);
    FILE *out = fopen("end", "w");
    if (out && is_access) fprintf(out, "out_of_bounds\n%s: %s %s %s\n%s", *kernel ? kernel : "the tool", who, verb, where, lost_read);
    else if (out) fprintf(out, "failed\n%s: %s\n%s", *kernel ? kernel : "the tool", who, lost_read); // the tool reads the sanitizer's report
    if (out) fclose(out);
    fflush(stdout);
#endif
}

} // namespace mt_cpu
