#!/usr/bin/env python3
"""This project's deformable attention beside other projects', forward and backward, in one process on one GPU. Needs PyTorch with CUDA, nvcc, ninja, and sources of the others.

    msda_peers.py TOOL --dcnv4 FOLDER --deformable-detr FOLDER -o FILE [options]
    msda_peers.py --table FILE          the Markdown tables of such a file; needs nothing

Shapes and workloads are those that TOOL (msda-tune) says of msda.ini and msda_backward.ini. For each, all contestants get the same inputs, made as kernels/msda/inputs.cuh makes them (other random numbers),
in the types that they take: DCNv4 has f16 locations and logits, Deformable-DETR f32 values. Errors are norm-wise, against grid_sample in f64 on the inputs as this project's op gets them, so that rounding
locations to f16 counts.

A sample: the stream is held by a kernel that waits, a buffer of four times the L2's size is written, and the call lies between two events. The host has queued all of it before the first event is reached, which
is checked (else the wait is doubled and the sample taken again): no gap of the host's is in it. What a call allocates comes from PyTorch's cache. Contestants take turns; the figure is the median.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import peer_sources

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {"forward": "msda", "backward": "msda_backward"}
DIRECTIONS = {"forward": ["out"], "backward": ["grad_value", "grad_loc", "grad_attn"]}  # what has an error
OURS = "msda-tune"
KINK = 1e-4  # pixels: so near to a pixel's centre, f32 and f64 may see different cells, in which the gradient by the place differs
WAIT_CYCLES = 200_000  # of the kernel that holds the stream, at first
REFERENCE_BYTES = 4 << 30  # of the samples of a level in f64


# ---- which shapes ----

def subjects_of(tool):
    """({(shape, workload): {"values", "workload", "directions"}}, {workload: values}), in the order of the spaces. A problem that differs in the type of grad_value alone is one here: the op chooses that."""
    spaces = {space["name"]: space for space in json.loads(subprocess.run([tool, "list", "--json"], stdout=subprocess.PIPE, check=True).stdout)["spaces"]}
    if missing := [name for name in KERNELS.values() if name not in spaces]:
        raise ValueError(f"{tool} list --json has no space {', '.join(missing)}, but {', '.join(spaces)}")
    workloads = {workload["name"]: workload["values"] for kernel in KERNELS.values() for workload in spaces[kernel]["workloads"]}
    subjects, seen = {}, {}
    for direction, kernel in KERNELS.items():
        for shape in spaces[kernel]["shapes"]:
            values = {name: value for name, value in shape["values"].items() if name != "grad_dtype"}
            for workload in shape["workloads"]:
                name = seen.setdefault(json.dumps([values, workload], sort_keys=True), shape["name"])
                subject = subjects.setdefault((name, workload), {"values": values, "workload": workloads[workload], "directions": []})
                if direction not in subject["directions"]:
                    subject["directions"].append(direction)
    return subjects, workloads


def chosen(subjects, workloads, wanted):
    """Those that are asked for: NAME, NAME:WORKLOAD, or "all" that this project's op and DCNv4 run."""
    found = {}
    for word in wanted:
        if word == "all":
            found.update({key: subject for key, subject in subjects.items() if not not_ours(subject["values"]) and not peer_sources.DCNv4.refuses(subject["values"])})
            continue
        name, _, workload = word.partition(":")
        like = [(key, subject) for key, subject in subjects.items() if key[0] == name]
        if not like:
            raise ValueError(f"no shape {name}; expected one of {', '.join(dict.fromkeys(key[0] for key in subjects))}")
        if workload and workload not in workloads:
            raise ValueError(f"{word}: no workload {workload}; expected one of {', '.join(workloads)}")
        if reason := not_ours(like[0][1]["values"]):
            raise ValueError(f"{name}: {reason}")
        if workload:
            directions = [direction for direction in KERNELS if any(direction in subject["directions"] for _, subject in like)]
            found[name, workload] = {"values": like[0][1]["values"], "workload": workloads[workload], "directions": directions}
        else:
            found.update(like)
    return found


def not_ours(values):
    """The op takes weights; a softmax inside is another question."""
    return "logits, which the PyTorch op does not take" if values["attn"] != "weights" else None


# ---- inputs ----

