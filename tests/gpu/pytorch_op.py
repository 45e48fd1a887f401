"""The operations of msda_tune.torch on a GPU. Usage: pytorch_op.py EXAMPLE_FOLDER DATABASE [CHECK…], which has shapes odd and odd_d13_f32 of msda and msda_backward."""
import contextlib
import copy
import pickle
import sys
import threading
import time
import unittest.mock
import warnings

sys.path.insert(0, sys.argv[1])
import torch
from torch import nn

import bench
import tunelookup
from msda_tune import _compile_variant
from msda_tune.torch import MSDeformAttn, MultiScaleDeformableAttention, _attention, _kernels
from msda_tune.torch._reference import by_grid_sample, gradients_by_grid_sample
from tunelookup import _driver

bench.SHAPES["odd_d13_f32"] = (1, 3, 13, 1, 23, [(7, 13), (5, 6), (2, 3)], "free")
op = MultiScaleDeformableAttention(sys.argv[2])
ops = torch.ops.msda_tune
LIMITS = {torch.float16: 2e-3, torch.float32: 1e-4}


def make(name="odd", seed=0):
    """(value, levels, starts, locations, weights) that a tuned kernel serves."""
    value, levels, starts, locations, weights, _ = bench.make(name, dtype=torch.float32 if name.endswith("f32") else torch.float16, seed=seed)
    return value, levels, starts, locations, weights


def on_gpu(levels, starts):
    return torch.tensor(levels, device="cuda"), torch.tensor(starts, device="cuda")


def expect(what, mine, wanted, limit=2e-3):
    for a, b in zip(mine, wanted):
        error = ((a.double() - b.double()).norm() / b.double().norm()).item()
        assert error < limit, f"{what}: error {error}, expected less than {limit}"
    print(f"{what}: right")


def exact(value, levels, locations, weights):
    """In f64, by grid_sample."""
    return by_grid_sample(value.double(), levels, locations.double(), weights.double())


def exact_gradients(value, levels, locations, weights, grad_out):
    return gradients_by_grid_sample(value.double(), levels, locations.double(), weights.double(), grad_out.double())


@contextlib.contextmanager
def refused(error, *parts):
    try:
        yield
    except error as problem:
        for part in parts:
            assert part in str(problem), problem
        print(f"refused: {str(problem).splitlines()[0][:140]}")
        return
    raise AssertionError(f"not refused: {parts}")


def poison(*shapes):
    """What the allocator hands out next holds NaN."""
    for _ in range(4):
        [torch.full(shape, float("nan"), device="cuda", dtype=dtype) for shape in shapes for dtype in (torch.float16, torch.float32)]
    torch.cuda.synchronize()


def check_values_and_gradients():
    for name in ("odd", "odd_d13_f32"):
        for seed in range(3):
            value, levels, starts, locations, weights = make(name, seed)
            for table in ((levels, starts), on_gpu(levels, starts), tuple(t.cpu() for t in on_gpu(levels, starts))):
                inputs = [t.clone().requires_grad_() for t in (value, locations, weights)]
                poison(value.shape, locations.shape, weights.shape)
                out = op(inputs[0], *table, *inputs[1:], fallback=False)
                grad_out = torch.randn_like(out)
                poison(value.shape, locations.shape, weights.shape)
                grads = torch.autograd.grad(out, inputs, grad_out)
                assert [g.dtype for g in grads] == [t.dtype for t in inputs]
                expect(f"{name} {seed} forward", [out], [exact(value, levels, locations, weights)], LIMITS[value.dtype])
                expect(f"{name} {seed} backward", grads, exact_gradients(value, levels, locations, weights, grad_out), 5e-3)
    value, levels, starts, locations, weights = make("odd_d13_f32")
    inputs = [t.double().requires_grad_() for t in (value, locations[:, :4], weights[:, :4])]  # f64, which no kernel computes: grid_sample, and its gradients
    assert torch.autograd.gradcheck(lambda *t: op(t[0], levels, starts, *t[1:]), inputs, nondet_tol=1e-9)
    with refused(RuntimeError, "no second derivatives"):
        value, levels, starts, locations, weights = make()
        value.requires_grad_()
        first = torch.autograd.grad(op(value, levels, starts, locations, weights).sum(), value, create_graph=True)[0]
        torch.autograd.grad(first.sum(), value)
    print("gradcheck: passed")


