#!/bin/sh
# Models that come from elsewhere, from outside: a file begins a run on other classes, frozen layers
# cost no more than their features, which are kept and give the bits that computing them gives, parts
# of checkpoints and PyTorch's names are read, and what is damaged or makes no sense is a message.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

needs_device

# table CLASSES IMAGES SALT: images of 8x8 bytes, noise around a value for each class.
table() {
    awk -v classes="$1" -v count="$2" -v salt="$3" 'BEGIN {
        srand(salt)
        for (n = 0; n < count; n++) {
            line = n % classes
            for (i = 0; i < 64; i++)
                line = line "," int(200 * (n % classes) / classes + 50 * rand())
            print line
        }
    }'
}
table 5 80 1 >five.csv
table 3 48 2 >three.csv

# train ARGUMENT...: what it says is in log.
train() {
    "$glcnn" train --force --optimizer sgd --lr 0.02 --weight-decay 0 --clip-norm 0 --augment none \
        --decay 0.3 --batch 8 --epochs 2 "$@" >log 2>&1 </dev/null
}
must_train() {
    train "$@" || fail "train $* fails"
}
says() {
    grep -q -- "$1" log || fail "no word of \"$1\""
}
# refused STATUS WORDS ARGUMENT...
refused() {
    wanted=$1 words=$2
    shift 2
    train "$@"
    [ $? = "$wanted" ] || fail "$*: another status than $wanted"
    says "$words"
}

must_train --net mobilenet-tiny --data five.csv --out base.glcnn

# ---- Another head --------------------------------------------------------------------------------

tune() {
    must_train --model base.glcnn --data three.csv --classes auto "$@"
}
tune --train last --epochs 12 --out tuned.glcnn --log tuned.csv
says '^head: 3 rows stay (0, 1, 2), 2 rows are gone (3, 4)$'
says '^layers: 1 of 15 train$'
says '^features: 64 values of each of 48 pictures, 48 of them new, .* in tuned.features$'
"$glcnn" evaluate tuned.glcnn three.csv >log 2>&1 || fail 'evaluate fails'
says '^accuracy [01]\.[09].*, .* on 48 images'
cut -d , -f 2- three.csv >images.csv
"$glcnn" predict tuned.glcnn images.csv >log 2>/dev/null || fail 'predict fails'
[ "$(wc -l <log)" = 48 ] || fail 'predict has not an answer for each image'
tune --train all --out all.glcnn
says '^head:'
! grep -q '^features' log || fail 'there is nothing frozen'
! grep -q 'before the head' log || fail 'layers before a head that is known learn more slowly'
sed 's/^0,/x,/; s/^1,/y,/; s/^2,/z,/' three.csv >named.csv
must_train --model base.glcnn --data named.csv --epochs 1
says '^learning rate: of the 14 layers before the head 0.1 of it; --backbone-lr sets that$'
must_train --model base.glcnn --data named.csv --epochs 2 --train last --unfreeze-after 1
says '^learning rate: of the 14 layers before the head 0.1 of it'
must_train --model base.glcnn --data five.csv --train last:2 --out same.glcnn
! grep -q '^head' log || fail 'a head of as many classes has new weights'
says '^layers: 3 of 15 train$'
tune --train 'convolution_6,fully*' --epochs 1
says '^layers: 2 of 15 train$'

tune --train 'convolution_6:4-11,fully*' --epochs 2 --optimizer adam --out some.glcnn --log some.csv
says '^layers: 2 of 15 train$'
tune --train 'convolution_6:4-11,fully*' --epochs 1 --optimizer adam --out rest.glcnn --log rest.csv
must_train --resume rest.glcnn --data three.csv --epochs 2 --optimizer adam --out rest.glcnn --log rest.csv
cmp some.glcnn rest.glcnn || fail 'where some channels learn a resumed run has other weights'
refused 1 'first must be a multiple of 4' --model base.glcnn --data five.csv --train 'convolution_6:2-5'
refused 1 'there is no layer "convolution_7000"' --model base.glcnn --data five.csv --train 'convolution_7000:0-3'

# ---- Features that are kept ------------------------------------------------------------------------

# same A B: two runs wrote the same.
same() {
    cmp "$1.glcnn" "$2.glcnn" >>log || fail "$1 and $2 have other weights"
    cmp "$1.csv" "$2.csv" >>log || fail "$1 and $2 log other losses"
}
for layers in last last:2; do
    tune --train $layers --epochs 3 --out kept.glcnn --log kept.csv
    tune --train $layers --epochs 3 --out computed.glcnn --log computed.csv --feature-cache off
    says '^features: not kept: --feature-cache is off$'
    same kept computed
    tune --train $layers --epochs 3 --out small.glcnn --log small.csv --feature-limit 2k
    says '^features: not kept: they take .* more than the 0.0 of --feature-limit$'
    same kept small
    tune --train $layers --epochs 1 --out parts.glcnn --log parts.csv
    must_train --resume parts.glcnn --data three.csv --epochs 3 --out parts.glcnn --log parts.csv
    says ' 0 of them new'
    same kept parts
