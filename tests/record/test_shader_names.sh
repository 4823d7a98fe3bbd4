#!/bin/sh
# Functions that are put into any pass, those of templates and of what these need, have parameters and variables that no uniform
# of a pass is called: uniforms may be macros, which would replace them. Only some devices fuse some
# passes, so a compiler need not see it.
#
# Runs from the top of the tree.

. tests/tool.sh

grep -rhoE 'pass_(int|float|define)\(pass, "[a-z_]+"' src | sed 's/.*"\(.*\)"/\1/' | sort -u >"$work/uniforms"
[ "$(wc -l <"$work/uniforms")" -gt 100 ] || {
    echo 'test_shader_names: uniforms are not found'
    exit 1
}
type='(bool|u?int|float|[biu]?vec[234])'
# needs FILE...: these, and what they need.
needs() {
    { printf '%s\n' "$@"; sed -n 's,^// needs ,glsl/,p' "$@"; } | sort -u >"$work/more"
    [ "$(wc -l <"$work/more")" -gt $# ] || { cat "$work/more"; return; }
    needs $(cat "$work/more")
}
needs $(grep -rlE '^[a-z0-9]+ NAME' glsl) | while read -r file; do
    sed 's,//.*,,' "$file" | grep -oE "\\b$type [a-z]\\w*( = [^;]*)?[;,)]|\\b$type [a-z]\\w* = " |
        awk '{
            gsub(/\([^()]*\)/, "")
            gsub(/\([^()]*\)/, "")
            count = split($0, part, ",")
            for (i = 1; i <= count; i++) {
                sub(/ *=.*/, "", part[i])
                sub(/.* /, "", part[i])
                gsub(/[;)]/, "", part[i])
                print part[i]
            }
        }' | sort -u | comm -12 - "$work/uniforms" | sed "s,^,$file: ,"
done >"$work/found"
[ ! -s "$work/found" ] || {
    echo 'test_shader_names: variables of templates, or of what they need, that are called as uniforms of passes:'
    cat "$work/found"
    exit 1
}
