#!/bin/sh
# What others named reaches a terminal as text: no name of a class, picture, file, tensor, operator or
# option, and no argument, moves the cursor, forges a line or turns its neighbours round, in any
# command and on either stream. JSON stays JSON, SVG stays XML. Lines fit on a terminal.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1
unset GLCNN_DEVICE GLCNN_LIMITS
failed=0

fail() {
    echo "test_terminal: $*" | cat -v
    failed=1
}

command -v python3 >/dev/null || skip 'there is no python3, which writes the hostile files'
needs_device

# ---- Nothing in the tool prints but by print.h ---------------------------------------------------

# json.c writes memory, json_text.c what is escaped, progress.c a line without names, train_log.c a file of
# numbers, svg.c, matrix.c and plot.c pictures, report*.c and look_page.c a page (test_report.sh).
sources=$(ls "$top"/src/task/*.c "$top"/src/train/*.c "$top"/src/report/*.c "$top"/src/tool/*.c)
writers='(print|json|json_text|progress|train_log|bench_trace|train_trace|svg|matrix|plot|report[a-z_]*|look_page)'
# shellcheck disable=SC2086 # a list of files
grep -nE '(^|[^a-z_])(printf|fprintf|vprintf|vfprintf|puts|putchar|fputs|fputc|putc|fwrite|perror) *\(' \
    $sources | grep -vE "/$writers\.c:" >raw &&
    fail "printed without print.h: $(cat raw)"

# A newline that is ours stands in a format: one that %s stands for is written out.
grep -nE '[?:,] "[^"%]*\\n[^"%]*"[,)]' $sources | grep -vE "output\(|text_show\(|events_note\(|print_error\(|strc?spn\(|strtok_r\(|/$writers\.c:" >raw &&
    fail "a newline is no part of a format: $(cat raw)"

# ---- Hostile names -------------------------------------------------------------------------------

# FORGED stands where a line would begin, behind what would take a terminal there. Names that are UTF-8
# go to places where only those can stand.
cat >make.py <<'END_OF_PYTHON'
import json, os, struct, sys, zlib

kinds = {
    "text": b"x\nFORGED\rFORGED\x1b[2K\x07\x08\x7f\xc2\x9b2K\xc2\x85F\xe2\x80\xae"
            b"\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf\xd8\x9cFORGED",
    "bytes": b"x\nFORGED\x9b2K\xff\xc0\x8aFORGED\xed\xa0\x80\xe3\x81",
}
name = kinds[sys.argv[1]]
utf8 = name.decode("utf-8", "replace")  # where a file has text alone
text = utf8.encode()

def png(path, value):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((value + 7 * i) % 256 for i in range(16)) for _ in range(16))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def safetensors(path, metadata, tensors):
    header, at = {"__metadata__": metadata}, 0
    for key, count in tensors.items():
        header[key] = {"dtype": "F32", "shape": [count], "data_offsets": [at, at + 4 * count]}
        at += 4 * count
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(at))

def number(n):
    text = b""
    while n > 127:
        text, n = text + bytes([n & 127 | 128]), n >> 7
    return text + bytes([n])

def field(n, value):
    if isinstance(value, int):
        return number(n << 3) + number(value)
    return number(n << 3 | 2) + number(len(value)) + value

def tensor_type(key, shape):
    dims = b"".join(field(1, field(1, side)) for side in shape)
    return field(1, key) + field(2, field(1, field(1, 1) + field(2, dims)))

def onnx(path, node_type, source, result, shape=(1, 3, 8, 8)):
    node = field(1, source) + field(2, result) + field(3, text) + field(4, node_type)
    graph = field(1, node) + field(2, text) + field(11, tensor_type(b"x", shape)) + \
        field(12, tensor_type(result, shape))
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(2, text) + field(7, graph) + field(8, field(1, b"") + field(2, 13)))

os.mkdir("data")
for folder, value in ((name, 0), (b"y" + name, 120)):
    os.mkdir(b"data/" + folder)
    for i in range(4):
        png(b"data/%s/%d%s.png" % (folder, i, name), value + i)
with open(b"data/" + name + b"/torn" + name + b".png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n")
png(b"picture" + name + b".png", 3)
with open(b"text" + name, "wb") as file:
    file.write(name)
safetensors("tensors.safetensors", {utf8: utf8}, {utf8: 3, "conv1.weights": 5})
safetensors("model.safetensors", {"net": utf8, "classes": utf8, "width": utf8}, {})
onnx("operator.onnx", text, b"x", b"y")
onnx("result.onnx", b"Relu", b"x", text)
onnx("source.onnx", b"Relu", text, b"y")
onnx("classes.onnx", b"Relu", b"x", b"y", (1, 2, 1, 1))
with open("names", "wb") as file:
    line = text.replace(b"\n", b" ").replace(b"\r", b" ")
    file.write(line + b"\nother" + line + b"\n")
row = {"name": utf8, "kernels": utf8, "shape": [1, 1, 1, 1], "milliseconds": 1, "spread": 0}
for key, renderer in (("old", utf8), ("new", "y" + utf8)):
    with open(key + ".json", "w") as file:
        json.dump({"format": renderer, "device": {"renderer": renderer}, "rows": [row]}, file)
with open("name", "wb") as file:
    file.write(name)
END_OF_PYTHON

# What is printed is gathered in said/ and looked at in the end: nothing that a terminal obeys, all
# UTF-8, no forged line.
cat >clean.py <<'END_OF_PYTHON'
import os, unicodedata

for name in sorted(os.listdir("said")):
    what, _, data = open("said/" + name, "rb").read().partition(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        print(ascii(what), error)
        continue
    hidden = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")
    bad = sorted({hex(ord(c)) for c in text if c not in "\n\t" and unicodedata.category(c) in hidden})
    forged = [line for line in text.split("\n") if line.startswith("FORGED")]
    if bad or forged:
        print(ascii(what), bad, forged[:1])
END_OF_PYTHON

# clean WHAT FILE
clean() {
    ran=$((ran + 1))
    { printf '%s (%s)\000' "$1" "$kind" && cat "$2"; } >said/$ran
}

# tells ARGUMENT...: runs the tool, which says the name or a part of it, on either stream.
tells() {
    "$glcnn" "$@" >answer 2>&1
    clean "glcnn $1 $2" answer
    grep -q FORGED answer || fail "glcnn $1 $2 ($kind) does not tell of it: $(head -n 3 answer)"
}

ran=0
mkdir said
commands=$("$glcnn" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for kind in text bytes; do
    rm -rf data picture* text* ./*.onnx ./*.json ./*.safetensors
    python3 make.py $kind || fail "the files of $kind are not written"
    name=$(cat name)
    tells "$name"
    tells help "$name"
    for command in $commands; do
        tells $command "--$name"
        tells help "$command$name"
    done
    for command in info check bench; do
        tells $command "$name"
        tells $command --device "$name"
    done
    tells kernels "$name"
    tells check --kernel "$name"
    tells run "$name"
    tells run neuron "$name"
    for word in "--parameter=$name=1" "--parameter=padding=$name" "--input=$name=x" "--input=source_image=$name" \
        "--output=$name=x" "--format=$name"; do
        tells run pooling_max "$word"
    done
    for option in data net optimizer epochs size mean augment schedule memory precision model train resume \
        load-matching; do
        tells train "--$option=$name" --force --out=trained.safetensors --data=data
    done
    tells train --out="no/$name" --data=data
    tells evaluate "$name" data
    tells predict "$name" data
    tells evaluate "text$name" data
    tells import --force "text$name" -o x.glcnn
    tells export --force "text$name" -o x.onnx
    tells bench --compare old.json new.json
    tells bench --compare "text$name" new.json
    tells import --force operator.onnx -o x.glcnn
    tells import --force source.onnx -o x.glcnn
    tells import --force result.onnx -o x.glcnn
    tells import --force classes.onnx -o "classes$name.glcnn" --class-names names
    tells import --force classes.onnx -o x.glcnn --class-names "no$name"
    tells import --force "no$name.onnx" -o x.glcnn
    tells train --net=lenet --size=16 --epochs=1 --data=data --load-matching=tensors.safetensors
done
[ $ran -ge 100 ] || fail "$ran runs alone"

# ---- Classes and pictures: a whole run, and what it writes for people ----------------------------

for kind in text; do
    rm -rf data picture* text* ./*.onnx ./*.json ./*.safetensors
    python3 make.py $kind
    name=$(cat name)
    tells train --net=lenet --size=16 --batch=4 --epochs=1 --data=data --out="m$name.safetensors" \
        --plot=plot.svg --log=log.csv --trace=trace.json --report=page
    clean 'the log' log.csv
    clean 'the plot' plot.svg
    clean 'the trace' trace.json
    clean 'the report' page/index.html
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("page/index.html")' 2>dirt ||
        fail "page/index.html ($kind) is not well-formed: $(tail -n 1 dirt)"
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("plot.svg")' 2>dirt ||
        fail "plot.svg ($kind) is no XML: $(tail -n 1 dirt)"
    python3 -c 'import json; json.load(open("trace.json"))' || fail "trace.json ($kind) is no JSON"
    tells evaluate "m$name.safetensors" data --plot=matrix.svg
    clean 'the matrix' matrix.svg
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("matrix.svg")' 2>dirt ||
        fail "matrix.svg ($kind) is no XML: $(tail -n 1 dirt)"
    tells predict "m$name.safetensors" "picture$name.png" data/*/*.png
    [ "$(grep -c '^picture' answer)" = 1 ] || fail "predict ($kind) forges a line: $(cat answer)"
    for command in evaluate predict; do
        pictures=data
        [ $command = evaluate ] || pictures="picture$name.png"
        "$glcnn" $command --json "m$name.safetensors" "$pictures" >answer 2>err
        clean "$command --json" answer
        NAME=$name python3 - <<'END_OF_PYTHON' || fail "$command --json ($kind) is no JSON of the name"
import json, os
name, text = os.environ["NAME"], open("answer", encoding="utf-8").read()
answer = json.loads(text)
wanted = answer[0]["image"] == "picture" + name + ".png" and name in answer[0]["probabilities"] \
    if isinstance(answer, list) else answer["classes"][0]["name"] == name
raise SystemExit(not wanted)
END_OF_PYTHON
    done
done

# A picture's name that is no UTF-8 is text in JSON.
rm -rf picture*
kind=bytes
set -- data/*/0*.png
cp "$1" "$(printf 'picture\233\377.png')"
"$glcnn" predict --json "m$name.safetensors" picture* >answer 2>err
python3 -c 'import json; assert json.load(open("answer"))[0]["image"] == "picture\\x9b\\xff.png"' ||
    fail "JSON of a name that is no UTF-8: $(cat answer)"

# ---- Lines fit on a terminal ---------------------------------------------------------------------

# narrow WHAT FILE: no line is longer than 80 columns or ends with a blank.
narrow() {
    sed 's/\r$//; s/.*\r//' "$2" | awk 'length($0) > 80 || / $/' >wide
    [ ! -s wide ] || fail "$1 is not within 80 columns: $(head -n 3 wide)"
}

for command in $commands; do
    "$glcnn" help $command >answer
    narrow "help $command" answer
done
"$glcnn" help >answer
narrow help answer
echo '{"rows": [{"name": "convolution transpose 64-64 2x2 s2 28, forward", "shape": [1, 1, 1, 1],
    "milliseconds": 1234.5678, "spread": 0}]}' >row.json
"$glcnn" bench --compare row.json row.json >answer
narrow 'bench --compare' answer
"$glcnn" bench --quick --shape 'relu, forward' >answer 2>err
narrow bench answer
"$glcnn" check --quick --kernel soft_max >answer 2>err
narrow check answer

# On a terminal, messages and descriptions are broken between words.
on_terminal() {
    script -qec "TERM=dumb '$glcnn' $*" /dev/null </dev/null >answer 2>&1
    narrow "glcnn $* on a terminal" answer
    [ "$(wc -l <answer)" -ge $lines ] || fail "glcnn $* on a terminal: $(cat answer)"
}

# Epochs are rows of a table, whose bar goes when they come; elsewhere each is a line. Colours are only where
# they are wanted.
table() {
    script -qec "stty cols 80; $* '$glcnn' train --data data --net lenet --size 16 --batch 4 --epochs 4 --lr 0.01" \
        /dev/null </dev/null 2>&1 | sed 's/\r$//; s/.*\r//' >answer
    COLOURS=$1 python3 - <<'END_OF_PYTHON' || fail "the table of $*: $(cat answer)"
import os, re
coloured, text = re.compile("\033\\[1;32m( *[0-9.]+)\033\\[0m"), open("answer", encoding="utf-8").read()
assert bool(coloured.search(text)) == ("xterm" in os.environ["COLOURS"])
text = coloured.sub(r"\1", text)
assert "\033" not in text and "images/s" not in text
lines = text.split("\n")
(head,) = [i for i, line in enumerate(lines) if line.split() == "epoch loss accuracy loss accuracy seconds for data".split()]
rows = lines[head + 1:head + 5]
assert [row.split()[0] for row in rows] == ["1/4", "2/4", "3/4", "4/4"], rows
assert len({tuple(m.start() for m in re.finditer(r"\.", row)) for row in rows}) == 1, rows
assert max(map(len, rows)) <= 80
best = (-1, 0)
for row in rows:
    fields = row.split()
    now = (float(fields[4]), -float(fields[3]))
    assert row.endswith("  best") == (now > best), row
    best = max(best, now)
END_OF_PYTHON
}

"$glcnn" train --data data --net lenet --size 16 --batch 4 --epochs 2 >answer 2>err
[ "$(grep -c '^epoch [12] of 2: loss [0-9.]*, accuracy [0-9.]*; validation loss .* waiting for data$' answer)" = 2 ] ||
    fail "epochs in a file: $(cat answer)"
if ! command -v script >/dev/null; then
    echo 'row what a terminal shows: not tried, there is no script'
elif ! script -qec true /dev/null </dev/null >answer 2>&1; then
    echo "row what a terminal shows: not tried, there is no pseudo-terminal: $(tr '\n' ' ' <answer)"
else
    table NO_COLOR=1 TERM=vt100
    table TERM=xterm
    lines=2 on_terminal kernels --short
    lines=2 on_terminal kernels
    lines=2 on_terminal info
    lines=3 on_terminal train --schedule x
    lines=3 on_terminal bench --no-such-option
    lines=3 on_terminal evaluate model.safetensors data
fi

python3 clean.py >dirt
[ ! -s dirt ] || fail "$(cat dirt)"

[ $failed = 0 ] && echo 'what others named is printed as text'
