# shellcheck shell=bash disable=SC2154
note "a first search space of a kernel; tests/integration/new_spaces.sh compiles what it makes"
cp "$data"/new/* .
mt new stencil.cu
cat stencil.ini
mt new points.cu -o -
mt new job.cu -o -
mt new add.cu --quiet
grep '^entry' add.ini
mt check --space saxpy.ini
note "macros that the source leaves open: with a default, behind a guard of Kernel Tuner's, compared, of a type, or without any value"
for source in temporal guarded tiles; do
  mt new $source.cu --quiet
  sed -n '/^options/p; /^\[params/,$p' $source.ini
done
note "namespaces, grid-wide barriers, planes, templates: what entry and launch must be"
for source in namespaces grid volume template; do
  mt new $source.cu --quiet
  sed -n '/^\[shape/,$p' $source.ini
done
note "blocks that count rows, rows that the grid alone knows, launch bounds, a program around the kernel, indices, arguments of logarithms"
for source in rows norm attend bounds program sparse embed options product; do
  mt new $source.cu --quiet
  sed -n '/^compiler/p; /^\[shape/,$p' $source.ini
done
mt new widen.cu -o - | grep -B1 '^options'
note "from another folder the source keeps its place"
mkdir spaces
mt new saxpy.cu -o spaces/saxpy.ini
grep '^source' spaces/saxpy.ini | steady
note "what was there stays"
mt new stencil.cu
mt new stencil.cu -o add.ini
note "what can't be done is said"
mt new
mt new nowhere.cu
printf 'int main() { return 0; }\n' >host.cu
mt new host.cu
printf '__global__ void one(float *a) { *a = 1; }\n__global__ void two(float *a);\n// __global__ void three(float *a) {}\n__global__ void four(float *a) { a[0] = 1; }\n' >several.cu
mt new several.cu
mt new several.cu --kernel two
mt new several.cu --kernel four -o -
printf 'template <typename... T> __global__ void fill(T *... a) { }\n' >pack.cu
mt new pack.cu
printf 'struct Box { int w, h; };\nextern "C" __global__ void box(float *a, Box b) { *a = b.w; }\nextern "C" __global__ void pages(float **a) { **a = 1; }\nextern "C" __global__ void look(const float *a, int n) { }\n' >types.cu
mt new types.cu --kernel box -o -
mt new types.cu --kernel pages
mt new types.cu --kernel look
cat >odd.cu <<'END'
struct Odd { int n; Odd() { } };
struct Sum { float *out; float all() const { return 0; } };
struct Bits { int low : 4; };
struct Outer { struct { int n; } inner; };
struct Inner { int n; };
struct Nested { Inner inner; };
struct Deep { const Odd *odd; };
template <class T> struct Pair { T a, b; };
__global__ void odd(float *a, Odd o) { *a = 1; }
__global__ void sum(Sum s) { *s.out = 1; }
__global__ void bits(float *a, Bits b) { *a = 1; }
__global__ void outer(float *a, Outer o) { *a = 1; }
__global__ void nested(float *a, Nested n) { *a = 1; }
__global__ void deep(float *a, Deep d) { *a = 1; }
__global__ void pairs(float *a, Pair<int> p) { *a = 1; }
__global__ void structs(float *a, Odd *o) { *a = 1; }
__global__ void unknown(float *a, Other o) { *a = 1; }
__global__ void bytes(void *a, int n) { f(a); }
__global__ void image(float *a, cudaTextureObject_t t) { *a = 1; }
END
for kernel in odd sum bits outer nested deep pairs structs unknown bytes image; do mt new odd.cu --kernel $kernel; done
note "what is for the host: functions, variables and headers; not what macros and attributes say is for the GPU, and no constants"
while read -r line; do
  printf '%b\n__global__ void k(float *a, int n) { a[n] = 1; }\n' "$line" >host.cu
  rm -f host.ini
  "$tool" new host.cu --quiet
  printf '%s: %s\n' "$(grep -c '^compiler' host.ini)" "$line"
done <<'END'
int main() { return 0; }
int half(int n);
template <class T> static T half(T n) { return n / 2; }
struct S { int n; int half() const { return n / 2; } };
namespace a { extern "C" { int half(int n) { return n / 2; } } }
float table[3] = {1, 2, 3};
const char *name = "k";
#include <vector>
#include <stdio.h>
#define HD __host__ __device__\nHD int half(int n) { return n / 2; }
struct __align__(8) S { int n; float x[2]; __device__ int half() const { return n / 2; } };
__device__ float table[3] = {1, 2, 3};
const int SIDE = int(3.5), OTHER = 2; constexpr float half(0.5f);
struct S; typedef struct { int n; } T; using F = float (*)(int); enum E { A = 1 };
static_assert(sizeof(int) == 4, "int"); __constant__ int c;
#ifndef __CUDACC_RTC__\nint main() { return 0; }\n#endif
END
note "overloads by their parameters, however they are spaced"
printf '__global__ void fill(double *a, int n) { a[n] = 1; }\n__global__ void fill(float *a, int n) { a[n] = 1; }\n' >fills.cu
mt new fills.cu --kernel 'fill(double*,int)' --quiet
sed -n '/^entry/p' fills.ini
