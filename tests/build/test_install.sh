#!/bin/sh
# The build as a packager sees it, on a copy of the tree: another toolchain by CROSS_COMPILE,
# another build directory, what is remade and when, and what is installed and exported.
#
# Runs from the top of the tree. CC, PKG_CONFIG and MAKE may be given.

set -e
cc=${CC:-cc} pkg_config=${PKG_CONFIG:-pkg-config} make=${MAKE:-make}
top=$PWD
. tests/tool.sh

# The settings of a make that runs this test are not those under test.
unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX AR PKG_CONFIG O V CFLAGS CPPFLAGS LDFLAGS
unset MPICC PARTS DRM DESKTOP PREFIX DESTDIR LIBDIR INCLUDEDIR BINDIR PKGCONFIGDIR DOCDIR MANDIR COMPLETIONDIR HOST_TOOL

# A toolchain whose programs note that they were called.
mkdir "$work/bin"
mpi=$(! mpicc -show >/dev/null 2>&1 || echo libglcnn_mpi)
for tool in "gcc:$cc" "g++:c++" "ar:ar" "pkg-config:$pkg_config" ${mpi:+mpicc:mpicc}; do
    printf '#!/bin/sh\necho called >"%s"\nexec %s "$@"\n' "$work/${tool%%:*}.called" "${tool#*:}" \
        >"$work/bin/foo-${tool%%:*}"
done
# As long as $work/there is there, it names the only libraries that are; protoc-c, flatc and C++ are not.
cat >"$work/bin/foo-pkg-config" <<END
#!/bin/sh
echo called >"$work/pkg-config.called"
case \$* in
*--exists*)
    [ ! -e "$work/there" ] || for word; do
        case "\$word \$(cat "$work/there")" in --* | "\$word "*"<\$word>"*) continue ;; esac
        echo "Package \$word was not found" >&2
        exit 1
    done
    ;;
esac
exec $pkg_config "\$@"
END
for tool in protoc-c flatc c++; do
    printf '#!/bin/sh\n[ ! -e "%s" ] || exit 127\nPATH=%s\nexec %s "$@"\n' "$work/there" "$PATH" $tool >"$work/bin/$tool"
