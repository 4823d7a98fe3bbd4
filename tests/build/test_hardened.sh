#!/bin/sh
# A plain build is hardened as Debian's packages are: what is built checks its stacks and the sizes of
# what the C library writes, is bound before it starts and has no writable table of addresses. Builds
# that are not optimised, or that sanitizers look into, have no _FORTIFY_SOURCE, and no warning of it.
#
# Runs from the top of a built tree. MAKE and O may be given. Exits 77 without readelf.

. tests/tool.sh
make=${MAKE:-make} out=${O:-build}
goes_on=1

command -v readelf >/dev/null || skip 'there is no readelf'

# ---- What is built -------------------------------------------------------------------------------

sanitized=
! readelf -Ws "$out/glcnn" | grep -q __asan_init || sanitized=yes
looked=0
for file in "$out/glcnn" "$out"/libglcnn*.so.*.*.* "$out"/examples/*; do
    case $file in *.o | *.d) continue ;; esac
    [ -f "$file" ] || continue
    looked=$((looked + 1))
    readelf -d "$file" | grep -q BIND_NOW || fail "$file is not bound before it starts"
    readelf -l "$file" | grep -q GNU_RELRO || fail "$file has no RELRO"
    readelf -h "$file" | grep -q 'Type: *DYN' || fail "$file is not position-independent"
    ! readelf -lW "$file" | grep 'GNU_STACK' | grep -q E || fail "$file has a stack to execute"
done
[ $looked -ge 5 ] || fail "$looked files are built"
for file in "$out/glcnn" "$out"/libglcnn.so.*.*.*; do
    readelf -Ws "$file" | grep -q __stack_chk_fail || fail "$file does not check its stacks"
    [ -n "$sanitized" ] || readelf -Ws "$file" | grep -q '__v\{0,1\}snprintf_chk' ||
        fail "$file does not check the sizes of what is printed"
done

# ---- What the compiler is asked for --------------------------------------------------------------

# asks CC CPPFLAGS CFLAGS: the command for one file of the tool.
asks() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "$make" -n -B V=1 O="$work/none" CC="$1" CPPFLAGS="$2" CFLAGS="$3" \
        "$work/none/src/tool/json.o" 2>&1 | grep -e '-c -o .*json\.o'
}

for compiler in gcc clang; do
    for flags in '-O2 -g' -O1 -Os -O3 '-O0 -O2'; do
        asks $compiler '' "$flags" >"$work/asked"
        grep -q -e '-fstack-protector-strong .*-D_FORTIFY_SOURCE=2' "$work/asked" ||
            fail "$compiler $flags: $(cat "$work/asked")"
    done
    for flags in -O0 -g '-O2 -O0' '-O1 -fsanitize=address'; do
        asks $compiler '' "$flags" >"$work/asked"
        grep -q -e -fstack-protector-strong "$work/asked" || fail "$compiler $flags: $(cat "$work/asked")"
        ! grep -q FORTIFY "$work/asked" || fail "$compiler $flags: $(cat "$work/asked")"
    done
    asks $compiler -D_FORTIFY_SOURCE=3 -O2 >"$work/asked"
    [ "$(grep -o -e '-[DU]_FORTIFY_SOURCE[=0-9]*' "$work/asked" | tr '\n' ' ')" = '-D_FORTIFY_SOURCE=3 ' ] ||
        fail "what the user says of it is not the only word: $(cat "$work/asked")"
done

[ $failed = 0 ] && echo "$looked files are hardened"
