"""Operations of PyTorch as cases of kernels: what make_golden.py keeps and differential.py draws.

A function takes the operands and what PyTorch's own function takes, and returns cases: a kernel's
name, its arrays in the layout of glcnn_run, the results, and its settings as spec 14
translates them. Results are double precision; operands are numbers that float32
holds exactly. A gradient is autograd's, for a source gradient that is drawn last.
"""
import collections
import math

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

Case = collections.namedtuple("Case", "kernel inputs outputs settings")


def arrays_of(case):
    """Inputs and outputs as float32 arrays by name."""
    return [{name: value.detach().numpy().astype(np.float32) for name, value in tensors.items()}
            for tensors in (case.inputs, case.outputs)]


def words_of(case):
    """Settings as glcnn_setting_parse reads them."""
    return [f"{k}={v!r}" if isinstance(v, float) else f"{k}={v}" for k, v in case.settings.items()]


def draw(*shape, low=-1.0, high=1.0):
    """Uniform numbers that float32 holds exactly; they need gradients."""
    values = torch.rand(shape) * (high - low) + low
    return values.float().double().requires_grad_()


def pull_back(result, *leaves):
    """A gradient for the result, and what it gives the leaves."""
    g = draw(*result.shape).detach()
    return (g,) + torch.autograd.grad(result, leaves, g)


def image_to_image(kernel, x, y, **settings):
    """Of a kernel with one image in and one out, and of its gradient."""
    g, dx = pull_back(y, x)
    return [Case(kernel, {"source_image": x}, {"destination_image": y}, settings),
            Case(kernel + "_gradient", {"source_gradient": g, "source_image": x},
                 {"destination_gradient": dx}, settings)]


# ---- Windows ----

def offsets(kernel, padding, dilation, result):
    dilated = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    return {"offset_x": dilated[1] // 2 - padding[1], "offset_y": dilated[0] // 2 - padding[0],
            "destination_width": result.shape[3], "destination_height": result.shape[2]}


def strides(stride, dilation=(1, 1)):
    settings = {"stride_in_pixels_x": stride[1], "stride_in_pixels_y": stride[0]}
    if dilation != (1, 1):
        settings.update(dilation_rate_x=dilation[1], dilation_rate_y=dilation[0])
    return settings


def size_of(kernel):
    return {"kernel_width": kernel[1], "kernel_height": kernel[0]}


def window(kernel, stride, padding, dilation, result):
    return {**size_of(kernel), **strides(stride, dilation),
            **offsets(kernel, padding, dilation, result)}


def edge(clamp):
    return "clamp" if clamp else "zero"


def extend(x, before, after, clamp):
    """x with rows and columns (height, width) before and after it."""
    return F.pad(x, (before[1], after[1], before[0], after[0]),
                 mode="replicate" if clamp else "constant")


# ---- Pooling ----

def pooling_average(x, kernel, stride, padding, ceil, counted):
    y = F.avg_pool2d(x, kernel, stride, padding, ceil, counted)
    zeros = {"zero_pad_size_x": padding[1], "zero_pad_size_y": padding[0]} if counted else {}
    return image_to_image("pooling_average", x, y, edge_mode="clamp", **zeros,
                          **window(kernel, stride, padding, (1, 1), y))


def pooling_max(x, kernel, stride, padding, ceil):
    y = F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil)
    return image_to_image("pooling_max", x, y, edge_mode="clamp",
                          **window(kernel, stride, padding, (1, 1), y))


def pooling_l2_norm(x, kernel, stride):
    y = F.lp_pool2d(x, 2, kernel, stride)
    return image_to_image("pooling_l2_norm", x, y, **window(kernel, stride, (0, 0), (1, 1), y))


def dilated_pooling_max(x, kernel, stride, dilation):
    y = F.max_pool2d(x, kernel, stride, 0, dilation)
    return image_to_image("dilated_pooling_max", x, y,
                          **window(kernel, stride, (0, 0), dilation, y))


POOLS = {"pooling_average": lambda x, k, s, d: F.avg_pool2d(x, k, s),
         "pooling_l2_norm": lambda x, k, s, d: F.lp_pool2d(x, 2, k, s),
         "pooling_max": lambda x, k, s, d: F.max_pool2d(x, k, s),
         "dilated_pooling_max": lambda x, k, s, d: F.max_pool2d(x, k, s, 0, d)}


def pooling_with_edges(name, x, kernel, stride, padding, dilation, clamp):
    """Of an image that was extended, by any amount, before it is pooled."""
    y = POOLS[name](extend(x, padding, padding, clamp), kernel, stride, dilation)
    return image_to_image(name, x, y, edge_mode=edge(clamp),
                          **window(kernel, stride, padding, dilation, y))


# ---- Convolution ----

def weighted(kernel, x, w, b, y, settings):
    g, dx, dw, db = pull_back(y, x, w, b)
    return [Case(kernel, {"source_image": x, "weights": w, "biases": b}, {"destination_image": y},
                 settings),
            Case(kernel + "_gradient", {"source_gradient": g, "source_image": x, "weights": w},
                 {"destination_gradient": dx, "gradient_for_weights": dw,
                  "gradient_for_biases": db}, settings)]


def grouped(groups):
    return {"groups": groups} if groups != 1 else {}


def convolution(x, w, b, stride, padding, dilation, groups, clamp):
    y = F.conv2d(extend(x, padding, padding, clamp), w, b, stride, 0, dilation, groups)
    return weighted("convolution", x, w, b, y,
                    {"edge_mode": edge(clamp), **strides(stride, dilation),
                     **offsets(w.shape[2:], padding, dilation, y), **grouped(groups)})


