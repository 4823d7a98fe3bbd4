"""Tasks: heads, losses, measures and answers, and the tool on what they make."""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy

import glcnn
from glcnn import Optimizer, Status, tasks
from glcnn.measures import DetectionScore
from test_glcnn import refused

SIDE = 64
LEARNS = "GLCNN_TEST_CHECK" in os.environ
NAMES = ["rectangle", "disc", "triangle"]


def write_png(path, pixels):
    """Bytes [H][W] or [H][W][3]."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) +
                   chunk(b"IEND", b""))


def draw(random, pixels, boxes):
    """One bright shape, unless it would lie on another: its box and class are added."""
    width, height = random.integers(14, 31, 2)
    left, top = random.integers(0, SIDE - width + 1), random.integers(0, SIDE - height + 1)
    box = numpy.array([left, top, left + width, top + height, random.integers(3)], float)
    if any((numpy.minimum(box[2:4], one[2:4]) > numpy.maximum(box[:2], one[:2])).all() for one in boxes):
        return
    y, x = numpy.mgrid[:height, :width] + 0.5
    x, y = x / width, y / height
    covered = [x >= 0, (2 * x - 1) ** 2 + (2 * y - 1) ** 2 <= 1, abs(x - 0.5) <= y / 2][int(box[4])]
    part = pixels[top:top + height, left:left + width]
    part[covered] = random.uniform(128, 255, 3)
    boxes.append(box)


def shapes(path, part, count, seed):
    """Pictures with one to four shapes, as YOLO has them."""
    random = numpy.random.default_rng(seed)
    for name in "images", "labels":
        os.makedirs(os.path.join(path, part, name))
    for i in range(count):
        pixels, boxes = random.uniform(0, 102, (SIDE, SIDE, 3)), []
        for _ in range(random.integers(1, 5)):
            draw(random, pixels, boxes)
        write_png(os.path.join(path, part, "images", "%03d.png" % i), pixels.astype(numpy.uint8))
        with open(os.path.join(path, part, "labels", "%03d.txt" % i), "w") as file:
            for left, top, right, bottom, label in boxes:
                file.write("%d %g %g %g %g\n" % (
                    label, (left + right) / 2 / SIDE, (top + bottom) / 2 / SIDE,
                    (right - left) / SIDE, (bottom - top) / SIDE))
    with open(os.path.join(path, "data.yaml"), "w") as file:
        file.write("names: [%s]\n" % ", ".join(NAMES))


def block(x, channels, stride=2):
    x = x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=channels,
                      stride_in_pixels_x=stride, stride_in_pixels_y=stride)
    return x.batch_normalization(1e-5).neuron_relu()


def backbone(x):
    """Features of halved sizes, the finest first."""
    found = []
    for channels in (16, 32, 64):
        x = block(x, channels)
        found.append(x)
    return found[:-1] + [block(x, 64, 1)]


def tool(*arguments):
    return subprocess.check_output([os.environ["GLCNN_TOOL"], *arguments], stderr=subprocess.DEVNULL)


class Folder(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.path)

    def at(self, *names):
        return os.path.join(self.path, *names)


class DetectTest(Folder):
    @unittest.skipUnless(LEARNS, "GLCNN_TEST_CHECK=1 trains until objects are found")
    def test_made_shapes(self):
        shapes(self.path, "train", 500, 1)
        shapes(self.path, "val", 64, 2)
        data = glcnn.Dataset(self.path, targets="boxes", batch=8)
        validation = data.part("validation")
        net = tasks.detect.network(data, backbone, seed=1)
        with refused(self, Status.INVALID_ARGUMENT, "validation is the validation part"):
            tasks.detect.train(net, data, validation=glcnn.Dataset(self.path, targets="boxes"))
        told = []
        history = tasks.detect.train(net, data, epochs=6, schedule="cosine", augment="none",
                                     loss="ciou", validation=validation,
                                     on_epoch=lambda *one: told.append(one),
                                     optimizer=Optimizer("adam", learning_rate=0.006))
        self.assertEqual([epoch for epoch, _ in told], list(range(6)))
        self.assertEqual(told[-1][1].validation.metrics, history[-1].validation.metrics)
        score = tasks.detect.evaluate(net, validation)
        self.assertGreaterEqual(score.metrics["map_50"], 0.9)
        self.assertLess(history[-1].loss, history[0].loss / 2)
        # The tool reads the network, and finds the same.
        net.save(self.at("shapes.glcnn"))
        told = json.loads(tool("evaluate", "--json", self.at("shapes.glcnn"), self.path))
        self.assertAlmostEqual(told["map_50"], score.metrics["map_50"], places=6)
        self.assertAlmostEqual(told["map_50_95"], score.metrics["map_50_95"], places=6)
        again = glcnn.load(self.at("shapes.glcnn"))
        images, boxes = next(iter(validation))
        found = tasks.detect.predict(again, images)
        self.assertEqual(len(found), len(images))
        precision = DetectionScore(3)
        precision.add(found, boxes)
        self.assertGreater(precision.at_50, 0.7)
        with refused(self, Status.INVALID_ARGUMENT, "the network is for the task detect"):
            tasks.segment.evaluate(again, glcnn.Dataset(self.squares(), targets="masks"))

    def test_a_head_that_the_tool_cannot_know(self):
        def layers(x):
            x = block(x, 4, 8)
            far, near = [x.convolution(kernel_width=1, kernel_height=1, output_feature_channels=k)
                         for k in (4, 2)]
            return far.neuron_soft_plus(1, 1).concatenation(near.neuron_sigmoid())
        net = glcnn.network((3, SIDE, SIDE), layers)
        net.classes, net.task = ["a", "b"], "detect"
        net.save(self.at("hand.glcnn"))
        write_png(self.at("a.png"), numpy.zeros((SIDE, SIDE, 3), numpy.uint8))
        said = subprocess.run([os.environ["GLCNN_TOOL"], "predict", self.at("hand.glcnn"),
                               self.at("a.png")], stderr=subprocess.PIPE, text=True)
        self.assertEqual(said.returncode, 1)
        self.assertIn("no detection_scores_0 and detection_distances_0", said.stderr)

    def squares(self):
        for name in "images", "masks":
            os.makedirs(self.at("one", name))
            write_png(self.at("one", name, "a.png"), numpy.eye(8, dtype=numpy.uint8))
        return self.at("one")

    def test_precision(self):
        """Of numbers that are easy by hand."""
        objects = numpy.array([[0, 0, 0.4, 0.4, 0], [0.5, 0.5, 1, 1, 0]])
        found = numpy.array([[0, 0, 0.4, 0.4, 0, 0.9], [0, 0, 0.4, 0.4, 0, 0.8],
                             [0.5, 0.5, 1, 1, 0, 0.7]])
        precision = DetectionScore(2)
        self.assertTrue(numpy.isnan(precision.at_50))
        precision.add([found], [objects])
        # Precision 1 to a recall of 1/2, 2/3 to 1: of 101 recalls 51 and 50.
        self.assertAlmostEqual(precision.at_50, (51 + 50 * 2 / 3) / 101)
        precision.add([found[:0]], [objects + [0, 0, 0, 0, 1]])  # a class that is never found
        self.assertAlmostEqual(precision.at_50, (51 + 50 * 2 / 3) / 101 / 2)
        # A hundred boxes of each class count, however likely those of others are.
        crowded = DetectionScore(2)
        wrong = numpy.repeat([[0.6, 0, 0.7, 0.1, 0, 0.9]], 100, 0)
        right = [[0, 0, 0.4, 0.4, 1, 0.5], [0, 0, 0.4, 0.4, 0, 0.5]]
        crowded.add([numpy.concatenate([wrong, right])],
                    [numpy.array([[0, 0, 0.4, 0.4, 1], [0, 0, 0.4, 0.4, 0]])])
        self.assertAlmostEqual(crowded.at_50, 0.5)
        # A difficult object and a crowd are neither right nor wrong; of the crowd the part in it counts.
        for kind, box, expected in ((2, [0.5, 0.5, 1, 1], 1), (2, [0.5, 0.5, 0.75, 0.75], 0.5),
                                    (1, [0.5, 0.5, 0.75, 0.75], 1), (0, [0.5, 0.5, 1, 1], 1),
                                    (0, [0.7, 0, 0.9, 0.1], 51 / 2 / 101)):
            marked = DetectionScore(1)
            marked.add([numpy.array([box + [0, 0.9], [0, 0, 0.4, 0.4, 0, 0.8]])],
                       [numpy.array([[0, 0, 0.4, 0.4, 0, 0], [0.5, 0.5, 1, 1, 0, kind]])])
            self.assertAlmostEqual(marked.at_50, expected)
        with refused(self, Status.INVALID_ARGUMENT, "boxes of 1 images and objects of 2"):
            precision.add([found], [objects, objects])


class OtherTasksTest(Folder):
    def squares(self, count=60):
        """Bright squares on dark: masks, a list of where they are, and folders by the half."""
        random = numpy.random.default_rng(0)
        for name in ("masks/images", "masks/masks", "list/images", "halves/left", "halves/right"):
            os.makedirs(self.at(name))
        lines = ["file,row,far"]
        for i in range(count):
            grey = random.integers(0, 60, (16, 16)).astype(numpy.uint8)
            mask = numpy.zeros((16, 16), numpy.uint8)
            row, column = random.integers(0, 11, 2)
            grey[row:row + 6, column:column + 6] += 150
            mask[row:row + 6, column:column + 6] = 1
            half = "halves/left" if column < 5 else "halves/right"
            for folder, pixels in (("masks/images", grey), ("masks/masks", mask),
                                   ("list/images", grey), (half, grey)):
                write_png(self.at(folder, "%03d.png" % i), pixels)
            lines.append("%03d.png,%d,%d" % (i, row, 1000 * column))
        with open(self.at("list", "list.csv"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def both(self, x):
        fine = block(x, 8, 1)
        return [fine, block(fine, 16)]

    def learned(self, task, folder, layers, epochs=12):
        data = glcnn.Dataset(self.at(folder), targets=task.targets, batch=6)
        net = task.network(data, layers, seed=1)
        history = task.train(net, data, epochs=epochs, schedule="cosine", augment="none",
                             optimizer=Optimizer("adam", learning_rate=0.01),
                             validation=data.part("validation"))
        net.save(self.at("net.glcnn"))
        told = json.loads(tool("evaluate", "--json", self.at("net.glcnn"), self.at(folder)))
        everything = glcnn.Dataset(self.at(folder), targets=task.targets, validation=0, shuffle=False)
        return net, history, told, task.evaluate(net, everything), everything

    def test_segment(self):
        self.squares()
        net, history, told, score, data = self.learned(tasks.segment, "masks", self.both, 6)
        self.assertGreater(history[-1].validation.metrics["miou"], 0.9)
        self.assertAlmostEqual(told["mIoU"], score.metrics["miou"], places=6)
        images, masks = next(iter(data))
        found = tasks.segment.predict(net, images)
        self.assertEqual((found.dtype, found.shape), (numpy.uint8, masks.shape))
        self.assertGreater((found == masks).mean(), 0.95)
        # An iterator of batches, and another task's data.
        numpy.testing.assert_array_equal(tasks.segment.predict(net, iter([images])), found)
        with refused(self, Status.INVALID_ARGUMENT, "learns from a dataset whose targets are 'numbers'"):
            tasks.regress.train(net, data)

    def test_regress(self):
        self.squares(120)
        def places(x):  # a mean over pixels does not tell where
            x = block(block(x, 8, 1), 8)
            return x.fully_connected(kernel_width=8, kernel_height=8,
                                     output_feature_channels=16).neuron_relu()
        net, history, told, score, data = self.learned(tasks.regress, "list", places)
        self.assertGreater(history[-1].validation.metrics["r2"], 0.6)
        self.assertAlmostEqual(told["R2"], score.metrics["r2"], places=6)
        self.assertAlmostEqual(told["loss"], score.loss, places=6)  # in units of deviations
        images, numbers = next(iter(data))
        found = tasks.regress.predict(net, images)
        self.assertGreater(numpy.corrcoef(found[:, 1], numbers[:, 1])[0, 1], 0.8)
        self.assertGreater(abs(found[:, 1]).max(), 1000)

    def test_classify(self):
        self.squares()
        def sides(x):
            x = block(x, 8, 1)
            return x.fully_connected(kernel_width=16, kernel_height=16,
                                     output_feature_channels=16).neuron_relu()
        net, history, told, score, data = self.learned(tasks.classify, "halves", sides)
        self.assertGreater(history[-1].validation.accuracy, 0.8)
        self.assertAlmostEqual(told["accuracy"], score.accuracy, places=6)
        images, labels = next(iter(data))
        found = tasks.classify.predict(net, images)
        numpy.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
        self.assertGreater((found.argmax(1) == labels).mean(), 0.8)
        # The same network, and the same training, of arrays.
        arrays = glcnn.Dataset.of(images, labels, validation=(images, labels), classes=net.classes)
        self.assertEqual((arrays.count, arrays.counts["validation"], arrays.shape),
                         (len(images), len(images), data.shape))
        numpy.testing.assert_array_equal(next(iter(arrays.part("validation"))).images, images)
        again = tasks.classify.evaluate(net, arrays)
        self.assertAlmostEqual(again.accuracy, (found.argmax(1) == labels).mean())
        trained = glcnn.train(images, labels, model=net, epochs=1, batch=3, progress=False,
                              validation=(images, labels), classes=net.classes)
        self.assertEqual(len(trained.history), 1)

    def test_keypoints(self):
        random = numpy.random.default_rng(3)
        images = random.integers(0, 60, (24, 32, 32)).astype(numpy.uint8)
        places = random.integers(4, 28, (24, 2))
        for grey, (x, y) in zip(images, places):
            grey[y - 2:y + 2, x - 2:x + 2] = 220
        data = glcnn.Dataset.of(images, places.astype(numpy.float32), classes=["eye_x", "eye_y"], batch=8)
        net = tasks.keypoints.network(data, self.both, seed=1)
        tasks.keypoints.train(net, data, epochs=12, lr=0.01, augment="none")
        found = tasks.keypoints.predict(net, images)
        self.assertEqual(found.shape, (24, 1, 3))
        self.assertLess(abs(found[:, 0, :2] * 32 - places).mean(), 4)
        score = tasks.keypoints.evaluate(net, data.part("validation"))
        self.assertEqual(len(score.metrics) > 0, True)

    def test_arrays_are_refused_at_the_door(self):
        images = numpy.zeros((4, 1, 8, 8), numpy.float32)
        images[2, 0, 1, 1] = numpy.nan
        for words, labels in (("image 2 of the training part has a value that is NaN", [0, 1, 0, 1]),
                              ("found 4 images and 3 labels", [0, 1, 0]),
                              ("classes from 0, not -1", [0, -1, 0, 1]),
                              ("of shape .4, 2, 2, 2", numpy.zeros((4, 2, 2, 2)))):
            with self.subTest(words), self.assertRaisesRegex(glcnn.Error, words):
                glcnn.Dataset.of(images, labels, validation=0)


if __name__ == "__main__":
    unittest.main()
