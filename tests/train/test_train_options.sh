#!/bin/sh
# Options of glcnn train from outside, on a small data set made here: each changes the weights, a run
# that is stopped and resumed gives the bytes of one that was not, and what makes no sense is refused.
# That the numbers are PyTorch's is for test_options.c.
#
# Runs from the top of the tree, after a build in $O.

set -e
. tests/tool.sh

. tests/idx.sh
files train '\0\200' 128
files val '\0\50' 40

# train ARGUMENT...: two epochs of four steps; what it says is in $work/log.
net='--net lenet'
train() {
    "$glcnn" train --force --data "$work" --batch 32 $net --schedule constant --optimizer sgd --lr 0.02 \
        --weight-decay 0 --clip-norm 0 --augment none "$@" \
        >"$work/log" 2>&1 </dev/null || { cat "$work/log"; fail "train $* fails"; }
}
train --epochs 2 --out "$work/plain" --log "$work/plain.csv"

# Pictures of a network that normalises nothing are centred, which is said and kept with it; what is given counts.
values() {
    grep -aqF "\"model.mean\":\"$2\"" "$work/$1" && grep -aqF "\"model.deviation\":\"$3\"" "$work/$1" ||
        fail "$1: values are not less $2, divided by $3"
}
centred='values: --mean 0.5 --deviation 0.25, since lenet normalises nothing itself'
grep -qx -e "$centred" "$work/log" || fail 'nobody says that pictures are centred'
values plain 0.5 0.25
train --epochs 1 --limit 32 --mean 0 --deviation 1 --out "$work/raw"
! grep -q '^values: ' "$work/log" || fail 'what is given is said as if it were not'
values raw 0 1
net='--net small'
train --epochs 1 --limit 32 --out "$work/normalised"
values normalised 0 1
net='--net lenet'

# Networks that test_train.sh has not.
. tests/networks.sh
net=
for larger in resnet8 mobilenet-tiny; do
    check_network train $larger
done
net='--net lenet'

# changes NAME ARGUMENT...: the option makes other weights, the same in one run and in two.
changes() {
    name=$1
    shift
    train "$@" --epochs 2 --out "$work/$name" --log "$work/$name.csv"
    ! cmp -s "$work/plain.csv" "$work/$name.csv" || fail "$*: changes nothing"
    train "$@" --epochs 1 --out "$work/parts" --log "$work/parts.csv"
    "$glcnn" train --data "$work" --resume "$work/parts" --epochs 2 --out "$work/parts" \
        --log "$work/parts.csv" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*: no resuming"; }
    cmp "$work/$name" "$work/parts" || fail "$*: a resumed run gives other weights"
    cmp "$work/$name.csv" "$work/parts.csv" || fail "$*: a resumed run logs other losses"
}

# refused STATUS WORDS ARGUMENT...: ends with the status and a message that has the words.
refused() {
    wanted=$1 words=$2 status=0
    shift 2
    "$glcnn" train --data "$work" "$@" >"$work/log" 2>&1 </dev/null || status=$?
    [ $status = "$wanted" ] || fail "$*: the status is $status, not $wanted"
    grep '^glcnn train: ' "$work/log" | grep -qF -e "$words" ||
        { cat "$work/log"; fail "$*: no word of it"; }
}

# ---- Optimizers ------------------------------------------------------------------------------------

changes decay --weight-decay 1
changes decay_adam --optimizer adam --weight-decay 1
train --optimizer adam --epochs 2 --log "$work/adam.csv"
! cmp -s "$work/adam.csv" "$work/decay_adam.csv" || fail 'adam has no weight decay'
changes nesterov --nesterov
refused 2 '--nesterov needs --optimizer sgd, and this run has adam: leave --nesterov out, or add' --nesterov
refused 2 '--time and --epochs cannot be given together' --time 1m --epochs 3
refused 2 '--time is "5x"; it must be a whole number in 1 .. 31536000, of seconds' --time 5x
refused 2 '--time is "0"' --time 0
refused 1 '--nesterov differs; the run began with "0"' --resume "$work/plain" --nesterov --epochs 3
refused 2 '--weight-decay is "-1"' --weight-decay -1
# Files from before have neither.
sed 's/glcnn\.crc64/glcnn.crc00/; 1s/"weight-decay":/"weight_decay":/; 1s/"nesterov":/"nezterov":/' \
    "$work/plain" >"$work/old"
