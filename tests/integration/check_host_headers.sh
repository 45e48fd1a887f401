#!/bin/bash
# Headers of the host's C and C++ libraries in a kernel: each is included alone and something of it is used, by the real NVRTC. Usage: check_host_headers.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
# HEADER|what a kernel does with it: `out` are floats, `n` is an int, `text` a string.
cat >headers <<'END'
stdio.h|printf("%d", n);
cstdio|std::printf("%d", n);
stdint.h|uint32_t a = UINT32_C(3); int64_t b = INT64_MAX; out[0] = a + b + SIZE_MAX + sizeof(uintptr_t);
cstdint|std::uint8_t a = UINT8_MAX; std::int32_t b = INT32_MIN; out[0] = a + b;
math.h|static_assert(sizeof(sqrt(1.0f)) == 4); out[0] = M_PI * INFINITY + NAN + HUGE_VAL + sqrt(out[1]) + isnan(out[2]);
cmath|static_assert(sizeof(std::sqrt(1.0f)) == 4 && sizeof(std::sqrt(1)) == 8 && sizeof(std::pow(2, 3)) == 8); out[0] = std::abs(out[1]) + std::pow(out[2], 2.0f) + std::fmax(out[3], out[4]) + std::isfinite(out[5]) + std::floor(n);
assert.h|assert(n);
cassert|assert(n > 1);
type_traits|static_assert(std::is_same<float, std::remove_reference_t<float &>>::value); out[0] = std::is_floating_point_v<float>;
limits|out[0] = std::numeric_limits<float>::max() + std::numeric_limits<int>::lowest();
limits.h|out[0] = INT_MAX + CHAR_BIT * 1.0f + UINT_MAX;
climits|out[0] = SHRT_MAX + LONG_MIN;
float.h|out[0] = FLT_MAX + FLT_EPSILON + DBL_MIN; static_assert(1 + FLT_EPSILON > 1 && 1 + FLT_EPSILON / 2 == 1 && 1 + DBL_EPSILON > 1 && 1 + DBL_EPSILON / 2 == 1);
cfloat|out[0] = -FLT_MAX + FLT_MANT_DIG;
stddef.h|struct s { int a, b; }; static_assert(offsetof(s, b) == 4); size_t a = sizeof(max_align_t); ptrdiff_t b = 3; out[0] = a + b; void *c = NULL; out[1] = c == nullptr;
cstddef|std::size_t a = sizeof(std::max_align_t); std::ptrdiff_t b = 3; std::byte c{1}; out[0] = a + b + static_cast<int>(c);
utility|std::pair<int, float> p = std::make_pair(n, 1.0f); std::swap(out[0], out[1]); out[2] = p.second + std::move(p.first);
tuple|auto t = std::make_tuple(n, 1.0f); out[0] = std::get<1>(t) + std::tuple_size<decltype(t)>::value;
array|std::array<float, 4> a = {1, 2, 3, 4}; for (float x : a) out[n] += x; out[0] = a.size();
functional|out[0] = std::plus<float>()(out[1], out[2]) + std::less<int>()(n, 3);
string.h|memcpy(out, text, 4); memset(out, 0, 4); memmove(out, out + 1, 8); out[2] = strlen(text) + strcmp(text, "a") + strncmp(text, "b", 1) + memcmp(out, text, 4);
cstring|std::memcpy(out, text, 4); std::memmove(out, out + 1, 8); out[2] = std::strlen(text) + std::strcmp(text, "a");
algorithm|out[0] = std::min(out[1], out[2]) + std::max({1.0f, 2.0f, out[3]}) + std::clamp(n, 0, 3); std::fill(out, out + 2, 1.0f); std::copy(out, out + 2, out + 4);
stdlib.h|void *p = malloc(8); out[0] = p ? abs(n) : 0; free(p);
cstdlib|out[0] = std::abs(n);
stdbool.h|bool a = n; out[0] = a;
initializer_list|std::initializer_list<int> a = {1, 2}; out[0] = a.size();
new|new (out) float(3);
numeric|out[0] = std::accumulate(out, out + 4, 0.0f) + std::gcd(n, 6);
cub/cub.cuh|typedef cub::BlockReduce<float, 256> R; __shared__ R::TempStorage t; float a = R(t).Sum(out[n]); typedef cub::WarpScan<int> S; __shared__ S::TempStorage s; int m; S(s).InclusiveSum(n, m); out[0] = a + m;
optional|std::optional<int> a = n; out[0] = a.value_or(3);
barrier|__shared__ std::barrier<> *b; out[0] = sizeof *b;
latch|out[0] = sizeof(std::latch);
semaphore|out[0] = sizeof(std::counting_semaphore<1>);
mdspan|std::mdspan<float, std::dextents<int, 2>> m(out, 2, 2); out[0] = m.extent(0);
source_location|out[0] = std::source_location::current().line();
iso646.h|out[0] = n and not out[1];
ciso646|out[0] = n or out[1];
bit|out[0] = std::bit_cast<float>(n) + std::popcount(3u);
END
count=$(wc -l <headers)
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1024,), }"; head -c 4096 /dev/zero; } >expected.npy
write() { # KNOB VALUES [KERNEL-LINES]
  cat >k.ini <<END
[kernel]
source    = k.cu
reference = file:expected.npy
options   = -std=c++20
$(printf '%b' "$3")
[shape s]
N = 1024
[algorithm k]
[param $1]
values = $2
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[launch 1]
args  = out
grid  = 4
block = 256
END
}
head='extern "C" __global__ void k(float *out) { const int n = threadIdx.x; const char *text = "text"; (void)n, (void)text;'
expect() { # WAY COUNT
  "$tool" check --space k.ini --list --gpu h100 --no-cache --jobs 2 >out.txt 2>&1
  [ "$(grep -c '^  ok ' out.txt)" = "$2" ] || { echo "FAILED: $1: expected $2 that compile"; cat out.txt; failed=1; }
}

