"""What training takes: losses, schedules, metrics, callbacks, validation data, iterators of batches;
and how networks describe themselves. test_python.sh runs it."""
import unittest

import numpy

import glcnn
from glcnn import Loss, Optimizer, Status
from test_glcnn import quarters, refused, small_network

SGD = "stochastic_gradient_descent"


def line(inputs=3, outputs=2):
    """y = W x + b, on vectors."""
    return glcnn.network((inputs, 1, 1), lambda x: x.fully_connected(
        output_feature_channels=outputs), seed=1)


def plain(seed=1):
    """Without what is random in training: for batches whose order within does not matter."""
    def layers(x):
        x = x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=4).neuron_relu()
        return x.pooling_max(2, 2, 2, 2).fully_connected(output_feature_channels=4)
    return glcnn.network((1, 8, 8), layers, seed=seed)


def weights_of(net, index=0):
    return net.filters[index].vector("weights")


class Losses(unittest.TestCase):
    def setUp(self):
        random = numpy.random.default_rng(0)
        self.x = random.normal(size=(8, 3)).astype(numpy.float32)
        self.images = self.x[:, :, None, None]
        self.t = random.uniform(0, 1, (8, 2)).astype(numpy.float32)
        self.net = line()
        self.y = self.net.predict(self.images).astype(float)

    def test_names(self):
        y, t, e = self.y, self.t, self.y - self.t
        bce = numpy.logaddexp(0, y) - y * t
        log = numpy.log(numpy.exp(y).sum(1, keepdims=True)) - y
        smooth = t * 0.9 + 0.1 / 2
        expected = {
            "mse": (e ** 2).mean(), "mae": abs(e).mean(), "bce": bce.mean(),
            "huber": numpy.where(abs(e) <= 1, e ** 2 / 2, abs(e) - 0.5).mean(),
            "cross_entropy": (t * log).sum(1).mean(), "mean_squared_error": (e ** 2).mean(),
            "hinge": numpy.maximum(1 - (2 * t - 1) * y, 0).mean(),
            Loss("huber", delta=0.25): numpy.where(
                abs(e) <= 0.25, e ** 2 / 2, 0.25 * (abs(e) - 0.125)).mean(),
            Loss("cross_entropy", label_smoothing=0.1): (smooth * log).sum(1).mean(),
            Loss("mse", weight=0.5, reduction="sum"): (e ** 2).sum() / 16,
            Loss("value"): y.mean(), glcnn.LossType.SIGMOID_CROSS_ENTROPY: bce.mean()}
        for loss, value in expected.items():
            with self.subTest(loss):
                for batch in 3, 8:
                    found = self.net.evaluate(self.images, t, loss=loss, batch=batch)
                    self.assertAlmostEqual(found.loss, value, places=5)
                self.assertIsNone(found.accuracy)

    def test_what_is_refused(self):
        label = [0, 1] * 4
        wrong = {
            "there is no loss 'mes'; there are bce, ": dict(loss="mes"),
            "there is no reduction 'avg'": dict(loss="mse", reduction="avg"),
            "reduction \"none\" is for one loss, and there are 1":
                dict(loss={"fully_connected_0": Loss("mse", reduction="none")}),
            "loss is of type float; expected a name, a glcnn.Loss": dict(loss=1.5),
            'there is no parameter "sigma"': dict(loss=Loss("huber", sigma=1)),
            "a loss of \"x\": the outputs are fully_connected_0": dict(loss={"x": "mse"}),
            "the function of the loss gave float; expected an image node":
                dict(loss=lambda y, t: 1.5),
            "a function builds the loss: it says how it is reduced":
                dict(loss=lambda y, t: y, reduction="sum"),
            "huber', reduction='mean', weight=1.* takes an image and its labels":
                dict(loss=lambda y, t: Loss("huber")(y)),
        }
        for words, arguments in wrong.items():
            for method in self.net.train, self.net.evaluate:
                with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                    method(self.images, label, **arguments)
        with refused(self, Status.INVALID_ARGUMENT, "'cross_entropy' is of one output and its labels"
                     "; found no labels"):
            self.net.train(self.images)
        with refused(self, Status.INVALID_ARGUMENT, "of one channel is 0 whatever.*\"bce\" is for"):
            line(3, 1).train(self.images, label)
        with refused(self, Status.INVALID_ARGUMENT, "labels of \"x\": the network's outputs are"):
            self.net.train(self.images, {"x": self.t}, loss="mse")

    def test_whole_numbers_for_one_score(self):
        net, labels = line(3, 1), numpy.int64([0, 1] * 4)
        y = net.predict(self.images)[:, 0].astype(float)
        score = net.evaluate(self.images, labels, loss="bce", metrics=["binary_accuracy"])
        self.assertAlmostEqual(score.loss, (numpy.logaddexp(0, y) - y * labels).mean(), places=5)
        self.assertEqual(score.metrics["binary_accuracy"], ((y > 0) == labels).mean())

    def test_a_sigmoid_that_ends_the_network(self):
        def copy(neuron):
            net = glcnn.network((3, 1, 1), lambda x: neuron(x.fully_connected(
                output_feature_channels=2)))
            net.filters[0].set_vector("weights", weights_of(self.net))
            return net
        ended, other = copy(glcnn.ImageNode.neuron_sigmoid), copy(glcnn.ImageNode.neuron_tanh)
        self.assertEqual(ended.evaluate(self.images, self.t, loss="bce").loss,
                         self.net.evaluate(self.images, self.t, loss="bce").loss)
        numpy.testing.assert_allclose(ended.predict(self.images), 1 / (1 + numpy.exp(-self.y)),
                                      atol=1e-6)
        self.assertNotAlmostEqual(other.evaluate(self.images, self.t, loss="bce").loss,
                                  self.net.evaluate(self.images, self.t, loss="bce").loss)

    def step(self, loss, gradient):
        """A step of plain descent follows `gradient`, that of the loss by the outputs."""
        before = weights_of(self.net).reshape(2, 3).astype(float)
        self.net.train(self.images, self.t, batch=8, loss=loss,
                       optimizer=Optimizer(SGD, learning_rate=0.1))
        found = (before - weights_of(self.net).reshape(2, 3)) / 0.1
        numpy.testing.assert_allclose(found, gradient.T @ self.x, atol=2e-6)

    def test_a_loss_of_nodes(self):
        y, e = self.y, self.y - self.t

        def loss(output, labels):
            difference = output - labels
            return [difference * difference * 2, Loss("value", reduction="sum", weight=-0.5)(output)]
        expected = 2 * (e ** 2).mean() - 0.5 * y.sum() / 8
        for batch in 3, 8:
            found = self.net.evaluate(self.images, self.t, loss=loss, batch=batch).loss
            self.assertAlmostEqual(found, expected, places=5)
        self.step(loss, (4 * e / 2 - 0.5) / 8)

    def test_several_outputs(self):
        def layers(x):
            return {"class": x.fully_connected(output_feature_channels=2),
                    "number": x.fully_connected(output_feature_channels=1)}
        net = glcnn.network((3, 1, 1), layers, seed=2)
        self.assertEqual(list(net.outputs), ["class", "number"])
        goals = {"class": self.t, "number": self.t[:, 0]}
        found = net.predict(self.images)
        log = numpy.log(numpy.exp(found["class"]).sum(1, keepdims=True)) - found["class"]
        expected = ((self.t * log).sum(1).mean() +
                    0.5 * ((found["number"][:, 0] - self.t[:, 0]) ** 2).mean())
        losses = {"class": "cross_entropy", "number": Loss("mse", weight=0.5)}
        self.assertAlmostEqual(net.evaluate(self.images, goals, loss=losses).loss, expected, places=5)

        def same(outputs, labels):
            return [Loss("cross_entropy")(outputs["class"], labels["class"]),
                    Loss("mse", weight=0.5)(outputs["number"], labels["number"])]
        self.assertAlmostEqual(net.evaluate(self.images, goals, loss=same).loss, expected, places=5)
        scores = net.train(self.images, goals, loss=losses, epochs=20, optimizer="adam")
        self.assertLess(scores[-1].loss, scores[0].loss)
        with refused(self, Status.INVALID_ARGUMENT, "2 outputs, class, number; .* dictionary of"):
            net.train(self.images, {"class": self.t}, loss="mse")

    def test_few_graphs_are_kept(self):
        for number in range(20):
            self.net.evaluate(self.images, self.t, loss=lambda y, t: y * number)
        self.assertLess(len(self.net._graphs), 10)


