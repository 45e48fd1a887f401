"""Tuned operations for PyTorch: multi-scale deformable attention, forward and backward, by the kernels of a database.

    from msda_tune.torch import MSDeformAttn, ms_deform_attn
    out = ms_deform_attn(value, spatial_shapes, level_start_index, sampling_locations, attention_weights)

value [N, S, M, D], spatial_shapes [L, 2] (height, width), level_start_index [L], sampling_locations [N, Lq, M, L, P, 2] in [0, 1], attention_weights
[N, Lq, M, L, P] -> [N, Lq, M*D]. Runs on torch's current stream and without waiting for it. Where the database has nothing for a call, or
for its gradients, the same is computed with grid_sample. docs/python.md says how to use it with torch.compile, in CUDA graphs and on several ranks."""
try:
    import torch as _torch
except ImportError as missing:
    raise ImportError(f"msda_tune.torch needs PyTorch: {missing}; the lookup alone (tunelookup, examples/lookup.c) does not") from missing
if not hasattr(_torch.library, "register_autograd"):
    raise ImportError(f"msda_tune.torch needs PyTorch 2.4 or newer, this is {_torch.__version__}")

from ._attention import MultiScaleDeformableAttention, default_op, ms_deform_attn
from ._matmul import enable_matmul, explain_matmul, matmul
from ._module import MSDeformAttn
from ._reference import by_grid_sample

__all__ = ["MSDeformAttn", "MultiScaleDeformableAttention", "by_grid_sample", "default_op", "enable_matmul", "explain_matmul", "matmul", "ms_deform_attn"]
