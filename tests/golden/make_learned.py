#!/usr/bin/python3
"""Writes learned/NET.onnx, learned/frozen.onnx and learned.npz: PyTorch's training of small networks whose layers branch, or
learn slopes, scales and shifts, for test_onnx_training.c.

Run from this folder; needs python3-torch, python3-onnx and python3-numpy (1.13, 1.12 and 1.24 made the
files that are here). A file has a network with the weights that training begins with, as torch.onnx
exports it. Of twenty steps in double precision of the same batch with each optimizer are kept

  x, labels                 the batch: N,C,H,W, and classes
  NET.OPTIMIZER.loss        the loss of each step
  NET.OPTIMIZER.PARAMETER   after the last step; as the state dictionary calls it, the file too; where
                            a node gives it another shape to what reads it, "moved.PARAMETER", as
                            that has it

The settings of the optimizers stand in test_onnx_training.c as well. Prints how far PyTorch's own
float32 is off.
"""
import copy
import warnings

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS, BATCH, CLASSES, SIDE = 20, 4, 5, 8
OPTIMIZERS = {
    "momentum": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, eps=1e-20),
    "rms_prop": lambda p: torch.optim.RMSprop(p, lr=0.002, alpha=0.9, eps=1e-8),
}


class Dense(nn.Module):
    """DenseNet's order, with a growth of which no sum is a multiple of four."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        channels = 6
        self.layers = nn.ModuleList()
        for _ in range(3):
            self.layers.append(nn.Sequential(
                nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, 8, 1, bias=False),
                nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1, bias=False)))
            channels += 3
        self.last = nn.BatchNorm2d(channels)
        self.head = nn.Linear(channels, CLASSES)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return self.head(F.relu(self.last(x)).mean((2, 3)))


class Slopes(nn.Module):
    """PReLU with a slope for each channel, and with one for all; one that two layers share."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 6, 3, padding=1)
        self.two = nn.Conv2d(6, 7, 3, padding=1, stride=2)
        self.three = nn.Conv2d(7, 7, 1)
        self.each, self.all, self.other = nn.PReLU(6), nn.PReLU(), nn.PReLU()
        self.head = nn.Linear(7, CLASSES)

    def forward(self, x):
        x = self.all(self.two(self.each(self.one(x))))
        return self.head(self.all(self.other(self.three(x)) - 0.2).mean((2, 3)))


class LayerScale(nn.Module):
    """ConvNeXt's two blocks, one of whose scales lies along the last axis."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 2, stride=2)
        self.mix = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.norm = nn.LayerNorm(6)
        self.up, self.down = nn.Linear(6, 10), nn.Linear(10, 6)
        self.gamma = nn.Parameter(0.1 * torch.ones(6))
        self.second = nn.Conv2d(6, 6, 3, padding=1)
        self.layer_scale = nn.Parameter(0.5 * torch.ones(6, 1, 1))
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.mix(x).permute(0, 2, 3, 1))
        x = x + (self.gamma * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)
        x = x + self.layer_scale * torch.tanh(self.second(x))
        return self.head(x.mean((2, 3)))


class Affine(nn.Module):
    """StarReLU, a learned affine block, and numbers on either side of each operator."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 6, 3, padding=1)
        self.two = nn.Conv2d(6, 6, 3, padding=1)
        self.scale, self.bias = nn.Parameter(0.9 * torch.ones(1)), nn.Parameter(-0.4 * torch.ones(1))
        self.lab = nn.ParameterDict({"scale": nn.Parameter(torch.ones(1)),
                                     "bias": nn.Parameter(torch.zeros(1))})
        self.before = nn.Parameter(torch.linspace(-0.5, 0.5, 6).reshape(6, 1, 1))
        self.behind = nn.Parameter(torch.linspace(0.2, -0.2, 6).reshape(1, 6, 1, 1))
        self.divided = nn.Parameter(torch.tensor([1.5]))
        self.temperature = nn.Parameter(torch.tensor(1.25))
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        x = self.scale * F.relu(self.one(x)) ** 2 + self.bias
        x = self.lab["scale"] * self.two(x) + self.lab["bias"]
        x = self.before - torch.sigmoid(x - self.behind)
        x = self.divided / (1.5 + torch.tanh(x))
        return self.head(x.mean((2, 3))) * self.temperature


