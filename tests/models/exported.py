"""Files that test_export.c leaves in a folder, TASK.LAYOUT.PREPROCESSING.BATCH.onnx, in the eyes of others:

exported.py check FOLDER      ONNX's checker, and its shape inference, are strict with all of them
exported.py inputs FOLDER     writes NAME.in.json for onnxruntime.js, of pictures.npy, of files of a batch that fits
exported.py same JSON JSON    two answers of glcnn predict have the same words, and numbers within 1e-4
exported.py archive FILE TASK what the end of a .tflite file says, in the way that loaders of Ultralytics' files read it
exported.py kit FOLDER CSV    the array of a kit is what CSV's rows, a label and bytes, are once they are normalised
exported.py compare FOLDER    its NAME.out.json, decoded here, are the answers that glcnn predict gives

The decoders are written by the words of glcnn/export.h, and share nothing with the library.
"""
import ast
import glob
import json
import os
import sys
import zipfile

import numpy

# As test_export.c has them.
NAMES = ["it's_x", "it's_y", "back\\slash_x", "back\\slash_y"]
MEAN = numpy.array([0.4, 0.5, 0.25], numpy.float32)
DEVIATION = numpy.array([0.5, 0.25, 0.3], numpy.float32)
LAYOUTS = {"detect": ["split", "yolo", "nms"]}
PREPROCESSINGS = ["normalised", "unit", "bytes", "unit-bgr", "bytes-bgr"]
BATCHES = [0, 1, 2]
OVERLAP, LEAST, MOST = 0.6, 0.3, 300


def tasks(folder):
    found = sorted(os.path.basename(path)[:-7] for path in glob.glob(folder + "/*.values"))
    assert len(found) >= 5, found
    return found


def files(folder):
    """Of the tasks that the library has, so that none is forgotten."""
    for task in tasks(folder):
        for layout in LAYOUTS.get(task, ["split"]):
            for preprocessing in PREPROCESSINGS:
                for batch in BATCHES:
                    yield task, layout, preprocessing, batch, "%s/%s.%s.%s.%d" % (
                        folder, task, layout, preprocessing, batch)


# ---- What a file says ----

def outputs_of(task, layout):
    if task != "detect":
        return [{"classify": "scores", "segment": "scores", "regress": "numbers", "keypoints": "maps"}[task]]
    return {"split": ["boxes_8", "scores_8", "boxes_16", "scores_16"], "yolo": ["output"],
            "nms": ["boxes", "scores", "classes", "pictures"]}[layout]


def check(folder):
    import onnx
    pictures = numpy.load(folder + "/pictures.npy")
    count = 0
    for task, layout, preprocessing, batch, name in files(folder):
        onnx.checker.check_model(name + ".onnx", full_check=True)
        model = onnx.load(name + ".onnx")
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        shape = [d.dim_value or d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim]
        assert len(model.graph.input) == 1 and model.graph.input[0].name == "images", name
        assert shape == [batch or "N", 3] + list(pictures.shape[1:3]), (name, shape)
        assert [o.name for o in model.graph.output] == outputs_of(task, layout), name
        wanted = onnx.TensorProto.UINT8 if preprocessing.startswith("bytes") else onnx.TensorProto.FLOAT
        assert model.graph.input[0].type.tensor_type.elem_type == wanted, name
        check_metadata(task, batch, name, pictures, {p.key: p.value for p in model.metadata_props})
        count += 1
    print("row %d files of %d tasks are checked" % (count, len(tasks(folder))))


def check_metadata(task, batch, name, pictures, found):
    """As the loaders of Ultralytics' files take them."""
    names = ast.literal_eval(found["names"])
    wanted = ["it's", "back\\slash"] if task == "keypoints" else NAMES
    assert names == dict(enumerate(wanted)), (name, names)
    assert ast.literal_eval(found["imgsz"]) == list(pictures.shape[1:3]), name
    assert found["task"] == task and int(found["batch"]) == (batch or 1), name
    assert int(found["stride"]) == (16 if task == "detect" else 1), name
    assert ("kpt_shape" in found) == (task == "keypoints"), name
    if "kpt_shape" in found:
        assert ast.literal_eval(found["kpt_shape"]) == [2, 2], name
    assert json.loads(found["model.classes"]) == NAMES, name
    assert found["model.task"] == task and found["glcnn.version"] == "1", name


