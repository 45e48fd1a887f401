#!/bin/bash
# check --run: kernels that are right, wrong, out of bounds, divergent, endless, or have no counterpart on the CPU, and the examples. Usage: check_run.sh TOOL SOURCE_FOLDER
# Skipped (77) where the host has no C++ compiler. Without AddressSanitizer what it finds is not asked for.
tool=$(realpath "$1")
source_folder=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
compiler=$(command -v c++ || command -v g++ || command -v clang++) || { echo 'skipped: no C++ compiler'; exit 77; }
mkdir temporary
export TMPDIR=$scratch/temporary
echo 'int main() {}' >probe.cpp
"$compiler" -fsanitize=address probe.cpp -o probe 2>/dev/null && has_sanitizer=yes
failed=0
fail() { echo "FAILED: $*"; cat out.txt; failed=1; }

cat >k.cu <<'END'
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
namespace ns {
__constant__ float taps[4];
__device__ int runs;
template <int F> __global__ void __launch_bounds__(BLOCK) scale(float *out, const float *in, const half *h, int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    float *tile = reinterpret_cast<float *>(raw);
    __shared__ int sum, other;
    __shared__ alignas(16) float fixed[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) sum = other = 0;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    fixed[threadIdx.x] = taps[threadIdx.x % 4];
    __syncthreads();
    atomicAdd(&sum, 1);
    float4 v = make_float4(0, 1, 2, 3);
    __nv_bfloat16 half_of_one = __float2bfloat16(0.5f);
    unsigned lanes = __ballot_sync(~0u, threadIdx.x & 1);
    float next = __shfl_down_sync(~0u, tile[threadIdx.x], 1);
    int lane = threadIdx.x % 32, ones = 1;
    for (int step = 16; step; step /= 2) ones += __shfl_xor_sync(~0u, ones, step);
    __syncthreads();
    bool is_right = sum == blockDim.x && lanes == 0xaaaaaaaau && ones == 32 && (lane == 31 || next == tile[threadIdx.x + 1]) && v.w == 3 && float(half_of_one) == 0.5f && std::max(other, 0) == 0 && fixed[0] == taps[0] && __popc(lanes) == 16;
    if (i < n) out[i] = is_right ? tile[threadIdx.x] * F + __half2float(h[i]) : -1000;
    MODE
}
}
__global__ void ref(double *out, const float *in, const half *h, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 4.0 * in[i] + (double)__half2float(h[i]);
}
END
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = ref
[shape large]
N = 500000000
[shape small]
N = 1000
[algorithm scale]
entry = ns::scale<4>
[params]
BLOCK = 128
[args]
in   = in f32 [N] uniform(-1, 1)
h    = in f16 [N] normal(0, 1)
taps = in f32 [4] uniform(0, 1) constant ns::taps
out  = out f32 [N]
[launch 1]
args  = out, in, h, i32(N)
grid  = ceil_div(N, BLOCK)
block = BLOCK
smem  = 4 * BLOCK
[launch reference 1]
args  = out, in, h, i32(N)
grid  = 1
block = 64
END
# The kernel with these lines at its end.
with() { awk -v lines="$1" '/^    MODE$/ { print lines; next } { print }' k.cu >m.cu; sed "s/k\.cu/m.cu/" k.ini >m.ini; }
run() { timeout 300 "$tool" check --run --space "$@" >out.txt 2>&1; }
good() { # WAY LINES
  with "$2"
  run m.ini || fail "$1"
  grep -q '^  right: out: ' out.txt || fail "$1: no result"
}
bad() { # WAY LINES TEXT: what is told
  with "$2"
  run m.ini --run-limit 5 && fail "$1 passes"
  grep -qF -- "$3" out.txt || fail "$1: expected '$3'"
}
good 'a kernel that is right' ''
grep -q '^small (N=1000) on the CPU: ALGO=scale;BLOCK=128$' out.txt || fail 'not the smallest shape'
grep -q 'launch 1: ns::scale<4>, grid 8, block 128, 512 B of shared memory' out.txt || fail 'another launch'
grep -q '1024 threads of the variant, 64 of the reference' out.txt || fail 'other threads'
run m.ini --set N=77 && grep -q '(N=77)' out.txt || fail '--set'
run m.ini --shape large && fail 'a shape that is too large runs'
grep -qE 'too many for the CPU|MiB of arguments' out.txt || fail 'a shape that is too large is not told'
good 'a barrier that all reach in a branch' 'if (blockIdx.x == 0) __syncthreads();'
bad 'a wrong element' 'if (i == 7) out[i] += 1;' 'worst element 7: '
bad 'an element that is not written' 'if (i == 9) out[i] = __int_as_float(0x7fda5a5a);' '1 of 1000 elements not written, first 9'
good 'a barrier behind the end of some threads' "$(printf 'if (threadIdx.x >= 16 && threadIdx.x < 40) return;\n__syncthreads();\nif (__syncthreads_count(1) != BLOCK - 24) out[i] = 7;')"
bad 'a barrier that some never reach' "$(printf 'if (threadIdx.x < 16) __syncthreads();\nelse if (threadIdx.x < 32) __syncwarp();')" 'the outcome of the variant is deadlock: m.cu:28: __syncthreads() is not reached by all threads that it waits for: in block (0, 0, 0) thread (0, 0, 0) waits at __syncthreads() in m.cu:28, thread (16, 0, 0) waits at __syncwarp() in m.cu:29'
bad 'two barriers' "$(printf 'if (threadIdx.x < 32) __syncthreads();\nelse __syncthreads();')" 'waits at __syncthreads() in m.cu:28, thread (32, 0, 0) waits at __syncthreads() in m.cu:29'
bad 'a shuffle of half a warp' "$(printf 'if (threadIdx.x < 16) __shfl_sync(~0u, i, 0);\n__syncthreads();')" '__shfl_sync() in m.cu:28'
good 'a shuffle whose other lanes have ended, with a mask of its own' "$(printf 'if (threadIdx.x %% 32 >= 16) return;\nout[i < n ? i : 0] += 0 * __shfl_xor_sync(0xffffu, 1, 8);')"
good 'a value of a lane that has ended, of which nothing is made' "$(printf 'if (threadIdx.x %% 32 >= 16) return;\nint lost = __shfl_down_sync(~0u, 1, 8);\nif (threadIdx.x %% 32 < 8 && i < n) out[i] *= lost;')"
bad 'a value of a lane that has ended' "$(printf 'if (threadIdx.x %% 32 >= 16) return;\nif (i < n) out[i] += 0 * (threadIdx.x / 999) + __shfl_down_sync(~0u, 0, 8);')" 'm.cu:29: __shfl_down_sync() of thread (111, 0, 0) of block (0, 0, 0) asks lane 23, which has ended, is not in its mask or does not exist'
bad 'a value of a lane that is not in the mask' "$(printf 'if (threadIdx.x %% 32 >= 16) { __syncwarp(0xffff0000u); return; }\nif (i < n) out[i] += __shfl_down_sync(0xffffu, 0, 8);')" '__shfl_down_sync() of thread (111, 0, 0) of block (0, 0, 0) asks lane 23'
good 'a sum of the lanes that are there' "$(printf 'if (threadIdx.x %% 32 %% 2) return;\nif (__reduce_add_sync(~0u, 1) != 16 && i < n) out[i] = 7;')"
# Each is right in one order of the threads, or of the blocks, at least.
for peer in -1 +1 ^1; do
  bad "shared memory of thread $peer, without a barrier" "$(printf '__shared__ int ids[BLOCK];\nids[threadIdx.x] = threadIdx.x;\nunsigned peer = (threadIdx.x %s) %% BLOCK;\nif (ids[peer] != peer && i < n) out[i] = 7;' "$peer")" 'out: ‖out − ref‖'
