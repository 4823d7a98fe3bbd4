#!/bin/sh
# glcnn train, evaluate and predict from outside, on a small data set made here: networks make a few steps,
# the larger ones in test_train_options.sh; a run that is stopped and resumed gives the bytes of one that
# was not, a killed one leaves a checkpoint that loads, one that diverges leaves it as it was, a model
# classifies, and what makes no sense is refused with a message.
#
# Runs from the top of the tree, after a build in $O. CC may be given.

set -e
. tests/tool.sh
for name in stop watch; do
    $cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/$name.so" tests/preload/$name.c -ldl
done

. tests/idx.sh
files train '\1\54' 300
files val '\0\50' 40

# train ARGUMENT...: what it says is in $work/log. A run that begins descends, by a rate that is known.
descent='--optimizer sgd --lr 0.02 --weight-decay 0 --clip-norm 0 --augment none'
train() {
    case " $* " in *' --resume '*) begins= ;; *) begins=$descent ;; esac
    "$glcnn" train --force --data "$work" --batch 32 --limit 128 --epochs 1 $begins "$@" >"$work/log" 2>&1 </dev/null
}
must_train() {
    train "$@" || { cat "$work/log"; fail "train $* fails"; }
}

# ---- Networks; plot, log ----------------------------------------------------------------------------

. tests/networks.sh
for net in lenet small; do
    check_network must_train $net
done

# ---- Resuming --------------------------------------------------------------------------------------

# resume ARGUMENT...: two epochs at once, and one and then another, by a learning rate that does not
# follow from how many there are.
resume() {
    set -- --decay 0.3 "$@"
    must_train "$@" --epochs 2 --out "$work/whole" --log "$work/whole.csv"
    must_train "$@" --epochs 1 --out "$work/parts" --log "$work/parts.csv"
    ! cmp -s "$work/whole" "$work/parts" || fail "$*: the second epoch changes nothing"
    "$glcnn" train --data "$work" --resume "$work/parts" --epochs 2 --out "$work/parts" \
        --log "$work/parts.csv" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*: no resuming"; }
    cmp "$work/whole" "$work/parts" || fail "$*: a resumed run gives other weights"
    cmp "$work/whole.csv" "$work/parts.csv" || fail "$*: a resumed run logs other losses"
}
resume --net small
resume --net small --optimizer adam
resume --net lenet --optimizer rmsprop
resume --net small --optimizer adam --precision float16
LC_ALL=C grep -aq '"run.good_steps":"8"' "$work/whole" || fail 'the checkpoint has no loss scale'
grep -q 'MiB, float16$' "$work/log" || fail 'nothing says how images are stored'
grep -q '^loss scale: 65536; 0 steps were skipped$' "$work/log" || fail 'nothing tells the loss scale'
"$glcnn" train --data "$work" --resume "$work/whole" --precision float32 --epochs 3 >"$work/log" 2>&1 &&
    fail 'a run goes on in another precision'
grep -q -- '--precision differs' "$work/log" || { cat "$work/log"; fail 'another precision has no message'; }
resume --net small --schedule step --warmup 1.5 --clip 0.01 --patience 9
! cmp -s "$work/whole.csv" "$work/small.csv" || fail 'schedule and clipping change nothing'
rates=$(awk -F , 'NR > 1 { printf "%.5f ", $3 }' "$work/whole.csv")
[ "$rates" = '0.00333 0.00667 0.01000 0.01333 0.00500 0.00600 0.00600 0.00600 ' ] ||
    fail 'the learning rate does not rise, fall and stay as it should'
resume --net small --batch 16 --memory 4M \
    --augment flip,crop=4,rotate=15,scale=0.1,brightness=0.2,contrast=0.2,noise=0.05,cutout=8
resume --net small --mean 0.3 --deviation 0.4 --clip-norm 0.5 --augment cutout=20
LC_ALL=C grep -aq '"run.augment":"cutout=20"' "$work/whole" || fail 'the checkpoint has no words of augmentation'
cp "$work/whole" "$work/cutout"
must_train --net small --epochs 2 --seed 2 --out "$work/other"
must_train --net small --epochs 2 --out "$work/small"
! cmp -s "$work/small" "$work/other" || fail 'another seed gives the same weights'

# ---- Learning rates --------------------------------------------------------------------------------