train --resume "$work/old" --epochs 3

# ---- Averages --------------------------------------------------------------------------------------

# column NUMBER NAME: of that run's log.
column() {
    cut -d , -f "$1" "$work/$2.csv"
}
changes ema --ema 0.9
grep -q '^epoch 2 of 2: .*; validation loss [0-9.]*, accuracy [0-9.]* (without averages loss [0-9.]*, accuracy [0-9.]*); ' \
    "$work/log" || { cat "$work/log"; fail 'an epoch does not print what both give'; }
changes ema_adam --ema 0.7 --optimizer adam --limit 96
# What trains does not know of them; what is validated and saved is them.
[ "$(column 4 plain)" = "$(column 4 ema)" ] || fail 'averages change what trains'
! cmp -s "$work/plain" "$work/ema" || fail 'averages are not saved'
"$glcnn" evaluate "$work/ema" "$work" >"$work/log" 2>&1 || { cat "$work/log"; fail 'evaluate fails'; }
"$glcnn" evaluate "$work/plain" "$work" >"$work/plain.log" 2>&1
loss=$(sed -n 's/^accuracy .*loss \([0-9.]*\) .*/\1/p' "$work/log")
[ "$loss" != "$(sed -n 's/^accuracy .*loss \([0-9.]*\) .*/\1/p' "$work/plain.log")" ] || fail 'averages are not those of the file'
tail -n 1 "$work/ema.csv" | cut -d , -f 6 | awk -v loss="$loss" '{ exit !($1 - loss < 6e-5 && loss - $1 < 6e-5) }' ||
    fail 'what is saved is not what was validated'
# A run that goes on without them has what trains.
train --resume "$work/ema" --ema 0 --epochs 3 --log "$work/without.csv" --out "$work/without"
train --resume "$work/plain" --epochs 3 --log "$work/more.csv" --out "$work/more"
[ "$(column 4 more)" = "$(column 4 without)" ] || fail 'averages train on'
[ "$(column 6 more)" = "$(column 6 without)" ] || fail 'averages are validated that nobody asked for'
if "$glcnn" help train | grep -q -e --average-every=; then
    refused 2 "--ema needs ranks that step together" --ema 0.9 --average-every 3
fi
refused 2 '--ema is "1.5"' --ema 1.5
# Averages that never move, rates of 0 and the like learn nothing.
refused 2 '--ema is "1"; it must be a number at least 0 and below 1' --ema 1
refused 2 '--lr is "0"; it must be a number above 0 and at most 1000000000' --lr 0
refused 2 '--decay is "0"; it must be a number above 0 and at most 1' --decay 0
refused 2 '--label-smoothing is "1"; it must be a number at least 0 and below 1' --label-smoothing 1
refused 2 '--validation is "1"; it must be a number at least 0 and below 1' --validation 1
refused 2 '--augment cutout=56 covers all of a picture of 28x28' --augment cutout=56
refused 2 '--weight-decay 50 times the learning rate of 0.02 is 1: a step would take all' --optimizer sgd --lr 0.02 --weight-decay 50
# A file without what trains goes on from its averages.
sed 's/glcnn\.crc64/glcnn.crc00/; 1s/"glcnn\.trained"/"glcnn.trainex"/' "$work/ema" >"$work/old"
train --resume "$work/old" --epochs 3

# ---- Accumulation ----------------------------------------------------------------------------------

# near NAME: losses and accuracies of a run are those of the plain one, up to rounding.
near() {
    paste -d , "$work/plain.csv" "$work/$1.csv" | sed 1d | awk -F , '
        { for (i = 1; i <= 7; i++) { off = $i - $(i + 7); if (off > 1e-4 || off < -1e-4) exit 1 } }
        END { exit NR != 8 }' || fail "$1 is not as plain"
}
changes fourths --batch 8 --accumulate 4
near fourths
changes halves --batch 16 --accumulate 2 --optimizer adam --weight-decay 0.1 --ema 0.9 --augment mixup=0.3 \
    --clip-norm 0.1
