#!/bin/sh
# A person's own data: folders of PNG pictures and a table that the project never saw train a network
# with no option but --data and --out, are evaluated, and are predicted by the names of their classes.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

needs_device

# Noise around a colour for each class, in pictures of 16x16 and one of 40x30.
cat >draw.c <<'END_OF_C'
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char *argv[])
{
    static unsigned char pixels[40 * 30 * 3];
    for (int n = 0; n < 24 && argc == 5; n++) {
        char path[256];
        png_image image = {.version = PNG_IMAGE_VERSION, .width = 16, .height = 16,
                           .format = PNG_FORMAT_RGB};
        if (n == 23)
            image.width = 40, image.height = 30;
        for (unsigned i = 0; i < sizeof pixels; i++)
            pixels[i] = (unsigned char)(atoi(argv[2 + i % 3]) + rand() % 64);
        snprintf(path, sizeof path, "%s/%d.png", argv[1], n);
        if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
            return 1;
    }
    return 0;
}
END_OF_C
$cc -o draw draw.c $($pkg_config --cflags --libs libpng) || fail 'the pictures cannot be drawn'
mkdir fruit "fruit/red apple" fruit/banana fruit/kiwi
./draw "fruit/red apple" 180 20 20 && ./draw fruit/banana 180 180 20 && ./draw fruit/kiwi 40 120 40 ||
    fail 'there are no pictures'
head -c 100 fruit/kiwi/3.png >fruit/kiwi/torn.png

"$glcnn" train --data fruit --epochs 12 --out fruit.safetensors >log 2>&1 || fail 'training fails'
grep -q '6[0-9] images of 16x16x3 to train with, [0-9] to validate with, 3 classes' log ||
    fail 'size, channels and classes do not follow from the data'
grep -q 'left out: .*kiwi/torn.png' log || fail 'a broken picture is not named'
grep -q '% of it waiting for data' log || fail 'the share of time that waits for data is not told'
grep -q '^  2 red apple ' log || fail 'the matrix has no names'
# A name that no checkpoint can have is told before the first step, with and without a file there.
cp -R fruit named && mv named/kiwi "named/$(printf 'caf\351')" || exit 1
cp fruit.safetensors there.safetensors
for file in there.safetensors none.safetensors; do
    ! "$glcnn" train --data named --epochs 1 --force --out $file --log named.csv >log 2>&1 ||
        fail 'a name that is not UTF-8 is taken'
    LC_ALL=C grep -aq '^glcnn train: the name of class 1, "caf.*", is not UTF-8 and cannot be saved; rename' log ||
        fail 'the class whose name is not UTF-8 is not named'
    ! grep -q '^epoch' log || fail 'a name is refused after an epoch'
done
[ ! -e none.safetensors ] && [ ! -e named.csv ] && cmp fruit.safetensors there.safetensors ||
    fail 'a name that is refused changes files'