# rates EPOCHS ARGUMENT...: those of a run of four steps an epoch.
rates() {
    epochs=$1
    shift
    must_train --net lenet --epochs "$epochs" --log "$work/rates.csv" "$@"
    sed 1d "$work/rates.csv"
}
# follow EPOCHS FACTOR: whether those in $work/found are what the formula gives for each step, t epochs
# in, with d what leaves 0.3 at the end, as float32.
follow() {
    awk -F , -v epochs="$1" "BEGIN { pi = atan2(0, -1); d = 0.3 ^ (1 / epochs); w = epochs > 100 ? 5 : epochs / 20 }
        {
            t = (NR - 1) / 4
            rise = NR / 4 < w ? NR / 4 / w : 1
            rate = 0.02 * ($2)
            off += \$3 < 0.9999998 * rate || \$3 > 1.0000002 * rate
        }
        END { exit off || NR != 4 * epochs }" "$work/found"
}
for epochs in 2 24; do
    rates $epochs >"$work/found"
    follow $epochs '(1 + cos(pi * t / epochs)) / 2 * rise' ||
        fail "the rates of $epochs epochs are not those of a cosine over all of them"
    rates $epochs --schedule exponential >"$work/found"
    follow $epochs 'd ^ t' || fail "the rate does not fall to 0.3 in $epochs epochs"
    rates $epochs --decay 0.5 >"$work/found"
    follow $epochs '0.5 ^ t' || fail 'an epoch does not leave what --decay says'
    grep -q "^schedule: exponential over $epochs epochs, learning rate 0.02, times 0.5 an epoch$" "$work/log" ||
        fail 'the schedule is not told'
done

# Another length is told, with what it was and how far the rate jumps; the same is not.
must_train --net lenet --epochs 2 --out "$work/short"
grep -q '^schedule: cosine over 2 epochs, 0.1 epochs of warm-up, learning rate 0.02$' "$work/log" ||
    fail 'the schedule is not told'
cp "$work/short" "$work/longer"
# A run that has all its epochs trains nothing, says so and writes nothing.
must_train --resume "$work/longer" --epochs 1 --out "$work/longer" --log "$work/longer.csv" --plot "$work/longer.svg"
grep -qx "glcnn train: $work/longer has completed all 2 epochs; give more with --epochs" "$work/log" ||
    { cat "$work/log"; fail 'nobody says that nothing is left to train'; }
cmp "$work/short" "$work/longer" || fail 'a run that trains nothing writes its checkpoint'
[ ! -e "$work/longer.csv" ] && [ ! -e "$work/longer.svg" ] || fail 'a run that trains nothing writes files'
must_train --resume "$work/longer" --epochs 6 --out "$work/longer"
sed -n '/^schedule/p; /^learning rate/p' "$work/log" >"$work/found"
cat >"$work/wanted" <<'END'
schedule: cosine over 6 epochs, 0.1 epochs of warm-up, learning rate 0.02
schedule before: cosine over 2 epochs, 0.1 epochs of warm-up, learning rate 0.02
learning rate: 0.000761 in step 8, 0.015 from step 9 on
END
cmp "$work/wanted" "$work/found" || fail 'a jump of the learning rate is not told'
must_train --resume "$work/short" --schedule constant --lr 0.001 --epochs 3
grep -q '^learning rate: 0.000761 in step 8, 0.001 from step 9 on$' "$work/log" ||
    fail 'another schedule is not told'

# losses NUMBER ARGUMENT...: the column of that number of a log of two epochs of lenet, whose weights
# are all that it has.
losses() {
    column=$1
    shift
    must_train --net lenet --epochs 2 --log "$work/column.csv" "$@"
    cut -d , -f "$column" "$work/column.csv"
}
# Where weights stay, training sees other pictures in each epoch, and validation those of the data.
losses 4 --lr 1e-60 >"$work/plain"
losses 6 --lr 1e-60 >"$work/plain_validation"
losses 4 --lr 1e-60 --augment crop=3,noise=0.1 >"$work/augmented"
losses 6 --lr 1e-60 --augment crop=3,noise=0.1 >"$work/augmented_validation"
! cmp -s "$work/plain" "$work/augmented" || fail 'augmentation changes nothing'
cmp "$work/plain_validation" "$work/augmented_validation" || fail 'what validates is augmented'

# One batch has all pictures: the mean of their losses is that of any order.
[ "$(losses 4 --lr 1e-60 --limit 32 | tail -n 2 | cut -c 1-6 | uniq | wc -l)" = 1 ] ||
    fail 'the same pictures have other losses in another epoch'
