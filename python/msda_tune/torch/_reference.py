"""The definition of multi-scale deformable attention and of its gradients in plain PyTorch: what serves where the database has nothing."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

Levels = Sequence[Sequence[int]]  # (height, width) of each


def _wide(tensor: Tensor) -> Tensor:
    """In f32, or f64 where it is that."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _by_level(value: Tensor, levels: Levels, locations: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """(image [N*M, D, H, W], grid [N*M, Lq, P, 2]) of each level, as grid_sample takes them."""
    n, _, heads, channels = value.shape
    grids, first = (2 * _wide(locations) - 1).to(_wide(value).dtype), 0
    for level, (height, width) in enumerate(levels):
        image = _wide(value[:, first:first + height * width]).permute(0, 2, 3, 1).reshape(n * heads, channels, height, width)
        yield image, grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
        first += height * width


def by_grid_sample(value: Tensor, levels: Levels, locations: Tensor, weights: Tensor) -> Tensor:
    """The definition, computed in f32 (f64 of f64); differentiable."""
    n, _, heads, channels = value.shape
    _, query_count, _, level_count, points, _ = locations.shape
    sampled = [F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False) for image, grid in _by_level(value, levels, locations)]
    shares = _wide(weights).transpose(1, 2).reshape(n * heads, 1, query_count, level_count * points)
    out = (torch.stack(sampled, dim=-2).flatten(-2) * shares).sum(-1)
    return out.view(n, heads * channels, query_count).transpose(1, 2).to(value.dtype).contiguous()


def away_from_kinks(levels: Levels, locations: Tensor) -> Tensor:
    """The same locations, none nearer to a pixel's centre than a quarter of a pixel. At centres the gradient jumps, and roundings decide on which side: layers begin there."""
    sizes = torch.tensor([(width, height) for height, width in levels], device=locations.device, dtype=torch.float64)[:, None, :]
    at = locations.double() * sizes - 0.5
    return ((at.floor() + (at - at.floor()).clamp(0.25, 0.75) + 0.5) / sizes).to(locations.dtype)


def gradients_by_grid_sample(value: Tensor, levels: Levels, locations: Tensor, weights: Tensor, grad_out: Tensor) -> list[Tensor]:
    """[grad_value, grad_loc, grad_attn], each in its tensor's type and contiguous. Level by level, so that no more than one level's samples are kept."""
    n, _, heads, channels = value.shape
    shares, query_count = _wide(weights).transpose(1, 2).flatten(0, 1), locations.shape[1]  # [N*M, Lq, L, P]
    grads = _wide(grad_out).reshape(n, query_count, heads, channels).permute(0, 2, 3, 1).flatten(0, 1)[..., None]  # [N*M, D, Lq, 1]
    of_value, of_locations, of_weights = [], [], []
    for level, (image, grid) in enumerate(_by_level(value, levels, locations)):
        sampled = F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        of_weights.append((sampled * grads).sum(1))
        of_image, of_grid = torch.ops.aten.grid_sampler_2d_backward(grads * shares[:, None, :, level], image, grid, 0, 0, False, [True, True])  # bilinear, zeros
        of_value.append(of_image.view(n, heads, channels, -1).permute(0, 3, 1, 2))
        of_locations.append(2 * of_grid)

    def joined(parts: list[Tensor]) -> Tensor:  # [N*M, Lq, P, …] of each level → [N, Lq, M, L, P, …]
        return torch.stack(parts, 2).unflatten(0, (n, heads)).transpose(1, 2)

    found = torch.cat(of_value, 1), joined(of_locations), joined(of_weights)
    return [grad.to(like.dtype).contiguous() for grad, like in zip(found, (value, locations, weights))]
