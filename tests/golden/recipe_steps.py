#!/usr/bin/python3
"""Fifty steps of glcnn train's recipe against PyTorch; for tests/train/test_recipe_steps.sh.

  recipe_steps.py GLCNN [PIECE]...      in a folder of its own, which it fills

A piece is a run of the tool: its defaults without augmentation, two epochs of 25 batches of 8 on
pictures made here, with options of its own. The same fifty steps are made by PyTorch from the same
weights, in double precision and, in three orders of a batch's pictures, which differ by rounding
alone, in single precision. Compared with double precision are

  losses   of each step
  tensors  weights, biases, gamma, beta and running statistics at the end, each by the norm of
           what it is off, relative to the norm of how far it went

and the tool may be off by FACTOR times what single precision is at most, in the median and in the
largest, plus FLOOR. A bias that a normalisation takes away has no gradient but rounding, which adam
makes steps of: the mean behind it is compared without it.

Adam's epsilon stands beside sqrt(v) before the correction, as glcnn/kernels/optimizer.h says: by
PyTorch's own place for it the second step's loss of the piece `recipe` is off by 7e-5, and the
fourth's by 4e-3.

The network is what `glcnn export` makes of its weights, the rest is written here by the manual.
Needs python3-onnx, python3-torch, python3-pil, python3-numpy.
"""
import csv
import math
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from PIL import Image

from make_detection import ciou
from make_nets import splitmix
from model_steps import attributes

BATCH, STEPS, EPOCHS, SEED = 8, 50, 2, 1
EACH = STEPS // EPOCHS
PICTURES, CLASSES = BATCH * EACH, 10
SIDE, SCENE, STRIDE, KINDS = 12, 32, 8, 3
RATE, DECAY, WARMUP, NORM, RUNNING = 0.002, 0.05, 0.05, 10, 0.1
BOX_GAIN, RADIUS, LEAST = 2, 1.5, 0.01
EPSILON = 1e-8
FACTOR, FLOOR = 2, {"losses": 1e-6, "tensors": 1e-5}

WEIGHTS = [0.25, 2, 1, 0.5, 3, 1.5, 0.75, 1, 4, 0.125]
PIECES = {
    "recipe": {"set": "classes", "options": ["--net", "resnet10"]},
    "detector": {"set": "boxes", "options": ["--net", "small"]},
    "targets": {"set": "classes", "smoothing": 0.1, "weights": WEIGHTS,
                "options": ["--net", "small", "--label-smoothing", "0.1", "--class-weights",
                            ",".join(map(str, WEIGHTS))]},
    "averages": {"set": "classes", "ema": 0.8, "options": ["--net", "small", "--ema", "0.8"]},
    "backbone": {"set": "classes", "backbone": 0.3, "begins": True,
                 "options": ["--net", "small"], "more": ["--backbone-lr", "0.3"]},
}


# ---- Sets ----

def classes(folder):
    """A pattern of the class under noise."""
    draw = np.random.RandomState(1)
    labels = draw.randint(0, CLASSES, PICTURES)
    patterns = draw.randint(0, 100, (CLASSES, SIDE, SIDE, 3))
    images = (patterns[labels] + draw.randint(0, 156, (PICTURES, SIDE, SIDE, 3))).astype(np.uint8)
    folder.mkdir()
    np.savez(folder / "train.npz", images=images, labels=labels)
    np.savez(folder / "val.npz", images=images[:BATCH], labels=labels[:BATCH])
    return images, labels