done
chmod +x "$work"/bin/*
PATH=$work/bin:$PATH

mkdir "$work/tree"
cp -R Makefile README.md include src glsl platform examples tests "$work/tree"
cd "$work/tree"
out=$work/out dest=$work/dest prefix=/opt/glcnn

build() {
    $make -j2 O="$out" CROSS_COMPILE=foo- CFLAGS=-O0 PREFIX=$prefix LIBDIR=$prefix/lib/foo "$@"
}

# ---- The core alone ------------------------------------------------------------------------------

# It needs EGL, GBM and headers of OpenGL ES alone.
echo '<egl> <gbm>' >"$work/there"
for goals in core "$out/libglcnn.so" "install-core DESTDIR=$dest"; do
    build $goals >"$work/log" 2>&1 || { cat "$work/log"; fail "make $goals needs more than EGL and GBM"; }
done
for file in lib/foo/libglcnn.a lib/foo/libglcnn.so lib/foo/pkgconfig/glcnn.pc include/glcnn/kernels.h \
    lib/foo/cmake/glcnn/glcnnConfig.cmake share/doc/glcnn/include/specification.md; do
    [ -f "$dest$prefix/$file" ] || fail "install-core left out $file"
done
more=$(find "$dest" -name 'libglcnn_*' -o -name 'glcnn_*.pc' -o -name bin -o -name man1 -o -name checkpoint.h \
    -o -name serialize.h -o -name onnx.h -o -name tflite.h -o -name data.h -o -name mpi.h \
    -o -name train.h -o -name task.h)
[ -z "$more" ] || fail "install-core installs $more"

# What a part lacks is told when that part is built, and by name.
lacks() { # SENTENCE GOAL...
    sentence=$1
    shift
    ! build "$@" >"$work/log" 2>&1 && grep -q "$sentence" "$work/log" || { cat "$work/log"; fail "make $*"; }
}
lacks 'Package libpng was not found' "$out/libglcnn_data.so"
lacks 'Libraries of the part data are missing' PARTS=data
lacks 'Package libcjson was not found' "$out/libglcnn_interchange.so"
echo '<egl> <libprotobuf-c>' >"$work/there"
lacks 'protoc-c is missing' PARTS=onnx
echo '<egl> <libprotobuf-c> <flatbuffers>' >"$work/there"
lacks 'flatc is missing' PARTS=tflite
lacks 'has nonsense, and the parts are core interchange' PARTS=data,nonsense
lacks 'the part tool, which is built of interchange onnx tflite train too' PARTS=data,tool
lacks 'has mpi, and there is no MPI: MPICC=no' PARTS=mpi MPICC=no
lacks 'Package gbm was not found' O="$work/other" core
build O="$work/other" DRM=no "$work/other/found/core" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'make core DRM=no needs more than EGL'; }
mkdir -p "$work/no-headers/GLES3"
echo '#error none' >"$work/no-headers/GLES3/gl31.h"
lacks 'headers of OpenGL ES 3.1 are missing' O="$work/third" DRM=no CPPFLAGS=-I"$work/no-headers" core
rm "$work/there"

# ---- Building ------------------------------------------------------------------------------------

build >"$work/log" 2>&1 || { cat "$work/log"; fail 'the build failed'; }
! grep ' CC *platform/' "$work/log" || fail 'the core was compiled again for the other parts'
[ ! -e build ] || fail 'O= was given, but build/ was written'
for tool in gcc ar pkg-config; do
    [ -e "$work/$tool.called" ] || fail "CROSS_COMPILE=foo- did not use foo-$tool"
done
build | grep -q 'Nothing to be done' || fail 'a second make did something'
! build -q CPPFLAGS=-DOTHER || fail 'a change of CPPFLAGS remakes nothing'

# Adding and taking away files changes the generated lists, and nothing that does not use them.
listed() { # FILE WORD
    build "$out/$1" >/dev/null && grep -q "$2" "$out/$1"
}
mkdir -p include/glcnn/kernels glsl/added
echo 'const struct glcnn_descriptor glcnn_kernel_added = {0};' >src/kernels/added.c
echo 'void main() {}' >glsl/added/added.comp
echo '/* nothing */' >include/glcnn/kernels/added.h
listed registry.c glcnn_kernel_added || fail 'a new kernel is not in the registry'
listed shaders.c '"added/added.comp"' || fail 'a new shader is not embedded'
listed include/glcnn/kernels.h '<glcnn/kernels/added.h>' || fail 'a new header is not in kernels.h'
rm src/kernels/added.c glsl/added/added.comp include/glcnn/kernels/added.h
! listed registry.c glcnn_kernel_added || fail 'a removed kernel is still in the registry'
! listed shaders.c '"added/added.comp"' || fail 'a removed shader is still embedded'
! listed include/glcnn/kernels.h added || fail 'a removed header is still in kernels.h'
build >/dev/null

# A shader arrives byte for byte: repeats, quotes, backslashes, bytes above 127, no last line feed.
printf '%064d a "quoted" \\ line\n\303\251\nno end' 0 >glsl/added/bytes.comp
build "$out/shaders.c" >/dev/null
cat >"$work/bytes.c" <<'END'
#include <stdio.h>
#include <string.h>
#include "record/shader_source.h"
int main(void)
{
    const struct glcnn_shader_source *s = glcnn_shader_sources;
    while (s->name != NULL && strcmp(s->name, "added/bytes.comp") != 0)
        s++;
    return s->name == NULL || s->text[s->length] != 0 ||
           fwrite(s->text, 1, s->length, stdout) != s->length;
}
END
$cc -Isrc -o "$work/bytes" "$work/bytes.c" "$out/shaders.c"
"$work/bytes" | cmp - glsl/added/bytes.comp || fail 'an embedded shader differs from its file'
rm -r glsl/added

# ---- Installing ----------------------------------------------------------------------------------