class Loops(unittest.TestCase):
    images, labels = quarters(64)

    def test_schedules(self):
        rates, asked = [], []
        net = small_network()
        adam = Optimizer("adam", learning_rate=0.01)
        history = net.train(self.images, self.labels, batch=16, epochs=2, optimizer=adam,
                            schedule=lambda step: asked.append(step) or 0.5 ** step,
                            on_step=lambda step, score: rates.append(score.learning_rate))
        self.assertEqual(asked, list(range(8)))
        numpy.testing.assert_allclose(rates, 0.01 * 0.5 ** numpy.arange(8), rtol=1e-6)
        numpy.testing.assert_allclose(history.values("learning_rate"), [rates[3], rates[7]])
        del rates[:]
        net.train(self.images, self.labels, batch=16, epochs=2, schedule="cosine",
                  on_step=lambda step, score: rates.append(score.learning_rate))
        numpy.testing.assert_allclose(
            rates, 0.005 * (1 + numpy.cos(numpy.pi * numpy.arange(8) / 8)), rtol=1e-6)
        del rates[:]
        net.train(self.images, self.labels, on_step=lambda step, score: rates.append(score))
        numpy.testing.assert_allclose(rates[0].learning_rate, 0.01, rtol=1e-6)

    def test_a_schedule_is_what_other_rates_do(self):
        net, other = small_network(), small_network()
        batches = [(self.images[i:i + 16], self.labels[i:i + 16]) for i in range(0, 64, 16)]
        net.train(batches, optimizer=Optimizer(SGD, learning_rate=0.5),
                  schedule=lambda step: 1 / (1 << step))
        for step, batch in enumerate(batches):
            other.train([batch], optimizer=Optimizer(SGD, learning_rate=0.5 / (1 << step)))
        numpy.testing.assert_array_equal(weights_of(net), weights_of(other))

    def test_weight_decay(self):
        for arguments in (dict(weight_decay=0.5, optimizer=Optimizer(SGD, learning_rate=0.1)),
                          dict(optimizer=Optimizer("sgd", learning_rate=0.1, weight_decay=0.5))):
            net, plain = small_network(), small_network()
            before = weights_of(net)
            net.train(self.images, self.labels, batch=64, **arguments)
            plain.train(self.images, self.labels, batch=64,
                        optimizer=Optimizer("sgd", learning_rate=0.1))
            numpy.testing.assert_allclose(weights_of(net) - weights_of(plain), -0.05 * before,
                                          atol=1e-6)
        with refused(self, Status.INVALID_ARGUMENT, "weight_decay"):
            net.train(self.images, self.labels, weight_decay=-1)

    def test_only_weights_decay(self):
        """By the argument; the optimizer's own parameter is for all."""
        for whole, factor in (False, 1), (True, 0.95):
            net = glcnn.network((1, 8, 8), lambda x: x.fully_connected(output_feature_channels=2))
            [layer] = net.filters
            layer.set_vector("weights", numpy.ones(2 * 64))
            layer.set_vector("biases", numpy.ones(2))
            decay = dict(optimizer=Optimizer("sgd", learning_rate=0.1, weight_decay=0.5)) if whole \
                else dict(optimizer=Optimizer("sgd", learning_rate=0.1), weight_decay=0.5)
            net.train(self.images[:4] * 0, numpy.zeros((4, 2, 1, 1), numpy.float32),
                      loss=lambda output, labels: output * 0, batch=4, **decay)
            numpy.testing.assert_allclose(layer.vector("weights"), 0.95, rtol=1e-6)
            numpy.testing.assert_allclose(layer.vector("biases"), factor, rtol=1e-6)

    def test_r2_of_what_does_not_vary(self):
        """Is not defined, however large the number is and whatever is found; others are."""
        random = numpy.random.default_rng(0)
        labels = random.random((40, 2))
        output = labels + 0.1 * random.random((40, 2))
        def r2(output, labels):
            metric = glcnn.metrics.R2()
            for i in range(0, 40, 7):
                metric.add(output[i:i + 7], labels[i:i + 7])
            return metric.value()
        expected = 1 - ((output - labels) ** 2).sum(0) / ((labels - labels.mean(0)) ** 2).sum(0)
        self.assertAlmostEqual(r2(output, labels), expected.mean())
        self.assertAlmostEqual(r2(output + 1e7, labels + 1e7), expected.mean(), places=6)
        labels[:, 0] = 1e8 + 0.1
        self.assertAlmostEqual(r2(output, labels), expected[1])
        self.assertTrue(numpy.isnan(r2(output, labels * [1, 0])))

    def test_weights_of_a_loss(self):
        """Factors of its terms."""
        net = glcnn.network((1, 8, 8), lambda x: x.fully_connected(output_feature_channels=2))
        rows = numpy.random.default_rng(0).random((4, 4, 1, 1)).astype(numpy.float32)
        def loss(output, labels):
            wanted, weights = (labels.strided_slice(start_channel=k, size_channels=2) for k in (0, 2))
            return [glcnn.Loss("mse", reduction="sum")(output, wanted, weights)]
        found = net.predict(self.images[:4])
        expected = (rows[:, 2:, 0, 0] * (found - rows[:, :2, 0, 0]) ** 2).sum(1).mean()
        self.assertAlmostEqual(net.evaluate(self.images[:4], rows, loss=loss).loss, expected, places=4)

    def test_validation_may_be_a_function(self):
        net, scores = small_network(), [glcnn.Score(loss=k) for k in range(3)]
        history = net.train(self.images, self.labels, epochs=3, batch=64,
                            validation=lambda given=iter(scores): next(given))
        self.assertEqual([score.validation for score in history], scores)

    def test_callbacks_end_training(self):
        seen = []
        net = small_network()
        history = net.train(self.images, self.labels, batch=16, epochs=9, on_epoch=lambda e, s:
                            seen.append((e, s)) or e < 2)
        self.assertEqual([e for e, _ in seen], [0, 1, 2])
        self.assertEqual([s for _, s in seen], history)
        steps = []
        history = net.train(self.images, self.labels, batch=16, epochs=9, on_step=lambda step, score:
                            steps.append(score) or numpy.bool_(step < 5),
                            validation=(self.images, self.labels))
        self.assertEqual((len(steps), len(history)), (6, 2))
        self.assertAlmostEqual(history[1].loss, (steps[4].loss + steps[5].loss) / 2)
        self.assertIsNone(history[1].validation)
        self.assertEqual(len(net.train(self.images, self.labels, epochs=2, on_epoch=lambda epoch, score: None)), 2)

    def test_validation_and_metrics(self):
        others, classes = quarters(40, seed=3)

        def largest(output, labels):
            return output.max()
        net, metrics = small_network(), ["accuracy", "top_2", largest]
        history = net.train(self.images, self.labels, epochs=4, batch=16, metrics=metrics,
                            validation=(others, classes), optimizer=Optimizer(
                                "adam", learning_rate=0.01))
        output = net.predict(others)
        last = history[-1].validation
        self.assertEqual(last, net.evaluate(others, classes, metrics=metrics, batch=16))
        self.assertEqual(history.values("validation_top_2")[-1], last.metrics["top_2"])
        self.assertEqual(history.values("validation_accuracy")[-1], last.accuracy)
        self.assertEqual(last.metrics["accuracy"], last.accuracy)
        best = numpy.argsort(-output, 1)[:, :2]
        self.assertEqual(last.metrics["top_2"], (best == classes[:, None]).any(1).mean())
        means = [output[i:i + 16].max() for i in (0, 16, 32)]
        self.assertAlmostEqual(last.metrics["largest"], (2 * means[0] + 2 * means[1] + means[2]) / 5,
                               places=5)
        self.assertLess(history.values("validation_loss")[-1], history.values("validation_loss")[0])
        with refused(self, Status.INVALID_ARGUMENT, "no 'acc'; it has loss, .*top_2, largest"):
            history.values("acc")
        with refused(self, Status.INVALID_ARGUMENT, "no metric 'topp'; there are accuracy, top_5"):
            net.evaluate(others, classes, metrics=["topp"])
        with refused(self, Status.INVALID_ARGUMENT, "of shape .40, 4. and labels of .40,.;"):
            net.evaluate(others, classes, metrics="mse", batch=40)
        net = line()
        x, t = numpy.ones((5, 3, 1, 1)), numpy.arange(10).reshape(5, 2) / 7
        y = net.predict(x)
        score = net.evaluate(x, t, loss="mse", metrics=["mse", "mae"], batch=2)
        self.assertAlmostEqual(score.metrics["mse"], score.loss, places=5)
        self.assertAlmostEqual(score.metrics["mae"], abs(y - t).mean(), places=5)
        with refused(self, Status.INVALID_ARGUMENT, "top_5 is of classes"):
            net.evaluate(x, t, loss="mse", metrics="top_5")

    def test_what_training_refuses(self):
        net = small_network()
        wrong = {
            "there is no schedule 'cosin'; there are \"cosine\", and": dict(schedule="cosin"),
            "step 0: the schedule gave None; expected a number from 0": dict(schedule=lambda s: None),
            "step 1: the schedule gave -1;": dict(schedule=lambda step: -step),
            "steps is for iterators of batches": dict(steps=2),
            "there is no optimizer 'adamw'; there are adam, sgd": dict(optimizer="adamw"),
            "the output of image|classes from 0 to 3, not 7": dict(validation=(self.images, [7] * 64)),
        }
        for words, arguments in wrong.items():
            with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                net.train(self.images, self.labels, batch=16, **arguments)
        endless = (pair for pair in [(self.images, self.labels)])
        with refused(self, Status.INVALID_ARGUMENT, "\"cosine\" needs the number of steps.*steps="):
            net.train(endless, schedule="cosine")
        with refused(self, Status.INVALID_ARGUMENT, r"is the path 'a'; glcnn.Dataset\(path"):
            net.evaluate("a")


