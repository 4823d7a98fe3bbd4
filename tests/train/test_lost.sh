#!/bin/sh
# A GPU that is reset amid a training, which no GL error tells: glcnn train ends with a status and a
# message, its checkpoint and log are those of the steps before and a run goes on from them; Python
# raises, and its next device works in the same process.
#
# Runs from the top of a built tree. CC, O and PYTHON may be given. Exits 77 without a device.

. tests/tool.sh

needs_device
$cc -shared -fPIC -O1 -o "$work/reset.so" tests/preload/reset.c -ldl || exit 1
. tests/idx.sh
files train '\0\100' 64
files val '\0\40' 32

# Two epochs of four steps, and the file after the first.
train="$glcnn train --data $work --net lenet --batch 16 --epochs 2 --schedule constant"
$train --out "$work/whole" --log "$work/whole.csv" >"$work/log" 2>&1 || fail 'a run that is not reset fails'

# dispatches COUNT TOLD: whether a run is reset whose GPU stops at that dispatch.
reset_at() {
    rm -f "$work"/model*
    env LD_PRELOAD="$work/reset.so" RESET_AT="$1" RESET_TOLD="$2" $train --out "$work/model" \
        --log "$work/model.csv" >"$work/log" 2>&1
    status=$?
}

# Somewhere behind the first epoch's file. Where the driver does not tell, each commit has passes more that count.
for told in guilty innocent unknown no nothing; do
    at=100
    while reset_at $at $told; [ $status = 1 ] && ! grep -q 'model still has the network of step 4' "$work/log"; do
        at=$((at + 100))
    done
    [ $status = 1 ] || fail "$told: a run that is reset has the status $status, or names no checkpoint of step 4"
    case $told in
    no | nothing) grep -q 'this driver does not tell; passes in flight: .*\.comp' "$work/log" ;;
    *) grep -q "($told); passes in flight: .*\.comp" "$work/log" ;;
    esac || fail "$told: whose fault it was, or the passes in flight, are not named"
    ! grep -q '^epoch 2' "$work/log" || fail "$told: an epoch is told of that was not computed"
    "$glcnn" train --data "$work" --resume "$work/model" --out "$work/model" --log "$work/model.csv" \
        >"$work/log" 2>&1 || fail "$told: no resuming"
    cmp "$work/model" "$work/whole" || fail "$told: the run goes on from another network"
    cmp "$work/model.csv" "$work/whole.csv" || fail "$told: the run goes on from another log"
done

# Before anything is saved a file that is there stays as it is.
cp "$work/whole" "$work/kept"
env LD_PRELOAD="$work/reset.so" RESET_AT=5 RESET_TOLD=unknown $train --out "$work/kept" >"$work/log" 2>&1 &&
    fail 'a run that is reset at once succeeds'
cmp "$work/kept" "$work/whole" || fail 'a run that is reset at once replaces a file'

# ---- Python ----------------------------------------------------------------------------------------

has_python numpy || exit 0
cp -R src/python/glcnn "$work" && $python src/python/generate.py include "$work/glcnn" || exit 1
cat >"$work/lost.py" <<'END'
import numpy, glcnn
images, labels = numpy.random.default_rng(0).random((8, 1, 8, 8), numpy.float32), numpy.arange(8) % 4

def loss():
    net = glcnn.network((1, 8, 8), lambda x: x.fully_connected(output_feature_channels=4), seed=1)
    return net.train(images, labels, epochs=40, batch=8, optimizer=glcnn.Optimizer("adam"))[-1].loss

first = glcnn.default_device()
try:
    raise SystemExit("the loss is %g, and the GPU was reset" % loss())
except glcnn.Error as error:
    assert error.status == glcnn.Status.DEVICE_LOST and "(guilty)" in str(error), error
assert first.lost
try:
    first.wait()
    raise SystemExit("a device that was lost waits")
except glcnn.Error as error:
    assert error.status == glcnn.Status.DEVICE_LOST and "(guilty)" in str(error), error
second, third = loss(), glcnn.Device()
assert numpy.isfinite(second) and second == loss() and not third.lost
assert glcnn.default_device() is not first and not glcnn.default_device().lost
END
env LD_PRELOAD="$work/reset.so" RESET_AT=60 RESET_TOLD=guilty GLCNN_LIBRARY="$(cd "$out" && pwd)" \
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work" $python "$work/lost.py" >"$work/log" 2>&1 ||
    fail 'Python does not go on'