build install DESTDIR="$dest" >/dev/null
root=$dest$prefix
for file in bin/glcnn lib/foo/libglcnn.a lib/foo/libglcnn.so lib/foo/pkgconfig/glcnn.pc \
    lib/foo/libglcnn_interchange.a lib/foo/libglcnn_interchange.so \
    lib/foo/pkgconfig/glcnn_interchange.pc include/glcnn/checkpoint.h \
    lib/foo/libglcnn_data.a lib/foo/libglcnn_data.so lib/foo/pkgconfig/glcnn_data.pc \
    include/glcnn/data.h \
    lib/foo/libglcnn_onnx.a lib/foo/libglcnn_onnx.so lib/foo/pkgconfig/glcnn_onnx.pc \
    include/glcnn/onnx.h \
    lib/foo/libglcnn_tflite.a lib/foo/libglcnn_tflite.so lib/foo/pkgconfig/glcnn_tflite.pc \
    include/glcnn/tflite.h \
    lib/foo/libglcnn_train.a lib/foo/libglcnn_train.so lib/foo/pkgconfig/glcnn_train.pc \
    include/glcnn/task.h include/glcnn/detection.h include/glcnn/metrics.h include/glcnn/train.h \
    include/glcnn/report.h include/glcnn/export.h include/glcnn/anomaly.h include/glcnn/bench.h \
    ${mpi:+lib/foo/libglcnn_mpi.a lib/foo/libglcnn_mpi.so lib/foo/pkgconfig/glcnn_mpi.pc} \
    ${mpi:+include/glcnn/mpi.h} \
    include/glcnn/glcnn.h include/glcnn/kernels.h \
    share/doc/glcnn/README.md share/doc/glcnn/include/specification.md \
    share/doc/glcnn/platform/README.md share/doc/glcnn/examples/training.svg \
    lib/foo/cmake/glcnn/glcnnConfig.cmake lib/foo/cmake/glcnn/glcnnConfigVersion.cmake \
    share/man/man1/glcnn.1 share/man/man1/glcnn-train.1 share/man/man7/glcnn-kernels.7 \
    share/bash-completion/completions/glcnn; do
    [ -f "$root/$file" ] || fail "install left out $file"
done
! grep -q "$work" "$root"/lib/foo/pkgconfig/*.pc || fail 'a .pc file names DESTDIR'

# The file says where it is by ${prefix} alone, so that one line moves it.
mkdir "$work/pc"
for file in glcnn.pc glcnn_interchange.pc glcnn_onnx.pc glcnn_tflite.pc glcnn_data.pc glcnn_train.pc ${mpi:+glcnn_mpi.pc}; do
    sed "s|^prefix=.*|prefix=$root|" "$root/lib/foo/pkgconfig/$file" >"$work/pc/$file"
done
pc() {
    PKG_CONFIG_PATH=$work/pc $pkg_config "$@"
}
number() {
    sed -n "s/^#define GLCNN_VERSION_$1 *//p" "$root/include/glcnn/status.h"
}
version=$(number MAJOR).$(number MINOR).$(number PATCH)
[ "$(pc --modversion glcnn)" = "$version" ] || fail "glcnn.pc does not say version $version"

cat >"$work/program.c" <<'END'
#include <glcnn/glcnn.h>
#include <stdio.h>
int main(void)
{
    printf("%s\n", glcnn_version());
    for (size_t i = 0; glcnn_kernel_info_at(i) != NULL; i++)
        printf("%s\n", glcnn_kernel_info_at(i)->name);
    return 0;
}
END
$cc -o "$work/shared" "$work/program.c" $(pc --cflags --libs glcnn)
$cc -o "$work/static" "$work/program.c" \
    $(pc --static --cflags --libs glcnn | sed 's/-lglcnn/-l:libglcnn.a/')
LD_LIBRARY_PATH=$root/lib/foo "$work/shared" >"$work/shared.out"
"$work/static" >"$work/static.out"
[ "$(head -n 1 "$work/shared.out")" = "$version" ] || fail "glcnn_version() is not $version"
[ "$(wc -l <"$work/shared.out")" -gt 1 ] || fail 'the library has no kernel'
cmp "$work/shared.out" "$work/static.out" || fail 'the static library lacks what the shared one has'

