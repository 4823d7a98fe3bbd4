# What scripts share, which read it from the top of the tree: a folder $work that goes away with the script, and
# how it fails.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# fail WORD...: says what is wrong, with what the last command wrote to $work/log, and ends the script; with
# goes_on=1 it goes on, and ends with  [ $failed = 0 ].
fail() {
    echo "$(basename "$0" .sh): $*" >&2
    [ ! -s "$work/log" ] || cat "$work/log" >&2
    failed=1
    [ -n "${goes_on:-}" ] || exit 1
}
