#!/bin/bash
# What `check` says of arguments of another type than the kernel's declaration has. Nothing is compiled: it is said before. Usage: check_types.sh TOOL
# Skipped (77) where the tool was built without CUDA's headers: it checks nothing then.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
built_with_cuda_headers "$tool" || { echo "skipped: the tool was built without CUDA's headers"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export MSDA_TUNE_NVRTC=/nowhere
cat >good.ini <<'END'
[kernel]
source    = k.cu
reference = reference
[shape s]
N = 64
T = f32
[algorithm twice]
[args]
in  = in f32 [N] zeros
out = out f32 [N]
n   = scalar i32 N
[launch 1]
args  = out, in
grid  = 1
block = 64
[launch reference 1]
args  = out
grid  = 1
block = 64
END
bad=0
said() { # DECLARATION SED_COMMANDS; the reference writes $reference
  printf '%s\nextern "C" __global__ void reference(%s *out) { out[threadIdx.x] = 2; }\n' "$1" "${reference:-double}" >k.cu
  sed "$2" good.ini >m.ini
  "$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1
}
twice() { printf 'extern "C" __global__ void twice(%s) { out[0] = 1; }' "$1"; }
says() { # TEXT DECLARATION SED_COMMANDS
  out=$(said "$2" "$3")
  [ $? = 1 ] && grep -qF 'not what the kernel declares' <<<"$out" && grep -qF -- "$1" <<<"$out" || { printf 'FAILED: %s, %s: expected "%s", got:\n%s\n' "$2" "$3" "$1" "$out"; bad=1; }
}
quiet() { # DECLARATION SED_COMMANDS
  out=$(said "$1" "$2")
  grep -qF 'NVRTC' <<<"$out" && ! grep -F 'but parameter' <<<"$out" || { printf 'FAILED: %s, %s: expected nothing of types, got:\n%s\n' "$1" "$2" "$out"; bad=1; }
}
half='s/in f32 \[N\] zeros/in f16 [N] zeros/' long='s/in f32 \[N\] zeros/in i64 [N] zeros/'
says 'm.ini:9: [arg in] is a tensor f16, but parameter 2 of twice is const float *in (./k.cu)' "$(twice 'float *out, const float *__restrict__ in')" "$half"
says '[arg in] is a tensor ${T}, but parameter 2 of twice is float *in' "$(twice 'float *out, float *in')" 's/in f32 \[N\] zeros/in ${T} [N] zeros/; s/T = f32/T = f16/' # of the shape
says '[arg in] is a tensor i64, but parameter 2 of twice is int *in' "$(twice 'float *out, int *in')" "$long"
says '[arg in] is a tensor f32, but parameter 2 of twice is int *in' "$(twice 'float *out, int *in')" ''
says '[arg in] is a tensor f32, but parameter 2 of twice is size_t n' "$(twice 'float *out, size_t n')" ''
says '[arg n] is a scalar i32, but parameter 2 of twice is float n' "$(twice 'float *out, float n')" 's/^args  = out, in/args  = out, n/'
# the reference writes doubles, or the output's own type, or floats where it only writes
quiet "$(twice 'float *out, float *in')" ''
reference=float quiet "$(twice 'float *out, float *in')" ''
reference=float quiet "$(twice '__half *out, float *in')" 's/^out = .*/out = out f16 [N]/'
reference=__half quiet "$(twice '__half *out, float *in')" 's/^out = .*/out = out f16 [N]/'
reference=float says "[arg out] is a tensor f16, but parameter 1 of reference is float *out (./k.cu): expected double *out, which the reference of a floating output writes, or the output's own type" "$(twice '__half *out, float *in')" 's/^out = .*/out = inout f16 [N] zeros/'
reference=__half says "[arg out] is a tensor f32, but parameter 1 of reference is __half *out (./k.cu): expected double *out, which the reference of a floating output writes, or the output's own type or float" "$(twice 'float *out, float *in')" ''
reference=int says '[arg out] is a tensor f32, but parameter 1 of reference is int *out' "$(twice 'float *out, float *in')" ''
says '[arg in] is a tensor f64, but parameter 2 of twice is const float *in' "$(twice 'float *out, const float *in')" 's/in f32 \[N\] zeros/in f64 [N] zeros/'
says '[arg in] is a tensor f32, but parameter 2 of twice is double *in' '__global__ void twice(float *out, double *in) { out[0] = 1; }' ''
# of one size, but other bits
by_value='s/^args  = out, in/args  = out, f16(1)/'
says '[arg f16(1)] is a scalar f16, but parameter 2 of twice is __nv_bfloat16 n' "$(twice 'float *out, __nv_bfloat16 n')" "$by_value"
says '[arg f8e5m2(1)] is a scalar f8e5m2, but parameter 2 of twice is __nv_fp8_e4m3 n' "$(twice 'float *out, __nv_fp8_e4m3 n')" "${by_value/f16/f8e5m2}"
quiet "$(twice 'float *out, __nv_fp8_e5m2 n')" "${by_value/f16/f8e5m2}"
# a kernel in a namespace is found by the name that the entry has
inside='s/^\[algorithm twice\]/&\nentry = a::b::twice/'
says '[arg in] is a tensor f32, but parameter 2 of twice is double *in' 'namespace a { inline namespace b { __global__ void twice(float *out, double *in) { out[0] = 1; } } }' "$inside"
quiet 'namespace a { namespace c { __global__ void twice(float *out, double *in) { } } namespace b { __global__ void twice(float *out, float *in) { out[0] = 1; } } }' "$inside"
# fields of structs, and textures
fields() { printf 'struct Job { %s };\n%s' "$1" "$(twice 'Job job')"; }
job='s/^n   = .*/job = struct in, out, i32(N), f32[2](1)/; s/^args  = out, in/args  = job/'
quiet "$(fields 'const float *in; float *out; int n; float gains[2];')" "$job"
says 'it has 5 values, and the struct in the source 6' "$(fields 'const float *in; float *out; int n; float gains[3];')" "$job"
# where they lie: CUDA's vectors are aligned, and structs within structs too
says '[arg f32(1)] is a scalar f32, but field 4 of Job is float2 gains (./k.cu): it lies in bytes 20 to 23, and the field in 24 to 27; a float2 is a struct of its own: expected NAME = struct f32[2](…) align N' "$(fields 'const float *in; float *out; int n; float2 gains;')" "$job"
quiet "$(fields 'const float *in; float *out; int n; float2 gains;')" 's/^n   = .*/v = struct f32[2](1) align 8\njob = struct in, out, i32(N), v/; s/^args  = out, in/args  = job/'
says '[arg f32(2)] is a scalar f32, but field 2 of Job is half2 v' "$(fields 'float *out; half2 v; int n;')" 's/^n   = .*/&\njob = struct out, f32(2), f32(2), n/; s/^args  = out, in/args  = job/'
flat='s/^n   = .*/job = struct out, i32(N), f64(1), i32(3), i32(4)/; s/^args  = out, in/args  = job/'
inner() { printf 'struct Inner { %s };\n%s' "$1" "$(fields "$2")"; }
says '[arg i32(4)] is a scalar i32, but field 3 of Job is int last (./k.cu): it lies in bytes 28 to 31, and the field in 32 to 35; expected a struct that is made as' "$(inner 'int n; double d; int m;' 'float *out; Inner inner; int last;')" "$flat"
quiet "$(inner 'int n; double d; int m; int last;' 'float *out; Inner inner;')" "$flat" # which lies the same
says 'field 1 of Inner is double d' "$(inner 'double d; int n;' 'float *out; Inner inner; int m; int last;')" "$flat"
nested='s/^n   = .*/n = scalar i32 N\ninner = struct n, f64(1), i32(3)\njob = struct out, inner, i32(4)/; s/^args  = out, in/args  = job/'
quiet "$(inner 'int n; double d; int m;' 'float *out; Inner inner; int last;')" "$nested"
quiet "namespace a { $(inner 'int n; double d; int m;' 'float *out; Inner inner; int last;') }" "$nested; s/^\[algorithm twice\]/&\nentry = a::twice/"
says '[arg i64(1)] is a scalar i64, but field 2 of Job is int n (./k.cu): it lies in bytes 8 to 15, and the field in 8 to 11' "$(fields 'float *out; int n;')" 's/^n   = .*/job = struct out, i64(1)/; s/^args  = out, in/args  = job/'
says '[arg job] is a struct, but parameter 1 of twice is Job job (./k.cu): it has 32 bytes, aligned to 8, and the struct in the source 32, aligned to 16: expected align 16' "struct __align__(16) Job { float *out; int n; double d, e; };
$(twice 'Job job')" 's/^n   = .*/job = struct out, i32(N), f64(1), f64(1)/; s/^args  = out, in/args  = job/'
quiet "struct alignas(16) Job { float *out; int n; double d, e; };
$(twice 'Job job')" 's/^n   = .*/job = struct out, i32(N), f64(1), f64(1) align 16/; s/^args  = out, in/args  = job/'
# fields of one type that are exchanged
says '[arg n] is a scalar i32, but field 2 of Job is int m (./k.cu): field 3 is called n; expected the members in the order of the fields, or another name for this one' "$(fields 'float *out; int m; int n;')" 's/^n   = .*/n = scalar i32 N\nm = scalar i32 7\njob = struct out, n, m/; s/^args  = out, in/args  = job/'
says '[arg i32(N)] is a scalar i32, but field 2 of Job is int m (./k.cu): field 3 is called n' "$(fields 'float *out; int m; int n;')" 's/^n   = .*/job = struct out, i32(N), i32(7)/; s/^args  = out, in/args  = job/'
says '[arg b] is a struct, but field 2 of Job is Inner a (./k.cu): field 3 is called b' "$(inner 'int x; float y;' 'float *out; Inner a, b;')" 's/^n   = .*/a = struct i32(1), f32(2)\nb = struct i32(3), f32(4)\njob = struct out, b, a/; s/^args  = out, in/args  = job/'
quiet "$(inner 'int x; float y;' 'float *out; Inner a, b;')" 's/^n   = .*/a = struct i32(1), f32(2)\nb = struct i32(3), f32(4)\njob = struct out, a, b/; s/^args  = out, in/args  = job/'
says '[arg y] is a scalar i32, but field 1 of Inner is int x (./k.cu): field 2 is called y' "$(inner 'int x, y;' 'float *out; Inner inner;')" 's/^n   = .*/x = scalar i32 1\ny = scalar i32 2\ninner = struct y, x\njob = struct out, inner/; s/^args  = out, in/args  = job/'
quiet "$(fields 'float *out; int ldb; int n;')" 's/^n   = .*/n = scalar i32 N\njob = struct out, n, n/; s/^args  = out, in/args  = job/' # one value for both
quiet "$(fields 'float *first; int m;')" 's/^n   = .*/n = scalar i32 N\njob = struct out, n/; s/^args  = out, in/args  = job/' # names of its own
# packed ones: bytes may stand in the place of the fields
packed='s/^n   = .*/job = struct out, i8(1), i32(N)/; s/^args  = out, in/args  = job/'
for way in 'struct __attribute__((packed)) Job { float *out; char a; int n; };' 'struct Job { float *out; char a; int n; } __attribute__((__packed__));' '#pragma pack(push, 1)
struct Job { float *out; char a; int n; };
#pragma pack(pop)'; do
  says '[arg i32(N)] is a scalar i32, but field 3 of Job is int n (./k.cu): it lies in bytes 12 to 15, and the field in 9 to 12, which is packed; expected the packed part' "$way
$(twice 'Job job')" "$packed"
done
quiet "#pragma pack(push, 1)
struct Other { char a; int n; };
#pragma pack(pop)
struct Job { float *out; char a; int n; };
$(twice 'Job job')" "$packed"
# what can't be told: bytes in a packed one, conditions among the fields, two structs of one name
for odd in '#pragma pack(1)
struct Job { float *out; char a; int n; };' 'struct __attribute__((packed)) Job { float *out; char a; int n; };' 'struct Job { float *out; char a;
#if BLOCK
int n;
#endif
int m; };' 'namespace a { struct Job { int n; }; } struct Job { float *out; char a; int n; };'; do
  quiet "$odd
$(twice 'Job job')" 's/^n   = .*/job = struct out, i8(1), i8(2), i32(N)/; s/^args  = out, in/args  = job/'
done
says '[arg f32(1)] is a scalar f32, but field 4 of Job is int gains (./k.cu)' "$(fields 'const float *in; float *out; int n; int gains[2];')" "$job"
says '[arg in] is a tensor f32, but field 1 of Job is int *in' "$(fields 'int *in; float *out; int n; float gains[2];')" "$job"
says '[arg out] is a tensor f32, but field 2 of Job is float out' "$(fields 'const float *in; float out; int n; float gains[2];')" "$job"
says 'it has 5 values, and the struct in the source 4' "$(fields 'const float *in; float *out; int n; double d;')" "$job"
says '[arg job] is a struct, but parameter 1 of twice is float *out' "$(twice 'float *out')" "$job"
says '[arg in] is a tensor f32, but parameter 2 of twice is cudaTextureObject_t in (./k.cu): there are no textures and surfaces: expected a tensor, which' "$(twice 'float *out, cudaTextureObject_t in')" ''
# No type that is known for sure, or one that may hold the bits of another.
for declared in 'float *in' 'void *in' 'char *in' 'unsigned *in' 'float4 *in' 'const unsigned short *in' 'real *in' 'T *in' 'N::t *in' 'float *in, int more'; do
  quiet $'typedef double real;\n#define T double\n'"$(twice "float *out, $declared")" ''
done
quiet "$(twice 'float *out, unsigned *in')" "$half"
quiet "$(twice 'float *out, unsigned long long *in')" "$long"
quiet "#if BLOCK
$(twice 'float *out, double *in')
#else
$(twice 'float *out, float *in')
#endif" ''
quiet 'template <typename U> __global__ void twice(float *out, double *in) { }' ''
exit $bad