done
bad 'a barrier too few in a loop' "$(printf '__shared__ int mark;\nfor (int k = 0; k < 3; k++) {\nif (threadIdx.x == 64) mark = k;\n__syncthreads();\nif (mark != k && i < n) out[i] = 7;\n}')" 'out: ‖out − ref‖'
bad 'shared memory that nobody wrote' "$(printf '__shared__ int none[BLOCK];\nif (none[threadIdx.x] && i < n) out[i] = 7;')" 'out: ‖out − ref‖'
for peer in -BLOCK +BLOCK; do bad "what block $peer writes" "if (i $peer >= 0 && i $peer < n && i < n && __float_as_int(out[i $peer]) == 0x7fda5a5a) out[i] = 7;" 'out: ‖out − ref‖'; done
bad 'an assertion' 'assert(i != 3);' 'the outcome of the variant is failed: m.cu:28: assert(i != 3) of'
grep -q 'does not hold for thread (3, 0, 0) of block (0, 0, 0)' out.txt || fail 'an assertion: by whom'
bad 'a division by zero' 'if (i < n) out[i] += 5 / (int)(threadIdx.x / 200);' 'zero, for which a GPU gives any number'
bad 'an input that is written' 'if (i == 0) ((float *)in)[0] += 1;' 'the outcome of the variant is wrote_input: in is an input'
bad 'an endless loop' 'while (*(volatile int *)&sum) {}' 'the outcome of the variant is timeout: no end within 5 s'
bad 'PTX that is reached' 'asm volatile("cp.async.commit_group;" ::);' "the variant can't run on the CPU: m.cu:28: inline PTX (cp.async.commit_group)"
good 'PTX that is not reached' 'if (n < 0) asm volatile("cp.async.commit_group;" ::);'
bad 'an intrinsic that is not there' 'out[0] = __vimax3_s32(1, 2, 3);' "m.cu:28"
good "an assembler line without an instruction, shared memory that is static twice, bytes in words, what GPU's compilers say of themselves" "$(printf '%s\n' 'asm volatile("" ::: "memory"); asm volatile("// nothing");' \
  'static __shared__ int twice[BLOCK];' 'twice[threadIdx.x] = 1;' '__syncthreads();' 'if (twice[threadIdx.x ^ 1] != 1) out[0] = 7;' \
  'if (__dp4a(0x01ff0203, 0x02020202, 5) != 15 || __vadd4(0x01ff0203u, 0x01010101u) != 0x02000304u) out[0] = 7;' \
  '#if !defined(__CUDACC__) || !defined(__CUDACC_RTC__) || defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 12' 'out[0] = 7;' '#endif')"
