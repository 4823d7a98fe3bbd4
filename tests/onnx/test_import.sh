#!/bin/sh
# glcnn import and export: a classifier of an ONNX file gives the probabilities that PyTorch gives,
# twenty steps of training it are PyTorch's, it gets another head, keeps features, goes on where it
# stopped, and comes back as an ONNX file: what did not train as it was, byte for byte. What is no such
# file is a message. tests/golden/classifier/make.py made the files.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
golden=$PWD/tests/golden/classifier
cd "$work" || exit 1

# same_file FILE EXPORTED: the file that was read comes back, with what says what it is for behind it.
same_file() {
    cmp -n "$(wc -c <"$1")" "$1" "$2"
}

says() {
    grep -q -- "$1" log || fail "no word of \"$1\""
}
# must ARGUMENT...: what it says is in log.
must() {
    "$glcnn" "$@" >log 2>&1 </dev/null || fail "glcnn $* fails"
}
# refused STATUS WORDS ARGUMENT...
refused() {
    wanted=$1 words=$2
    shift 2
    "$glcnn" "$@" >log 2>&1 </dev/null
    [ $? = "$wanted" ] || fail "glcnn $*: another status than $wanted"
    says "$words"
}
# near FILE FILE TOLERANCE: the same numbers, in lines and columns.
near() {
    paste -d ' ' "$1" "$2" | awk -v tolerance="$3" '{
        if (NF == 0 || NF % 2) wrong++
        for (i = 1; i <= NF / 2; i++) {
            d = $i - $(i + NF / 2)
            if (d > tolerance || d < -tolerance) { wrong++; print "line", NR, "differs by", d }
        }
    } END { exit wrong > 0 || NR == 0 }' >>log || fail "$1 and $2 differ"
}

needs_device
mkdir parts three
cp "$golden/train.csv" parts/train.csv
head -n 10 "$golden/train.csv" >parts/val.csv
grep '^[012]' "$golden/train.csv" >three/train.csv
head -n 9 three/train.csv >three/val.csv
cut -d , -f 2- "$golden/train.csv" >images.csv

# ---- What it computes ------------------------------------------------------------------------------

must import "$golden/classifier.onnx" -o net.glcnn
says '^net.glcnn: images of 8x8x1, 5 classes$'
# probabilities MODEL: a line for each image.
probabilities() {
    "$glcnn" predict --json "$1" images.csv 2>log | tr -d ' \t\n' | sed 's/},{/\n/g' |
        sed 's/.*"probabilities":{//; s/}.*//; s/"[0-9]*"://g; s/,/ /g'
}
probabilities net.glcnn >found.txt
near found.txt "$golden/probabilities.txt" 1e-5
printf '%s\n' ant bee cat dog eel >names
must import "$golden/classifier.onnx" -o named.glcnn --class-names names --mean 0.25 --deviation 0.5
"$glcnn" predict named.glcnn images.csv >log 2>&1 || fail 'predict fails'
says ' [0-4] \(ant\|bee\|cat\|dog\|eel\) 0\.'
LC_ALL=C grep -aq '"model.mean":"0.25","model.deviation":"0.5"' named.glcnn || fail 'normalisation is not kept'

# ---- How pictures are cut -----------------------------------------------------------------------------

# draw FILE WIDTH HEIGHT LEFT TOP: a part of a pattern.
cat >draw.c <<'END_OF_C'
#include <png.h>
#include <stdlib.h>
int main(int argc, char *argv[])
{
    unsigned char p[4096];
    int w = argc > 5 ? atoi(argv[2]) : 0, h = argc > 5 ? atoi(argv[3]) : 0;
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w,
                       .height = (png_uint_32)h, .format = PNG_FORMAT_GRAY};
    for (int i = 0; i < w * h; i++)
        p[i] = (unsigned char)((i % w + atoi(argv[4])) * 19 + (i / w + atoi(argv[5])) * 37);
    return !png_image_write_to_file(&image, argv[1], 0, p, 0, NULL);
}
END_OF_C
# shellcheck disable=SC2046
${CC:-cc} -o draw draw.c $(${PKG_CONFIG:-pkg-config} --cflags --libs libpng) || fail 'draw.c'
./draw whole.png 12 10 0 0 && ./draw middle.png 8 8 2 1 || fail 'no pictures are made'
must import "$golden/classifier.onnx" -o side.glcnn --resize 10
says 'the middle of pictures whose shorter side is scaled to 10, 5 classes$'
# answer MODEL PICTURE
answer() {
    "$glcnn" predict --json "$1" "$2" 2>log | grep -v '"image"'
}
answer side.glcnn whole.png >cut && answer net.glcnn middle.png >middle || fail 'predict fails'
cmp cut middle || fail '--resize does not cut the middle out of a picture of that size'
answer net.glcnn whole.png >covered
! cmp -s cut covered || fail '--resize changes nothing'
mkdir -p folder/a folder/b
for n in 1 2 3 4; do
    ./draw folder/a/$n.png 12 10 $n 0 && ./draw folder/b/$n.png 12 10 0 $n