[ "$(losses 4 --lr 1e-60 --limit 32 --augment noise=0.3 | tail -n 2 | cut -c 1-6 | uniq | wc -l)" = 2 ] ||
    fail 'augmentation is the same in each epoch'

# A norm that no gradient has changes nothing; one of nearly nothing lets the weights stay.
losses 4 --lr 0.1 >"$work/free"
losses 4 --lr 0.1 --clip-norm 1e6 >"$work/wide"
losses 4 --lr 0.1 --clip-norm 1e-12 >"$work/tight"
cmp "$work/free" "$work/wide" || fail 'gradients of a small norm are clipped'
cmp "$work/plain" "$work/tight" || fail 'gradients of a large norm are not clipped'
! cmp -s "$work/free" "$work/tight" || fail 'nothing was learned that clipping could keep back'

# Seeds that are one number as a double.
for seed in 18446744073709551614 18446744073709551615; do
    must_train --net small --limit 32 --seed $seed --out "$work/seed$seed"
    grep -aq "\"run.seed\":\"$seed\"" "$work/seed$seed" || fail "the seed $seed is not in the checkpoint"
    # Behind the header, which has the seed, are the weights, and then what the network is.
    tail -c 20000 "$work/seed$seed" | head -c 1000 >"$work/tail$seed"
done
! cmp -s "$work"/tail* || fail 'seeds of 64 bits that differ in the last give the same weights'

# stopped HOW COUNT ARGUMENT...: trains until the program has read the clock so often, which each
# step does; then it is killed, or gets the signal of Ctrl-C. The checkpoint loads.
stopped() {
    how=$1 count=$2 status=0
    shift 2
    rm -f "$work/note" "$work/stopped"
    env LD_PRELOAD="$work/stop.so" STOP_CALLS=clock STOP_BY="$how" STOP_AT="$count" \
        STOP_NOTE="$work/note" "$glcnn" train --force --data "$work" $descent --out "$work/stopped" "$@" \
        >"$work/log" 2>&1 </dev/null || status=$?
    [ -e "$work/note" ] || fail "SIG$how was not sent"
    "$glcnn" predict "$work/stopped" "$work/val-images-idx3-ubyte.gz" >/dev/null 2>"$work/err" ||
        { cat "$work/err"; fail "after SIG$how the checkpoint does not load"; }
}
for count in 2 9 17; do
    stopped KILL $count --epochs 10000
    [ $status = 137 ] || fail "after SIGKILL the status is $status"
done

# A killed run goes on from its last checkpoint: the bytes and the log are those of a run that was
# not. Wherever the kill was, the log has lines behind the checkpoint, and a torn one.
stopped KILL 13 --batch 32 --limit 128 --epochs 3 --log "$work/stopped.csv"
printf '11,3,0.5,0.5,\n12,3,0.0' >>"$work/stopped.csv"
ln -s stopped.csv "$work/link.csv"
"$glcnn" train --data "$work" --resume "$work/stopped" --out "$work/stopped" --epochs 3 \
    --log "$work/link.csv" >"$work/log" 2>&1 || { cat "$work/log"; fail 'no resuming after a kill'; }
must_train --epochs 3 --out "$work/whole" --log "$work/whole.csv"
cmp "$work/stopped" "$work/whole" || fail 'a killed run goes on differently'
cmp "$work/stopped.csv" "$work/whole.csv" || fail 'the log of a killed run goes on differently'
[ -L "$work/link.csv" ] || fail 'a log replaces a link'

# Lines are on the disk before the checkpoint that has their steps. Checkpoints of the minute go by a
# clock that nobody sets: one for each step here, one at the start and one at the end of each epoch.
WATCH_LIST=$work/list CLOCK_STEP=61 LD_PRELOAD=$work/watch.so "$glcnn" train --data "$work" --net lenet \
    --batch 32 --limit 128 --epochs 2 --out "$work/watched" --log "$work/watched.csv" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'a run that is watched fails'; }
[ "$(grep -c "^rename $work/watched$" "$work/list")" = 9 ] ||
    { cat "$work/list"; fail 'a checkpoint of the minute is not written'; }
awk -v work="$work" '$0 == "fsync " work "/watched.csv" { lines++ }
    $0 == "rename " work "/watched" { files++; if (files > 1 && lines < files - 1) exit 1 }
    END { if (files < 9) exit 1 }' "$work/list" || fail 'a checkpoint is there before the lines of its steps'

