#!/bin/sh
# Keys of model files: those that are written are those of include/model_files.md; a file of the best epoch and an
# export have none of a run and no path; files of before there were versions are read and resumed; of a newer
# version are refused.
#
# Runs from the top of a built tree. O may be given.

set -e
. tests/tool.sh
page=include/model_files.md golden=tests/golden/model_before_versions

# keys FILE: those of the metadata but for the layers' own.
keys() {
    LC_ALL=C sed -n '1s/.*"__metadata__":{\([^}]*\)}.*/\1/p' "$1" | grep -ao '"[A-Za-z0-9_.-]*":"' | tr -d '":' |
        grep -v '^optimizer\.\|^time_step\.\|^encodes\.' | sort
}
exported='/^## An exported file/,/^## A run/'
sed "$exported d" $page | sed -n 's/^| `\([a-z0-9_.]*\)`.*/\1/p' | sort >"$work/page"
"$glcnn" train --help | sed -n 's/^ *\(-[a-z], \)\{0,1\}--\([a-z-]*\).*/run.\2/p' | sort >"$work/options"

# ---- What is written -------------------------------------------------------------------------------

train() {
    "$glcnn" train "$@" >"$work/log" 2>&1 </dev/null || { cat "$work/log"; fail "train $* fails"; }
}
cp $golden.npz "$work/pictures.npz"
train --data "$work/pictures.npz" --net small --epochs 1 --batch 4 --augment none --out "$work/model"
keys "$work/model" >"$work/keys"
strange=$(sort -u "$work/page" "$work/options" | comm -13 - "$work/keys")
[ -z "$strange" ] || fail "the page has not, and no option is: $strange"
grep -v '^anomaly\.' "$work/page" | comm -23 - "$work/keys" >"$work/unwritten"
[ ! -s "$work/unwritten" ] || fail "the page has what is not written: $(cat "$work/unwritten")"
grep -q '^run\.data$' "$work/keys" && grep -q '^run\.lr$' "$work/keys" || fail 'the checkpoint has no run.data, run.lr'
sed -n '/names\[ENTRIES\]/,/};/s/[^"]*"\([a-z_]*\)"[^"]*/anomaly.\1\n/gp' src/train/anomaly_file.c |
    grep . | sort >"$work/anomaly"
grep '^anomaly\.' "$work/page" | cmp -s - "$work/anomaly" || fail "the bank's keys are others: $(cat "$work/anomaly")"

keys "$work/model.best" >"$work/best"
[ -s "$work/best" ] && ! grep -v '^model\.\|^glcnn\.version' "$work/best" || fail 'the best network has what a run needs'
"$glcnn" export "$work/model" --out "$work/model.onnx" >"$work/log" 2>&1 || { cat "$work/log"; fail 'export fails'; }
for key in $(sed -n "$exported s/^| .\(model[a-z.]*\).*/\1/p" $page | grep -v 'units\|record') model.task model.mean; do
    LC_ALL=C grep -aqF "$key" "$work/model.onnx" || fail "the exported file has no $key"
done
for file in model.best model.onnx; do
    ! LC_ALL=C grep -aqF "$work" "$work/$file" || fail "$file has a path of this machine"
done

# ---- What is read ----------------------------------------------------------------------------------

# evaluate FILE: the accuracy of a file, and of its copy in the keys of the other kind.
"$glcnn" evaluate $golden.safetensors "$work/pictures.npz" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'a file without a version is not read'; }
train --resume $golden.safetensors --data "$work/pictures.npz" --epochs 2 --out "$work/resumed"
grep -q '^epoch 2 of 2' "$work/log" || { cat "$work/log"; fail 'a file without a version is not resumed'; }
keys "$work/resumed" | cmp -s - "$work/keys" || fail 'what is resumed is not written with a version'

LC_ALL=C sed 's/glcnn\.crc64/glcnn.crc00/; 1s/"glcnn.version":"1"/"glcnn.version":"2"/' "$work/model" >"$work/newer"
! cmp -s "$work/newer" "$work/model" || fail 'there is no version'
! "$glcnn" evaluate "$work/newer" "$work/pictures.npz" >"$work/log" 2>&1 || fail 'a newer version is read'
grep -q 'version "2", and this glcnn reads versions up to 1' "$work/log" || { cat "$work/log"; fail 'no word of versions'; }
