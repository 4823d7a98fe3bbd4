#!/bin/sh
# What evaluate and predict say of scores: none that is not finite passes for an answer, the most
# probable classes come in order, folders of pictures are taken, and tables have straight columns for
# names of any script.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

command -v python3 >/dev/null || skip 'there is no python3, which writes the data'
needs_device

# Bright above, in the middle or below; of the large ones two have pixels that no sum of squares holds.
cat >make.py <<'END_OF_PYTHON'
import json, os, random, struct, sys, zlib

names = ["\u82f9\u679c", "e\u0301te\u0301", "pear"]

def picture(kind):
    return [random.random() * 0.3 + 0.6 * (i // 22 == kind) for i in range(64)]

def csv(path, large=()):
    random.seed(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("label," + ",".join("p%d" % i for i in range(64)) + "\n")
        for n in range(48):
            values = ["%.3f" % v for v in picture(n % 3)]
            if n in large:
                values[3], values[4] = "3e38", "-3e38"
            file.write(names[n % 3] + "," + ",".join(values) + "\n")

def npy(path, large=()):
    random.seed(2)
    values = [v for n in range(6) for v in picture(n % 3)]
    for n in large:
        values[64 * n] = 3e38
        values[64 * n + 1] = -3e38
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 8, 8), }"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0\x76\0" + header.ljust(117).encode() + b"\n" +
                   struct.pack("<384f", *values))

