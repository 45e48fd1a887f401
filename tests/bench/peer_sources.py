"""Other projects' deformable attention, from a folder with their sources, as calls on torch's tensors. For msda_peers.py.

What an op needs of its sources is copied into a folder for builds, patched there for today's PyTorch and CUDA (PATCHES), and compiled for the GPU at hand. Nothing of theirs is kept here: no code, no launch
parameters. Without torch, what needs none works: copy_sources, patched."""
import importlib.util
import pathlib
import re
import sys
import types

# What was in PyTorch when these were written, and is no more: (pattern, replacement). None changes what is computed.
PATCHES = (
    (r"<THC/THCAtomics\.cuh>", "<ATen/cuda/Atomic.cuh>"),                  # THC is gone; atomicAdd of its types moved
    (r"\.type\(\)\.is_cuda\(\)", ".is_cuda()"),                            # Tensor.type() is deprecated
    (r"(\bAT_DISPATCH_\w+\(\s*[\w.]+)\.type\(\)", r"\1.scalar_type()"),    # and dispatch takes no such type any more
    (r"\.data<", ".data_ptr<"),                                            # Tensor.data<T>() likewise
    (r"\bAT_ASSERTM\(", "TORCH_CHECK("),
    (r"\bAT_ERROR\(", "TORCH_CHECK(false, "),
    # Of the types that an op is compiled for the one that is measured, which is named when it is built: a fourth of the time to compile, the same kernel.
    (r"\bAT_DISPATCH_FLOATING_TYPES_AND2\(\s*at::ScalarType::Half,\s*at::ScalarType::BFloat16,", "PEER_DISPATCH("),
    (r"\bAT_DISPATCH_FLOATING_TYPES\(", "PEER_DISPATCH("),
)
DISPATCH = """#include <ATen/Dispatch.h>
#define PEER_DISPATCH(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE(PEER_DTYPE, __VA_ARGS__))
"""


def patched(text):
    for pattern, replacement in PATCHES:
        text = re.sub(pattern, replacement, text)
    return text


def find_below(folder, *places):
    """The first of `places` that is in the folder."""
    for place in places:
        found = pathlib.Path(folder, place)
        if found.exists():
            return found
    raise FileNotFoundError(f"{folder} has none of {', '.join(places)}; expected a checkout of the project")


