#!/bin/sh
# The manual pages have every command, option and kernel, and are formatted without a warning. The
# completion for bash offers what the tool knows.
#
# Runs from the top of a built tree. O may be given.

. tests/tool.sh
goes_on=1

# Without indents, fonts and breaks of lines.
read_page() { # FILE
    if command -v mandoc >/dev/null; then mandoc -T ascii -O width=1000 "$1"
    else MANWIDTH=1000 groff -rLL=1000n -ww -mdoc -Tascii -P-c "$1"; fi | sed 's/.\x08//g'
}

if ! command -v mandoc >/dev/null && ! command -v groff >/dev/null; then
    echo 'pages are not formatted: there is neither mandoc nor groff'
    formatter=
else
    formatter=yes
fi

# ---- Pages ---------------------------------------------------------------------------------------

commands=$("$out/glcnn" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 8 ] || fail "the tool has these commands alone: $commands"
[ "$(ls "$out"/man/man1 | wc -l)" = $(($(echo "$commands" | wc -l) + 1)) ] ||
    fail "pages are $(ls "$out"/man/man1 | tr '\n' ' ')"

for page in "$out"/man/man[17]/*; do
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" || fail "$page has warnings"
    fi
    if command -v groff >/dev/null; then
        groff -ww -mdoc -Tascii "$page" 2>"$work/warnings" >/dev/null
        [ ! -s "$work/warnings" ] || fail "groff: $(cat "$work/warnings")"
    fi
done

# lacks PAGE: the lines of standard input that the page does not have.
lacks() {
    read_page "$1" | tr -s ' \n' '  ' >"$work/page"
    tr -s ' ' | while read -r line; do
        grep -qF -e "$line" "$work/page" || echo "$1 lacks: $line"
    done
}

[ -z "$formatter" ] || {
    for command in $commands; do
        "$out/glcnn" help "$command" | sed '/^usage:/s/^usage: //; /^options:$/d; s/^ *\(-., \)\{0,1\} *\(--[^ ]*\).*/\1\2/; s/^ *//; /^$/d' |
            lacks "$out/man/man1/glcnn-$command.1"
        echo "glcnn-$command(1)" | lacks "$out/man/man1/glcnn.1"
    done
    sed -n 's/^| `\(GLCNN_[A-Z_]*\)` | \(.*\) |$/\1\n\2/p' platform/README.md | tr -d '`' |
        sed 's/\([.!?]\) /\1\n/g' | lacks "$out/man/man1/glcnn.1"
    for kernel in add convolution_gradient upsampling_nearest; do
        "$out/glcnn" kernels $kernel | sed '/parameters with/d; s/^ *//; s/ *$//'
    done | sed 's/\([a-z_]*=[^ ]*\)  */\1\n/; s/^\(MPS class\|[a-z]*\)   */\1\n/' |
        lacks "$out/man/man7/glcnn-kernels.7"
    "$out/glcnn" kernels --short | cut -d' ' -f1 | lacks "$out/man/man7/glcnn-kernels.7"
} >"$work/missing"
[ ! -s "$work/missing" ] || fail "$(cat "$work/missing")"

# Two builds of one source are the same.
SOURCE_DATE_EPOCH=1 sh src/tool/manual.sh "$out/glcnn" platform/README.md "$work/man"
grep -q '^\.Dd January 01, 1970$' "$work/man/man1/glcnn.1" || fail 'SOURCE_DATE_EPOCH is not the date'

# ---- Completion ----------------------------------------------------------------------------------

# offers WORDS : ANSWERS    what is offered for the last of the words
offers() {
    line=$*
    words=${line% : *}
    bash -c 'PATH=$1:$PATH; . "$2"; shift 2
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); [ "${COMP_WORDS[COMP_CWORD]}" != - ] || COMP_WORDS[COMP_CWORD]=
        _glcnn; echo "${COMPREPLY[*]}"' bash "$out" "$out/man/glcnn.bash" $words >"$work/offered" 2>&1
    [ "$(cat "$work/offered")" = "${line#* : }" ] ||
        fail "\"$words\" is completed by \"$(cat "$work/offered")\", not \"${line#* : }\""
}

# The tool is asked what words its options take, and does nothing else.

mkdir "$work/empty"
(cd "$work/empty" && sh "$top/src/tool/completion.sh" "$glcnn") | cmp - "$out/man/glcnn.bash" ||
    fail 'the completion is another one in another folder'
[ -z "$(ls -A "$work/empty")" ] || fail "it left $(ls "$work/empty")"

if command -v bash >/dev/null; then
    offers glcnn - : $commands help --help --version
    offers glcnn ev : evaluate
    offers glcnn help b : bench
    offers glcnn train --ne : --net --nesterov
    offers glcnn bench --float : --float16
    offers glcnn train --net = : lenet small resnet8 resnet10 mobilenet-tiny
    offers glcnn train --net = re : resnet8 resnet10
    offers glcnn train --optimizer a : adam
    offers glcnn train --schedule c : cosine constant
    offers glcnn run loss --format = - : float32 float16
    offers glcnn check -k pooling_m : pooling_max pooling_max_gradient
    offers glcnn run soft : soft_max soft_max_gradient
    offers glcnn run pooling_max -p kernel_ : kernel_width= kernel_height=
    offers glcnn run loss -i lab : labels= label_weights=
    offers glcnn kernels dropout_g : dropout_gradient
    offers glcnn info --device = so : software
    offers glcnn predict READ : README.md
    offers glcnn train --out = READ : README.md
    offers glcnn train --epochs = - : ''
else
    echo 'completion is not tried: there is no bash'
fi

[ $failed = 0 ] && echo "$(ls "$out"/man/man[17] | grep -c '\.') pages and the completion are whole"
