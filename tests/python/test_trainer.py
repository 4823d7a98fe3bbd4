"""Training, evaluation and answers by the library that glcnn's commands are made of. test_python.sh
runs it."""
import contextlib
import io
import json
import os
import signal
import tempfile
import unittest

import numpy

import glcnn
from glcnn import Status, TrainEventKind
from test_glcnn import refused
from test_tasks import Folder, block, tool, write_png

QUICK = dict(net="small", batch=8, augment="none", progress=False)


def halves(path, count=24, names=("left", "right")):
    """Pictures that are bright in one half."""
    random = numpy.random.default_rng(1)
    for k, name in enumerate(names):
        os.makedirs(os.path.join(path, name))
        for i in range(count):
            grey = random.integers(0, 60, (16, 16)).astype(numpy.uint8)
            grey[:, 8 * k:8 * k + 8] += 150
            write_png(os.path.join(path, name, "%03d.png" % i), grey)


class Settings(unittest.TestCase):
    def test_the_table(self):
        rows = {row.name: row for row in glcnn.settings()}
        self.assertEqual(rows["label_smoothing"].value, "SHARE")
        self.assertIn("cosine", rows["schedule"].choices)
        self.assertIsNone(rows["force"].value)
        said = tool("help", "train").decode()
        for name in rows:
            self.assertIn("--" + name.replace("_", "-"), said)

    def test_what_is_refused(self):
        for words, given in {"epoks": dict(epoks=3), "epochs": dict(epochs=0),
                             "batch": dict(batch=1.5), "schedule": dict(schedule="sine")}.items():
            with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                glcnn.Trainer("nowhere", **given)


class Shapes(unittest.TestCase):
    def test_both_are_told(self):
        net = glcnn.network((1, 8, 8), lambda x: x.fully_connected(output_feature_channels=2))
        self.assertEqual(net.shape, (1, 8, 8))
        for shape in (3, 8, 8), (1, 8, 6):
            images = numpy.zeros((4, *shape), numpy.float32)
            for call in (lambda: net.predict(images), lambda: net.evaluate(images, [0, 1, 0, 1]),
                         lambda: net.train(images, [0, 1, 0, 1])):
                with refused(self, Status.INVALID_ARGUMENT,
                             r"\(%d, %d, %d\), \(C, H, W\); the network takes \(1, 8, 8\)" % shape):
                    call()


class Training(Folder):
    def setUp(self):
        super().setUp()
        halves(self.at("data"))

    def test_it_is_the_tool_s(self):
        seen = []
        trained = glcnn.train(self.at("data"), epochs=2, out=self.at("a.safetensors"),
                              on_event=lambda event: seen.append(event.kind), **QUICK)
        tool("train", "--data", self.at("data"), "--net", "small", "--batch", "8", "--augment",
             "none", "--epochs", "2", "--out", self.at("b.safetensors"))
        mine, its = (glcnn.load(self.at(name)) for name in ("a.safetensors", "b.safetensors"))
        for one, other in zip(mine.filters, its.filters):
            if one.name.startswith("convolution"):
                numpy.testing.assert_array_equal(one.vector("weights"), other.vector("weights"))
        self.assertEqual(seen.count(TrainEventKind.EPOCH), 2)
        self.assertEqual(seen[-1], TrainEventKind.END)
        self.assertEqual(len(trained.history), 2)
        self.assertIsNotNone(trained.history[-1].accuracy)
        self.assertEqual(trained.network.classes, ["left", "right"])
        self.assertFalse(trained.interrupted)
        said = trained.network.export(self.at("a.onnx"), batch=2, preprocessing="bytes")
        self.assertIn("takes images, bytes, in batches of 2\n", said)
        tool("import", self.at("a.onnx"), "-o", self.at("again.glcnn"))
        answers = [[a.probability for a in net.predict(self.at("data", "left"))]
                   for net in (trained.network, glcnn.load(self.at("again.glcnn")))]
        numpy.testing.assert_allclose(*answers, atol=1e-5)
        said = trained.network.export(self.at("a.tflite"), preprocessing="unit")
        self.assertIn("N,C,H,W is N,H,W,C, and the batch is 1\n", said)
        tool("import", self.at("a.tflite"), "-o", self.at("lite.glcnn"))
        answers[1] = [a.probability for a in glcnn.load(self.at("lite.glcnn")).predict(self.at("data", "left"))]
        numpy.testing.assert_allclose(*answers, atol=1e-5)
        for options in dict(boxes="grid"), dict(preprocessing="red"), dict(boxes="yolo"):
            with self.assertRaises(glcnn.Error):
                trained.network.export(self.at("b.onnx"), **options)
        self.assertFalse(os.path.exists(self.at("b.onnx")))

    def test_progress_and_no_file_that_stays(self):
        os.makedirs(self.at("temporary"))
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = self.at("temporary")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            glcnn.train(self.at("data"), epochs=1, **{**QUICK, "progress": True})
        self.assertRegex(printed.getvalue(), r"epoch 1 of 1: loss \d.*; validation loss .*accuracy")
        self.assertEqual(os.listdir(self.at("temporary")), [])

    def test_ctrl_c_leaves_a_network(self):
        def press(event):
            if event.kind == TrainEventKind.STEP and event.step == 1:
                signal.raise_signal(signal.SIGINT)
        handler = signal.getsignal(signal.SIGINT)
        trained = glcnn.train(self.at("data"), epochs=50, on_event=press, **QUICK)
        self.assertTrue(trained.interrupted)
        self.assertLess(len(trained.history), 50)
        found = trained.network.predict(numpy.zeros((1, *trained.network.shape), numpy.float32))
        self.assertTrue(numpy.isfinite(found).all())
        self.assertIs(signal.getsignal(signal.SIGINT), handler)

    def test_a_backbone_gets_a_head(self):
        net = glcnn.network((1, 16, 16), lambda x: block(block(x, 8), 16).fully_connected(
            output_feature_channels=5))
        trained = glcnn.train(self.at("data"), model=net, epochs=1,
                              on_event=lambda event: event.kind != TrainEventKind.STEP,
                              **{k: v for k, v in QUICK.items() if k != "net"})
        self.assertEqual(trained.network.shape, (1, 16, 16))
        self.assertEqual(trained.network.output.shape[0], 2)

    def test_a_failure_is_an_error(self):
        os.makedirs(self.at("empty"))
        with refused(self, Status.INVALID_STATE, "empty"):
            glcnn.train(self.at("empty"), **QUICK)


