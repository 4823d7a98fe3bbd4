"""AUROC of "glcnn anomaly" beside that of a plain PatchCore on the same layers, for sets with MVTec's folders.

    PYTHONPATH=... GLCNN_TOOL=build/glcnn python3 tests/models/patchcore.py MODEL.glcnn SIDE SET... [OPTION of fit...]

SIDE is that of the model's pictures, in pixels. The plain one is NumPy: patches are means over 3x3 pixels, the
smaller map enlarged to the larger one, the bank has all patches of all normal pictures, and a picture's score is
the largest distance of a patch from the nearest of them. The tool keeps a tenth of the patches of three quarters
of the pictures. Needs NumPy, Pillow, the Python package and a build.
"""
import os
import re
import subprocess
import sys
import tempfile

import glcnn
import numpy
from PIL import Image

TOOL = os.environ.get('GLCNN_TOOL', 'glcnn')


def auroc(anomalous, normal):
    return float(numpy.mean((anomalous[:, None] > normal) + 0.5 * (anomalous[:, None] == normal)))


def describe(name, scores, kinds):
    normal = scores[kinds == 'good']
    kind_names = [k for k in sorted(set(kinds)) if k != 'good']
    return '%-7s %.3f  %s' % (name, auroc(scores[kinds != 'good'], normal),
                              ' '.join('%s %.2f' % (k, auroc(scores[kinds == k], normal)) for k in kind_names))


def run_tool(model, folder, options):
    """{name of a test picture: score}, and the layers that were chosen."""
    with tempfile.TemporaryDirectory() as work:
        out = work + '/bank.glcnn'
        fit = subprocess.run([TOOL, 'anomaly', 'fit', folder, '--model', model, '-o', out, *options],
                             capture_output=True, text=True, check=True).stdout
        said = subprocess.run([TOOL, 'anomaly', 'score', out, folder],
                              capture_output=True, text=True, check=True).stdout
    scores = {name: float(score) for name, score in
              re.findall(r'^(\S+) ([\d.e+-]+) (?:normal|anomalous)$', said, re.M)}
    return scores, re.findall(r'^layer: (.*), \d+x\d+ pixels', fit, re.M)


# ---- The plain one ----

def read_pictures(files, side):
    pictures = [Image.open(f).convert('RGB').resize((side, side), Image.BILINEAR) for f in files]
    return numpy.stack([numpy.asarray(p) for p in pictures]).transpose(0, 3, 1, 2)


def mean_3x3(maps):
    """Of the pixels that there are."""
    def add_up(x):
        x = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        rows = x[:, :, :-2] + x[:, :, 1:-1] + x[:, :, 2:]
        return rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]
    return add_up(maps) / add_up(numpy.ones_like(maps[:1, :1]))


def enlarge(maps, side, axis):
    """Linearly, by the middles of pixels."""
    own = maps.shape[axis]
    at = numpy.clip((numpy.arange(side) + 0.5) * own / side - 0.5, 0, own - 1)
    low = numpy.floor(at).astype(int)
    part = (at - low).reshape([-1 if i == axis else 1 for i in range(maps.ndim)])
    return (maps.take(low, axis) * (1 - part) +
            maps.take(numpy.minimum(low + 1, own - 1), axis) * part).astype(numpy.float32)


def patches(network, layers, side, files):
    """[pictures][patches][features]"""
    found = network.predict(read_pictures(files, side), batch=10)
    maps = [mean_3x3(numpy.asarray(found[layer])) for layer in layers] if len(layers) > 1 else [
        mean_3x3(numpy.asarray(found))]
    rows, columns = max(m.shape[2] for m in maps), max(m.shape[3] for m in maps)
    joined = numpy.concatenate([enlarge(enlarge(m, rows, 2), columns, 3) for m in maps], axis=1)
    return joined.reshape(*joined.shape[:2], -1).transpose(0, 2, 1)


def nearest(points, bank):
    """The distance of each point from the nearest of the bank."""
    squares = (bank * bank).sum(1)
    found = [(p * p).sum(1) + (squares - 2 * p @ bank.T).min(1)
             for p in numpy.array_split(points, len(points) // 2000 + 1)]
    return numpy.sqrt(numpy.maximum(numpy.concatenate(found), 0))


def plain(network, layers, side, folder, names):
    good = os.path.join(folder, 'train', 'good')
    bank = patches(network, layers, side, [os.path.join(good, f) for f in sorted(os.listdir(good))])
    bank = numpy.ascontiguousarray(bank.reshape(-1, bank.shape[2]))
    return numpy.array([nearest(p, bank).max() for p in patches(network, layers, side, names)])


def main(model, side, rest):
    options = [word for word in rest if word.startswith('--')]  # --output=LAYER
    for folder in (word for word in rest if word not in options):
        scores, layers = run_tool(model, folder, options)
        names = sorted(scores)
        kinds = numpy.array([os.path.basename(os.path.dirname(name)) for name in names])
        network = glcnn.load(model)
        network.outputs = {layer: network.filter(layer).result for layer in layers}
        print('%s, %d test pictures, layers %s' % (folder, len(names), ' and '.join(layers)))
        print(describe('tool', numpy.array([scores[name] for name in names]), kinds))
        print(describe('plain', plain(network, layers, side, folder, names), kinds), flush=True)


if __name__ == '__main__':
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
