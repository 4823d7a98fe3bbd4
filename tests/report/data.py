"""usage: data.py FOLDER [numbers|masks|boxes|points]: writes labelled images of 8x8, with markup for names.

Without a word in train.csv and val.csv: bright above, in the middle or below, noisy, and some with the
label of another class. numbers: pictures with two numbers each in a table. masks: pictures with masks beside
them. boxes, points: pictures of 32x32 with YOLO's labels of a square each, or its corners in a table."""
import csv
import os
import random
import struct
import sys
import zlib

NAMES = ["<script>alert(1)</script>", "a & \"b\" 'c' \u82f9\u679c",
         12 * "0123456789"]


def classes(path, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["label"] + ["p%d" % i for i in range(64)])
        for n in range(count):
            values = [min(255, int(random.random() * 180 + 70 * (i // 22 == n % 3))) for i in range(64)]
            rows.writerow([NAMES[(n + (n % 11 == 0)) % 3]] + values)


def png(path, values, side=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(values[side * y:side * y + side]) for y in range(side))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def numbers(folder, count):
    os.mkdir(os.path.join(folder, "images"))
    with open(os.path.join(folder, "list.csv"), "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", NAMES[0], "brightness"])
        for n in range(count):
            x, light = random.randrange(8), random.randrange(60, 200)
            png(os.path.join(folder, "images", "%03d.png" % n),
                [min(255, random.randrange(light) + 90 * (i % 8 == x)) for i in range(64)])
            rows.writerow(["%03d.png" % n, x, light])


def masks(folder, count):
    for part in "images", "masks":
        os.mkdir(os.path.join(folder, part))
    for n in range(count):
        x, y = random.randrange(6), random.randrange(6)
        mask = [int(x <= i % 8 < x + 4 and y <= i // 8 < y + 4) for i in range(64)]
        png(os.path.join(folder, "images", "%03d.png" % n), [random.randrange(90) + 110 * m for m in mask])
        png(os.path.join(folder, "masks", "%03d.png" % n), mask)


def square(path):
    """Draws a square of 12 pixels a side, and returns its left and upper edge."""
    left, top = random.randrange(20), random.randrange(20)
    png(path, [random.randrange(90) + 110 * (left <= i % 32 < left + 12 and top <= i // 32 < top + 12)
               for i in range(32 * 32)], 32)
    return left, top


def boxes(folder, count):
    for part in "images", "labels":
        os.mkdir(os.path.join(folder, part))
    with open(os.path.join(folder, "data.yaml"), "w", encoding="utf-8") as file:
        file.write("names: [square, disc]\n")
    for n in range(count):
        left, top = square(os.path.join(folder, "images", "%03d.png" % n))
        with open(os.path.join(folder, "labels", "%03d.txt" % n), "w", encoding="utf-8") as file:
            file.write("0 %g %g %g %g\n" % ((left + 6) / 32, (top + 6) / 32, 12 / 32, 12 / 32))


def points(folder, count):
    os.mkdir(os.path.join(folder, "images"))
    with open(os.path.join(folder, "list.csv"), "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "first_x", "first_y", "last_x", "last_y"])
        for n in range(count):
            left, top = square(os.path.join(folder, "images", "%03d.png" % n))
            rows.writerow(["%03d.png" % n, left, top, left + 12, top + 12])


random.seed(1)
target = sys.argv[1]
os.mkdir(target)
if len(sys.argv) == 2:
    classes(os.path.join(target, "train.csv"), 120)
    classes(os.path.join(target, "val.csv"), 90)
else:
    {"numbers": numbers, "masks": masks, "boxes": boxes, "points": points}[sys.argv[2]](target, 80)
