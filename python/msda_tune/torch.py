"""Multi-scale deformable attention, forward and backward, by the tuned kernels of a database: a drop-in for the usual op.

    from msda_tune.torch import ms_deform_attn
    out = ms_deform_attn(value, spatial_shapes, level_start_index, sampling_locations, attention_weights)

value [N, S, M, D], spatial_shapes [L, 2] (height, width), level_start_index [L], sampling_locations [N, Lq, M, L, P, 2] in [0, 1], attention_weights
[N, Lq, M, L, P] -> [N, Lq, M*D]. Runs on torch's current stream and without waiting for it. Where the database has nothing for a call, or
for its gradients, the same is computed with grid_sample. docs/python.md says how to use it in CUDA graphs."""
import ctypes
import warnings
import weakref

try:
    import torch
except ImportError as missing:
    raise ImportError(f"msda_tune.torch needs PyTorch with CUDA: {missing}; the lookup alone (tunelookup, examples/lookup.c) does not") from missing
import torch.nn.functional as F

from tunelookup import _c as tunelookup
from tunelookup import _driver as cuda_driver
from tunelookup import Error

from . import _compile_variant as compile_variant
from . import _problem as problem


def by_grid_sample(value, levels, sampling_locations, attention_weights):
    """The definition, in f32; differentiable."""
    n, _, heads, channels = value.shape
    _, query_count, _, level_count, points, _ = sampling_locations.shape
    grids = 2 * sampling_locations.float() - 1
    sampled, first = [], 0
    for level, (height, width) in enumerate(levels):
        image = value[:, first:first + height * width].float().permute(0, 2, 3, 1).reshape(n * heads, channels, height, width)
        grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
        sampled.append(F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
        first += height * width
    weights = attention_weights.float().transpose(1, 2).reshape(n * heads, 1, query_count, level_count * points)
    out = (torch.stack(sampled, dim=-2).flatten(-2) * weights).sum(-1)
    return out.view(n, heads * channels, query_count).transpose(1, 2).to(value.dtype).contiguous()


class _HostCopies:
    """Contents of small device tensors. Reading one waits for the GPU, so it is done once per tensor, not once per call."""

    def __init__(self):
        self._known = {}

    def get(self, tensor):
        if not isinstance(tensor, torch.Tensor):
            return [list(row) if isinstance(row, (list, tuple)) else int(row) for row in tensor]
        if not tensor.is_cuda:
            return tensor.tolist()
        if tensor.is_inference():  # has no version, so a change would go unseen: read each time
            if torch.cuda.is_current_stream_capturing():
                raise RuntimeError("spatial_shapes and level_start_index lie on the GPU and were made in inference mode: pass lists or CPU tensors in a capture")
            return tensor.tolist()
        entry = self._known.get(id(tensor))
        if entry and entry[0]() is tensor and entry[1] == tensor._version:
            return entry[2]
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("spatial_shapes and level_start_index lie on the GPU and were not seen before this capture: call once with these tensors before it, or pass "
                               "lists or CPU tensors")
        key, contents = id(tensor), tensor.tolist()
        self._known[key] = (weakref.ref(tensor, lambda _: self._known.pop(key, None)), tensor._version, contents)
        return contents


class _Tuned:
    """One answer of the lookup, loaded: everything but addresses and the stream is settled. is_proved: the tuner validated this very code on this shape."""

    def __init__(self, library, result, module, is_proved, made, inputs):
        """made: {argument's name: tensor}, inputs that the problem alone decides; inputs: names of those that a call gives."""
        self.is_proved, self.made = is_proved, made
        self.args = library.args(result)
        problem.check_inputs([arg.name.decode() for arg in self.args if arg.is_used and arg.kind == tunelookup.TENSOR and arg.role in (tunelookup.IN, tunelookup.INOUT)], made, inputs)
        self.maps = {i: library.tensormaps(result, i, arg.map_count) for i, arg in enumerate(self.args) if arg.kind == tunelookup.TENSORMAP and arg.is_used}
        self.launches = []
        for info in library.launches(result):
            config, attributes = cuda_driver.make_config(info)
            self.launches.append((config, attributes, cuda_driver.load_function(module, info), list(info.args[:info.arg_count])))

    def _encode(self, addresses):
        """{argument: address of its maps}, and what keeps them alive."""
        count = sum(len(infos) for infos in self.maps.values())
        room = ctypes.create_string_buffer(count * cuda_driver.MAP_BYTES + cuda_driver.MAP_ALIGN)
        at = -(-ctypes.addressof(room) // cuda_driver.MAP_ALIGN) * cuda_driver.MAP_ALIGN
        places = {}
        for index, infos in self.maps.items():
            places[index] = at
            for info in infos:
                cuda_driver.encode_map(info, addresses[self.args[index].tensor], at)
                at += cuda_driver.MAP_BYTES
        return places, room

    def run(self, given, stream):
        """given: {argument's name: tensor}. What is neither given nor made is scratch of this call; the caching allocator keeps its memory in stream order."""
        device = next(iter(given.values())).device
        addresses, scratch, given = (ctypes.c_uint64 * len(self.args))(), [], {**self.made, **given}
        for i, arg in enumerate(self.args):
            if arg.kind != tunelookup.TENSOR:
                continue
            tensor = given.get(arg.name.decode())
            if tensor is None and arg.is_used:
                tensor = torch.empty(max(arg.bytes, 16), dtype=torch.uint8, device=device)
                scratch.append(tensor)
            if tensor is not None:
                if arg.is_used and arg.zero_before_each:
                    tensor.zero_()
                addresses[i] = tensor.data_ptr()
        places, room = self._encode(addresses) if self.maps else ({}, None)
        scalars = [(ctypes.c_ubyte * 8)(*arg.scalar) if arg.kind == tunelookup.SCALAR else None for arg in self.args]

        def parameter(i):
            kind = self.args[i].kind
            return places[i] if kind == tunelookup.TENSORMAP else ctypes.addressof(scalars[i]) if kind == tunelookup.SCALAR else ctypes.addressof(addresses) + 8 * i

        for config, _, function, indices in self.launches:
            cuda_driver.launch(config, function, [parameter(i) for i in indices], stream)
        del room


class _Kernel:
    """One kernel of the database and what is loaded of it."""

    def __init__(self, library, name, space, inputs):
        self._library, self._kernel, self._inputs = library, name, inputs
        self._space = compile_variant.Space(space) if space else None
        self._devices, self._plans, self._modules, self._ready = {}, {}, {}, {}

    def _find(self, ordinal, names, values):
        if ordinal not in self._devices:
            self._devices[ordinal] = cuda_driver.describe(ordinal)
        key = (ordinal, *names)
        if key not in self._plans:
            self._plans[key] = self._library.prepare(self._devices[ordinal], self._kernel, names)
        return self._library.find(self._plans[key], values)

    def _code(self, ordinal, result, names, values):
        """(module, whether it is what the tuner validated), or tunelookup.Error."""
        try:
            address, _ = self._library.cubin(result)  # of the very shape; none where another one was tuned
        except Error:
            if not self._space:
                raise
            cubin = compile_variant.compile_variant(self._space, result.variant.decode(), problem.shape_of(names, values), self._devices[ordinal].cc)
            return cuda_driver.load_module(cubin), False
        if (ordinal, address) not in self._modules:
            self._modules[ordinal, address] = cuda_driver.load_module(address)
        return self._modules[ordinal, address], True

    def _load(self, ordinal, names, values):
        """(what runs it or None, why)."""
        try:
            result = self._find(ordinal, names, values)
            why = self._library.explain(result)
            if result.match == tunelookup.NONE:
                return None, why
            made = {"levels": torch.tensor(problem.level_table(problem.shape_of(names, values)), dtype=torch.int32, device=f"cuda:{ordinal}")}
            return _Tuned(self._library, result, *self._code(ordinal, result, names, values), made, self._inputs), why
        except (Error, RuntimeError, OSError, ValueError) as trouble:
            return None, str(trouble)

    def entry(self, value, levels, locations, weights, queries, workload, grad_dtype=None):
        """(what runs such a call or None, why)."""
        dtype, location_dtype = (problem.DTYPES.get(str(t.dtype).removeprefix("torch.")) for t in (value, locations))
        if not dtype or not location_dtype or weights.dtype != locations.dtype:
            return None, f"no kernel for {value.dtype} values, {locations.dtype} locations and {weights.dtype} weights"
        key = (value.device.index, tuple(value.shape), tuple(locations.shape), tuple(map(tuple, levels)), dtype, location_dtype, queries, workload, grad_dtype)
        if key not in self._ready:
            if torch.cuda.is_current_stream_capturing():
                raise RuntimeError("this shape was not seen before the capture: call once with it before, so that its code is loaded")
            with torch.cuda.device(value.device):
                torch.cuda.current_stream().query()  # makes torch's context the current one
                self._ready[key] = self._load(value.device.index, *problem.question(value.shape, levels, locations.shape, dtype, location_dtype, queries, workload, grad_dtype))
        return self._ready[key]

    def prove(self, tuned, mine, wanted):
        """Code that the tuner never saw on this shape: once, and waiting for the GPU, its outputs are compared with those of grid_sample. Returns what is right."""
        errors = [((a.float() - b.float()).norm() / b.float().norm().clamp(min=1e-20)).item() for a, b in zip(mine, wanted)]
        if all(error < 1e-2 for error in errors):  # NaN is not; max() would pass over it
            tuned.is_proved = True
            return mine
        warnings.warn(f"a tuned kernel is wrong for this shape (errors {', '.join(f'{error:.2g}' for error in errors)}); grid_sample is used")
        for key, (entry, _) in self._ready.items():
            if entry is tuned:
                self._ready[key] = None, "wrong for this shape"
        return wanted


def _launchable(tensor):
    """Contiguous, and aligned as kernels want it."""
    return tensor.contiguous() if tensor.data_ptr() % 16 == 0 else tensor.clone(memory_format=torch.contiguous_format)


def _run(tuned, given, value):
    with torch.cuda.device(value.device):
        if not tuned.is_proved and torch.cuda.is_current_stream_capturing():
            raise RuntimeError("this shape's code was not proved before the capture: call once with it before")
        tuned.run(given, torch.cuda.current_stream().cuda_stream)


class _WithGradients(torch.autograd.Function):
    """The op where gradients are wanted. call: (op, levels, queries, workload)."""

    @staticmethod
    def forward(ctx, value, locations, weights, call, tuned):
        ctx.save_for_backward(value, locations, weights)
        ctx.call = call
        op, levels = call[:2]
        return op.run_forward(tuned, value, levels, locations, weights)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_out):
        op, levels, queries, workload = ctx.call
        return (*op.gradients(*ctx.saved_tensors, grad_out, levels, queries, workload), None, None)


class MultiScaleDeformableAttention:
    """The op with a database of its own. Threads may share one once the shapes they use were seen."""

    def __init__(self, database=None, kernel="msda", user_cubins=True, space=None, library=None, backward="msda_backward", backward_space=None):
        """database: None = the user's over the shipped ones. kernel: "msda", or "msda@KEY" (`msda-tune key`). user_cubins: run code of the user's file, which is then trusted like
        a program. space: the .ini that was tuned; variants without code for a shape are compiled from its source, and compared with grid_sample at their first call. backward,
        backward_space: the same for gradients."""
        flags = tunelookup.COUNT_MISSES | (tunelookup.USER_CUBINS if user_cubins else 0)
        self._library = tunelookup.Library(database, flags, library)
        self._forward = _Kernel(self._library, kernel, space, problem.GIVEN)
        self._backward = _Kernel(self._library, backward, backward_space, (*problem.GIVEN, "grad_out"))
        self._host = _HostCopies()

    def _ask(self, value, spatial_shapes, level_start_index, locations, weights, queries, workload):
        levels, starts = self._host.get(spatial_shapes), self._host.get(level_start_index)
        problem.check(tuple(value.shape), levels, starts, tuple(locations.shape), tuple(weights.shape))
        if not value.is_cuda or locations.device != value.device or weights.device != value.device:
            return levels, None, "the tensors are not on one GPU"
        queries = problem.guess_queries(value.shape[1], locations.shape[1]) if queries == "auto" else queries
        return (levels, *self._forward.entry(value, levels, locations, weights, queries, workload))

    def explain(self, value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries="auto", workload=None):
        """What serves such a call, and why."""
        _, tuned, why = self._ask(value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries, workload)
        return ("tuned kernel\n" if tuned else "grid_sample\n") + why

    def __call__(self, value, spatial_shapes, level_start_index, sampling_locations, attention_weights, im2col_step=None, *, queries="auto", workload=None, fallback=True):
        """im2col_step is taken for compatibility. queries: "grid", "levels" or "free" (msda.ini); "auto": one per pixel are "levels", others "free". fallback False: RuntimeError
        instead of grid_sample."""
        queries = problem.guess_queries(value.shape[1], sampling_locations.shape[1]) if queries == "auto" else queries
        levels, tuned, why = self._ask(value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries, workload)
        inputs = (value, sampling_locations, attention_weights)
        if torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
            backward, why_not = self._gradients_by(value, sampling_locations, attention_weights, levels, queries, workload)
            if tuned and backward:
                return _WithGradients.apply(*inputs, (self, levels, queries, workload), tuned)
            tuned, why = None, "gradients are wanted: " + (why_not if tuned else why)
        if not tuned:
            if not fallback:
                raise RuntimeError("no tuned kernel: " + why)
            return by_grid_sample(value, levels, sampling_locations, attention_weights)
        return self.run_forward(tuned, value, levels, sampling_locations, attention_weights)

    def run_forward(self, tuned, value, levels, locations, weights):
        """By a kernel."""
        given = (value, locations, weights)
        value, locations, weights = (_launchable(t) for t in given)
        out = torch.empty(value.shape[0], locations.shape[1], value.shape[2] * value.shape[3], dtype=value.dtype, device=value.device)
        _run(tuned, {"value": value, "loc": locations, "attn": weights, "out": out}, value)
        return out if tuned.is_proved else self._forward.prove(tuned, [out], [by_grid_sample(value, levels, locations, weights)])[0]

    def _gradients_by(self, value, locations, weights, levels, queries, workload):
        """(what runs the backward or None, why). grad_value in the values' type if there is such a kernel, else in f32."""
        for grad_dtype in dict.fromkeys((problem.DTYPES.get(str(value.dtype).removeprefix("torch.")), "f32")):
            tuned, why = self._backward.entry(value, levels, locations, weights, queries, workload, grad_dtype)
            if tuned:
                return (tuned, grad_dtype), why
        return None, why

    def explain_gradients(self, value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries="auto", workload=None):
        """What serves the backward of such a call, and why. None of the tensors needs to require gradients."""
        queries = problem.guess_queries(value.shape[1], sampling_locations.shape[1]) if queries == "auto" else queries
        levels, _, _ = self._ask(value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries, workload)
        tuned, why = self._gradients_by(value, sampling_locations, attention_weights, levels, queries, workload)
        return ("tuned kernel\n" if tuned else "grid_sample\n") + why

    def gradients(self, value, locations, weights, grad_out, levels, queries, workload=None):
        """(grad_value, grad_loc, grad_attn), each in its tensor's type; levels: [(height, width), …]. By a kernel if there is one. Its sums into grad_value are atomic: the last bits
        differ from run to run."""
        found, _ = self._gradients_by(value, locations, weights, levels, queries, workload)
        if not found:
            return self._gradients_by_grid_sample(value, levels, locations, weights, grad_out)
        tuned, grad_dtype = found
        value, locations, weights, grad_out = (_launchable(t) for t in (value, locations, weights, grad_out.to(value.dtype)))
        grad_value = torch.empty_like(value, dtype=torch.float32 if grad_dtype == "f32" else value.dtype)
        mine = [grad_value, torch.empty_like(locations), torch.empty_like(weights)]
        _run(tuned, {"value": value, "loc": locations, "attn": weights, "grad_out": grad_out, **dict(zip(("grad_value", "grad_loc", "grad_attn"), mine))}, value)
        if not tuned.is_proved:
            mine = self._backward.prove(tuned, mine, self._gradients_by_grid_sample(value, levels, locations, weights, grad_out))
        return mine[0].to(value.dtype), mine[1], mine[2]

    @staticmethod
    def _gradients_by_grid_sample(value, levels, locations, weights, grad_out):
        with torch.enable_grad():
            inputs = [t.detach().requires_grad_() for t in (value, locations, weights)]
            return torch.autograd.grad(by_grid_sample(inputs[0], levels, *inputs[1:]), inputs, grad_out)

    def flush_misses(self, path):
        """Appends the shapes that found nothing to a file for `msda-tune --from-misses`."""
        self._library.flush_misses(path)


_default = None


def ms_deform_attn(*args, **kwargs):
    """MultiScaleDeformableAttention() on the user's database."""
    global _default
    if _default is None:
        _default = MultiScaleDeformableAttention()
    return _default(*args, **kwargs)
