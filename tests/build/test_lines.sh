#!/bin/sh
# The lines of README.md and examples/README.md that call the tool are typed as they stand, one after the
# other, in a fresh folder that has the data they name. What takes long is made short by a wrapper that adds
# options behind them: fewer pictures, one epoch, one kernel.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
. tests/mpirun.sh
cd "$work" || exit 1

needs_device

# ---- The tool, with less to do -------------------------------------------------------------------

mkdir bin
cat >bin/glcnn <<END_OF_WRAPPER
#!/bin/sh
has() { case " \$line " in *" \$1 "*) return 0 ;; esac; return 1; }
line="\$*"
case \$1 in
train)
    has --data || has --resume || set -- "\$@" --data fruit
    has --model || has --resume || set -- "\$@" --size 32
    has --model || has --resume || has --net || set -- "\$@" --net small
    has --resume || set -- "\$@" --force
    set -- "\$@" --limit 8 --batch 4
    has --resume && set -- "\$@" --epochs 2 || set -- "\$@" --epochs 1
    ;;
evaluate | predict | import | export | anomaly) has look || set -- "\$@" --force ;;
bench)
    has --board && set -- "\$@" -q --shape 'step of lenet'
    has -k || has --shape || has --compare || has --board || set -- "\$@" -q -k transpose
    ;;
check) set -- "\$@" -k transpose ;;
esac
exec "$out/glcnn" "\$@"
END_OF_WRAPPER
chmod +x bin/glcnn

# ---- What the lines name -------------------------------------------------------------------------

cat >draw.c <<'END_OF_C'
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
enum { SIDE = 32 };
static unsigned char pixels[SIDE][SIDE][3], mask[SIDE][SIDE];
static void save(const char *path, int format, const void *bytes)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = (png_uint_32)format};
    if (!png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
        exit(1);
}
/* usage: draw SEED RED PICTURE [MASK]: a square of that much red; prints its middle. */
int main(int argc, char *argv[])
{
    srand((unsigned)atoi(argv[1]));
    const int red = atoi(argv[2]), left = 2 + rand() % 16, top = 2 + rand() % 16;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            mask[y][x] = x >= left && x < left + 12 && y >= top && y < top + 12;
            for (int c = 0; c < 3; c++)
                pixels[y][x][c] = (unsigned char)(rand() % 60 + (mask[y][x] ? (c == 0 ? red : 190 - red) : 20));
        }
    save(argv[3], PNG_FORMAT_RGB, pixels);
    if (argc > 4)
        save(argv[4], PNG_FORMAT_GRAY, mask);
    printf("%d %d\n", left + 6, top + 6);
    return 0;
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) 2>log || fail 'draw.c does not compile'

data() { # makes the data in the present folder
    mkdir -p fruit/apple fruit/banana fruit/cherry unseen/apple unseen/banana unseen/cherry new parts/images fields/images fields/masks \
        parking/images parking/labels faces/images bottle/train/good bottle/test/good bottle/test/scratch
    echo file,angle >parts/list.csv
    echo file,nose_x,nose_y >faces/list.csv
    printf 'car\nbus\n' >parking/classes.txt
    printf 'apple\nbanana\ncherry\n' >names.txt
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        for set in fruit unseen; do
            ../draw $n$n 180 $set/apple/$n.jpg >/dev/null
            ../draw $n 10 $set/banana/$n.jpg >/dev/null
            ../draw 9$n 95 $set/cherry/$n.jpg >/dev/null
        done
        at=$(../draw $n 180 fields/images/$n.png fields/masks/$n.png)
        cp fields/images/$n.png parking/images
        cp fields/images/$n.png parts/images
        cp fields/images/$n.png faces/images
        cp fields/images/$n.png bottle/train/good
        echo "$n.png,$n.5" >>parts/list.csv
        echo "$n.png,${at% *},${at#* }" >>faces/list.csv
        echo $at | awk -v k=$((n % 2)) '{ print k, $1 / 32, $2 / 32, 12 / 32, 12 / 32 }' >parking/labels/$n.txt
    done
    ../draw 50 180 bottle/test/good/1.png >/dev/null
    ../draw 51 10 bottle/test/scratch/1.png >/dev/null
    cp fruit/apple/1.jpg new/1.jpg
    cp fruit/banana/1.jpg new/2.jpg
    printf '\223NUMPY\001\000\166\000%-117s\n1234' \
        "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }" >x.npy
    glcnn train --data fruit --net resnet8 --out made.safetensors >../log 2>&1 || fail 'no network is made'
    glcnn export made.safetensors -o net.onnx >../log 2>&1 || fail 'no ONNX file is made'
    glcnn import net.onnx -o net.glcnn >../log 2>&1 || fail 'no model is imported'
    glcnn bench --json >old.json 2>../log || fail 'no earlier bench is made'
}

# ---- The lines -----------------------------------------------------------------------------------

export PATH="$work/bin:$PATH" LD_LIBRARY_PATH="$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" # MPI's library is loaded by name
typed=0
for page in README.md examples/README.md; do
    folder=$(echo $page | tr / _)
    mkdir "$folder"
    cd "$folder" || exit 1
    data
    # What stands behind three blanks says what the line does.
    sed -n 's/^    \(\(mpirun .*\)\{0,1\}glcnn [a-z].*\)/\1/p' "$top/$page" | sed 's/   .*//' >../lines
    while read -r line; do
        case $line in mpirun*) command -v mpirun >/dev/null || continue ;; esac
        sh -c "$line" >../log 2>&1 </dev/null
        status=$?
        # Classes of 12 pictures may be too few for a bar: what counts is that the line is taken.
        # A comparison of times ends with 1 where the machine was slower the second time.
        case $status:$line in 0:* | 1:*--compare*) ;; *) fail "$page: $line: status $status" ;; esac
        typed=$((typed + 1))
    done <../lines
    cd ..
done
[ $typed -ge 30 ] || fail "$typed lines were found: the search is broken"

# The demo ends with lines that can be typed too.
sed -n "s/^\\t*'  \\\$(O)\\/\\(glcnn .*\\)'.*/\\1/p" "$top/Makefile" >lines
[ "$(wc -l <lines)" = 3 ] || fail 'the demo does not end with three lines'
cd README.md || exit 1
while read -r line; do
    sh -c "$line" >../log 2>&1 </dev/null || fail "the demo's $line: status $?"
done <../lines
echo "$typed lines were typed"
