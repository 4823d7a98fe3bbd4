#!/bin/sh
# glcnn train on several ranks of mpirun: 1, 2 and 4 give the same weights, with statistics of batch
# normalisations over all and shares of a batch that differ, boxes too; twice the same bits; a run goes on with
# another number of ranks; features of frozen layers; weights that are averaged; and what fails on one rank, or dies, ends all of
# them with a message and leaves the last checkpoint whole.
#
# Runs from the top of the tree, after a build in $O. CC may be given.

set -e
. tests/tool.sh
command -v mpirun >/dev/null || skip 'there is no mpirun'
[ -e "$out/libglcnn_mpi.so" ] || skip 'libglcnn_mpi was not built: there is no mpicc'
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/stop.so" tests/preload/stop.c -ldl
. tests/mpirun.sh
export GLCNN_CACHE_DIR="$work/cache"

. tests/idx.sh
files train '\1\54' 300
files val '\0\50' 40

# train RANKS NAME ARGUMENT...: writes $work/NAME and its log.
train() {
    ranks=$1 name=$2
    shift 2
    set -- "$glcnn" train --force --data "$work" --out "$work/$name.safetensors" --log "$work/$name.csv" "$@"
    [ "$ranks" = alone ] || set -- mpirun -n "$ranks" "$@"
    "$@" >"$work/$name.log" 2>&1 </dev/null || { cat "$work/$name.log"; fail "$* fails"; }
}

# "by_rank RANK SETTINGS COMMAND..." is the command, with the settings where it is that rank. Between
# programs a ":" would do; at that mpirun of Open MPI 5.0.7 crashes.
cat >"$work/by_rank" <<'END'
rank=$1 settings=$2
shift 2
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != "$rank" ] || exec env $settings "$@"
exec "$@"
END
# stop CALLS AT BY NOTE: settings with which tests/preload/stop.c stops a rank.
stop() {
    echo "LD_PRELOAD=$work/stop.so STOP_CALLS=$1 STOP_AT=$2 STOP_BY=$3 STOP_NOTE=$4"
}

# Weights, statistics and moments as text, one a line, without the digest.
values() {
    head=$(od -An -tu8 -N8 "$work/$1.safetensors" | tr -d ' ')
    tail -c +$((head + 9)) "$work/$1.safetensors" | head -c -8 | od -An -v -tf4 -w4
}
# near A B: weights and losses of two runs, within 1e-5 of each other, or of their size above 1.
near() {
    for name in "$1" "$2"; do
        { values "$name"; tail -n +2 "$work/$name.csv" | cut -d, -f4,6 | tr , '\n'; } >"$work/$name.txt"
    done
    paste "$work/$1.txt" "$work/$2.txt" | awk -v a="$1" -v b="$2" '
        function size(x) { return x < 0 ? -x : x }
        $1 != $2 { d = size($1 - $2) / (size($1) > 1 ? size($1) : 1); if (d > most) most = d }
        NF == 2 { n++ }
        END { printf "%s and %s: %d numbers differ by %g at most\n", a, b, n, most
              exit !(n > 1000 && most <= 1e-5) }' || fail "$1 and $2 differ"
}
same() {
    cmp "$work/$1.safetensors" "$work/$2.safetensors" || fail "$1 and $2 have not the same bits"
}

# ---- As many steps on any number of ranks: 20 --------------------------------------------------------

# Where a value is 0 but for rounding, a neuron turns by the last bit of a sum, and weights differ by some
# 1e-4 from then on, and adam makes them more: by the seed 1 one does. Seeds 2 to 6 have none.
lenet='--net lenet --optimizer sgd --lr 0.02 --batch 15 --epochs 1 --seed 2 --decay 0.3 --clip-norm 0'
train alone one $lenet
for n in 1 2 4; do
    train $n lenet$n $lenet
    near one lenet$n
done
train 4 again $lenet --trace "$work/trace.json"
same lenet4 again
! cmp -s "$work/one.safetensors" "$work/lenet4.safetensors" ||
    fail 'four ranks add up as one does: the comparison shows nothing'
