#include "tuner/space/source/macro_names.h"

#define NVRTC(name) {name, NULL}
#define CUB(name) {name, "cub/"}

const mt_taken_name mt_taken_names[] = {
    NVRTC("T"), NVRTC("a"), NVRTC("b"), NVRTC("f"), NVRTC("p"), NVRTC("v"), NVRTC("w"), NVRTC("x"), NVRTC("y"), NVRTC("z"),
    NVRTC("depth"), NVRTC("dst"), NVRTC("extent"), NVRTC("flags"), NVRTC("height"), NVRTC("kind"), NVRTC("level"), NVRTC("mask"), NVRTC("mode"), NVRTC("offset"), NVRTC("op"),
    NVRTC("pitch"), NVRTC("ptr"), NVRTC("result"), NVRTC("size"), NVRTC("src"), NVRTC("stream"), NVRTC("type"), NVRTC("val"), NVRTC("value"), NVRTC("warpSize"), NVRTC("width"),
    CUB("ALGORITHM"), CUB("BLOCK_DIM_X"), CUB("BLOCK_THREADS"), CUB("ITEMS_PER_THREAD"), CUB("LOGICAL_WARP_THREADS"),
};
const size_t mt_taken_name_count = sizeof mt_taken_names / sizeof *mt_taken_names;
