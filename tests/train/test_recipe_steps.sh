#!/bin/sh
# Fifty steps of the tool's recipe, of a detector's losses, of smoothed and weighed labels, of averages and
# of a slow backbone are PyTorch's, as close as its own float32; tests/golden/recipe_steps.py says
# what is compared.
#
# Runs from the top of a built tree. O and PYTHON may be given. Exits 77 without PyTorch or a device.

. tests/tool.sh
steps=$PWD/tests/golden/recipe_steps.py

has_python 'numpy, onnx.helper, torch, PIL' ||
    skip 'no python3 with onnx, torch, PIL (Debian: python3-onnx, python3-torch, python3-pil)'
needs_device

cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 $python "$steps" "$glcnn" >log 2>&1 ||
    fail 'the tool is not as close to double precision as PyTorch is'
sed 's/^/row /' log