class Iterators(unittest.TestCase):
    images, labels = quarters(64)

    def batches(self):
        return [(self.images[i:i + 16], self.labels[i:i + 16]) for i in range(0, 64, 16)]

    def test_all_kinds_train_alike(self):
        class Loader:
            def __init__(self, items):
                self.items = items

            def __len__(self):
                return len(self.items)

            def __iter__(self):
                return iter(self.items)

        def trained(*data, **arguments):
            net = plain()
            history = net.train(*data, epochs=2, optimizer=Optimizer("sgd", learning_rate=0.1),
                                **arguments)
            return history, weights_of(net).tolist()
        expected = trained(self.batches())
        self.assertEqual(trained(Loader(self.batches())), expected)
        self.assertEqual(trained((pair for pair in 2 * self.batches()), steps=4), expected)
        self.assertEqual(trained([list(pair) for pair in self.batches()], schedule=lambda s: 1),
                         expected)
        net = plain()
        for epoch in range(2):
            for images, labels in self.batches():
                net.train(images, labels, batch=16, optimizer=Optimizer("sgd", learning_rate=0.1))
        numpy.testing.assert_allclose(weights_of(net), expected[1], atol=1e-6)

    def test_batches_of_several_sizes(self):
        net, other = plain(), plain()
        parts = [(self.images[:40], self.labels[:40]), (self.images[40:], self.labels[40:])]
        sgd = Optimizer("sgd", learning_rate=0.1)
        net.train(parts, optimizer=sgd)
        for images, labels in parts:
            other.train(images, labels, batch=len(images), optimizer=sgd)
        numpy.testing.assert_allclose(weights_of(net), weights_of(other), atol=1e-6)

    def test_iterators_that_end(self):
        net = small_network()
        with refused(self, Status.INVALID_ARGUMENT, "epoch 1: .* ended after 0 of at least 1; give"):
            net.train(iter(self.batches()), epochs=2)
        with refused(self, Status.INVALID_ARGUMENT, "epoch 0: .* ended after 4 of 5; give one"):
            net.train(self.batches(), steps=5)
        with refused(self, Status.INVALID_ARGUMENT, "epoch 0: .* ended after 0 of at least 1"):
            net.evaluate([])
        with refused(self, Status.INVALID_ARGUMENT, "gave a tuple of 3; expected .images, labels"):
            net.train([(self.images, self.labels, 1)])
        with refused(self, Status.INVALID_ARGUMENT, "gave a float; expected"):
            net.train([1.5])
        with refused(self, Status.INVALID_ARGUMENT, "none to predict"):
            net.predict(iter([]), stack=True)

    def test_predictions_come_as_they_are_made(self):
        net, given = small_network(), []

        def batches():
            for images, labels in self.batches():
                given.append(len(images))
                yield images
        expected = net.predict(self.images)
        found = net.predict(batches())
        self.assertEqual(given, [])
        numpy.testing.assert_array_equal(next(found), expected[:16])
        self.assertEqual(given, [16])
        numpy.testing.assert_array_equal(numpy.concatenate(list(found)), expected[16:])
        numpy.testing.assert_array_equal(net.predict(batches(), stack=True), expected)
        numpy.testing.assert_array_equal(net.predict(iter(self.batches()), stack=True), expected)
        self.assertEqual(net.evaluate(self.batches()),
                         net.evaluate(self.images, self.labels, batch=16))
        net.outputs = {"pool": net.filter("pool").result, "scores": net.filters[-1].result}
        found = net.predict(batches(), stack=True)
        numpy.testing.assert_array_equal(found["scores"], expected)
        self.assertEqual(found["pool"].shape, (64, 4, 4, 4))


