#!/bin/sh
# glcnn train, killed 50 times at moments that nobody chose: each time the checkpoint is there and
# the next run goes on from it.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

out=${O:-build} kills=50
case $out in /*) ;; *) out=$PWD/$out ;; esac
tool=$out/glcnn
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "test_kill: $*"
    cat err
    exit 1
}

"$tool" info >/dev/null 2>&1 || {
    echo 'there is no device'
    exit 77
}

# 32 images of noise, so that an epoch, which ends with a save, is short.
for part in train t10k; do
    { printf '\0\0\10\3\0\0\0\40\0\0\0\34\0\0\0\34' && head -c 25088 /dev/urandom; } |
        gzip >$part-images-idx3-ubyte.gz
    { printf '\0\0\10\1\0\0\0\40' && head -c 32 /dev/zero; } | gzip >$part-labels-idx1-ubyte.gz
done

file=model.safetensors
saved() { # since the run began
    [ -n "$(find $file -newer begun)" ]
}

"$tool" train --net small --optimizer adam --batch 16 --data . --out $file >/dev/null 2>err ||
    fail 'the first run failed'
delays=$(awk -v n=$kills 'BEGIN { srand(); while (n-- > 0) printf "%.3f\n", 0.2 * rand() }')
killed=0 within=0
for delay in $delays; do
    touch begun
    tries=0
    "$tool" train --data . --resume $file --out $file --epochs 10000 >/dev/null 2>err &
    process=$!
    # The first save follows the load; from then on there is an epoch after the other.
    while ! saved && [ $tries -lt 1000 ] && kill -0 $process 2>/dev/null; do
        sleep 0.03
        tries=$((tries + 1))
    done
    sleep "$delay"
    kill -9 $process 2>/dev/null
    wait $process 2>/dev/null
    status=$?
    [ $status = 137 ] || fail "run $killed ended with status $status by itself"
    saved || fail "run $killed saved nothing in 30 s"
    killed=$((killed + 1))
    [ ! -e $file.tmp ] || within=$((within + 1))
done

"$tool" predict $file t10k-images-idx3-ubyte.gz >/dev/null 2>err || fail 'the last file does not load'
[ "$(ls | grep -c safetensors)" -le 2 ] || fail "files were left: $(ls)"
echo "$killed kills, $within of them within a save"