# A log that has lost lines says so.
must_train --net lenet --epochs 2 --out "$work/holed" --log "$work/holed.csv"
must_train --resume "$work/holed" --epochs 3 --out "$work/holed" --log "$work/holed.csv"
! grep -q 'lines are missing' "$work/log" || fail 'lines are missing where none are'
sed -i '12,$d' "$work/holed.csv"
must_train --resume "$work/holed" --epochs 4 --out "$work/holed" --log "$work/holed.csv"
grep -q "^glcnn train: $work/holed.csv: lines are missing, of steps 11 to 12; " "$work/log" ||
    { cat "$work/log"; fail 'a hole at the end of a log is not told'; }
sed -i '/^[456],/d' "$work/holed.csv"
must_train --resume "$work/holed" --epochs 5 --out "$work/holed" --log "$work/holed.csv"
grep -q 'holed.csv: lines are missing, of steps 4 to 12; ' "$work/log" || fail 'a hole within a log is not told'

# Stopped within epochs of 75 steps: the rest, which settings of the checkpoint alone say, gives the
# same bytes, of the best epoch's network too.
settings="$descent --batch 4 --epochs 2 --schedule cosine --warmup 0.5 --clip 0.5 --patience 3"
"$glcnn" train --force --data "$work" $settings --out "$work/whole" >"$work/log" 2>&1
for signal in INT TERM HUP; do
    stopped $signal 60 $settings
    [ $status = 130 ] || { cat "$work/log"; fail "after SIG$signal the status is $status"; }
    step=$(LC_ALL=C sed -n '1s/.*"run\.step":"\([0-9]*\)".*/\1/p' "$work/stopped")
    [ "$step" -gt 0 ] && [ "$step" -lt 150 ] || fail "SIG$signal stopped the run after $step of 150 steps"
    "$glcnn" train --data "$work" --resume "$work/stopped" --out "$work/stopped" >"$work/log" 2>&1
    for part in '' .best; do
        cmp "$work/stopped$part" "$work/whole$part" ||
            fail "a run stopped by SIG$signal goes on differently"
    done
done
# What it says to go on with does that.
mkdir "$work/it's here"
ln -s "$work/stopped" "$work/it's here/link"
stopped INT 60 $settings --threads 2 --wait 290 --verbose --out "$work/it's here/link"
grep -q "^interrupted: $work/it's here/link has step [0-9]* of 150; to continue:$" "$work/log" ||
    { cat "$work/log"; fail 'after Ctrl-C nobody says what was saved'; }
grep '^  glcnn train --resume' "$work/log" >"$work/line"
grep -q -- "--threads 2 --out '$work/it'.''s here/link' --wait 290 --verbose\$" "$work/line" ||
    { cat "$work/line"; fail 'the command to go on with leaves something out'; }
glcnn() {
    "$glcnn" "$@"
}
. "$work/line" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the command to go on with fails'; }
cmp "$work/stopped" "$work/whole" || fail 'the command to go on with gives other weights'

# nohup's SIGHUP stays ignored.
(trap '' HUP; stopped HUP 8 --batch 32 --limit 64 --epochs 1; [ $status = 0 ]) || fail 'an ignored SIGHUP stops the run'

# ---- The best epoch, and patience ------------------------------------------------------------------

# With a learning rate that is 0 as a float32, and nothing but weights, every epoch is like the first: it stays the
# best one.
must_train --net lenet --lr 1e-60 --warmup 0 --epochs 9 --patience 2 --out "$work/patient" --log "$work/patient.csv"
grep -q 'stopped: no better accuracy in 2 epochs' "$work/log" || fail 'patience is not spoken of'
grep -q 'best: epoch 1, ' "$work/log" || fail 'the best epoch is not named'
[ "$(wc -l <"$work/patient.csv")" = 13 ] || fail 'patience did not end the run after three epochs'
! LC_ALL=C grep -aq '"run\.' "$work/patient.best" || fail 'the best network has what a run needs'
LC_ALL=C grep -aq '"run.step":"12"' "$work/patient" || fail 'the last network is not of the third epoch'
"$glcnn" train --data "$work" --resume "$work/patient" --out "$work/patient" >"$work/log" 2>&1
LC_ALL=C grep -aq '"run.step":"12"' "$work/patient" || fail 'a run without patience left goes on'
must_train --net lenet --lr 1e-60 --warmup 0 --epochs 1 --patience 2 --out "$work/parts"
"$glcnn" train --data "$work" --resume "$work/parts" --epochs 9 --out "$work/parts" >"$work/log" 2>&1
cmp "$work/patient" "$work/parts" || fail 'patience is not resumed'