grep -q '^epoch 1 of 1: loss .* validation loss' "$work/lenet4.log" || fail 'rank 0 does not tell what it does'
[ "$(grep -c '^epoch 1 of 1: ' "$work/lenet4.log")" = 1 ] || fail 'all ranks print'
[ "$(wc -l <"$work/lenet4.csv")" = 21 ] || fail 'the log has not a line for each step'

# The trace has all steps, and in each one bar for each bucket, behind its beginning.
python3 - "$work/trace.json" <<'END' || fail 'the trace is not that of the steps'
import json, sys
steps, buckets = {}, {}
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    if event["name"] == "step":
        steps[event["args"]["step"]] = event
    elif event["name"].startswith("bucket"):
        buckets.setdefault(event["args"]["step"], []).append(event)
assert sorted(steps) == list(range(1, 21)) == sorted(buckets)
for number, step in steps.items():
    found = buckets[number]
    assert [b["name"] for b in found] == [f"bucket {i + 1} of {len(found)}" for i in range(len(found))]
    assert len(found) > 1 and sum(b["args"]["bytes"] for b in found) > 100000
    assert all(step["ts"] <= b["ts"] and b["dur"] >= 0 and
               b["ts"] + b["dur"] <= step["ts"] + step["dur"] for b in found)
END

# The rest: other networks and ranks, frozen layers, averages, and what goes wrong.
[ -n "$GLCNN_TEST_CHECK" ] || exit 0

# Steps of three batches, each of which the ranks share.
for n in 1 2; do
    train $n thirds$n $lenet --batch 5 --accumulate 3
    near one thirds$n
done
[ "$(wc -l <"$work/thirds2.csv")" = 21 ] || fail 'the log has not a line for each step of several batches'

# Batch normalisations see the whole batch, or their share alone. The gradient of a bias before one is 0 but
# for rounding, which adam would make steps of.
small='--net small --optimizer sgd --batch 30 --limit 300 --epochs 2 --lr 0.002 --decay 0.3 --augment flip,crop=2'
train alone small $small
for n in 2 4; do
    train $n synced$n $small --sync-batch-norm
    near small synced$n
done
train alone halves $small --batch 15 --accumulate 2
train 2 halves2 $small --batch 15 --accumulate 2 --sync-batch-norm
near halves halves2
train 4 own $small
(near small own) >"$work/log" 2>&1 && fail 'own statistics are those of all' || true
train 4 own_again $small
same own own_again

# A detector divides by the objects of the whole batch, of which ranks have unlike parts, and its precision
# is that of all validation pictures.
python3 - "$work/boxes" <<'END' || fail 'there are no pictures with boxes'
import os, random, struct, sys, zlib
SIDE = 32
random.seed(1)

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def save(path, rows):
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b""))

for part, count in ("train", 24), ("valid", 10):
    for folder in "images", "labels":
        os.makedirs(f"{sys.argv[1]}/{part}/{folder}")
    for n in range(count):
        rows = [[random.randrange(90) for _ in range(SIDE)] for _ in range(SIDE)]
        with open(f"{sys.argv[1]}/{part}/labels/{n:02}.txt", "w") as file:
            for kind in range(random.randrange(3)):
                w, h = random.randrange(8, 15), random.randrange(8, 15)
                x, y = random.randrange(SIDE - w), random.randrange(SIDE - h)
                for row in rows[y:y + h]:
                    row[x:x + w] = [150 + 100 * kind] * w
                print(kind, (x + w / 2) / SIDE, (y + h / 2) / SIDE, w / SIDE, h / SIDE, file=file)
        save(f"{sys.argv[1]}/{part}/images/{n:02}.png", rows)
END
boxes="--data $work/boxes --task detect --net mobilenet-tiny --optimizer sgd --lr 0.001 --batch 6 --epochs 1"
train alone boxes $boxes
train 2 boxes2 $boxes --sync-batch-norm
near boxes boxes2
for name in boxes boxes2; do
    tail -n 1 "$work/$name.csv" | cut -d, -f7 >"$work/$name.precision"