def copy_sources(root, main, to):
    """Copies `main` (a path below `root`) and the files that it includes by name, and those that they include, to the same paths below `to`, patched. Returns their paths below `root`."""
    waiting, done = [pathlib.Path(main)], []
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        text = pathlib.Path(root, path).read_text(encoding="utf-8")
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            beside = [place for place in (path.parent / name, pathlib.Path(name)) if pathlib.Path(root, place).exists()]
            if not beside:
                raise FileNotFoundError(f"{pathlib.Path(root, path)} includes \"{name}\", which is neither beside it nor in {root}")
            waiting.append(beside[0])
        copy = pathlib.Path(to, path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_if_new(copy, (DISPATCH if path == pathlib.Path(main) else "") + patched(text))
        done.append(path)
    return done


def write_if_new(path, text):
    """Leaves a file of the same text alone, so that it isn't compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def build(name, root, main, binding, dtype, cache):
    """torch.ops.NAME of a main source and the text that registers its functions."""
    import os
    import torch
    from torch.utils import cpp_extension

    folder = pathlib.Path(cache).resolve() / name
    copy_sources(root, main, folder / "src")
    write_if_new(folder / "binding.cpp", binding)
    (folder / "build").mkdir(exist_ok=True)
    os.environ["TORCH_CUDA_ARCH_LIST"] = "{}.{}".format(*torch.cuda.get_device_capability())
    cpp_extension.load(name, [str(folder / "binding.cpp"), str(folder / "src" / main)], extra_include_paths=[str(folder / "src")], build_directory=str(folder / "build"), is_python_module=False,
                       extra_cflags=["-O2", "-w"], extra_cuda_cflags=["-O3", "-w", "--split-compile=0", f"-DPEER_DTYPE={dtype}"])  # -w: their warnings are not ours to mend
    return getattr(torch.ops, name)


def whole_steps(shape, step):
    """Why an op that takes `step` images at a time refuses a shape; None where it doesn't."""
    return f"N is {shape['N']}, beyond {step} and no multiple of it" if shape["N"] % min(shape["N"], step) else None


# ---- DCNv4 ----

DCNV4_BINDING = """#include <ATen/ATen.h>
#include <torch/library.h>
#include <vector>
using at::Tensor;
Tensor flash_deform_attn_cuda_forward(const Tensor &, const Tensor &, const Tensor &, const Tensor &, const int, const int, const int, const int);
std::vector<Tensor> flash_deform_attn_cuda_backward(const Tensor &, const Tensor &, const Tensor &, const Tensor &, const Tensor &, const int, const int, const int, const int);
static Tensor forward(const Tensor &value, const Tensor &levels, const Tensor &starts, const Tensor &packed, int64_t step, int64_t points, int64_t stride, int64_t threads)
{
    return flash_deform_attn_cuda_forward(value, levels, starts, packed, (int)step, (int)points, (int)stride, (int)threads);
}
static std::vector<Tensor> backward(const Tensor &value, const Tensor &levels, const Tensor &starts, const Tensor &packed, const Tensor &grad, int64_t step, int64_t points, int64_t stride, int64_t threads)
{
    return flash_deform_attn_cuda_backward(value, levels, starts, packed, grad, (int)step, (int)points, (int)stride, (int)threads);
}
TORCH_LIBRARY(msda_peer_dcnv4, library)
{
    library.def("forward(Tensor value, Tensor levels, Tensor starts, Tensor packed, int step, int points, int stride, int threads) -> Tensor", forward);
    library.def("backward(Tensor value, Tensor levels, Tensor starts, Tensor packed, Tensor grad, int step, int points, int stride, int threads) -> Tensor[]", backward);
}
"""


class DCNv4:
    """FlashDeformAttn: values, locations and logits in f16, the last two in one tensor [N, Lq, M, 3·L·P]; the softmax is inside. Zeroing, f32 sums and their rounding to f16 are part of its op.

    A block has as many queries as divide N·Lq. Where they don't divide Lq, some blocks reach into the next image, but read the values of the one that they begin in: that is in its errors."""

    name, step = "DCNv4", 64

    def __init__(self, folder, cache):
        source = find_below(folder, "DCNv4_op/src", "src")
        self._ops = build("msda_peer_dcnv4", source, "cuda/flash_deform_attn_cuda.cu", DCNV4_BINDING, "at::kHalf", cache)
        self._launch = self._launch_rules(find_below(source.parent, "DCNv4/functions/flash_deform_attn_func.py", "functions/flash_deform_attn_func.py"), cache)

    @staticmethod
    def _launch_rules(path, cache):
        """Their Python module, whose functions choose the launches. It finds no compiled package here, and needs none for that; nor numpy, which it imports in vain."""
        copy = pathlib.Path(cache).resolve() / "msda_peer_dcnv4" / "dcnv4_launch_rules.py"
        copy.write_text(re.sub(r"^import numpy as np$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8")
        kept, sys.modules["DCNv4"] = sys.modules.get("DCNv4"), types.SimpleNamespace(ext=None)
        try:
            spec = importlib.util.spec_from_file_location("dcnv4_launch_rules", copy)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        finally:
            sys.modules.pop("DCNv4")
            if kept is not None:
                sys.modules["DCNv4"] = kept
        return module

    @staticmethod
    def refuses(shape):
        """Why it can't run a shape; None where it can."""
        if shape["P"] not in (4, 8):
            return f"P is {shape['P']}, not 4 or 8"
        if len(shape["H"]) > 5:
            return f"{len(shape['H'])} levels, more than 5"
        if shape["D"] % 8:
            return f"D is {shape['D']}, no multiple of 8"
        if shape["dtype"] != "f16":
            return f"values are {shape['dtype']}, not f16"
        return whole_steps(shape, DCNv4.step)

    def calls(self, inputs):
        import torch

        value, levels, starts = inputs.value, inputs.levels_on_gpu, inputs.starts_on_gpu
        n, queries, heads, level_count, points, _ = inputs.locations.shape
        packed = torch.cat([inputs.locations.half().flatten(3), inputs.weights.log().half().flatten(3)], -1).contiguous()
        sizes = n, queries, heads, value.shape[3]
        forward_launch, backward_launch = self._launch.findspec(*sizes), self._launch.findspec_bwd(*sizes)

        def gradients(found):
            """[of value, of locations, of the logits] of what it returns."""
            split = 2 * level_count * points
            return [found[0], found[1][..., :split].reshape(inputs.locations.shape), found[1][..., split:].reshape(inputs.weights.shape)]

        return Calls(lambda: self._ops.forward(value, levels, starts, packed, self.step, points, *forward_launch),
                     lambda: self._ops.backward(value, levels, starts, packed, inputs.grad_out, self.step, points, *backward_launch), gradients, of_logits=True)


# ---- Deformable-DETR ----

DETR_BINDING = """#include <ATen/ATen.h>
#include <torch/library.h>
#include <vector>
using at::Tensor;
Tensor ms_deform_attn_cuda_forward(const Tensor &, const Tensor &, const Tensor &, const Tensor &, const Tensor &, const int);
std::vector<Tensor> ms_deform_attn_cuda_backward(const Tensor &, const Tensor &, const Tensor &, const Tensor &, const Tensor &, const Tensor &, const int);
static Tensor forward(const Tensor &value, const Tensor &levels, const Tensor &starts, const Tensor &locations, const Tensor &weights, int64_t step)
{
    return ms_deform_attn_cuda_forward(value, levels, starts, locations, weights, (int)step);
}
static std::vector<Tensor> backward(const Tensor &value, const Tensor &levels, const Tensor &starts, const Tensor &locations, const Tensor &weights, const Tensor &grad, int64_t step)
{
    return ms_deform_attn_cuda_backward(value, levels, starts, locations, weights, grad, (int)step);
}
TORCH_LIBRARY(msda_peer_deformable_detr, library)
{
    library.def("forward(Tensor value, Tensor levels, Tensor starts, Tensor locations, Tensor weights, int step) -> Tensor", forward);
    library.def("backward(Tensor value, Tensor levels, Tensor starts, Tensor locations, Tensor weights, Tensor grad, int step) -> Tensor[]", backward);
}
"""


class DeformableDETR:
    """MSDeformAttn: all in f32, which is what it is compiled for; so it gets f32 copies of the inputs, and moves twice the bytes where values are f16."""

    name, step = "Deformable-DETR (f32)", 64

    def __init__(self, folder, cache):
        self._ops = build("msda_peer_deformable_detr", find_below(folder, "models/ops/src", "src"), "cuda/ms_deform_attn_cuda.cu", DETR_BINDING, "at::kFloat", cache)

    def refuses(self, shape):
        return whole_steps(shape, self.step)

    def calls(self, inputs):
        value, locations, weights, grad_out = (tensor.float().contiguous() for tensor in (inputs.value, inputs.locations, inputs.weights, inputs.grad_out))
        common = value, inputs.levels_on_gpu, inputs.starts_on_gpu, locations, weights
        return Calls(lambda: self._ops.forward(*common, self.step), lambda: self._ops.backward(*common, grad_out, self.step), list)


class Calls:
    """What a contestant does with given inputs: forward() -> out; backward() -> something of which gradients(…) makes [of value, of locations, of weights, or of logits before a softmax]."""

    def __init__(self, forward, backward, gradients, of_logits=False):
        self.forward, self.backward, self.gradients, self.of_logits = forward, backward, gradients, of_logits
