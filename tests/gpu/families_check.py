"""Inputs and expected outputs of resample and tma_load by numpy, independent of the kernels' own reference kernels.

families_check.py SPACE_FILE KERNEL OUT_FOLDER: writes OUT_FOLDER/*.npy and OUT_FOLDER/KERNEL.ini, the space with one shape and `reference = file:expected.npy`.
"""
import os
import re
import sys

import numpy as np

RNG = np.random.default_rng(1)


def resample():
    batch, rows, wanted, width = 4, 61, 203, 40
    source = RNG.uniform(-1, 1, (batch, rows, width)).astype(np.float16)
    times = np.sort(RNG.uniform(0, rows, (batch, rows)), axis=1).astype(np.float32)
    times[:, 7] = times[:, 6]  # equal ones, also at both ends
    times[1, 1] = times[1, 0]
    times[2, -1] = times[2, -2]
    targets = RNG.uniform(-5, rows + 5, (batch, wanted)).astype(np.float32)
    targets[:, :rows] = times  # on the knots
    targets[:, rows:rows + 6] = [np.nan, np.inf, -np.inf, 3e38, -3e38, -0.0]
    targets[3] = np.sort(targets[3])
    out = np.empty((batch, wanted, width))
    for b in range(batch):
        t = times[b].astype(np.float64)
        x = targets[b].astype(np.float64)
        at = np.clip(np.searchsorted(t, x, side="right") - 1, 0, rows - 2)
        at[np.isnan(x)] = 0
        dt = t[at + 1] - t[at]
        with np.errstate(all="ignore"):
            weight = np.where(dt > 0, np.clip((x - t[at]) / dt, 0, 1), 0)
        weight[np.isnan(x)] = np.nan
        left, right = source[b, at].astype(np.float64), source[b, at + 1].astype(np.float64)
        out[b] = left + weight[:, None] * (right - left)
    shape = f"B = {batch}\nS = {rows}\nT = {wanted}\nD = {width}\ndtype = f16\n"
    return shape, {"source": source, "times": times, "targets": targets, "expected": out}


def tma_load():
    images, queries, points, channels = 3, 45, 5, 32
    heights, widths, starts, pixels = [9, 1, 4], [14, 6, 1], [3, 130, 140], 150
    value = RNG.uniform(-1, 1, (images, pixels, channels)).astype(np.float16)
    at = np.empty((images, queries, len(heights), points, 2), np.int32)
    for level, (h, w) in enumerate(zip(heights, widths)):
        at[:, :, level, :, 0] = RNG.integers(-3, w + 3, (images, queries, points))
        at[:, :, level, :, 1] = RNG.integers(-3, h + 3, (images, queries, points))
    at[0, 0, 0, 0] = [-2147483648, 2147483646]  # the copy engine takes any 32 bits
    out = np.zeros(at.shape[:-1], np.uint32)
    weight = (2 * np.arange(2 * channels, dtype=np.uint64) + 1) * 0x9E3779B1
    for index in np.ndindex(*out.shape):
        image, _, level, _ = index
        tile = np.zeros((2, 2, channels), np.float16)
        for dy in range(2):
            for dx in range(2):
                x, y = int(at[index][0]) + dx, int(at[index][1]) + dy
                if 0 <= x < widths[level] and 0 <= y < heights[level]:
                    tile[dy, dx] = value[image, starts[level] + y * widths[level] + x]
        out[index] = int((tile.reshape(-1).view(np.uint32).astype(np.uint64) * weight % 2**32).sum() % 2**32)
    names = lambda numbers: ", ".join(map(str, numbers))
    shape = f"N = {images}\nQ = {queries}\nP = {points}\nC = {channels}\nH = {names(heights)}\nW = {names(widths)}\nSTART = {names(starts)}\nS = {pixels}\n"
    return shape, {"value": value, "at": at, "expected": out}


def main(space, kernel, folder):
    shape, arrays = {"resample": resample, "tma_load": tma_load}[kernel]()
    for name, array in arrays.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)
    text = open(space, encoding="utf-8").read()
    text = re.sub(r"(?m)^reference = .*", "reference = file:expected.npy", text)
    text = re.sub(r"(?m)^(source|include) +=( +)\.\./", lambda m: f"{m[1]} ={m[2]}{os.path.dirname(os.path.dirname(os.path.abspath(space)))}/", text, count=2)
    with open(os.path.join(folder, f"{kernel}.ini"), "w", encoding="utf-8") as file:
        file.write(text + f"\n[shape by_numpy]\n{shape}main = no\n")


main(*sys.argv[1:])