done
[ -s "$work/boxes.precision" ] || fail 'there is no precision'
cmp "$work/boxes.precision" "$work/boxes2.precision" || fail 'two ranks find another precision'

# Measured shares are some shares: each has an image at least, and results are the same.
train 3 balanced $lenet --balance
near one balanced
grep -q '^ranks: 3, of which this one has [0-9]* images of each batch' "$work/balanced.log" ||
    fail 'rank 0 does not tell its share'
grep -q '^ranks: 3; each sent [0-9.]* KiB a step' "$work/balanced.log" ||
    fail 'what was sent is not told'

# Clipping by norm sees the sums.
train alone clipped $lenet --clip-norm 0.1
train 4 clipped4 $lenet --clip-norm 0.1
near clipped clipped4
(near one clipped) >"$work/log" 2>&1 && fail 'nothing is clipped' || true

# ---- Other ranks than before -------------------------------------------------------------------------

train alone two_epochs $lenet --epochs 2
train 4 parts $lenet
cp "$work/parts.safetensors" "$work/first.safetensors"
train 3 parts --resume "$work/first.safetensors" --epochs 2
near two_epochs parts

# ---- Frozen layers -----------------------------------------------------------------------------------

# Each rank keeps what they make for itself, and finds it again; shares are unlike, so some have made
# all of it before others.
last="--model $work/one.safetensors --train last --batch 16 --epochs 2 --limit 200"
train alone head $last
train 3 heads $last --feature-cache "$work/kept"
near head heads
train 3 computed $last --feature-cache off
same heads computed
for file in kept kept.1 kept.2; do
    [ -s "$work/$file" ] || fail "no rank keeps features in $file"
done
touch "$work/before"
train 3 heads_again $last --feature-cache "$work/kept"
same heads heads_again
grep -q '^features: .* 0 of them new' "$work/heads_again.log" || fail 'rank 0 does not find its features'
[ -z "$(find "$work" -name 'kept*' -newer "$work/before")" ] || fail 'a rank computes features again'
rm "$work/kept.1"
train 3 heads_apart $last --feature-cache "$work/kept"
same heads heads_apart

# A disk that is full where one rank keeps them: that rank says so, and computes them in each step.
mkdir "$work/disk"
part="--data $work --out $work/full_kept.safetensors --log $work/full_kept.csv --feature-cache $work/disk/kept"
mpirun -n 3 sh "$work/by_rank" 1 "$(stop "$work/disk/" 9 ENOSPC "$work/note")" \
    "$glcnn" train $part $last >"$work/full_kept.log" 2>&1 </dev/null || { cat "$work/full_kept.log"; fail 'a rank without features fails'; }
[ "$(grep -c '^glcnn train: rank 1: features: not kept: .*No space left on device' "$work/full_kept.log")" = 1 ] ||
    { cat "$work/full_kept.log"; fail 'rank 1 does not say that its disk is full'; }
same heads full_kept

# ---- What is told ------------------------------------------------------------------------------------

# What all ranks would say on standard error is said by one.
python3 - "$work/pictures" <<'END' || fail 'there are no pictures'
import os, struct, sys, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

for k, name in enumerate("ab"):
    os.makedirs(f"{sys.argv[1]}/{name}")
    for i in range(9):
        rows = b"".join(b"\0" + bytes(100 * k + i + x for x in range(8)) for _ in range(8))
        text = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
        text += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
        with open(f"{sys.argv[1]}/{name}/{i}.png", "wb") as file:
            file.write(text if i < 8 else text[:20])
END
env -u GLCNN_DEVICE mpirun -n 2 "$glcnn" train --data "$work/pictures" --batch 4 --epochs 1 >"$work/log" 2>&1 </dev/null ||
    { cat "$work/log"; fail 'ranks do not train on pictures'; }
for words in 'left out: .*a/8.png' 'left out: .*b/8.png'; do
    [ "$(grep -c "$words" "$work/log")" = 1 ] || { cat "$work/log"; fail "not said once: $words"; }
done
[ "$(grep -c 'no GPU is used' "$work/log")" -le 1 ] || { cat "$work/log"; fail 'each rank says that no GPU is used'; }