# Statistics of normalisations are those of a batch.
net='--net small'
train --epochs 1 --log "$work/small.csv"
train --epochs 1 --batch 8 --accumulate 4 --log "$work/smalls.csv"
sed -n 2p "$work/small.csv" | cut -d , -f 4 >"$work/once"
sed -n 2p "$work/smalls.csv" | cut -d , -f 4 | cmp -s - "$work/once" && fail 'all of a step is normalised'
# What does not fill a step is left out: 3 of 40 images each. A loss scale follows steps.
train --epochs 2 --batch 10 --accumulate 4 --precision float16 --out "$work/scaled" --log "$work/scaled.csv"
grep -q '3 steps of 40 images an epoch, in 4 batches of 10$' "$work/log" || fail 'steps are not told'
[ "$(wc -l <"$work/scaled.csv")" = 7 ] || fail 'a line is not a step'
LC_ALL=C grep -aq '"run.good_steps":"6"' "$work/scaled" || fail 'the loss scale does not count steps'
net='--net lenet'
train --find-lr --batch 8 --accumulate 4
refused 2 '--accumulate is "0"; it must be a whole number in 1 .. 4096' --accumulate 0
refused 1 'a step of 144 images is more than the 128 available; lower --batch or --accumulate' \
    --net lenet --batch 8 --accumulate 18
refused 1 '--accumulate differs; the run began with "4"' --resume "$work/fourths" --accumulate 2 --epochs 3
sed 's/glcnn\.crc64/glcnn.crc00/; 1s/"accumulate":/"accumulatx":/' "$work/plain" >"$work/old"
train --resume "$work/old" --epochs 3 --log "$work/old.csv"
train --resume "$work/plain" --epochs 3 --log "$work/more.csv"
cmp "$work/old.csv" "$work/more.csv" || fail 'files of before are not of one batch a step'

# ---- Targets ---------------------------------------------------------------------------------------

changes smoothing --label-smoothing 0.2
# Classes 0 to 7 are equally many: balanced weights are 1, to the bit, and those of a list are not.
train --class-weights balanced --epochs 2 --log "$work/balanced.csv"
cmp "$work/plain.csv" "$work/balanced.csv" || fail 'balanced weights of equal classes are not 1'
changes weights --class-weights 1,1,1,1,1,1,1,9
changes both --label-smoothing 0.2 --class-weights 1,1,1,1,1,1,1,9
# Weights that are all 2 double the loss of the first step; validation knows neither.
train --class-weights 2 --epochs 2 --lr 1e-60 --log "$work/double.csv"
train --epochs 2 --lr 1e-60 --log "$work/single.csv"
[ "$(column 6 single)" = "$(column 6 double)" ] || fail 'weights of classes change what validates'
sed -n 2p "$work/single.csv" | cut -d , -f 4 >"$work/once"
sed -n 2p "$work/double.csv" | cut -d , -f 4 | awk -v once="$(cat "$work/once")" \
    '{ exit !($1 / once > 1.99999 && $1 / once < 2.00001) }' || fail 'weights of 2 do not double the loss'
# Features of frozen layers learn the same targets.
net=
train --model "$work/plain" --train last --epochs 1 --log "$work/last.csv" --feature-cache off
train --model "$work/plain" --train last --epochs 1 --label-smoothing 0.5 --log "$work/smooth.csv" \
    --feature-cache off
net='--net lenet'
! cmp -s "$work/last.csv" "$work/smooth.csv" || fail 'the last layer learns labels that are not smoothed'
refused 2 '--label-smoothing is "2"' --label-smoothing 2
refused 2 '--class-weights is "1,2"; it must be balanced, or 8 numbers above 0' --class-weights 1,2
refused 2 '--class-weights is "balance"' --class-weights balance
for option in '--label-smoothing 0.1' '--class-weights balanced' '--augment mixup=1'; do
    refused 2 'need --task classify; this run has regress' --task regress --net lenet $option
done
refused 1 '--class-weights differs; the run began with "none"' --resume "$work/plain" \
    --class-weights balanced --epochs 3

# ---- Mixing ----------------------------------------------------------------------------------------