def check_opcheck():
    for name in ("odd", "odd_d13_f32"):
        value, levels, starts, locations, weights = make(name)
        settings, tolerances = ("auto", "", True, op._number), dict(atol=2e-2, rtol=2e-2) if name == "odd" else dict(atol=1e-3, rtol=1e-3)
        grad_out = torch.randn(value.shape[0], locations.shape[1], value.shape[2] * value.shape[3], device="cuda", dtype=value.dtype)
        for suffix, table in (("", on_gpu(levels, starts)), ("_levels", ([n for level in levels for n in level], starts))):
            for wants in (False, True):
                inputs = [t.clone().requires_grad_(wants) for t in (value, locations, weights)]
                done = torch.library.opcheck(getattr(ops, "ms_deform_attn" + suffix).default, (inputs[0], *table, *inputs[1:], *settings), **tolerances)
                assert set(done.values()) == {"SUCCESS"}, done
            done = torch.library.opcheck(getattr(ops, f"ms_deform_attn{suffix}_backward").default, (value, *table, locations, weights, grad_out, "auto", "", op._number), **tolerances)
            assert set(done.values()) == {"SUCCESS"}, done
    a, b = (torch.randn(64, 64, device="cuda", dtype=torch.float16, requires_grad=True) for _ in range(2))
    assert set(torch.library.opcheck(ops.matmul.default, (a, b), atol=1e-2, rtol=1e-2).values()) == {"SUCCESS"}
    print("opcheck: passed")


def check_compile():
    value, levels, starts, locations, weights = make()
    for what, table, options in (("tensors", on_gpu(levels, starts), {}), ("lists", (levels, starts), {}), ("dynamic", on_gpu(levels, starts), dict(dynamic=True))):
        def model(value, locations, weights, table=table):
            return op(value * 2, *table, locations, weights.softmax(-1)) + 1

        compiled = torch.compile(model, fullgraph=True, **options)
        for count in (locations.shape[1], 5):  # 5: nobody tuned it
            inputs = [t.clone().requires_grad_() for t in (value, locations[:, :count], weights[:, :count])]
            out, wanted = compiled(*inputs), model(*inputs)
            grad_out = torch.randn_like(out)
            expect(f"compiled, {what}, {count} queries", [out], [wanted])
            expect("its gradients", torch.autograd.grad(out, inputs, grad_out), torch.autograd.grad(wanted, inputs, grad_out), 5e-3)
    from torch._dynamo.utils import counters
    counters.clear()
    reduced = torch.compile(lambda value, locations, weights: op(value, levels, starts, locations, weights, fallback=False) * 2, fullgraph=True, mode="reduce-overhead")
    for seed in range(5):
        value, levels, starts, locations, weights = make(seed=seed)
        with torch.no_grad():
            expect(f"reduce-overhead {seed}", [reduced(value, locations, weights)], [exact(value, levels, locations, weights) * 2])
    assert not counters["inductor"]["cudagraph_skips"], counters["inductor"]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = MSDeformAttn(32, 3, 2, 3, op=op)

    def forward(self, query, points, pixels, shapes, starts):
        return self.attention(query, points, pixels, shapes, starts)


def layer_inputs():
    _, levels, starts, _, _ = make()
    pixels = sum(h * w for h, w in levels)
    return torch.randn(2, 37, 32, device="cuda"), torch.rand(2, 37, 3, 2, device="cuda"), torch.randn(2, pixels, 32, device="cuda"), *on_gpu(levels, starts)


def check_export():
    layer, inputs = Layer().cuda(), layer_inputs()
    with torch.no_grad():
        program = torch.export.export(layer, inputs)
        assert [node.target for node in program.graph.nodes].count(ops.ms_deform_attn.default) == 1
        inputs = layer_inputs()
        expect("exported", [program.module()(*inputs)], [layer(*inputs)], 1e-5)
    compiled = torch.compile(layer, fullgraph=True)
    expect("a compiled layer", [compiled(*inputs)], [layer(*inputs)], 1e-4)