bad 'a lane that its mask does not name' 'if (threadIdx.x % 32 >= 16) __syncwarp(0xffffu);' 'm.cu:28: lane 16 calls __syncwarp() with the mask 0x0000ffff, which does not name it'
bad 'what the run before left' "$(printf '__shared__ int before;\nif (i == 3) out[i] += atomicAdd(&ns::runs, 1);')" 'in a second run from equal inputs'
[ -z "$has_sanitizer" ] || bad 'a conversion that a GPU saturates' 'if (i < n) out[i] += (int)(3e9f + i) == 2147483647 ? 0 : 1;' "is outside the range of representable values of type 'int' (m.cu:28): this processor gives something else than a GPU"
bad 'a trap' 'if (i == 3) __trap();' 'm.cu:28: __trap()'
if [ -n "$has_sanitizer" ]; then
  bad 'a write behind the end' 'if (i == n - 1) out[i + 1] = 3;' 'the outcome of the variant is out_of_bounds: ns::scale<4>: thread (103, 0, 0) of block (7, 0, 0) writes out[1000], which has 1000 elements (m.cu:28)'
  bad 'a read in front' 'if (i == 5) out[i] = in[-1];' 'thread (5, 0, 0) of block (0, 0, 0) reads in[-1], which has 1000 elements'
  bad 'a shared array' 'fixed[threadIdx.x + 1] = 0;' 'writes fixed[128], which has 128 elements'
  bad 'dynamic shared memory' 'tile[threadIdx.x + 1] = 0;' 'writes dynamic shared memory at byte 512, of which the launch gives 512'
  # Far off too, where another array may lie; each is named that the source means.
  for far in 2100 50000 -1100; do
    bad "an element $far" "if (i == 5) out[$far] = 3;" "thread (5, 0, 0) of block (0, 0, 0) writes out[$far], which has 1000 elements (m.cu:28)"
  done
  bad 'a far element of an input' 'if (i == 5) out[i] = in[3000];' 'reads in[3000], which has 1000 elements'
  bad 'where it divides by zero' 'if (i < n) out[i] += 5 / (int)(threadIdx.x / 200);' 'failed: ns::scale<4>: thread (0, 0, 0) of block (0, 0, 0) divides an integer by zero, for which a GPU gives any number (m.cu:28)'
  bad 'a stack' 'volatile float deep[200000]; deep[i] = 1; out[0] = deep[3];' 'its stack is too small here'
  bad 'a null pointer' 'if (i == 1) *(volatile int *)nullptr = 1;' "touches memory that is no argument's"
  bad 'a vector that is not aligned' 'if (i == 0) *(float4 *)out = *(const float4 *)(in + 1);' 'or at an address that is no multiple of its vector'
