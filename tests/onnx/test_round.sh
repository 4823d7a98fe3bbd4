#!/bin/sh
# One round: what PyTorch exported is imported, fine-tuned, exported and evaluated by ONNX's own
# evaluator, which gives the probabilities that glcnn predict does, and the accuracy that glcnn
# evaluate says. tests/golden/make_export.py made the file; where GLCNN_OCR_MODEL names the model of
# test_real_model.sh it makes the same round, in PyTorch too.
#
# Runs from the top of a built tree. O and PYTHON may be given, PYTHON a python3 with onnx 1.13 or
# later (Debian 13's python3-onnx). Exits 77 without it, or without a device.

. tests/tool.sh
golden=$PWD/tests/golden model=$GLCNN_OCR_MODEL
export PYTHONDONTWRITEBYTECODE=1

must() {
    "$@" >log 2>&1 </dev/null || fail "$* fails"
}
# has EVALUATOR: some $python has it.
has() {
    find_python "$golden/evaluate_onnx.py" check "$1"
}
needs_device
has onnx || skip 'no python3 with onnx.reference (onnx 1.13 and later; PYTHON names one)'
cd "$work" || exit 1

# round MODEL WIDTH HEIGHT CLASSES OPTION...: the model learns twelve epochs by those options.
round() {
    file=$1 width=$2 height=$3 classes=$4
    shift 4
    rm -rf pictures && mkdir pictures
    must $python "$golden/evaluate_onnx.py" pictures pictures "$width" "$height" "$classes"
    must "$glcnn" import --force "$file" -o model.glcnn --size "${width}x$height" \
        --mean 0.5 --deviation 0.5
    must "$glcnn" train --force --model model.glcnn --data pictures --batch 8 --epochs 12 \
        --optimizer adam --schedule constant --out tuned.glcnn "$@"
    finish
}
# says COMMAND: what it prints of the pictures as JSON.
says() {
    "$glcnn" "$1" --json tuned.glcnn pictures/val.npz 2>log </dev/null || fail "glcnn $1 fails"
}
finish() {
    must "$glcnn" export --force tuned.glcnn -o tuned.onnx
    says predict >predicted
    says evaluate >evaluated
}
# compared EVALUATOR
compared() {
    must $python "$golden/evaluate_onnx.py" compare "$1" tuned.onnx pictures/val.npz \
        predicted evaluated
    sed 's/^/row round: /' log
}

round "$golden/classifier/exported.onnx" 16 16 4 --train all --lr 0.03
compared onnx
must "$glcnn" train --force --net resnet8 --data pictures --batch 8 --epochs 6 --lr 0.05 \
    --mean 0.5 --deviation 0.5 --out tuned.glcnn
finish
compared onnx
round "$golden/classifier/exported.onnx" 16 16 2 --train last --lr 0.05
compared onnx
[ -n "$model" ] || exit 0
model=$(realpath "$model") || exit 1
round "$model" 96 48 2 --train all --lr 0.001
compared onnx
if has torch; then
    compared torch
fi