# A look draws pictures, and says why one is not drawn.
mkdir -p few/kiwi few/banana
cp fruit/kiwi/1.png fruit/kiwi/2.png fruit/kiwi/torn.png few/kiwi && cp fruit/banana/[1-3].png few/banana
"$glcnn" look --report seen few >said 2>log || fail 'a look fails'
grep -q 'torn.png: .*<br/>' seen/index.html || fail 'the page does not say why a picture is not drawn'
grep -q '^widths of pictures: [0-9]* pixels$' said && grep -q '^heights of pictures: ' said || fail "sizes are told as $(cat said)"
"$glcnn" predict fruit.safetensors fruit/*/23.png >said 2>log || fail 'predict fails'
sed 's/ [01]\.[0-9]*$//' said >names
printf '%s\n' 'fruit/banana/23.png 0 banana' 'fruit/kiwi/23.png 1 kiwi' \
    'fruit/red apple/23.png 2 red apple' | cmp - names || fail "the classes are $(cat names)"
"$glcnn" evaluate fruit.safetensors fruit >log 2>&1 || fail 'evaluate fails'
grep -q '^accuracy 1\.0000, .* on 72 images' log || fail 'not all pictures are classified'
if "$glcnn" predict fruit.safetensors fruit/kiwi/torn.png fruit/kiwi/1.png >said 2>log; then
    fail 'a broken picture is no failure'
fi
grep -q '^fruit/kiwi/1.png 1 kiwi ' said || fail 'a broken picture keeps others from answers'
# What stands in for a broken picture has features too, where --limit leaves it out.
cp -r fruit hurt
for picture in hurt/*/[56].png hurt/*/1[27].png; do
    head -c 100 "$picture" >short && mv short "$picture"
done
for cache in hurt.features off; do
    "$glcnn" train --model fruit.safetensors --data hurt --train last --batch 8 --epochs 3 --limit 24 \
        --feature-cache $cache --out $cache.safetensors --log $cache.csv >log 2>&1 ||
        { cat log; fail 'broken pictures end a run on features'; }
    grep -q 'left out: hurt/kiwi/5.png' log || fail 'a broken picture is not named'
done
cmp hurt.features.safetensors off.safetensors && cmp hurt.features.csv off.csv ||
    fail 'others stand in for broken pictures where features are kept'
! "$glcnn" train --data fruit --strict --epochs 6 >log 2>&1 || fail '--strict takes a broken picture'
grep -q torn.png log || fail '--strict does not name the broken picture'

# Another size, grey and normalised: the checkpoint says so, and predict needs no more.
"$glcnn" train --data fruit --size 12x10 --channels 1 --mean 0.5 --deviation 0.25 --epochs 1 \
    --out grey.safetensors >log 2>&1 || fail 'training with another size fails'
LC_ALL=C grep -aq '"model.width":"12","model.height":"10","model.channels":"1","model.resize":"0","model.mean":"0.5","model.deviation":"0.25"' \
    grey.safetensors || fail 'the checkpoint has not what was asked for'
"$glcnn" predict grey.safetensors fruit/kiwi/1.png >said 2>log || fail 'predict fails on grey pictures'
! "$glcnn" train --data fruit --net lenet --size 8 >log 2>&1 || fail 'lenet takes 8x8'
grep -q 'pictures of 8x8 are too small for lenet, which needs 12x12' log || fail 'no message on the size'
! "$glcnn" train --data fruit --resume grey.safetensors --size 16 >log 2>&1 || fail 'a resumed run changes size'

# A run goes on with the data that it began with, wherever that lies: named, or remembered; of others
# names, classes or labels differ.
percent=$(printf '100%%_\351')
cp -r fruit "$percent"
train_on() { # STATUS MESSAGE ARGUMENT...
    wanted=$1 message=$2 status=0
    shift 2
    "$glcnn" train "$@" >log 2>&1 </dev/null || status=$?
    [ $status = "$wanted" ] || fail "train $*: status $status"
    LC_ALL=C grep -aq -- "$message" log || fail "train $*: no message: $message"
}
train_on 0 'epoch 1' --data "$percent" --epochs 1 --out first.safetensors
train_on 1 'fruit: has no validation images, and --validation 0 sets none aside; without --validation a tenth is' \
    --data fruit --validation 0 --epochs 1 --out none.safetensors
train_on 1 'sets none aside' --resume first.safetensors --data fruit --validation 0 --epochs 2
here=$(pwd -P)
train_on 0 "^data: $here/100%_.xe9, which the run began with$" --resume first.safetensors --epochs 2 \
    --out second.safetensors
train_on 0 'epoch 2' --data fruit --resume first.safetensors --epochs 2 --out moved.safetensors
# From a folder that has another "fruit", too.
mkdir -p other/fruit
cd other || exit 1
train_on 0 "^data: $here/fruit, which the run began with$" --resume ../moved.safetensors --epochs 3 \
    --out ../moved.safetensors
cd ..
mv "$percent" elsewhere
train_on 1 'cannot be .*; the run began with this data: give its new place with --data' \
    --resume second.safetensors --epochs 3
train_on 0 'epoch 3' --resume second.safetensors --data elsewhere --epochs 3
mv elsewhere/kiwi/1.png elsewhere/kiwi/01.png
train_on 1 'first.safetensors: cannot be resumed: it was trained on images other than those of elsewhere: names, classes or labels differ' \
    --resume first.safetensors --data elsewhere --epochs 2
mv elsewhere/kiwi/01.png elsewhere/kiwi/1.png
mv elsewhere/kiwi/1.png elsewhere/banana/101.png
mv elsewhere/banana/1.png elsewhere/kiwi/1.png
train_on 1 'images other than those of elsewhere' --resume first.safetensors --data elsewhere --epochs 2
rm -r elsewhere

# Pictures that are replaced or go away between the look at them and their use end the run, name what
# is missing, and leave the checkpoint as it was.
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o move.so "$top/tests/preload/move.c" -ldl || fail 'no preload'
moved() { # FROM TO MESSAGE: when fruit/kiwi/5.png is decoded
    cp fruit.safetensors kept.safetensors
    if env LD_PRELOAD="$work/move.so" MOVE_WHEN=fruit/kiwi/5.png MOVE_FROM="$1" MOVE_TO="$2" \
        "$glcnn" train --force --data fruit --validation 0.1 --epochs 3 --out kept.safetensors >log 2>&1; then
        fail "training goes on without what it began with: $3"
    else
        [ $? = 1 ] || fail "the status is not 1: $3"
    fi
    [ ! -e "$1" ] || fail "nothing was moved: $3"
    grep -q "$3 since the data was opened; training can go on from its checkpoint" log ||
        fail "no message: $3"
    cmp fruit.safetensors kept.safetensors || fail "the checkpoint was written over: $3"
}
cp -r fruit whole
cp fruit/kiwi/6.png other.png
moved other.png fruit/kiwi/5.png '^glcnn train: fruit/kiwi/5.png: has changed'
moved fruit gone '^glcnn train: fruit/[^:]*.png: has vanished'
mv whole fruit

# A table of texts and numbers.
awk 'BEGIN { srand(1); for (i = 0; i < 160; i++) { printf "%s", i % 2 ? "high" : "low"
    for (k = 0; k < 64; k++) printf ",%d", rand() * 100 + (i % 2) * 120; print "" } }' >table.csv
"$glcnn" train --data table.csv --epochs 8 --out table.safetensors >log 2>&1 || fail 'a table does not train'
grep -q 'of 8x8x1 to train' log || fail 'a table of 64 numbers is no image of 8x8'
awk 'NR < 3 { sub(/^[a-z]*/, NR == 1 ? "high" : "low") } { print }' table.csv >other.csv
train_on 1 'images other than those of other.csv' --resume table.safetensors --data other.csv --epochs 9
"$glcnn" evaluate table.safetensors table.csv >log 2>&1 || fail 'a table is not evaluated'
grep -q '^accuracy 1\.0000' log || fail 'the classes of the table are not learned'