def boxes(folder):
    """Rectangles under noise, whose colours are their classes: left, top, right, bottom, class."""
    draw, pictures, objects = np.random.RandomState(2), [], []
    for part, count in (("train", PICTURES), ("valid", BATCH)):
        for kind in ("images", "labels"):
            (folder / part / kind).mkdir(parents=True)
        for n in range(count):
            picture, found = draw.randint(0, 128, (SCENE, SCENE, 3)), []
            for _ in range(draw.randint(1, 3)):
                left, top, width, height = *draw.randint(0, 16, 2), *draw.randint(6, 16, 2)
                box = (left, top, left + width, top + height, draw.randint(KINDS))
                picture[top:box[3], left:box[2], box[4]] += 127
                found.append(box)
            picture = picture.clip(0, 255).astype(np.uint8)
            Image.fromarray(picture).save(folder / part / "images" / f"{n:03}.png")
            (folder / part / "labels" / f"{n:03}.txt").write_text("".join(
                f"{c} {(x0 + x1) / 2 / SCENE} {(y0 + y1) / 2 / SCENE} {(x1 - x0) / SCENE} "
                f"{(y1 - y0) / SCENE}\n" for x0, y0, x1, y1, c in found))
            if part == "train":
                pictures.append(picture)
                objects.append(found)
    (folder / "data.yaml").write_text("names: [a, b, c]\n")
    return np.stack(pictures), objects


def order(epoch):
    """Of the pictures: glcnn/data.h, by the seed."""
    found = np.arange(PICTURES)
    drawn = splitmix((SEED << 20) + epoch, PICTURES - 1)
    for i, bits in zip(range(PICTURES, 1, -1), drawn):
        j = int(bits % np.uint64(i))
        found[[i - 1, j]] = found[[j, i - 1]]
    return found.reshape(EACH, BATCH)


# ---- The network of a file ----

def window(a):
    assert not any(a.get("pads", [0])), "pooling takes whole windows only"
    return a["kernel_shape"], a["strides"]


def convolve(a, x, weights, biases):
    top, left, bottom, right = a.get("pads", [0] * 4)
    return F.conv2d(F.pad(x, (left, right, top, bottom)), weights, biases, a.get("strides", 1))


OPERATORS = {
    "Add": lambda a, x, y: x + y,
    "AveragePool": lambda a, x: F.avg_pool2d(x, *window(a)),
    "Conv": convolve,
    "Flatten": lambda a, x: x.flatten(1),
    "MaxPool": lambda a, x: F.max_pool2d(x, *window(a)),
    "Relu": lambda a, x: F.relu(x),
}


class Net:
    """Parameters and running statistics by name, and what computes."""

    def __init__(self, path, dtype):
        model = onnx.load(path)
        self.nodes, self.input = model.graph.node, model.graph.input[0].name
        self.made = {node.output[0]: node for node in self.nodes}
        self.values = {t.name: torch.tensor(numpy_helper.to_array(t)).to(dtype)
                       for t in model.graph.initializer}
        self.statistics = {name for node in self.nodes if node.op_type == "BatchNormalization"
                           for name in node.input[3:]}
        for name in self.parameters():
            self.values[name].requires_grad_()

    def parameters(self):
        return [name for name in self.values if name not in self.statistics]

    def shifts(self):
        """The mean behind each bias that a normalisation takes away."""
        return {self.made[node.input[0]].input[2]: node.input[3] for node in self.nodes
                if node.op_type == "BatchNormalization"}

    def reset(self):
        for name in self.statistics:
            self.values[name].fill_(name.endswith("variance"))

    def __call__(self, x, *wanted):
        done = {self.input: x}

        def value(name):
            if name in self.values or name in done:
                return self.values.get(name, done.get(name))
            node = self.made[name]
            a, of = attributes(node), [value(n) for n in node.input]
            if node.op_type == "BatchNormalization":
                done[name] = F.batch_norm(of[0], of[3], of[4], of[1], of[2], True, RUNNING,
                                          a["epsilon"])
            else:
                done[name] = OPERATORS[node.op_type](a, *of)
            return done[name]

        return [value(name) for name in wanted]

    def tensors(self):
        found = {name: v.detach().double().numpy().copy() for name, v in self.values.items()}
        for bias, mean in self.shifts().items():
            found[mean] -= found.pop(bias)
        return found


# ---- Losses ----

