#!/bin/sh
# The tests that can be had in a small form, and those of damaged input and failing memory, under
# AddressSanitizer and UndefinedBehaviorSanitizer; make check-all runs all of them so.
#
# Runs from the top of the tree. CC, MAKE and O may be given. Exits 77 where there are no sanitizers.

. tests/tool.sh
make=${MAKE:-make} out=${O:-build}
trap 'exit 130' INT TERM

printf 'int main(void) { return 0; }\n' >"$work/empty.c"
$cc -fsanitize=address,undefined -o "$work/empty" "$work/empty.c" 2>"$work/log" &&
    "$work/empty" 2>>"$work/log" || {
    echo "no sanitizers here: $(tail -n 1 "$work/log")"
    exit 77
}

small=$(grep -l GLCNN_TEST_QUICK tests/*/test_*.c | sed 's|.*/||; s|\.c$||')
unset MAKEFLAGS MFLAGS MAKELEVEL O V CFLAGS CPPFLAGS LDFLAGS CC
GLCNN_TEST_LANES=1 $make O="$out" CC="$cc" sanitized \
    T="$(echo $small) test_misuse test_io test_checkpoint test_graph_execution" >"$work/log" 2>&1 || {
    grep -vE '^(pass|  (CC|LD|AR|GEN)) ' "$work/log"
    exit 1
}
echo "row $(tail -n 1 "$work/log")"
