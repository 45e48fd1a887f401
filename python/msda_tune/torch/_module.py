"""Multi-scale deformable attention as a layer: constructor, call and state dict as in Deformable DETR, so that checkpoints load."""
from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from ._attention import MultiScaleDeformableAttention, Numbers, ms_deform_attn


class MSDeformAttn(nn.Module):
    """A drop-in for Deformable DETR's layer of that name. Its state dict: weight and bias of sampling_offsets, attention_weights, value_proj, output_proj."""

    def __init__(self, d_model: int = 256, n_levels: int = 4, n_heads: int = 8, n_points: int = 4, *, op: MultiScaleDeformableAttention | None = None, queries: str = "auto") -> None:
        """op: the operation, on a database of its own; None: ms_deform_attn. queries: as there."""
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model is {d_model}, expected a multiple of n_heads ({n_heads})")
        self.im2col_step = 64  # others have it, and set it
        self.d_model, self.n_levels, self.n_heads, self.n_points = d_model, n_levels, n_heads, n_points
        self.sampling_offsets = nn.Linear(d_model, n_heads * n_levels * n_points * 2)
        self.attention_weights = nn.Linear(d_model, n_heads * n_levels * n_points)
        self.value_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)
        self._op, self._queries = op, queries
        self._sizes: dict[Any, Tensor] = {}  # of levels that are given as lists
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Each head looks in a direction of its own, its points 1, 2, 3, … pixels away."""
        angles = torch.arange(self.n_heads, dtype=torch.float32) * (2 * math.pi / self.n_heads)
        directions = torch.stack([angles.cos(), angles.sin()], -1)
        directions = directions / directions.abs().max(-1, keepdim=True).values
        steps = torch.arange(1, self.n_points + 1, dtype=torch.float32)
        with torch.no_grad():
            self.sampling_offsets.bias.copy_((directions[:, None, None, :] * steps[:, None]).expand(-1, self.n_levels, -1, -1).reshape(-1))
        for parameter in (self.sampling_offsets.weight, self.attention_weights.weight, self.attention_weights.bias, self.value_proj.bias, self.output_proj.bias):
            nn.init.zeros_(parameter)
        nn.init.xavier_uniform_(self.value_proj.weight)
        nn.init.xavier_uniform_(self.output_proj.weight)

    def _sizes_of(self, shapes: Numbers, device: torch.device) -> Tensor:
        """(width, height) of each level, on the GPU."""
        if isinstance(shapes, Tensor):
            return shapes.to(device).flip(-1)
        key = device, tuple(map(tuple, shapes))  # a list would be copied to the GPU at every call
        if key not in self._sizes:
            self._sizes[key] = torch.tensor([(width, height) for height, width in shapes], device=device)
        return self._sizes[key]

    def forward(self, query: Tensor, reference_points: Tensor, input_flatten: Tensor, input_spatial_shapes: Numbers, input_level_start_index: Numbers,
                input_padding_mask: Tensor | None = None) -> Tensor:
        """query [N, Lq, C]; reference_points [N, Lq, L, 2] (x, y in [0, 1]) or [N, Lq, L, 4] (and width, height); input_flatten [N, S, C]; input_spatial_shapes [L, 2] (height, width);
        input_level_start_index [L]; input_padding_mask [N, S], True where nothing is -> [N, Lq, C]."""
        if reference_points.shape[-1] not in (2, 4):
            raise ValueError(f"reference_points has {reference_points.shape[-1]} numbers a point, expected 2 or 4")
        n, query_count, _ = query.shape
        value = self.value_proj(input_flatten)
        if input_padding_mask is not None:
            value = value.masked_fill(input_padding_mask[..., None], 0.0)
        value = value.view(n, input_flatten.shape[1], self.n_heads, self.d_model // self.n_heads)
        offsets = self.sampling_offsets(query).view(n, query_count, self.n_heads, self.n_levels, self.n_points, 2)
        weights = self.attention_weights(query).view(n, query_count, self.n_heads, self.n_levels * self.n_points).softmax(-1)
        weights = weights.view(n, query_count, self.n_heads, self.n_levels, self.n_points)
        at = reference_points[:, :, None, :, None, :]
        if reference_points.shape[-1] == 2:
            locations = at + offsets / self._sizes_of(input_spatial_shapes, query.device)[:, None, :]
        else:
            locations = at[..., :2] + offsets / self.n_points * at[..., 2:] * 0.5
        out = (self._op or ms_deform_attn)(value, input_spatial_shapes, input_level_start_index, locations, weights, self.im2col_step, queries=self._queries)
        return self.output_proj(out)
