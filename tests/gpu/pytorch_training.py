"""MSDeformAttn on a GPU: checkpoints, and an encoder that learns. Usage: pytorch_training.py, with shapes that shipped rows answer."""
import tempfile
import time
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from msda_tune.torch import MSDeformAttn, default_op

LEVELS, BATCH, LAYERS, STEPS = [(100, 134), (50, 67), (25, 34), (13, 17)], 4, 3, 12
PIXELS = sum(h * w for h, w in LEVELS)
op = default_op()


def plain(value, shapes, starts, locations, weights, im2col_step=None, queries="auto"):
    """The op as Deformable DETR's own PyTorch fallback computes it, in the values' type or autocast's; written apart from the package's."""
    n, _, heads, channels = value.shape
    _, count, _, levels, points, _ = locations.shape
    sampled = []
    for level, image in enumerate(value.split([h * w for h, w in LEVELS], dim=1)):
        image = image.flatten(2).transpose(1, 2).reshape(n * heads, channels, *LEVELS[level])
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        sampled.append(F.grid_sample(image.float(), grid.float(), mode="bilinear", padding_mode="zeros", align_corners=False))
    weights = weights.transpose(1, 2).reshape(n * heads, 1, count, levels * points)
    return (torch.stack(sampled, dim=-2).flatten(-2) * weights).sum(-1).view(n, heads * channels, count).transpose(1, 2).to(value.dtype)


class EncoderLayer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.self_attn = MSDeformAttn(op=attention)  # None: ms_deform_attn
        self.norm1, self.norm2 = nn.LayerNorm(256), nn.LayerNorm(256)
        self.linear1, self.linear2 = nn.Linear(256, 1024), nn.Linear(1024, 256)

    def forward(self, pixels, position, points, shapes, starts):
        pixels = self.norm1(pixels + self.self_attn(pixels + position, points, pixels, shapes, starts))
        return self.norm2(pixels + self.linear2(F.relu(self.linear1(pixels))))


class Encoder(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(attention) for _ in range(LAYERS))

    def forward(self, pixels, *rest):
        for layer in self.layers:
            pixels = layer(pixels, *rest)
        return pixels


def reference_points():
    rows = [torch.stack(torch.meshgrid((torch.arange(h) + 0.5) / h, (torch.arange(w) + 0.5) / w, indexing="ij")[::-1], -1).reshape(-1, 2) for h, w in LEVELS]
    return torch.cat(rows)[None, :, None].expand(BATCH, -1, len(LEVELS), -1).cuda()


def tables():
    sizes = [h * w for h, w in LEVELS]
    return torch.tensor(LEVELS, device="cuda"), torch.tensor([sum(sizes[:i]) for i in range(len(LEVELS))], device="cuda")


def checkpoint_of(encoder):
    """As Deformable DETR's files hold it: {"model": {"transformer.encoder.layers.0.self_attn.sampling_offsets.weight": …}}."""
    return {"model": {f"transformer.encoder.{name}": tensor.detach().cpu().clone() for name, tensor in encoder.state_dict().items()}}


def check_checkpoint(path):
    wanted = {f"{part}.{kind}" for part in ("sampling_offsets", "attention_weights", "value_proj", "output_proj") for kind in ("weight", "bias")}
    layer = MSDeformAttn()
    assert set(layer.state_dict()) == wanted, layer.state_dict().keys()
    assert [tuple(layer.state_dict()[f"{part}.weight"].shape) for part in ("sampling_offsets", "attention_weights", "value_proj", "output_proj")] == [(256, 256), (128, 256), (256, 256), (256, 256)]
    torch.manual_seed(1)
    trained = Encoder(plain)
    with torch.no_grad():
        for parameter in trained.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    torch.save(checkpoint_of(trained), path)
    loaded = torch.load(path, weights_only=True)["model"]
    encoder = Encoder(None)
    encoder.load_state_dict({name.removeprefix("transformer.encoder."): tensor for name, tensor in loaded.items()}, strict=True)
    trained, encoder = trained.cuda(), encoder.cuda()
    inputs = torch.randn(BATCH, PIXELS, 256, device="cuda"), torch.randn(BATCH, PIXELS, 256, device="cuda") * 0.1, reference_points(), *tables()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        mine, theirs = encoder(*inputs), trained(*inputs)
    error = ((mine - theirs).double().norm() / theirs.double().norm()).item()
    print(f"a checkpoint's encoder: error {error:.2e}")
    assert error < 5e-3
    try:
        from transformers.models.deformable_detr.modeling_deformable_detr import DeformableDetrConfig, DeformableDetrMultiscaleDeformableAttention
    except Exception as missing:  # not installed, or another version
        print(f"transformers' layer: not compared ({type(missing).__name__}: {missing})")
        return
    theirs = DeformableDetrMultiscaleDeformableAttention(DeformableDetrConfig(), num_heads=8, n_points=4)
    layer.load_state_dict(theirs.state_dict(), strict=True)
    print("transformers' layer: its state dict loads")


def train(attention, is_compiled=False):
    """(losses, seconds of a step)."""
    torch.manual_seed(0)
    encoder = Encoder(attention).cuda()
    run = torch.compile(encoder, fullgraph=True) if is_compiled else encoder
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
    position, points, table = torch.randn(1, PIXELS, 256, device="cuda") * 0.1, reference_points(), tables()
    generator = torch.Generator("cuda").manual_seed(3)
    mixing = torch.randn(256, 256, device="cuda", generator=generator) / 16
    losses, times = [], []
    for _ in range(STEPS):
        pixels = torch.randn(BATCH, PIXELS, 256, device="cuda", generator=generator)
        target = torch.roll(pixels, 3, 1) @ mixing  # what lies three pixels before, mixed
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.mse_loss(run(pixels, position.expand(BATCH, -1, -1), points, *table).float(), target)
        (loss * 1024).backward()
        for parameter in encoder.parameters():
            parameter.grad.div_(1024)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
        losses.append(loss.item())
    return losses, sorted(times[2:])[len(times[2:]) // 2]


def check_training():
    told = op.explain(torch.empty(BATCH, PIXELS, 8, 32, device="cuda", dtype=torch.float16), *tables(), torch.rand(BATCH, PIXELS, 8, 4, 4, 2, device="cuda"), torch.rand(BATCH, PIXELS, 8, 4, 4, device="cuda"))
    print(told)
    reference, reference_s = train(plain)
    again, _ = train(plain)
    noise = max(abs(a - b) / b for a, b in zip(again, reference))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*a tuned kernel is wrong")  # at the start all points lie on pixels' centres, where gradients jump
        runs = [("tuned", *train(None)), ("tuned, compiled", *train(None, True))]
    for what, losses, seconds in runs:
        away = max(abs(a - b) / b for a, b in zip(losses, reference))
        print(f"{what}: losses {losses[0]:.5f} … {losses[-1]:.5f}, the reference's {reference[0]:.5f} … {reference[-1]:.5f}, at most {away:.1e} apart (the reference's own from run to run {noise:.1e})")
        print(f"{what}: a step {seconds * 1e3:.2f} ms, the reference's {reference_s * 1e3:.2f} ms, {reference_s / seconds:.2f} x")
        assert losses[-1] < losses[0] * 0.99 and away < 5e-3, (losses, reference)
        if told.startswith("tuned kernel"):
            assert seconds < reference_s
    assert told.startswith("tuned kernel") or torch.cuda.get_device_name() != "NVIDIA H200"


with tempfile.TemporaryDirectory() as folder:
    check_checkpoint(f"{folder}/checkpoint.pth")
check_training()
print("checked")
