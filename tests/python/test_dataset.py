"""glcnn.Dataset: folders and tables of labelled images, and training on them. test_python.sh runs
it."""
import gc
import json
import os
import struct
import subprocess
import tempfile
import threading
import unittest
import zlib

import numpy

import glcnn
from glcnn import Optimizer, Status
from test_glcnn import quarters, refused

NAMES = ["ant", "bee", "cat", "dog"]


def write_png(path, grey):
    """A picture of bytes [H][W]."""
    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))
    height, width = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
            ">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def layers(x):
    x = x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=4).neuron_relu()
    return x.pooling_max(2, 2, 2, 2).fully_connected(output_feature_channels=4)


@unittest.skipUnless(glcnn._c.FUNCTIONS["glcnn_data"], "there is no libglcnn_data")
class Datasets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        images, self.labels = quarters(80)
        self.images = (images * 100 + 50).clip(0, 255).astype(numpy.uint8)

    def pictures(self, *parts):
        """A folder of a folder for each class, or of those in parts; gives its path."""
        path = os.path.join(self.path, "pictures")
        for i, (image, label) in enumerate(zip(self.images, self.labels)):
            part = parts[i % len(parts)] if parts else ""
            folder = os.path.join(path, part, NAMES[label])
            os.makedirs(folder, exist_ok=True)
            write_png(os.path.join(folder, "%03d.png" % i), image[0])
        return path

    def test_what_is_found(self):
        data = glcnn.Dataset(self.pictures(), validation=0.25, batch=16)
        self.assertEqual((data.shape, data.classes), ((1, 8, 8), NAMES))
        self.assertEqual(sum(data.counts.values()), 80)
        others = data.part("validation")
        self.assertEqual((data.count, others.count), (data.counts["training"],
                                                      data.counts["validation"]))
        self.assertAlmostEqual(others.count, 20, delta=2)
        found = list(others)
        self.assertEqual(len(found), len(others))
        self.assertEqual(len(others), -(-others.count // 16))
        numpy.testing.assert_array_equal(numpy.concatenate([b.labels for b in found]),
                                         others.labels)
        both = numpy.concatenate([b.images for b in found] +
                                 [b.images for b in glcnn.Dataset(
                                     self.path + "/pictures", validation=0.25, shuffle=False)])
        key = numpy.lexsort(both.reshape(80, -1).T)
        expected = self.images[numpy.lexsort(self.images.reshape(80, -1).T)]
        numpy.testing.assert_array_equal(both[key], expected)
        self.assertRegex(repr(data), "<glcnn.Dataset .*pictures: %d images for training, bytes of "
                         "1x8x8, 4 classes>" % data.count)

    def test_epochs_are_the_same_again(self):
        data = glcnn.Dataset(self.pictures(), batch=16, seed=3)
        first, second = list(data), list(data)
        self.assertEqual(len(first), len(data))
        self.assertTrue(any((a.labels != b.labels).any() for a, b in zip(first, second)))
        for epoch, expected in (1, second), (0, first):
            for a, b in zip(data.batches(epoch), expected):
                numpy.testing.assert_array_equal(a.images, b.images)
                numpy.testing.assert_array_equal(a.labels, b.labels)
        other = next(iter(glcnn.Dataset(self.path + "/pictures", batch=16, seed=4)))
        self.assertFalse((other.images == first[0].images).all())
        one = data.batches(0)
        next(one)
        next(data.batches(1))
        with refused(self, Status.INVALID_ARGUMENT, "another epoch of this dataset were asked"):
            next(one)

    def test_sizes_and_classes(self):
        path = self.pictures("train", "test")
        data = glcnn.Dataset(path, size=(6, 4), channels=3, classes=NAMES[::-1])
        self.assertEqual((data.shape, data.classes), ((3, 6, 4), NAMES[::-1]))
        self.assertEqual(next(iter(data)).images.shape, (32, 3, 6, 4))
        self.assertEqual(glcnn.Dataset(path, size=5).shape, (1, 5, 5))
        self.assertEqual(glcnn.Dataset(path, part="test").count, 40)
        whole = next(iter(glcnn.Dataset(path, shuffle=False))).images
        side, margin = whole.shape[2], (whole.shape[2] - 4) // 2
        cut = next(iter(glcnn.Dataset(path, size=4, resize=side, shuffle=False))).images
        numpy.testing.assert_array_equal(cut, whole[..., margin:margin + 4, margin:margin + 4])
        with refused(self, Status.INVALID_ARGUMENT, "resize is 3, of images of 4 x 4"):
            glcnn.Dataset(path, size=4, resize=3)

    def test_no_share_is_set_aside_of_data_with_a_validation_part(self):
        path = self.pictures("train", "val")
        self.assertEqual(glcnn.Dataset(path).counts, {"training": 40, "validation": 40, "test": 0})
        glcnn.Dataset(path, validation=0)
        with refused(self, Status.INVALID_ARGUMENT, "has a validation part, of 40 images"):
            glcnn.Dataset(path, validation=0.2)

    def test_test_images_are_not_those_that_validate(self):
        data = glcnn.Dataset(self.pictures("train", "test"))
        self.assertEqual(data.counts["test"], 40)
        self.assertEqual(data.counts["training"] + data.counts["validation"], 40)
        self.assertGreater(data.counts["validation"], 0)

    def test_tables_of_numbers(self):
        path = os.path.join(self.path, "train.npz")
        numbers = self.images.astype(numpy.float32) / 7
        numpy.savez(path, images=numbers, labels=self.labels)
        data = glcnn.Dataset(path, shuffle=False, validation=0, batch=50)
        first, second = data
        numpy.testing.assert_array_equal(numpy.concatenate([first.images, second.images]), numbers)
        numpy.testing.assert_array_equal(data.labels, self.labels)

    def test_broken_pictures_are_told(self):
        path = self.pictures()
        with open(os.path.join(path, "bee", "broken.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\nnothing")
        self.assertRegex("\n".join(glcnn.Dataset(path).notes), "bee/broken.png")
        with refused(self, Status.MALFORMED_DATA, "bee/broken.png"):
            glcnn.Dataset(path, strict=True)

    def test_what_is_refused(self):
        path = self.pictures()
        wrong = {
            "there are no targets 'tags'; there are classes, numbers": dict(targets="tags"),
            "there is no part 'all'; there are training, validation and test": dict(part="all"),
            "pictures has no test part; it has .. images for training, . images for val":
                dict(part="test"),
            r"size is \(1, 2, 3\); expected \(H, W\)": dict(size=(1, 2, 3)),
            "size is 0; it must be": dict(size=0), "batch is 0; it must be": dict(batch=0),
            "validation": dict(validation=1.5),
        }
        for words, arguments in wrong.items():
            with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                glcnn.Dataset(path, **arguments)
        with refused(self, Status.UNSUPPORTED, "1, 3 or 4 channels, and 2 are requested"):
            glcnn.Dataset(path, channels=2)
        with refused(self, Status.IO_ERROR, "nowhere"):
            glcnn.Dataset(path + "/nowhere")
        data = glcnn.Dataset(path)
        three = glcnn.network(data.shape, lambda x: x.fully_connected(output_feature_channels=3))
        with refused(self, Status.INVALID_ARGUMENT,
                     "data has 4 classes, ant, bee, cat, dog; the output has 3 channels"):
            three.train(data)
        net = glcnn.network(data.shape, layers)
        net.classes = NAMES[::-1]
        with refused(self, Status.INVALID_ARGUMENT, "classes are dog, .*those of the data ant, .*"
                     "classes=net.classes"):
            net.train(data)
        two = glcnn.network({"a": (1, 8, 8), "b": (1, 8, 8)}, lambda a, b: a + b)
        with refused(self, Status.INVALID_ARGUMENT, "a folder is for a network of one input"):
            two.train(path)

    def test_training_on_a_folder(self):
        path, adam = self.pictures(), Optimizer("adam", learning_rate=0.02)
        net, other = (glcnn.network((1, 8, 8), layers, seed=1) for _ in range(2))
        history = net.train(path, epochs=6, batch=16, optimizer=adam, schedule="cosine", seed=2)
        self.assertEqual(net.classes, NAMES)
        self.assertGreater(history[-1].validation.accuracy, 0.8)
        self.assertLess(history[-1].loss, history[0].loss / 2)
        data = glcnn.Dataset(path, batch=16, seed=2)
        again = other.train(data, epochs=6, optimizer=adam, schedule="cosine",
                            validation=data.part("validation"))
        self.assertEqual(again, history)
        numpy.testing.assert_array_equal(net.filters[0].vector("weights"),
                                         other.filters[0].vector("weights"))
        others = data.part("validation")
        arrays = [numpy.concatenate(parts) for parts in zip(*others)]
        self.assertEqual(net.evaluate(others).accuracy, net.evaluate(*arrays).accuracy)
        numpy.testing.assert_array_equal(net.predict(others, stack=True), net.predict(arrays[0]))
        net.save(os.path.join(self.path, "net.glcnn"))
        told = json.loads(subprocess.check_output([
            os.environ["GLCNN_TOOL"], "predict", "--json", os.path.join(self.path, "net.glcnn"),
            path], stderr=subprocess.DEVNULL))
        everything = glcnn.Dataset(path, validation=0, shuffle=False)
        outputs = net.predict(everything, stack=True)
        self.assertEqual([max(one["probabilities"], key=one["probabilities"].get) for one in told],
                         [NAMES[k] for k in outputs.argmax(1)])
        net.classes = NAMES[::-1]  # which a path then takes
        self.assertEqual(len(net.train(path, epochs=1)), 1)

    def test_numbers_of_pictures(self):
        path, random = os.path.join(self.path, "spots"), numpy.random.default_rng(0)
        os.mkdir(path)
        numbers, lines = random.integers(1, 7, (120, 2)), ["file,row,column"]
        for i, (row, column) in enumerate(numbers):
            grey = random.integers(0, 40, (8, 8)).astype(numpy.uint8)
            grey[row - 1:row + 2, column - 1:column + 2] += 180
            write_png(os.path.join(path, "%03d.png" % i), grey)
            lines.append("%03d.png,%d,%d" % (i, row, column))
        with open(os.path.join(path, "spots.csv"), "w") as file:
            file.write("\n".join(lines))
        everything = glcnn.Dataset(path, targets="numbers", validation=0, shuffle=False, batch=50)
        self.assertEqual(everything.classes, ["row", "column"])
        numpy.testing.assert_array_equal(everything.labels, numbers)
        numpy.testing.assert_array_equal(numpy.concatenate([b.labels for b in everything]), numbers)
        data = glcnn.Dataset(path, targets="numbers")
        self.assertRegex(repr(data), "108 images for training, bytes of 1x8x8, 2 numbers>")
        net = glcnn.network(data.shape, lambda x: x.fully_connected(
            output_feature_channels=24).neuron_relu().fully_connected(output_feature_channels=2))
        others = data.part("validation")
        history = net.train(data, epochs=60, schedule="cosine", metrics=["r2"], validation=others,
                            optimizer=Optimizer("adam", learning_rate=0.01))
        self.assertEqual((net.task, net.classes), ("regress", ["row", "column"]))
        self.assertGreater(history[-1].validation.metrics["r2"], 0.9)
        wrong, wanted = net.predict(others, stack=True) - others.labels, others.labels
        r2 = 1 - (wrong ** 2).sum(0) / ((wanted - wanted.mean(0)) ** 2).sum(0)
        self.assertAlmostEqual(history[-1].validation.metrics["r2"], r2.mean(), places=5)
        self.assertAlmostEqual(history[-1].validation.loss, (wrong ** 2).mean(), places=4)
        file = os.path.join(self.path, "spots.glcnn")
        net.save(file)
        told = json.loads(subprocess.check_output([
            os.environ["GLCNN_TOOL"], "evaluate", "--json", file, path], stderr=subprocess.DEVNULL))
        again = glcnn.load(file)
        numpy.testing.assert_array_equal(again.predict(others, stack=True),
                                         net.predict(others, stack=True))
        again.save(file)
        self.assertEqual(len(glcnn.load(file).filters), len(net.filters) + 2)
        self.assertAlmostEqual(told["R2"], again.evaluate(everything, metrics="r2").metrics["r2"],
                               places=5)
        self.assertLess(again.train(data, epochs=1)[0].loss, 2 * history[-1].loss)
        three = glcnn.network(data.shape, lambda x: x.fully_connected(output_feature_channels=3))
        with refused(self, Status.INVALID_ARGUMENT, "has 2 numbers, row, column; the output has 3"):
            three.train(data)

    def masks(self):
        """Pictures of bright squares and the class of each pixel: 0, 1 or none."""
        random = numpy.random.default_rng(0)
        for name in "images", "masks":
            os.makedirs(os.path.join(self.path, "squares", name))
        for i in range(60):
            grey = random.integers(0, 40, (8, 8)).astype(numpy.uint8)
            mask = numpy.zeros((8, 8), numpy.uint8)
            row, column = random.integers(0, 4, 2)
            grey[row:row + 4, column:column + 4] += 150
            mask[row:row + 4, column:column + 4] = 1
            mask[random.integers(0, 8)] = 255
            write_png(os.path.join(self.path, "squares", "images", "%03d.png" % i), grey)
            write_png(os.path.join(self.path, "squares", "masks", "%03d.png" % i), mask)
        return os.path.join(self.path, "squares")

    def test_masks_of_pictures(self):
        data = glcnn.Dataset(self.masks(), targets=None, batch=16)
        self.assertEqual(data.targets, "masks")
        self.assertEqual(data.classes, ["0", "1"])
        batch = next(iter(data))
        self.assertEqual((batch.labels.shape, sorted(set(batch.labels.ravel()))),
                         ((16, 8, 8), [0, 1, 255]))
        with refused(self, Status.INVALID_ARGUMENT, "labels are masks, which come with the images"):
            data.labels
        net = glcnn.network(data.shape, lambda x: x.convolution(
            kernel_width=3, kernel_height=3, output_feature_channels=2), seed=1)
        self.assertEqual(net.evaluate(batch.images, batch.labels * 0 + 255).accuracy, None)
        others = data.part("validation")
        history = net.train(data, epochs=8, optimizer=Optimizer("adam", learning_rate=0.05),
                            validation=others, metrics=["miou"])
        self.assertEqual((net.task, net.classes), ("segment", ["0", "1"]))
        images, masks = (numpy.concatenate(parts) for parts in zip(*others))
        scores, judged = net.predict(images), masks != 255
        found = scores.argmax(1)
        last = history[-1].validation
        self.assertEqual(last.accuracy, (found == masks)[judged].mean())
        each = [((found == k) & (masks == k)).sum() /
                (judged & ((found == k) | (masks == k))).sum() for k in (0, 1)]
        self.assertAlmostEqual(last.metrics["miou"], numpy.mean(each))
        self.assertGreater(last.metrics["miou"], 0.9)
        log = numpy.log(numpy.exp(scores).sum(1)) - numpy.take_along_axis(
            scores, numpy.where(judged, masks, 0)[:, None].astype(int), 1)[:, 0]
        self.assertAlmostEqual(last.loss, log[judged].sum() / log.size, places=5)
        with refused(self, Status.INVALID_ARGUMENT, "from 0 to 1, or 255 for none, not 2"):
            net.evaluate(images, masks * 0 + 2)
        path = os.path.join(self.path, "squares.glcnn")
        net.save(path)
        self.assertEqual(glcnn.load(path).task, "segment")
        told = json.loads(subprocess.check_output([
            os.environ["GLCNN_TOOL"], "evaluate", "--json", path, os.path.join(
                self.path, "squares")], stderr=subprocess.DEVNULL))
        everything = glcnn.Dataset(os.path.join(self.path, "squares"), targets="masks",
                                   validation=0, shuffle=False)
        score = glcnn.load(path).evaluate(everything, metrics=["miou"])
        self.assertAlmostEqual(told["mIoU"], score.metrics["miou"], places=5)

    def test_boxes_of_pictures(self):
        path = os.path.join(self.path, "boxes")
        lines = {"a": "1 0.5 0.25 0.5 0.5\n0 0.875 0.875 0.25 0.25\n", "b": ""}
        for name in "images", "labels":
            os.makedirs(os.path.join(path, name))
        for name, text in lines.items():
            write_png(os.path.join(path, "images", name + ".png"), self.images[0, 0])
            with open(os.path.join(path, "labels", name + ".txt"), "w") as file:
                file.write(text)
        with open(os.path.join(path, "classes.txt"), "w") as file:
            file.write("ant\nbee\n")
        data = glcnn.Dataset(path, targets=None, validation=0, shuffle=False)
        self.assertEqual(data.targets, "boxes")
        self.assertEqual(data.classes, ["ant", "bee"])
        (images, boxes), = data
        self.assertEqual(images.shape, (2, 1, 8, 8))
        expected = ([[0.25, 0, 0.75, 0.5, 1, 0], [0.75, 0.75, 1, 1, 0, 0]],
                    numpy.empty((0, 6)))
        for found in boxes, data.labels:
            for one, wanted in zip(found, expected):
                numpy.testing.assert_allclose(one, wanted, atol=1e-6)
        net = glcnn.network(data.shape, layers)
        with refused(self, Status.INVALID_ARGUMENT, "targets are boxes, which no loss compares"):
            net.train(data)
        self.assertEqual(net.predict(data, stack=True).shape, (2, 4))

    def test_a_look_counts(self):
        path = os.path.join(self.path, "looked")
        lines = {"a": "1 0.5 0.25 0.5 0.5\n0 0.875 0.875 0.25 0.25\n1 0.5 0.5 0.01 0.5\n", "b": ""}
        for name in "images", "labels":
            os.makedirs(os.path.join(path, name))
        for n, (name, text) in enumerate(lines.items()):
            write_png(os.path.join(path, "images", name + ".png"), self.images[n, 0])
            with open(os.path.join(path, "labels", name + ".txt"), "w") as file:
                file.write(text)
        with open(os.path.join(path, "classes.txt"), "w") as file:
            file.write("ant\nbee\n")
        data = glcnn.Dataset(path, targets=None, validation=0, size=(16, 32))
        look = data.look()
        self.assertEqual([(one.name, one.images["training"], one.objects["training"])
                          for one in look.classes], [("ant", 1, 1), ("bee", 1, 2)])
        self.assertEqual(look.unlabelled, {"training": 1, "validation": 0, "test": 0})
        self.assertEqual(look.widths, (8, 8, 8))
        self.assertRegex("\n".join(look.suspicious), "1 box of a pixel's width or height")
        # Twice as wide as high: the picture of 8 x 8 has a border of a half on both sides.
        self.assertEqual(data.fit, "letterbox")
        numpy.testing.assert_allclose(data.sizes, [[8, 8], [8, 8]])
        numpy.testing.assert_allclose(data.windows, [[-4, 0, 16, 8]] * 2)
        numpy.testing.assert_allclose(data.labels[0][0], [0.375, 0, 0.625, 0.5, 1, 0], atol=1e-6)
        cut = glcnn.Dataset(path, targets=None, validation=0, size=(16, 32), fit="cut")
        numpy.testing.assert_allclose(cut.windows[0], [0, 2, 8, 4])
        numpy.testing.assert_allclose(cut.labels[0][0], [0.25, -0.5, 0.75, 0.5, 1, 0], atol=1e-6)
        with refused(self, Status.INVALID_ARGUMENT, "there is no fit 'whole'"):
            glcnn.Dataset(path, targets=None, fit="whole")

    def test_threads_end(self):
        before = threading.active_count(), len(os.listdir("/proc/self/task"))
        data = glcnn.Dataset(self.pictures(), batch=8, threads=3)
        batches = iter(data)
        next(batches)
        self.assertGreater(len(os.listdir("/proc/self/task")), before[1])
        del data, batches
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/task")), before[1])


if __name__ == "__main__":
    unittest.main()
