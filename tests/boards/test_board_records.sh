#!/bin/sh
# What tests/check_boards.sh makes of the words of each driver's compiler: the gate can fail, for
# each reason there is, and the table of shaders has the numbers of each.
#
# Runs from the top of the tree.

set -u
. tests/tool.sh

fail() {
    echo "test_board_records: $*" | tee -a "$work/failures" >&2
}

# The drivers' own lines, with %s for what they say of spills.
midgard='MESA_SHADER_COMPUTE shader: 1990 inst, 1347 bundles, 633 quadwords, 16 registers, 1 threads, 2 loops, %s spills:fills'
bifrost='MESA_SHADER_COMPUTE shader: 2255 inst, 1694 tuples, 938 clauses, 863.000000 cycles, 44.958332 arith, 11.500000 texture, 0.000000 vary, 863.000000 ldst, 1000 quadwords, 1 threads, 0 preloads, 2 loops, %s spills:fills'
valhall='MESA_SHADER_COMPUTE shader: 2025 inst, 607.000000 cycles, 1.031250 fma, 17.265625 cvt, 14.687500 sfu, 0.000000 v, 3.000000 t, 607.000000 ls, 1016 quadwords, 2 threads, 3 loops, %s spills:fills'
valhall26='MESA_SHADER_COMPUTE shader: 554 instrs, 8.234375 cycles, 3.015625 fma, 4.390625 cvt, 3.312500 sfu, 8.234375 alu, 0.000000 v, 2.375000 t, 8.000000 ls, 4480 code size, 1 threads, 2 loops, %s spills:fills, 0 spill cost, 63 registers used, 27 uniforms used'
v3d='MESA_SHADER_COMPUTE shader: 3307 inst, 4 threads, 2 loops, 1471 uniforms, 64 max-temps, %s spills:fills, 0 sfu-stalls, 3307 inst-and-stalls, 439 nops'
ir3='CL shader: 503 inst, 219 nops, 284 non-nops, 15 mov, 12 cov, 742 dwords, 0 last-baryf, 4 half, 8 full, 16 constlen, 229 cat0, 27 cat1, 170 cat2, 70 cat3, 2 cat4, 0 cat5, 5 cat6, 0 cat7, %s, 10 sstall, 4 (ss), 0 systall, 1 (sy), 12 waves, 0 loops'
nouveau='type: 5, local: %s, shared: 0, gpr: 71, inst: 971, bytes: 8880, cached: 0'

