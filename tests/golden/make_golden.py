#!/usr/bin/python3
"""Writes the vectors that test_golden.c runs: results of PyTorch, where it and MPS agree.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the files that are
here). Everything is computed in double precision, from drawn numbers that float32 holds exactly.

cases.txt has a line a case:  KERNEL INDEX BOUND INPUT,... OUTPUT,... SETTING...
Its arrays are INDEX.NAME in KERNEL.npz, in the layout of glcnn_run; one that goes in and comes out
is INDEX.NAME.after where it comes out. An element passes within BOUND * max(1, largest |expected|).
training.npz is described further down. To add a case, edit this file alone.
"""
import collections
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)

lines = []
archives = collections.defaultdict(dict)


def add(kernel, inputs, outputs, bound=1e-5, **settings):
    index = sum(line.split()[0] == kernel for line in lines)
    for name, value in {**inputs, **outputs}.items():
        in_and_out = name in inputs and name in outputs
        for suffix, array in ((("", inputs[name]), (".after", outputs[name])) if in_and_out
                              else (("", value),)):
            archives[kernel][f"{index}.{name}{suffix}"] = \
                array.detach().numpy().astype(np.float32)
    words = [f"{k}={v!r}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items()]
    lines.append(" ".join([kernel, str(index), f"{bound:g}", ",".join(inputs), ",".join(outputs)]
                          + words))


def draw(*shape, low=-1.0, high=1.0):
    """Uniform numbers that float32 holds exactly; they need gradients."""
    values = torch.rand(shape) * (high - low) + low
    return values.float().double().requires_grad_()


def pull_back(result, *leaves):
    """A gradient for the result, and what it gives the leaves."""
    g = draw(*result.shape).detach()
    return (g,) + torch.autograd.grad(result, leaves, g)


# ---- Pooling ----

def window(kernel, stride, padding, dilation, result):
    """Settings of a window as section 14 of the specification translates them."""
    kh, kw = kernel
    settings = {"kernel_width": kw, "kernel_height": kh,
                "stride_in_pixels_x": stride[1], "stride_in_pixels_y": stride[0]}
    if dilation != (1, 1):
        settings.update(dilation_rate_x=dilation[1], dilation_rate_y=dilation[0])
    dilated = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    settings.update(offset_x=dilated[1] // 2 - padding[1], offset_y=dilated[0] // 2 - padding[0],
                    destination_width=result.shape[3], destination_height=result.shape[2])
    return settings


def pool(kernel, x, y, **settings):
    g, dx = pull_back(y, x)
    add(kernel, {"source_image": x}, {"destination_image": y}, **settings)
    add(kernel + "_gradient", {"source_gradient": g, "source_image": x},
        {"destination_gradient": dx}, **settings)


#        N  C  H   W    kernel  stride  padding
POOLS = [((1, 1, 5, 7), (2, 2), (2, 2), (0, 0)),
         ((2, 3, 6, 5), (3, 3), (1, 1), (1, 1)),
         ((1, 5, 9, 8), (3, 2), (2, 3), (1, 0)),
         ((3, 6, 7, 7), (4, 5), (2, 1), (2, 2)),
         ((2, 9, 8, 6), (1, 3), (4, 2), (0, 1))]


def poolings():
    for (shape, kernel, stride, padding), ceil in zip(POOLS, itertools.cycle((True, False))):
        for counted in (True, False):
            x = draw(*shape)
            y = F.avg_pool2d(x, kernel, stride, padding, ceil, counted)
            zeros = {"zero_pad_size_x": padding[1], "zero_pad_size_y": padding[0]} if counted else {}
            pool("pooling_average", x, y, edge_mode="clamp", **zeros,
                 **window(kernel, stride, padding, (1, 1), y))
        x = draw(*shape)
        y = F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil)
        pool("pooling_max", x, y, edge_mode="clamp", **window(kernel, stride, padding, (1, 1), y))
    for shape, kernel, stride, _ in POOLS:
        x = draw(*shape)
        y = F.lp_pool2d(x, 2, kernel, stride)
        pool("pooling_l2_norm", x, y, **window(kernel, stride, (0, 0), (1, 1), y))
    for (shape, kernel, stride, _), dilation in zip(POOLS, ((3, 2), (2, 2), (1, 3), (1, 1), (5, 2))):
        x = draw(*shape)
        y = F.max_pool2d(x, kernel, stride, 0, dilation)
        pool("dilated_pooling_max", x, y, **window(kernel, stride, (0, 0), dilation, y))