# Each of the other libraries, linked both ways, brings the first with it.
both_ways() { # LIBRARY HEADER CALL
    cat >"$work/second.c" <<END
#include <glcnn/$2.h>
#include <stdio.h>
int main(void)
{
    char error[512] = "";
    glcnn_status status = $3;
    return status != GLCNN_INVALID_ARGUMENT || error[0] == 0 || glcnn_version()[0] == 0;
}
END
    $cc -o "$work/second" "$work/second.c" $(pc --cflags --libs "$1")
    LD_LIBRARY_PATH=$root/lib/foo "$work/second" || fail "lib$1.so does not work"
    $cc -o "$work/second" "$work/second.c" $(pc --static --cflags --libs "$1" |
        sed "s/-l$1/-l:lib$1.a/; s/-lglcnn /-l:libglcnn.a /")
    "$work/second" || fail "lib$1.a does not work"
}
both_ways glcnn_interchange checkpoint 'glcnn_checkpoint_load(NULL, NULL, NULL, error)'
both_ways glcnn_onnx onnx 'glcnn_onnx_load(NULL, NULL, NULL, NULL, NULL, error)'
both_ways glcnn_tflite tflite 'glcnn_tflite_to_onnx(NULL, 0, NULL, NULL, NULL, error)'
[ -z "$mpi" ] || both_ways glcnn_mpi mpi 'glcnn_mpi_create(NULL, NULL, error)'
both_ways glcnn_data data 'glcnn_dataset_open(NULL, NULL, NULL, error)'

# CMake finds it where it lies now, not where it was meant for, and takes no other minor version.
find_by_cmake() { # VERSION and the like
    mkdir -p "$work/cmake"
    cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(glcnn $1 REQUIRED)
add_executable(program ../second.c)
target_link_libraries(program glcnn::data glcnn::interchange)
END
    rm -rf "$work/cmake/build"
    cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_C_COMPILER="${cc##* }" \
        -Dglcnn_DIR="$root/lib/foo/cmake/glcnn" >"$work/log" 2>&1
}
misses() { # COMPONENTS SENTENCE
    ! find_by_cmake "$1" || fail "CMake finds $1"
    tr -s ' \n' ' ' <"$work/log" | grep -q "$2" || { cat "$work/log"; fail "CMake does not say $2"; }
}
if command -v cmake >/dev/null; then
    for wanted in '' "$(number MAJOR)" "$(number MAJOR).$(number MINOR)" "$version"; do
        [ "$wanted" = 0 ] || find_by_cmake "$wanted" || { cat "$work/log"; fail "CMake does not find glcnn $wanted"; }
    done
    cmake --build "$work/cmake/build" >"$work/log" 2>&1 || { cat "$work/log"; fail 'CMake does not build'; }
    "$work/cmake/build/program" || fail 'what CMake built does not work'
    for wanted in "$(number MAJOR).$(($(number MINOR) + 1))" 99 0.0.1; do
        ! find_by_cmake "$wanted" || fail "CMake takes $version for $wanted"
    done
    # Components that are there, that are not installed, and that do not exist.
    find_by_cmake 'COMPONENTS glcnn onnx data OPTIONAL_COMPONENTS nonsense' ||
        { cat "$work/log"; fail 'CMake does not find components'; }
    misses 'COMPONENTS nonsense' 'glcnn has no component nonsense: there are glcnn, interchange, onnx, data, tflite, mpi, train'
    file=$root/lib/foo/libglcnn_onnx.so.$version
    mv "$file" "$work/onnx.so"
    misses 'COMPONENTS onnx' "component onnx is not installed: $file is not there"
    misses 'COMPONENTS glcnn data onnx' 'component onnx is not installed'
    find_by_cmake 'COMPONENTS data OPTIONAL_COMPONENTS onnx' || { cat "$work/log"; fail 'CMake wants onnx'; }
    mv "$work/onnx.so" "$file"
    mv "$root/lib/foo/libglcnn.so.$version" "$work/core.so"
    misses '' 'component glcnn is not installed'
    mv "$work/core.so" "$root/lib/foo/libglcnn.so.$version"
else
    echo 'there is no cmake: its files were not tried'
fi

