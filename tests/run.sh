#!/bin/sh
# Runs test programs, quietly where they pass, and closes with "N passed, N failed, N skipped".
#
# usage: tests/run.sh [-l test|check] PROGRAM...   from the top of the tree; the Makefile calls it
#
# A program is a CUnit program, whose tests are counted one by one, or a shell script, which counts
# as one test. Exit status 77 means skipped, for the reason in its last line; lines that begin with
# "row " are shown of a program that passes too. A CUnit program runs as the machine is, again with
# all limits at the ES 3.1 minimum, and, where its source speaks of GLCNN_TEST_QUICK (smaller
# shapes, said by a variable), on softpipe, the slow rasteriser that shares little with llvmpipe.
# RUN_UNDER=sanitizers looks for errors and leaks instead, and RUN_UNDER=valgrind for what was never
# written, with the smaller shapes.
#
# With -l test only that is run which tests/levels says; with -l check what the file leaves to it, and
# once more each program whose source speaks of GLCNN_TEST_CHECK (longer forms, said by that variable).
# Programs of level all are run where no level is asked for.
#
# As many programs run at once as there are processors, or GLCNN_TEST_LANES: compiling shaders keeps
# but one busy. What a program has to say comes in one piece, once it has ended, with its seconds of
# the processor and of the clock.

level=
if [ "$1" = -l ]; then
    level=$2
    shift 2
fi
[ -z "$GLCNN_TEST_FULL" ] || export GLCNN_TEST_CHECK=1
limit=${GLCNN_TEST_TIMEOUT:-1800} # seconds; a test that hangs is a failure, not a wait
lanes=${GLCNN_TEST_LANES:-$(getconf _NPROCESSORS_ONLN)}
work=$(mktemp -d) || exit 1
pids=
export GLCNN_CACHE_DIR=off # each test compiles for itself, and nothing is left in the user's home
# softpipe takes and gives back memory at every dispatch: what glibc returns to the system meanwhile is
# to be cleared again, which took it four fifths of its time.
export MALLOC_TRIM_THRESHOLD_=1073741824
trap 'rm -rf "$work"' EXIT
trap 'kill $pids 2>/dev/null; wait; exit 130' INT TERM

# in_mode MODE COMMAND...: runs the command as the mode asks. Of a program in C, whose shaders run for less time than
# they take to compile, llvmpipe leaves out LLVM's optimisations: that is half the time where Mesa's cache has
# none of them. Scripts train.
in_mode() {
    mode=$1
    shift
    case $1 in
    sh) perf= ;;
    *) perf=GALLIVM_PERF=nopt ;;
    esac
    case $mode in
    minimum) set -- env GLCNN_LIMITS=min "$@" ;;
    softpipe) set -- env GALLIUM_DRIVER=softpipe GLCNN_DEVICE=software GLCNN_TEST_QUICK=1 "$@" ;;
    # Mesa 25 leaks what it knows of each part of its usual cache where it makes it.
    sanitizers) set -- env GLCNN_TEST_QUICK=1 UBSAN_OPTIONS=print_stacktrace=1 \
        MESA_DISK_CACHE_MULTI_FILE=true "$@" ;;
    valgrind) set -- env GLCNN_TEST_QUICK=1 valgrind -q --error-exitcode=1 \
        --suppressions=tests/valgrind.supp "$@" ;;
    esac
    set -- env $perf "$@"
    if command -v timeout >/dev/null; then
        set -- timeout -k 10 "$limit" "$@"
    fi
    "$@" </dev/null >"$output" 2>&1 &
    child=$! # waited for, so that a lane hears of Ctrl-C meanwhile
    wait $child
}

# row WORD COLUMN: a number of CUnit's closing table, 0 where there is no table.
row() {
    awk -v word="$1" -v column="$2" '$1 == word { n += $column } END { print n + 0 }' "$output"
}

# spent FILE: notes in FILE the seconds of the processor, user and system, that all children of this
# lane have taken. A shell forgets its children's where it forks, so that no pipe may stand here.
spent() {
    times >"$1"
}

