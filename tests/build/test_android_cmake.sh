#!/bin/sh
# platform/android with this system's CMake and compiler: its libraries need EGL and no GBM, export what
# they should, and the example trains in a folder whose name is not ASCII, keeps programs and a checkpoint
# there, writes a document through a descriptor, and goes on from where it was.
#
# Runs from the top of a built tree. CC may be given. Exits 77 where CMake or Mesa's llvmpipe is not there.

. tests/tool.sh
command -v cmake >/dev/null || skip 'cmake is not here'
"$out/glcnn" info --json 2>/dev/null | grep -q '"usable":.*true' || skip 'no device is here'
trap 'exit 130' INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL O CFLAGS LDFLAGS GLCNN_CACHE_DIR GLCNN_DEVICE XDG_CACHE_HOME HOME DISPLAY WAYLAND_DISPLAY
export EGL_PLATFORM=surfaceless # Mesa's default display

made=$work/made
cmake -S platform/android -B "$made" ${CC:+"-DCMAKE_C_COMPILER=${CC##* }"} \
    -DCMAKE_C_FLAGS='-O0 -Wall -Wextra -Werror -Wno-missing-field-initializers' \
    '-DGLCNN_INTERCHANGE=cjson;cbor;lzma' -DGLCNN_ONNX=protobuf-c -DGLCNN_TFLITE=protobuf-c \
    '-DGLCNN_DATA=png;jpeg;webp;tiff;zip;z;expat;cjson;yaml' '-DGLCNN_TRAIN=cjson;png;protobuf-c' -DGLCNN_EXAMPLE=ON >"$work/said" 2>&1 &&
    cmake --build "$made" -j "$(getconf _NPROCESSORS_ONLN)" >"$work/said" 2>&1 || fail "$(tail -40 "$work/said")"

# What was generated anew would be compiled anew.
cmake --build "$made" >"$work/said" 2>&1
grep -q 'Building C' "$work/said" && fail "a second build compiles: $(grep 'Building C' "$work/said" | head -3)"

for library in glcnn glcnn_interchange glcnn_onnx glcnn_tflite glcnn_data glcnn_train; do
    readelf -d "$made/lib$library.so" >"$work/needed" || fail "there is no lib$library.so"
    grep -e libgbm -e libdrm "$work/needed" && fail "$library needs GBM"
    nm -D --defined-only "$made/lib$library.so" | awk '{ print $3 }' | grep -v '^glcnn_\|^GLCNN_0' &&
        fail "$library exports what is not its own"
done
[ "$(nm -D --defined-only "$made/libglcnn.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort)" = \
    "$(nm -D --defined-only "$out/libglcnn.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort)" ] ||
    fail 'libglcnn exports other names than that of the Makefile'

folder=$work/Übung-学
train() {
    "$made/example" "$folder" "$work/document" >"$work/out" 2>"$work/log" || fail "$(cat "$work/out" "$work/log")"
    [ -s "$work/out" ] && fail "something is printed: $(cat "$work/out")"
    sed -n 's/^50 steps: loss \(.*\), then \(.*\)$/\1 \2/p' "$work/log"
}
first=$(train)
[ -n "$(ls "$folder/programs")" ] || fail 'no programs are kept'
cmp "$folder/model.safetensors" "$work/document" || fail 'the document is not the model'
ls "$folder/programs" >"$work/programs"
second=$(train)
ls "$folder/programs" | cmp - "$work/programs" || fail 'the second start compiles'
cmp "$folder/model.safetensors" "$work/document" || fail 'the document is not the second model'
echo "$first $second" | awk '{ exit !(NF == 4 && $2 < 0.5 * $1 && $3 < 1.1 * $2 && $4 < $3) }' ||
    fail "training does not go on: $first, then $second"
echo "row example: loss $first, then $second, in a folder of its own"

# What fails is told in the log: a folder that is a file.
: >"$work/file"
"$made/example" "$work/file" 2>"$work/log" && fail 'a file is a folder'
grep -q "$work/file/model.safetensors: .*Not a directory" "$work/log" || fail "$(cat "$work/log")"

# A generated file follows what it is made of.
mkdir "$work/tree" && cp -R Makefile include src glsl platform tests "$work/tree" || exit 1
configure() {
    cmake -S "$work/tree/platform/android" -B "$work/other" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
}
configure
mkdir "$work/tree/glsl/added" && echo 'void main() {}' >"$work/tree/glsl/added/added.comp"
configure
grep -q '"added/added.comp"' "$work/other/made/shaders.c" || fail 'a new shader is not embedded'