for example in examples/*.c; do
    $cc -iquote src -iquote examples -o "$work/example" "$example" examples/support/*.c src/base/*.c \
        src/task/network.c src/task/fashion.c src/report/svg.c src/report/plot.c src/report/progress.c \
        $(pc --cflags --libs glcnn_train glcnn_data glcnn_onnx glcnn_interchange glcnn zlib libpng libzip) -lm ||
        fail "$example does not build against what was installed"
done

# ---- What the shared library shows ---------------------------------------------------------------

for library in libglcnn libglcnn_interchange libglcnn_onnx libglcnn_tflite libglcnn_data libglcnn_train $mpi; do
    soname=$library.so.$(number MAJOR)
    [ "$(number MAJOR)" != 0 ] || soname=$soname.$(number MINOR)
    readelf -d "$root/lib/foo/$library.so" | grep -q "SONAME.*\[$soname\]" ||
        fail "the soname is not $soname"
done
readelf -d "$work/shared" | grep -q "NEEDED.*\[libglcnn.so.$(number MAJOR)" ||
    fail "a program asks for another soname"

# declared HEADER...: the functions that the headers and all that they include declare.
declared() {
    cat "$@" | $cc -E -P $(pc --cflags glcnn) -x c - | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*visibility("default").*[ *]\(glcnn_[a-z0-9_]*\)(.*/\1/p' | sort -u
}
# Exactly the functions that the headers declare, all under the version node of this release.
node=GLCNN_$(number MAJOR).$(number MINOR)
exports() { # LIBRARY FILE-OF-NAMES
    nm -D --defined-only "$root/lib/foo/$1.so" | awk '$2 != "A" { print $3 }' | sort \
        >"$work/exported"
    sed "s/\$/@@$node/" "$2" | diff - "$work/exported" ||
        fail "$1: declared (<) and exported (>) functions differ"
}
cd "$root/include/glcnn"
declared glcnn.h >"$work/core"
declared glcnn.h checkpoint.h $([ ! -e serialize.h ] || echo serialize.h) >"$work/all"
declared glcnn.h onnx.h >"$work/all of onnx"
declared glcnn.h tflite.h >"$work/all of tflite"
declared status.h >"$work/status"
declared data.h >"$work/all of data"
declared glcnn.h mpi.h >"$work/all of mpi"
declared glcnn.h data.h >"$work/core and data"
declared glcnn.h task.h detection.h metrics.h anomaly.h train.h report.h export.h bench.h >"$work/all of train"
cd "$work/tree"
comm -13 "$work/core" "$work/all" >"$work/interchange"
comm -13 "$work/core" "$work/all of onnx" >"$work/onnx"
comm -13 "$work/core" "$work/all of tflite" >"$work/tflite"
comm -13 "$work/status" "$work/all of data" >"$work/data"
exports libglcnn "$work/core"
exports libglcnn_interchange "$work/interchange"
exports libglcnn_onnx "$work/onnx"
exports libglcnn_tflite "$work/tflite"
exports libglcnn_data "$work/data"
comm -13 "$work/core and data" "$work/all of train" >"$work/train"
exports libglcnn_train "$work/train"
comm -13 "$work/core" "$work/all of mpi" >"$work/mpi"
[ -z "$mpi" ] || exports libglcnn_mpi "$work/mpi"
! ldd "$root/lib/foo/libglcnn.so" "$root/bin/glcnn" | grep libmpi || fail 'without MPI nothing runs'

# Without MPI there is no such library, and all else.
build -n MPICC=no all | grep -q libglcnn_mpi && fail 'MPICC=no builds libglcnn_mpi' || true

# ---- Uninstalling --------------------------------------------------------------------------------

build uninstall DESTDIR="$dest" >/dev/null
left=$(find "$dest" ! -type d)
[ -z "$left" ] || fail "uninstall left $left"
for folder in include/glcnn share/doc/glcnn lib/foo/cmake/glcnn; do
    [ ! -d "$root/$folder" ] || fail "uninstall left $folder"
done

# A tool that does not run here has no manual; another one can write it.
mv "$out/glcnn" "$work/glcnn"
printf '#!/bin/sh\nexit 126\n' >"$out/glcnn"
chmod +x "$out/glcnn"
build install DESTDIR="$dest" >"$work/log"
grep -q 'no manual pages; HOST_TOOL' "$work/log" || fail 'a missing manual is not told'
[ -e "$root/bin/glcnn" ] && [ ! -e "$root/share/man/man1/glcnn.1" ] ||
    fail 'a tool that does not run is not installed, or with a manual'
touch "$out/glcnn"
build install DESTDIR="$dest" HOST_TOOL="$work/glcnn" >/dev/null
[ -e "$root/share/man/man1/glcnn.1" ] || fail 'HOST_TOOL writes no manual'
build clean >/dev/null
[ ! -e "$out" ] || fail 'clean left the build directory'
cd "$top"
echo 'build, install and uninstall are as packagers expect'
