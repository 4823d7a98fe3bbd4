#!/bin/sh
# Android without its NDK: all files of the libraries compile for API level 24, 64 and 32 bits, without a
# warning, and of the system they need nothing that Android does not have (android/bionic.txt).
#
# ANDROID_HEADERS names the NDK's headers, its sysroot/usr/include. Without it musl's headers stand in, of
# which those for 32 bits are made: no package of Debian has bionic's.
#
# Runs from the top of a built tree. O may be given. Exits 77 where clang cannot compile for Android, or
# there are no headers.

. tests/tool.sh
trap 'exit 130' INT TERM

nm=$(command -v llvm-nm || command -v nm)
for target in aarch64-linux-android24 armv7a-linux-androideabi24; do
    echo 'int one;' | clang --target=$target -x c -c -o "$work/one.o" - 2>"$work/said" || {
        echo "clang does not compile for $target here"
        exit 77
    }
    "$nm" "$work/one.o" | grep -q one || {
        echo "$nm does not read what is compiled for $target"
        exit 77
    }
done

# ---- Headers ----

# Of libraries that an app brings along, and no others of this system: the C library's are not its.
mkdir "$work/brought"
for name in cjson cbor cbor.h lzma lzma.h protobuf-c png.h pngconf.h pnglibconf.h jpeglib.h jmorecfg.h \
    jerror.h jconfig.h webp tiff.h tiffio.h tiffvers.h tiffconf.h zip.h zipconf.h zlib.h zconf.h expat.h \
    expat_config.h expat_external.h yaml.h; do
    for folder in /usr/include "/usr/include/$(cc -print-multiarch)"; do
        if [ -e "$folder/$name" ]; then ln -s "$folder/$name" "$work/brought/$name"; fi
    done
done

# musl's know x86-64 alone. On 32 bits Android's size_t is int, its long and time_t have 32 bits.
make_short() {
    cp -r "$1" "$2" || exit 1
    sed -i 's/^#define _Int64 long$/#define _Int64 long long/; s/typedef _Int64 time_t/typedef long time_t/
        s/^#define _\(Addr\|Reg\) long$/#define _\1 int/; s/^#define __LONG_MAX .*/#define __LONG_MAX 0x7fffffffL/' \
        "$2/bits/alltypes.h"
    sed -i '/PTR\|SIZE_MAX/s/INT64/INT32/' "$2/bits/stdint.h"
}

if [ -n "$ANDROID_HEADERS" ]; then
    [ -e "$ANDROID_HEADERS/android/api-level.h" ] || fail "ANDROID_HEADERS=$ANDROID_HEADERS has no android/api-level.h"
    headers="bionic's headers"
    headers_64="-isystem $ANDROID_HEADERS -isystem $ANDROID_HEADERS/aarch64-linux-android"
    headers_32="-isystem $ANDROID_HEADERS -isystem $ANDROID_HEADERS/arm-linux-androideabi"
else
    musl=/usr/include/x86_64-linux-musl
    [ -e "$musl/bits/alltypes.h" ] || {
        echo "there are no headers: ANDROID_HEADERS is not given, and musl's are not here"
        exit 77
    }
    headers="musl's headers in place of bionic's"
    make_short "$musl" "$work/short"
    mkdir "$work/kernel"
    for folder in EGL KHR GLES2 GLES3 linux asm-generic; do
        ln -s "/usr/include/$folder" "$work/kernel/$folder"
    done
    ln -s "/usr/include/$(cc -print-multiarch)/asm" "$work/kernel/asm"
    mkdir "$work/kernel/android"
    echo 'enum { ANDROID_LOG_DEBUG, ANDROID_LOG_INFO, ANDROID_LOG_WARN, ANDROID_LOG_ERROR };
        int __android_log_write(int priority, const char *tag, const char *text);' >"$work/kernel/android/log.h"
    # A request of the kernel's is an int in musl's ioctl.
    headers_64="-isystem $musl -isystem $work/kernel -Wno-sign-conversion"
    headers_32="-isystem $work/short -isystem $work/kernel -Wno-sign-conversion"
fi

# ---- Compiling ----

list() { tr ' ' '\n' <"$out/$1" | grep '\.c$'; }
{
    list files | sed 's/\/gbm_device/\/no_gbm_device/' && ls "$out/registry.c" "$out/desktop_registry.c" "$out/shaders.c" "$out/constructors.c" "$out/nodes.c"
} >"$work/core"
{
    list interchange-files && list onnx-files && list data-files && ls "$out/onnx.pb-c.c" platform/android/example.c
} >"$work/others"
export work out
export options="-std=c11 -O0 -fPIC -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -Iinclude -I$out/include -iquote src
    -iquote . -isystem $out -isystem $work/brought -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes
    -Wundef -Wno-missing-field-initializers -Werror"
lanes=$(getconf _NPROCESSORS_ONLN)

# compile FILES TARGET HEADERS: into objects of a folder, and names what does not compile.
compile() {
    mkdir -p "$work/$2/$1"
    # shellcheck disable=SC2016 # for the shell that xargs starts
    to=$work/$2/$1 target=$2 system=$3 xargs -P "$lanes" -n 1 sh -c '
        clang --target=$target -nostdlibinc $options $system -c -o "$to/$(echo "$0" | tr / _).o" "$0" ||
        echo "$0 does not compile for $target"' <"$work/$1" >"$work/said" 2>&1
    grep -q . "$work/said" && fail "$(head -40 "$work/said")"
}

# names FOLDER...: symbols of these objects, undefined and not defined by one of them.
names() {
    find "$@" -name '*.o' -exec "$nm" -P {} + >"$work/symbols" || exit 1
    awk 'NF >= 2 && $2 ~ /^[Uvw]$/ { wanted[$1] } NF >= 2 && $2 !~ /^[Uvw]$/ { had[$1] }
        END { for (name in wanted) if (!(name in had)) print name }' "$work/symbols" | sort
}

# What is there: musl has errno and a failed assert by other names; the other libraries' functions begin
# with theirs.
sed '/^#/d; /^\[/d' tests/android/bionic.txt | tr ' ' '\n' | grep . | sort -u >"$work/there"
[ -n "$ANDROID_HEADERS" ] || printf '%s\n' __errno_location __assert_fail >>"$work/there"
sort -o "$work/there" "$work/there"
brought='^(cJSON_|cbor_|_cbor_|lzma_|protobuf_c_|png_|jpeg_|WebP|TIFF|_TIFF|zip_|XML_|yaml_|inflate|deflate|crc32|gz)'

for row in "aarch64-linux-android24 $headers_64" "armv7a-linux-androideabi24 $headers_32"; do
    target=${row%% *} system=${row#* }
    compile core "$target" "$system"
    compile others "$target" "$system"
    names "$work/$target/core" >"$work/core-needs"
    names "$work/$target" | grep -Ev "$brought" >"$work/all-need"
    for needs in core-needs all-need; do
        comm -23 "$work/$needs" "$work/there" >"$work/missing"
        [ -s "$work/missing" ] && fail "$target: not in tests/android/bionic.txt: $(tr '\n' ' ' <"$work/missing")"
    done
    echo "row $target: $(wc -l <"$work/core") files of the core and $(wc -l <"$work/others") of the other libraries and the example" \
        "compile without a warning, with $headers; Android has all $(wc -l <"$work/core-needs") symbols that the core" \
        "needs, and all $(wc -l <"$work/all-need") of all"
done