@contextlib.contextmanager
def door_shut():
    """Whatever asks the database, compiles or loads raises."""
    def shut(*_, **__):
        raise AssertionError("loaded or asked")

    with contextlib.ExitStack() as stack:
        for place, name in ((_driver, "load_module"), (_driver, "load_function"), (_compile_variant, "compile_variant"), (tunelookup.Plan, "find"), (tunelookup.Library, "prepare"), (_kernels.Kernel, "entry")):
            stack.enter_context(unittest.mock.patch.object(place, name, shut))
        yield


def check_graphs():
    value, levels, starts, locations, weights = make()
    table = on_gpu(levels, starts)
    static = [t.clone().requires_grad_() for t in (value, locations, weights)]
    grad_out = torch.randn(2, 37, 32, device="cuda", dtype=value.dtype)

    def step():
        out = op(static[0], *table, *static[1:], fallback=False)
        return out, torch.autograd.grad(out, static, grad_out)

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()
    torch.cuda.current_stream().wait_stream(stream)
    graph, modules = torch.cuda.CUDAGraph(), len(_kernels._modules)
    with door_shut(), torch.cuda.graph(graph):
        out, grads = step()
    assert len(_kernels._modules) == modules
    for seed in (1, 2, 3):
        fresh = make(seed=seed)
        with torch.no_grad():
            for mine, new in zip((*static, grad_out), (fresh[0], fresh[3], fresh[4], torch.randn_like(grad_out))):
                mine.copy_(new)
            for tensor in (out, *grads):
                tensor.fill_(float("nan"))
        graph.replay()
        expect(f"graph replay {seed}", [out], [exact(fresh[0], levels, fresh[3], fresh[4])])
        expect("its gradients", grads, exact_gradients(fresh[0], levels, fresh[3], fresh[4], grad_out), 5e-3)
    for what, call in (("queries", lambda: op(value, *table, locations[:, :3].contiguous(), weights[:, :3].contiguous())), ("levels", lambda: op(value, *on_fresh, locations, weights))):
        on_fresh = on_gpu(levels, starts)
        with refused(RuntimeError, "before"):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                call()
    with op.frozen():
        expect("frozen", [op(value, *table, locations, weights, fallback=False)], [exact(value, levels, locations, weights)])
        with refused(RuntimeError, "frozen"):
            op(value, *table, locations[:, :4].contiguous(), weights[:, :4].contiguous())