def around(x, kernel, clamp):
    """x with what windows of every pixel need."""
    return extend(x, [k // 2 for k in kernel], [(k - 1) // 2 for k in kernel], clamp)


def convolution_of_same_size(x, w, b):
    return F.conv2d(around(x, w.shape[2:], False), w, b)


def forward_convolution(x, w, b, y, settings):
    """Of kernels that have no gradient: with a fused neuron, or to sub-pixels."""
    return [Case("convolution", {"source_image": x, "weights": w, "biases": b},
                 {"destination_image": y}, settings)]


def convolution_with_neuron(x, w, b, neuron_type, *numbers):
    y = neuron_function(neuron_type, *numbers)(convolution_of_same_size(x, w, b))
    return forward_convolution(x, w, b, y, neuron_settings(neuron_type, *numbers))


def sub_pixel_convolution(x, w, b, factor):
    """Neighbouring channels are one sub-pixel of each result in MPS, one result in PyTorch."""
    y = convolution_of_same_size(x, w, b)
    y = y.unflatten(1, (factor * factor, -1)).transpose(1, 2).flatten(1, 2)
    return forward_convolution(x, w, b, F.pixel_shuffle(y, factor),
                               {"sub_pixel_scale_factor": factor})


def fully_connected(x, w, b):
    y = F.linear(x.flatten(1), w.flatten(1), b).reshape(x.shape[0], w.shape[0], 1, 1)
    return weighted("fully_connected", x, w, b, y, {})


def convolution_transpose(x, w, b, stride, padding, output_padding, dilation, groups):
    """w is [Co][Ci/groups][kH][kW]; PyTorch's weights are [Ci][Co/groups][kH][kW], turned."""
    co, inputs, *kernel = w.shape
    turned = w.reshape(groups, co // groups, inputs, *kernel).transpose(1, 2)
    turned = turned.reshape(x.shape[1], co // groups, *kernel).flip(2, 3)
    y = F.conv_transpose2d(x, turned, b, stride, padding, output_padding, groups, dilation)
    dilated = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    top, left = (p - (k - 1) + k // 2 for k, p in zip(dilated, padding))
    return weighted("convolution_transpose", x, w, b, y,
                    {**strides(stride, dilation), "kernel_offset_x": left, "kernel_offset_y": top,
                     "destination_width": y.shape[3], "destination_height": y.shape[2],
                     **grouped(groups)})


# ---- Normalisation ----

def batch_normalization(x, gamma, beta, mean, variance, fixed, epsilon, neuron_type="none",
                        *numbers):
    act = neuron_function(neuron_type, *numbers)
    y = act(F.batch_norm(x, mean.clone(), variance.clone(), gamma, beta, not fixed, 0.1, epsilon))
    g, dx, dgamma, dbeta = pull_back(y, x, gamma, beta)
    settings = {"epsilon": epsilon, **neuron_settings(neuron_type, *numbers),
                **({"flags": "never"} if fixed else {})}
    known = {"mean": mean, "variance": variance} if fixed else {}
    parameters = {"gamma": gamma, "beta": beta, **known}
    both = {"source_gradient": g, "source_image": x, **parameters}
    cases = [Case("batch_normalization", {"source_image": x, **parameters},
                  {"destination_image": y}, settings),
             Case("batch_normalization_gradient", both, {"destination_gradient": dx}, settings),
             Case("batch_normalization_statistics_gradient", both,
                  {"gradient_for_gamma": dgamma, "gradient_for_beta": dbeta}, settings)]
    statistics = {"mean": x.mean((0, 2, 3)), "variance": x.var((0, 2, 3), unbiased=False)}
    return cases if fixed else cases + [Case("batch_normalization_statistics",
                                             {"source_image": x}, statistics, {})]


def running_statistics(x, mean, variance, momentum):
    after = mean.clone(), variance.clone()
    F.batch_norm(x, *after, training=True, momentum=momentum)
    return [Case("batch_normalization_running_statistics",
                 {"mean": x.mean((0, 2, 3)), "variance": x.var((0, 2, 3), unbiased=False),
                  "running_mean": mean, "running_variance": variance},
                 {"running_mean": after[0], "running_variance": after[1]},
                 {"momentum": momentum, "samples": x[:, 0].numel()})]


def instance_normalization(x, gamma, beta, epsilon):
    y = F.instance_norm(x, None, None, gamma, beta, True, 0.1, epsilon)
    g, dx, dgamma, dbeta = pull_back(y, x, gamma, beta)
    inputs = {"source_image": x, "gamma": gamma, "beta": beta}
    return [Case("instance_normalization", inputs, {"destination_image": y}, {"epsilon": epsilon}),
            Case("instance_normalization_gradient", {"source_gradient": g, **inputs},
                 {"destination_gradient": dx, "gradient_for_gamma": dgamma,
                  "gradient_for_beta": dbeta}, {"epsilon": epsilon})]


def cross_channel_normalization(x, size, alpha, beta, delta):
    y = F.local_response_norm(x, size, alpha, beta, delta)
    return image_to_image("cross_channel_normalization", x, y, kernel_size=size, alpha=alpha,
                          beta=beta, delta=delta)


def window_mean(x, kernel, clamp):
    """Mean over the window around each pixel; what lies outside counts."""
    return F.avg_pool2d(around(x, kernel, clamp), kernel, 1)


def spatial_normalization(x, kernel, clamp, alpha, beta, delta):
    y = x * (delta + alpha * window_mean(x * x, kernel, clamp)) ** -beta
    return image_to_image("spatial_normalization", x, y, edge_mode=edge(clamp), **size_of(kernel),
                          alpha=alpha, beta=beta, delta=delta)


def local_contrast_normalization(x, kernel, clamp, alpha, beta, delta, p0, pm, ps):
    mean = window_mean(x, kernel, clamp)
    variance = window_mean(x * x, kernel, clamp) - mean * mean
    y = pm + ps * (x - p0 * mean) * (delta + alpha * variance) ** -beta
    return image_to_image("local_contrast_normalization", x, y, edge_mode=edge(clamp),
                          **size_of(kernel), alpha=alpha, beta=beta, delta=delta, p0=p0, pm=pm,
                          ps=ps)


# ---- Element by element ----

NEURONS = {
    "none": lambda x: x,
    "relu": F.leaky_relu,
    "linear": lambda x, a, b: a * x + b,
    "sigmoid": torch.sigmoid,
    "hard_sigmoid": lambda x, a, b: torch.clamp(a * x + b, 0, 1),
    "tanh": lambda x, a, b: a * torch.tanh(b * x),
    "absolute": torch.abs,
    "soft_plus": lambda x, a, b: a * b * F.softplus(x, b, 1000),
    "soft_sign": F.softsign,
    "elu": F.elu,
    "relun": lambda x, a, b: torch.clamp(F.leaky_relu(x, a), max=b),
    "power": lambda x, a, b, c: torch.pow(a * x + b, c),
    "exponential": lambda x, a, b, c:
        torch.exp(a * x + b) if c == -1 else torch.pow(torch.tensor(c), a * x + b),
    "logarithm": lambda x, a, b, c:
        torch.log(a * x + b) / (1 if c == -1 else math.log(c)),
    "gelu": F.gelu,
    "swish": lambda x, a: F.silu(a * x) / a,
    "clip": torch.clamp,
    "hard_swish": lambda x, a, b: x * torch.clamp(a * x + b, 0, 1),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "mish": F.mish,
    "selu": lambda x, a, b: b * F.elu(x, a),
    "celu": F.celu,
    "thresholded_relu": lambda x, a: F.threshold(x, a, 0),
    "erf": torch.erf,
    "floor": torch.floor,
    "ceiling": torch.ceil,
    "round": torch.round,
    "sign": torch.sign,
    "fake_quantization": lambda x, a, b, c: torch.fake_quantize_per_tensor_affine(x.float(), a, 0, int(b), int(c)),
}


def neuron_function(neuron_type, *numbers):
    return lambda x: NEURONS[neuron_type](x, *(float(v) for v in numbers))


def neuron_settings(neuron_type, *numbers):
    if neuron_type == "none":
        return {}
    return {"neuron_type": neuron_type, **{f"neuron_{k}": float(v) for k, v in zip("abc", numbers)}}


def neuron(x, neuron_type, *numbers):
    y = neuron_function(neuron_type, *numbers)(x)
    return image_to_image("neuron", x, y, **neuron_settings(neuron_type, *numbers))


def prelu(x, slopes):
    y, settings = F.prelu(x, slopes), {"neuron_type": "prelu"}
    g, dx, dslopes = pull_back(y, x, slopes)
    given, gradient = {"neuron_data": slopes}, {"source_gradient": g, "source_image": x}
    return [Case("neuron", {"source_image": x, **given}, {"destination_image": y}, settings),
            Case("neuron_gradient", {**gradient, **given}, {"destination_gradient": dx}, settings),
            Case("neuron_slope_gradient", gradient, {"gradient_for_neuron_data": dslopes},
                 settings)]


def soft_max(kernel, x):
    y = {"soft_max": F.softmax, "log_soft_max": F.log_softmax}[kernel](x, 1)
    forward, gradient = image_to_image(kernel, x, y)
    return [forward, gradient._replace(inputs={**gradient.inputs, "source_image": y})]


ARITHMETIC = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div}


MORE_ARITHMETIC = {"maximum": torch.maximum, "minimum": torch.minimum, "power": torch.pow}


def arithmetic_result(kernel, x, y, primary_scale, secondary_scale, bias):
    return {**ARITHMETIC, **MORE_ARITHMETIC}[kernel](primary_scale * x, secondary_scale * y) + bias


def arithmetic(kernel, x, y, primary_scale=1.0, secondary_scale=1.0, bias=0.0, bounds=None):
    """Axes on which a source has an extent of 1 and the other has more are broadcast."""
    names = {"stride_in_pixels_x": 3, "stride_in_pixels_y": 2, "stride_in_feature_channels": 1}
    settings = {f"{source}_{name}": 0 for source, one, other in (("primary", x, y),
                                                                 ("secondary", y, x))
                for name, axis in names.items() if one.shape[axis] == 1 < other.shape[axis]}
    settings.update(primary_scale=primary_scale, secondary_scale=secondary_scale, bias=bias)
    r = arithmetic_result(kernel, x, y, primary_scale, secondary_scale, bias)
    if bounds:
        settings.update(minimum_value=bounds[0], maximum_value=bounds[1])
        r = torch.clamp(r, *bounds)
    g, dx, dy = pull_back(r, x, y)
    inputs = {"source_image": x, "secondary_image": y}
    return [Case(kernel, inputs, {"destination_image": r}, settings)] + \
        [Case(kernel + "_gradient", {"source_gradient": g, **inputs}, {"destination_gradient": d},
              {**settings, "is_secondary_source_filter": which})
         for which, d in (("false", dx), ("true", dy))]


# ---- Dropout ----

def philox(counter, key):
    """Philox4x32-10 of counters [4][n] and a key of two words."""
    c = [np.asarray(word, np.uint64) for word in counter]
    k = [np.uint64(word) for word in key]
    low = np.uint64(0xffffffff)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xd2511f53), c[2] * np.uint64(0xcd9e8d57)
        shift = np.uint64(32)
        c = [(second >> shift) ^ c[1] ^ k[0], second & low, (first >> shift) ^ c[3] ^ k[1],
             first & low]
        k = [(k[0] + np.uint64(0x9e3779b9)) & low, (k[1] + np.uint64(0xbb67ae85)) & low]
    return np.stack(c)


def dropout_mask(shape, keep, seed, mask_strides):
    """[image][row][column][channel] of the first encode; axes of stride 0 have one element."""
    n, *extents = shape[0], shape[2], shape[3], shape[1]
    extents = [extent if s else 1 for extent, s in zip(extents, mask_strides)]
    i = np.arange(math.prod(extents))
    words = [philox([i // 4, np.full_like(i, image), i * 0, i * 0], [seed % 2**32, seed >> 32])
             [i % 4, i] for image in range(n)]
    u = (np.stack(words) >> np.uint64(8)) * 2.0 ** -24
    return torch.tensor((u < keep).astype(float)).reshape(n, *extents)


def mask_words(mask):
    """Sixteen elements of an image to a number, the first in its lowest bit."""
    elements = mask.flatten(1)
    padded = F.pad(elements, (0, -elements.shape[1] % 16)).reshape(-1, 16)
    return (padded * 2.0 ** torch.arange(16)).sum(1)


def dropout(x, keep, seed, mask_strides):
    """Mask strides are of rows, columns and channels; keep is a number of float32."""
    mask = dropout_mask(x.shape, keep, seed, mask_strides)
    y = x * mask.permute(0, 3, 1, 2) / keep
    settings = {"keep_probability": keep, "seed": seed,
                **{f"mask_stride_in_{name}": 0 for name, s in zip(
                    ("pixels_y", "pixels_x", "feature_channels"), mask_strides) if not s}}
    forward, gradient = image_to_image("dropout", x, y, **settings)
    words = mask_words(mask)
    forward.outputs["mask"] = words
    given = gradient._replace(inputs={**gradient.inputs, "mask": words})
    return [forward, gradient, given]


# ---- Shapes ----

def upsampling(x, mode, factors, align=None):
    y = F.interpolate(x, scale_factor=tuple(float(f) for f in factors), mode=mode,
                      align_corners=align)
    corners = {} if align is None else {"align_corners": str(align).lower()}
    return image_to_image(f"upsampling_{mode}", x, y, scale_factor_x=factors[1],
                          scale_factor_y=factors[0], **corners)


def slice_(x, row, column, channel, height, width, channels):
    y = x[:, channel:channel + channels, row:row + height, column:column + width]
    return image_to_image("slice", x, y, offset_x=column, offset_y=row,
                          source_feature_channel_offset=channel,
                          source_feature_channel_max_count=channels,
                          destination_width=width, destination_height=height)


def concatenation(sources):
    """One encode for each source; a case has zeros where the others go."""
    starts, channel = [], 0
    for x in sources:
        starts.append(channel)
        channel += (x.shape[1] + 3) // 4 * 4
    cases = []
    for x, start in zip(sources, starts):
        y = torch.cat([torch.zeros_like(x[:, :1]).repeat(1, start, 1, 1), x], 1)
        cases += image_to_image("concatenation", x, y, destination_feature_channel_offset=start)
    return cases


def reshape(x, channels, height, width):
    y = x.permute(0, 2, 3, 1).reshape(-1, height, width, channels).permute(0, 3, 1, 2)
    return image_to_image("reshape", x, y, reshaped_width=width, reshaped_height=height,
                          reshaped_feature_channels=channels)


SIDES = ("left", "right", "top", "bottom", "front", "back")


def pad(x, sides, mode="constant", constant=0.0):
    """`sides` in the order of SIDES."""
    if mode == "constant":
        y = F.pad(x, sides, value=constant)
    else:
        y = F.pad(x, sides[:4], mode)
    return image_to_image("pad", x, y, pad_mode=mode, pad_constant=constant,
                          **dict(zip(SIDES, sides)))


def strided_slice(x, channels, rows, columns):
    """Each axis has a start, a step and a size."""
    y, settings = x, {}
    for axis, name, size_name, (start, step, size) in zip(
            (1, 2, 3), ("channel", "y", "x"), ("channels", "y", "x"), (channels, rows, columns)):
        y = y.index_select(axis, start + step * torch.arange(size))
        settings.update({f"start_{name}": start, f"step_{name}": step, f"size_{size_name}": size})
    return image_to_image("strided_slice", x, y, **settings)


def resize(x, mode, height, width, position="half_pixel"):
    """nearest: asymmetric rounds down, half_pixel rounds halves up."""
    settings = {"resized_width": width, "resized_height": height, "resize_position": position}
    if mode == "nearest":
        exact = position == "half_pixel"
        y = F.interpolate(x, (height, width), mode="nearest-exact" if exact else "nearest")
        settings["resize_rounding"] = "prefer_ceil" if exact else "floor"
    else:
        y = F.interpolate(x, (height, width), mode="bilinear",
                          align_corners=position == "align_corners")
    return image_to_image(f"resize_{mode}", x, y, **settings)


def resize_by(x, scale_y, scale_x):
    y = F.interpolate(x, scale_factor=(scale_y, scale_x), mode="bilinear", align_corners=False)
    return image_to_image("resize_linear", x, y, scale_x=scale_x, scale_y=scale_y)


def both_gradients(kernel, x, y, result, **settings):
    """Of a kernel with two sources, and of its gradients by both."""
    g, dx, dy = pull_back(result, x, y)
    inputs = {"source_image": x, "secondary_image": y}
    return [Case(kernel, inputs, {"destination_image": result}, settings)] + \
        [Case(kernel + "_gradient", {"source_gradient": g, **inputs}, {"destination_gradient": d},
              {**settings, "is_secondary_source_filter": which})
         for which, d in (("false", dx), ("true", dy))]


AXIS_NAMES = {"channels": 1, "rows": 2, "columns": 3}


def axis_concatenation(x, y, axis):
    return both_gradients("axis_concatenation", x, y, torch.cat([x, y], AXIS_NAMES[axis]),
                          axis=axis)


def matrix_multiplication(x, y):
    return both_gradients("matrix_multiplication", x, y, x @ y)


AXIS_NUMBERS = {"c": 1, "h": 2, "w": 3}


def transpose(x, order):
    return image_to_image("transpose", x, x.permute(0, *(AXIS_NUMBERS[a] for a in order)),
                          axis_order=order)


def depth_to_space(x, block, order):
    n, c, h, w = x.shape
    if order == "crd":
        y = F.pixel_shuffle(x, block)
    else:
        y = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
        y = y.reshape(n, c // block**2, h * block, w * block)
    return image_to_image("depth_to_space", x, y, block_size=block, block_order=order)


def space_to_depth(x, block, order):
    n, c, h, w = x.shape
    if order == "crd":
        y = F.pixel_unshuffle(x, block)
    else:
        y = x.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
        y = y.reshape(n, c * block**2, h // block, w // block)
    return image_to_image("space_to_depth", x, y, block_size=block, block_order=order)


def channel_shuffle(x, groups):
    n, c, h, w = x.shape
    y = x.reshape(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)
    return image_to_image("channel_shuffle", x, y, groups=groups)


def reshape_channels_first(x, channels, height, width):
    return image_to_image("reshape", x, x.reshape(-1, channels, height, width),
                          reshaped_width=width, reshaped_height=height,
                          reshaped_feature_channels=channels, channels_first="true")


def strided_view(x, view, result):
    """Of the tensor that `view` makes of x without a copy, whose strides PyTorch tells, as images of
    shape `result`."""
    y = view(x)
    assert y.data_ptr() == x.data_ptr()
    settings = dict(zip(("feature_channels", "height", "width"), result))
    for k, (size, stride) in enumerate(zip(y.shape[1:], y.stride()[1:])):
        settings.update({f"size_{k}": size, f"stride_{k}": stride})
    return image_to_image("strided_view", x, y.reshape(-1, *result), **settings)


def gather(x, index, result):
    """table[index] of each image's numbers, as images of shape `result`."""
    y = x.flatten(1)[:, index].reshape(-1, *result)
    sizes = dict(zip(("feature_channels", "height", "width"), result))
    return [Case(c.kernel, {**c.inputs, "indices": index.double()}, c.outputs, c.settings)
            for c in image_to_image("gather", x, y, **sizes)]


def cropped(x, regions, height, width, edge):
    """Regions [N, R, 4] of column, row, width and height of x, as N R images: grid_sample's corners are
    the centres of the corner pixels."""
    n, r, _ = regions.shape
    steps = [torch.linspace(0, 1, s, dtype=torch.float64) if s > 1 else torch.tensor([0.5]).double()
             for s in (width, height)]
    columns, rows = (2 * (regions[..., i, None] + regions[..., i + 2, None] * steps[i]) - 1
                     for i in (0, 1))
    grid = torch.stack((columns[:, :, None].expand(-1, -1, height, -1),
                        rows[..., None].expand(-1, -1, -1, width)), -1)
    return F.grid_sample(x.repeat_interleave(r, 0), grid.reshape(n * r, height, width, 2),
                         padding_mode={"zero": "zeros", "clamp": "border"}[edge],
                         align_corners=True)


def crop_and_resize(x, regions, height, width, edge):
    """The same regions, [R, 4], of every image."""
    y = cropped(x, regions.expand(len(x), -1, -1), height, width, edge)
    return [Case(c.kernel, {**c.inputs, "regions": regions.flatten()}, c.outputs, c.settings)
            for c in image_to_image("crop_and_resize_bilinear", x, y, resize_width=width,
                                    resize_height=height, number_of_regions=len(regions),
                                    edge_mode=edge)]


def crop_and_resize_regions(x, regions, height, width, edge):
    """Those of an image [N, 4, B, A] beside x."""
    y = cropped(x, regions.flatten(2).transpose(1, 2), height, width, edge)
    return [Case(c.kernel, {**c.inputs, "region_image": regions}, c.outputs, c.settings)
            for c in image_to_image("crop_and_resize_bilinear_regions", x, y, resize_width=width,
                                    resize_height=height, primary_edge_mode=edge)]


# ---- Frames ----

def drawn_frame(kind, shape, swapped):
    """The images of a frame, and the three planes that it has for each pixel."""
    n, height, width = shape
    if kind == "rgb":
        x = draw(n, 3, height, width, low=0.0)
        return {"source_image": x}, x.flip(1) if swapped else x
    luma = draw(n, 1, height, width, low=0.0)
    if kind == "nv12":
        chroma = draw(n, 2, (height + 1) // 2, (width + 1) // 2, low=0.0)
        images = {"source_image": luma, "chroma_image": chroma}
        wide = chroma.repeat_interleave(2, 2).repeat_interleave(2, 3)[:, :, :height, :width]
    else:
        chroma = draw(n, 2, height, width // 2, low=0.0)
        lying = torch.stack((chroma[:, 0], chroma[:, 1]), -1).flatten(2).unsqueeze(1)
        images = {"source_image": torch.cat((luma, lying), 1)}
        wide = chroma.repeat_interleave(2, 3)
    return images, torch.cat((luma, wide.flip(1) if swapped else wide), 1)


def color_matrix(name):
    """Y', Cb and Cr, which are from -1/2 to 1/2, of red, green and blue."""
    red, blue = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722)}[name]
    luma = torch.tensor([red, 1 - red - blue, blue], dtype=torch.float64)
    unit = torch.eye(3, dtype=torch.float64)
    return torch.stack((luma, (unit[2] - luma) / (2 - 2 * blue), (unit[0] - luma) / (2 - 2 * red)))


def levels(kind, planes, range_):
    """The planes as bytes, from black to white and about no colour."""
    zero, one = ([0.0] * 3, [255.0] * 3) if range_ == "full" else ([16.0] * 3, [219.0] * 3)
    if kind != "rgb":
        zero, one = [zero[0], 128.0, 128.0], [one[0]] + [255.0 if range_ == "full" else 224.0] * 2
    zero, one = (torch.tensor(v, dtype=torch.float64).reshape(3, 1, 1) for v in (zero, one))
    return (255 * planes - zero) / one


def frame(kind, shape, crop, size, matrix, range_, swapped, mean, deviation):
    """crop: x, y, width, height; size: rows and columns, which the crop has a whole number of times
    or fewer than."""
    images, planes = drawn_frame(kind, shape, swapped)
    x, y, width, height = crop
    planes = planes[:, :, y:y + height, x:x + width]
    planes = F.interpolate(planes, size, mode="bilinear") if size[0] > height else \
        F.interpolate(planes, size, mode="area")
    rgb = levels(kind, planes, range_)
    if kind != "rgb":
        rgb = torch.linalg.solve(color_matrix(matrix), rgb.flatten(2)).reshape(rgb.shape)
    mean, deviation = (torch.tensor(v, dtype=torch.float64) for v in (mean, deviation))
    result = (rgb.clamp(0, 1) - mean.reshape(3, 1, 1)) / deviation.reshape(3, 1, 1)
    settings = dict(zip(("crop_x", "crop_y", "crop_width", "crop_height"), crop),
                    resized_width=size[1], resized_height=size[0], color_matrix=matrix,
                    color_range=range_, swapped=str(swapped).lower())
    return [Case(f"frame_{kind}", {**images, "mean": mean, "deviation": deviation},
                 {"destination_image": result}, settings)]


# ---- Reductions ----

AXES = {"row": 3, "column": 2, "feature_channels": 1}
REDUCTIONS = {"min": torch.amin, "max": torch.amax, "mean": torch.mean, "sum": torch.sum,
              "argument_min": torch.argmin, "argument_max": torch.argmax}


def clip_of(prefix, clip):
    return {} if clip is None else dict(zip(
        (f"{prefix}_origin_y", f"{prefix}_origin_x", f"{prefix}_size_height",
         f"{prefix}_size_width"), clip))


def clipped(x, clip):
    row, column, height, width = clip or (0, 0, x.shape[2], x.shape[3])
    return x[:, :, row:row + height, column:column + width]


def reduce_(axis, kind, x, clip=None, weight=None):
    """clip is row, column, height and width of the pixels reduced."""
    kernel = f"reduce_{axis}_{kind}"
    y = REDUCTIONS[kind](clipped(x, clip), AXES[axis], keepdim=True)
    settings = clip_of("clip_rect_source", clip)
    if weight is not None:
        y, settings = weight * y, {**settings, "weight": weight}
    if kind in ("mean", "sum"):
        return image_to_image(kernel, x, y, **settings)
    return [Case(kernel, {"source_image": x}, {"destination_image": y}, settings)]


def reduce_extreme(axis, kind, x, clip=None):
    """By min(dim) and max(dim), which give the first of equals all of the gradient: amin and amax
    share it among them."""
    y = getattr(clipped(x, clip), kind)(AXES[axis], keepdim=True).values
    return image_to_image(f"reduce_{axis}_{kind}", x, y, **clip_of("clip_rect_source", clip))


def reduce_with_weights(kind, x, w, non_zero=False):
    y = (x * w).sum(1, keepdim=True)
    y = y / x.shape[1] if kind == "mean" else y
    y = y / (w != 0).sum(1, keepdim=True).clamp(min=1) if non_zero else y
    settings = {"do_weighted_sum_by_non_zero_weights": "true"} if non_zero else {}
    return [Case(f"reduce_feature_channels_and_weights_{kind}",
                 {"source_image": x, "secondary_image": w}, {"destination_image": y}, settings)]


# ---- Loss ----

def log_loss(y, t, epsilon):
    if epsilon == 0:
        return F.binary_cross_entropy(y, t, reduction="none")
    return -t * torch.log(y + epsilon) - (1 - t) * torch.log(1 - y + epsilon)


LOSSES = {
    "mean_absolute_error": lambda y, t: F.l1_loss(y, t, reduction="none"),
    "mean_squared_error": lambda y, t: F.mse_loss(y, t, reduction="none"),
    "soft_max_cross_entropy": lambda y, t: -t * F.log_softmax(y, 1),
    "sigmoid_cross_entropy":
        lambda y, t: F.binary_cross_entropy_with_logits(y, t, reduction="none"),
    "categorical_cross_entropy": lambda y, t: -t * torch.log(y),
    "hinge": lambda y, t: F.relu(1 - (2 * t - 1) * y),
    "huber": lambda y, t, delta: F.huber_loss(y, t, reduction="none", delta=delta),
    "log": log_loss,
    "kullback_leibler_divergence": lambda y, t: F.kl_div(y, t, reduction="none"),
    "quality_focal": lambda y, t: (torch.sigmoid(y) - t) ** 2 * F.binary_cross_entropy_with_logits(
        y, t, reduction="none"),
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


def smoothed(loss_type, t, smoothing, classes):
    if loss_type == "soft_max_cross_entropy":
        return t * (1 - smoothing) + smoothing / classes
    return t * (1 - smoothing) + smoothing / 2 if loss_type == "sigmoid_cross_entropy" else t


def loss(loss_type, y, t, reduction, w=None, weight=1.0, smoothing=0.0, **numbers):
    """numbers: delta of huber, epsilon of log."""
    element = LOSSES[loss_type](y, smoothed(loss_type, t, smoothing, y.shape[1]), **numbers)
    element = weight * element * (1 if w is None else w)
    d, = torch.autograd.grad(element.sum(), y)
    pixels = y[0, 0 if loss_type == "soft_max_cross_entropy" else ...].numel()
    count = pixels if w is None or reduction == "mean" else per_image(w != 0)
    result = {"none": element, "sum": per_image(element)}.get(reduction, per_image(element) / count)
    settings = {"loss_type": loss_type, **numbers}
    if weight != 1:
        settings["weight"] = weight
    if smoothing:
        settings.update(label_smoothing=smoothing, number_of_classes=y.shape[1])
    return [Case("loss", {"source_image": y, "labels": t, **({} if w is None else
                                                             {"label_weights": w})},
                 {"destination_gradient": d, "loss": result},
                 {**settings, "reduction_type": reduction})]


def cosine_distance(y, t, weight=1.0):
    result = weight * (1 - per_image(y * t))
    d, = torch.autograd.grad(result.sum(), y)
    scaled = {"weight": weight} if weight != 1 else {}
    return [Case("loss", {"source_image": y, "labels": t}, {"destination_gradient": d,
                                                            "loss": result},
                 {"loss_type": "cosine_distance", **scaled, "reduction_type": "sum"})]


# ---- Loss of boxes, [N][left top right bottom][H][W] ----

def sides(box):
    return box[:, 0] + box[:, 2], box[:, 1] + box[:, 3]


def iou_of_boxes(y, t):
    inside = torch.stack(sides(torch.minimum(y, t))).prod(0)
    both = torch.stack(sides(y)).prod(0) + torch.stack(sides(t)).prod(0)
    return inside / (both - inside + 1e-7)


def complete_iou_loss(y, t):
    (w, h), (tw, th), around = sides(y), sides(t), sides(torch.maximum(y, t))
    iou = iou_of_boxes(y, t)
    e = y - t
    apart = ((e[:, 2] - e[:, 0]) ** 2 + (e[:, 3] - e[:, 1]) ** 2) / 4
    v = 4 / math.pi ** 2 * (torch.atan(w / h) - torch.atan(tw / th)) ** 2
    alpha = (v / (1 - iou + v + 1e-7)).detach()
    return 1 - iou + apart / (around[0] ** 2 + around[1] ** 2 + 1e-7) + alpha * v


def box_loss(y, t, reduction, w=None, weight=1.0):
    element = weight * complete_iou_loss(y, t)[:, None] * (1 if w is None else w)
    d, = torch.autograd.grad(element.sum(), y)
    count = element[0].numel() if w is None or reduction == "mean" else per_image(w != 0)
    result = {"none": element, "sum": per_image(element)}.get(reduction, per_image(element) / count)
    weights = {} if w is None else {"label_weights": w}
    return [Case("box_loss", {"source_image": y, "labels": t, **weights},
                 {"destination_gradient": d, "loss": result},
                 {"reduction_type": reduction, **({"weight": weight} if weight != 1 else {})})]


def box_iou(a, b):
    return [Case("box_iou", {"source_image": a, "secondary_image": b},
                 {"destination_image": iou_of_boxes(a, b)[:, None]}, {})]


# ---- Loss of a detector: boxes are [N][anchor box][x y w h][H][W] ----

def detector_labels(images, boxes, classes, height, width):
    """A third of the cells with nothing, a third with an object for all anchor boxes alike, a third
    with one for a single anchor box; a class each."""
    shape = images, boxes, height, width
    kind = torch.randint(3, (images, 1, height, width)).expand(shape)
    box = torch.rand(images, 1, 4, height, width).mul(8).floor().add(1).div(4)
    box[:, :, :2] /= 2
    one_hot = F.one_hot(torch.randint(classes, (images, 1, height, width)), classes).movedim(-1, 2)
    chosen = torch.randint(boxes, (images, 1, height, width)) == torch.arange(boxes).reshape(1, -1, 1, 1)
    held = (kind == 1) | ((kind == 2) & chosen)
    all_parts = torch.cat([box, torch.ones_like(box[:, :, :1]), one_hot.double()], 2)
    return (held[:, :, None] * all_parts).flatten(1, 2)


def overlap(a, b):
    low = torch.maximum(a[:, :, :2] - a[:, :, 2:] / 2, b[:, :, :2] - b[:, :, 2:] / 2)
    high = torch.minimum(a[:, :, :2] + a[:, :, 2:] / 2, b[:, :, :2] + b[:, :, 2:] / 2)
    shared = F.relu(high - low).prod(2)
    return shared / (a[:, :, 2:].prod(2) + b[:, :, 2:].prod(2) - shared)


def objects_of(iou, t, anchors, presence):
    """Which anchor boxes have an object, of labels [N][anchor box][channel][H][W]."""
    present = (t[:, :, 2:5] > 0).all(2)
    size, p = t[:, :, None, 2:4], anchors[None, None, :, :, None, None]
    shared = torch.minimum(size, p).prod(3)
    fit = shared / (size.prod(3) + p.prod(3) - shared)
    same = (t[:, :, None, :4] == t[:, None, :, :4]).all(3) & present[:, None]
    best = torch.where(same, fit, torch.tensor(-1.0)).argmax(2)
    return present & ((best == torch.arange(len(anchors)).reshape(1, -1, 1, 1)) | (iou > presence))


DETECTOR = ("mean_squared_error", "huber", "sigmoid_cross_entropy", "soft_max_cross_entropy")


def detector_element(loss_type, y, t, smoothing):
    """Of [N][anchor box][channel][H][W], whose channels are classes of one soft-max."""
    y, t = y.flatten(0, 1), t.flatten(0, 1)
    numbers = {"huber": {"delta": 1.0}}.get(loss_type, {})
    return LOSSES[loss_type](y, smoothed(loss_type, t, smoothing, y.shape[1]), **numbers)


def yolo_loss(y, t, anchors, reduction, w=None, types=DETECTOR, rescore=True,
              scales=(10.0, 10.0, 5.0, 100.0, 2.0), presence=0.7, absence=0.3, smoothing=0.0):
    """scales: of xy, wh, no object, object, class. smoothing: of confidence and classes."""
    boxes = len(anchors)
    cells, labels = y.unflatten(1, (boxes, -1)), t.unflatten(1, (boxes, -1))
    sides = anchors[None, :, :, None, None]
    parts = cells.split((2, 2, 1, cells.shape[2] - 5), 2)
    box = torch.cat([parts[0].sigmoid(), parts[1].exp() * sides], 2).detach()
    iou = overlap(box, labels[:, :, :4])
    held = objects_of(iou, labels, anchors, presence)
    none = ~held & (iou < absence)
    confidence = labels[:, :, 4] * held * (iou if rescore else 1)
    sizes = torch.where(held[:, :, None], labels[:, :, 2:4] / sides, torch.tensor(1.0)).log()
    factors = (scales[0] * held, scales[1] * held, scales[3] * held + scales[2] * none,
               scales[4] * held)
    given = parts[0].sigmoid(), *parts[1:]
    wanted = labels[:, :, :2], sizes, confidence[:, :, None], labels[:, :, 5:]
    smoothings = 0, 0, smoothing, smoothing
    element = torch.cat([
        f[:, :, None] * detector_element(kind, a, b, share).unflatten(0, f.shape[:2])
        for kind, a, b, share, f in zip(types, given, wanted, smoothings, factors)], 2)
    element = element.flatten(1, 2) * (1 if w is None else w)
    d, = torch.autograd.grad(element.sum(), y)
    count = y[0].numel() if w is None or reduction == "mean" else per_image(w != 0)
    result = {"none": element, "sum": per_image(element)}.get(reduction, per_image(element) / count)
    names = "xy", "wh", "no_object", "object", "class"
    kinds = zip(("xy", "wh", "confidence", "classes"), types, DETECTOR)
    settings = {**{f"{part}_loss_type": kind for part, kind, usual in kinds if kind != usual},
                **{f"scale_{name}": scale for name, scale in zip(names, scales)},
                "min_iou_for_object_presence": presence, "max_iou_for_object_absence": absence,
                **({} if rescore else {"rescore": "false"})}
    if smoothing:
        settings.update(confidence_label_smoothing=smoothing, classes_label_smoothing=smoothing)
    weights = {} if w is None else {"label_weights": w}
    return [Case("yolo_loss", {"source_image": y, "labels": t, **weights,
                               "anchor_boxes": anchors.flatten()},
                 {"destination_gradient": d, "loss": result},
                 {**settings, "number_of_anchor_boxes": boxes, "reduction_type": reduction})]


# ---- Optimizers: several steps, each a case that starts where the step before ended ----

def descend(make, kernel, states, settings_of, steps, shape, prepare=lambda g, w: g, **settings):
    """prepare is what the kernel does, and PyTorch's optimizer does not, to a raw gradient."""
    w = torch.nn.Parameter(draw(*shape).detach())
    optimizer = make([w])
    before, cases = {name: torch.zeros(shape) for name in states}, []
    for step in range(steps):
        g = draw(*shape).detach()
        values = w.detach().clone()
        w.grad = prepare(g, values).clone()
        optimizer.step()
        after = {name: scale * optimizer.state[w][key] for name, (key, scale) in states.items()}
        cases.append(Case(kernel, {"gradient": g, "values": values, **before},
                          {"result": w.detach().clone(), **after},
                          {**settings_of(step), **settings}))
        before = {name: value.clone() for name, value in after.items()}
    return cases


def decays(decay):
    return {"regularization_type": "l2", "regularization_scale": decay} if decay else {}


def gradient_descent(lr, momentum, nesterov, decay, steps, shape, **more):
    """MPS keeps lr * m without Nesterov's form, and m with it."""
    settings = {"learning_rate": lr, **({"momentum_scale": momentum} if momentum else {}),
                **({"use_nesterov_momentum": 1} if nesterov else {}), **decays(decay)}
    states = {"momentum": ("momentum_buffer", 1 if nesterov else lr)} if momentum else {}
    return descend(lambda p: torch.optim.SGD(p, lr, momentum, 0, decay, nesterov),
                   "optimizer_stochastic_gradient_descent", states, lambda _: settings, steps,
                   shape, **more)


def rms_prop(lr, decay_rate, epsilon, decay, steps, shape, **more):
    settings = {"learning_rate": lr, "decay": decay_rate, "epsilon": epsilon, **decays(decay)}
    return descend(lambda p: torch.optim.RMSprop(p, lr, decay_rate, epsilon, decay),
                   "optimizer_rms_prop", {"sum_of_squares": ("square_avg", 1)}, lambda _: settings,
                   steps, shape, **more)


def adam(lr, beta1, beta2, epsilon, decay, steps, shape, **more):
    """MPS adds epsilon to sqrt(v), PyTorch to sqrt(v / (1 - beta2^t))."""
    return descend(lambda p: torch.optim.Adam(p, lr, (beta1, beta2), epsilon, decay),
                   "optimizer_adam",
                   {"first_moment": ("exp_avg", 1), "second_moment": ("exp_avg_sq", 1)},
                   lambda t: {"learning_rate": lr, "beta1": beta1, "beta2": beta2, "time_step": t,
                              "epsilon": epsilon * math.sqrt(1 - beta2 ** (t + 1)),
                              **decays(decay)}, steps, shape, **more)
