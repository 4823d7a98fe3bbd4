"""The library's measures against plain implementations in NumPy. test_python.sh runs it."""
import unittest

import numpy

from glcnn import Status
from glcnn.measures import CROWD, DIFFICULT, ClassMetrics, DetectionScore
from test_glcnn import refused


def overlap(a, b, of_a=False):
    """Intersection over union, or over a's own area."""
    both = numpy.prod((numpy.minimum(a[2:4], b[2:4]) - numpy.maximum(a[:2], b[:2])).clip(0))
    area, other = (numpy.prod(box[2:4] - box[:2]) for box in (a, b))
    return both / (area if of_a else area + other - both)


def matched(found, objects, threshold):
    """(score, right) of each box of an image and class that counts, by COCO's rules."""
    told, free = [], [o for o in objects if not o[5]]
    for box in sorted(found, key=lambda box: -box[5])[:100]:
        best = max(free, key=lambda o: overlap(box, o), default=None)
        if best is not None and overlap(box, best) >= threshold:
            free = [o for o in free if o is not best]
            told.append((box[5], True))
        elif not any(overlap(box, o, o[5] == CROWD) >= threshold for o in objects if o[5]):
            told.append((box[5], False))
    return told


def average_precision(images, label, threshold):
    told, count = [], 0
    for found, objects in images:
        its = objects[objects[:, 4] == label]
        count += (its[:, 5] == 0).sum()
        told += matched(found[found[:, 4] == label], its, threshold)
    if not count:
        return numpy.nan
    hits = numpy.array([right for _, right in sorted(told, key=lambda t: -t[0])]).cumsum()
    precision = hits / numpy.arange(1, len(hits) + 1)
    return numpy.mean([max(precision[hits / count >= r], default=0)
                       for r in numpy.linspace(0, 1, 101)])


def boxes(random, count):
    low = random.uniform(0, 0.6, (count, 2))
    return numpy.column_stack([low, low + random.uniform(0.1, 0.4, (count, 2)),
                               random.integers(0, 3, count)]).astype(numpy.float32)


class Detections(unittest.TestCase):
    def test_crowds_and_difficult_objects(self):
        random, score, images = numpy.random.default_rng(4), DetectionScore(4), []
        for _ in range(15):
            objects = boxes(random, 5)
            kinds = random.choice([0, 0, 0, CROWD, DIFFICULT], 5)
            found = numpy.concatenate([objects, objects, boxes(random, 4)])
            found[:, :4] += random.normal(0, 0.02, (len(found), 4))
            found = numpy.column_stack([found, random.random(len(found), numpy.float32)])
            images.append((found, numpy.column_stack([objects, kinds])))
        score.add(*zip(*images))
        for told, thresholds in ((score.at_50, [0.5]), (
                score.at_all, 0.5 + 0.05 * numpy.arange(10))):
            plain = [average_precision(images, k, t) for k in range(4) for t in thresholds]
            self.assertAlmostEqual(told, numpy.nanmean(plain), delta=1e-6)
        numpy.testing.assert_allclose(
            score.of_class_at_50, [average_precision(images, k, 0.5) for k in range(4)], atol=1e-6)
        self.assertTrue(numpy.isnan(score.of_class_at_50[3]))

    def test_what_is_refused(self):
        score, found = DetectionScore(2), numpy.array([[0, 0, 1, 1, 2, 0.5]])
        with refused(self, Status.INVALID_ARGUMENT, "a label is no class"):
            score.add([found], [found[:0]])
        self.assertTrue(numpy.isnan(score.at_50))


class Classes(unittest.TestCase):
    def test_probabilities(self):
        random, metrics = numpy.random.default_rng(2), ClassMetrics(7)
        values = random.dirichlet(numpy.ones(7), 200).astype(numpy.float32)
        labels = random.integers(0, 7, 200)
        metrics.add(values[:150], labels[:150])
        metrics.add(values[150:], labels[150:])
        told, right = metrics.result(), values.argmax(1) == labels
        self.assertEqual(told.count, 200)
        self.assertAlmostEqual(told.accuracy, right.mean(), delta=1e-12)
        rank = (values > values[numpy.arange(200), labels][:, None]).sum(1)
        self.assertAlmostEqual(told.top_5, (rank < 5).mean(), delta=1e-12)
        recall = [right[labels == k].mean() for k in range(7)]
        self.assertAlmostEqual(told.recall, numpy.mean(recall), delta=1e-12)
        with refused(self, Status.INVALID_ARGUMENT, "expected .N..7. and .N."):
            metrics.add(values[:, :3], labels)

    def test_pixels(self):
        metrics = ClassMetrics(3)
        answers = numpy.uint8([[0, 0, 1], [2, 1, 1]])
        labels = numpy.uint8([[0, 1, 1], [255, 1, 0]])
        metrics.add_labels(answers, labels)
        told = metrics.result()
        self.assertEqual(told.class_iou[:2], [1 / 3, 2 / 4])
        self.assertAlmostEqual(told.iou, (1 / 3 + 2 / 4) / 2)
        with refused(self, Status.INVALID_ARGUMENT, "an answer is no class"):
            metrics.add_labels(answers + 2, labels)


if __name__ == "__main__":
    unittest.main()