def leaves_of(answer):
    """Keys, lengths and values, one after the other."""
    if isinstance(answer, dict):
        for key in sorted(answer):
            yield key
            yield from leaves_of(answer[key])
    elif isinstance(answer, list):
        yield len(answer)
        for part in answer:
            yield from leaves_of(part)
    else:
        yield answer


def same(one, other):
    found = []
    for path in (one, other):
        with open(path, encoding="utf-8") as file:
            found.append(list(leaves_of(json.load(file))))
    assert len(found[0]) == len(found[1]) > 0, (one, other)
    for a, b in zip(*found):
        is_real = isinstance(a, float) or isinstance(b, float)
        assert abs(a - b) <= 1e-4 * max(1, abs(a)) if is_real else a == b, (one, other, a, b)


def archive(path, task):
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert file.namelist() == ["metadata.json", "labels.txt"], file.namelist()
        found = json.loads(file.read("metadata.json"))
        labels = file.read("labels.txt").decode()
    assert found["task"] == task, found
    assert list(ast.literal_eval(found["names"]).values()) == labels.split("\n")[:-1], (found, labels)
    assert len(ast.literal_eval(found["imgsz"])) == 2 and int(found["stride"]) >= 1 and int(found["batch"]) == 1


def kit(folder, table):
    """Rows 0, n / 5, 2 n / 5 ... of mean 0.25 and deviation 0.5."""
    rows = numpy.loadtxt(table, delimiter=",", skiprows=0 if open(table).readline()[0].isdigit() else 1)
    found = numpy.load(folder + "/pictures.npy")
    wanted = [(rows[i * len(rows) // 5, 1:] / 255 - 0.25) / 0.5 for i in range(5)]
    assert found.dtype == numpy.float32 and found.shape[:2] == (5, 1), (found.dtype, found.shape)
    off = abs(found.reshape(5, -1) - numpy.array(wanted)).max()
    assert off <= 1e-6, off


# ---- What it takes ----

def pixels(pictures, preprocessing):
    """Pictures N,C,H,W as a file takes them."""
    taken = pictures.transpose(0, 3, 1, 2)
    if preprocessing.endswith("bgr"):
        taken = taken[:, ::-1]
    if preprocessing.startswith("bytes"):
        return taken
    taken = taken.astype(numpy.float32) / numpy.float32(255)
    if preprocessing == "normalised":
        taken = (taken - MEAN[:, None, None]) / DEVIATION[:, None, None]
    return taken


def inputs(folder):
    pictures = numpy.load(folder + "/pictures.npy")
    for _, _, preprocessing, batch, name in files(folder):
        if batch == 0:
            taken = pixels(pictures, preprocessing)
            kind = "uint8" if taken.dtype == numpy.uint8 else "float32"
            with open(name + ".in.json", "w", encoding="utf-8") as file:
                json.dump({"images": {"dims": taken.shape, "type": kind, "data": taken.ravel().tolist()}}, file)


# ---- What it gives ----

def boxes_of_split(found, width, height):
    """Edges [N][places][4] and probabilities [N][places][classes]."""
    edges, scores = [], []
    for stride in 8, 16:
        raw, score = found["boxes_%d" % stride], found["scores_%d" % stride]
        n, _, rows, columns = raw.shape
        y, x = numpy.mgrid[:rows, :columns] + 0.5
        distances = numpy.logaddexp(0, raw.astype(float))
        box = numpy.stack([x - distances[:, 0], y - distances[:, 1], x + distances[:, 2],
                           y + distances[:, 3]], 1) * stride
        box = numpy.clip(box, 0, numpy.array([width, height, width, height])[:, None, None])
        edges.append(box.reshape(n, 4, -1))
        scores.append(1 / (1 + numpy.exp(-score.astype(float))).reshape(n, score.shape[1], -1))
    return numpy.concatenate(edges, 2).transpose(0, 2, 1), numpy.concatenate(scores, 2).transpose(0, 2, 1)


def boxes_of_yolo(found, width, height):
    """The same, as Ultralytics and supervision take such an output."""
    x, y, w, h = found["output"][:, :4].astype(float).transpose(1, 0, 2)
    edges = numpy.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 2)
    assert edges.min() >= -1e-3 and edges[..., 0::2].max() <= width + 1e-3 and edges[..., 1::2].max() <= height + 1e-3
    return edges, found["output"][:, 4:].transpose(0, 2, 1)


def overlap(a, b):
    left, top = max(a[0], b[0]), max(a[1], b[1])
    right, bottom = min(a[2], b[2]), min(a[3], b[3])
    both = max(right - left, 0) * max(bottom - top, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def suppressed(edges, scores):
    """Rows (class, probability, edges) of one picture, the likeliest first."""
    rows = [(c, scores[at, c], edges[at]) for at, c in zip(*numpy.nonzero(scores >= LEAST))
            if edges[at, 2] > edges[at, 0] and edges[at, 3] > edges[at, 1]]
    kept = []
    for row in sorted(rows, key=lambda row: -row[1]):
        if len(kept) < MOST and all(row[0] != k[0] or overlap(row[2], k[2]) <= OVERLAP for k in kept):
            kept.append(row)
    return kept


def boxes_of(layout, found, width, height, pictures):
    if layout == "nms":
        rows = zip(found["classes"], found["scores"], found["boxes"], found["pictures"])
        rows = sorted(rows, key=lambda row: -row[1])
        return [[row[:3] for row in rows if row[3] == n][:MOST] for n in range(pictures)]
    decoded = (boxes_of_split if layout == "split" else boxes_of_yolo)(found, width, height)
    return [suppressed(edges, scores) for edges, scores in zip(*decoded)]


def compare_boxes(name, layout, found, folder, shape):
    wanted = [[] for _ in range(shape[0])]
    with open(folder + "/detect.boxes", encoding="utf-8") as file:
        for line in file:
            n, label, *numbers = line.split()
            wanted[int(n)].append((int(label), float(numbers[0]), numpy.array(numbers[1:], float)))
    worst = numpy.zeros(2)
    for boxes, others in zip(boxes_of(layout, found, shape[2], shape[1], shape[0]), wanted):
        assert len(boxes) == len(others) > 10, (name, len(boxes), len(others))
        # Equally likely ones may change places.
        left = list(others)
        for a in boxes:
            near = min(range(len(left)), key=lambda i: (left[i][0] != a[0], abs(left[i][2] - a[2]).max()))
            b = left.pop(near)
            assert a[0] == b[0], (name, a, b)
            worst = numpy.maximum(worst, [abs(a[1] - b[1]), abs(a[2] - b[2]).max()])
    assert worst[0] <= 1e-5 and worst[1] <= 1e-3, (name, worst)
    return worst


def answers_of(task, found):
    """[N] rows of what predict gives: probabilities along the classes, its channels last."""
    values = next(iter(found.values())).astype(float)
    if task in ("classify", "segment"):
        values = numpy.exp(values - values.max(1, keepdims=True))
        values /= values.sum(1, keepdims=True)
    return numpy.moveaxis(values, 1, -1).reshape(len(values), -1)


def compare(folder):
    pictures = numpy.load(folder + "/pictures.npy")
    worst = {}
    for task, layout, _, batch, name in files(folder):
        if batch:
            continue
        with open(name + ".out.json", encoding="utf-8") as file:
            found = json.load(file)
        assert "error" not in found, (name, found)
        found = {key: numpy.array(value["data"]).reshape(value["dims"]) for key, value in found.items()}
        if task == "detect":
            off = compare_boxes(name, layout, found, folder, pictures.shape)
        else:
            wanted = numpy.fromfile("%s/%s.values" % (folder, task), numpy.float32).astype(float)
            values = answers_of(task, found)
            off = numpy.array([abs(values.ravel() - wanted).max(), 0])
            assert off[0] <= 1e-5 * max(1, abs(wanted).max()), (name, off)
        worst[task, layout] = numpy.maximum(worst.get((task, layout), 0), off)
    for (task, layout), (value, place) in worst.items():
        print("row %s %s: at most %.1e off%s" % (task, layout, value, ", boxes %.1e pixels" % place if place else ""))


if __name__ == "__main__":
    {"check": check, "inputs": inputs, "same": same, "archive": archive, "kit": kit,
     "compare": compare}[sys.argv[1]](*sys.argv[2:])