def coco(path, count=24):
    """Bright squares, of which some are crowds: several in one box."""
    random, images, annotations = numpy.random.default_rng(7), [], []
    os.makedirs(os.path.join(path, "train"))
    os.makedirs(os.path.join(path, "annotations"))
    for i in range(count):
        grey = random.integers(0, 60, (64, 64)).astype(numpy.uint8)
        for left, top in ((2, 2), (34, 2), (2, 34)):
            side, crowd = int(random.integers(14, 28)), int(random.random() < 0.4)
            part = grey[top:top + side, left:left + side]
            part += 150
            if crowd:
                part[side // 2 - 2:side // 2 + 2] -= 120
                part[:, side // 2 - 2:side // 2 + 2] = 30
            annotations.append({"id": len(annotations) + 1, "image_id": i, "category_id": 1,
                                "bbox": [left, top, side, side], "area": side * side,
                                "iscrowd": crowd})
        write_png(os.path.join(path, "train", "%03d.png" % i), grey)
        images.append({"id": i, "file_name": "%03d.png" % i, "width": 64, "height": 64})
    with open(os.path.join(path, "annotations", "instances_train.json"), "w") as file:
        json.dump({"images": images, "annotations": annotations,
                   "categories": [{"id": 1, "name": "square"}]}, file)


class Evaluations(Folder):
    def told(self, net, path, *options):
        """What the tool says of a network."""
        net.save(self.at("net.safetensors"))
        return json.loads(tool("evaluate", "--json", self.at("net.safetensors"), path, *options))

    def same(self, net, path, size=None):
        options = ("--size", str(size)) if size else ()
        found, told = glcnn.evaluate(net, path, size=size), self.told(net, path, *options)
        self.assertEqual(found.measures, told)
        return found

    def test_boxes_with_crowds(self):
        coco(self.at("coco"))
        net = glcnn.train(self.at("coco"), task="detect", epochs=6, lr=0.006, **QUICK).network
        found = self.same(net, self.at("coco"))
        self.assertGreater(found.measure, 0.1)
        self.assertEqual(found.images, 24)
        data = glcnn.Dataset(self.at("coco"), targets="boxes", validation=0, batch=7)
        score = glcnn.tasks.detect.evaluate(net, data)
        self.assertAlmostEqual(score.metrics["map_50"], found.measure, delta=1e-6)
        self.assertAlmostEqual(score.metrics["map_50_95"], found.measures["map_50_95"], delta=1e-6)
        answer = net.predict(self.at("coco", "train", "000.png"))
        self.assertEqual(answer.boxes.shape[1], 6)

    def test_all_pictures_are_counted(self):
        halves(self.at("data"), 15)
        net = glcnn.train(self.at("data"), epochs=1, **QUICK).network
        found = self.same(net, self.at("data"))
        self.assertEqual((found.images, found.part), (30, "all"))
        for batch in 4, 7, 32:
            data = glcnn.Dataset(self.at("data"), validation=0, batch=batch)
            for score in net.evaluate(data), glcnn.tasks.classify.evaluate(net, data):
                self.assertAlmostEqual(score.accuracy, found.measure, delta=1e-6)
                self.assertAlmostEqual(score.loss, found.loss, delta=1e-5)

    def test_places(self):
        """The task keypoints, of a table."""
        random, lines = numpy.random.default_rng(3), ["file,eye_x,eye_y"]
        os.makedirs(self.at("eyes", "images"))
        for i in range(24):
            grey, (x, y) = random.integers(0, 60, (32, 32)).astype(numpy.uint8), random.integers(4, 28, 2)
            grey[y - 2:y + 2, x - 2:x + 2] = 220
            write_png(self.at("eyes", "images", "%03d.png" % i), grey)
            lines.append("%03d.png,%d,%d" % (i, x, y))
        with open(self.at("eyes", "eyes.csv"), "w") as file:
            file.write("\n".join(lines) + "\n")
        net = glcnn.train(self.at("eyes"), task="keypoints", epochs=1, **QUICK).network
        self.assertEqual(net.task, "keypoints")
        self.same(net, self.at("eyes"))
        picture = self.at("eyes", "images", "000.png")
        self.assertEqual(net.predict(picture).points.shape, (1, 3))
        # At another size than it was trained at, as the tool does.
        self.assertNotEqual(self.same(net, self.at("eyes"), 24).loss, glcnn.evaluate(net, self.at("eyes")).loss)
        self.assertEqual(net.predict(picture, size=(16, 24)).points.shape, (1, 3))
        with refused(self, Status.INVALID_ARGUMENT, "arrays have a size of their own"):
            net.predict(numpy.zeros((1, *net.shape), numpy.float32), size=24)

    def test_files(self):
        halves(self.at("data"))
        net = glcnn.train(self.at("data"), epochs=3, **QUICK).network
        picture = self.at("data", "right", "003.png")
        answer = net.predict(picture)
        self.assertEqual((answer.name, answer.size), (picture, (16, 16)))
        self.assertEqual(answer.label, net.classes[answer.values.argmax()])
        told = json.loads(tool("predict", "--json", self.at_saved(net), picture))
        self.assertIn(answer.label, json.dumps(told))
        folder = net.predict(self.at("data", "right"))
        self.assertEqual(len(folder), 24)
        self.assertEqual([one.label for one in folder],
                         [one.label for one in net.predict([one.name for one in folder])])
        unlabelled = glcnn.Dataset(self.at("data", "right"), targets="nothing", size=net.shape[1:],
                                   channels=net.shape[0], batch=7)
        self.assertEqual(unlabelled.count, 24)
        outputs = net.predict(unlabelled, stack=True)
        self.assertEqual([net.classes[k] for k in outputs.argmax(1)], [one.label for one in folder])
        with refused(self, Status.INVALID_ARGUMENT, "no labels"):
            unlabelled.labels
        with refused(self, Status.MALFORMED_DATA, "nowhere"):
            net.predict(self.at("nowhere.png"))

    def at_saved(self, net):
        net.save(self.at("saved.safetensors"))
        return self.at("saved.safetensors")


class Anomalies(Folder):
    def test_the_tool_finds_the_same(self):
        """A bank of Python is that of the tool, and so are its scores."""
        halves(self.at("data"), 15)
        random = numpy.random.default_rng(5)
        for name, low in ("train/good", 0), ("test/good", 0), ("test/bright", 180):
            os.makedirs(self.at("parts", name))
            for i in range(12):
                grey = random.integers(0, 60, (16, 16)).astype(numpy.uint8)
                grey[4:8, 4:8] += numpy.uint8(low)
                write_png(self.at("parts", name, "%03d.png" % i), grey)
        net = glcnn.train(self.at("data"), epochs=1, **QUICK).network
        net.save(self.at("net.safetensors"))
        told = json.loads(tool("anomaly", "fit", "--json", "--model", self.at("net.safetensors"),
                               "-o", self.at("tool.safetensors"), self.at("parts")))
        bank = glcnn.tasks.anomaly.fit(net, self.at("parts"))
        self.assertEqual((bank.threshold, bank.patches), (told["threshold"], told["bank"]))
        bank.save(self.at("python.safetensors"))
        told = json.loads(tool("anomaly", "score", "--json", self.at("tool.safetensors"),
                               self.at("parts")))
        for one in bank, glcnn.tasks.anomaly.load(self.at("python.safetensors")):
            found = list(one.score(self.at("parts")))
            self.assertEqual([(s.name, s.score, s.is_anomalous, s.label) for s in found],
                             [(s["image"], s["score"], s["anomalous"], s["label"])
                              for s in told["pictures"]])
            self.assertEqual(found[0].distances.shape, (told["rows"], told["columns"]))
            self.assertEqual(one.summary.auroc, told["auroc"])
            self.assertEqual((one.summary.normal, one.summary.defects), (12, 12))
        with refused(self, Status.MALFORMED_DATA, "has no bank of patches"):
            glcnn.tasks.anomaly.load(self.at("net.safetensors"))
        with refused(self, Status.INVALID_ARGUMENT, "held_out is 2"):
            glcnn.tasks.anomaly.fit(net, self.at("parts"), held_out=2)


if __name__ == "__main__":
    unittest.main()
