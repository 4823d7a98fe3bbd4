#!/bin/sh
# Every door of the tool for files. Each option that writes one, by "glcnn help --files", meets each kind
# of target: nothing, its own earlier file, a foreign one, each input of the run, a link, another output, a
# folder, a pipe, a full device, a place without rights, another run's lock. Each input meets a pipe, a
# device that never ends, and a large file without contents. Nothing may be lost, and nobody waits.
#
# Runs from the top of a built tree. O and CC may be given. Exits 77 without a device.

. tests/tool.sh
golden=$PWD/tests/golden/classifier
export GLCNN_CACHE_DIR="$work/cache" # compiled once; nothing is left in the user's home
mkdir "$work/cache"
cells=0

# What is written, and the program cache, whose files are to be trusted, are apart.
: >"$work/log"
grep -rnE 'fopen\([^)]*"r|[^_a-z]open\([^)]*O_RDONLY|gzopen\(|zip_open\(|TIFFOpen\(' src platform --include='*.[ch]' |
    grep -v '^src/record/binary_file.c\|^src/io/regular.c\|^src/io/files.c\|O_DIRECTORY\|"/dev/null"\|"/proc/' \
        >"$work/log"
[ ! -s "$work/log" ] || fail 'files are opened for reading elsewhere than in src/io/regular.c'

cd "$work" || exit 1
needs_device

# ---- The table ----------------------------------------------------------------------------------------

