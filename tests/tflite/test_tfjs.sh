#!/bin/sh
# .tflite files of "glcnn export" of every task in TensorFlow Lite itself, npm's @tensorflow/tfjs-tflite in headless Chromium:
# what they compute is what the network of glcnn computes, of reals within 1e-5 of the largest, and whole numbers of a
# quantised model are those of independent arithmetic, within a step.
#
# Runs from the top of a built tree. O may be given. GLCNN_NODE_MODULES is a folder in which npm installed
# @tensorflow/tfjs-tflite, tfjs-core and tfjs-backend-cpu. Exits 77 without that, a browser, NumPy or a device.

. tests/tool.sh
goes_on=1

[ -d "$GLCNN_NODE_MODULES/@tensorflow/tfjs-tflite" ] || skip 'GLCNN_NODE_MODULES names no folder with @tensorflow/tfjs-tflite of npm'
for browser in chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome none; do
    command -v $browser >/dev/null && break
done
[ $browser != none ] || skip 'there is no Chromium; Debian has it in chromium-headless-shell'
has_python 'numpy, onnx.helper' ||
    skip 'no python3 with numpy and onnx (Debian: python3-numpy, python3-onnx)'
needs_device

cp -R src/python/glcnn "$work" && $python src/python/generate.py include "$work/glcnn" || exit 1
export GLCNN_LIBRARY="$out" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work"
cd "$work" || exit 1
mkdir files
$python "$top/tests/report/data.py" classes && $python "$top/tests/report/data.py" masks masks &&
    $python "$top/tests/report/data.py" numbers numbers && $python "$top/tests/report/data.py" boxes boxes &&
    $python "$top/tests/report/data.py" points points && $python "$top/tests/tflite/quantised.py" files || exit 1

# make NAME DATA OPTION...: a model that has learned a little, as files of both kinds.
make() {
    name=$1 data=$2
    shift 2
    "$glcnn" train --force --data "$data" --epochs 1 --batch 8 --out "$name.glcnn" "$@" >said 2>err ||
        fail "$name is not trained: $(tail -n 2 err)"
    "$glcnn" export "$name.glcnn" -o "files/$name.onnx" >said 2>err && "$glcnn" export "$name.glcnn" -o "files/$name.tflite" >said 2>err ||
        fail "$name is not exported: $(tail -n 2 err)"
}
make small classes --channels 1 --size 8 --net small
make resnet8 classes --channels 1 --size 8 --net resnet8
make mobilenet classes --channels 1 --size 8 --net mobilenet-tiny
make segment masks --task segment --net small
make regress numbers --task regress --net small
make detect boxes --task detect --net resnet8 --size 32
make keypoints points --task keypoints --net small --size 32
# In int8: what the browser makes of it is what the device does, within a step of the output's scale.
for pair in resnet8:classes segment:masks regress:numbers detect:boxes keypoints:points; do
    for kind in onnx tflite; do
        "$glcnn" export "${pair%:*}.glcnn" -o "files/${pair%:*}-int8.$kind" --int8 --data "${pair#*:}" --pictures 16 \
            >said 2>err || fail "$pair is not exported in int8: $(tail -n 2 err)"
    done
done
# What was read as the file of somebody else, whose input is N,H,W,C, is written again.
"$glcnn" import files/resnet8.tflite -o again.glcnn --output scores >said 2>err && "$glcnn" export again.glcnn -o files/again.tflite >said 2>err &&
    "$glcnn" export again.glcnn -o files/again.onnx >said 2>err || fail "resnet8 does not come back: $(tail -n 2 err)"
cat >convert.py <<'END'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
onnx = open("files/quantised.onnx", "rb").read()
made, size, error = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t(), ctypes.create_string_buffer(1024)
if library.glcnn_tflite_from_onnx(onnx, ctypes.c_size_t(len(onnx)), None, ctypes.byref(made), ctypes.byref(size), error):
    sys.exit(error.value.decode())
open("files/quantised.tflite", "wb").write(ctypes.string_at(made, size.value))
END
$python convert.py "$out/libglcnn_tflite.so" || fail 'the quantised model is not written'