done
must train --model side.glcnn --data folder --batch 2 --epochs 1 --out sides.glcnn
LC_ALL=C grep -aq '"model.resize":"10"' sides.glcnn || fail 'what begins with a model cuts another way'
refused 2 'it must be 8 at least' import "$golden/classifier.onnx" -o x.glcnn --resize 7

# ---- What it learns --------------------------------------------------------------------------------

# Descent alone, whose losses are known.
descent='--optimizer sgd --weight-decay 0 --clip-norm 0 --augment none'
# steps FILE: losses of twenty steps on all pictures.
steps() {
    cut -d , -f 4 "$1" | tail -n +2
}
must import "$golden/plain.onnx" -o plain.glcnn
must train --model plain.glcnn --data parts --batch 40 --epochs 20 --schedule constant --lr 0.05 \
    $descent --out all.glcnn --log all.csv
steps all.csv >losses.txt
near losses.txt "$golden/losses.txt" 1e-4
says 'classes$'
! grep -q '^head' log || fail 'a head of as many classes has new weights'

# tune ARGUMENT...
tune() {
    must train --model net.glcnn --data three --batch 8 --train last --lr 0.4 --schedule constant $descent "$@"
}
tune --epochs 24 --out tuned.glcnn --log tuned.csv
says '^head: 3 rows stay (0, 1, 2), 2 rows are gone (3, 4)$'
says '^layers: 1 of 4 train$'
says '^features: 16 values of each of 33 pictures, 33 of them new'
must evaluate tuned.glcnn three
says '^accuracy [01]\.[09]'
tune --epochs 24 --out computed.glcnn --log computed.csv --feature-cache off
cmp tuned.glcnn computed.glcnn && cmp tuned.csv computed.csv || fail 'kept features change the run'
tune --epochs 4 --out parts.glcnn --log parts.csv
must train --resume parts.glcnn --data three --epochs 24 --out parts.glcnn --log parts.csv
cmp tuned.glcnn parts.glcnn && cmp tuned.csv parts.csv || fail 'a resumed run is another'
GLCNN_LIMITS=min "$glcnn" train --model net.glcnn --data three --batch 8 --epochs 1 --train all \
    --out least.glcnn >log 2>&1 || fail 'no training under the least limits'
must train --model tuned.glcnn --data three --batch 8 --epochs 1 --train 'b*,head'
says '^layers: 2 of 4 train$'

# ---- Back again ------------------------------------------------------------------------------------

# again MODEL: exported and reimported it gives the same probabilities.
again() {
    must export --force "$1" -o again.onnx
    must import --force again.onnx -o again.glcnn
    probabilities "$1" >before.txt
    probabilities again.glcnn >after.txt
    near before.txt after.txt 1e-6
}
for file in classifier plain; do
    must import --force "$golden/$file.onnx" -o $file.glcnn
    must export $file.glcnn -o $file.onnx
    same_file "$golden/$file.onnx" $file.onnx || fail "$file comes back as another file"
done
again net.glcnn
again all.glcnn
! cmp -s plain.onnx again.onnx || fail 'what was trained comes back untrained'
[ "$(wc -c <again.onnx)" = "$(wc -c <plain.onnx)" ] || fail 'training adds to the file'
again tuned.glcnn
for name in stem.weight norm.variance head.bias probabilities; do
    LC_ALL=C grep -aq $name again.onnx || fail "the name $name is lost"
done
must train --net small --data three --batch 8 --epochs 1 --out small.safetensors
again small.safetensors

# ---- Other networks ----------------------------------------------------------------------------------