class Descriptions(unittest.TestCase):
    def test_a_summary_counts(self):
        net = small_network()
        self.assertEqual(repr(net), "<glcnn.Network image 1x8x8 -> fully_connected_0 4x1x1: 6 layers,"
                         " 308 parameters>")
        text = net.summary(batch=16)
        rows = {row.split()[0]: row.split()[1:] for row in text.split("\n")}
        self.assertEqual(rows["convolution_0"], ["convolution", "4x8x8", "40", "yes"])
        self.assertEqual(rows["batch_normalization_0"], ["batch_normalization", "4x8x8", "8", "yes"])
        self.assertEqual(rows["pool"], ["pooling_max", "4x4x4"])
        self.assertEqual(rows["fully_connected_0"], ["fully_connected", "4x1x1", "260", "yes"])
        self.assertIn("308 parameters, 1.2 KiB, of which 308 train", text)
        self.assertRegex(text, "batches of 16: .* KiB to predict, .* KiB to train")
        self.assertIsNone(net.optimizer)  # nothing that was looked at was changed
        net.train(*quarters(16))
        self.assertEqual(net.summary(batch=16).split("\n")[:-1], text.split("\n")[:-1])

    def test_what_is_frozen(self):
        net = small_network()
        net.filter("convolution_0").training_style = glcnn.TrainingStyle.NONE
        self.assertRegex(net.summary(), "convolution_0 .* 40  frozen\n.* 8  yes\n")
        self.assertIn("308 parameters, 1.2 KiB, of which 268 train", net.summary())
        net.filter("pool").result.stop_gradient = True
        self.assertRegex(net.summary(), "batch_normalization_0 .* 8  frozen\n")
        self.assertIn("of which 260 train", net.summary())

    def test_memory_is_the_graphs(self):
        net = small_network()
        few, many = (net.summary(batch).split("\n")[-1] for batch in (8, 64))
        predict, train = (float(word.split()[0]) for word in few.split(": ")[1].split(", ")[:2])
        self.assertGreater(train, predict)
        self.assertNotEqual(few.split(": ")[1], many.split(": ")[1])

    def test_nodes_say_what_they_are(self):
        net = small_network()
        self.assertEqual(repr(net.filter("pool")),
                         "<glcnn.FilterNode pool: pooling_max of 4x8x8, to 4x4x4>")
        self.assertEqual(repr(net.output), "<glcnn.ImageNode result of fully_connected_0: 4x1x1>")
        self.assertEqual(repr(net.images[0]), "<glcnn.ImageNode input image: 1x8x8>")
        self.assertEqual(repr(glcnn.Network()), "<glcnn.Network without a filter>")
        x = glcnn.Network().image("image", (1, 4, 4))
        self.assertRegex(repr(x.pooling_max(5, 5, 1, 1).set(padding="valid")), "pooling_max_0: .>")

    def test_towers_with_one_kernel(self):
        """The difference of what one layer makes of two images: its weights count twice."""
        net = glcnn.Network()
        a, b = net.image("a", (3, 1, 1)), net.image("b", (3, 1, 1))
        first = a.fully_connected(output_feature_channels=2)
        net.output = first - b.node_with_kernel(first.filter)
        net.initialise(1)
        x, y = numpy.random.default_rng(0).normal(size=(2, 4, 3, 1, 1)).astype(numpy.float32)
        w = first.filter.vector("weights").reshape(2, 3).astype(float)
        numpy.testing.assert_allclose(net.predict({"a": x, "b": y}),
                                      (x - y)[:, :, 0, 0] @ w.T, atol=1e-5)
        net.train({"a": x, "b": y}, loss="value", batch=4,
                  optimizer=Optimizer("sgd", learning_rate=1))
        numpy.testing.assert_allclose(w - first.filter.vector("weights").reshape(2, 3),
                                      numpy.tile((x - y)[:, :, 0, 0].mean(0) / 2, (2, 1)), atol=1e-5)
        self.assertRegex(net.summary(), "fully_connected_1 .* shared\n")
        self.assertIn(" 8 parameters>", repr(net))


if __name__ == "__main__":
    unittest.main()
