#!/bin/sh
# Fifty steps of the tool's recipe, of a detector's losses, of smoothed and weighed labels, of averages and
# of a slow backbone are PyTorch's, as close as its own float32; tests/golden/recipe_steps.py says
# what is compared.
#
# Runs from the top of a built tree. O and PYTHON may be given. Exits 77 without PyTorch or a device.

out=${O:-build}
case $out in /*) ;; *) out=$PWD/$out ;; esac
steps=$PWD/tests/golden/recipe_steps.py

skip() {
    echo "$*"
    exit 77
}
for python in ${PYTHON:-python3 /usr/bin/python3} none; do
    [ $python != none ] ||
        skip 'no python3 with onnx, torch, PIL (Debian: python3-onnx, python3-torch, python3-pil)'
    $python -c 'import numpy, onnx, torch, PIL' 2>/dev/null && break
done
"$out/glcnn" info >/dev/null 2>&1 || skip 'there is no device'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 $python "$steps" "$out/glcnn" >log 2>&1 || {
    cat log
    echo 'test_recipe_steps: the tool is not as close to double precision as PyTorch is'
    exit 1
}
sed 's/^/row /' log
