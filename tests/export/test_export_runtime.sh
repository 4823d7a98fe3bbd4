#!/bin/sh
# Files that test_export leaves, run by ONNX Runtime, whose outputs decoders of the test's own turn into what
# "glcnn predict" gives: within 1e-5, and boxes within 1e-3 pixels.
#
# Runs from the top of a built tree. O and PYTHON may be given, PYTHON a python3 with numpy, and NODE_PATH where
# onnxruntime-node of npm is; with GLCNN_TEST_CHECK npm fetches it. Exits 77 without these, or without a device.

. tests/tool.sh
models=$PWD/tests/models
export PYTHONDONTWRITEBYTECODE=1

must() {
    "$@" >"$work/log" 2>&1 </dev/null || fail "$* fails"
}
has_runtime() {
    node -e 'require("onnxruntime-node")' >/dev/null 2>&1
}
needs_device
has_python numpy || skip 'there is no python3 with numpy (PYTHON names one)'
command -v node >/dev/null || skip 'there is no node'
[ -n "$NODE_PATH" ] || export NODE_PATH="$out/node/node_modules"
if ! has_runtime && [ -n "${GLCNN_TEST_CHECK:-}${GLCNN_TEST_FULL:-}" ]; then
    # Its scripts would fetch what only other processors need.
    npm install --ignore-scripts --prefix "$out/node" onnxruntime-node >/dev/null 2>&1
fi
has_runtime || skip 'there is no onnxruntime-node: npm install --ignore-scripts --prefix build/node onnxruntime-node'

files=$work/files
mkdir "$files"
GLCNN_EXPORT_FOLDER=$files must "$out/tests/export/test_export" every_task_leaves
must $python "$models/exported.py" inputs "$files"
must node "$models/onnxruntime.js" "$files"
must $python "$models/exported.py" compare "$files"
cat "$work/log"