changes mixup --augment mixup=0.3
changes cutmix --augment flip,cutmix=1,crop=2 --label-smoothing 0.1
changes mixed --augment cutmix=1,mixup=0.3,noise=0.1 --mean 0.3 --deviation 0.4
# Where weights stay, what validates is not mixed; mixed pictures have other losses in each epoch.
train --epochs 2 --lr 1e-60 --augment mixup=1 --log "$work/stay.csv"
[ "$(column 6 single)" = "$(column 6 stay)" ] || fail 'pictures that validate are mixed'
[ "$(column 4 single)" != "$(column 4 stay)" ] || fail 'mixing changes no loss'
# One batch has all pictures: the epochs differ by what is drawn.
train --epochs 2 --batch 128 --lr 1e-60 --augment cutmix=1 --log "$work/drawn.csv"
[ "$(sed -n 2p "$work/drawn.csv" | cut -d , -f 4)" != "$(sed -n 3p "$work/drawn.csv" | cut -d , -f 4)" ] ||
    fail 'each epoch mixes the same way'
# Frozen layers see mixed pictures, and the layers behind them their labels: both ways are the same.
net=
train --model "$work/plain" --train last --epochs 1 --augment mixup=1 --log "$work/frozen.csv"
grep -q 'computed in each step, because of --augment' "$work/log" || fail 'features of mixed pictures are kept'
! cmp -s "$work/last.csv" "$work/frozen.csv" || fail 'frozen layers see no mixed pictures'
train --model "$work/plain" --lr 1e-60 --epochs 1 --augment mixup=1 --log "$work/unfrozen.csv"
train --model "$work/plain" --train last --lr 1e-60 --epochs 1 --augment mixup=1 --log "$work/frozen.csv"
paste -d , "$work/frozen.csv" "$work/unfrozen.csv" | sed 1d | awk -F , \
    '{ off = $4 - $11; if (off > 1e-5 * $4 || off < -1e-5 * $4) exit 1 } END { exit NR != 4 }' ||
    fail 'frozen layers change what is mixed'
net='--net lenet'
refused 2 '--augment: mixup is "200"; it must be a number in 0 .. 100' --augment mixup=200
refused 1 'augment differs; the run began with "mixup=0.3"' --resume "$work/mixup" --augment mixup=0.4 --epochs 3

refused 2 '--augment mosaic needs --task detect; this run has classify' --net lenet --augment mosaic

# ---- A learning rate -------------------------------------------------------------------------------

# One that is found is in the table's least line or beside it, the same each time, and nothing is
# written.
ls -l --time-style=full-iso "$work" | grep -v ' log$' >"$work.before"
for i in 1 2; do
    train --find-lr --out "$work/found" --log "$work/found.csv" --plot "$work/found.svg" \
        --feature-cache "$work/found.features"
    sed -n '/^learning rate *loss/,$p' "$work/log" >"$work.found$i"
done
ls -l --time-style=full-iso "$work" | grep -v ' log$' | cmp - "$work.before" || fail '--find-lr writes a file'
cmp "$work.found1" "$work.found2" || fail '--find-lr finds another rate each time'
[ "$(sed -n '$p' "$work.found1" | grep -c '^the loss is least at [0-9.e+-]*; try --lr [0-9.e+-]*$')" = 1 ] ||
    { cat "$work.found1"; fail 'no rate is suggested'; }
awk '/^ *[0-9]/ { if (rows++ && $1 <= last) exit 1; last = $1; if (rows == 1 || $2 < least) { least = $2; at = $1 }; loss = $2 }
    /^the loss/ { sub(";", "", $6); if ($6 < at / 4 || $6 > at * 4 || $9 < $6 / 10.6 || $9 > $6 / 9.4) exit 1; told = 1 }
    END { exit !(told && rows > 8 && least < loss) }' "$work.found1" ||
    { cat "$work.found1"; fail 'what is suggested does not follow from the table'; }
train --lr "$(sed -n 's/.*--lr //p' "$work.found1")" --epochs 4
rm -f "$work".*

# ---- The rate of layers before the head ------------------------------------------------------------

