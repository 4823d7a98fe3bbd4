#!/usr/bin/python3
"""Writes detection_scores.npz: mean average precision of 20 random sets, for test_detection_score.c.

Run from this folder; needs python3-numpy (1.24 made the file that is here). Of set N, by the published
rules of COCO's evaluation, area "all" and 100 detections:

  N.objects     [count, 7]: picture, class, crowd, left, top, right, bottom
  N.found       [count, 7]: picture, class, score, left, top, right, bottom
  N.mean        [2]: at a threshold of 0.5, over 0.5, 0.55 ... 0.95
  N.by_class    [classes], at 0.5; NaN where there is no object

Edges are multiples of 1/8, scores of 1/64: float16 has them, and many scores are equal: the order in which they are given counts then. One
picture in a set has more than 100 detections of a class.
"""
import numpy as np

SETS, PICTURES, CLASSES = 20, 10, 4
THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)


def overlaps(found, objects, crowd):
    """[found, objects]; with a crowd the part of what is found that lies in it."""
    low = np.maximum(found[:, None, :2], objects[None, :, :2])
    high = np.minimum(found[:, None, 2:], objects[None, :, 2:])
    inside = np.prod(np.clip(high - low, 0, None), axis=2)
    area = lambda b: np.prod(b[:, 2:] - b[:, :2], axis=1)
    union = area(found)[:, None] + area(objects)[None] - inside
    return inside / np.where(crowd[None], area(found)[:, None], union)


def match(table, crowd, threshold):
    """For each detection 1: right, 0: wrong, -1: to be left out. The table's rows are in order."""
    free, verdict = ~crowd, []
    for row in table:
        usable = np.flatnonzero(free & (row >= threshold))
        if len(usable):
            best = usable[row[usable] == row[usable].max()][-1]
            free[best] = False
            verdict.append(1)
        else:
            verdict.append(-1 if (crowd & (row >= threshold)).any() else 0)
    return np.array(verdict, int)


def average(scores, verdicts, count):
    order = np.argsort(-scores, kind="stable")
    v = verdicts[order]
    right, wrong = np.cumsum(v == 1), np.cumsum(v == 0)
    precision = right / np.maximum(right + wrong, 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    place = np.searchsorted(right / count, RECALLS, side="left")
    return np.where(place < len(v), np.append(envelope, 0)[np.minimum(place, len(v))], 0).mean()


def evaluate(objects, found):
    table = np.full((CLASSES, len(THRESHOLDS)), np.nan)
    for c in range(CLASSES):
        scores, verdicts = [np.zeros(0)], [np.zeros((len(THRESHOLDS), 0), int)]
        truth = objects[objects[:, 1] == c]
        count = (truth[:, 2] == 0).sum()
        for picture in range(PICTURES):
            t = truth[truth[:, 0] == picture]
            f = found[(found[:, 0] == picture) & (found[:, 1] == c)]
            f = f[np.argsort(-f[:, 2], kind="stable")][:100]
            crowd = t[:, 2] == 1
            both = overlaps(f[:, 3:], t[:, 3:], crowd)
            scores.append(f[:, 2])
            verdicts.append(np.array([match(both, crowd, limit) for limit in THRESHOLDS],
                                     int).reshape(len(THRESHOLDS), -1))
        if count:
            table[c] = [average(np.concatenate(scores), v, count)
                        for v in np.concatenate(verdicts, 1)]
    return np.array([np.nanmean(table[:, 0]), np.nanmean(table)]), table[:, 0]


def boxes(draw, count):
    corner, extent = draw.uniform(0, 80, (count, 2)), draw.uniform(6, 50, (count, 2))
    return np.round(np.concatenate([corner, corner + extent], 1) * 8) / 8


def make_set(seed):
    draw = np.random.RandomState(seed)
    classes = CLASSES - seed % 2  # half of the sets have no object of the last class
    count = draw.randint(20, 60)
    objects = np.concatenate([draw.randint(PICTURES, size=(count, 1)),
                              draw.randint(classes, size=(count, 1)),
                              draw.rand(count, 1) < 0.15, boxes(draw, count)], 1)
    seen = objects[draw.rand(count) < 0.9].repeat(draw.randint(1, 4), 0)
    jitter = np.round(draw.normal(0, draw.uniform(0.5, 4), (len(seen), 4)) * 8) / 8
    others = draw.randint(10, 200)
    found = np.concatenate([
        np.concatenate([seen[:, :2], 0.3 + 0.7 * draw.rand(len(seen), 1), seen[:, 3:] + jitter], 1),
        np.concatenate([draw.randint(PICTURES, size=(others, 1)),
                        draw.randint(CLASSES, size=(others, 1)), draw.rand(others, 1),
                        boxes(draw, others)], 1),
        np.concatenate([np.zeros((120, 1)), np.ones((120, 1)), draw.rand(120, 1),
                        boxes(draw, 120)], 1)])
    found[:, 2] = np.round(found[:, 2] * 64) / 64
    found[:, 5:] = np.maximum(found[:, 5:], found[:, 3:5] + 1)
    return objects.astype(np.float16), draw.permutation(found).astype(np.float16)


kept = {}
for number in range(SETS):
    o, f = make_set(number)
    mean, by_class = evaluate(o.astype(float), f.astype(float))
    print(number, len(o), len(f), mean, by_class)
    kept.update({f"{number}.objects": o, f"{number}.found": f, f"{number}.mean": mean,
                 f"{number}.by_class": by_class})
np.savez_compressed("detection_scores.npz", **kept)