def of_classes(piece, net, images, labels):
    scores, = net(images, net.nodes[-1].output[0])
    weights = torch.tensor(piece.get("weights", [1] * CLASSES), dtype=images.dtype)
    return F.cross_entropy(scores, torch.tensor(labels), weights, reduction="sum",
                           label_smoothing=piece.get("smoothing", 0)) / BATCH


def targets(objects):
    """Of a picture, for each location: the class or -1, and distances in strides. A location is for
    the smallest box, of equal ones the first, that it lies in and whose centre is near, or whose
    centre is in its cell."""
    cells = SCENE // STRIDE
    kinds, distances = np.full((cells, cells), -1), np.ones((4, cells, cells))
    for x0, y0, x1, y1, kind in sorted(objects[::-1], key=lambda o: -(o[2] - o[0]) * (o[3] - o[1])):
        for row, column in np.ndindex(cells, cells):
            x, y = column + 0.5, row + 0.5
            d = np.array([x - x0 / STRIDE, y - y0 / STRIDE, x1 / STRIDE - x, y1 / STRIDE - y])
            near = max(abs(d[0] - d[2]), abs(d[1] - d[3])) < 2 * RADIUS and d.min() > 0
            if near or ((x0 + x1) // 2 // STRIDE, (y0 + y1) // 2 // STRIDE) == (column, row):
                kinds[row, column], distances[:, row, column] = kind, d.clip(LEAST)
    return kinds, distances


def of_boxes(_piece, net, images, objects):
    """Quality focal loss (Li et al. 2020) and CIoU (Zheng et al. 2020), each by objects."""
    scores, found = net(images, f"scores_{STRIDE}", f"boxes_{STRIDE}")
    found = F.softplus(found, threshold=700)
    kinds, wanted = (torch.tensor(np.stack(a)) for a in zip(*map(targets, objects)))
    wanted, is_object = wanted.to(images.dtype), kinds >= 0
    count = is_object.sum()
    with torch.no_grad():
        inside = ((torch.minimum(found, wanted)[:, 0] + torch.minimum(found, wanted)[:, 2])
                  * (torch.minimum(found, wanted)[:, 1] + torch.minimum(found, wanted)[:, 3]))
        areas = [(d[:, 0] + d[:, 2]) * (d[:, 1] + d[:, 3]) for d in (found, wanted)]
        iou = inside / (areas[0] + areas[1] - inside)
        quality = F.one_hot(kinds.clamp(min=0), KINDS).movedim(-1, 1) * (iou * is_object)[:, None]
    focal = (torch.sigmoid(scores) - quality) ** 2 * F.binary_cross_entropy_with_logits(
        scores, quality, reduction="none")
    away = torch.where(is_object, 1 - ciou(found, wanted), torch.zeros_like(iou))
    return focal.sum() / count + BOX_GAIN * away.sum() / count


LOSSES = {"classes": of_classes, "boxes": of_boxes}


# ---- Training ----

def rate(step):
    """Cosine with a warm-up of a 20th of the run."""
    rises = min((step + 1) / (WARMUP * STEPS), 1)
    return RATE * rises * (1 + math.cos(math.pi * step / STEPS)) / 2


def groups(piece, net):
    """By learning rate and decay: the backbone's, and of weights alone."""
    head = net.nodes[-1] if net.nodes[-1].op_type == "Conv" else net.made[net.nodes[-1].input[0]]
    for name in net.parameters():
        yield {"params": [net.values[name]], "weight_decay": DECAY * (net.values[name].dim() == 4),
               "factor": 1 if name in head.input else piece.get("backbone", 1)}


def train(piece, path, data, dtype, turn=0):
    """Losses, and tensors at the end; `turn` changes the order of the pictures in a batch."""
    net = Net(path, dtype)
    if not piece.get("begins"):
        net.reset()
    optimizer = torch.optim.AdamW(list(groups(piece, net)))
    images, labels = data
    losses, averages = [], net.tensors()
    for step, batch in enumerate(np.concatenate([order(e) for e in range(EPOCHS)])):
        batch = np.roll(batch, turn)
        x = torch.tensor(images[batch]).movedim(-1, 1).to(dtype) / 255
        loss = LOSSES[piece["set"]](piece, net, x, [labels[i] for i in batch])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([net.values[n] for n in net.parameters()], NORM)
        for group in optimizer.param_groups:
            group["lr"] = rate(step) * group["factor"]
            group["eps"] = EPSILON / math.sqrt(1 - group["betas"][1] ** (step + 1))
        optimizer.step()
        losses.append(loss.item())
        decay = min(piece.get("ema", 0), (1 + step) / (10 + step)) if step > 0 else 0
        for name, value in net.tensors().items():
            averages[name] = decay * averages[name] + (1 - decay) * value
    return losses, averages


# ---- Comparing ----

def errors(begin, exact, found):
    """Of losses, and of tensors with their names."""
    off = {name: np.linalg.norm(found[1][name] - value)
           / max(np.linalg.norm(value - begin[name]), 1e-3) for name, value in exact[1].items()}
    return {"losses": {f"step {n + 1}": abs(a - b)
                       for n, (a, b) in enumerate(zip(exact[0], found[0]))}, "tensors": off}


def agree(name, begin, exact, singles, tool):
    singles, tool, good = [errors(begin, exact, s) for s in singles], errors(begin, exact, tool), True
    for what, of_tool in tool.items():
        for kind, measure in (("median", np.median), ("most", max)):
            single = max(measure(list(s[what].values())) for s in singles)
            own, bound = measure(list(of_tool.values())), FACTOR * single + FLOOR[what]
            good = good and own <= bound
            print(f"{name}, {what}, {kind}: off by {own:.2g}, float32 by {single:.2g}"
                  + (f": above {bound:.2g}" if not own <= bound else "")
                  + (f", {max(of_tool, key=of_tool.get)}" if kind == "most" else ""))
    return good


def run(command, *arguments):
    done = subprocess.run([command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} {' '.join(arguments)}\n{done.stdout}")


def weights_of(glcnn, name):
    run(glcnn, "export", "--force", f"{name}.glcnn", "-o", f"{name}.onnx")
    return f"{name}.onnx"


def check(glcnn, name, piece, data):
    common = ["train", "--force", "--data", piece["set"], "--batch", str(BATCH), "--augment",
              "none", "--seed", str(SEED)]
    first, last = f"{name}.begin", f"{name}.end"
    run(glcnn, *common, *piece["options"], "--epochs", "1", "--limit", str(BATCH), "--lr", "1e-60",
        "--ema", "0", "--out", f"{first}.glcnn")  # one step, which moves no weight
    begin = weights_of(glcnn, first)
    start = ["--model", f"{first}.glcnn"] if piece.get("begins") else piece["options"]
    run(glcnn, *common, *start, *piece.get("more", []), "--epochs", str(EPOCHS), "--out",
        f"{last}.glcnn", "--log", f"{name}.csv")
    with open(f"{name}.csv") as file:
        losses = [float(row["loss"]) for row in csv.DictReader(file)]
    assert len(losses) == STEPS, f"{name}: {len(losses)} steps"
    tool = losses, Net(weights_of(glcnn, last), torch.float64).tensors()
    exact = train(piece, begin, data, torch.float64)
    singles = [train(piece, begin, data, torch.float32, turn) for turn in (0, 3, 6)]
    start = Net(begin, torch.float64)
    if not piece.get("begins"):
        start.reset()
    return agree(name, start.tensors(), exact, singles, tool)


def main():
    torch.set_num_threads(1)
    glcnn, wanted = sys.argv[1], sys.argv[2:] or PIECES
    sets = {make.__name__: make(pathlib.Path(make.__name__)) for make in (classes, boxes)}
    good = [check(glcnn, name, PIECES[name], sets[PIECES[name]["set"]]) for name in wanted]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
