"""msda_tune.torch as far as it goes without torch: what it asks the library for a call, on the scripted driver, and what it says where there is no code for the call. Usage: python_torch.py BUILD_FOLDER"""
import contextlib
import pathlib
import sys
import types

from python_parts import FakeDriver
from tunelookup import _driver

fake = pathlib.Path(sys.argv[1], "lib/libfake_cuda.so")
if not fake.exists():
    sys.exit(0)


class Tensor:
    """As much of a tensor as is looked at before anything is launched."""

    is_cuda, is_inference, _version, reads = True, staticmethod(lambda: False), 0, 0

    def __init__(self, *shape, dtype="torch.float16", numbers=None):
        self.shape, self.dtype, self.numbers = shape, dtype, numbers
        self.device = DEVICE

    def get_device(self):
        return self.device.index

    def tolist(self):
        self.reads += 1
        return self.numbers


class Library:
    """What is registered: {name: {key: kernel}}."""

    ns, registered = "msda_tune", {}

    def __init__(self, *_):
        pass

    def define(self, schema, tags):
        self.registered[schema.split("(")[0]] = {"schema": schema}

    def impl(self, name, kernel, key, with_keyset=False):
        self.registered[name][key] = kernel


def register(key):
    return lambda name, kernel, lib, **_: Library().impl(name.removeprefix("msda_tune::"), kernel, key)


DEVICE = types.SimpleNamespace(index=0)
torch = types.ModuleType("torch")
torch.Tensor = Tensor
torch.tensor, torch.int32 = lambda rows, **_: rows, "torch.int32"
torch.is_grad_enabled = lambda: False
torch.Tag = types.SimpleNamespace(pt2_compliant_tag=1)
torch.ops = types.SimpleNamespace(msda_tune=types.SimpleNamespace(**{name: types.SimpleNamespace(default=None) for name in (
    "ms_deform_attn", "ms_deform_attn_backward", "ms_deform_attn_levels", "ms_deform_attn_levels_backward", "matmul")}))
torch._C = types.SimpleNamespace(DispatchKeySet=object)
torch.library = types.SimpleNamespace(Library=Library, register_fake=register("Fake"), register_vmap=register("vmap"),
                                      register_autograd=lambda name, backward, setup_context, lib: lib.impl(name.removeprefix("msda_tune::"), backward, "Autograd", with_keyset=True))
torch.nn = types.ModuleType("torch.nn")
torch.nn.Module = object
torch.nn.functional = types.ModuleType("torch.nn.functional")
torch.cuda = types.SimpleNamespace(is_current_stream_capturing=lambda: False, device=lambda _: contextlib.nullcontext(), current_stream=lambda: types.SimpleNamespace(query=lambda: True),
                                   current_device=lambda: 0, is_initialized=lambda: True)
