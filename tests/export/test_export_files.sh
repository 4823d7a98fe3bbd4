#!/bin/sh
# Files that test_export leaves, of each task with each layout, batch and preprocessing: ONNX's checker and its shape
# inference, both strict, and what the files say; that "glcnn import" makes the same models of them, and of .tflite files,
# again; and the options of "glcnn export".
#
# Runs from the top of a built tree. O and PYTHON may be given, PYTHON a python3 with onnx, as Debian's python3-onnx.
# Exits 77 without it, or without a device.

. tests/tool.sh
models=$PWD/tests/models
export PYTHONDONTWRITEBYTECODE=1

must() {
    "$@" >"$work/log" 2>&1 </dev/null || fail "$* fails"
}
# refused WORDS ARGUMENT...
refused() {
    words=$1
    shift
    ! "$glcnn" "$@" >"$work/log" 2>&1 </dev/null || fail "$* is not refused"
    grep -qF -e "$words" "$work/log" || fail "$* is refused without \"$words\""
}
needs_device
files=$work/files
mkdir "$files"
GLCNN_EXPORT_FOLDER=$files must "$out/tests/export/test_export" every_task_leaves

# ---- Read again ------------------------------------------------------------------------------------

# again TASK FORM: the file becomes a model that gives the same answers, and leaves as before.
again() {
    must "$glcnn" import "$files/$1.$2.onnx" -o "$work/again.glcnn" --force
    grep -q "for the task $1, 4 " "$work/log" || fail "import does not say the task $1"
    "$glcnn" predict --json "$work/again.glcnn" "$files/pictures.npy" >"$work/again.json" 2>"$work/log" ||
        fail "what is imported of $1.$2 does not predict"
    cmp -s "$files/$1.json" "$work/again.json" || fail "$1.$2 gives other answers once it was imported"
    must "$glcnn" export "$work/again.glcnn" -o "$work/file.onnx" --force
    grep '^/' "$work/log" | cmp -s - "$work/said" || fail "$1.$2 does not leave as it did"
}
# The same by way of a .tflite file, into which normalisations go as parts of convolutions: answers are compared below.
tflite_again() {
    task=$1 kind=$2
    shift 2
    must "$glcnn" export "$files/$task.glcnn" -o "$work/$task.$kind.tflite" "$@"
    must "$glcnn" import "$work/$task.$kind.tflite" -o "$work/again.glcnn" --force
    grep -q "for the task $task, 4 " "$work/log" || fail "import of .tflite does not say the task $task"
    "$glcnn" predict --json "$work/again.glcnn" "$files/pictures.npy" >"$work/$task.$kind.json" 2>"$work/log" ||
        fail "what is imported of $task.tflite does not predict"
    must "$glcnn" export "$work/again.glcnn" -o "$work/file.onnx" --force
    grep '^/' "$work/log" | cmp -s - "$work/said" || fail "$task does not leave its .tflite file as it did"
}
tasks=0
for values in "$files"/*.values; do
    task=$(basename "$values" .values) tasks=$((tasks + 1))
    "$glcnn" predict --json "$files/$task.glcnn" "$files/pictures.npy" >"$files/$task.json" 2>"$work/log" ||
        fail "$task does not predict"
    must "$glcnn" export "$files/$task.glcnn" -o "$work/file.onnx" --force
    grep '^/' "$work/log" >"$work/said"
    cmp -s "$files/$task.split.normalised.0.onnx" "$work/file.onnx" || fail "the tool writes another file of $task"
    again "$task" split.bytes-bgr.2
    tflite_again "$task" plain
    [ "$task" != regress ] || tflite_again "$task" bytes --embed-preprocessing bytes-bgr
done
[ $tasks -ge 5 ] || fail "there are $tasks tasks"
must "$glcnn" export "$files/detect.glcnn" -o "$work/file.onnx" --force
grep '^/' "$work/log" >"$work/said"
again detect nms.unit.0
again detect yolo.normalised.1
tflite_again detect yolo --boxes yolo --embed-preprocessing unit

# Another end makes another network, of which nothing is known; what is asked for counts.
must "$glcnn" import "$files/classify.split.unit.0.onnx" -o "$work/again.glcnn" --force --head 3
! grep -q 'for the task' "$work/log" || fail 'a network with another head has the task of the old one'

# ---- The tool's options ----------------------------------------------------------------------------

model=$files/detect.glcnn
must "$glcnn" export "$model" -o "$work/file.onnx" --force --boxes nms --batch 2 --embed-preprocessing bytes-bgr
cmp -s "$files/detect.nms.bytes-bgr.2.onnx" "$work/file.onnx" || fail 'options of the tool make another file'
grep -q 'takes images, bytes, blue first, in batches of 2' "$work/log" || fail 'the tool does not say what the file takes'
refused 'it must be split, yolo or nms' export "$model" -o "$work/no.onnx" --boxes grid
refused 'it must be bytes, unit, bytes-bgr or unit-bgr' export "$model" -o "$work/no.onnx" --embed-preprocessing rgb
refused 'it must be a whole number in 1 .. ' export "$model" -o "$work/no.onnx" --batch 0
refused 'layouts of boxes are for detectors' export "$files/classify.glcnn" -o "$work/no.onnx" --boxes yolo
[ ! -e "$work/no.onnx" ] || fail 'what is refused leaves a file'

# ---- A kit for quantisers --------------------------------------------------------------------------

mkdir "$work/data"
cp tests/golden/classifier/train.csv "$work/data/train.csv"
must "$glcnn" train --data "$work/data" --net small --batch 4 --limit 8 --epochs 1 --mean 0.25 --deviation 0.5 \
    --out "$work/net.glcnn"
must "$glcnn" export "$work/net.glcnn" -o "$work/net.onnx" --calibration "$work/kit" --data "$work/data" --pictures 5
grep -q 'kit: 5 training pictures' "$work/log" || fail 'the tool does not say how many pictures a kit has'
[ "$(cat "$work/kit/dataset.txt")" = "$(seq -f '%05.0f.png' 0 4)" ] || fail 'the list has other pictures'
for words in "mean_values=\[\[63.75\]\], std_values=\[\[127.5\]\]" "outputs=\['scores'\]" "end-node-names 'scores'" \
    'normalization(\[63.75\], \[127.5\])' "{'images': picture" 'convert_model(.net.onnx.)' 'onnx_path=net.onnx'; do
    grep -q -e "$words" "$work/kit/README.md" || fail "the kit's README has no $words"
done
refused 'already exists; --force overwrites it' export "$work/net.glcnn" --calibration "$work/kit" --data "$work/data"
refused 'needs --data' export "$work/net.glcnn" --calibration "$work/other"
refused 'are for --int8 and --calibration' export "$work/net.glcnn" -o "$work/no.onnx" --pictures 5
must "$glcnn" export "$work/net.glcnn" --calibration "$work/all" --data "$work/data" --pictures 9999 \
    --embed-preprocessing bytes
grep -q '9999 pictures were asked for, and the data have ' "$work/log" || fail 'that there are fewer pictures is not said'

# What learns numbers from an imported classifier leaves with their units, which the classifier's file has not.
mkdir "$work/numbers"
{ echo "label,$(seq -s, -f 'v%g' 1 64)"; cat tests/golden/classifier/train.csv; } >"$work/numbers/train.csv"
must "$glcnn" import tests/golden/classifier/classifier.onnx -o "$work/imported.glcnn"
must "$glcnn" train --task regress --model "$work/imported.glcnn" --data "$work/numbers" --batch 4 --limit 8 --epochs 1 \
    --out "$work/numbers.glcnn"
must "$glcnn" export "$work/numbers.glcnn" -o "$work/numbers.onnx"
grep -q 'gives numbers: ' "$work/log" && grep -aq model.units "$work/numbers.onnx" ||
    fail 'numbers leave without their units'
must "$glcnn" export "$work/numbers.glcnn" -o "$work/numbers.int8.onnx" --int8 --data "$work/numbers" --pictures 8
grep -q 'in float32, .* in int8' "$work/log" || fail 'how well numbers are in int8 is not said'
must "$glcnn" export "$work/numbers.glcnn" -o "$files/numbers.tflite" --int8 --data "$work/numbers" --pictures 8
must "$glcnn" import "$files/numbers.tflite" -o "$work/again.glcnn" --force
grep -q 'for the task regress, ' "$work/log" || fail 'numbers in int8 do not come back from a .tflite file'

# A search among patches is no network.
mkdir "$work/normal"
cp "$work/kit"/0000[0-4].png "$work/normal"
must "$glcnn" anomaly fit "$work/normal" --model "$work/net.glcnn" -o "$work/bank.glcnn"
refused 'a search that no file of a network has' export "$work/bank.glcnn" -o "$work/no.onnx"

# ---- What others say of them -----------------------------------------------------------------------

if ! has_python 'numpy, onnx.checker'; then
    echo 'no python3 with onnx (PYTHON names one): the files were not checked'
    exit 77
fi
must $python "$models/exported.py" check "$files"
cat "$work/log"
for file in "$work"/*.tflite; do
    task=$(basename "$file" .tflite)
    must $python "$models/exported.py" same "$files/${task%.*}.json" "$work/$task.json"
done
must $python "$models/exported.py" archive "$work/classify.plain.tflite" classify
must $python "$models/exported.py" kit "$work/kit" "$work/data/train.csv"
