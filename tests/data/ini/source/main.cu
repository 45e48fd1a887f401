// #include "never.cuh"
/* #include "never.cuh"
#include "never.cuh" */
#include "near.cuh"
  #  include   "sub/deep.cuh" /* twice is once */
#include "near.cuh"
#include <cuda_fp16.h>
#include "nowhere.cuh"
const char *text = "\n#include \"never.cuh\"";
#if 0
#include "inc.cuh"
#endif
