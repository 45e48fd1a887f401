#!/bin/bash
# From a .cu that nobody prepared to the first tuned number, by three commands: how many seconds, and at most 120.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit 1
cat >blur.cu <<'END'
#ifndef TILE
#define TILE 16
#endif
struct Filter { float taps[9]; float gain; };

__global__ void blur(float *out, const float *in, int width, int height, Filter filter)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = (blockIdx.y * blockDim.y + threadIdx.y) * TILE;
    for (int y = y0; y < y0 + TILE && y < height; y++) {
        float sum = 0;
        for (int k = 0; k < 9; k++) {
            int column = x + k % 3 - 1, row = y + k / 3 - 1;
            if (column >= 0 && column < width && row >= 0 && row < height) sum += filter.taps[k] * in[row * width + column];
        }
        if (x < width) out[y * width + x] = sum * filter.gain;
    }
}
END
seconds() { echo $((($(date +%s%N) - start) / 1000000000)); }
start=$(date +%s%N)
"$tool" new blur.cu --quiet || fail "new: exit $?"
"$tool" check --space blur.ini --sample || fail "check: exit $?"
checked=$(seconds)
tune --space blur.ini || fail "tune: exit $?"
tuned=$(seconds)
"$tool" show --json | grep -q '"median_us":[0-9]' || fail "no time in: $("$tool" show --json)"
echo "from blur.cu: checked after $checked s, tuned after $tuned s"
[ "$tuned" -le 120 ] || fail "$tuned s, expected at most 120"
finish
