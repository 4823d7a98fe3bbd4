#!/bin/sh
# The C sources are what clang-format makes of them, by .clang-format. Runs from the top of the tree.
# Exits 77 where there is no clang-format.

command -v clang-format >/dev/null || {
    echo 'there is no clang-format'
    exit 77
}
changed=$(find include src platform examples tests -name '*.[ch]' -o -name '*.cpp' | sort |
    xargs clang-format --dry-run 2>&1 | grep -oE '^[^ :]+:[0-9]+:.*' | cut -d: -f1,2 | sort -u)
[ -z "$changed" ] || {
    echo "$changed"
    echo 'clang-format -i would change these lines'
    exit 1
}
echo 'every source is formatted'