# Told to end, the first says how to go on: with as many ranks.
status=0
mpirun -n 2 sh "$work/by_rank" 0 "$(stop clock 30 INT "$work/note")" "$glcnn" train --data "$work/pictures" \
    --batch 4 --epochs 40 --out "$work/ended.safetensors" >"$work/log" 2>&1 </dev/null || status=$?
[ $status = 130 ] && grep -q 'of mpirun as before:$' "$work/log" &&
    grep -q "^  mpirun -n 2 glcnn train --resume $work/ended.safetensors " "$work/log" ||
    { cat "$work/log"; fail "ranks that are told to end do not say how to go on: status $status"; }

# ---- Averages of weights -----------------------------------------------------------------------------

# Each step averaged: stochastic gradient descent is linear, so this is a step with the mean.
train 3 averaged $lenet --average-every 1
near one averaged
train 3 averaged4 $lenet --average-every 4
(near one averaged4) >"$work/log" 2>&1 && fail 'weights are averaged more often than asked' || true
train 3 averaged4_again $lenet --average-every 4
same averaged4 averaged4_again

# ---- What goes wrong ---------------------------------------------------------------------------------

# refused STATUS-IS-NOT-0 PHRASE COMMAND...
refused() {
    phrase=$1
    shift
    ! "$@" >"$work/log" 2>&1 </dev/null || fail "$* succeeds"
    grep -q "$phrase" "$work/log" || { cat "$work/log"; fail "$* does not say \"$phrase\""; }
}
base="--data $work --net lenet --epochs 1"
refused 'a batch of 3 images is too small for 4 ranks' mpirun -n 4 "$glcnn" train $base --batch 3
refused 'averag' "$glcnn" train $base --sync-batch-norm --average-every 2
refused 'has different settings or data from rank' \
    mpirun -n 2 sh -c 'exec "$0" "$@" --seed "1${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"' \
    "$glcnn" train $base --batch 30

# A disk that is full at rank 0: the others say why they end, and the file is as it was.
mkdir "$work/full"
cp "$work/one.safetensors" "$work/full/model.safetensors"
! mpirun -n 3 sh "$work/by_rank" 0 "$(stop "$work/full/" 1 ENOSPC "$work/note")" \
    "$glcnn" train --force $base --batch 30 --out "$work/full/model.safetensors" >"$work/log" 2>&1 </dev/null || fail 'a full disk is no failure'
[ "$(grep -c '^glcnn train: rank [12]: .*rank 0 of 3 has failed: .*No space left on device' "$work/log")" = 2 ] ||
    { cat "$work/log"; fail 'not every rank says that the disk of rank 0 is full'; }
cmp "$work/one.safetensors" "$work/full/model.safetensors" || fail 'a full disk changes the checkpoint'

# One that dies: mpirun ends the others. Where it is told to let them live they give up by themselves;
# what it then returns is its own affair.
mkdir "$work/dead"
dying="--batch 30 --epochs 9 --rank-wait 10 --out $work/dead/model.safetensors"
for recovery in --enable-recovery --disable-recovery; do
    rm -f "$work/dead"/*
    status=0
    mpirun $recovery -n 3 sh "$work/by_rank" 2 "$(stop clock 400 KILL "$work/dead/note")" \
        "$glcnn" train $base $dying >"$work/log" 2>&1 </dev/null || status=$?
    [ -e "$work/dead/note" ] || fail 'no rank was killed'
    [ $recovery = --enable-recovery ] || [ $status != 0 ] || fail 'a dead rank is no failure'
    for n in 0 1; do
        [ $recovery = --disable-recovery ] || grep -q "^glcnn train: rank $n: .*nothing was heard of rank [0-9] of 3" "$work/log" ||
            { cat "$work/log"; fail "rank $n does not say that another has died"; }
    done
    "$glcnn" evaluate "$work/dead/model.safetensors" "$work" >"$work/log2" 2>&1 ||
        { cat "$work/log2"; fail 'the checkpoint of before is not whole'; }
done
echo 'several ranks train as one'