fi
# A compiler without the sanitizer.
printf '#!/bin/bash\n[[ " $* " = *" -fsanitize="* ]] && exit 1\nexec %s "$@"\n' "$compiler" >plain
chmod +x plain
CXX=$scratch/plain good 'without the sanitizer' ''
CXX=$scratch/plain bad 'a division by zero, without the sanitizer' 'if (i < n) out[i] += 5 / (int)(threadIdx.x / 200);' 'SIGFPE: an integer is divided by zero'
# The reference is held to the same rules.
sed 's/\bi < n; i += blockDim.x) out\[i\]/i <= n; i += blockDim.x) out[i]/' k.cu >r.cu
sed "s/k\.cu/r.cu/" k.ini >r.ini
sed -i '/^    MODE$/d' r.cu
[ -z "$has_sanitizer" ] || { run r.ini && fail 'a reference out of bounds passes'; grep -q 'the outcome of the reference is out_of_bounds: ref: ' out.txt || fail 'a reference out of bounds is not told'; }
sed 's/^reference = ref/reference = default/; /launch reference/,$d' k.ini >d.ini
sed '/^    MODE$/d' k.cu >kk.cu
sed -i 's/k\.cu/kk.cu/' d.ini
run d.ini || fail 'reference = default'
grep -q 'ran: out: all elements written, by two runs alike' out.txt && grep -q 'nobody knows' out.txt || fail 'reference = default: not told'
# Without another's word: what is left out, differs from run to run, or proves nothing.
alone() { # WAY LINES TEXT
  with "$2"
  sed 's/kk\.cu/m.cu/' d.ini >m.ini
  run m.ini
  grep -qF -- "$3" out.txt || fail "$1: expected '$3'"
}
alone 'an element that is not written, without a reference' 'if (i == 9) out[i] = __int_as_float(0x7fda5a5a);' '1 of 1000 elements not written, first 9'
alone 'shared memory without a barrier, without a reference' "$(printf '__shared__ int ids[BLOCK];\nids[threadIdx.x] = threadIdx.x;\nif (ids[threadIdx.x ^ 1] != (threadIdx.x ^ 1) && i < n) out[i] = 7;')" 'out: two runs differ'
alone 'nothing but zeros, without a reference' 'if (i < n) out[i] = 0;' 'the first run is 0 or no number in every element, which proves nothing'
sed 's/^block = BLOCK/block = BLOCK\ncluster = 2/' d.ini >cluster.ini
run cluster.ini && fail 'a cluster runs'
grep -qF '[launch 1]: a cluster of blocks' out.txt || fail 'a cluster is not told'
for words in '--sample' '--list' '--shape a --shape b'; do
  # shellcheck disable=SC2086
  run d.ini $words && fail "--run $words"