done
# A block has two images that its sum joins; a file of the one that is behind it is of no use.
must_train --net resnet8 --data three.csv --epochs 1 --out joined.glcnn
join() {
    must_train --model joined.glcnn --data three.csv --limit 16 --train "$@"
}
join last --epochs 1 --out kept.glcnn
join last:2 --epochs 3 --out kept.glcnn --log kept.csv
says '^features: 768 values of each of 22 pictures, 22 of them new, .* in kept.features$'
join last:2 --epochs 3 --out computed.glcnn --log computed.csv --feature-cache off
same kept computed
join last:2 --epochs 1 --augment flip
says '^features: not kept, because of --augment$'
# Of some of the pictures, which lie all over the set.
tune --train last --limit 20 --out kept.glcnn --log kept.csv
says ' of each of 26 pictures, 26 of them new'
tune --train last --limit 20 --out computed.glcnn --log computed.csv --feature-cache off
same kept computed
tune --train last --out stale.glcnn
sed '7s/,[0-9]*$/,9/' three.csv >changed.csv
must_train --model base.glcnn --data changed.csv --train last --out stale.glcnn
says ' 1 of them new'
must_train --model all.glcnn --data changed.csv --train last --out stale.glcnn
says ' 48 of them new'
cp tuned.features damaged.features
printf 'x' | dd of=damaged.features bs=1 seek=900 conv=notrunc 2>/dev/null
tune --train last --epochs 12 --log damaged.csv --out damaged.glcnn
says ' 1 of them new'
same tuned damaged
echo 'not mine' >own.features
cp own.features copy
tune --train last --feature-cache own.features
says 'own.features: is not a feature file, and is not overwritten'
cmp own.features copy || fail 'a file of somebody else is written'
tune --train last --augment flip --out changing.glcnn
says '^features: those of training pictures are computed in each step, because of --augment$'
says ' of each of 6 pictures, '
rm -f ./*.features
tune --train last
says ' in a temporary file$'
[ -z "$(find . -name '*.features')" ] || fail 'a run without --out leaves features'

# Under the least limits too, where other passes may add in another order.
GLCNN_LIMITS=min "$glcnn" train --batch 8 --epochs 12 --model base.glcnn --data three.csv \
    --train last --out least.glcnn >log 2>&1 || fail 'no training under the least limits'
GLCNN_LIMITS=min "$glcnn" evaluate least.glcnn three.csv >log 2>&1 || fail 'evaluate fails'
says '^accuracy [01]\.[09]'

# ---- Parts of checkpoints --------------------------------------------------------------------------

must_train --net mobilenet-tiny --data three.csv --load-matching base.glcnn --train last
says '^  read     convolution_0.weights$'
says '^  skipped  fully_connected_0.weights: it is 5 x 1 x 1 x 64 in the file, here 3 x 1 x 1 x 64$'
says '^weights: 42 vectors of base.glcnn, 2 skipped$'
printf '%s\n' '# one of them' 'fully_connected_0.biases fully_connected_0.biases' >map
must_train --net mobilenet-tiny --data five.csv --load-matching base.glcnn --names map
says '^weights: 1 vectors of base.glcnn, 43 skipped$'
echo 'a convolution_0.weight' >map
refused 1 'did you mean convolution_0.weights?' --data five.csv --net mobilenet-tiny \
    --load-matching base.glcnn --names map

# ---- What makes no sense ---------------------------------------------------------------------------

refused 1 'did you mean fully_connected_0?' --model base.glcnn --data five.csv --train fully_connected
refused 1 'more layers than the 8' --model base.glcnn --data five.csv --train last:9
refused 2 'did you mean auto?' --model base.glcnn --data five.csv --classes aut
refused 2 'those of the model' --model base.glcnn --data five.csv --size 9
refused 2 'cannot be given together' --model base.glcnn --net small --data five.csv
refused 2 'cannot be given with --resume' --model base.glcnn --resume base.glcnn --data five.csv
refused 2 'needs --model' --classes model --data five.csv
refused 2 'needs --load-matching' --names map --data five.csv
refused 1 'differs; the run began with "last"' --resume tuned.glcnn --data three.csv --train all
refused 1 'cannot be opened' --model nothing.glcnn --data five.csv
must_train --model base.glcnn --data five.csv --classes model --epochs 1

# ---- Files that are damaged ------------------------------------------------------------------------

# Lengths, and bytes of the header, of weights and of the network behind them: of a file without a
# digest any answer may come, one that has it is always refused.
LC_ALL=C sed 's/glcnn\.crc64/glcnn.crc00/' tuned.glcnn >plain.glcnn
size=$(wc -c <tuned.glcnn)
for at in 0 1 9 40 300 2000 6000 $((size / 2)) $((size - 3000)) $((size - 2000)) $((size - 1500)) \
    $((size - 900)) $((size - 400)) $((size - 100)) $((size - 3)); do
    head -c $at tuned.glcnn >torn.glcnn
    "$glcnn" evaluate torn.glcnn three.csv >log 2>&1
    [ $? = 1 ] || fail "a file of $at bytes is taken"
    [ "$(wc -l <log)" -le 2 ] || fail "no one message on a file of $at bytes"
    cp plain.glcnn torn.glcnn
    printf '\377' | dd of=torn.glcnn bs=1 seek=$at conv=notrunc 2>/dev/null
    "$glcnn" predict torn.glcnn images.csv >log 2>&1
    status=$?
    [ $status = 0 ] || [ $status = 1 ] || fail "byte $at changed: status $status"
    cp tuned.glcnn torn.glcnn
    printf '\377' | dd of=torn.glcnn bs=1 seek=$at conv=notrunc 2>/dev/null
    ! "$glcnn" predict torn.glcnn images.csv >log 2>&1 || fail "byte $at changed, and nobody says so"
done
# Classes that the network has not: an answer would be of other pictures.
LC_ALL=C sed 's/,\\"2\\"\]/      ]/' plain.glcnn >torn.glcnn
! cmp -s plain.glcnn torn.glcnn || fail 'the file has its classes in another form'
! "$glcnn" predict torn.glcnn images.csv >log 2>&1 || fail 'a file of fewer classes is taken'
says 'the network makes 3 values for a picture; its file says 2'
cp tuned.glcnn before
train --model torn.glcnn --data five.csv --train nothing --out tuned.glcnn
cmp before tuned.glcnn || fail 'a run that cannot begin changes its file'
echo 'models from elsewhere are tuned'