# A network that is no classifier is kept, and says who takes it.
must import "$golden/two.onnx" -o two.glcnn
says '^two.glcnn: images of 8x8x1, not a classifier: probabilities of 1x1x5, e of 4x4x16$'
must export two.glcnn -o two.onnx
same_file "$golden/two.onnx" two.onnx || fail 'two.onnx comes back as another file'
refused 1 'is an ONNX file; "glcnn import" makes a model file of it' train --model "$golden/two.onnx" --data parts
refused 1 'cannot be opened' train --model nowhere.onnx --data parts
refused 1 'is not a classifier' train --model two.glcnn --data parts
refused 1 'is not a classifier' evaluate two.glcnn parts
refused 1 'is not a classifier' predict two.glcnn images.csv
# With a head it is one, whose layer learns by what the rest makes of the pictures.
must import "$golden/two.onnx" -o headed.glcnn --head 5
says '^headed.glcnn: images of 8x8x1, 5 classes$'
must train --model headed.glcnn --data parts --batch 8 --train last --lr 0.2 --schedule cosine $descent \
    --epochs 60 --out taught.glcnn
says '^layers: 1 of 4 train$'
! grep -q 'is drawn' log || fail 'a head that trains alone is drawn'
must evaluate taught.glcnn parts
says '^accuracy \(0\.[7-9]\|1\)'
again taught.glcnn
LC_ALL=C grep -aq head.weights again.onnx || fail 'the head is not in the file'
must train --force --model headed.glcnn --data three --batch 8 --train last --epochs 1 --out taught.glcnn
says '^head: 3 rows stay (0, 1, 2), 2 rows are gone (3, 4)$'
again taught.glcnn
# Zeros send nothing back to the layers before them: where these train too the head is drawn.
must train --force --model headed.glcnn --data parts --batch 8 --epochs 1 --out drawn.glcnn
says '^head: head is drawn: it had no weights yet, and other layers train too$'
must train --force --model drawn.glcnn --data parts --batch 8 --epochs 1 --out redrawn.glcnn
! grep -q 'is drawn' log || fail 'a head that has learned is drawn again'
# It is cut at a value: what is behind goes, and a head comes there, also behind one without pixels.
must import "$golden/two.onnx" -o cut.glcnn --output probabilities
says '^cut.glcnn: images of 8x8x1, 5 classes$'
probabilities cut.glcnn >found.txt
near found.txt "$golden/probabilities.txt" 1e-5
must import --force "$golden/two.onnx" -o cut.glcnn --output e
says '^cut.glcnn: images of 8x8x1, not a classifier: e of 4x4x16$'
again_as() {
    must export --force "$1" -o cut.onnx
    must import --force cut.onnx -o cut.glcnn
    says "$2"
}
again_as cut.glcnn 'not a classifier: e of 4x4x16$'
! LC_ALL=C grep -aq 'head\|GlobalAveragePool' cut.onnx || fail 'what the output does not need is kept'
for at in e g; do
    must import --force "$golden/two.onnx" -o cut.glcnn --output $at --head 3
    says '^cut.glcnn: images of 8x8x1, 3 classes$'
    again_as cut.glcnn '3 classes$'
done
refused 1 '"zz", a value that no node makes; .* are "probabilities", "e" (--output)$' \
    import "$golden/two.onnx" -o x.glcnn --output zz
refused 2 'must be a whole number in 1 .. 65535' import "$golden/two.onnx" -o x.glcnn --head 0
refused 1 'appears twice' import again.onnx -o x.glcnn --head 2
refused 1 'must have 0 lines, one name for each class' import "$golden/two.onnx" -o x.glcnn --class-names names

# ---- Numbers that train, and those that do not ---------------------------------------------------

# frozen: what log tells of, each once.
frozen() {
    grep '^frozen: ' log >told
    cmp told "$work/frozen" || fail 'other numbers are told to be frozen'
}
cat >frozen <<'END'
frozen: divisor (what divides does not train)
frozen: power (an exponent does not train)
frozen: epsilon (one number without axes is taken for a constant)
frozen: bound (a bound does not train)
frozen: divisors (what divides does not train)
END
must import "$golden/../learned/frozen.onnx" -o numbers.glcnn --head 5
frozen
must train --model numbers.glcnn --data parts --batch 8 --epochs 1 --train all --out taught_numbers.glcnn
mv taught_numbers.glcnn numbers.glcnn
frozen
again numbers.glcnn
must train --resume numbers.glcnn --data parts --epochs 2 --out numbers.glcnn
frozen
must import "$golden/../learned/affine.onnx" -o affine.glcnn
! grep '^frozen' log || fail 'numbers that train are told to be frozen'
must export affine.glcnn -o affine.onnx
same_file "$golden/../learned/affine.onnx" affine.onnx || fail 'affine.onnx comes back as another file'

