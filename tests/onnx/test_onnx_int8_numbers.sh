#!/bin/sh
# Scales, zero points, weights and biases of int8 models, computed once more with NumPy, and their files looked at by
# ONNX's checker and strict inference of shapes; and by ONNX Runtime's int8 kernels, where NODE_PATH says where
# onnxruntime-node of npm is.
#
# Runs from the top of a built tree. O and PYTHON may be given. Exits 77 without NumPy and onnx, or without a device.

. tests/tool.sh
has_python 'numpy, onnx.checker' || skip 'no python3 with NumPy and onnx'
INT8_FOLDER=$work "$out/tests/onnx/test_onnx_int8" networks >"$work/log" 2>&1
status=$?
[ $status != 77 ] || skip 'there is no device'
[ $status = 0 ] || fail "test_onnx_int8 ends with status $status"
: >"$work/log"
export PYTHONDONTWRITEBYTECODE=1
"$python" tests/models/int8_numbers.py "$work" || exit 1
[ -n "$NODE_PATH" ] || export NODE_PATH="$out/node/node_modules"
if ! node -e 'require("onnxruntime-node")' >/dev/null 2>&1; then
    echo 'no onnxruntime-node: its int8 kernels are not asked'
    exit 0
fi
ORT_OPTIMIZATION=all node tests/models/onnxruntime.js "$work" || exit 1
"$python" tests/models/int8_answers.py "$work"
