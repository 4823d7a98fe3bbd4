#!/bin/sh
# Runs test programs, quietly where they pass, and closes with "N passed, N failed, N skipped".
#
# usage: tests/run.sh PROGRAM...   from the top of the tree; the Makefile calls it
#
# A program is a CUnit program, whose tests are counted one by one, or a shell script, which counts
# as one test. Exit status 77 means skipped, for the reason in its last line; lines that begin with
# "row " are shown of a program that passes too. A CUnit program runs as the machine is, again with
# all limits at the ES 3.1 minimum, and, where its source speaks of GLCNN_TEST_QUICK (smaller
# shapes, said by a variable), on softpipe, the slow rasteriser that shares little with llvmpipe.
# RUN_UNDER=sanitizers and RUN_UNDER=valgrind look for errors and leaks instead, with the smaller
# shapes.

limit=${GLCNN_TEST_TIMEOUT:-1800} # seconds; a test that hangs is a failure, not a wait
passed=0 failed=0 skipped=0 configurations=0
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
trap 'exit 130' INT TERM

# in_mode MODE COMMAND...: runs the command as the mode asks.
in_mode() {
    mode=$1
    shift
    case $mode in
    minimum) set -- env GLCNN_LIMITS=min "$@" ;;
    softpipe) set -- env GALLIUM_DRIVER=softpipe GLCNN_DEVICE=software GLCNN_TEST_QUICK=1 "$@" ;;
    sanitizers) set -- env GLCNN_TEST_QUICK=1 UBSAN_OPTIONS=print_stacktrace=1 "$@" ;;
    valgrind) set -- env GLCNN_TEST_QUICK=1 valgrind -q --error-exitcode=1 --leak-check=full \
        --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        --suppressions=tests/valgrind.supp "$@" ;;
    esac
    if command -v timeout >/dev/null; then
        set -- timeout -k 10 "$limit" "$@"
    fi
    "$@" </dev/null >"$output" 2>&1
}

# row WORD COLUMN: a number of CUnit's closing table, 0 where there is no table.
row() {
    awk -v word="$1" -v column="$2" '$1 == word { n += $column } END { print n + 0 }' "$output"
}

say_failure() {
    sed "s/^/$1| /" "$output"
    case $2 in
    124 | 137) echo "$1| did not end within $limit s" ;;
    *) echo "$1| exit status $2" ;;
    esac
}

# Numbers that the program printed in front of "configurations", added up.
count_configurations() {
    tr -c '0-9a-z\n' ' ' <"$output" | awk '{
        for (i = 1; i < NF; i++)
            if ($(i + 1) == "configurations") n += $i
    } END { print n + 0 }'
}

# run PROGRAM MODE
run() {
    name=$(basename "$1" .sh)
    start=$(date +%s)
    case $1 in
    *.sh) in_mode "$2" sh "$1" ;;
    *) in_mode "$2" "$1" ;;
    esac
    status=$?
    if [ $status = 77 ]; then
        skipped=$((skipped + 1))
        echo "skip  $name, $2: $(tail -n 1 "$output")"
        return
    fi
    good=$(row tests 4) bad=$(row tests 5) count=$(count_configurations)
    # A script is one test; a program that crashed, or ran no test, is one failure.
    case $1 in *.sh) [ $status != 0 ] || good=1 ;; esac
    [ $status = 0 ] && [ "$good" != 0 ] || [ "$bad" != 0 ] || bad=1
    passed=$((passed + good))
    failed=$((failed + bad))
    [ "$2" != default ] || configurations=$((configurations + count))
    if [ "$bad" != 0 ]; then
        say_failure "$name" $status
        echo "FAIL  $name, $2: $good tests passed, $bad failed"
        return
    fi
    echo "pass  $name, $2: $good tests, $(row asserts 2) asserts, $count configurations," \
        "$(($(date +%s) - start)) s" | sed 's/ 0 [a-z]*,//g'
    sed -n 's/^row /      /p' "$output"
}

for mode in ${RUN_UNDER:-default minimum softpipe}; do
    for program; do
        case $mode:$program in
        default:*) ;;
        *.sh) continue ;;
        softpipe:*) grep -q GLCNN_TEST_QUICK "tests/$(basename "$program").c" || continue ;;
        esac
        run "$program" $mode
    done
done
[ $configurations = 0 ] || echo "$configurations configurations of operations"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) != 0 ]
