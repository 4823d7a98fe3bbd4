#!/bin/sh
# A pipe without a writer where a file is to be read: each command that opens a named file refuses it at
# once, with a message, and so does a device that never ends. The one function that opens files for
# reading does it: no other source opens one.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

out=${O:-build}
case $out in /*) ;; *) out=$PWD/$out ;; esac
glcnn=$out/glcnn golden=$PWD/tests/golden/classifier
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test_pipes: $*"
    cat "$work/log"
    exit 1
}

# What is written, and the program cache, whose files are to be trusted, are apart.
: >"$work/log"
grep -rnE 'fopen\([^)]*"r|[^_a-z]open\([^)]*O_RDONLY' src platform --include='*.[ch]' |
    grep -v '^src/record/binary_file.c\|^src/io/regular.c\|^src/io/files.c\|O_DIRECTORY\|"/dev/null"\|"/proc/' \
        >"$work/log"
[ ! -s "$work/log" ] || fail 'files are opened for reading elsewhere than in src/io/regular.c'

cd "$work" || exit 1
"$glcnn" info >/dev/null 2>&1 || {
    echo 'there is no device'
    exit 77
}
mkfifo pipe
mkdir parts
cp "$golden/train.csv" parts/train.csv
# refuses FILE WORDS ARGUMENT...: a wait that lasts is a failure, whose length does not matter.
refuses() {
    words=$1
    shift
    timeout 60 "$glcnn" "$@" >log 2>&1 </dev/null
    status=$?
    [ $status = 1 ] || [ $status = 2 ] || fail "glcnn $*: status $status"
    grep -q -- "$words" log || fail "glcnn $*: no word of \"$words\""
}
for file in pipe /dev/zero; do
    case $file in pipe) kind='a pipe' ;; *) kind='a device' ;; esac
    words="$file: is not a regular file but $kind"
    refuses "$words" import $file -o x.glcnn
    refuses "$words" import "$golden/classifier.onnx" -o x.glcnn --class-names $file
    refuses "$words" train --net small --data parts --load-matching none --names $file
    refuses "$words" train --net small --data parts --load-matching $file
    refuses "$words" train --model $file --data parts
    refuses "$words" train --resume $file --data parts
    refuses "$words" predict $file parts/train.csv
    refuses "$words" evaluate $file parts
    refuses "$words" export $file -o x.onnx
    refuses "$words" bench --compare=$file $file
    refuses "$words" run neuron --input "source_image=$file"
done

# A log may go into a pipe that somebody reads.
refuses 'pipe: is a pipe without a reader; start its reader first' \
    train --net small --data parts --epochs 1 --log pipe
exec 3<>pipe
timeout 60 "$glcnn" train --net small --data parts --epochs 1 --log pipe >log 2>&1 </dev/null ||
    fail 'a pipe that is read is no log'
read -r head <&3
[ "$head" = step,epoch,learning_rate,loss,accuracy,validation_loss,validation_accuracy ] ||
    fail "the log begins with $head"
exec 3>&-

[ ! -e x.glcnn ] && [ ! -e x.onnx ] || fail 'what was refused left a file'
echo 'pipes and devices are refused'