# values FILE NAME: the bytes of a tensor of a .safetensors file, as a sum.
values() {
    size=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    range=$(tail -c +9 "$1" | head -c "$size" | tr '{' '\n' | grep -A1 "\"$2\":\$" | tail -n 1 |
        sed -n 's/.*"data_offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p')
    [ -n "$range" ] || fail "$1 has no $2"
    tail -c +$((9 + size + ${range% *})) "$1" | head -c $((${range#* } - ${range% *})) | cksum
}
# After a step of sgd the head has the weights of a run by the whole rate, the layers before it those of a
# run by half of it.
net=
for run in 'whole --lr 0.5' 'half --lr 0.25' 'both --lr 0.5 --backbone-lr 0.5'; do
    train --model "$work/plain" --limit 32 --epochs 1 ${run#* } --out "$work/${run%% *}"
done
grep -q '^learning rate: of the 4 layers before the head 0.5 of it' "$work/log" || fail 'nobody says how fast layers learn'
for layer in convolution_0 convolution_1 fully_connected_0 fully_connected_1 fully_connected_2; do
    like=half
    [ $layer != fully_connected_2 ] || like=whole
    for vector in weights biases; do
        [ "$(values "$work/both" $layer.$vector)" = "$(values "$work/$like" $layer.$vector)" ] ||
            fail "--backbone-lr 0.5: $layer.$vector is not as by the $like rate"
        [ "$(values "$work/whole" $layer.$vector)" != "$(values "$work/half" $layer.$vector)" ] ||
            fail "$layer.$vector does not follow the rate"
    done
done
# A resumed run has the rate that the file keeps.
net="--model $work/plain"
changes slow --backbone-lr 0.3
changes slow_adam --optimizer adam --weight-decay 0.1 --backbone-lr 0.01
grep -q 'before the head 0.01 of it' "$work/log" || fail 'a resumed run does not say how fast layers learn'
net='--net lenet'
refused 2 '--backbone-lr needs --model or --load-matching' --net lenet --backbone-lr 0.1
refused 2 'none of them trains' --model "$work/plain" --train last --backbone-lr 0.1
refused 2 '--backbone-lr is "0"; it must be a number above 0 and at most 1' --model "$work/plain" --backbone-lr 0

# ---- Unfreezing ------------------------------------------------------------------------------------

# unfreeze NAME ARGUMENT...: three epochs of a network of a file, of which the last trains all layers;
# the same bits in one run and in several, stopped before the change, at it and behind it.
net=
unfreeze() {
    name=$1
    shift
    train --model "$work/plain" --train last --epochs 3 --unfreeze-after 2 "$@" --out "$work/$name" --log "$work/$name.csv"
    grep -q '^layers: all 5 train from now on$' "$work/log" || fail 'nobody says that layers are unfrozen'
    train --model "$work/plain" --train last --epochs 1 --unfreeze-after 2 "$@" --out "$work/parts" --log "$work/parts.csv"
    for epochs in 2 3 4; do
        "$glcnn" train --data "$work" --resume "$work/parts" --epochs $epochs --out "$work/parts" --log "$work/parts.csv" \
            >"$work/log" 2>&1 || { cat "$work/log"; fail "$*: no resuming at epoch $epochs"; }
        [ $epochs != 3 ] || cmp "$work/$name" "$work/parts" || fail "$*: a resumed run unfreezes other weights"
        [ $epochs != 3 ] || cmp "$work/$name.csv" "$work/parts.csv" || fail "$*: a resumed run logs other losses"
    done
}
unfreeze unfrozen
unfreeze unfrozen_adam --optimizer adam --augment flip,mixup=0.2 --weight-decay 0.1
# Two epochs are those of a run that keeps layers frozen; the third is not.
train --model "$work/plain" --train last --epochs 3 --out "$work/kept" --log "$work/kept.csv"
[ "$(head -n 9 "$work/kept.csv")" = "$(head -n 9 "$work/unfrozen.csv")" ] || fail 'layers are unfrozen too early'
[ "$(tail -n 3 "$work/kept.csv")" != "$(tail -n 3 "$work/unfrozen.csv")" ] || fail 'no layer is unfrozen'
net='--net lenet'
refused 2 '--unfreeze-after needs layers that are frozen' --unfreeze-after 2
refused 1 '--unfreeze-after differs; the run began with "2"' --resume "$work/unfrozen" --unfreeze-after 3 --epochs 5
