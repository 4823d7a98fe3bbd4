#!/bin/sh
# The binary interface of the libraries is that of their SONAME: abidiff compares each with the description in
# tests/abi, in which members of structures, arguments and enumerations stand. A program of another SONAME does not
# load. What is only added is no change.
#
# usage: test_abi.sh            from the top of a built tree; CC and O may be given
#        test_abi.sh write      describes the libraries anew: after the SONAME was raised, in include/glcnn/status.h

. tests/tool.sh
goes_on=1

for tool in abidw abidiff xz; do
    command -v $tool >/dev/null || skip "no $tool (Debian: abigail-tools, xz-utils)"
done
machine=$(uname -m)
[ "$machine" = x86_64 ] || skip "the descriptions are of x86_64, and this is $machine"

# describe LIBRARY: what a user's program knows of it, by the public headers.
describe() {
    abidw --headers-dir include --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
        --no-parameter-names "$1"
}

version=$(sed -n 's/^.define GLCNN_VERSION_[MP][A-Z]* *//p' include/glcnn/status.h | paste -sd.)
libraries=$(find "$out" -maxdepth 1 -type f -name "libglcnn*.so.$version" | grep -v 'libglcnn_mpi' | sort)
[ -n "$libraries" ] || fail "no library is in $out"
if [ "$1" = write ]; then
    mkdir -p tests/abi && rm -f tests/abi/*.abi.xz
    for library in $libraries; do
        soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
        describe "$library" | xz -9e >"tests/abi/$soname.abi.xz" || exit 1
    done
    exit 0
fi

for library in $libraries; do
    soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    readelf -S "$library" | grep -q '\.debug_info' || skip "$library has no -g"
    if [ ! -e "tests/abi/$soname.abi.xz" ]; then
        fail "tests/abi has no description of $soname: \"make abi\" writes it, once all that changes is changed"
        continue
    fi
    xz -dc "tests/abi/$soname.abi.xz" >"$work/old.abi"
    describe "$library" >"$work/new.abi"
    abidiff --no-added-syms --no-corpus-path "$work/old.abi" "$work/new.abi" >"$work/changes" 2>&1
    status=$?
    [ $((status & 12)) = 0 ] && [ $((status & 3)) = 0 ] || {
        cat "$work/changes"
        fail "$soname: the interface is another: raise GLCNN_VERSION_MINOR, then \"make abi\"; members come at the end"
    }
done

# ---- Another SONAME ------------------------------------------------------------------------------

# A program of the headers before is linked with the library of then, of which nothing but the name counts here.
mkdir "$work/then" "$work/now"
echo 'const char *glcnn_version(void) { return "then"; }' >"$work/then.c"
echo 'const char *glcnn_version(void); int main(void) { return glcnn_version()[0] != 0; }' >"$work/program.c"
${CC:-cc} -shared -fPIC -Wl,-soname,libglcnn.so.0.1 -o "$work/then/libglcnn.so" "$work/then.c" &&
    ${CC:-cc} -o "$work/program" "$work/program.c" -L"$work/then" -lglcnn || fail 'a program is not linked'
for library in $libraries; do
    cp "$library" "$work/now/$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
done
LD_LIBRARY_PATH=$work/now "$work/program" >"$work/said" 2>&1
[ $? = 127 ] && grep -q 'libglcnn.so.0.1: cannot open' "$work/said" ||
    fail "a program of 0.1 loads the library of today: $(cat "$work/said")"

[ $failed = 0 ]
