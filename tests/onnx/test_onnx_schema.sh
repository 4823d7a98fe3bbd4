#!/bin/sh
# Names, numbers, types and labels of src/onnx/onnx.proto are those of ONNX's own schema, of Debian's libonnx-dev.
#
# Runs from the top of the tree. ONNX_PROTO names another schema. Exits 77 where there is none.

theirs=${ONNX_PROTO:-/usr/include/onnx/onnx.proto}
[ -e "$theirs" ] || {
    echo "$theirs is not here, of libonnx-dev"
    exit 77
}
. tests/tool.sh

# fields SCHEMA: a line for each field or value of an enumeration, with the messages that it is in.
fields() {
    sed 's|//.*||' "$1" | tr '\n' ' ' | sed 's/[{};]/&\n/g' | sed 's/^ *//; s/  */ /g; s/ *;$//' | awk '
        /\{$/ { path[++depth] = $1 == "oneof" ? "oneof" : $2 }
        /^\}/ { if (depth) depth-- }
        / = [-0-9x]/ && !/^(syntax|option) / {
            line = ""
            for (i = 1; i <= depth; i++) line = line path[i] "."
            sub(/ \[packed = true\]/, " packed")
            print line " " $0
        }' | sort
}
fields src/onnx/onnx.proto >"$work/ours"
fields "$theirs" >"$work/theirs"
count=$(wc -l <"$work/ours")
# What a schema lacks is written in another order than it was read.
[ "$count" -ge 137 ] || {
    echo "src/onnx/onnx.proto has $count fields; ONNX 1.12 has 137 in these messages"
    exit 1
}
other=$(comm -23 "$work/ours" "$work/theirs")
[ -z "$other" ] || {
    echo "src/onnx/onnx.proto has what ONNX's schema has not:"
    echo "$other"
    exit 1
}
echo "all $count fields are ONNX's"