# seconds_between FILE FILE: what was spent from the one to the other.
seconds_between() {
    awk 'FNR == 2 { split($1 "m" $2, n, "[ms]+"); at[++files] = n[1] * 60 + n[2] + n[3] * 60 + n[4] }
        END { printf "%.1f", at[2] - at[1] }' "$1" "$2"
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

# run MODE PROGRAM: says how it went; a line of $work/results has passed, failed, skipped,
# configurations and seconds of the processor.
run() {
    name=$(basename "$2" .sh)
    start=$(date +%s)
    spent "$output.before"
    case $2 in
    *.sh) in_mode "$1" sh "$2" ;;
    *) in_mode "$1" "$2" ;;
    esac
    status=$?
    spent "$output.after"
    seconds=$(seconds_between "$output.before" "$output.after")
    if [ $status = 77 ]; then
        echo "0 0 1 0 $seconds" >>"$work/results"
        echo "skip  $name, $1: $(tail -n 1 "$output")"
        return
    fi
    good=$(row tests 4) bad=$(row tests 5) count=$(count_configurations)
    # A script is one test; a program that crashed, or ran no test, is one failure.
    case $2 in *.sh) [ $status != 0 ] || good=1 ;; esac
    [ $status = 0 ] && [ "$good" != 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$1" = default ] && counted=$count || counted=0
    echo "$good $bad 0 $counted $seconds" >>"$work/results"
    if [ "$bad" != 0 ]; then
        say_failure "$name" $status
        echo "FAIL  $name, $1: $good tests passed, $bad failed"
        return
    fi
    echo "pass  $name, $1: $good tests, $(row asserts 2) asserts, $count configurations," \
        "$seconds s in $(($(date +%s) - start)) s" | sed 's/ 0 [a-z]*,//g'
    sed -n 's/^row /      /p' "$output"
}

# is_wanted MODE NAME SOURCE: whether the level asks for it.
is_wanted() {
    while read -r of mode_of names; do
        case $of:$1:$2 in
        '#'*) ;;
        *:$mode_of:$names) break ;;
        esac
    done <tests/levels
    case $level:$of in
    :* | test:test | check:check) ;;
    test:* | *:all) false ;;
    *) case $long in *" $3 "*) ;; *) false ;; esac ;;
    esac
}

# Lines "MODE PROGRAM" of all that is to be run.
list() {
    quick=" $(echo $(grep -l GLCNN_TEST_QUICK tests/*/test_*)) "
    long=" $(echo $(grep -l GLCNN_TEST_CHECK tests/*/test_*)) "
    for mode in ${RUN_UNDER:-default minimum softpipe}; do
        for program; do
            name=${program##*/}
            name=${name%.sh}
            case $program in
            *.sh) source=$program ;;
            *) source=tests/${program##*/tests/}.c ;;
            esac
            case $mode:$program in
            default:*) ;;
            *.sh) continue ;;
            softpipe:*) case $quick in *" $source "*) ;; *) continue ;; esac ;;
            esac
            [ -n "$RUN_UNDER" ] || is_wanted "$mode" "$name" "$source" || continue
            echo "$mode $program"
        done
    done
}

# lane NUMBER: runs whatever no other lane has begun, in the order of the list.
lane() {
    output=$work/output.$1
    child=
    trap 'kill $child 2>/dev/null; exit 130' INT TERM
    item=0
    while read -r mode program; do
        item=$((item + 1))
        mkdir "$work/begun.$item" 2>/dev/null || continue
        run "$mode" "$program" >"$work/said.$1"
        cat "$work/said.$1"
    done <"$work/list"
}

list "$@" >"$work/list"
: >"$work/results"
number=0
while [ $((number += 1)) -le "$lanes" ]; do
    lane $number &
    pids="$pids $!"
done
wait

awk -v wanted="$(wc -l <"$work/list")" '
    { passed += $1; failed += $2; skipped += $3; configurations += $4; seconds += $5 }
    END {
        if (NR != wanted) { print wanted - NR " programs were not run"; failed++ }
        if (configurations) print configurations " configurations of operations"
        printf "%.0f seconds of the processor\n", seconds
        print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
        exit failed || !(passed + skipped)
    }' "$work/results"
