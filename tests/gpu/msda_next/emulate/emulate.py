#!/usr/bin/env python3
"""Runs points of msda_next on the host, fiber by fiber, against the definition: emulate.py [-k] 'SHAPE' 'KNOBS' ...

The sources are taken as they are, but for their PTX: each inline assembly of a used path becomes the C of the same meaning below, and what is
left is an error of the compiler. SHAPE is `grid` or `levels`.
"""
import os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
ENUMS = {
    'ALGO': 'direct coarse_smem smem_cluster baseline', 'CORNERS': 'plain parity pair', 'BLEND': 'half2 f32', 'ORDER': 'tiles heads',
    'SCHEDULE': 'grid persistent aligned in_step dynamic', 'TAIL': 'whole split', 'PREFETCH': 'off bulk', 'BORDER': 'clamp zeros given',
    'EXCHANGE': 'smem shuffle', 'LOAD_HINT': 'no_allocate none', 'VALUE_HINT': 'none fetch_128 fetch_256', 'WEIGHTS': 'with_points at_once',
    'STORE_HINT': 'streaming none', 'LEVELS': 'baked runtime', 'FETCH': 'last first', 'WIDEN': 'add mma', 'SWAPPED': 'bit sign', 'COARSE': 'last first'}
SHAPES = {
    'grid': dict(N=3, M=1, D=32, P=8, Lq=973, H=(24, 12, 6, 4), W=(40, 20, 10, 6), queries='grid'),
    'levels': dict(N=2, M=4, D=32, P=4, Lq=0, H=(24, 12, 6, 3), W=(40, 21, 10, 5), queries='levels')}
PTX = [ # each on a line of its own
    (r'asm volatile\(LOAD_ONCE .*', 'memcpy(&to, at, sizeof to);'),
    (r'asm\(LOAD_VALUE .*', 'memcpy(&to, at, sizeof to);'),
    (r'asm\("mad\.wide\.s32 .*', 'after = at + (long long)count * bytes;'),
    (r'asm\("rcp\.approx.*', 'reciprocal = 1.0f / (float)d * (1.0f - 6e-8f);'),
    (r'asm\("ex2\.approx.*', 'power = exp2f(exponent);'),
    (r'asm volatile\(MMA .*', 'add_pair(to, upper), add_pair(to + 2, lower);'),
    (r'asm volatile\("(prefetch|cp\.async\.bulk\.prefetch).*', ';'),
    (r'asm volatile\("atom\.global.*', 'draw.first = atomicAdd(tickets, draw.count), wait_in_turn();'),
    (r'asm volatile\("cp\.async\.cg.*', 'memcpy(to, from, 16);'),
    (r'asm volatile\("cp\.async\.wait_all.*', ';'),
    (r'asm\("mov\.u32 %0, %%nsmid.*', 'multiprocessors = gridDim.x;'),
    (r'entry = \*place;', '(wait_in_turn(), entry = *place);'),
    (r'__shared__ unsigned long long barrier;', 'unsigned long long &barrier = *(unsigned long long *)(shared + SHARED_BYTES - 64);'),
    (r'__shared__ Queue the_queue;', 'Queue &the_queue = *(Queue *)(shared + SHARED_BYTES - 1024);'),
    (r'extern __shared__ __align__\(128\) char shared\[\];', ''),
    (r'\*\(const Channels \*\)__cvta_shared_to_generic\(at\)', '*(const Channels *)at_shared(at)'),
    (r'#include "async_copy.cuh"', ''),
    (r'Bits<2 \* CHUNK \* sizeof\(loc_t\)>', 'Bits<2 * CHUNK * (int)sizeof(loc_t)>'),
    (r'Bits<CHUNK \* sizeof\(loc_t\)>', 'Bits<CHUNK * (int)sizeof(loc_t)>')]


def defines(shape, knobs):
    sizes = dict(SHAPES[shape])
    sizes['S'] = sum(h * w for h, w in zip(sizes['H'], sizes['W']))
    sizes['Lq'] = sizes['Lq'] or sizes['S']
    sizes['START'] = [sum(h * w for h, w in list(zip(sizes['H'], sizes['W']))[:l]) for l in range(len(sizes['H']))]
    lines = []
    for name, number in sizes.items():
        if name == 'queries':
            continue
        lines.append(f'SHAPE_{name} ' + (str(number) if isinstance(number, int) else ','.join(map(str, number))))
        if not isinstance(number, int):
            lines.append(f'SHAPE_{name}_LEN {len(number)}')
    words = {'SHAPE_dtype': 'f16 f32 bf16', 'SHAPE_loc_dtype': 'f32 f16', 'SHAPE_attn': 'weights logits', 'SHAPE_queries': 'grid levels free', **ENUMS}
    for name, values in words.items():
        lines += [f'{name}_{word} {i + 1}' for i, word in enumerate(values.split())]
    lines += ['SHAPE_dtype SHAPE_dtype_f16', 'SHAPE_loc_dtype SHAPE_loc_dtype_f32', 'SHAPE_attn SHAPE_attn_weights', f'SHAPE_queries SHAPE_queries_{sizes["queries"]}']
    chosen = dict(knob.split('=') for knob in knobs.split(';') if knob)
    lines += [f'{name} {name}_{word}' if name in ENUMS else f'{name} {word}' for name, word in chosen.items()]
    lines.append('ENTRY msda_' + chosen['ALGO'])
    return ''.join(f'#define {line}\n' for line in lines)


def run(shape, knobs, folder, seeds=(0, 1), blocks=(4, 3)):
    for name in os.listdir(SOURCE):
        if not name.endswith(('.cu', '.cuh')):
            continue
        text = open(os.path.join(SOURCE, name)).read()
        for pattern, c in PTX:
            text = re.sub(pattern, lambda _: c, text)
        text = re.sub(r'#pragma unroll.*', '', text)
        open(os.path.join(folder, name), 'w').write(text)
    open(os.path.join(folder, 'knobs.h'), 'w').write(defines(shape, knobs))
    program = os.path.join(folder, 'point')
    subprocess.run(['g++', '-std=c++20', '-O1', '-w', '-fno-strict-aliasing', '-include', 'knobs.h', '-I', folder, '-I', HERE, '-o', program, os.path.join(HERE, 'main.cpp')], check=True, cwd=folder)
    ok = True
    for seed, count in zip(seeds, blocks):
        result = subprocess.run([program, str(seed), str(count)], capture_output=True, text=True, timeout=300)
        print(f'{"ok  " if result.returncode == 0 else "FAIL"} {shape} {count} blocks: {result.stdout.strip()} [{result.returncode}]  {knobs}', flush=True)
        ok &= result.returncode == 0
    return ok


if __name__ == '__main__':
    arguments, good = sys.argv[1:], True
    for shape, knobs in zip(arguments[::2], arguments[1::2]):
        with tempfile.TemporaryDirectory() as folder:
            good &= run(shape, knobs, folder)
    sys.exit(not good)
