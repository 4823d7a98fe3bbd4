"""Writes labelled images of 8x8 in train.csv and test.csv of a folder: bright above, in the middle or below,
noisy, and some with the label of another class. The names of classes are markup."""
import csv
import os
import random
import sys

NAMES = ["<script>alert(1)</script>", "a & \"b\" 'c' \u82f9\u679c", "plain"]


def write(path, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["label"] + ["p%d" % i for i in range(64)])
        for n in range(count):
            values = [min(255, int(random.random() * 180 + 70 * (i // 22 == n % 3))) for i in range(64)]
            rows.writerow([NAMES[(n + (n % 11 == 0)) % 3]] + values)


random.seed(1)
os.mkdir(sys.argv[1])
write(os.path.join(sys.argv[1], "train.csv"), 120)
write(os.path.join(sys.argv[1], "test.csv"), 90)
