#!/bin/sh
# Each public header compiles alone and without a warning, as C and, where it can be, as C++, and a
# C++ program uses them. The head of a header with an opaque type says whose thread may use it.
#
# Runs from the top of a built tree. CC, CXX and O may be given.

cc=${CC:-cc} cxx=${CXX:-c++} out=${O:-build}
warnings='-Wall -Wextra -Wconversion -Wundef -pedantic -Werror'
failed=0

command -v "${cxx%% *}" >/dev/null || {
    echo "no C++ compiler ($cxx): the headers were compiled as C alone"
    cxx=
}

# compile COMPILER OPTIONS HEADER: a source that includes the header first and uses nothing of it.
compile() {
    printf '#include <%s>\nint not_empty;\n' "${3#*include/}" |
        $1 $2 $warnings -Iinclude -I"$out/include" -fsyntax-only - || {
        echo "$3 does not compile alone: $1 $2"
        failed=1
    }
}

for header in include/glcnn/*.h include/glcnn/kernels/*.h "$out/include/glcnn/kernels.h"; do
    [ -f "$header" ] || continue
    compile "$cc" '-std=c11 -x c' "$header"
    [ -z "$cxx" ] || compile "$cxx" '-std=c++11 -x c++' "$header"
done

# C++ would need `struct` in front of every use.
cat include/glcnn/*.h include/glcnn/kernels/*.h >"$out/headers.txt"
shared=$(sed -n 's/^\(typedef \)\{0,1\}struct \(glcnn_[a-z0-9_]*\) {.*/\2/p' "$out/headers.txt" |
    while read -r name; do ! grep -q "[ *]$name(" "$out/headers.txt" || echo "$name"; done)
[ -z "$shared" ] || {
    printf 'a function has the name of the structure %s\n' $shared
    failed=1
}

[ -z "$cxx" ] || {
    mkdir -p "$out/tests/build"
    $cxx -std=c++11 $warnings -Iinclude -I"$out/include" -o "$out/tests/build/test_header" \
        tests/build/test_header.cpp -L"$out" -lglcnn && LD_LIBRARY_PATH=$out "$out/tests/build/test_header"
} || {
    echo "tests/build/test_header.cpp does not build or ended with $?"
    failed=1
}

types=0
for header in $(grep -lE '^typedef struct (glcnn_[a-z_]*) \1;' include/glcnn/*.h \
    include/glcnn/kernels/*.h); do
    types=$((types + 1))
    sed '/\*\//q' "$header" | grep -qiE 'thread-saf' || {
        echo "$header: its head has no word of threads"
        failed=1
    }
done
[ $types -ge 8 ] || {
    echo "$types headers with opaque types found: the search is broken"
    failed=1
}

[ $failed = 0 ] && echo 'every header compiles alone'