# ---- Divergence ------------------------------------------------------------------------------------

grows='the loss is [0-9.e+]*, more than 100 times [0-9.]*, that of the first step: training diverges; a lower --lr'
node='the loss is .*, not finite; the first result that is not finite is that of [a-z_]*_[0-9]'
# diverges WORDS ARGUMENT...: ends with 1 and these words behind the step, and leaves the files as they were.
diverges() {
    words=$1
    shift
    cp "$work/small" "$work/kept" && cp "$work/small" "$work/kept.best" && status=0
    train --resume "$work/kept" --epochs 40 --out "$work/kept" "$@" || status=$?
    [ $status = 1 ] || { cat "$work/log"; fail "$*: a training that diverges ends with $status"; }
    grep -q "^glcnn train: step [0-9]*: $words" "$work/log" ||
        { cat "$work/log"; fail "$*: not in these words: $words"; }
    grep -q "kept is unchanged" "$work/log" || fail "$*: what is kept is not named"
    cmp -s "$work/small" "$work/kept" || fail "$*: the checkpoint was written over"
    cmp -s "$work/small" "$work/kept.best" || fail "$*: the best checkpoint was written over"
}
diverges "$grows" --lr 1e6
cp "$work/small" "$work/single"
must_train --net lenet --out "$work/small"
diverges "$node" --lr 1e9
must_train --net small --epochs 2 --precision float16 --out "$work/small"
diverges "$node" --lr 1e9
mv "$work/single" "$work/small"
rm -f "$work/new"
train --lr 1e6 --epochs 40 --out "$work/new" && fail 'a new run that diverges does not fail'
grep -q "new still has the network of step 0" "$work/log" || fail 'what is kept is not named'
cp "$work/small" "$work/kept"
train --lr 1e6 --epochs 40 --out "$work/kept" && fail 'a new run over a file that diverges does not fail'
cmp -s "$work/small" "$work/kept" || fail 'a new run that diverges destroys what was there'
status=0
train --lr 1e6 --epochs 40 || status=$?
[ $status = 1 ] && grep -q "$grows" "$work/log" || fail 'without --out divergence is not told'
must_train --limit 32
grep -q 'checkpoints: none, .*; give --out' "$work/log" && grep -q '^not saved; give --out' "$work/log" ||
    fail 'nobody says that nothing is saved'

# ---- Evaluating ------------------------------------------------------------------------------------

cp "$work/small" "$work/longer"
must_train --resume "$work/longer" --epochs 9 --out "$work/longer"
"$glcnn" evaluate "$work/longer" "$work" --plot "$work/matrix.svg" >"$work/table" 2>"$work/err" ||
    fail 'evaluate fails'
grep -q '^accuracy [01]\.[0-9]*, loss [0-9.]* on 40 images of the validation part$' "$work/table" ||
    fail 'evaluate has no accuracy'
grep -q '^[0-9]* of these 40 images were trained on: ' "$work/table" || fail 'the same noise is not known again'
sed -i '/were trained on/d' "$work/table"
sed '1d' "$work/table" >"$work/matrix"
sed -n '/accuracy *predicted/,/^$/p' "$work/log" | sed '$d' >"$work/said"
sed '1d' "$work/matrix" | head -n "$(wc -l <"$work/said")" | cmp - "$work/said" || fail 'evaluate and train have other confusions'
"$glcnn" evaluate --json "$work/longer" "$work" 2>"$work/err" | tr -d ' \n\t' >"$work/json"
# Five images of each class: the sums of the rows.
tr ']' '\n' <"$work/json" | sed -n 's/.*"taken_for":\[//p' >"$work/rows"
[ "$(wc -l <"$work/rows")" = 8 ] || fail 'the JSON has not a row for each class'
awk -F , '{ s = 0; for (i = 1; i <= NF; i++) s += $i; if (s != 5 || NF != 8) exit 1 }' "$work/rows" ||
    fail 'a row of the confusion matrix does not add up'