# What trains is told by layers: running statistics are no parameters. Of many layers the first.
listed() {
    grep '^layer\|^  \|^and\|^trainable' log >told
    cmp told "$work/trains" || fail 'other parameters are told to train'
    awk 'length > 80 { exit 1 }' told || fail 'a line is longer than 80 columns'
}
cat >trains <<'END'
layer stem: 72
  stem.weight                                             8x1x3x3           72
layer norm: 16
  norm.gamma                                                    8            8
  norm.beta                                                     8            8
layer body: 1168
  body.weight                                            16x8x3x3         1152
  body.bias                                                    16           16
layer head: 85
  head.weight                                                5x16           80
  head.bias                                                     5            5
trainable: 1341 numbers, 7 parameters of 4 layers; 0 parameters are frozen
END
must import --force "$golden/classifier.onnx" -o listed.glcnn
listed
LC_ALL=C sed "s/stem\.weight/st$(printf '\033')[31mwght/g" "$golden/classifier.onnx" >hostile.onnx
sed 's/stem\.weight    /st\\x1b[31mwght /' trains >hostile
must import --force hostile.onnx -o listed.glcnn
mv hostile trains
listed
must import --force "$golden/../learned/affine.onnx" -o listed.glcnn
says '^and [0-9]* more layers that train: --parameters lists all$'
total=$(grep '^trainable: ' log)
must import --force "$golden/../learned/affine.onnx" -o listed.glcnn --parameters
! grep '^and' log || fail '--parameters does not list all'
[ "$(grep '^trainable: ' log)" = "$total" ] || fail '--parameters changes the totals'
[ "$(awk '/^  / { numbers += $NF; lines++ } /^layer/ { layers++ }
    END { print "trainable: " numbers " numbers, " lines " parameters of " layers " layers; 0 parameters are frozen" }' \
    log)" = "$total" ] || fail 'the totals are not those of the list'

# ---- What is there already -------------------------------------------------------------------------

# kept COMMAND IN FILE: FILE is written over neither unasked nor, whatever is asked, while a run has it.
kept() {
    cp "$3" before
    refused 1 "^glcnn $1: $3: already exists; --force overwrites it$" "$1" "$2" -o "$3"
    flock ".$3.glcnn-lock" "$glcnn" "$1" --force "$2" -o "$3" >log 2>&1 && fail "$1 writes a file that a run has"
    says "$3"
    says 'is being written'
    cmp before "$3" || fail "$1 writes over a file"
    must "$1" --force "$2" -o "$3"
    ! cmp -s before "$3" || fail "$1 --force does not write over a file"
    [ ! -e ".$3.glcnn-lock" ] || fail "$1 leaves its lock"
}
must train --force --model net.glcnn --data parts --batch 8 --epochs 1 --out mine.glcnn
kept import "$golden/plain.onnx" mine.glcnn
cp "$golden/classifier.onnx" mine.onnx
kept export mine.glcnn mine.onnx
: >empty.onnx
must export mine.glcnn -o empty.onnx

# ---- Names -----------------------------------------------------------------------------------------

# A path is any bytes, and long; a network is called what UTF-8 has of it, in whole characters.
bytes=$(printf 'n\303\244me\377')
cp "$golden/plain.onnx" "$bytes.onnx"
must import "$bytes.onnx" -o bytes.glcnn
LC_ALL=C grep -aqF "$(printf '"model.net":"n\303\244me\\\\xff"')" bytes.glcnn || fail 'a title that is not UTF-8 is another'
long=$(printf 'xx%080d' 0 | sed "s/0/$(printf '\303\244')/g")
cp "$golden/plain.onnx" "$long.onnx"
must import "$long.onnx" -o long.glcnn
LC_ALL=C grep -aqF "\"model.net\":\"$(printf 'xx%062d' 0 | sed "s/0/$(printf '\303\244')/g")\"" long.glcnn ||
    fail 'a long title is not cut at a character'
# Lines end as they do anywhere, and empty ones are none.
printf 'a\r\nb\r\n\r\nc\r\nb\r\nd\r\n' >double
refused 1 '^glcnn import: double: line 5: the name "b" is also that of line 2' \
    import "$golden/classifier.onnx" -o x.glcnn --class-names double
# The names that come first and last in their order are compared too.
printf 'a\nc\nd\na\nb\n' >double
refused 1 'double: line 4: the name "a" is also that of line 1' import "$golden/classifier.onnx" -o x.glcnn --class-names double
printf 'd\nb\nd\na\nc\n' >double
refused 1 'double: line 3: the name "d" is also that of line 1' import "$golden/classifier.onnx" -o x.glcnn --class-names double

# ---- What is no such file --------------------------------------------------------------------------

refused 1 'must have 5 lines, one name for each class' import "$golden/classifier.onnx" -o x.glcnn --class-names three/val.csv
refused 2 'no ONNX or .tflite file given' import -o x.glcnn
refused 2 '--out is missing: the model file to write' import "$golden/classifier.onnx"
refused 2 'mean and deviation must each be one number, or 1 separated by commas; deviations must be above 0' import "$golden/classifier.onnx" -o x.glcnn --deviation 0
refused 2 'did you mean class-names?' import "$golden/classifier.onnx" -o x.glcnn --clas-names a
refused 1 'names' import names -o x.glcnn
refused 2 '--out is missing: the file to write' export net.glcnn
refused 1 'is an ONNX file' export "$golden/plain.onnx" -o x.onnx
# A size that the file leaves open: the dimension's number becomes a name without letters.
at=$(LC_ALL=C grep -abo batch "$golden/plain.onnx" | head -n 1 | cut -d : -f 1)
for axis in 1 2 3; do
    cp "$golden/plain.onnx" open$axis.onnx
    printf '\022\0' | dd of=open$axis.onnx bs=1 seek=$((at + 3 + 4 * axis)) conv=notrunc 2>/dev/null
done
refused 1 'axis 1 open; .* (--channels)$' import open1.onnx -o x.glcnn
refused 1 'axis 2 open; .* (--size)$' import open2.onnx -o x.glcnn
refused 1 'axis 3 open; .* (--size)$' import open3.onnx -o x.glcnn --channels 1
must import open1.onnx -o open.glcnn --channels 1
must import --force open2.onnx -o open.glcnn --size 12
says '^open.glcnn: images of 8x12x1, 5 classes$'
# Layers that work at each place alike take another size as they are: the answers are those of the file imported at it.
must import open2.onnx -o small.glcnn --size 8
./draw tall.png 20 30 0 0 || fail 'there is no tall picture'
"$glcnn" predict --json open.glcnn tall.png >expected 2>log || fail 'a tall picture is not predicted'
"$glcnn" predict --json --size 8x12 small.glcnn tall.png >found 2>log && cmp -s expected found ||
    fail 'another size has other answers than the file imported at it'
# Bytes of what the file remembers of its ONNX file: text, then the skeleton before it.
size=$(wc -c <net.glcnn)
for at in $((size - 1)) $((size - 200)) $((size - 900)) $((size - 1800)) $((size - 2600)) \
    $((size - 3000)) $((size - 3400)); do
    LC_ALL=C sed 's/glcnn\.crc64/glcnn.crc00/' net.glcnn >torn.glcnn # no digest
    printf '\377' | dd of=torn.glcnn bs=1 seek=$at conv=notrunc 2>/dev/null
    "$glcnn" export --force torn.glcnn -o y.onnx >log 2>&1
    [ $? -le 1 ] || fail "byte $at of the model changed: another status than 0 and 1"
done
size=$(wc -c <"$golden/classifier.onnx")
for at in 0 1 10 100 400 1000 3000 $((size / 2)) $((size - 600)) $((size - 100)) $((size - 1)); do
    head -c $at "$golden/classifier.onnx" >torn.onnx
    refused 1 . import torn.onnx -o x.glcnn
    cp "$golden/classifier.onnx" torn.onnx
    printf '\377' | dd of=torn.onnx bs=1 seek=$at conv=notrunc 2>/dev/null
    "$glcnn" import --force torn.onnx -o y.glcnn >log 2>&1
    [ $? -le 1 ] || fail "byte $at changed: another status than 0 and 1"
done
[ ! -e x.glcnn ] && [ ! -e x.onnx ] || fail 'what was refused left a file'
echo 'ONNX classifiers come and go'
