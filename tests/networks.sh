# How a network begins to learn, for scripts that have $work and a command that trains on its data.

# check_network COMMAND NETWORK: an epoch of four steps is told, logged, plotted and kept.
check_network() {
    $1 --net $2 --epochs 1 --limit 64 --batch 16 --out "$work/$2" --log "$work/$2.csv" \
        --plot "$work/$2.svg" --verbose
    grep -q '^epoch 1 of 1: loss [0-9.]*, accuracy [01]\.[0-9]*; validation loss [0-9.]*, accuracy [01]\.' \
        "$work/log" || fail "$2: no accuracy is printed"
    ! grep 'error:' "$work/log" || fail "$2: what succeeds speaks of an error"
    grep -q 'info:' "$work/log" || fail "$2: --verbose says nothing"
    [ "$(wc -l <"$work/$2.csv")" = 5 ] || fail "$2: the log does not have a line for each step"
    grep -q '>validation</text>' "$work/$2.svg" || fail "$2: there are no curves"
    [ -s "$work/$2.best" ] || fail "$2: there is no best checkpoint"
    ! grep -qi 'nan' "$work/$2.csv" || fail "$2: a loss is no number"
}