def png(path, kind):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    values = bytes(int(255 * v) for v in picture(kind))
    rows = b"".join(b"\0" + values[8 * y:8 * y + 8] for y in range(8))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def spoil(path, names, value):
    """A model file with that value in vectors, as a program writes it that knows no checksum."""
    data = bytearray(open("model.safetensors", "rb").read())
    size = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:size])
    values = data[size:]
    if "glcnn.crc64" in header:
        begin, end = header.pop("glcnn.crc64")["data_offsets"]
        del values[begin:end]
        for key, row in header.items():
            if key != "__metadata__" and row["data_offsets"][0] >= end:
                row["data_offsets"] = [at - (end - begin) for at in row["data_offsets"]]
    for name in names:
        first, last = header[name]["data_offsets"]
        values[first:last] = struct.pack("<f", value) * ((last - first) // 4)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + values)

if sys.argv[1] == "data":
    csv("fine.csv")
    csv("large.csv", (7, 9))
    npy("fine.npy")
    npy("large.npy", (3, 5))
    os.makedirs("folder/below")
    os.makedirs("none")
    for i, path in enumerate(("folder/b.png", "folder/a.PNG", "folder/below/c.png", "folder/.hidden.png")):
        png(path, i % 3)
    for path in "folder/notes.txt", "folder/below/table.csv", "none/notes.txt":
        open(path, "w").close()
else:
    # as large as a file may have them: their product is no float
    spoil("huge.safetensors", ["convolution_0.weights", "convolution_1.weights",
                               "fully_connected_0.weights"], 9e18)
    spoil("negative.safetensors", ["batch_normalization_0.variance"], -1e6)
END_OF_PYTHON
python3 make.py data
"$glcnn" train --data fine.csv --channels 1 --size 8 --net small --epochs 12 --batch 12 --schedule constant --out model.safetensors \
    >log 2>&1 || fail "training fails: $(tail -n 2 log)"
python3 make.py models

# gives STATUS ARGUMENT...
gives() {
    wanted=$1
    shift
    "$glcnn" "$@" >out 2>err
    status=$?
    [ $status = "$wanted" ] || fail "glcnn $*: exit status $status, not $wanted: $(tail -n 2 err)"
}

says() {
    grep -qF -- "$2" "$1" || fail "\"$2\" is not in: $(head -n 5 "$1")"
}

# ---- Scores that are not finite ------------------------------------------------------------------

gives 0 evaluate model.safetensors fine.csv
says out 'accuracy 1.0000'
for form in '' --json; do
    gives 1 evaluate $form model.safetensors large.csv
    says err "image 7 of large.csv (and 1 more): the network's scores are NaN or infinite"
    [ ! -s out ] || fail "an accuracy stands beside it: $(head -n 2 out)"
    gives 1 evaluate $form huge.safetensors fine.csv
    says err "image 0 of fine.csv (and 47 more): the network's scores are NaN or infinite"
done
gives 0 predict model.safetensors fine.npy
[ "$(cut -d' ' -f1,2 out | tr '\n' ,)" = '0 2,1 0,2 1,3 2,4 0,5 1,' ] || fail "predict says $(cat out)"
gives 1 predict model.safetensors large.npy
says err "image 3 of large.npy (and 1 more): the network's scores are NaN or infinite"
cut -d' ' -f1 out | tr '\n' ' ' | grep -qx '0 1 2 4 ' || fail "others have no answer: $(cat out)"
gives 1 predict --json model.safetensors large.npy
! grep -q null out || fail 'JSON has answers that are none'
gives 1 predict huge.safetensors folder/b.png
says err "folder/b.png: the network's scores are NaN or infinite"
[ ! -s out ] || fail "a picture without scores has an answer: $(cat out)"

# What can have made a loss so: the learning rate, or else what training began with.
gives 1 train --model model.safetensors --data large.csv --epochs 1 --batch 12
says err 'no step of this run had changed the weights yet: those that it began with are damaged'
! grep -q -e --lr err || fail "a learning rate is blamed that no step took: $(cat err)"
if "$glcnn" train --model negative.safetensors --data fine.csv --epochs 1 --batch 12 >out 2>err; then
    fail 'a negative variance trains'
fi
grep -qE 'variance.*(below 0|negative)|negative.*variance' err || fail "a negative variance: $(cat err)"
! grep -q -e --lr err || fail "a learning rate is blamed for a negative variance: $(cat err)"
gives 1 train --data fine.csv --channels 1 --size 8 --net small --epochs 3 --batch 12 --lr 1e9 \
    --optimizer sgd --weight-decay 0
says err 'a lower --lr, a --warmup or --clip-norm may help'

# Too few images to set some aside: what is advised is not what was done.
head -n 3 fine.csv >few.csv
gives 1 train --data few.csv --channels 1 --size 8 --net small
says err 'few.csv: has 2 images, and a fraction of 0.1 of them is less than one'
! grep -q -e '--validation 0.1' err || fail "the default is advised: $(cat err)"

# ---- Folders, and more than one class ------------------------------------------------------------

gives 0 predict model.safetensors folder
says err 'data: folder: 2 files and folders that are not pictures are ignored: folder/below/table.csv is the first'
cut -d' ' -f1 out | tr '\n' ' ' | grep -qx 'folder/a.PNG folder/b.png folder/below/c.png ' ||
    fail "pictures of a folder are $(cat out)"
gives 0 predict model.safetensors folder/below folder/b.png
[ "$(wc -l <out)" = 2 ] || fail "a folder and a file are $(cat out)"
gives 1 predict model.safetensors none
says err 'none: the folder and those below it have no picture in a supported format'
gives 0 predict --top 2 model.safetensors folder/b.png folder/a.PNG
awk 'NR % 2 == 1 { name = $1; kind = $2; most = $4 }
    NR % 2 == 0 && ($1 != name || $2 == kind || $4 > most || most + $4 > 1.0001) { exit 1 }
    END { exit NR != 4 }' out || fail "--top 2 is $(cat out)"
gives 0 predict --top 3 --json model.safetensors folder/b.png
python3 - <<'END_OF_PYTHON' || fail "--top 3 --json is $(cat out)"
import json
(answer,) = json.load(open("out", encoding="utf-8"))
top = answer["top"]
assert [t["probability"] for t in top] == sorted(answer["probabilities"].values(), reverse=True)
assert top[0]["class"] == answer["class"] and {t["class"] for t in top} == {0, 1, 2}
END_OF_PYTHON
gives 2 predict --top 4 model.safetensors folder
says err '--top is 4; the network has 3 classes'
gives 2 predict --top 0 model.safetensors folder
says err '--top is "0"; it must be a whole number in 1 .. 65535'

# ---- Columns -------------------------------------------------------------------------------------

gives 0 evaluate model.safetensors fine.csv
python3 - <<'END_OF_PYTHON' || fail "the columns of evaluate are not straight: $(cat out)"
import re, unicodedata

def columns(text):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)

rows = [r for r in open("out", encoding="utf-8").read().split("\n") if re.match(" +[012] .*1\\.0000", r)]
assert len(rows) == 3 and len({columns(r[:r.index("1.0000")]) for r in rows}) == 1, rows
assert len({columns(r) for r in rows}) == 1, rows
END_OF_PYTHON

[ $failed = 0 ] && echo 'scores are finite, in order and in columns'