# The picture has the numbers that are not 0, row by row.
sed -n 's/.*class="\(cell\|light\)".*>\([0-9]*\)<.*/\2/p' "$work/matrix.svg" >"$work/drawn"
tr , '\n' <"$work/rows" | grep -vx 0 | cmp - "$work/drawn" || fail 'the picture has other confusions'
[ "$(grep -c 'rotate(-90)' "$work/matrix.svg")" = 8 ] || fail 'the picture has not a name for each class'
# The diagonal is the accuracy.
awk -F , '{ s += $NR } END { printf "accuracy %.4f,", s / 40 }' "$work/rows" >"$work/share"
grep -q "^$(cat "$work/share")" "$work/table" || fail "the diagonal does not add up to the accuracy"

# ---- Predicting ------------------------------------------------------------------------------------

"$glcnn" predict "$work/small" "$work/val-images-idx3-ubyte.gz" >"$work/idx" 2>"$work/log" ||
    { cat "$work/log"; fail 'predict fails'; }
[ "$(wc -l <"$work/idx")" = 40 ] || fail 'predict has not a line for each image'
! grep -Evq '^[0-9]+ ([0-9]) \1 [01]\.[0-9]{4}$' "$work/idx" || fail 'a line of predict is odd'

# npy SHAPE: the pixels of the test images, as many as fit, as bytes in NumPy's format.
npy() {
    header="{'descr': '|u1', 'fortran_order': False, 'shape': ($1), }"
    printf '\223NUMPY\1\0\166\0%-117s\n' "$header"
    gzip -dc "$work/val-images-idx3-ubyte.gz" | tail -c +17 | head -c "$2"
}
npy 40,28,28 31360 >"$work/three.npy"
npy 40,1,28,28 31360 >"$work/four.npy"
npy 1,28,28 784 >"$work/two.npy"
for file in three four; do
    "$glcnn" predict "$work/small" "$work/$file.npy" 2>/dev/null | cmp - "$work/idx" ||
        fail "$file.npy gives other classes than the IDX file"
done
"$glcnn" predict "$work/small" "$work/two.npy" 2>/dev/null >"$work/one"
head -n 1 "$work/idx" | cut -d ' ' -f 1-3 >"$work/first"
cut -d ' ' -f 1-3 "$work/one" | cmp - "$work/first" || fail 'one image is classified otherwise'

"$glcnn" predict --json "$work/small" "$work/two.npy" 2>/dev/null >"$work/json" || fail 'no JSON'
best=$(cut -d ' ' -f 2 "$work/first")
grep -q "\"name\":	\"$best\"" "$work/json" && grep -q '"probabilities"' "$work/json" ||
    fail 'the JSON has not the class of the line'
npy 40,28,14 15680 >"$work/narrow.npy"

# ---- What is written -------------------------------------------------------------------------------

# Nothing is written over, nor by two, and what cannot be written is refused before the first step.
short='--batch 32 --limit 32 --epochs 1'
# unwritten WORD ARGUMENT...: ends with 1 and a message that has the word, before any step.
unwritten() {
    word=$1 status=0
    shift
    "$glcnn" train --data "$work" $short "$@" >"$work/log" 2>&1 </dev/null || status=$?
    [ $status = 1 ] && grep '^glcnn train: ' "$work/log" | grep -q -e "$word" ||
        { cat "$work/log"; fail "$*: it ends with $status"; }
    ! grep -q '^epoch' "$work/log" || fail "$*: it is refused after an epoch"
}
cp "$work/small" "$work/mine"
unwritten "mine: already exists; --force overwrites it, --resume $work/mine continues it" --out "$work/mine"
cmp "$work/small" "$work/mine" || fail 'a network that is there was written over'
unwritten 'mine: already exists' --model "$work/small" --out "$work/mine"
mv "$work/mine" "$work/mine.best"
unwritten 'mine.best: already exists; --force overwrites it$' --out "$work/mine"
[ ! -e "$work/mine" ] || fail 'a run that is refused leaves a network'
ln -s small "$work/same"
must_train --resume "$work/small" --epochs 2 --out "$work/same"
: >"$work/empty"
"$glcnn" train --data "$work" $short --out "$work/empty" >"$work/log" 2>&1 || fail 'an empty file is not written over'
mkdir "$work/folder.best"
unwritten 'folder.best: is not a regular file' --out "$work/folder"
unwritten 'nowhere/a.json: cannot be created' --trace "$work/nowhere/a.json"