class Inputs:
    """On the GPU: value, locations, weights, grad_out; levels and starts as lists and as tensors."""

    def __init__(self, values, workload, seed):
        import torch

        self.values, self.levels, self.starts = values, list(zip(values["H"], values["W"])), values["START"]
        n, heads, channels, points, queries = (values[name] for name in ("N", "M", "D", "P", "Lq"))
        dtype, location_dtype = (getattr(torch, {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}[values[name]]) for name in ("dtype", "loc_dtype"))
        generator = torch.Generator("cuda").manual_seed(seed)

        def uniform(*shape):
            return torch.rand(*shape, device="cuda", generator=generator)

        self.value = (uniform(n, values["S"], heads, channels) - 0.5).to(dtype)
        self.grad_out = (uniform(n, queries, heads * channels) - 0.5).to(dtype)
        shape = n, queries, heads, len(self.levels), points
        self.weights = (2 * uniform(*shape)).flatten(3).softmax(-1).view(shape).to(location_dtype)
        if workload["dist"] == "uniform":
            locations = uniform(*shape, 2)
        else:
            sizes = torch.tensor([(width, height) for height, width in self.levels], device="cuda", dtype=torch.float32)[:, None, :]
            steps = torch.randn(*shape, 2, device="cuda", generator=generator)
            locations = self._reference_points(uniform) + workload["sigma"] * steps / sizes
        self.locations = locations.to(location_dtype)
        self.levels_on_gpu, self.starts_on_gpu = torch.tensor(self.levels, device="cuda"), torch.tensor(self.starts, device="cuda")

    def _reference_points(self, uniform):
        """(x, y), for locations [N, Lq, M, L, P, 2]."""
        import torch

        n, queries = self.values["N"], self.values["Lq"]
        if self.values["queries"] == "free":
            return uniform(n, queries, 1, 1, 1, 2)
        if self.values["queries"] == "grid":
            width = self.levels[0][1]
            sizes = [(-(-queries // width), width)]
        else:
            sizes = self.levels
        centres = [torch.stack([(pixel % width + 0.5) / width, (pixel // width + 0.5) / height], -1) for height, width in sizes for pixel in [torch.arange(height * width, device="cuda")]]
        return torch.cat(centres)[:queries].float()[None, :, None, None, None]


# ---- what is right ----

def reference(inputs):
    """{direction: [tensor in f64, …]} with the gradient of the logits behind those of value, locations and weights. A few images at a time."""
    import torch
    from msda_tune.torch._reference import by_grid_sample, gradients_by_grid_sample

    values = inputs.values
    at_once = max(1, REFERENCE_BYTES // (8 * values["M"] * values["D"] * values["Lq"] * values["P"] * len(inputs.levels)))
    parts = []
    for first in range(0, values["N"], at_once):
        value, locations, weights, grad_out = (tensor[first:first + at_once].double() for tensor in (inputs.value, inputs.locations, inputs.weights, inputs.grad_out))
        parts.append([by_grid_sample(value, inputs.levels, locations, weights), *gradients_by_grid_sample(value, inputs.levels, locations, weights, grad_out)])
    out, of_value, of_locations, of_weights = (torch.cat(part) for part in zip(*parts))
    weights = inputs.weights.double()
    of_logits = weights * (of_weights - (weights * of_weights).sum((-1, -2), keepdim=True))
    return {"forward": [out], "backward": [of_value, of_locations, of_weights, of_logits]}


def away_from_kinks(inputs):
    """[N, Lq, M, L, P, 1]: 1 where the place's gradient is the same in f32 and f64."""
    import torch

    sizes = torch.tensor([(width, height) for height, width in inputs.levels], device="cuda", dtype=torch.float64)[:, None, :]
    at = inputs.locations.double() * sizes - 0.5
    return ((at - at.round()).abs() > KINK).all(-1, keepdim=True)


def error(mine, right, counts=None):
    """Norm-wise; None for what is not finite."""
    difference, length = mine.double() - right, right
    if counts is not None:
        difference, length = difference * counts, right * counts
    found = (difference.norm() / length.norm()).item()
    return found if found < float("inf") else None  # NaN is not less


def errors_of(calls, direction, right, counts):
    """{what: error} of a contestant."""
    if direction == "forward":
        return {"out": error(calls.forward(), right["forward"][0])}
    found = calls.gradients(calls.backward())
    wanted = right["backward"][:2] + right["backward"][3 if calls.of_logits else 2:][:1]
    return {what: error(mine, exact, counts if what == "grad_loc" else None) for what, mine, exact in zip(DIRECTIONS["backward"], found, wanted)}


# ---- this project's op ----

class Ours:
    """The PyTorch op: what the lookup answers, compiled from this source's spaces where the database has no code."""

    name = OURS

    def __init__(self, database, names_workload):
        from msda_tune.torch import MultiScaleDeformableAttention

        spaces = [str(SOURCE / "search_spaces" / f"{kernel}.ini") for kernel in KERNELS.values()]
        self._op, self._names_workload = MultiScaleDeformableAttention(database, space=spaces[0], backward_space=spaces[1]), names_workload

    def calls(self, inputs, workload):
        given = inputs.value, inputs.levels, inputs.starts, inputs.locations, inputs.weights
        how = {"queries": inputs.values["queries"], "workload": workload if self._names_workload else None}
        calls = peer_sources.Calls(lambda: self._op(*given, **how), lambda: self._op.gradients(*given, inputs.grad_out, **how), list)
        calls.explain = {"forward": lambda: self._op.explain(*given, **how), "backward": lambda: self._op.explain_gradients(*given, **how)}
        return calls


def served(explanation):
    """What served a call: a row of its shape and workload, another one by the lookup's choice, or grid_sample."""
    lines = explanation.splitlines()
    if lines[0] == "grid_sample":
        return "grid_sample"
    is_exact = any(line.startswith("exact:") for line in lines) and not any(line.startswith("expected: unknown for workload") for line in lines)
    return "row" if is_exact else "lookup"


# ---- times ----

class Clock:
    """Takes samples as the head of this file says."""

    def __init__(self):
        import torch

        self._torch = torch
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush_bytes = 4 * l2_bytes
        self._buffer, self._wait_cycles = torch.empty(self.flush_bytes, dtype=torch.uint8, device="cuda"), WAIT_CYCLES

    def sample_us(self, run):
        cuda = self._torch.cuda
        while True:
            begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            cuda.synchronize()
            cuda._sleep(self._wait_cycles)
            self._buffer.zero_()
            begin.record()
            kept = run()
            end.record()
            is_ahead = not begin.query()
            end.synchronize()
            del kept
            if is_ahead:
                return begin.elapsed_time(end) * 1e3
            self._wait_cycles *= 2
            if self._wait_cycles > 1 << 30:
                raise RuntimeError("the host is slower than the GPU, however long the stream is held: does a call wait for the GPU?")

    def medians_us(self, runs, count):
        """{name: median} of {name: run}, in turns."""
        for run in runs.values():  # all memory that it needs is in the cache afterwards
            for _ in range(3):
                run()
        self._wait_cycles = WAIT_CYCLES
        samples = {name: [] for name in runs}
        for _ in range(count):
            for name, run in runs.items():
                samples[name].append(self.sample_us(run))
        return {name: statistics.median(times) for name, times in samples.items()}


def measure(key, subject, ours, peers, clock, options):
    """What is found of one shape and workload: a dictionary for each direction."""
    import torch

    name, workload = key
    inputs = Inputs(subject["values"], subject["workload"], options.seed)
    right, counts = reference(inputs), away_from_kinks(inputs)
    calls = {ours.name: ours.calls(inputs, workload)} | {peer.name: peer.calls(inputs) for peer in peers if not peer.refuses(subject["values"])}
    rows = []
    for direction in subject["directions"]:
        row = {"direction": direction, "shape": name, "workload": workload, "values": subject["values"], "contestants": {}}
        runs = {who: getattr(call, direction) for who, call in calls.items()}
        for who, call in calls.items():
            row["contestants"][who] = {"errors": errors_of(call, direction, right, counts)}
        explanation = calls[ours.name].explain[direction]()
        row["contestants"][ours.name] |= {"served": served(explanation), "explanation": explanation}
        for who, us in clock.medians_us(runs, options.samples).items():
            row["contestants"][who]["us"] = us
        rows.append(row)
    del right, counts, calls, inputs
    torch.cuda.empty_cache()
    return rows


# ---- what is told ----

def number(value, digits=3):
    """As few characters as `digits` digits need; whole numbers are not cut."""
    return "-" if value is None else f"{value:.0f}" if value >= 10 ** digits else f"{value:.{digits}g}"


def error_text(errors):
    return ", ".join("not finite" if value is None else f"{value:.1e}" for value in errors.values())


def table(rows, direction, peers):
    """Lines of Markdown: a row for each shape and workload, with each peer's time, how many times as fast this project's op is, and the peer's error."""
    lines = ["| shape, workload | µs | error | " + " | ".join(f"{peer} µs | × | error" for peer in peers) + " |", "|---" * (3 + 3 * len(peers)) + "|"]
    for row in rows:
        if row["direction"] != direction:
            continue
        ours = row["contestants"][OURS]
        mark = {"row": "", "lookup": " *", "grid_sample": " (grid_sample)"}[ours["served"]]
        cells = [f"{row['shape']}, {row['workload']}{mark}", number(ours["us"]), error_text(ours["errors"])]
        for peer in peers:
            theirs = row["contestants"].get(peer)
            cells += ["-", "-", "-"] if theirs is None else [number(theirs["us"]), f"{theirs['us'] / ours['us']:.2f}", error_text(theirs["errors"])]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def tables(found):
    peers, lines = found["peers"], [f"{found['gpu']}, PyTorch {found['torch']}, CUDA {found['cuda']}; medians of {found['samples']} samples, cold L2. *: without a row of this shape, workload and types, by the lookup's choice."]
    for direction in KERNELS:
        if any(row["direction"] == direction for row in found["rows"]):
            what = "error of out" if direction == "forward" else "errors of grad_value, grad_loc, grad_attn (DCNv4: of the logits before its softmax)"
            lines += ["", f"{direction.capitalize()}; {what}:", "", *table(found["rows"], direction, peers)]
    return "\n".join(lines)


# ---- the command line ----

def parsed(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="msda-tune")
    parser.add_argument("--dcnv4", metavar="FOLDER", help="a checkout of OpenGVLab/DCNv4")
    parser.add_argument("--deformable-detr", metavar="FOLDER", help="a checkout of fundamentalvision/Deformable-DETR")
    parser.add_argument("--cache", metavar="FOLDER", default="~/.cache/msda-peers", help="where copies of theirs are patched and built (default: %(default)s)")
    parser.add_argument("--db", metavar="FILE", help="the op's database (default: the user's over the shipped one)")
    parser.add_argument("--shapes", metavar="LIST", default="all", help="NAME, NAME:WORKLOAD or all, with commas; all (default) are those that DCNv4 runs, each with its own workloads")
    parser.add_argument("--unnamed", action="store_true", help="the op is not told the workload, as in a program that does not know it")
    parser.add_argument("--samples", type=int, default=25, metavar="N", help="per contestant and direction (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("-o", "--output", metavar="FILE", help="JSON; written after each shape")
    parser.add_argument("--table", metavar="FILE", help="only print the tables of such a file")
    options = parser.parse_args(words)
    if not options.table and not (options.tool and options.output and (options.dcnv4 or options.deformable_detr)):
        parser.error("expected TOOL, -o FILE and a folder of --dcnv4 or --deformable-detr; or --table FILE")
    if options.samples < 1:
        parser.error(f"--samples {options.samples}, expected 1 at least")
    return options


def main(words):
    options = parsed(words)
    if options.table:
        print(tables(json.loads(pathlib.Path(options.table).read_text(encoding="utf-8"))))
        return
    subjects, workloads = subjects_of(options.tool)
    subjects = chosen(subjects, workloads, options.shapes.split(","))
    import torch

    cache = pathlib.Path(options.cache).expanduser()
    peers = [kind(folder, cache) for kind, folder in ((peer_sources.DCNv4, options.dcnv4), (peer_sources.DeformableDETR, options.deformable_detr)) if folder]
    sys.path.insert(0, str(SOURCE / "python"))
    ours, clock = Ours(options.db, not options.unnamed), Clock()
    found = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda, "samples": options.samples, "flush_bytes": clock.flush_bytes, "seed": options.seed,
             "is_workload_named": not options.unnamed, "peers": [peer.name for peer in peers], "rows": []}
    for key, subject in subjects.items():
        found["rows"] += measure(key, subject, ours, peers, clock, options)
        pathlib.Path(options.output).write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{key[0]}, {key[1]}", file=sys.stderr, flush=True)
    print(tables(found))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, FileNotFoundError) as problem:
        sys.exit(f"msda_peers.py: {problem}")
