#!/bin/sh
# Scales, zero points, weights and biases of int8 models, computed once more with NumPy, and their files looked at by
# ONNX's checker and strict inference of shapes.
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
PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/int8_numbers.py "$folder"