# flock holds what a run that lives would hold.
for option in out log plot trace; do
    held=$work/held
    : >"$work/.held.glcnn-lock"
    exec 9>"$work/.held.glcnn-lock"
    flock -n 9 || fail 'the lock is not free'
    unwritten 'held: is being written already, by another process or by this one' --force --$option "$held"
    exec 9>&-
    "$glcnn" train --force --data "$work" $short --$option "$held" >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "a lock that nobody holds keeps --$option off"; }
    [ ! -e "$work/.held.glcnn-lock" ] || fail "--$option leaves its lock"
done
unwritten 'twice are one file, of --log and --plot' --log "$work/twice" --plot "$work/twice"

# Standard streams that are closed get nothing else's lines.
"$glcnn" train --data "$work" $short --log "$work/open.csv" >"$work/log" 2>&1
for closed in 0 1 2 012; do
    status=0
    case $closed in
    0) "$glcnn" train --force --data "$work" $short --log "$work/closed.csv" <&- >"$work/log" 2>&1 || status=$? ;;
    1) "$glcnn" train --force --data "$work" $short --log "$work/closed.csv" >&- 2>"$work/log" || status=$? ;;
    2) "$glcnn" train --force --data "$work" $short --log "$work/closed.csv" 2>&- >"$work/log" || status=$? ;;
    012) "$glcnn" train --force --data "$work" $short --log "$work/closed.csv" <&- >&- 2>&- || status=$? ;;
    esac
    case $closed in
    *1*) [ $status = 1 ] || fail "with descriptor $closed closed the status is $status" ;;
    *) [ $status = 0 ] || fail "with descriptor $closed closed the status is $status" ;;
    esac
    cmp "$work/open.csv" "$work/closed.csv" || fail "with descriptor $closed closed the log has other lines"
done

# ---- Refusals --------------------------------------------------------------------------------------

# refused STATUS WORD COMMAND ARGUMENT...: ends with the status and a message that has the word.
refused() {
    wanted=$1 word=$2 status=0
    shift 2
    "$glcnn" "$@" >"$work/log" 2>&1 </dev/null || status=$?
    [ $status = "$wanted" ] || fail "$*: the status is $status, not $wanted"
    grep "^glcnn $1: " "$work/log" | grep -q -e "$word" || { cat "$work/log"; fail "$*: no word of it"; }
}
refused 2 lenet train --net vgg
refused 2 rmsprop train --optimizer newton
for option in epochs batch limit seed lr decay memory warmup clip clip-norm patience; do
    refused 2 "--$option is" train --$option much
    refused 2 "--$option is" train --$option -1
done
refused 2 'expected a .svg file' train --plot "$work/loss.png"
refused 2 'expected a .csv file' train --log "$work/log.txt"
refused 2 'expected a .safetensors or .glcnn file' train --out "$work/model.pt"
refused 2 'cosine, exponential, step and constant' train --schedule linear
refused 2 'did you mean cosine?' train --schedule cosin
refused 2 'did you mean resnet8?' train --net resnet
refused 2 '--train has 600 letters, more than the 511 that a checkpoint keeps' train --train "$(printf %600s | tr ' ' x)"
refused 2 '--decay needs --schedule exponential or step; this run has cosine' train --schedule cosine --decay 0.5
refused 2 'did you mean batch?' train --bacth 3
refused 2 '--augment: "flpi" is not an augmentation; did you mean flip?' train --augment flpi
refused 2 '--augment: rotate is "200"; it must be a number in 0 .. 180' train --augment flip,rotate=200
refused 1 'augment differs; the run began with "cutout=20"' train --data "$work" \
    --resume "$work/cutout" --augment cutout=21 --epochs 3
refused 1 'nowhere/a.svg: cannot be created' train --data "$work" --plot "$work/nowhere/a.svg"
refused 2 argument train word
refused 1 'nowhere: cannot be opened' train --data "$work/nowhere"
refused 1 batch train --data "$work" --limit 10 --batch 64
refused 1 needs train --data "$work" --memory 1000
refused 1 cannot train --data "$work" --limit 64 --epochs 1 --out "$work/no/where"
if [ -c /dev/full ]; then
    refused 1 'full: cannot be written: No space' train --data "$work" --batch 32 --limit 32 --epochs 1 --log /dev/full
    refused 1 'full: is not a regular file, and cannot be replaced' train --data "$work" --batch 32 --limit 32 \
        --epochs 1 --out /dev/full
    ln -s /dev/full "$work/full"
    refused 1 'full: is not a regular file, and cannot be replaced' train --data "$work" --batch 32 --limit 32 \
        --epochs 1 --out "$work/full"
    [ -c /dev/full ] && [ ! -e "$work/full.best" ] || fail '/dev/full was replaced, or has a best network beside it'