class Attention(nn.Module):
    """CBAM: means and maxima weigh channels and pixels; a head of normalised features."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 7, 3, padding=1)
        self.mean, self.most = nn.Conv2d(7, 7, 1), nn.Conv2d(7, 7, 1, bias=False)
        self.pixels = nn.Conv2d(3, 1, 3, padding=1, bias=False)
        self.head = nn.Linear(7, CLASSES)

    def forward(self, x):
        x = F.silu(self.stem(x))
        x = x * torch.sigmoid(self.mean(F.adaptive_avg_pool2d(x, 1)) +
                              self.most(F.adaptive_max_pool2d(x, 1)))
        weights = torch.cat([x.mean(1, keepdim=True), torch.max(x, 1, keepdim=True)[0],
                             x.amin(1, keepdim=True)], 1)
        x = x * torch.sigmoid(self.pixels(weights))
        x = x.amax((2, 3)) + x.amin((2, 3)) + x.mean((2, 3))
        return self.head(x / x.norm(dim=1, keepdim=True).clamp(1e-6))


class Heads(nn.Module):
    """Attention of two heads, q, k and v of one product, with what `bias` adds to the scores. A bias of k
    would have no gradient but rounding, of which Adam makes steps."""

    def __init__(self, size, bias=None):
        super().__init__()
        self.norm, self.qkv = nn.LayerNorm(size), nn.Linear(size, 3 * size, bias=False)
        self.bias, self.out = bias, nn.Linear(size, size)

    def forward(self, x):
        n, tokens, size = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, tokens, 3, 2, size // 2).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * (size // 2) ** -0.5
        if self.bias is not None:
            scores = scores + self.bias()
        return x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, tokens, size))


class Tokens(nn.Module):
    """ViT: a class token and positions."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 2, 2)
        self.token = nn.Parameter(0.3 * torch.randn(1, 1, 8))
        self.position = nn.Parameter(0.3 * torch.randn(1, 17, 8))
        self.heads, self.last = Heads(8), nn.Linear(8, CLASSES)

    def forward(self, x):
        y = self.stem(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.token.expand(x.shape[0], -1, -1), y], 1) + self.position
        return self.last(F.gelu(self.heads(y))[:, 0])


class Relative(nn.Module):
    """Swin's: a table of positions relative to one another, and a mask, which does not learn."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(0.5 * torch.randn(9, 2))
        at = torch.stack(torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + 1
        self.register_buffer("index", apart[0] * 3 + apart[1])
        self.register_buffer("mask", torch.tensor([[0, 0, 0, -100.0]]).repeat(4, 1))

    def forward(self):
        return self.table[self.index.view(-1)].view(4, 4, 2).permute(2, 0, 1).unsqueeze(0) + self.mask


class Continuous(nn.Module):
    """Swin v2's: biases that two layers make of the logarithms of distances."""

    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2, bias=False))
        far = torch.arange(-3.0, 4) * 8 / 3
        far = torch.stack(torch.meshgrid(far, far, indexing="ij"), -1)
        self.register_buffer("coordinates", torch.sign(far) * torch.log2(far.abs() + 1) / 3)
        at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + 3
        self.register_buffer("index", apart[0] * 7 + apart[1])

    def forward(self):
        table = self.mlp(self.coordinates.unsqueeze(0)).view(-1, 2)
        return 4 * torch.sigmoid(table[self.index.view(-1)].view(16, 16, 2).permute(2, 0, 1)).unsqueeze(0)


class Distances(nn.Module):
    """Attention with Swin v2's positions, and a scale that is learned as its logarithm."""

    def __init__(self):
        super().__init__()
        self.stem, self.heads = nn.Conv2d(3, 8, 2, 2), Heads(8, Continuous())
        self.logit_scale = nn.Parameter(0.2 * torch.randn(8, 1, 1))
        self.last = nn.Linear(8, CLASSES)

    def forward(self, x):
        x = self.stem(x) * torch.clamp(self.logit_scale, max=4.6).exp()
        return self.last(self.heads(x.flatten(2).transpose(1, 2)).mean(1))


