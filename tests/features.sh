# Features of frozen layers that are kept, for scripts that have read tests/tool.sh.

# trains OUT WORD...: a run into OUT.glcnn and OUT.csv.
trains() {
    run=$1
    shift
    "$glcnn" train "$@" --out "$run.glcnn" --log "$run.csv" >log 2>&1 || fail "train $* fails"
}

# says PATTERN
says() {
    grep -q -- "$1" log || fail "the log does not say: $1"
}

# as_kept RUN: it wrote what the run "kept" wrote.
as_kept() {
    cmp "$1.glcnn" kept.glcnn >>log || fail "$1 and kept have other weights"
    cmp "$1.csv" kept.csv >>log || fail "$1 and kept log other losses"
}

# keeps_features COUNT WORD...: runs of `train` with these words, whose features are kept, learn what those learn that
# compute them in each step: in pieces, of which the second computes none, from a file that is damaged, and where
# layers thaw. COUNT: pictures to train and to validate with.
keeps_features() {
    count=$1
    shift
    set -- "$@" --train last --schedule constant --augment none
    trains kept "$@" --epochs 3
    says "^features: .* of each of $count pictures, $count of them new, .* in kept.features\$"
    trains computed "$@" --epochs 3 --feature-cache off
    says '^features: not kept: --feature-cache is off$'
    as_kept computed
    trains parts "$@" --epochs 1
    trains parts --resume parts.glcnn --epochs 3
    says ' 0 of them new'
    as_kept parts
    cp kept.features damaged.features
    printf x | dd of=damaged.features bs=1 seek=4000 conv=notrunc 2>/dev/null
    trains damaged "$@" --epochs 3
    says ' 1 of them new'
    as_kept damaged
    trains kept "$@" --epochs 2 --unfreeze-after 1 --force
    trains thawed "$@" --epochs 2 --unfreeze-after 1 --feature-cache off
    as_kept thawed
    trains turned "$@" --epochs 1 --augment flip,rotate=10
    says '^features: not kept, because of --augment$'
    [ ! -e turned.features ] || fail 'features of pictures that change are kept'
    rm -f ./*.features kept.* computed.* parts.* damaged.* thawed.* turned.*
}