number=0
while IFS='|' read -r header use; do
  printf '#if HEADER == %d\n#include <%s>\n%s out[0] += 1; %s }\n#endif\n' "$number" "$header" "$head" "$use"
  number=$((number + 1))
done <headers >k.cu
write HEADER "$(seq -s ', ' 0 $((count - 1)))"
expect 'each alone' "$count"

# All together, with the toolkit's own headers.
{
  echo '#include <cuda_fp16.h>'
  sed 's/|.*//; s/.*/#include <&>/' headers
  echo '#include <cuda/std/cmath>'
  echo '#include <cuda/std/complex>'
  echo "$head"' out[0] = sqrt(out[1]) + max(out[2], out[3]) + fabs(out[4]) + abs(n) + floor(out[5]); memcpy(out, out + 1, 4); }'
} >k.cu
write BLOCK 256
expect 'all together' 1
{
  printf '#include <c%s>\n' stdio stdint math assert limits float stddef string stdlib
  echo 'using namespace std;'
  tail -1 k.cu
} >c.cu
mv c.cu k.cu
expect 'using namespace std' 1

# One of the user's own by that name, beside the source or in a folder, is taken in the stub's place.
mkdir inc
echo '#define MINE 1' >inc/math.h
printf '#include <math.h>\n#include <cmath>\n%s out[0] = MINE + std::sqrt(out[1]); }\n' "$head" >k.cu
write BLOCK 256 'include = inc'
expect "the user's own" 1
echo '#include_next <math.h>
#define MINE M_PI' >inc/math.h
expect "the user's own in front of the stub" 1
rm inc/math.h
echo '#define MINE 1' >math.h
sed -i 's/<math.h>/"math.h"/' k.cu
expect "the user's own beside the source" 1

# What has no stub is told with what is there in its place.
printf '#include <vector>\n%s }\n' "$head" >k.cu
"$tool" check --space k.ini --gpu h100 --no-cache --jobs 1 >out.txt 2>&1
grep -qF "msda-tune: vector is a header of the host, which code for the GPU can't include: expected <array>, or a pointer that an argument gives" out.txt || { echo 'FAILED: <vector>'; cat out.txt; failed=1; }
exit $failed