"$glcnn" help --files >files || fail 'the options that name files are not listed'
for command in $("$glcnn" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$glcnn" help $command | sed -n 's/^ .*--\([a-z-]*\)=\([A-Za-z.=]*\(FILE\|DIR\|PATH\|MAP\|json\)\) .*/\1 \2/p' |
        while read -r option value; do
            grep -q "^$command $option [a-z]* $value$" files || echo "$command --$option=$value"
        done
done >log
[ ! -s log ] || fail 'the table does not say of these options whether they read or write'

# ---- Inputs -------------------------------------------------------------------------------------------

cat >draw.c <<'END_OF_C'
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
enum { SIDE = 32 };
static void save(const char *folder, int n, const unsigned char *bytes)
{
    char path[256];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_GRAY};
    snprintf(path, sizeof path, "%s/%d.png", folder, n);
    if (!png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
        exit(1);
}
int main(void)
{
    static unsigned char pixels[SIDE * SIDE], mask[SIDE * SIDE];
    for (int n = 0; n < 6; n++) {
        for (int i = 0; i < SIDE * SIDE; i++) {
            mask[i] = (unsigned char)(i % SIDE > 6 + n);
            pixels[i] = (unsigned char)(rand() % 99 + 150 * mask[i]);
        }
        save("in/seg/images", n, pixels);
        save("in/seg/masks", n, mask);
    }
    return 0;
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) 2>log || fail 'draw.c does not compile'
mkdir -p in/cl in/seg/images in/seg/masks made
./draw || fail 'there are no pictures'
cp "$golden/train.csv" in/cl/train.csv
head -n 10 "$golden/train.csv" >in/cl/val.csv
cp "$golden/train.csv" in/one.csv
cp "$golden/classifier.onnx" in/model.onnx
echo '{"rows":[]}' >in/old.json
: >in/map
small='--batch 4 --limit 4 --epochs 1'
train="train --data in/cl $small"
must() {
    timeout 300 "$glcnn" "$@" >log 2>&1 </dev/null || fail "glcnn $*: status $?"
}
must $train --net small --out in/net.safetensors
must train --net small --data in/seg $small --out in/seg.safetensors
must anomaly fit in/seg/images --model in/seg.safetensors -o in/bank.glcnn
printf '\223NUMPY\001\000\166\000%-117s\n1234' "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }" >in/x.npy
rm -f in/*.best.* in/*.features
echo name0 >in/names
find in -type f -exec cksum {} + | sort >sums

# Nothing that is read may change, whatever happens.
unchanged() {
    find in -type f -exec cksum {} + | sort | cmp -s - sums || fail "$*: an input has changed"
}

# base COMMAND OPTION: the command that writes it; one word each.
base() {
    case $1.$2 in
    run.*) echo run pooling_max -p kernel_width=3 --reference -i source_image=in/x.npy ;;
    bench.*) echo bench -q --kernel transpose ;;
    train.feature-cache) echo $train --model in/net.safetensors --train last ;;
    train.*) echo $train --net small ;;
    look.*) echo look in/seg ;;
    evaluate.plot) echo evaluate in/net.safetensors in/cl ;;
    evaluate.*) echo evaluate in/seg.safetensors in/seg ;;
    predict.*) echo predict in/seg.safetensors in/seg/images/0.png in/seg/images/1.png ;;
    anomaly.out) echo anomaly fit in/seg/images --model in/seg.safetensors ;;
    anomaly.maps) echo anomaly score in/bank.glcnn in/seg/images/0.png ;;
    import.*) echo import in/model.onnx ;;
    export.calibration) echo export in/net.safetensors --data in/cl --pictures 2 ;;
    export.*) echo export in/net.safetensors ;;
    esac
}

# inputs COMMAND OPTION: lines "INPUT ARGUMENTS", each input that such a run can have.
inputs() {
    case $1.$2 in
    run.*) echo in/x.npy run pooling_max -p kernel_width=3 --reference -i source_image=in/x.npy ;;
    bench.*)
        echo in/old.json bench -q --kernel transpose --compare in/old.json
        echo in/one.csv bench -q --kernel transpose --data in/one.csv
        ;;
    train.*)
        echo in/cl/train.csv $train --net small
        echo in/one.csv train --data in/one.csv --net small
        echo in/net.safetensors $train --model in/net.safetensors --train last
        echo in/net.safetensors $train --net small --load-matching in/net.safetensors
        echo in/map $train --net small --load-matching in/net.safetensors --names in/map
        [ $2 = out ] || echo in/net.safetensors train --resume in/net.safetensors --epochs 2 # what goes on
        ;;
    look.*) echo in/cl/val.csv look in/cl ;;
    evaluate.*)
        echo in/net.safetensors evaluate in/net.safetensors in/cl
        echo in/cl/val.csv evaluate in/net.safetensors in/cl
        ;;
    predict.*)
        echo in/seg.safetensors predict in/seg.safetensors in/seg/images/0.png
        echo in/seg/images/0.png predict in/seg.safetensors in/seg/images/0.png
        echo in/seg/images/1.png predict in/seg.safetensors in/seg/images
        ;;
    anomaly.out)
        echo in/seg.safetensors anomaly fit in/seg/images --model in/seg.safetensors
        echo in/seg/images/0.png anomaly fit in/seg/images --model in/seg.safetensors
        ;;
    anomaly.maps)
        echo in/bank.glcnn anomaly score in/bank.glcnn in/seg/images/0.png
        echo in/seg/images/0.png anomaly score in/bank.glcnn in/seg/images/0.png
        ;;
    import.*)
        echo in/model.onnx import in/model.onnx
        echo in/names import in/model.onnx --class-names in/names
        ;;
    export.calibration)
        echo in/net.safetensors export in/net.safetensors --data in/cl --pictures 2
        echo in/cl/train.csv export in/net.safetensors --data in/cl --pictures 2
        ;;
    export.*)
        echo in/net.safetensors export in/net.safetensors
        echo in/cl/train.csv export in/net.safetensors --int8 --data in/cl
        ;;
    esac
}

# place COMMAND OPTION NAME: sets `value`, what the option is given, `file`, what is written by that, and
# `lock`, what another run would hold.
place() {
    at=made/$3 lock=
    case $1.$2 in
    run.output) file=$at.npy value=destination_image=$file ;;
    *.report) value=$at file=$at/index.html ;;
    train.tensorboard) value=$at file=$at/- lock=$at/.events.glcnn-lock ;;
    predict.*) value=$at file=$at/in_seg_images_0.png lock=$at/.pictures.glcnn-lock ;;
    export.calibration) value=$at file=$at/pictures.npy lock=$at/.pictures.glcnn-lock ;;
    anomaly.maps) value=$at file=$at/00000-0.png lock=$at/.pictures.glcnn-lock ;;
    train.out | import.out | anomaly.out) file=$at.glcnn value=$file ;;
    export.out) file=$at.onnx value=$file ;;
    *.plot) file=$at.svg value=$file ;;
    train.log) file=$at.csv value=$file ;;
    *.trace) file=$at.json value=$file ;;
    train.feature-cache) file=$at.features value=$file lock=$file ;;
    *) fail "glcnn $1 --$2: no place for it in this test" ;;
    esac
    [ -n "$lock" ] || lock=$(dirname "$file")/.$(basename "$file").glcnn-lock
}

# ends STATUS WORDS: the last cell did so, and lost no input. A wait that lasts ends with 124.
ends() {
    cells=$((cells + 1))
    case $1 in
    $status) ;;
    not0) [ $status = 1 ] || [ $status = 2 ] || fail "$what: status $status" ;;
    *) fail "$what: status $status" ;;
    esac
    [ -z "$2" ] || grep -q -e "$2" log || fail "$what: no word of \"$2\""
    unchanged "$what"
}
# go WHAT ARGUMENT...
go() {
    what=$1 status=0
    shift
    what="$what: glcnn $*"
    timeout 120 "$glcnn" "$@" >log 2>&1 </dev/null || status=$?
}
clean() {
    rm -rf made
    mkdir made
}
# foreign FILE
foreign() {
    mkdir -p "$(dirname "$1")"
    echo foreign >"$1"
}
is_foreign() {
    [ "$(cat "$1")" = foreign ] || fail "$what: a foreign file is lost"
}

# Files that only this option makes: what it adds to is not replaced, so "foreign" and "own" mean something else.
ordinary() {
    case $1.$2 in train.tensorboard | train.feature-cache) return 1 ;; esac
}

try_targets() { # COMMAND OPTION
    command=$1 option=$2
    set -- $(base $1 $2)
    [ $# -gt 0 ] || fail "glcnn $command --$option: no command for it in this test"
    place $command $option x
    give=--$option=$value

    go 'absent' "$@" $give
    ends 0 ''
    if ordinary $command $option; then
        [ -f "$file" ] && [ -s "$file" ] || fail "$what: nothing is written"
        cp "$file" own
        go 'own' "$@" $give
        ends 1 'already exists; --force overwrites it'
        cmp -s own "$file" || fail "$what: its earlier file has changed"
        foreign "$file"
        go 'foreign' "$@" $give
        ends 1 'already exists; --force overwrites it'
        is_foreign "$file"
        mv "$file" made/kept
        ln -s "$PWD/made/kept" "$file"
        go 'link' "$@" $give
        ends 1 'already exists; --force overwrites it'
        is_foreign made/kept
        go 'link, forced' "$@" $give --force
        ends 0 ''
        [ -L "$file" ] && ! grep -q '^foreign$' made/kept || fail "$what: the link is replaced, or its file is not"
    else
        go 'own' "$@" $give
        ends 0 ''
    fi
    if [ $option = feature-cache ]; then
        foreign "$file"
        go 'foreign, forced' "$@" $give --force
        ends 0 'is not a feature file, and is not overwritten'
        is_foreign "$file"
    fi
    clean

    # Each input, by a link and by force. What is no file of a fixed name has only the link's.
    ordinary $command $option && inputs $command $option | while read -r input rest; do
        mkdir -p "$(dirname "$file")"
        ln -s "$PWD/in/../$input" "$file"
        go "input $input" $rest $give --force
        ends 1 'would be replaced by --[a-z]*; give it another name'
        echo >>counted
        clean
    done || ! ordinary $command $option || exit 1

    mkdir -p "$file"
    go 'folder' "$@" $give --force
    case $option in
    tensorboard) ends 0 '' ;;
    feature-cache) ends not0 'is not a regular file' ;;
    *) ends 1 'is not a regular file, and cannot be replaced: it is a folder' ;;
    esac
    clean

    if [ $option != tensorboard ]; then
        mkdir -p "$(dirname "$file")"
        mkfifo "$file"
        go 'pipe' "$@" $give --force
        ends 1 'is not a regular file, and cannot be replaced: it is a pipe'
        [ -p "$file" ] || fail "$what: the pipe is gone"
        rm "$file"
        if [ -c /dev/full ]; then
            ln -s /dev/full "$file"
            go 'full device' "$@" $give --force
            ends 1 'No space left\|is not a regular file'
            [ -L "$file" ] && [ -c /dev/full ] || fail "$what: the device is replaced"
        fi
        clean
    fi
    case $value in
    "$file" | *=*) ;;
    *)
        echo file >made/x
        go 'file for a folder' "$@" $give --force
        ends 1 'cannot be created'
        clean
        go 'a folder in none' "$@" "--$option=made/a/b//c/"
        ends 0 ''
        clean
        ;;
    esac

    # Nobody may make files there, root neither.
    case $command.$option in
    run.output) nowhere=destination_image=/proc/x.npy ;;
    *) nowhere=/proc/${value#made/} ;;
    esac
    go 'no right' "$@" --$option=$nowhere
    case $option in
    feature-cache) ends 0 'features: not kept' ;; # they are computed again
    *) ends 1 'cannot be created' ;;
    esac

    if [ $option != feature-cache ]; then
        mkdir -p "$(dirname "$lock")"
        : >"$lock"
        exec 9>"$lock"
        flock -n 9 || fail 'the lock is not free'
        go 'locked' "$@" $give
        ends 1 'is being written already, by another process or by this one'
        exec 9>&-
        clean
    fi
}

# Two outputs of one run, through links to one file.
try_pairs() { # COMMAND OPTION...
    command=$1
    shift
    while [ $# -gt 1 ]; do
        one=$1
        shift
        for other; do
            ordinary $command $one && ordinary $command $other || continue
            case $one.$other in out.maps) continue ;; esac # of fit, and of score
            foreign made/shared
            place $command $one x
            mkdir -p "$(dirname "$file")"
            ln -s "$PWD/made/shared" "$file"
            first=$value
            place $command $other y
            mkdir -p "$(dirname "$file")"
            ln -s "$PWD/made/shared" "$file"
            arguments=$(base $command $other)
            [ $command = evaluate ] && arguments=$(base $command plot)
            [ $command = export ] && arguments=$(base $command calibration)
            go "--$one and --$other" $arguments --$one=$first --$other=$value --force
            ends 1 'are one file'
            is_foreign made/shared
            clean
        done
    done
}

: >counted
outputs=$(grep -c ' writes ' files)
[ $outputs -gt 9 ] || fail 'the table has hardly any outputs'
while read -r command option way value; do
    [ $way = writes ] || continue
    try_targets $command $option
done <files
for command in $(sed -n 's/ .* writes .*//p' files | sort -u); do
    try_pairs $command $(sed -n "s/^$command \\(.*\\) writes .*/\\1/p" files)
done
go 'two arrays' run pooling_max -p kernel_width=3 --reference -i source_image=in/x.npy -o destination_image=made/a.npy \
    -o destination_image=made/../made/a.npy
ends 1 'would be written twice by --output'

# Pictures of one name, and their own folder.
go 'its own folder' predict in/seg.safetensors in/seg/images/0.png --draw made --masks made/.
ends 1 'are one file'
mkdir -p a && cp in/seg/images/0.png a/x.png && cp in/seg/images/1.png a/x.tiff
go 'two of a name' predict in/seg.safetensors a/x.png a/x.tiff --draw made
ends 1 'would be written twice by --draw'
mkdir -p b && mv a/x.tiff b/x.jpg
go 'two folders' predict in/seg.safetensors a/x.png b/x.jpg --draw made
ends 0 ''
[ "$(ls made)" = "a_x.png
b_x.png" ] || fail "$what: it makes $(ls made)"
cp in/seg/images/0.png here.png
cp here.png before.png
for option in draw masks; do
    go 'beside the picture' predict in/seg.safetensors here.png --$option a/.. --force
    ends 1 'here.png: is read by this run'
    cmp -s here.png before.png || fail "$what: the picture is replaced"
done
clean

# A run that goes on keeps its own files, and no others.
set -- train --data in/cl $small --out made/a.glcnn --log made/a.csv --plot made/a.svg --report made/a --trace made/a.json
must "$@" --net small
set -- "$@" --resume made/a.glcnn --epochs 2
go 'resumed' "$@"
ends 0 ''
[ "$(grep -c '^[0-9]' made/a.csv)" = 2 ] || fail "$what: the log has $(cat made/a.csv)"
for file in made/a.csv made/a.svg made/a/index.html made/a.json; do
    mv $file kept
    foreign $file
    go "foreign $file" "$@" --epochs 3
    ends 1 "$file: already exists; --force overwrites it"
    is_foreign $file
    mv kept $file
done

# ---- The rule's corners -------------------------------------------------------------------------------

pool='run pooling_max -p kernel_width=3 --reference -i source_image=in/x.npy'
clean
: >made/x.npy
go 'empty' $pool -o destination_image=made/x.npy
ends 0 ''
[ -s made/x.npy ] || fail "$what: nothing is written"
rm made/x.npy
for descriptor in /dev/fd/5 /proc/self/fd/5; do
    [ -e /proc/self/fd ] || continue
    {
        echo begun >&5
        go 'descriptor' $pool -o destination_image=$descriptor
    } 5>made/x.npy
    ends 0 ''
    [ "$(head -n 1 made/x.npy)" = begun ] || fail "$what: the file is replaced, or written from its start"
    rm made/x.npy
done
if [ -c /dev/null ]; then
    go 'two outputs to a device' train --data in/cl --net small $small --log /dev/null --trace /dev/null
    ends 0 ''
fi

# A run that is refused leaves no folder that it made, and every one that was there.
mkdir made/there
for folder in made/a/b/c made/there/a/b; do
    go 'refused' predict in/seg.safetensors in/seg/images/0.png --draw $folder --masks $folder
    ends 1 'are one file'
    [ "$(find made)" = "made
made/there" ] || fail "$what: it leaves $(find made)"
done

# An earlier output may lie among the data, whichever it is, and is replaced by force; data are not.
cp -R in/seg made/seg
page=made/seg/index.html
for mark in '12345678{"__metadata__":{' 'step,epoch,learning_rate,loss,' \
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ' '<!DOCTYPE html>
<html lang="en">
<head>
<meta charset' '{"traceEvents":[' 'glcnn features'; do
    printf '%s' "$mark" >$page
    go "among the data: $mark" look made/seg --report made/seg --force
    ends 0 ''
    printf '%sx' "${mark%?}" >$page
    cp $page kept
    go "among the data: not quite $mark" look made/seg --report made/seg --force
    ends 1 'index.html: lies in made/seg, which this run reads, and would be replaced by --report'
    cmp -s $page kept || fail "$what: it is replaced"
done
clean

# ---- Observers that fail ------------------------------------------------------------------------------

if [ -c /dev/full ]; then
    for option in log plot trace; do
        clean
        case $option in log) name=l.csv ;; plot) name=p.svg ;; trace) name=t.json ;; esac
        ln -s /dev/full made/$name
        go "full $option" train --data in/cl --net small --batch 4 --limit 8 --epochs 2 --out made/a.glcnn --$option made/$name
        ends 1 "made/$name: cannot be written: No space left on device; --$option is left out from here on, the training is not"
        [ "$(grep -c 'is left out' log)" = 1 ] || fail "$what: it is reported more than once"
        grep -q '^epoch 2 of 2' log && grep -q '^best: ' log || fail "$what: the training ends"
        must evaluate made/a.glcnn in/cl
    done
fi
# A folder that is gone after the first step is a page that cannot be written.
clean
(
    while [ ! -s made/l.csv ]; do sleep 0.02; done
    rm -rf made/r
) &
go 'no page' train --data in/cl --net small --batch 4 --epochs 2 --out made/a.glcnn --report made/r --log made/l.csv
wait $!
ends 1 'index.html: .*; --report is left out from here on, the training is not'
grep -q '^best: ' log || fail "$what: the training ends"

# ---- Inputs that are no files -------------------------------------------------------------------------

# reads FILE: every command that reads one, with FILE in its place, a line each.
reads() {
    cat <<END
import $1 -o made/x.glcnn
import in/model.onnx -o made/x.glcnn --class-names=$1
train --net small --data=$1
train --net small --data in/cl --load-matching none --names=$1
train --net small --data in/cl --load-matching=$1
train --model=$1 --data in/cl
train --resume=$1 --data in/cl
train --net small --data in/seg --mask-colours=$1
predict $1 in/one.csv
predict in/seg.safetensors $1
look $1
evaluate $1 in/cl
evaluate in/net.safetensors $1
evaluate in/seg.safetensors in/seg --mask-colours=$1
export $1 -o made/x.onnx
export in/net.safetensors --int8 --data=$1 -o made/x.onnx
anomaly fit in/seg/images --model=$1 -o made/x.glcnn
anomaly fit $1 --model in/seg.safetensors -o made/x.glcnn
anomaly score $1 in/seg/images
anomaly score in/bank.glcnn $1
bench -q --kernel transpose --data=$1
bench --compare=$1 in/old.json
bench --compare in/old.json $1
run pooling_max -p kernel_width=3 --reference --input=source_image=$1
END
}
reads FILE >doors
while read -r command option way value; do
    [ $way = writes ] || grep -q "^$command .*--$option\\( .*\\)\\{0,1\\}[= ]\\(source_image=\\)\\{0,1\\}FILE" doors ||
        fail "glcnn $command --$option: nothing tries it"
done <files

clean
large=3221225472
mkfifo pipe pipe.csv pipe.png pipe.npz pipe.npy pipe-ubyte pipe.safetensors
: >large && truncate -s $large large && ln -s large large.csv && truncate -s 2147483647 large.onnx || rm -f large*
for file in pipe pipe.csv pipe.png pipe.npz pipe.npy pipe-ubyte pipe.safetensors /dev/zero large large.csv large.onnx; do
    case $file in
    pipe*) words='is not a regular file\|cannot be read\|is one picture' ;;
    /*) words='is not a regular file\|cannot be read' ;;
    *) [ -e $file ] || continue; words="$file: " ;;
    esac
    reads $file | while read -r line; do
        # Memory for what is read whole would be missing, and said to be.
        [ -p $file ] || [ -c $file ] || ulimit -v 2500000
        go "$file" $line
        ends not0 "$words"
        ! grep -qi 'memory' log || fail "$what: all of it is to be read"
        echo >>counted
    done || exit 1
done
[ -z "$(ls made)" ] || fail "what was refused left $(ls made)"

echo "$((cells + $(wc -l <counted))) cells: nothing is lost, and nobody waits"
