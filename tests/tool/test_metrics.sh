#!/bin/sh
# Metrics of glcnn evaluate against their formulas, of the probabilities that glcnn predict says; and
# --flip of both against the mean of the probabilities of pictures and of mirrored pictures.
#
# Runs from the top of a built tree. O may be given. Exits 77 without python3 or a device.

. tests/tool.sh
cd "$work" || exit 1

command -v python3 >/dev/null || skip 'there is no python3, which writes the data'
needs_device

cat >make.py <<'END_OF_PYTHON'
import random, struct

random.seed(3)
CLASSES, SIDE, COUNT = 7, 8, 70

def picture(kind):
    """Brighter in some columns, under as much noise: half of them are recognised. Class 6 is rare."""
    return [random.randrange(160) + (95 if i % SIDE == kind else 0) for i in range(SIDE * SIDE)]

def npy(path, pictures):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d), }" % (COUNT, SIDE, SIDE)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0\x76\0" + header.ljust(117).encode() + b"\n")
        file.write(bytes(v for p in pictures for v in p))

labels = [n % 6 if n % 24 != 6 else 6 for n in range(COUNT)]
pictures = [picture(label) for label in labels]
with open("data.csv", "w") as file:
    file.write("label," + ",".join("p%d" % i for i in range(SIDE * SIDE)) + "\n")
    for label, p in zip(labels, pictures):
        file.write(",".join(map(str, [label] + p)) + "\n")
npy("plain.npy", pictures)
npy("mirrored.npy", [[v for y in range(SIDE) for v in p[y * SIDE:(y + 1) * SIDE][::-1]] for p in pictures])
END_OF_PYTHON
python3 make.py
# One that is seldom sure, and wrong often enough.
"$glcnn" train --data data.csv --channels 1 --size 8 --net small --epochs 2 --batch 10 --seed 5 \
    --optimizer sgd --lr 0.02 --weight-decay 0 --augment none \
    --out model.safetensors >log 2>&1 || fail "training fails: $(tail -n 2 log)"

for files in plain mirrored; do
    "$glcnn" predict --json model.safetensors $files.npy >$files.json 2>err || fail "$(cat err)"
done
"$glcnn" predict --flip --json model.safetensors plain.npy >flipped.json 2>err || fail "$(cat err)"
"$glcnn" predict --flip --json model.safetensors mirrored.npy >again.json 2>err || fail "$(cat err)"
"$glcnn" evaluate --json model.safetensors data.csv >evaluated.json 2>err || fail "$(cat err)"
"$glcnn" evaluate --json --flip model.safetensors data.csv >evaluated_flipped.json 2>err || fail "$(cat err)"
"$glcnn" evaluate model.safetensors data.csv >table 2>err || fail "$(cat err)"
python3 - <<'END_OF_PYTHON' || fail "see above; $(cat table)"
import json, math

labels = [line.split(",")[0] for line in open("data.csv")][1:]
names = sorted(set(labels))

def read(path):
    return [list(p["probabilities"].values()) for p in json.load(open(path))]

def near(a, b, what, off=1e-6):
    assert abs(a - b) <= off, "%s: %r, not %r" % (what, a, b)

plain, mirrored, flipped, again = map(read, ("plain.json", "mirrored.json", "flipped.json", "again.json"))
assert all(list(p["probabilities"]) == names for p in json.load(open("plain.json")))
for n, row in enumerate(flipped):
    for k, value in enumerate(row):
        near(value, (plain[n][k] + mirrored[n][k]) / 2, "the mean of picture %d" % n)
assert flipped == again, "a mirrored picture has another mean"
assert flipped != plain

def check(path, rows):
    found, count, taken = json.load(open(path)), len(rows), [row.index(max(row)) for row in rows]
    truth = [names.index(label) for label in labels]
    near(found["accuracy"], sum(a == b for a, b in zip(taken, truth)) / count, "accuracy")
    near(found["top_5_accuracy"],
         sum(t in sorted(range(7), key=lambda k: -row[k])[:5] for row, t in zip(rows, truth)) / count, "top 5")
    bins = [[] for _ in range(15)]
    for row, a, b in zip(rows, taken, truth):
        bins[math.ceil(max(row) * 15) - 1].append((max(row), a == b))
    assert sum(map(bool, bins)) > 4, "too few bins have pictures"
    near(found["calibration_error"],
         sum(abs(sum(p for p, _ in b) - sum(r for _, r in b)) for b in bins) / count, "calibration")
    means = {"precision": 0, "recall": 0, "f1": 0}
    for k, entry in enumerate(found["classes"]):
        right = sum(a == b == k for a, b in zip(taken, truth))
        precision = right / max(1, taken.count(k))
        recall = right / max(1, truth.count(k))
        f1 = 2 * precision * recall / (precision + recall) if right else 0
        for name, value in ("precision", precision), ("recall", recall), ("f1", f1):
            near(entry[name], value, "%s of %s" % (name, names[k]))
            means[name] += value / 7
    for name, value in means.items():
        near(found[name], value, "mean " + name)
    return found

check("evaluated_flipped.json", flipped)
found = check("evaluated.json", plain)
assert 0 < found["accuracy"] < found["top_5_accuracy"] < 1, "what is always right shows nothing"
text = open("table").read()
assert "\ntop-5 accuracy %.4f\ncalibration error %.4f\n" % (found["top_5_accuracy"], found["calibration_error"]) in text
assert "\nmean  %9.4f  %6.4f  %6.4f\n" % (found["precision"], found["recall"], found["f1"]) in text
END_OF_PYTHON
echo 'metrics are those of their formulas'