# line FIELD...: with tabs between.
line() {
    first=$1
    shift
    printf '%s' "$first"
    [ $# = 0 ] || printf '\t%s' "$@"
    printf '\n'
}

# program NUMBER STATISTICS: one that is compiled by its link and dispatched.
program() {
    line link "$1" 64x1x1
    line linked "$1" good 250.5 "$2"
    line label "$1" convolution/convolution.comp
    line dispatch "$1"
    line dispatched "$1" 1 ''
    line uses "$1" 3
}

# late_program NUMBER STATISTICS: one that is compiled by its dispatch, as V3D does.
late_program() {
    line link "$1" 64x1x1
    line linked "$1" good 0 ''
    line label "$1" convolution/convolution.comp
    line dispatch "$1"
    line dispatched "$1" 251.5 "$2"
}

# judge WHAT ROW STATUS [SETTING...]: the record on standard input gives the row "programs clean
# spilling failed hung", and is good (0) or bad (1).
judge() {
    what=$1 row=$2 wanted=$3
    shift 3
    { line renderer 'Mali-G52 (Panfrost)' && cat; } >"$work/record"
    given=0
    awk -f tests/boards/records.awk -v gpu=G52 -v run=small -v renderer=Mali-G52 -v status=0 "$@" \
        "$work/record" >"$work/said" || given=$?
    [ $given = "$wanted" ] || fail "$what: status $given"
    found=$(awk 'NR == 1 { print $3, $4, $5, $6, $7 }' "$work/said")
    [ "$found" = "$row" ] || fail "$what: $found instead of $row"
}

# says WHAT TEXT: the last judgement has it.
says() {
    grep -q -- "$2" "$work/said" || fail "$1: does not say \"$2\": $(cat "$work/said")"
}

# spills NAME FORMAT NONE SOME
spills() {
    program 1 "$(printf "$2" "$3")" | judge "$1" '1 1 0 0 0' 0
    { program 1 "$(printf "$2" "$3")" && program 2 "$(printf "$2" "$4")"; } |
        judge "$1 that spills" '2 1 1 0 0' 1
    says "$1 that spills" 'spills: convolution/convolution.comp 64x1x1: '
}
spills Midgard "$midgard" 0:0 207:517
spills Bifrost "$bifrost" 0:0 0:1
spills Valhall "$valhall" 0:0 1:0
spills 'Valhall of Mesa 26' "$valhall26" 0:0 1:0
spills V3D "$v3d" 0:0 231:426
spills Adreno "$ir3" '0 stp, 0 ldp' '0 stp, 12 ldp'
spills 'Adreno, stores,' "$ir3" '0 stp, 0 ldp' '4 stp, 0 ldp'
spills Nouveau "$nouveau" 0 160

# Compiled again for other textures: one of the two is enough.
{ late_program 1 "$(printf "$v3d" 2:3)" && line dispatched 1 9 "$(printf "$v3d" 0:0)"; } |
    judge 'one implementation that spills' '1 0 1 0 0' 1

good=$(printf "$bifrost" 0:0)
echo '* other.comp 9 it is large' >"$work/permitted"
program 1 "$(printf "$bifrost" 1:1)" |
    judge 'a spill that another shader may have' '1 0 1 0 0' 1 -v permitted="$work/permitted"
echo 'G31,G57 convolution/convolution.comp 9 it is large' >"$work/permitted"
program 1 "$(printf "$bifrost" 1:1)" |
    judge 'a spill that another GPU may have' '1 0 1 0 0' 1 -v permitted="$work/permitted"
echo 'G31,G52 convolution/convolution.comp 2 it is large' >"$work/permitted"
program 1 "$(printf "$bifrost" 1:1)" |
    judge 'a spill that may be' '1 0 1 0 0' 0 -v permitted="$work/permitted"
echo 'G52 folder/convolution.comp 2 it is large' >"$work/permitted"
program 1 "$(printf "$bifrost" 1:1)" |
    judge 'a spill of a shader that compile.c names without its folder' '1 0 1 0 0' 0 \
        -v permitted="$work/permitted"
program 1 "$(printf "$bifrost" 1:2)" |
    judge 'more spills than may be' '1 0 1 0 0' 1 -v permitted="$work/permitted"

late_program 1 "$good" | judge 'a late compiler' '1 1 0 0 0' 0
[ "$(awk 'NR == 1 { print $8 }' "$work/said")" = 0.3 ] || fail 'the seconds are not added up'
{ late_program 1 "$good" && line link 2 8x8x1 && line linked 2 good 1 ''; } |
    judge 'a late compiler and a program that is not used' '2 1 0 0 0' 0
{ program 1 "$good" && program 2 ''; } | judge 'skipped dispatches' '2 1 0 1 0' 1
says 'skipped dispatches' 'failed: convolution/convolution.comp'
{ program 1 "$good" && line link 2 8x8x1 && line linked 2 good 1 ''; } |
    judge 'a program not compiled and not used' '2 1 0 1 0' 1
{ line link 1 8x8x1 && line linked 1 refused 1 ''; } | judge 'a refused program' '1 0 0 1 0' 1
{ program 1 "$good" && line link 2 8x8x1; } | judge 'a link that hangs' '2 1 0 0 1' 1
{ program 1 "$good" && line link 2 8x8x1 && line linked 2 good 1 '' && line dispatch 2; } |
    judge 'a dispatch that hangs' '2 1 0 0 1' 1
says 'a dispatch that hangs' 'hung: '
program 1 "$good" | judge 'a crash' '1 1 0 0 0' 1 -v status=139
program 1 "$good" | judge 'a run that does not end' '1 1 0 0 0' 1 -v status=124
program 1 "$good" | judge 'another device' '1 1 0 0 0' 1 -v renderer=V3D
judge 'no program' '0 0 0 0 0' 1 </dev/null

# ---- The table of shaders ------------------------------------------------------------------------

# tabulates FORMAT SPILLS COLUMNS: instructions, registers, threads and cycles of the larger of two
# programs, in two records, and the spills of both.
tabulates() {
    small=$(printf "$1" "$2" | sed 's/[0-9]* \(instr*s*\),/1 \1,/; s/inst: [0-9]*/inst: 1/')
    { line renderer x && program 1 "$small"; } >"$work/first"
    { line renderer x && program 1 "$(printf "$1" "$2")"; } >"$work/second"
    awk -f tests/boards/records.awk -v gpu=X -v table=20 "$work/first" "$work/second" >"$work/said"
    found=$(cat "$work/said")
    [ "$found" = "| X | convolution/convolution.comp | 2 | 6 | $3 |" ] || fail "the table has: $found"
}
tabulates "$midgard" 0:0 '1990 | 16 | 1 | - | 0'
tabulates "$bifrost" 1:2 '2255 | - | 1 | ldst 863.0, arith 45.0, texture 11.5 | 6'
tabulates "$valhall" 0:0 '2025 | - | 2 | ls 607.0, cvt 17.3, sfu 14.7, t 3.0, fma 1.0 | 0'
tabulates "$valhall26" 0:0 '554 | 63 | 1 | alu 8.2, ls 8.0, cvt 4.4, sfu 3.3, fma 3.0, t 2.4 | 0'
tabulates "$v3d" 0:0 '3307 | 64 | 4 | - | 0'
tabulates "$ir3" '0 stp, 0 ldp' '503 | 8+4h | 12 | - | 0'
tabulates "$nouveau" 0 '971 | 71 | - | - | 0'

# Two shaders of a step: 1000 invocations of 863 cycles, and 9000 of one cycle.
cheap=$(printf "$bifrost" 0:0 | sed 's/863.000000 cycles/1.000000 cycles/')
{ line renderer x && program 1 "$good" && line label 2 other.comp && line linked 2 good 1 "$cheap" &&
    line uses 1 1000 && line uses 2 9000; } >"$work/record"
awk -f tests/boards/records.awk -v gpu=X -v table=1 -v hot=1 "$work/record" >"$work/said"
grep -q '^| X | convolution/convolution.comp | 1 | 99.0 % |' "$work/said" ||
    fail "the hottest is: $(cat "$work/said")"
[ ! -e "$work/failures" ]