# ---- Convolution ----

#                N  Ci H  W    Co  kernel stride  padding dilation groups
CONVOLUTIONS = [((1, 1, 5, 5), 1, (3, 3), (1, 1), (1, 1), (1, 1), 1),
                ((2, 3, 6, 7), 5, (3, 3), (1, 1), (0, 0), (1, 1), 1),
                ((1, 2, 7, 8), 4, (2, 4), (1, 2), (1, 2), (1, 1), 1),
                ((3, 4, 9, 6), 7, (5, 1), (2, 3), (2, 0), (1, 1), 1),
                ((1, 5, 8, 9), 3, (3, 2), (1, 1), (2, 1), (2, 3), 1),
                ((2, 6, 7, 7), 8, (3, 3), (2, 2), (3, 2), (2, 1), 1),
                ((2, 6, 5, 6), 9, (3, 3), (1, 1), (1, 1), (1, 1), 3),
                ((1, 8, 6, 5), 4, (2, 2), (2, 2), (0, 0), (1, 1), 2),
                ((2, 5, 6, 6), 5, (3, 3), (1, 2), (1, 1), (1, 1), 5),
                ((1, 3, 7, 5), 9, (3, 4), (1, 1), (1, 2), (2, 1), 3),
                ((3, 9, 4, 3), 2, (1, 1), (1, 1), (0, 0), (1, 1), 1),
                ((1, 7, 5, 4), 6, (4, 3), (3, 4), (3, 2), (1, 1), 1)]


def convolve(x, w, b, y, kernel="convolution", **settings):
    g, dx, dw, db = pull_back(y, x, w, b)
    add(kernel, {"source_image": x, "weights": w, "biases": b}, {"destination_image": y}, **settings)
    add(kernel + "_gradient", {"source_gradient": g, "source_image": x, "weights": w},
        {"destination_gradient": dx, "gradient_for_weights": dw, "gradient_for_biases": db},
        **settings)


