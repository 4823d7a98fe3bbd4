#!/bin/sh
# Scales, zero points, weights and biases of int8 models, computed once more with NumPy, and their files looked at by
# ONNX's checker and strict inference of shapes; and by ONNX Runtime's int8 kernels, where NODE_PATH says where
# onnxruntime-node of npm is.
#
# Runs from the top of a built tree. O and PYTHON may be given. Exits 77 without NumPy and onnx, or without a device.

out=${O:-build}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
python=
for each in "$PYTHON" python3 /usr/bin/python3; do
    [ -n "$each" ] && "$each" -c 'import numpy, onnx' 2>/dev/null && python=$each && break
done
if [ -z "$python" ]; then
    echo 'no python3 with NumPy and onnx'
    exit 77
fi
INT8_FOLDER=$folder "$out/tests/onnx/test_onnx_int8" networks >"$folder/log" 2>&1
status=$?
if [ $status != 0 ]; then
    cat "$folder/log"
    exit $status
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" tests/models/int8_numbers.py "$folder" || exit 1
[ -n "$NODE_PATH" ] || export NODE_PATH="$out/node/node_modules"
if ! node -e 'require("onnxruntime-node")' >/dev/null 2>&1; then
    echo 'no onnxruntime-node: its int8 kernels are not asked'
    exit 0
fi
ORT_OPTIMIZATION=all node tests/models/onnxruntime.js "$folder" || exit 1
"$python" tests/models/int8_answers.py "$folder"