done
"$tool" check --space d.ini --set N=3 >out.txt 2>&1 && fail '--set without --run'
CXX='g++ -O0' "$tool" check --run --space d.ini >out.txt 2>&1 && fail 'CXX with options'
grep -q 'CXX=g++ -O0: there is no such program' out.txt || fail 'CXX with options'
PATH=/nowhere "$tool" check --run --space d.ini >out.txt 2>&1 && fail 'no compiler'
grep -q 'needs a C++ compiler of the host: expected c++, g++ or clang++ in PATH' out.txt || fail 'no compiler is not told'
CXX=/bin/true "$tool" check --run --space d.ini >out.txt 2>&1 && fail 'CXX that compiles nothing'
grep -q '/bin/true ended well, and made nothing: it is no compiler' out.txt || fail 'CXX that compiles nothing is not told'
# Asked to end it leaves nothing, whether the compiler or the variant runs.
for signal in INT TERM; do
  with 'while (*(volatile int *)&sum) {}'
  setsid "$tool" check --run --space m.ini >out.txt 2>&1 & # a shell's background would not hear INT
  for _ in $(seq 600); do compgen -G 'temporary/*/variant' >/dev/null && break; sleep 0.1; done
  kill -$signal $!
  wait $!
  [ $? -gt 128 ] || fail "$signal: it does not end"
  [ -z "$(ls -A temporary)" ] || fail "$signal: temporary files are left"
done
# A source with a host: its bodies that call CUDA's runtime, and its main, are left out.
sed '/^    MODE$/d' k.cu >h.cu
cat >>h.cu <<'END'
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <cooperative_groups.h>
#include <cuda_fp8.h>
static float *copy_of(const float *from, int n, cudaStream_t stream)
{
    float *to = 0;
    cudaMalloc(&to, n * sizeof *to);
    cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyHostToDevice, stream);
    return to;
}
int main(int argc, char **argv)
{
    ref<<<1, 64>>>(0, 0, 0, argc);
    return copy_of(0, 3, 0) == 0;
}
namespace cg = cooperative_groups;
__global__ void sums(float *out, const float *in, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank();
    float sum = cg::reduce(tile, i < n ? in[i] : -CUDART_INF_F, cg::greater<float>());
    block.sync();
    if (i < n) out[i] = float(__nv_fp8_e4m3(tile.shfl(sum, 0))) * (float(__nv_fp8_e4m3(300.f)) == 288 && float(__nv_fp8_e5m2(1e9f)) == 57344 && float(__nv_fp8_e4m3(0.0175f)) == 0.017578125f);
}
__global__ void most(double *out, const float *in, int n)
{
    for (int i = 0; i < n; i++) {
        double most = -1e30;
        for (int k = i / 16 * 16; k < i / 16 * 16 + 16 && k < n; k++) most = in[k] > most ? in[k] : most;
        out[i] = (float)__nv_fp8_e4m3((float)most);
    }
}
END
for compiler_of_space in nvrtc nvcc; do
  cat >h.ini <<END
[kernel]
source    = h.cu
reference = most
compiler  = $compiler_of_space
[shape small]
N = 1000
[algorithm sums]
[params]
BLOCK = 128
[args]
in  = in f32 [N] uniform(-1, 1)
out = out f32 [N]
[launch 1]
args  = out, in, i32(N)
grid  = ceil_div(N, BLOCK)
block = BLOCK
[launch reference 1]
args  = out, in, i32(N)
grid  = 1
block = 1
END
  run h.ini || fail "host code, $compiler_of_space"
  grep -q '^  right: out: ' out.txt || fail "host code, $compiler_of_space: no result"
