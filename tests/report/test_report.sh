#!/bin/sh
# The page of --report is whole by itself: well-formed, without a script or an address, with what others
# named as text and each picture within; its numbers are those that evaluate and predict give, its
# pictures those of the data. It is written by a run that goes on as by one that was not stopped.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

command -v python3 >/dev/null || skip 'there is no python3, which reads the page'
needs_device

data='<img src=x onerror=alert(1)>'
python3 "$top/tests/report/data.py" "$data" || exit 1

# must STATUS ARGUMENT...
must() {
    wanted=$1
    shift
    "$glcnn" "$@" >said 2>err
    status=$?
    [ $status = "$wanted" ] || fail "glcnn $*: exit status $status, not $wanted: $(tail -n 2 err)"
}

says() {
    grep -qF -e "$2" "$1" || fail "\"$2\" is not in: $(head -n 5 "$1")"
}

# ---- A training ----------------------------------------------------------------------------------

train() {
    must 0 train --data "$data" --batch 12 --lr 0.01 --schedule constant --augment 'crop=1' "$@"
}
form='--channels 1 --size 8 --net small'
train $form --epochs 2 --out model.safetensors --report page --log log.csv
[ "$(ls -A page)" = index.html ] || fail "beside the page there is $(ls -A page)"
must 0 evaluate --json model.safetensors "$data" --report evaluated
mv said evaluate.json
must 0 predict --json model.safetensors "$data/val.csv"
mv said predict.json
for page in page evaluated; do
    python3 "$top/tests/report/check.py" $page/index.html "$data/val.csv" || fail "the page of $page is wrong"
done
says page/index.html '<h2>How training went</h2>'
says page/index.html '<h2>What the network sees</h2>'
says page/index.html 'epoch 2 of 2 is complete'
! grep -q 'How training went' evaluated/index.html || fail 'an evaluation has curves of a training'

# What the checker is there for.
for wrong in 's/<h2>/<h2><script>x<\/script>/' 's/&#60;script/<script/' 's/data:image/http:image/' \
    's/<\/figure>//' 's/alt="[^"]*"//' 's/>0\.[0-9]*<\/td>/>0.1234<\/td>/'; do
    sed "$wrong" page/index.html >wrong.html
    ! python3 "$top/tests/report/check.py" wrong.html "$data/val.csv" >/dev/null 2>&1 ||
        fail "the check passes after $wrong"
done

# ---- Other tasks ---------------------------------------------------------------------------------

for task in regress:numbers segment:masks; do
    name=${task#*:}
    python3 "$top/tests/report/data.py" $name $name || exit 1
    must 0 train --task ${task%:*} --data $name --net small --batch 8 --epochs 2 --out $name.safetensors \
        --report $name-page --tensorboard $name-board --log $name.csv
    must 0 evaluate --json $name.safetensors $name --report $name-evaluated
    mv said $name.json
    python3 "$top/tests/report/check_parts.py" $name-page/index.html || fail "the page of $name is wrong"
    python3 "$top/tests/report/check_parts.py" $name-evaluated/index.html $name.json ||
        fail "the page of evaluated $name is wrong"
    ! python3 "$top/tests/report/check_parts.py" page/index.html $name.json >/dev/null 2>&1 ||
        fail "the page of another task passes as that of $name"
    ls $name-board | grep -q tfevents || fail "$name has no event file"
done

# ---- A run that goes on --------------------------------------------------------------------------

train $form --epochs 1 --out half.safetensors --report half
says half/index.html 'epoch 1 of 1 is complete'
train --resume half.safetensors --epochs 2 --out half.safetensors --report half
says half/index.html 'epoch 2 of 2 is complete. It was resumed at epoch 1, where the curves begin.'
! grep -q 'was resumed' page/index.html || fail 'a run that was not resumed says that it was'
parts() {
    sed -n '/<h2>Each class/,/<h2 id="settings"/p' $1/index.html
}
[ "$(parts page | wc -l)" -gt 50 ] || fail "the page has $(parts page | wc -l) lines of results"
[ "$(parts page)" = "$(parts half)" ] || fail 'the page of a run that goes on differs'

# ---- Where it cannot be written ------------------------------------------------------------------

touch file
must 1 train --data "$data" $form --report file/where
says err 'file/where: cannot be created: Not a directory'
must 1 train --data "$data" $form --report file
says err 'file: cannot be created: Not a directory'
[ ! -s file ] || fail 'a file is written over by a folder'
must 1 evaluate model.safetensors "$data" --report file/where
says err 'file/where: cannot be created: Not a directory'
must 0 evaluate model.safetensors "$data" --report no/where
[ -s no/where/index.html ] || fail 'a folder in a new one is not made'
"$glcnn" train --force --data "$data" $form --epochs 10000 --report page >/dev/null 2>&1 &
first=$!
until [ -e page/.index.html.glcnn-lock ] || ! kill -0 $first; do sleep 0.1; done
must 1 train --data "$data" $form --epochs 1 --report page --force
must 1 evaluate model.safetensors "$data" --report page --force
kill $first
wait $first 2>/dev/null
says err 'page/index.html: is being written already'

[ $failed = 0 ] && echo 'pages are whole, and say what is so'