def check_proofs():
    """A kernel that nobody proved is, at its first call, whatever that call's numbers are; a wrong one serves no more."""
    value, levels, starts, locations, weights = make()
    for numbers in (0, float("inf"), float("nan")):
        mine = MultiScaleDeformableAttention(sys.argv[2])
        grad_out = torch.full((2, 37, 32), numbers, device="cuda", dtype=value.dtype)
        kernels = [kernel for kernel, told in ((mine._forward, mine.explain), (mine._backward, mine.explain_gradients)) if told(value, levels, starts, locations, weights).startswith("tuned")]
        found = [tuned for kernel in kernels for tuned, _ in kernel.ready.values() if tuned]
        assert len(found) == 2
        for tuned in found:
            tuned.is_proved = False
        before = torch.cuda.get_rng_state()
        mine(value * numbers, levels, starts, locations, weights, fallback=False)
        mine.gradients(value, levels, starts, locations, weights, grad_out)
        assert torch.equal(before, torch.cuda.get_rng_state())
        assert all(tuned.is_proved for tuned in found), numbers
    for tuned in found:
        tuned.is_proved = False
    with unittest.mock.patch.object(_attention, "by_grid_sample", lambda *t: by_grid_sample(*t) * 1.1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with refused(RuntimeError, "wrong for this shape"):
            mine(value, levels, starts, locations, weights, fallback=False)
    assert len(caught) == 1 and "a tuned kernel is wrong" in str(caught[0].message), caught
    with refused(ValueError, "grad_out is (2, 37, 31)"):
        mine.gradients(value, levels, starts, locations, weights, grad_out[..., :31])


def check_autocast():
    value, levels, starts, locations, weights = make()
    inputs = [value.float().requires_grad_(), locations.half().requires_grad_(), weights.half().requires_grad_()]
    with torch.autocast("cuda", dtype=torch.float16):
        out = op(inputs[0], levels, starts, *inputs[1:], fallback=False)
    assert out.dtype == torch.float16
    expect("autocast", [out], [exact(inputs[0].half(), levels, *inputs[1:])])
    grad_out = torch.randn_like(out)
    grads = torch.autograd.grad(out, inputs, grad_out)
    assert [g.dtype for g in grads] == [torch.float32, torch.float16, torch.float16]
    expect("its gradients", grads, exact_gradients(inputs[0].half(), levels, *inputs[1:], grad_out), 5e-3)


def check_vmap():
    value, levels, starts, locations, weights = make()
    for table in ((levels, starts), on_gpu(levels, starts)):
        with refused(RuntimeError, "under vmap", "fold the mapped dimension"):
            torch.vmap(lambda v, l, w: op(v, *table, l, w))(*(t[None] for t in (value, locations, weights)))


def check_streams_and_threads():
    cases = [make(seed=seed) for seed in range(4)]
    table = on_gpu(*cases[0][1:3])
    wanted = [exact(value, levels, locations, weights) for value, levels, _, locations, weights in cases]
    torch.cuda.synchronize()

    def work(case, found, rounds=200):
        with torch.cuda.stream(torch.cuda.Stream()):
            value, _, _, locations, weights = case
            for _ in range(rounds):
                found.append(op(value, *table, locations, weights, fallback=False))
                del found[:-2]
            torch.cuda.current_stream().synchronize()

    found = [[] for _ in cases]
    threads = [threading.Thread(target=work, args=pair) for pair in zip(cases, found)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    expect("four threads, each on a stream", [f[-1] for f in found], wanted)
    late, streams = [torch.zeros_like(case[0]) for case in cases[:2]], [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    found = []
    for case, value, stream in zip(cases, late, streams):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            value.copy_(case[0])
            found.append(op(value, *table, case[3], case[4], fallback=False))
    torch.cuda.synchronize()
    expect("two streams", found, wanted[:2])


def check_devices():
    if torch.cuda.device_count() < 2:
        print("two devices: not checked, there is one")
        return
    value, levels, starts, locations, weights = (t.to("cuda:1") if isinstance(t, torch.Tensor) else t for t in make())
    inputs = [t.requires_grad_() for t in (value, locations, weights)]
    assert torch.cuda.current_device() == 0
    for _ in range(2):
        out = op(inputs[0], levels, starts, *inputs[1:], fallback=False)
        grads = torch.autograd.grad(out, inputs, torch.ones_like(out))
        assert {t.device.index for t in (out, *grads)} == {1} and torch.cuda.current_device() == 0
    expect("the other device", [out], [exact(value, levels, locations, weights)])
    expect("its gradients", grads, exact_gradients(value, levels, locations, weights, torch.ones_like(out)), 5e-3)
    with refused(RuntimeError, "not on one GPU"):
        op(value, levels, starts, locations.to("cuda:0"), weights, fallback=False)


def check_lives():
    """Libraries and modules: made again, closed twice, gone."""
    value, levels, starts, locations, weights = make()
    wanted, modules = exact(value, levels, locations, weights), len(_kernels._modules)
    for _ in range(3):
        mine = MultiScaleDeformableAttention(sys.argv[2], snapshot=op.snapshot_id)
        expect("another one", [mine(value, levels, starts, locations, weights, fallback=False)], [wanted])
        mine.close()
        mine.close()
        expect("closed", [mine(value, levels, starts, locations, weights, fallback=False)], [wanted])
        number = mine._number
        del mine
    assert len(_kernels._modules) == modules, "the same code was loaded twice"
    with refused(RuntimeError, "is gone"):
        ops.ms_deform_attn_levels.default(value, [n for level in levels for n in level], starts, locations, weights, "auto", "", True, number)
    assert copy.deepcopy(op) is op
    copied = pickle.loads(pickle.dumps(op))
    expect("pickled", [copied(value, levels, starts, locations, weights, fallback=False)], [wanted])
    with refused(tunelookup.SnapshotError, "expected " + "0" * 32):
        MultiScaleDeformableAttention(sys.argv[2], snapshot="0" * 32)


def microseconds(*calls, times=200, rounds=60):
    """Of the host, for a call of each: the best of some rounds, in turn, since clocks change meanwhile. The GPU's queue holds them all."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(times):
                call()
            best[i] = min(best[i], time.perf_counter() - begin)
    return [seconds / times * 1e6 for seconds in best]


def check_costs():
    """A call beside one of an operation that is registered alike and launches nothing."""
    library = torch.library.Library("msda_tune_test", "DEF")

    def empty(value, shapes, starts, locations, weights, queries="auto", workload="", fallback=True, op=0):
        n, _, heads, channels = value.shape
        return value.new_empty((n, locations.shape[1], heads * channels))

    value, levels, starts, locations, weights = make()
    costs = {}
    for name, table, arguments in (("tensors", "Tensor", on_gpu(levels, starts)), ("lists", "SymInt[]", ([n for level in levels for n in level], starts))):
        library.define(f'{name}(Tensor value, {table} shapes, {table} starts, Tensor locations, Tensor weights, str queries="auto", str workload="", bool fallback=True, int op=0) -> Tensor')
        library.impl(name, empty, "CompositeExplicitAutograd")
        torch.library.register_autograd(f"msda_tune_test::{name}", lambda ctx, grad: (None,) * 9, lib=library)
        base, mine = getattr(torch.ops.msda_tune_test, name).default, ops.ms_deform_attn.default if name == "tensors" else ops.ms_deform_attn_levels.default
        settings = ("auto", "", True, op._number)
        given = arguments if name == "tensors" else (levels, starts)
        nothing, ours, called = microseconds(lambda: base(value, *arguments, locations, weights, *settings), lambda: mine(value, *arguments, locations, weights, *settings),
                                             lambda: op(value, *given, locations, weights))
        costs[name] = ours - nothing
        print(f"a call, {name}: the operation {ours:.2f} us, an empty one {nothing:.2f} us, {ours - nothing:.2f} us more; from Python {called:.2f} us")
    found, table = next(iter(op._forward.ready.values()))[0], op._tables.of(levels, starts)
    out, on_device = empty(value, None, None, locations, weights), on_gpu(levels, starts)
    op._tables.of(*on_device)
    for what, part in (("output", lambda: empty(value, None, None, locations, weights)), ("run", lambda: found.run((value, locations, weights), (out,))), ("tables", lambda: op._tables.of(*on_device)),
                       ("entry", lambda: op._entry(op._forward, value, table, locations, weights, "auto", "")), ("forward", lambda: op.forward(value, table, locations, weights, "auto", "", True))):
        print(f"its parts: {what} {microseconds(part)[0]:.2f} us")
    plan = next(iter(op._forward._plans.values()))
    values = [1] * len(plan.names)
    many = torch.ones((10000, len(plan.names)), dtype=torch.int64).numpy()
    print(f"plan.find {microseconds(lambda: plan.find(values))[0]:.2f} us, find_many {microseconds(lambda: plan.find_many(many), times=1)[0] / len(many):.3f} us a shape")
    assert max(costs.values()) <= 5, costs


wanted = sys.argv[3:]
checks = [check_values_and_gradients, check_costs, check_opcheck, check_graphs, check_proofs, check_autocast, check_vmap, check_streams_and_threads, check_devices, check_lives, check_export, check_compile]
wrong = 0
for check in checks:
    if wanted and check.__name__.removeprefix("check_") not in wanted:
        continue
    print(f"---- {check.__name__}")
    try:
        check()
    except Exception:
        import traceback
        traceback.print_exc(file=sys.stdout)
        wrong += 1
print(f"{wrong} checks failed")
sys.exit(wrong != 0)
