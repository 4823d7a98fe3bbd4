#!/bin/sh
# On a board with 256 MB the library and the tool may take 24 MB to train "small" with batches of 64: all
# that the process has, under a driver that does nothing and so takes nothing.
#
# Runs from the top of a built tree. CC and O may be given.

. tests/tool.sh
most=24576 # kB

$cc -shared -fPIC -O1 -o "$work/nothing.so" tests/preload/nothing.c || exit 1
awk 'BEGIN {
    printf "label"; for (i = 0; i < 784; i++) printf ",p%d", i
    print ""
    for (n = 0; n < 320; n++) {
        printf "%s", n % 2 ? "light" : "dark"
        for (i = 0; i < 784; i++) printf ",%d", (i * 7 + n * 3) % 256
        print ""
    }
}' >"$work/data.csv"
GLCNN_CACHE_DIR=off GLCNN_DEVICE= NOTHING_NOTE=$work/note LD_PRELOAD=$work/nothing.so \
    "$glcnn" train --data "$work/data.csv" --channels 1 --size 28 --net small --batch 64 --epochs 1 \
    --out "$work/model.safetensors" >"$work/log" 2>&1 || fail "training fails: $(tail -n 1 "$work/log")"
grep -q '^device: Mali-G52 that does nothing' "$work/log" || fail "another driver: $(head -n 1 "$work/log")"
grep -q '^epoch 1 of 1' "$work/log" || fail "no epoch was trained: $(tail -n 1 "$work/log")"
had=$(awk '$1 == "VmHWM:" { print $2 }' "$work/note")
[ "${had:-$most}" -lt "$most" ] || fail "training takes ${had:-an unknown number of} kB; at most $most are wanted"
echo "training takes $had kB at most"
