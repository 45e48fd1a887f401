/* <cmath> for NVRTC: its own functions, in namespace std. cuda/std/cmath has them too, but takes the compiler thirty times as long. */
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::fmod; using ::remainder; using ::remquo; using ::fma; using ::fmax; using ::fmin; using ::fdim; using ::nan; using ::nanf;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log10; using ::log2; using ::log1p; using ::pow; using ::sqrt; using ::cbrt; using ::hypot;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;
using ::erf; using ::erfc; using ::tgamma; using ::lgamma; using ::ceil; using ::floor; using ::trunc; using ::round; using ::lround; using ::llround; using ::nearbyint; using ::rint; using ::lrint; using ::llrint;
using ::frexp; using ::ldexp; using ::modf; using ::scalbn; using ::scalbln; using ::ilogb; using ::logb; using ::nextafter; using ::copysign;
using ::isfinite; using ::isinf; using ::isnan; using ::signbit;
using ::fabsf; using ::fmodf; using ::fmaf; using ::fmaxf; using ::fminf; using ::expf; using ::exp2f; using ::logf; using ::log2f; using ::log10f; using ::powf; using ::sqrtf; using ::sinf; using ::cosf; using ::tanf; using ::tanhf;
using ::ceilf; using ::floorf; using ::truncf; using ::roundf; using ::rintf;
typedef float float_t;
typedef double double_t;

/* Whole numbers count as double. */
template <class __msda_t> struct __msda_whole {};
#define MSDA_WHOLE(__msda_t) template <> struct __msda_whole<__msda_t> { typedef double __msda_type; }
MSDA_WHOLE(bool); MSDA_WHOLE(char); MSDA_WHOLE(signed char); MSDA_WHOLE(unsigned char); MSDA_WHOLE(short); MSDA_WHOLE(unsigned short);
MSDA_WHOLE(int); MSDA_WHOLE(unsigned); MSDA_WHOLE(long); MSDA_WHOLE(unsigned long); MSDA_WHOLE(long long); MSDA_WHOLE(unsigned long long);
#undef MSDA_WHOLE
#define MSDA_OF_ONE(__msda_f) template <class __msda_t> __device__ typename __msda_whole<__msda_t>::__msda_type __msda_f(__msda_t __msda_x) { return ::__msda_f(double(__msda_x)); }
MSDA_OF_ONE(fabs) MSDA_OF_ONE(exp) MSDA_OF_ONE(exp2) MSDA_OF_ONE(log) MSDA_OF_ONE(log2) MSDA_OF_ONE(log10) MSDA_OF_ONE(sqrt) MSDA_OF_ONE(cbrt)
MSDA_OF_ONE(sin) MSDA_OF_ONE(cos) MSDA_OF_ONE(tan) MSDA_OF_ONE(atan) MSDA_OF_ONE(tanh) MSDA_OF_ONE(ceil) MSDA_OF_ONE(floor) MSDA_OF_ONE(trunc) MSDA_OF_ONE(round)
#undef MSDA_OF_ONE
#define MSDA_OF_TWO(__msda_f) \
    template <class __msda_t, class __msda_u> __device__ decltype(typename __msda_whole<__msda_t>::__msda_type() + typename __msda_whole<__msda_u>::__msda_type()) __msda_f(__msda_t __msda_x, __msda_u __msda_y) { return ::__msda_f(double(__msda_x), double(__msda_y)); }
MSDA_OF_TWO(pow) MSDA_OF_TWO(fmod) MSDA_OF_TWO(atan2) MSDA_OF_TWO(hypot) MSDA_OF_TWO(fmax) MSDA_OF_TWO(fmin)
#undef MSDA_OF_TWO
}
