"""usage: check.py PAGE TEST.CSV: reads a page of --report as XML and as HTML, and compares it with
evaluate.json and predict.json, what the tool says of the same network and images."""
import base64
import csv
import json
import math
import struct
import sys
import zlib

from page import Page, text

page = Page(sys.argv[1])
section = page.section
assert len(list(page.root.iter("svg"))) >= 4

# ---- Classes, by what predict says of each image -------------------------------------------------

rows = list(csv.reader(open(sys.argv[2], encoding="utf-8")))[1:]
scores = json.load(open("evaluate.json", encoding="utf-8"))
names = [c["name"] for c in scores["classes"]]
labels = [names.index(row[0]) for row in rows]
answers = json.load(open("predict.json", encoding="utf-8"))
probabilities = [[answer["probabilities"][name] for name in names] for answer in answers]
assert len(labels) == len(probabilities) == scores["count"]
best = [p.index(max(p)) for p in probabilities]


def threshold(p):
    return 511 if p >= 1 else max(0, min(511, math.floor((math.log(p) - math.log1p(-p)) * 16) + 256))


def average_precision(k):
    """sum (r_i - r_(i-1)) p_i over the thresholds."""
    places = [threshold(p[k]) for p in probabilities]
    total, before, area = labels.count(k), 0, 0
    for t in range(511, -1, -1):
        taken = [label for label, place in zip(labels, places) if place >= t]
        if taken:
            right = taken.count(k)
            area += (right / total - before) * right / len(taken)
            before = right / total
    return area


def exact_average_precision(k):
    order = sorted(range(len(labels)), key=lambda n: -probabilities[n][k])
    right = area = 0
    for i, n in enumerate(order):
        if labels[n] == k:
            right += 1
            area += right / (i + 1)
    return area / labels.count(k)


table = [[text(cell) for cell in row] for row in section("Each class").iter("tr")]
assert [row[0] for row in table] == ["class"] + sorted(
    names, key=lambda n: float(next(r[4] for r in table if r[0] == n))) + ["mean of all"], table
for row in table[1:-1]:
    k = names.index(row[0])
    taken, count = best.count(k), labels.count(k)
    right = sum(b == label == k for b, label in zip(best, labels))
    wanted = [right / taken, right / count, 2 * right / (taken + count), average_precision(k)]
    assert row[1] == str(count) and row[2:] == ["%.4f" % v for v in wanted], (row, wanted)
    assert abs(average_precision(k) - exact_average_precision(k)) < 0.03, (average_precision(k), k)
for column in range(2, 6):
    mean = sum(float(row[column]) for row in table[1:-1]) / 3
    assert abs(float(table[-1][column]) - mean) <= 1e-4, (table[-1], mean)

# ---- Matrix --------------------------------------------------------------------------------------

matrix = [[int(v) for v in c["taken_for"]] for c in scores["classes"]]
cells = [text(t) for t in section("What is taken for what").iter("text") if t.get("class") in ("cell", "light")]
assert cells == [str(v) for row in matrix for v in row if v], cells
mistakes = [text(item) for item in section("What is taken for what").iter("li")]
assert len(mistakes) == sum(v > 0 for i, row in enumerate(matrix) for j, v in enumerate(row) if i != j)
for of in range(3):
    for as_ in range(3):
        line = "%s was taken for %s in %d of %d pictures" % (names[of], names[as_], matrix[of][as_], labels.count(of))
        assert of == as_ or not matrix[of][as_] or line in mistakes, line

# ---- Curves --------------------------------------------------------------------------------------

curves = section("Precision and recall").findall(".//svg")
assert len(curves) == 3
for curve in curves:
    (line,) = [p for p in curve.iter("path") if p.get("class") == "line"]
    points = [tuple(float(v) for v in p.split()) for p in line.get("d")[1:].split("L")]
    assert points == sorted(points, key=lambda p: p[0]) and len(points) > 5
    name = next(n for n in names if "recall of %s:" % n in curve.get("aria-label"))
    k = names.index(name)
    share = labels.count(k) / len(labels)  # what the lowest threshold takes is everything
    assert abs(points[-1][0] - 164) < 0.06 and abs(points[-1][1] - (8 + 120 * (1 - share))) < 0.06, (points[-1], share)

# ---- Pictures ------------------------------------------------------------------------------------


def pixels(image):
    """Of a grey PNG of 8 bits without a filter but none, sub, up and average."""
    data = base64.b64decode(image.get("src").split(",")[1], validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and image.get("alt")
    at, packed = 8, b""
    while at < len(data):
        (size,) = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    assert (width, height, depth, colour) == (8, 8, 8, 0)
    raw, rows, before = zlib.decompress(packed), [], [0] * 8
    for y in range(8):
        kind, line = raw[9 * y], list(raw[9 * y + 1:9 * y + 9])
        for x in range(8):
            left, up, corner = (line[x - 1] if x else 0), before[x], (before[x - 1] if x else 0)
            guess = left + up - corner
            paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[x] = (line[x] + [0, left, up, (left + up) // 2, paeth][kind]) & 255
        rows += line
        before = line
    return rows


def answer(word, name, probability):
    return "%s %s, %.*f %%" % (word, name, 2 if probability < 0.01 else 0, 100 * probability)


wrong = sorted((probabilities[n][labels[n]], n) for n in range(len(labels)) if best[n] != labels[n])[:24]
figures = section("The most wrong pictures").findall(".//figure")
assert wrong and len(figures) == len(wrong), (len(figures), len(wrong))
for figure, (probability, n) in zip(figures, wrong):
    assert pixels(figure.find("img")) == [int(v) for v in rows[n][1:]], n
    said, true = figure.findall("figcaption/b")
    assert text(said) == answer("said", names[best[n]], probabilities[n][best[n]]), text(said)
    assert text(true) == answer("is", names[labels[n]], probability), text(true)
    assert text(figure.find("figcaption/small")) == "loss %.3gimage %d of val.csv" % (-math.log(probability), n)
samples = section("What the network sees").findall(".//figure")
assert len(samples) in (0, 12)
for figure in samples:
    assert text(figure.find("figcaption")) in names and sum(pixels(figure.find("img"))) > 0
assert page.tiles()["accuracy" if "accuracy" in page.tiles() else "validation accuracy"] == "%.4f" % scores["accuracy"]
