#!/bin/sh
# Looks for resets of the GPU at a cold start: each program trains a network a few steps in a process
# of its own with no programs kept, over all networks in turn, and what failed is counted by what the
# library says. Beside each loss stand the kernel's lines since (Xid of NVIDIA's driver), if dmesg may
# be read.
#
# usage: check_resets.sh STARTS PROGRAM...     PROGRAM: a command line that trains and ends with 0
#
# The environment goes to the programs: GLCNN_DEBUG=race or sync, GLCNN_LIMITS=min.

starts=$1
shift || { echo "usage: $0 STARTS PROGRAM..." >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GLCNN_CACHE_DIR=off __GL_SHADER_DISK_CACHE=0 MESA_SHADER_CACHE_DISABLE=true
start=0 lost=0 failed=0
dmesg >"$work/before" 2>/dev/null
while [ $start -lt "$starts" ]; do
    for program; do
        [ $start -lt "$starts" ] || break
        start=$((start + 1))
        sh -c "$program" >"$work/said" 2>&1
        status=$?
        if grep -qE 'LOST|reset the context|device was lost|made no progress|fence failed' "$work/said"; then
            lost=$((lost + 1))
        elif [ $status = 0 ]; then
            continue
        else
            failed=$((failed + 1))
        fi
        echo "start $start, status $status: $program"
        tail -n 3 "$work/said"
        dmesg 2>/dev/null >"$work/now" && diff "$work/before" "$work/now" | grep '^>' | tail -n 5
        cp "$work/now" "$work/before"
    done
done
echo "$start starts, $lost lost devices, $failed other failures"
[ $lost = 0 ] && [ $failed = 0 ]
