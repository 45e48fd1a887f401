"""One line per shape: the tuned kernel beside grid_sample, medians over CUDA events. Usage: bench.py DATABASE [SHAPE…]. Needs package msda_tune (docs/python.md)."""
import statistics
import sys

try:
    import torch
except ImportError as missing:
    sys.exit(f"bench.py compares with PyTorch and needs it, with CUDA: {missing}")

from msda_tune.torch import MultiScaleDeformableAttention, by_grid_sample

# name: N, M, D, P, Lq (0 = one per pixel), levels, queries; as in search_spaces/msda.ini
SHAPES = {
    "seed48": (48, 1, 32, 8, 15422, [(92, 160), (46, 80), (23, 40), (12, 20)], "grid"),
    "detr_enc_b1": (1, 8, 32, 4, 0, [(100, 134), (50, 67), (25, 34), (13, 17)], "levels"),
    "detr_enc_b4": (4, 8, 32, 4, 0, [(100, 134), (50, 67), (25, 34), (13, 17)], "levels"),
    "detr_dec_b4": (4, 8, 32, 4, 300, [(100, 134), (50, 67), (25, 34), (13, 17)], "free"),
    "odd": (2, 2, 16, 3, 37, [(7, 13), (4, 7), (1, 3)], "free"),
}


def make(name, device="cuda", dtype=torch.float16, seed=0):
    """(value, levels, starts, locations, weights, queries): locations uniform, also a little outside."""
    n, heads, channels, points, query_count, levels, queries = SHAPES[name]
    starts = [sum(h * w for h, w in levels[:i]) for i in range(len(levels))]
    pixels = sum(h * w for h, w in levels)
    generator = torch.Generator(device).manual_seed(seed)

    def rand(*shape):
        return torch.rand(*shape, device=device, generator=generator)

    value = (rand(n, pixels, heads, channels) - 0.5).to(dtype)
    locations = rand(n, query_count or pixels, heads, len(levels), points, 2) * 1.1 - 0.05
    weights = rand(n, query_count or pixels, heads, len(levels), points)
    weights = weights / weights.sum((-1, -2), keepdim=True)
    return value, levels, starts, locations, weights, queries


def median_us(run, repeats=30):
    """Cold L2: a large buffer is written before each."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for i in range(repeats + 5):
        flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        if i >= 5:
            times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def in_graph(run):
    """A replay of one call: what it costs without Python."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def main():
    op = MultiScaleDeformableAttention(sys.argv[1])
    for name in sys.argv[2:] or ["seed48"]:
        value, levels, starts, locations, weights, queries = make(name)
        served = op.explain(value, levels, starts, locations, weights, queries).splitlines()[0]
        ours = median_us(in_graph(lambda: op(value, levels, starts, locations, weights, queries=queries)))
        theirs = median_us(in_graph(lambda: by_grid_sample(value, levels, locations, weights)))
        print(f"ms_deform_attn {name}: {ours:.1f} us ({served}), grid_sample {theirs:.1f} us, {theirs / ours:.2f} x, {torch.cuda.get_device_name()}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
