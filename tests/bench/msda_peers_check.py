"""msda_peers.py and peer_sources.py as far as they go without torch: what is copied and patched, which shapes are taken, what the tables say. Usage: msda_peers_check.py TOOL"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import msda_peers
import peer_sources


def refused(kind, part, function, *words):
    try:
        function(*words)
    except kind as problem:
        assert part in str(problem), f"{problem}, expected {part}"
        return
    raise AssertionError(f"not refused: {words}")


def check_patches():
    """Lines as old extensions have them."""
    for old, new in (
            ("#include <THC/THCAtomics.cuh>", "#include <ATen/cuda/Atomic.cuh>"),
            ("AT_ASSERTM(x.type().is_cuda(), \"x\");", "TORCH_CHECK(x.is_cuda(), \"x\");"),
            ("AT_DISPATCH_FLOATING_TYPES(x.type(), \"f\", ([&] {", "PEER_DISPATCH(x.scalar_type(), \"f\", ([&] {"),
            ("AT_DISPATCH_FLOATING_TYPES_AND2(\n    at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), \"f\"", "PEER_DISPATCH( x.scalar_type(), \"f\""),
            ("x.data<scalar_t>() + 1", "x.data_ptr<scalar_t>() + 1"),
            ("AT_ERROR(\"no\");", "TORCH_CHECK(false, \"no\");"),
            ("x.data_ptr<int>(); v.data(); b.type() == c", "x.data_ptr<int>(); v.data(); b.type() == c")):
        assert peer_sources.patched(old) == new, peer_sources.patched(old)
        assert peer_sources.patched(new) == new


def check_copies():
    """What is included by name comes along, from beside a file or from the root; nothing else; and an unchanged file is not written again."""
    with tempfile.TemporaryDirectory() as scratch:
        root, to = pathlib.Path(scratch, "theirs/src"), pathlib.Path(scratch, "cache")
        (root / "cuda").mkdir(parents=True)
        for name, text in (("cuda/main.cu", '#include "cuda/a.cuh"\n#include <vector>\nAT_ERROR("x");\n'), ("cuda/a.cuh", '#pragma once\n#  include "b.h"\n'), ("cuda/b.h", '#pragma once\n#include "cuda/a.cuh"\n'),
                           ("cuda/other.cu", "")):
            (root / name).write_text(text)
        before = {path: path.read_text() for path in root.rglob("*.*")}
        assert sorted(map(str, peer_sources.copy_sources(root, "cuda/main.cu", to))) == ["cuda/a.cuh", "cuda/b.h", "cuda/main.cu"]
        assert {path: path.read_text() for path in root.rglob("*.*")} == before
        main = to / "cuda/main.cu"
        assert main.read_text() == peer_sources.DISPATCH + '#include "cuda/a.cuh"\n#include <vector>\nTORCH_CHECK(false, "x");\n'
        assert not (to / "cuda/other.cu").exists() and (to / "cuda/b.h").read_text() == before[root / "cuda/b.h"]
        time = main.stat().st_mtime_ns
        peer_sources.copy_sources(root, "cuda/main.cu", to)
        assert main.stat().st_mtime_ns == time
        (root / "cuda/b.h").write_text('#include "gone.h"\n')
        refused(FileNotFoundError, 'includes "gone.h"', peer_sources.copy_sources, root, "cuda/main.cu", to)
        assert peer_sources.find_below(root.parent, "DCNv4_op/src", "src") == root
        refused(FileNotFoundError, "expected a checkout", peer_sources.find_below, root, "DCNv4_op/src", "src")


def check_shapes(tool):
    subjects, workloads = msda_peers.subjects_of(tool)
    taken = msda_peers.chosen(subjects, workloads, ["all"])
    assert ("seed48", "local15") in taken and ("detr_dec_b4", "local8") in taken and len(taken) > 50, list(taken)
    for (name, _), subject in taken.items():
        values = subject["values"]
        assert values["P"] in (4, 8) and len(values["H"]) <= 5 and values["D"] % 8 == 0 and values["dtype"] == "f16" and values["attn"] == "weights" and "grad_dtype" not in values, name
    # Of two that differ in the type of grad_value alone there is one, which runs both ways.
    assert ("detr_enc_b4_grad16", "local2") not in subjects and subjects["detr_enc_b4", "local2"]["directions"] == ["forward", "backward"]
    assert taken["seed48_loc16", "local15"]["directions"] == ["forward"]
    named = msda_peers.chosen(subjects, workloads, ["seed48:uniform", "odd", "seed48_f32"])
    assert list(named) == [("seed48", "uniform"), ("odd", "uniform"), ("seed48_f32", "local15")], list(named)
    assert named["seed48", "uniform"] == {"values": subjects["seed48", "local15"]["values"], "workload": workloads["uniform"], "directions": ["forward", "backward"]}
    for part, word in (("no shape seed47", "seed47"), ("no workload near", "seed48:near"), ("logits", "seed48_logits")):
        refused(ValueError, part, msda_peers.chosen, subjects, workloads, [word])
    values = subjects["seed48", "local15"]["values"]
    for change, part in (({"P": 3}, "P is 3"), ({"D": 12}, "D is 12"), ({"H": [1] * 6}, "6 levels"), ({"dtype": "bf16"}, "bf16"), ({"N": 65}, "N is 65"), ({}, None)):
        reason = peer_sources.DCNv4.refuses(values | change)
        assert reason is None if part is None else part in reason, reason


def contestant(us, error, **more):
    return {"us": us, "errors": error if isinstance(error, dict) else {"out": error}, **more}


def check_tables():
    grads = {"grad_value": 1e-3, "grad_loc": None, "grad_attn": 2.5e-2}
    rows = [{"direction": "forward", "shape": "a", "workload": "w", "contestants": {"msda-tune": contestant(263.4, 8.6e-4, served="row"), "DCNv4": contestant(606.1, 1.2e-2)}},
            {"direction": "forward", "shape": "b", "workload": "w", "contestants": {"msda-tune": contestant(9.72, 1e-3, served="lookup")}},
            {"direction": "backward", "shape": "a", "workload": "w", "contestants": {"msda-tune": contestant(74906, grads, served="grid_sample"), "DCNv4": contestant(10623.4, grads)}}]
    found = {"gpu": "G", "torch": "2", "cuda": "13", "samples": 5, "peers": ["DCNv4"], "rows": rows}
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "peers.json")
        path.write_text(json.dumps(found))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            msda_peers.main(["--table", str(path)])
    for line in ("| a, w | 263 | 8.6e-04 | 606 | 2.30 | 1.2e-02 |", "| b, w * | 9.72 | 1.0e-03 | - | - | - |",
                 "| a, w (grid_sample) | 74906 | 1.0e-03, not finite, 2.5e-02 | 10623 | 0.14 | 1.0e-03, not finite, 2.5e-02 |"):
        assert line in said.getvalue().split("\n"), said.getvalue()
    assert said.getvalue().count("|---") == 12
    exact = "tuned kernel\nmsda on G\nexact:    tuned for"
    for text, what in ((exact, "row"), (exact + "\nexpected: unknown for workload uniform; with", "lookup"), ("tuned kernel\nmsda on G\nno row:   x", "lookup"), ("grid_sample\nwhy", "grid_sample")):
        assert msda_peers.served(text) == what, text
    for words in (["tool"], ["tool", "-o", "x"], ["tool", "-o", "x", "--dcnv4", "y", "--samples", "0"]):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            refused(SystemExit, "2", msda_peers.parsed, words)
        assert "expected" in said.getvalue()


check_patches()
check_copies()
check_shapes(sys.argv[1])
check_tables()
print("ok")
