#!/bin/sh
# glcnn train, killed at each of the calls that save a checkpoint, within each write too, and with
# each of them failing: the old file or the new one is there, whole, and loads; a failure is told,
# and leaves nothing beside it. So it is on a disk that is full from some write of a training on.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 without a device.

. tests/tool.sh

fail() {
    echo "test_kill: $*"
    cat "$work/err"
    ls -l "$work/out"
    exit 1
}

needs_device
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/stop.so" tests/preload/stop.c -ldl || exit 1
cd "$work" || exit 1
mkdir out

# 32 images of noise, an epoch of two steps.
for part in train val; do
    { printf '\0\0\10\3\0\0\0\40\0\0\0\34\0\0\0\34' && head -c 25088 /dev/urandom; } |
        gzip >$part-images-idx3-ubyte.gz
    { printf '\0\0\10\1\0\0\0\40' && printf '\0\1%.0s' $(seq 16); } | gzip >$part-labels-idx1-ubyte.gz
done

# save COMMAND...: a run that goes on from a checkpoint at its end: all that it does is to save it
# once, with another learning rate.
save() {
    "$@" "$glcnn" train --force --data . --resume old --lr 0.5 --out "$work/out/model" >/dev/null 2>err
}

"$glcnn" train --net small --optimizer adam --batch 16 --epochs 1 --data . --out old >/dev/null 2>err &&
    cp old out/model && save env && mv out/model new || fail 'a run that nobody stops failed'
! cmp -s old new || fail 'what is saved is what was there'
for file in old new; do
    "$glcnn" predict $file val-images-idx3-ubyte.gz >/dev/null 2>err || fail "$file does not load"
done

# stopped_at N HOW: the run that is stopped at call N of a save over the old file; $status is its
# exit status, $call what it was stopped at, $found the file that is there.
stopped_at() {
    rm -f note out/*
    cp old out/model
    save env LD_PRELOAD="$work/stop.so" STOP_CALLS="$work/out/" STOP_AT="$1" STOP_BY="$2" \
        STOP_NOTE="$work/note"
    status=$?
    call=$(cat note 2>/dev/null) found=
    for file in old new; do
        ! cmp -s $file out/model || found=$file
    done
    [ -n "$found" ] || fail "$2 at call $1, ${call:-none}: the file is neither the old nor the new"
}

# A killed process may leave one file beside the target.
n=1 old=0 new=0 left=0 synced= calls=
while stopped_at $n KILL && [ -n "$call" ]; do
    [ $status = 137 ] || fail "after a kill at call $n, $call, the status is $status"
    [ "$(ls out | wc -l)" -le 2 ] || fail "a kill at call $n, $call, left too much"
    [ "$(ls out)" = model ] || left=$n
    [ "$found $call" != 'new fsync' ] || synced=folder
    eval "$found=\$(($found + 1))"
    case " $calls " in *" $call "*) ;; *) calls="$calls $call" ;; esac
    n=$((n + 1))
done
[ $status = 0 ] && [ $found = new ] || fail "the run that was not killed has status $status"
[ $old -gt 10 ] && [ $new -gt 2 ] || fail "of $((n - 1)) kills $old left the old file, $new the new"
[ -n "$synced" ] || fail 'the folder is not brought to the disk'
for wanted in open create flock write fsync rename close; do
    case " $calls " in *" $wanted "*) ;; *) fail "no kill was at $wanted, only at$calls" ;; esac
done
stopped_at $left KILL
[ "$(ls out | wc -l)" = 2 ] || fail "a kill at call $left leaves nothing the second time"
save env || fail 'what a killed run left stands in the way'
[ "$(ls out)" = model ] && cmp -s new out/model || fail 'what a killed run left was not removed'
echo "$((n - 1)) kills within a save: $old left the old file, $new the new one"

# What the writer can do without, as a lock, may fail in silence.
n=1 told=0
while stopped_at $n EIO && [ -n "$call" ]; do
    [ "$(ls out)" = model ] || [ "$call" = unlink ] || fail "a failure of call $n, $call, left something"
    if [ $status = 0 ]; then
        [ $found = new ] || fail "call $n, $call, failed, and nobody says that nothing was saved"
        case $call in create | write | fsync | rename) fail "$call failed in silence" ;; esac
    else
        grep -q "out/model[.best]*: .*: Input/output error" err || fail "call $n, $call, failed without why"
        [ $found = old ] || grep -q 'is written, but its folder' err ||
            fail "call $n, $call, failed, and the old file is gone"
        told=$((told + 1))
    fi
    n=$((n + 1))
done
[ $told -gt 10 ] || fail "only $told failures were told"
echo "$((n - 1)) failures within a save: $told told"

# A disk that is full from some write of a training on: the checkpoints are those of before, or of an
# epoch that still had room, and load; nothing lies beside them.
n=1 full=0
while rm -f note out/* && cp old out/model && cp old out/model.best; do
    status=0
    LD_PRELOAD=$work/stop.so STOP_CALLS=$work/out/ STOP_AT=$n STOP_BY=ENOSPC STOP_NOTE=$work/note \
        "$glcnn" train --force --data . --resume old --epochs 3 --out "$work/out/model" --plot "$work/out/curves.svg" \
        >/dev/null 2>err || status=$?
    [ -e note ] || break
    [ $status = 1 ] || fail "on a full disk the status is $status"
    grep -q 'out/.*: cannot be written: No space left on device' err || fail 'a full disk is not told'
    for file in out/*; do
        case $file in
        out/model | out/model.best)
            "$glcnn" predict $file val-images-idx3-ubyte.gz >/dev/null 2>&1 || fail "$file does not load" ;;
        out/curves.svg) [ "$(tail -c 7 $file)" = '</svg>' ] || fail 'the curves are cut off' ;;
        *) fail "a full disk leaves $file" ;;
        esac
    done
    [ $n != 1 ] || cmp -s old out/model || fail 'a full disk changes the checkpoint'
    full=$((full + 1)) n=$((n + 9))
done
[ $status = 0 ] || fail "with room to the end the status is $status"
[ $full -gt 3 ] || fail "the disk was full at $full writes alone"
echo "$full full disks within a training"
