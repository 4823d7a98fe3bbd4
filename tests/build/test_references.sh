#!/bin/sh
# No reference without a target. Sources cite include/specification.md as "spec 7.1" or, for a row of
# the table of its section 12, "spec 12.9"; several as "spec 5.6, 6.3 and 7.2" or "spec 3.1 to 3.4".
# Each number must be a section or a row. The specification cites itself as "section 7.1", or
# "sections 6.2 and 6.3", and links to headings; both must be there, and its sections must be
# numbered without a gap.
#
# usage: test_references.sh [TREE]
cd "${1:-$(dirname "$0")/../..}" || exit 1
specification=include/specification.md
goes_on=1
. tests/tool.sh

# What can be cited, in order.
awk '
    /^##+ [0-9]/ { number = $2; sub(/\.$/, "", number); print number }
    /^\| [0-9]+ \|/ && number == 12 { print "12." $2 }' "$specification" >"$work/targets"
awk -F. '
    NF == 1 { wanted = section + 1; section = $1; part = 0 }
    NF == 2 { wanted = section "." ++part }
    $0 != wanted { print "found " $0 " where " wanted " should be"; exit 1 }' "$work/targets" ||
    fail "$specification: its sections are not numbered one after the other"

# cited WORD FILE...: lines "FILE NUMBER", for each number of each list behind WORD. Comment marks at
# the start of a line are passed over, so that a list may go on in the next.
cited() {
    word=$1
    shift
    for file; do
        sed 's/^ *\(\*\|\/\/\|#\)* *//' "$file" | tr '\n' ' ' |
            grep -oiE "\\b$word [0-9]+(\.[0-9]+)?((,|,? and|,? to) [0-9]+(\.[0-9]+)?\b)*" |
            grep -oE '[0-9]+(\.[0-9]+)?' | sed "s|^|$file |"
    done
}

# resolve: reads such lines and says which numbers are no target.
resolve() {
    awk -v targets="$work/targets" '
        BEGIN { while ((getline line <targets) > 0) known[line] = 1 }
        !known[$2] { print $1 ": there is no section " $2; bad = 1 }
        END { exit bad }' || failed=1
}

find include src glsl tests platform examples README.md -type f \( -name '*.[ch]' -o -name '*.cpp' \
    -o -name '*.glsl' -o -name '*.comp' -o -name '*.sh' -o -name '*.py' -o -name '*.md' \) \
    ! -path "$specification" ! -name test_references.sh >"$work/files"
cited spec $(cat "$work/files") >"$work/cited"
resolve <"$work/cited"
cited 'sections?' "$specification" >"$work/own"
resolve <"$work/own"

# Other ways to cite would go unseen.
grep -niE 'sections? [0-9]|spec$' \
    $(cat "$work/files") && fail 'cite it as "spec 7.1", word and number on one line'

# A page that says "`NAME` of [FILE](PATH)" sends its reader there: the name is in the file, or in one that the
# sentence names beside it.
for page in $(find include src glsl tests platform examples README.md -name '*.md' -type f); do
    tr '\n' ' ' <"$page" | grep -oE '`[A-Za-z_0-9]+` +(of|in) +\[[^]]*\]\([^)#]+\)( +and +\[[^]]*\]\([^)#]+\))?' |
        sed 's/^`\([^`]*\)`/\1/; s/ \(of\|in\|and\) / /g; s/ *\[[^]]*\](\([^)]*\))/ \1/g' >"$work/sent"
    while read -r name file other; do
        (cd "$(dirname "$page")" && grep -qw -- "$name" "$file" $other) ||
            fail "$page: there is no $name in $file"
    done <"$work/sent"
done

# Links, by the anchors that headings get: lower case, spaces as hyphens, no other signs.
sed -n 's/^##* //p' "$specification" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g' >"$work/anchors"
grep -oE '\]\(#[^)]*\)' "$specification" | sed 's/^](#//; s/)$//' >"$work/links"
grep -vxFf "$work/anchors" "$work/links" && fail "$specification links to headings that it has not"
[ "$(grep -c '^## ' "$specification")" = "$(wc -l <"$work/links")" ] ||
    fail "$specification: its contents do not list each section once"

count=$(wc -l <"$work/cited")
[ "$count" -ge 40 ] && [ -s "$work/own" ] || fail "$count references found: the search is broken"
echo "$count references to $(sort -u -k2 "$work/cited" | awk '{ print $2 }' | sort -u | wc -l) targets"
[ $failed = 0 ]