sys.modules.update({"torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional})
_driver._driver = lambda: FakeDriver(str(fake))

import tunelookup  # noqa: E402
import msda_tune.torch as tuned  # noqa: E402  # it imports torch
from msda_tune.torch import MultiScaleDeformableAttention  # noqa: E402

for name, kernels in Library.registered.items():
    wanted = {"schema", "CompositeExplicitAutograd", "Fake", "Autograd"} | ({"AutocastCUDA"} if not name.endswith("backward") else set()) | ({"vmap"} if name != "matmul" else set())
    assert set(kernels) == wanted, (name, set(kernels))
assert tunelookup.Device.current().name == "Fake GPU"  # torch's
torch.cuda.current_device = lambda: 7
try:
    tunelookup.Device.current()
    raise AssertionError("not torch's device")
except tunelookup.DeviceError as error:
    assert "device 7" in str(error), error
torch.cuda.current_device = lambda: 0
op = MultiScaleDeformableAttention()
levels = [(100, 134), (50, 67), (25, 34), (13, 17)]
starts = [0, 13400, 16750, 17600]
locations, weights = Tensor(4, 300, 8, 4, 4, 2, dtype="torch.float32"), Tensor(4, 300, 8, 4, 4, dtype="torch.float32")


def why(value, *rest):
    first, *said = op.explain(value, levels, starts, *rest).splitlines()
    assert first == "grid_sample", first
    return "\n".join(said)


# known to the lookup, which ships no code for it
assert why(Tensor(4, 17821, 8, 32), locations, weights).startswith("cubin: "), why(Tensor(4, 17821, 8, 32), locations, weights)
assert "no kernel for torch.float64 values" in why(Tensor(4, 17821, 8, 32, dtype="torch.float64"), locations, weights)
on_cpu = Tensor(4, 17821, 8, 32)
on_cpu.is_cuda, on_cpu.device = False, types.SimpleNamespace(index=-1)
assert "not on one GPU" in why(on_cpu, locations, weights)
try:
    op.explain(Tensor(4, 17822, 8, 32), levels, starts, locations, weights)
    raise AssertionError("a value with a pixel too many")
except ValueError as error:
    assert "pixels" in str(error), error
# tables that lie on the GPU are read once, and again where they were written to
shapes, firsts = Tensor(4, 2, numbers=[list(level) for level in levels]), Tensor(4, numbers=starts)
for version in (0, 0, 1, 1):
    shapes._version = version
    assert op._tables.of(shapes, firsts) is op._tables.of(levels, starts)
assert shapes.reads == 2, shapes.reads
shapes.is_inference = lambda: True  # these have no versions
mutable = Tensor(4, 2, numbers=shapes.numbers)
mutable.is_inference = shapes.is_inference
for reads in (1, 2):
    op._tables.of(mutable, firsts)
    assert mutable.reads == reads
# ranks: one state of the database, or none
assert MultiScaleDeformableAttention(snapshot=op.snapshot_id).snapshot_id == op.snapshot_id
try:
    MultiScaleDeformableAttention(snapshot="0" * 32)
    raise AssertionError("another snapshot")
except tunelookup.SnapshotError as error:
    assert "expected " + "0" * 32 in str(error), error
# closed twice, and asked afterwards
closed = MultiScaleDeformableAttention()
closed.close()
closed.close()
assert "is closed" in closed.explain(Tensor(4, 17821, 8, 32), levels, starts, locations, weights)
# frozen: what was seen is known, the rest is refused
with op.frozen():
    assert why(Tensor(4, 17821, 8, 32), locations, weights).startswith("cubin: ")
    try:
        op.explain(Tensor(2, 17821, 8, 32), levels, starts, Tensor(2, 7, 8, 4, 4, 2, dtype="torch.float32"), Tensor(2, 7, 8, 4, 4, dtype="torch.float32"))
        raise AssertionError("asked while frozen")
    except RuntimeError as error:
        assert "frozen" in str(error), error
# spaces that came with the library have names
assert MultiScaleDeformableAttention(space="msda")._forward._space.source.name == "msda.cu"
try:
    MultiScaleDeformableAttention(space="nothing")
    raise AssertionError("a space from nowhere")
except FileNotFoundError as error:
    assert "no search space nothing" in str(error), error
# matmul is torch's until somebody says otherwise
torch.matmul = lambda a, b: (a, b)
assert tuned.matmul("a", "b") == ("a", "b")
# a shape that is first seen while a graph is captured
torch.cuda.is_current_stream_capturing = lambda: True
try:
    op.explain(Tensor(2, 17821, 8, 32), levels, starts, Tensor(2, 7, 8, 4, 4, 2, dtype="torch.float32"), Tensor(2, 7, 8, 4, 4, dtype="torch.float32"))
    raise AssertionError("loaded during a capture")
except RuntimeError as error:
    assert "before the capture" in str(error), error
try:
    op._tables.of(Tensor(4, 2, numbers=shapes.numbers), firsts)
    raise AssertionError("read during a capture")
except RuntimeError as error:
    assert "before it" in str(error), error
print("checked")