fi
refused 1 seed train --data "$work" --resume "$work/small" --seed 9
refused 1 seed train --data "$work" --resume "$work/seed18446744073709551615" --seed 18446744073709551614
refused 2 'seed is "18446744073709551616"; it must be a whole number in 0 .. 18446744073709551615' \
    train --seed 18446744073709551616
refused 1 net train --data "$work" --resume "$work/small" --net lenet
refused 1 optimizer train --data "$work" --resume "$work/small" --optimizer adam

# without_digest: as the bytes of a program that writes no digest.
without_digest() {
    LC_ALL=C sed 's/glcnn\.crc64/glcnn.crc00/'
}

# spoiled FROM TO NAME: a checkpoint whose metadata have TO, of the same length, in place of FROM is
# not resumed: the message has its name, the number's, what is there and what is expected.
spoiled() {
    without_digest <"$work/small" >"$work/plain"
    LC_ALL=C sed "1s/\"run\.$1/\"run.$2/" "$work/plain" >"$work/spoiled"
    ! cmp -s "$work/plain" "$work/spoiled" || fail "the metadata have no $1"
    refused 1 "spoiled: cannot be resumed: .*$3.*expected a .*number in" \
        train --data "$work" --resume "$work/spoiled" --epochs 3
}
for rubbish in x ' ' -; do
    spoiled 'step":"8"' "step\":\"$rubbish\"" "\"step\" in its metadata is \"$rubbish\""
done
spoiled 'limit":"128"' 'limit":"1.5"' '"limit" in its metadata is "1.5"'
spoiled 'limit":"128"' 'limit":"abc"' '"limit" in its metadata is "abc"'
spoiled 'memory":"0"' 'memory":"x"' '"memory" in its metadata is "x"'
spoiled 'images":"128"' 'images":"12h"' '"images" in its metadata is "12h"'
spoiled 'batch":"32"' 'batch":"0x"' '"batch" in its metadata is "0x"'
spoiled 'seed":"1"' 'seed":"y"' '"seed" in its metadata is "y"'
spoiled 'decay":"0"' 'decay":"z"' '"decay" in its metadata is "z"'
# Files from before --precision name none, and no loss scale.
without_digest <"$work/small" | LC_ALL=C sed '1s/run.precision":/run.precisiom":/; 1s/run.good_steps":/run.good_stepz":/
    1s/run.loss_scale":/run.loss_zcale":/; 1s/run.skipped_steps":/run.zkipped_steps":/' >"$work/old"
must_train --resume "$work/old" --epochs 9
# A best loss may be any finite number.
without_digest <"$work/small" | LC_ALL=C sed '1s/"run.best_loss":"\([0-9]*\)\./"run.best_loss":"\10/' >"$work/large"
LC_ALL=C grep -aq '"run.best_loss":"[0-9]\{11,\}"' "$work/large" || fail 'the best loss is not large'
must_train --resume "$work/large" --epochs 9
without_digest <"$work/cutout" | LC_ALL=C sed '1s/"cutout=20"/"cutaut=20"/' >"$work/spoiled"
refused 1 'spoiled: cannot be resumed: "augment" in its metadata: "cutaut=20" is not an augmentation' train \
    --data "$work" --resume "$work/spoiled" --epochs 3
spoiled 'memory":"0"' 'memery":"0"' 'have no "memory"'
refused 1 'patient.best: cannot be resumed: .* no run that could go on.*--model' train --data "$work" --resume "$work/patient.best"
refused 1 small.svg train --data "$work" --resume "$work/small.svg"
refused 2 model evaluate
refused 2 data evaluate "$work/small"
refused 1 nowhere evaluate "$work/nowhere" "$work"
refused 1 nowhere evaluate "$work/small" "$work/nowhere"
refused 1 'nowhere/a.svg: cannot be created' evaluate "$work/small" "$work" --plot "$work/nowhere/a.svg"
refused 2 model predict
refused 2 pictures predict "$work/small"
refused 1 nowhere predict "$work/nowhere" "$work/two.npy"
refused 1 small.svg predict "$work/small" "$work/small.svg"
refused 1 'images are 14 x 28 of 1 channels, and 28 x 28 of 1 are requested' predict "$work/small" "$work/narrow.npy"
refused 1 'have 1 dimensions' predict "$work/small" "$work/val-labels-idx1-ubyte.gz"