def convolutions():
    for clamp in (False, True):
        for shape, outputs, kernel, stride, padding, dilation, groups in CONVOLUTIONS:
            if clamp and padding == (0, 0):
                continue
            x = draw(*shape)
            w = draw(outputs, shape[1] // groups, *kernel)
            b = draw(outputs)
            (top, left), mode = padding, {"mode": "replicate" if clamp else "constant"}
            y = F.conv2d(F.pad(x, (left, left, top, top), **mode), w, b, stride, 0, dilation, groups)
            settings = window(kernel, stride, padding, dilation, y)
            settings.pop("kernel_width"), settings.pop("kernel_height")  # the weights tell
            if groups != 1:
                settings["groups"] = groups
            convolve(x, w, b, y, edge_mode="clamp" if clamp else "zero", **settings)
    x, w, b = draw(2, 3, 6, 5), draw(6, 3, 3, 3), draw(6)
    add("convolution", {"source_image": x, "weights": w, "biases": b},
        {"destination_image": F.leaky_relu(F.conv2d(x, w, b, 1, 1), 0.125)},
        neuron_type="relu", neuron_a=0.125)
    for n, c, h, w, k in ((1, 1, 1, 1, 1), (3, 5, 2, 3, 10), (2, 9, 4, 4, 3), (5, 2, 7, 1, 6)):
        x, weights, b = draw(n, c, h, w), draw(k, c, h, w), draw(k)
        y = F.linear(x.flatten(1), weights.flatten(1), b).reshape(n, k, 1, 1)
        convolve(x, weights, b, y, "fully_connected")


# ---- Batch normalisation ----

ACTS = [({}, lambda x: x), ({"neuron_type": "relu", "neuron_a": 0.25}, lambda x: F.leaky_relu(x, 0.25)),
        ({"neuron_type": "sigmoid"}, torch.sigmoid)]


def normalisations():
    shapes = ((1, 1, 5, 4), (3, 2, 4, 3), (2, 5, 3, 7), (3, 8, 5, 2), (2, 9, 6, 6))
    for (shape, (neuron, act)), fixed in itertools.product(zip(shapes, itertools.cycle(ACTS)),
                                                          (False, True)):
        # A mean far from 0 shows a variance computed as E[x^2] - E[x]^2.
        x, gamma, beta = draw(*shape, low=2, high=4), draw(shape[1], low=0.5, high=2), draw(shape[1])
        mean, variance = draw(shape[1]).detach(), draw(shape[1], low=0.5, high=2).detach()
        y = act(F.batch_norm(x, mean.clone(), variance.clone(), gamma, beta, not fixed, 0.1, 1e-3))
        g, dx, dgamma, dbeta = pull_back(y, x, gamma, beta)
        settings = {"epsilon": 1e-3, **neuron, **({"flags": "never"} if fixed else {})}
        known = {"mean": mean, "variance": variance} if fixed else {}
        parameters = {"gamma": gamma, "beta": beta, **known}
        both = {"source_gradient": g, "source_image": x, **parameters}
        add("batch_normalization", {"source_image": x, **parameters}, {"destination_image": y},
            **settings)
        add("batch_normalization_gradient", both, {"destination_gradient": dx}, **settings)
        add("batch_normalization_statistics_gradient", both,
            {"gradient_for_gamma": dgamma, "gradient_for_beta": dbeta}, **settings)
        if not fixed:
            add("batch_normalization_statistics", {"source_image": x},
                {"mean": x.mean((0, 2, 3)), "variance": x.var((0, 2, 3), unbiased=False)})


# ---- Element by element ----

def neuron(shape, f, type_, a=None, b=None, c=None, low=-3.0, high=3.0, data=None):
    x = draw(*shape, low=low, high=high)
    y = f(x)
    g, dx = pull_back(y, x)
    settings = {"neuron_type": type_, **{f"neuron_{k}": float(v) for k, v in
                                         (("a", a), ("b", b), ("c", c)) if v is not None}}
    slopes = {} if data is None else {"neuron_data": data}
    add("neuron", {"source_image": x, **slopes}, {"destination_image": y}, **settings)
    add("neuron_gradient", {"source_gradient": g, "source_image": x, **slopes},
        {"destination_gradient": dx}, **settings)


def neurons():
    slopes = draw(6).detach()
    neuron((1, 3, 4, 5), lambda x: x, "none")
    neuron((1, 5, 3, 3), F.relu, "relu")
    neuron((2, 2, 3, 5), lambda x: F.leaky_relu(x, 0.125), "relu", 0.125)
    neuron((1, 1, 5, 5), lambda x: 1.5 * x - 0.25, "linear", 1.5, -0.25)
    neuron((3, 4, 2, 3), torch.sigmoid, "sigmoid", low=-9, high=9)
    neuron((1, 6, 4, 4), F.hardsigmoid, "hard_sigmoid", 1 / 6, 0.5, low=-5, high=5)
    neuron((1, 7, 3, 4), lambda x: torch.clamp(0.25 * x + 0.5, 0, 1), "hard_sigmoid", 0.25, 0.5)
    neuron((1, 2, 5, 3), torch.tanh, "tanh", 1, 1)
    neuron((2, 3, 3, 3), lambda x: 1.75 * torch.tanh(0.5 * x), "tanh", 1.75, 0.5)
    neuron((1, 9, 2, 3), torch.abs, "absolute")
    neuron((1, 4, 4, 3), F.softplus, "soft_plus", 1, 1, low=-15, high=15)
    neuron((1, 5, 3, 2), lambda x: F.softplus(x, 4, 1000), "soft_plus", 0.25, 4)
    neuron((2, 8, 3, 1), F.softsign, "soft_sign")
    neuron((1, 3, 5, 5), F.elu, "elu", 1)
    neuron((1, 2, 4, 5), lambda x: F.elu(x, 1.5), "elu", 1.5)
    neuron((2, 6, 3, 2), lambda x: F.prelu(x, slopes), "prelu", data=slopes)
    neuron((1, 5, 4, 4), F.relu6, "relun", 0, 6, low=-2, high=8)
    neuron((1, 3, 4, 4), lambda x: torch.pow(0.5 * x + 2, 2.5), "power", 0.5, 2, 2.5)
    neuron((1, 3, 4, 4), lambda x: torch.exp(0.5 * x + 1), "exponential", 0.5, 1, -1)
    neuron((1, 3, 4, 4), lambda x: torch.pow(torch.tensor(2.0), x), "exponential", 1, 0, 2)
    neuron((1, 3, 4, 4), lambda x: torch.log(0.5 * x + 2), "logarithm", 0.5, 2, -1)


def soft_maxes():
    for shape in ((1, 1, 2, 2), (3, 3, 2, 1), (1, 5, 4, 3), (2, 8, 3, 3), (3, 9, 2, 2), (2, 37, 1, 1)):
        for kernel, f in (("soft_max", F.softmax), ("log_soft_max", F.log_softmax)):
            x = draw(*shape, low=-20, high=20)
            y = f(x, 1)
            g, dx = pull_back(y, x)
            add(kernel, {"source_image": x}, {"destination_image": y})
            add(kernel + "_gradient", {"source_gradient": g, "source_image": y},
                {"destination_gradient": dx})


# ---- Loss ----

LOSSES = {
    "mean_absolute_error": lambda y, t: F.l1_loss(y, t, reduction="none"),
    "mean_squared_error": lambda y, t: F.mse_loss(y, t, reduction="none"),
    "soft_max_cross_entropy": lambda y, t: -t * F.log_softmax(y, 1),
    "sigmoid_cross_entropy":
        lambda y, t: F.binary_cross_entropy_with_logits(y, t, reduction="none"),
    "categorical_cross_entropy": lambda y, t: -t * torch.log(y),
    "hinge": lambda y, t: F.relu(1 - (2 * t - 1) * y),
    "huber": lambda y, t: F.huber_loss(y, t, reduction="none", delta=0.25),
    "log": lambda y, t: F.binary_cross_entropy(y, t, reduction="none"),
    "kullback_leibler_divergence": lambda y, t: F.kl_div(y, t, reduction="none"),
}


def labels_for(loss_type, shape):
    if loss_type == "soft_max_cross_entropy":
        return F.one_hot(torch.randint(shape[1], shape[:1] + shape[2:]),
                         shape[1]).movedim(-1, 1).double()
    if loss_type == "hinge":
        return torch.randint(2, shape).double()
    return draw(*shape, low=0.1, high=0.9).detach()


def per_image(values):
    return values.sum((1, 2, 3))


def losses():
    for (loss_type, f), shape in zip(LOSSES.items(), itertools.cycle(
            ((2, 3, 3, 2), (1, 5, 2, 4), (3, 10, 1, 1), (2, 6, 3, 3)))):
        t = labels_for(loss_type, shape)
        eps = {"epsilon": 0.0} if loss_type == "log" else {}
        settings = {"loss_type": loss_type, **({"delta": 0.25} if loss_type == "huber" else eps)}
        y = draw(*shape, low=0.1, high=0.9)
        w = torch.randint(3, shape).double() / 2
        pixels = shape[2] * shape[3] * (1 if loss_type == "soft_max_cross_entropy" else shape[1])
        inputs = {"source_image": y, "labels": t}
        d, = torch.autograd.grad(f(y, t).sum(), y)
        for reduction, loss in (("none", f(y, t)), ("sum", per_image(f(y, t))),
                                ("mean", per_image(f(y, t)) / pixels)):
            add("loss", inputs, {"destination_gradient": d, "loss": loss}, **settings,
                reduction_type=reduction)
        d, = torch.autograd.grad((0.5 * w * f(y, t)).sum(), y)
        add("loss", {**inputs, "label_weights": w},
            {"destination_gradient": d, "loss": per_image(0.5 * w * f(y, t))}, **settings,
            weight=0.5, reduction_type="sum")
    y, t = draw(2, 6, 3, 2), draw(2, 6, 3, 2).detach()
    loss = 1 - per_image(y * t)
    d, = torch.autograd.grad(loss.sum(), y)
    add("loss", {"source_image": y, "labels": t}, {"destination_gradient": d, "loss": loss},
        loss_type="cosine_distance", reduction_type="sum")
    y = draw(5, 7, 1, 1, low=-4, high=4)
    t = torch.randint(7, (5,))
    loss = F.cross_entropy(y[:, :, 0, 0], t, reduction="none", label_smoothing=0.25)
    d, = torch.autograd.grad(loss.sum(), y)
    add("loss", {"source_image": y, "labels": F.one_hot(t, 7).reshape(5, 7, 1, 1)},
        {"destination_gradient": d, "loss": loss}, loss_type="soft_max_cross_entropy",
        reduction_type="mean", label_smoothing=0.25, number_of_classes=7)


# ---- Optimizers: several steps, each a case that starts where the step before ended ----

def descend(make, kernel, states, settings_of, steps=4):
    w = torch.nn.Parameter(draw(3, 5).detach())
    optimizer = make([w])
    before = {name: torch.zeros(3, 5) for name in states}
    for step in range(steps):
        g = draw(3, 5).detach()
        values = w.detach().clone()
        w.grad = g.clone()
        optimizer.step()
        after = {name: scale * optimizer.state[w][key] for name, (key, scale) in states.items()}
        add(kernel, {"gradient": g, "values": values, **before}, {"result": w.clone(), **after},
            **settings_of(step))
        before = {name: value.clone() for name, value in after.items()}


def optimizers():
    sgd, lr = "optimizer_stochastic_gradient_descent", 0.125
    decay = {"regularization_type": "l2", "regularization_scale": 0.25}
    descend(lambda p: torch.optim.SGD(p, lr), sgd, {}, lambda _: {"learning_rate": lr}, 1)
    # MPS keeps lr * m without Nesterov's form, and m with it.
    descend(lambda p: torch.optim.SGD(p, lr, 0.875), sgd, {"momentum": ("momentum_buffer", lr)},
            lambda _: {"learning_rate": lr, "momentum_scale": 0.875})
    descend(lambda p: torch.optim.SGD(p, lr, 0.875, nesterov=True, weight_decay=0.25), sgd,
            {"momentum": ("momentum_buffer", 1)},
            lambda _: {"learning_rate": lr, "momentum_scale": 0.875, "use_nesterov_momentum": 1,
                       **decay})
    descend(lambda p: torch.optim.RMSprop(p, lr, 0.75, 1e-4), "optimizer_rms_prop",
            {"sum_of_squares": ("square_avg", 1)},
            lambda _: {"learning_rate": lr, "decay": 0.75, "epsilon": 1e-4})
    # MPS adds epsilon to sqrt(v), PyTorch to sqrt(v / (1 - beta2^t)).
    descend(lambda p: torch.optim.Adam(p, lr, (0.875, 0.984375), 1e-4, 0.25), "optimizer_adam",
            {"first_moment": ("exp_avg", 1), "second_moment": ("exp_avg_sq", 1)},
            lambda t: {"learning_rate": lr, "beta1": 0.875, "beta2": 0.984375, "time_step": t,
                       "epsilon": 1e-4 * math.sqrt(1 - 0.984375 ** (t + 1)), **decay})


# ---- Training: twenty steps of a network, for test_training.c ----
#
# Numbers come from a hash of integers that C computes too, so only results are kept: training.npz
# has the loss of each step, and the value after the last step (LAYER.NAME) and the gradient in it
# (LAYER.gradient_for_NAME) of every parameter, weights in the library's layout [Co][kH][kW][Ci].

# A gradient jumps where a maximum changes places or a ReLU changes sides, and float32 turns what is
# closer than its rounding: PyTorch's own float32 is 1e-3 off then. The last batch is one out of
# many in which nothing is close.

STEPS, BATCH, CLASSES, SIDE = 20, 64, 10, 28
BATCHES, MARGIN = list(range(STEPS - 1)) + [151], 1.4e-5


def mix(i):
    """The 32-bit finaliser of MurmurHash3."""
    i = np.asarray(i).astype(np.uint32)
    i = (i ^ (i >> np.uint32(16))) * np.uint32(0x85ebca6b)
    i = (i ^ (i >> np.uint32(13))) * np.uint32(0xc2b2ae35)
    return i ^ (i >> np.uint32(16))


def training_batch(number):
    """A pattern of the class under noise of the same size, in multiples of 1/256."""
    image = np.arange(number * BATCH, (number + 1) * BATCH)
    label, pixel = mix(image + 7) % CLASSES, np.arange(SIDE * SIDE)
    pattern = mix(label[:, None] * SIDE * SIDE + pixel + 1000003) & 127
    noise = mix(image[:, None] * SIDE * SIDE + pixel + 2000003) & 127
    x = (pattern + noise) / 256.0
    return torch.tensor(x).reshape(BATCH, 1, SIDE, SIDE), torch.tensor(label.astype(np.int64))


def initial(layer, bound, *shape):
    """Weights in -bound .. bound, which is a power of 2; made in the library's layout."""
    u = mix(np.arange(math.prod(shape)) + layer * 100003) >> np.uint32(8)
    return torch.tensor(bound * (u / 2.0 ** 23 - 1)).reshape(shape)


def margin(x):
    """How far the inputs of ReLU and max pool 2 are from another gradient."""
    n, c, h, w = x.shape
    windows = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(3, 4).flatten(4)
    top = windows.topk(2).values
    return torch.minimum(top[..., 0].abs(), torch.where(top[..., 0] > 0, top[..., 0] - top[..., 1],
                                                        math.inf)).min().item()


def training():
    parameters, margins = {}, []
    for layer, bound, *shape in ((0, 0.5, 16, 3, 3, 1), (3, 0.125, 32, 3, 3, 16),
                                 (7, 0.0625, 10, 7, 7, 32)):
        parameters[layer, "weights"] = initial(layer, bound, *shape).permute(0, 3, 1, 2)
        parameters[layer, "biases"] = torch.zeros(shape[0])
    for layer, channels in ((1, 16), (4, 32)):
        parameters[layer, "gamma"], parameters[layer, "beta"] = torch.ones(channels), \
            torch.zeros(channels)
    p = {key: value.clone().requires_grad_() for key, value in parameters.items()}

    def block(x, first):
        x = F.conv2d(x, p[first, "weights"], p[first, "biases"], padding=1)
        x = F.batch_norm(x, None, None, p[first + 1, "gamma"], p[first + 1, "beta"], True,
                         eps=1e-5)
        margins.append(margin(x.detach()))
        return F.max_pool2d(F.relu(x), 2)

    optimizer = torch.optim.SGD(p.values(), 1 / 4096, 0.9)
    losses_seen = []
    for number in BATCHES:
        x, label = training_batch(number)
        x = block(block(x, 0), 3).flatten(1)
        loss = F.cross_entropy(F.linear(x, p[7, "weights"].flatten(1), p[7, "biases"]), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses_seen.append(loss.detach())
    assert min(margins[-2:]) > MARGIN
    arrays = archives["training"]
    arrays["loss"] = torch.stack(losses_seen).numpy().astype(np.float32)
    for (layer, name), value in p.items():
        for kind, t in (("", value.detach()), ("gradient_for_", value.grad)):
            t = t.permute(0, 2, 3, 1) if name == "weights" else t
            arrays[f"{layer}.{kind}{name}"] = t.numpy().astype(np.float32)


poolings()
convolutions()
normalisations()
neurons()
soft_maxes()
losses()
optimizers()
training()
for kernel, arrays in archives.items():
    np.savez_compressed(f"{kernel}.npz", **arrays)
with open("cases.txt", "w") as file:
    file.write("\n".join(lines) + "\n")
