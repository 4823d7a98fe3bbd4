#!/bin/sh
# The event files of --tensorboard, read by hand: each number is the log's, also of a run that was killed
# in the middle of a step and goes on, of one that begins again in the same folder, and where the clock was
# put back; pictures are those of the epochs.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

command -v python3 >/dev/null || skip 'there is no python3, which reads the files'
needs_device
python3 "$top/tests/report/data.py" data || exit 1

# must STATUS ARGUMENT...
must() {
    wanted=$1
    shift
    "$glcnn" train --data data --batch 12 "$@" >said 2>err
    status=$?
    [ $status = "$wanted" ] || fail "glcnn train $*: exit status $status, not $wanted: $(tail -n 2 err)"
}

# reads WHAT FOLDER LOG ANSWER
reads() {
    said=$(python3 "$top/tests/tensorboard/read.py" $2 $3 2>&1 | tail -n 1)
    [ "$said" = "$4" ] || fail "$1: $said"
}

form='--channels 1 --size 8 --net small'
must 0 $form --epochs 2 --log log.csv --tensorboard board
reads 'one run' board log.csv '1 files, steps 1 to 20'
[ "$(ls -A board | wc -l)" = 1 ] || fail "beside the file there is $(ls -A board)"

# ---- A run that goes on --------------------------------------------------------------------------

must 0 $form --epochs 2 --out half.safetensors --log half.csv --tensorboard half
cp half.safetensors two.safetensors
must 0 --resume half.safetensors --epochs 3 --out half.safetensors --log half.csv --tensorboard half
reads 'a run that goes on' half half.csv '2 files, steps 1 to 30'

# What it did behind its last checkpoint is done again: other steps of these numbers do not count. Of a
# record that was being written there is a part; the clock stands before all that was written.
set -- half/*
head -c 1000 "$2" >cut
cp cut "$2"
mv "$2" half/events.out.tfevents.4000000000.glcnn
must 0 --resume two.safetensors --epochs 3 --lr 0.001 --out two.safetensors --log half.csv --tensorboard half
reads 'a run that goes on twice' half half.csv '3 files, steps 1 to 30'
[ -e half/events.out.tfevents.4000000001.glcnn ] || fail "the last file is not behind the others: $(ls half)"

# One that begins again in the folder of another.
must 0 --force $form --epochs 1 --seed 5 --log log.csv --tensorboard board
reads 'another run in the folder' board log.csv '2 files, steps 1 to 10'

# ---- What the reader is there for ----------------------------------------------------------------

python3 - <<'END_OF_PYTHON'
import glob, os
name = sorted(glob.glob("board/*"))[-1]
data = open(name, "rb").read()
os.makedirs("bad")
for n, at in enumerate((3, 40, 300, len(data) - 2)):
    with open("bad/%d.tfevents" % n, "wb") as file:
        file.write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
END_OF_PYTHON
for file in bad/*; do
    mkdir one && mv $file one
    ! python3 "$top/tests/tensorboard/read.py" one log.csv >/dev/null 2>&1 || fail "a changed byte is not seen: $file"
    rm -r one
done
sed '5s/,0\.\([0-9]\)/,0.9\1/' log.csv >wrong.csv
! python3 "$top/tests/tensorboard/read.py" board wrong.csv >/dev/null 2>&1 || fail 'another log is not seen'

# ---- Where it cannot be written ------------------------------------------------------------------

touch file
must 1 $form --tensorboard file/where
grep -q 'file/where: cannot be created: Not a directory' err || fail "a folder in none: $(cat err)"
must 1 $form --tensorboard file
grep -q '^glcnn train: file: cannot be created: Not a directory' err || fail "a file for a folder: $(cat err)"
if command -v flock >/dev/null; then
    : >board/.events.glcnn-lock
    exec 9>board/.events.glcnn-lock
    flock -n 9 || fail 'the lock is not free'
    must 1 $form --tensorboard board
    grep -q 'board/events: is being written already' err || fail "two runs write one folder: $(cat err)"
    exec 9>&-
fi

# A disk that is full ends no training; it is told in the end.
(
    ulimit -f 8
    trap '' XFSZ
    "$glcnn" train --data data --batch 12 $form --epochs 24 --tensorboard full >said 2>err
)
[ $? = 1 ] || fail 'a full disk is not told of'
grep -q 'full/events.*cannot be written: File too large' err || fail "a full disk: $(cat err)"
grep -q '^epoch 24 of 24' said || fail "a full disk ends the training: $(tail -n 1 said)"

[ $failed = 0 ] && echo 'event files have what the log has'