# Inputs, and what the networks make of them.
cat >compute.py <<'END'
import glob, sys
import numpy as np
import glcnn
from onnx import load, numpy_helper


def scale_of(graph, values, node):
    return [float(values[n]) for n in node.input[1:3]]


def numbers(path):
    """Scale and zero point of the input, and of each output that is of bytes: of the DequantizeLinear before it."""
    graph = load(path).graph
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    makers = {o: n for n in graph.node for o in n.output}
    first = [n for n in graph.node if n.op_type == "QuantizeLinear" and n.input[0] == graph.input[0].name][0]
    found = {}
    for output in graph.output:
        node = makers[output.name]
        while node.op_type in ("Flatten", "Reshape", "Identity", "Transpose"):
            node = makers[node.input[0]]
        found[output.name] = scale_of(graph, values, node) if node.op_type == "DequantizeLinear" else None
    return scale_of(graph, values, first), found


random = np.random.default_rng(3)
for path in glob.glob("files/*.onnx"):
    name = path[:-5]
    if name.endswith("quantised"):
        continue
    net = glcnn.onnx(path)
    shape = [d.dim_value for d in load(path).graph.input[0].type.tensor_type.shape.dim][1:]
    x = random.standard_normal((1, *shape)).astype(np.float32)
    made = net.predict(x)
    made = made if isinstance(made, dict) else {load(path).graph.output[0].name: made}
    is_last = name.endswith("again")
    x = x if is_last else x.transpose(0, 2, 3, 1)
    if name.endswith("int8"):
        (scale, zero), scales = numbers(path)
        x = np.clip(np.round(x / scale) + zero, -128, 127).astype(np.int32)
        made = {key: np.round(np.asarray(y) / scales[key][0]) + scales[key][1] if scales[key] else y
                for key, y in made.items()}
    x.tofile(name + ".in0")
    for key, y in made.items():
        y = np.asarray(y)
        (y.transpose(0, 2, 3, 1) if y.ndim == 4 and not is_last else y).astype(np.float32).tofile(
            name + "." + key + ".expected")
END
$python compute.py || fail 'the networks do not compute'
$python "$top/tests/tflite/tfjs.py" "$GLCNN_NODE_MODULES" files || fail "the browser fails: $(tail -n 2 files/browser.log)"
cat >compare.py <<'END'
import glob, json, os, sys
import numpy as np
names = sorted(f[:-7] for f in glob.glob("files/*.tflite"))
bad = 0
for name in names:
    if not os.path.exists(name + ".outs"):
        print(name, "fails:", open(name + ".error").read() if os.path.exists(name + ".error") else "no output")
        bad = 1
        continue
    outputs = [json.loads(line)[0] for line in open(name + ".outs")]
    expected = glob.glob(name + ".*expected")
    bad = bad or len(outputs) != len(expected)
    for k, output in enumerate(outputs):
        path = name + "." + output + ".expected"
        a = np.fromfile(path if os.path.exists(path) else name + ".expected", np.float32)
        b = np.fromfile(name + ".out%d" % k, np.float32)
        if a.size != b.size:
            good, off = False, np.nan
        elif name.endswith("regress-int8"): # in units of the data, which are reals: a step of 255
            off = np.abs(a - b).max()
            good = off <= np.abs(a).max() / 100
        elif name.endswith(("quantised", "int8")):
            # Bilinear sums of bytes lie between two steps often, where interpreters round another way than ONNX; the
            # layers behind them add that up.
            most = 4 if name.endswith("keypoints-int8") else 1
            off = np.abs(a - b)
            good, off = (off <= most).mean() >= 0.999, off.max()
        else:
            off = np.abs(a - b).max()
            good = a.size > 0 and off <= 1e-5 * max(1, np.abs(a).max())
        print("%s %s: %d numbers, largest %g, difference %g" % (name, output, a.size, np.abs(a).max(), off))
        bad = bad or not good
sys.exit(bad or len(names) < 14)
END
$python compare.py || fail 'TensorFlow Lite computes something else'
[ $failed = 0 ]