done
# What the reference's declaration is taken for, and what it leaves out.
sed 's/__global__ void most(double \*out/typedef float real;\n__global__ void most(real *out/' h.cu >t.cu
sed 's/h\.cu/t.cu/' h.ini >t.ini
run t.ini && fail 'a reference of another type passes'
grep -q 'most writes numbers of 4 bytes through parameter 1, whose type was read as double \*' out.txt || fail 'a reference of another type is not told'
sed 's/for (int i = 0; i < n; i++) {/for (int i = 0; i < n - 5; i++) {/' h.cu >t.cu
run t.ini && fail 'a reference that leaves elements out passes'
grep -q 'the outcome of the reference is failed: it writes 995 of the 1000 elements of out' out.txt || fail 'a reference that leaves elements out is not told'
# Structs by value: pointers, vectors, arrays and structs in them, for the variant and the reference; one of another size is told.
cat >job.cu <<'END'
#include <cuda_fp16.h>
struct Wave { float gain; int n; float4 tint; float offsets[3]; };
struct Job { const float *x; float *y; Wave wave; bool twice; };
extern "C" __global__ void wave(Job job, half scale)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < job.wave.n) job.y[i] = job.x[i] * job.wave.gain * (job.twice ? 2 : 1) + job.wave.tint.z + job.wave.offsets[2] * __half2float(scale);
}
extern "C" __global__ void plain(Job job)
{
    for (int i = 0; i < job.wave.n; i++) job.y[i] = job.x[i] * 3 + 0.25f + 1;
}
END
cat >job.ini <<'END'
[kernel]
source    = job.cu
reference = plain
[shape small]
N = 1000
[algorithm wave]
[params]
BLOCK = 64
HALF  = 0.5, 2
[args]
x    = in f32 [N] uniform(-1, 1)
y    = out f32 [N]
tint = struct f32[4](0, 0, 0.25, 0) align 16
wave = struct f32(1.5), i32(N), tint, f32[3](0, 1, 2)
job  = struct x, y, wave, bool(true)
[launch 1]
args  = job, f16(HALF)
grid  = ceil_div(N, BLOCK)
block = BLOCK
[launch reference 1]
args  = job
grid  = 1
block = 1
END
run job.ini || fail 'structs by value'
grep -q '^  right: y: ' out.txt || fail 'structs by value: no result'
sed 's|f32\[3\](0, 1, 2)|f32[4](0), f32(0)|' job.ini >long.ini
run long.ini && fail 'a struct of another size runs'
grep -q 'plain: parameter 1 has 80 bytes, and its struct 96' out.txt || fail 'a struct of another size'
# What the tool comes with.
for space in softmax/softmax transpose/first transpose/more convolution/convolution; do
  set -- "$source_folder/examples/$space.ini"
  [[ $space == transpose/* ]] && set -- "$@" --set ROWS=70 --set COLUMNS=100
  [[ $space == softmax/* ]] && set -- "$@" --set ROWS=20
  [[ $space == transpose/more ]] && continue # sections for first.ini alone
  run "$@" || fail "$space"
  grep -q '^  right: ' out.txt || fail "$space: no result"
done
run "$source_folder/search_spaces/vector_add.ini" --set N=5000 || fail vector_add
run "$source_folder/search_spaces/msda_backward.ini" && fail 'msda_backward runs'
grep -q 'inline PTX (red.global.add' out.txt || fail 'msda_backward: not told why'
run "$source_folder/search_spaces/tma_load.ini" || fail 'tma_load by loads'
run "$source_folder/search_spaces/gemm.ini" && fail 'gemm runs'
grep -q "can't run on the CPU: .*:[0-9]*: " out.txt || fail 'gemm: not told why'
[ -z "$(ls -A temporary)" ] || fail 'temporary files are left'
[ $failed = 0 ] && echo ok
exit $failed
