#!/bin/sh
# The README's code does what the README says: its table of kernels is the tool's, its programs
# compile and print what they should, its lines for Python install the package, and its new kernel, added
# to a copy of the tree as three new files, passes the self-check.
#
# Runs from the top of the tree, after a build in $O. CC and MAKE may be given.

set -e
cc=${CC:-cc} make=${MAKE:-make} out=${O:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test_readme: $*" >&2
    exit 1
}

sed -n '/^<!-- kernels/,/^<!-- end of kernels/{/^<!--/!p;}' README.md >"$work/said"
"$out/glcnn" kernels --table >"$work/true"
diff "$work/said" "$work/true" || fail 'the table of kernels is not that of the tool: make readme'

# block LANGUAGE N: the Nth fenced block of that language.
block() {
    awk -v fence="\`\`\`$1" -v wanted="$2" '
        $0 == fence { count++; inside = count == wanted; next }
        $0 == "```" { inside = 0 }
        inside { print }' README.md
}

# Leaks are looked for where the compiler can; tests/run.sh says why in a cache of many files.
leaks=-fsanitize=address
echo 'int main(void) { return 0; }' >"$work/empty.c"
$cc $leaks -o "$work/empty" "$work/empty.c" 2>"$work/log" && "$work/empty" 2>"$work/log" || leaks=

# runs N TEXT: the Nth block of C is a program that prints TEXT and leaks nothing.
runs() {
    block c "$1" >"$work/program.c"
    $cc -std=c11 -Wall -Wextra -Werror $leaks -Iinclude -I"$out/include" -o "$work/program" \
        "$work/program.c" "$out/libglcnn.a" $(${PKG_CONFIG:-pkg-config} --libs egl gbm libdrm) \
        -lm || fail "program $1 does not compile"
    MESA_DISK_CACHE_MULTI_FILE=true "$work/program" >"$work/printed" || fail "program $1 ends with status $?"
    [ "$(cat "$work/printed")" = "$2" ] || fail "program $1 prints $(cat "$work/printed")"
}

runs 1 '0.625 0.625 1.125 1.125 0.625 0.625 1.125 1.125 2.625 2.625 3.125 3.125 2.625 2.625 3.125 3.125 '
runs 2 learned
lines=$(wc -l <"$work/program.c")
[ "$lines" -le 45 ] || fail "the shortest training program has $lines lines"

# ---- Python --------------------------------------------------------------------------------------

# The lines of the section, as they stand, but for the first, which is for root: the packages that it
# names are among those of the tests.
block sh 1 >"$work/lines"
[ "$(head -n 1 "$work/lines" | cut -d' ' -f1,2)" = 'apt-get install' ] || fail 'no packages for Python are named'
for package in $(head -n 1 "$work/lines" | cut -d' ' -f3-); do
    $make -n --no-print-directory packages | grep -q " $package" || fail "make packages does not install $package"
done
python_lines() (
    mkdir "$work/python"
    cp -R include src "$work/python"
    cd "$work/python"
    unset PYTHONPATH PIP_TARGET
    sed 1d "$work/lines" | HOME=$work PATH=/usr/bin:/bin PIP_NO_INDEX=1 sh -e || return 1
    GLCNN_LIBRARY=$libraries build/python/bin/python -c '
import glcnn, sys
print(glcnn.__file__)
assert glcnn.__file__.startswith(sys.prefix)
glcnn.Device()'
)
libraries=$(cd "$out" && pwd)
if [ -x /usr/bin/apt-get ]; then
    python_lines >"$work/log" 2>&1 || { cat "$work/log"; fail "the README's lines for Python fail"; }
else
    echo "not Debian: the lines for Python were not tried"
fi

# ---- A kernel ------------------------------------------------------------------------------------

# The times are kept, so that only what the new files change is remade.
mkdir "$work/tree"
cp -Rp Makefile README.md include src glsl platform examples tests "$work/tree"
mkdir "$work/out"
for part in "$out"/*; do # and not the builds of other tests, which may be at work there
    case ${part##*/} in
    include | src | platform | examples) cp -Rp "$part" "$work/out" ;;
    *) [ -d "$part" ] || cp -Pp "$part" "$work/out" ;;
    esac
done
mkdir "$work/tree/glsl/square"
block glsl 1 >"$work/tree/glsl/square/square.comp"
block c 3 >"$work/tree/src/kernels/square.c"
block c 4 >"$work/tree/src/reference/square.c"
unset MAKEFLAGS MFLAGS MAKELEVEL O
$make -C "$work/tree" O="$work/out" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the kernel does not build'; }
"$work/out/glcnn" check -k square >"$work/checked" || { cat "$work/checked"; fail 'the kernel fails its check'; }
grep -q square "$work/checked" || fail 'the check has no row for the kernel'
"$work/out/glcnn" kernels | grep -q square || fail 'glcnn kernels does not list the kernel'
