#!/bin/sh
# A task is a file that the build finds: one more in a copy of src/task, with no edit anywhere else, and its help, its
# training, its page, its evaluation and Python's table know it.
#
# Runs from the top of a built tree. MAKE, CC and O may be given.
set -e
. tests/tool.sh
make=${MAKE:-make} out=${O:-build}

# The toy is classification by another name, with a measure of its own.
mkdir -p "$work/src/task" "$work/out"
sed -e 's/task_classify/task_toy/; s/\.name = "classify"/.name = "toy"/; s/\.measure = "accuracy"/.measure = "bricks"/' \
    -e 's/"  classify   a class for each picture/"  toy        a brick for each picture/' \
    src/task/task_classify.c >"$work/src/task/task_toy.c"
grep -q '^const struct task task_toy = {' "$work/src/task/task_toy.c" || fail 'the toy has no row'

# The registry is what the build makes of the two folders; everything else is as it was built.
"$make" -s O="$work/out" TASK_SOURCES="$(echo src/task/task_*.c) $work/src/task/task_toy.c" "$work/out/tasks.c" \
    >"$work/log" 2>&1 || fail 'the registry is not made'
for file in "$work/src/task/task_toy.c" "$work/out/tasks.c"; do
    $cc -std=c11 -D_XOPEN_SOURCE=700 -O0 -fPIC -iquote src/task -iquote src -Iinclude -I"$out/include" \
        $($pkg_config --cflags libcjson) -c -o "$work/$(basename "$file" .c).o" "$file" || fail "$file does not compile"
done
libraries="$out/libglcnn_train.a $out/libglcnn_data.a $out/libglcnn_tflite.a $out/libglcnn_onnx.a $out/libglcnn_interchange.a $out/libglcnn.a
    $($pkg_config --libs egl gbm libcjson libcbor liblzma libprotobuf-c libpng libjpeg libwebp libtiff-4 libzip zlib expat yaml-0.1)
    -lstdc++ -pthread -lm"
$cc -o "$work/glcnn" "$work"/*.o $(ls src/tool/*.c | sed "s,^,$out/,; s,c$,o,") "$out"/examples/support/*.o $libraries ||
    fail 'the tool does not link'

# says WORDS COMMAND...: the command succeeds, and prints the words.
says() {
    words=$1
    shift
    "$@" >"$work/log" 2>&1 || fail "$* fails"
    grep -qF -e "$words" "$work/log" || fail "$* does not say \"$words\""
}
says 'toy        a brick for each picture' "$work/glcnn" help train
awk 'BEGIN {
    printf "label"; for (i = 0; i < 64; i++) printf ",p%d", i; print ""
    for (n = 0; n < 24; n++) { printf n % 2; for (i = 0; i < 64; i++) printf ",%d", (i * 7 + n * 3) % 90 + 150 * (i % 2 == n % 2); print "" }
}' >"$work/data.csv"
says 'bricks' "$work/glcnn" train --task toy --data "$work/data.csv" --channels 1 --size 8 --net small --epochs 1 --batch 8 \
    --report "$work/report" --out "$work/toy.safetensors"
grep -q bricks "$work/report/index.html" || fail 'the page does not know its measure'
says 'bricks ' "$work/glcnn" evaluate "$work/toy.safetensors" "$work/data.csv"

# Python asks the shared library.
/usr/bin/python3 -c 'import numpy' 2>"$work/said" || exit 0
soname=$(readelf -d "$out/libglcnn_train.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
mkdir "$work/lib"
ln -s "$(cd "$out" && pwd)"/*.so* "$work/lib"
rm "$work/lib/$soname"
$cc -shared -Wl,-soname,"$soname" -Wl,-z,muldefs -o "$work/lib/$soname" "$work"/*.o \
    -Wl,--whole-archive "$out/libglcnn_train.a" -Wl,--no-whole-archive "$out/base.a" -L"$out" -lglcnn_data -lglcnn_onnx \
    -lglcnn_interchange -lglcnn $($pkg_config --libs libcjson libpng libprotobuf-c) -lm >"$work/log" 2>&1 ||
    fail 'the library does not link'
cp -R src/python/glcnn "$work/glcnn_package" && mkdir "$work/python" && mv "$work/glcnn_package" "$work/python/glcnn"
/usr/bin/python3 src/python/generate.py include "$work/python/glcnn"
says "'toy'" env GLCNN_LIBRARY="$work/lib" PYTHONPATH="$work/python" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import glcnn
print([row.choices for row in glcnn.settings() if row.name == "task"])'