class Windows(nn.Module):
    """Swin: windows of a shifted image, batches of their own."""

    def __init__(self):
        super().__init__()
        self.stem, self.heads = nn.Conv2d(3, 8, 2, 2), Heads(8, Relative())
        self.last = nn.Linear(8, CLASSES)

    def forward(self, x):
        y = torch.roll(self.stem(x).permute(0, 2, 3, 1), (-1, -1), (1, 2))
        n, h, w, c = y.shape
        y = y.view(n, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
        y = self.heads(y).view(n, h // 2, w // 2, 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return self.last(y.mean((1, 2)))


class Multihead(nn.Module):
    """nn.MultiheadAttention, which has heads and batch in one axis."""

    def __init__(self):
        super().__init__()
        self.stem, self.last = nn.Conv2d(3, 8, 2, 2), nn.Linear(8, CLASSES)
        self.heads = nn.MultiheadAttention(8, 2, bias=False)

    def forward(self, x):
        y = self.stem(x).flatten(2).permute(2, 0, 1)
        return self.last((y + self.heads(y, y, y, need_weights=False)[0]).mean(0))


class Again(nn.Module):
    """CaiT's class token, which is read again and again; a convolution that two branches share."""

    def __init__(self):
        super().__init__()
        self.stem, self.both = nn.Conv2d(3, 8, 2, 2), nn.Conv2d(8, 8, 1)
        self.token = nn.Parameter(0.3 * torch.randn(1, 1, 8))
        self.last = nn.Linear(8, CLASSES)

    def forward(self, x):
        y = self.stem(x)
        y = F.softplus(self.both(y)) + self.both(F.avg_pool2d(y, 3, 1, 1))
        y = y.flatten(2).transpose(1, 2)
        token = self.token.expand(x.shape[0], -1, -1)
        for _ in range(2):
            token = token + torch.tanh(torch.cat([token, y], 1)).mean(1, keepdim=True)
        return self.last(token[:, 0])


class Pyramid(nn.Module):
    """PVT: keys and values of an image that a convolution made smaller, between layers of tokens."""

    def __init__(self):
        super().__init__()
        self.stem, self.less = nn.Conv2d(3, 8, 2, 2), nn.Conv2d(8, 8, 2, 2)
        self.before, self.norm, self.behind = nn.LayerNorm(8), nn.LayerNorm(8), nn.LayerNorm(8)
        self.q, self.kv = nn.Linear(8, 8), nn.Linear(8, 16, bias=False)
        self.out, self.up, self.down = nn.Linear(8, 8), nn.Linear(8, 12), nn.Linear(12, 8)
        self.mix = nn.Conv2d(12, 12, 3, padding=1, groups=12)
        self.last = nn.Linear(8, CLASSES)

    def image(self, tokens):
        n, _, c = tokens.shape
        return tokens.permute(0, 2, 1).reshape(n, c, 4, 4)

    def forward(self, x):
        y = self.stem(x).flatten(2).transpose(1, 2)
        n, tokens, c = y.shape
        z = self.before(y)
        q = self.q(z).reshape(n, tokens, 2, c // 2).permute(0, 2, 1, 3)
        z = self.norm(self.less(self.image(z)).reshape(n, c, -1).permute(0, 2, 1))
        k, v = self.kv(z).reshape(n, -1, 2, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q @ k.transpose(-2, -1) * 0.5).softmax(-1)
        y = y + self.out((a @ v).transpose(1, 2).reshape(n, tokens, c))
        z = self.mix(self.up(self.behind(y)).transpose(1, 2).view(n, 12, 4, 4)).flatten(2).transpose(1, 2)
        return self.last((y + self.down(F.gelu(z))).mean(1))


class Unfolded(nn.Module):
    """MobileViT: attention among pixels of the same place in patches, beside convolutions."""

    def __init__(self):
        super().__init__()
        self.stem, self.heads = nn.Conv2d(3, 8, 3, padding=1), Heads(8)
        self.both, self.last = nn.Conv2d(16, 8, 3, padding=1), nn.Linear(8, CLASSES)

    def forward(self, x):
        x = F.silu(self.stem(x))
        n, c, h, w = x.shape
        y = x.reshape(n * c * h // 2, 2, w // 2, 2).transpose(1, 2).reshape(n, c, h * w // 4, 4)
        y = self.heads(y.transpose(1, 3).reshape(n * 4, h * w // 4, c))
        y = y.contiguous().view(n, 4, h * w // 4, c).transpose(1, 3)
        y = y.reshape(n * c * h // 2, w // 2, 2, 2).transpose(1, 2).reshape(n, c, h, w)
        return self.last(F.silu(self.both(torch.cat([x, y], 1))).mean((2, 3)))


class Biased(nn.Module):
    """LeViT and EfficientFormer: tokens normalised over the batch, and biases that positions share."""

    def __init__(self):
        super().__init__()
        self.stem, self.qkv = nn.Conv2d(3, 8, 2, 2), nn.Linear(8, 16, bias=False)
        self.norm, self.out = nn.BatchNorm1d(8), nn.Linear(8, 8)
        self.biases, self.last = nn.Parameter(0.5 * torch.randn(2, 16)), nn.Linear(8, CLASSES)
        at = [(i // 4, i % 4) for i in range(16)]
        self.register_buffer("index", torch.tensor(
            [[abs(a - c) * 4 + abs(b - d) for c, d in at] for a, b in at]))

    def forward(self, x):
        y = self.stem(x).flatten(2).transpose(1, 2)
        n, tokens, c = y.shape
        z = self.qkv(self.norm(y.flatten(0, 1)).reshape_as(y))
        q, k, v = z.view(n, tokens, 2, 8).split([2, 2, 4], 3)
        q, k, v = q.permute(0, 2, 1, 3), k.permute(0, 2, 3, 1), v.permute(0, 2, 1, 3)
        a = (q @ k * 0.7 + self.biases[:, self.index]).softmax(-1)
        y = y + self.out(F.silu((a @ v).transpose(1, 2).reshape(n, tokens, c)))
        return self.last(y.mean(1))


class Pools(nn.Module):
    """PoolFormer: means of neighbours in place of attention, normalised over whole images. What is added
    alike to all neighbours has no gradient."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, 2, 1)
        self.before, self.behind = nn.GroupNorm(1, 6, affine=False), nn.GroupNorm(1, 6)
        self.scale = nn.Parameter(0.5 * torch.ones(6))
        self.up, self.down = nn.Conv2d(6, 10, 1), nn.Conv2d(10, 6, 1)
        self.last = nn.Linear(6, CLASSES)

    def forward(self, x):
        x = self.stem(x)
        y = self.before(x)
        y = F.avg_pool2d(y, 3, 1, 1, count_include_pad=False) - y
        x = x + self.scale.view(-1, 1, 1) * y
        x = x + self.down(F.gelu(self.up(self.behind(x))))
        return self.last(x.mean((2, 3)))


class Splits(nn.Module):
    """ResNeSt: a softmax weighs two splits of each of two groups."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.groups, self.norm = nn.Conv2d(8, 16, 3, padding=1, groups=4, bias=False), nn.BatchNorm2d(16)
        self.one, self.two = nn.Conv2d(8, 8, 1, groups=2), nn.Conv2d(8, 16, 1, groups=2, bias=False)
        self.last = nn.Linear(8, CLASSES)

    def forward(self, x):
        x = F.silu(self.norm(self.groups(F.silu(self.stem(x)))))
        n, c, h, w = x.shape
        x = x.reshape(n, 2, c // 2, h, w)
        gap = self.two(F.silu(self.one(x.sum(1).mean((2, 3), keepdim=True))))
        weights = gap.view(n, 2, 2, -1).transpose(1, 2).softmax(1).reshape(n, -1, 1, 1)
        return self.last((x * weights.reshape(n, 2, c // 2, 1, 1)).sum(1).mean((2, 3)))


class Detector(nn.Module):
    """YOLOv8: blocks that split channels, pools one behind the other, two scales from below and above;
    a box's sides as means of a distribution, about the anchors' centres. A box and one class: five numbers."""

    def __init__(self):
        super().__init__()
        def layer(i, o, k, s=1):
            return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.SiLU())
        self.stem, self.down = layer(3, 8, 3, 2), layer(8, 8, 3, 2)
        self.enter, self.inner, self.leave = layer(8, 8, 1), layer(4, 4, 3), layer(12, 8, 1)
        self.pools, self.up, self.back = layer(16, 8, 1), layer(16, 8, 1), layer(8, 8, 3, 2)
        self.low = layer(16, 8, 1)
        self.boxes = nn.ModuleList([nn.Conv2d(8, 4 * 4, 1) for _ in range(2)])
        self.classes = nn.ModuleList([nn.Conv2d(8, 1, 1) for _ in range(2)])
        self.steps = torch.arange(4.0)  # these three are constants of the file
        centres = [(x + 0.5, y + 0.5) for side in (4, 2) for y in range(side) for x in range(side)]
        self.centres = torch.tensor(centres).T.unsqueeze(0)
        self.strides = torch.tensor([2.0] * 16 + [4.0] * 4).view(1, 1, -1)

    def forward(self, x):
        x = self.stem(x)
        a, b = self.enter(x).chunk(2, 1)
        x = self.leave(torch.cat([a, b, b + self.inner(b)], 1))
        y = self.down(x)
        once = F.max_pool2d(y, 3, 1, 1)
        y = self.pools(torch.cat([y, once], 1))
        high = self.up(torch.cat([F.interpolate(y, scale_factor=2, mode="nearest"), x], 1))
        low = self.low(torch.cat([self.back(high), y], 1))
        maps = [torch.cat([box(m), kind(m)], 1).flatten(2)
                for m, box, kind in zip((high, low), self.boxes, self.classes)]
        sides, classes = torch.cat(maps, 2).split((16, 1), 1)
        sides = sides.view(-1, 4, 4, 20).transpose(2, 1).softmax(1)
        sides = (sides * self.steps.view(1, 4, 1, 1)).sum(1)
        near, far = sides.chunk(2, 1)
        near, far = self.centres - near, self.centres + far
        boxes = torch.cat([(near + far) / 2, far - near], 1) * self.strides
        return torch.cat([boxes, classes.sigmoid()], 1).mean(2)


class Shaped(nn.Module):
    """UNet: down by maxima, up by a transposed convolution and by bilinear resizing, joined on the way."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1)
        self.three, self.up = nn.Conv2d(8, 10, 3, padding=1), nn.ConvTranspose2d(10, 8, 2, 2)
        self.four, self.five = nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(14, 6, 3, padding=1)
        self.last = nn.Conv2d(6, CLASSES, 1)

    def forward(self, x):
        x = F.silu(self.one(x))
        y = F.silu(self.two(F.max_pool2d(x, 2)))
        z = F.silu(self.three(F.max_pool2d(y, 2)))
        y = F.silu(self.four(torch.cat([self.up(z), y], 1)))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(F.silu(self.five(torch.cat([y, x], 1)))).mean((2, 3))


class Keras(nn.Module):
    """MobileNetV2 as Keras has it: pictures N,H,W,C, and padding more on one side where it strides."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 6, 3, 2, bias=False), nn.BatchNorm2d(6, eps=1e-3)
        self.expand, self.norm_1 = nn.Conv2d(6, 12, 1, bias=False), nn.BatchNorm2d(12, eps=1e-3)
        self.depth, self.norm_2 = nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False), nn.BatchNorm2d(12, eps=1e-3)
        self.project, self.norm_3 = nn.Conv2d(12, 6, 1, bias=False), nn.BatchNorm2d(6, eps=1e-3)
        self.last = nn.Linear(6, CLASSES)

    def forward(self, x):
        x = x.permute(0, 3, 1, 2)
        x = F.relu6(self.norm(self.stem(F.pad(x, (0, 1, 0, 1)))))
        y = F.relu6(self.norm_1(self.expand(x)))
        y = F.relu6(self.norm_2(self.depth(y)))
        x = x + self.norm_3(self.project(y))
        return self.last(x.permute(0, 2, 3, 1).mean((1, 2)))


class Cubic(nn.Module):
    """Maps made larger and smaller by cubic interpolation, and sums of the pixels so far, as positions are counted."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 6, 3, 2, 1), nn.Conv2d(6, 6, 3, padding=1)
        self.last = nn.Conv2d(6, CLASSES, 1)

    def forward(self, x):
        x = F.interpolate(F.silu(self.one(x)), size=(7, 6), mode="bicubic", align_corners=False)
        x = torch.tanh(x.cumsum(3) - 0.5 * x.cumsum(1))
        x = F.interpolate(self.two(x), size=(3, 3), mode="bicubic", align_corners=True)
        return self.last(F.silu(x)).mean((2, 3))


def train(net, x, labels, optimizer):
    steps, losses = optimizer(net.parameters()), []
    for _ in range(STEPS):
        steps.zero_grad()
        loss = F.cross_entropy(net(x), labels)
        loss.backward()
        steps.step()
        losses.append(loss.item())
    arrays = {name: value.detach().numpy() for name, value in net.named_parameters()}
    arrays["loss"] = np.array(losses)
    return {name: np.asarray(value, np.float64) for name, value in arrays.items()}


def export(net, x, path):
    """Writes the file; returns the parameters that are read in another shape, and whether turned."""
    torch.onnx.export(copy.deepcopy(net).eval(), (x[:1],), path, opset_version=13,
                      input_names=["image"], output_names=["scores"],
                      dynamic_axes={"image": {0: "N"}, "scores": {0: "N"}},
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    model, moved = onnx.load(path), {}
    learned = {name for name, _ in net.named_parameters()}
    for node in model.graph.node:
        name = node.input[0] if node.input else ""
        if node.op_type == "Identity" and name in learned:  # of equal numbers, stored once
            learned.add(node.output[0])
        if node.op_type in ("Unsqueeze", "Transpose", "Reshape") and name in learned:
            old, node.output[0] = node.output[0], ("again." if name in moved else "moved.") + name
            moved[name] = node.op_type == "Transpose"
            for reader in model.graph.node:
                reader.input[:] = [node.output[0] if i == old else i for i in reader.input]
    onnx.save(model, path)
    return moved


def named(arrays, moved):
    return {("moved." + n if n in moved else n): a.T if moved.get(n) else a
            for n, a in arrays.items()}


def off(found, wanted):
    """The largest error, as the test reckons it, and of which array."""
    return max((np.abs(found[n] - wanted[n]).max() / max(1, np.linalg.norm(wanted[n])), n)
               for n in wanted)


def frozen():
    """Numbers that take part and do not train: not PyTorch's file, which stores constants as well."""
    h = onnx.helper

    def number(name, value, *dims):
        size = int(np.prod(dims))
        return h.make_tensor(name, onnx.TensorProto.FLOAT, dims, [value] * size)

    stored = [number("divisor", 2, 1), number("logarithm", 0.5, 3, 1, 1), number("power", 2, 1),
              number("epsilon", 1e-5), number("bound", 9, 1), number("divisors", 3, 3, 1, 1),
              number("gain", 1, 3, 1, 1), number("weight", 0.5, 3, 1, 1, 1)]
    nodes = [h.make_node("Conv", ["x", "weight"], ["w"]),
             h.make_node("Div", ["w", "divisor"], ["a"]),
             h.make_node("Exp", ["logarithm"], ["factor"]),
             h.make_node("Mul", ["a", "factor"], ["b"]),
             h.make_node("Pow", ["b", "power"], ["c"]),
             h.make_node("Add", ["c", "epsilon"], ["d"]),
             h.make_node("Div", ["d", "divisor"], ["e"]),
             h.make_node("Min", ["e", "bound"], ["f"]),
             h.make_node("Div", ["f", "divisors"], ["g"]),
             h.make_node("Constant", [], ["two"], value=number("two", 2, 1)),
             h.make_node("Mul", ["g", "two"], ["h"]),
             h.make_node("Mul", ["h", "gain"], ["y"])]
    graph = h.make_graph(nodes, "frozen",
                         [h.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 1, 8, 8])],
                         [h.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 3, 8, 8])], stored)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=7,
                           producer_name="other"), "learned/frozen.onnx")


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    x, labels = torch.randn(BATCH, 3, SIDE, SIDE), torch.tensor([0, 3, 1, 4])
    kept = {"x": x.numpy(), "labels": labels.numpy().astype(np.float32)}
    for name, kind in (("dense", Dense), ("prelu", Slopes), ("layer_scale", LayerScale),
                       ("affine", Affine), ("attention", Attention), ("tokens", Tokens),
                       ("windows", Windows), ("multihead", Multihead), ("again", Again),
                       ("pyramid", Pyramid), ("unfolded", Unfolded), ("biased", Biased), ("pools", Pools),
                       ("splits", Splits), ("detector", Detector), ("shaped", Shaped), ("keras", Keras),
                       ("cubic", Cubic), ("distances", Distances)):
        net = kind()
        images = x.permute(0, 2, 3, 1) if kind is Keras else x
        moved = export(net, images, f"learned/{name}.onnx")
        for optimizer, make in OPTIMIZERS.items():
            arrays = train(copy.deepcopy(net).double(), images.double(), labels, make)
            single = train(copy.deepcopy(net), images, labels, make)
            print(f"{name} {optimizer}: float32 off by", *off(single, arrays), "loss",
                  arrays["loss"][[0, -1]].round(3))
            kept.update({f"{name}.{optimizer}.{n}": a.astype(np.float32)
                         for n, a in named(arrays, moved).items()})
    np.savez_compressed("learned.npz", **kept)
    frozen()


if __name__ == "__main__":
    main()
