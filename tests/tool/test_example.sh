#!/bin/sh
# The training example from outside, on a small data set made here: the same seed gives the same
# bytes, Ctrl-C finishes the batch and saves, bad data and options are refused with a message.
#
# Runs from the top of the tree, after a build in $O. CC may be given.

set -e
. tests/tool.sh
example=$out/examples/fashion_mnist

. tests/idx.sh
files train '\0\140' 96
files t10k '\0\12' 10

train() {
    "$example" --data "$work" --batch 16 "$@" >"$work/log" 2>&1 </dev/null
}

train --out "$work/a" --seed 3 --epochs 2 || { cat "$work/log"; fail 'training fails'; }
grep -q '^accuracy 0\.[0-9]* on 10 test images' "$work/log" || fail 'no accuracy is printed'
[ -s "$work/a/loss.svg" ] || fail 'there is no loss curve'
train --out "$work/b" --seed 3 --epochs 2 || fail 'training fails the second time'
cmp "$work/a/weights.npz" "$work/b/weights.npz" || fail 'the same seed gives other weights'
train --out "$work/c" --seed 4 --epochs 2 || fail 'training fails with another seed'
! cmp -s "$work/a/weights.npz" "$work/c/weights.npz" || fail 'another seed gives the same weights'
train --out "$work/d" --limit 32 --lr 0.1 || fail 'training fails with a limit'

# Ctrl-C when the program has read the clock so often, which each step does.
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/stop.so" tests/preload/stop.c -ldl
status=0
env LD_PRELOAD="$work/stop.so" STOP_CALLS=clock STOP_BY=INT STOP_AT=10 STOP_NOTE="$work/note" \
    "$example" --data "$work" --batch 16 --out "$work/e" --epochs 10000 >"$work/log" 2>&1 </dev/null ||
    status=$?
[ -e "$work/note" ] || fail 'no Ctrl-C was sent'
[ $status = 130 ] || fail "after Ctrl-C the status is $status"
[ -s "$work/e/weights.npz" ] || fail 'after Ctrl-C no weights are saved'

refused() {
    ! train --out "$work/f" "$@" || fail "$* is not refused"
    grep -q '^fashion_mnist: ' "$work/log" || { cat "$work/log"; fail "$* is refused without a word"; }
    [ ! -e "$work/f" ] || fail "$* leaves something behind"
}
refused --epochs 0
refused --epochs 1.5
refused --seed 18446744073709551616
refused --batch 1000
refused --lr fast
refused --data "$work/nowhere"
refused word
printf 'no images' | gzip >"$work/t10k-images-idx3-ubyte.gz"
refused --seed 1
