"""The Python package, on the library of the build. test_python.sh runs it."""
import gc
import inspect
import json
import os
import subprocess
import tempfile
import threading
import unittest
import weakref

import numpy

import glcnn
import onnx_file
from glcnn import Optimizer, Status, _c, kernels


def refused(test, status, words):
    """A context in which glcnn.Error of that status is raised, with the words in its message."""
    class Check:
        def __enter__(self):
            self.context = test.assertRaisesRegex(glcnn.Error, words)
            self.raised = self.context.__enter__()

        def __exit__(self, *what):
            done = self.context.__exit__(*what)
            test.assertEqual(self.raised.exception.status, status)
            return done
    return Check()


def quarters(count, seed=0):
    """Pictures of 8x8 of which one quarter is bright, and which."""
    random = numpy.random.default_rng(seed)
    labels = random.integers(0, 4, count)
    images = random.normal(0, 0.2, (count, 1, 8, 8)).astype(numpy.float32)
    for image, label in zip(images, labels):
        image[0, label // 2 * 4:][:4, label % 2 * 4:][:, :4] += 1
    return images, labels


def small(x):
    x = x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=4)
    x = x.batch_normalization(1e-5).neuron_relu()
    x = x.pooling_max(2, 2, 2, 2).set(padding="valid", label="pool").dropout(0.8, 7)
    return x.fully_connected(output_feature_channels=4)


def small_network(seed=1):
    return glcnn.network((1, 8, 8), small, seed=seed)


class Arguments(unittest.TestCase):
    def test_whole_numbers_are_checked(self):
        images, labels = quarters(8)
        net = small_network()
        def over(x):
            return x.convolution(kernel_width=2 ** 32 + 3, output_feature_channels=4)
        wrong = {
            "batch is 0; it must be a whole number in 1 ..": lambda: net.predict(images, batch=0),
            "batch is -1;": lambda: net.evaluate(images, labels, batch=-1),
            "batch is 2.5;": lambda: net.train(images, labels, batch=2.5),
            "batch is True;": lambda: net.train(images, labels, batch=True),
            "epochs is -1;": lambda: net.train(images, labels, epochs=-1),
            "epochs is 0;": lambda: net.train(images, labels, epochs=0),
            "seed is -1;": lambda: net.train(images, labels, seed=-1),
            "seed is 18446744073709551616;": lambda: net.initialise(2 ** 64),
            "memory is -1;": lambda: net.predict(images, memory=-1),
            "memory is '1G';": lambda: net.train(images, labels, memory="1G"),
            "wait_seconds is -1;": lambda: glcnn.Device(wait_seconds=-1),
            "the shape is -1;": lambda: glcnn.Image((1, 1, -1, 8)),
            "the shape is 4294967304;": lambda: glcnn.Image((1, 1, 2 ** 32 + 8, 8)),
            "the shape of x is 0;": lambda: glcnn.Network().image("x", (1, 0, 8)),
            r"the shape of x is \(C, H, W\), not \(8, 8\)":
                lambda: glcnn.Network().image("x", (8, 8)),
            "kernel_width is 4294967299;": lambda: glcnn.network((1, 8, 8), over),
            "an argument of glcnn_pooling_max_node is -2;":
                lambda: glcnn.network((1, 8, 8), lambda x: x.pooling_max(2, -2, 2, 2)),
            "head_classes is -1;": lambda: glcnn.onnx("none.onnx", head_classes=-1),
            "width is 1.5;": lambda: glcnn.onnx("none.onnx", width=1.5),
        }
        for words, call in wrong.items():
            with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                call()
        self.assertEqual(net.predict(images, batch=numpy.int64(3)).shape, (8, 4))

    def test_labels_that_are_no_classes(self):
        images, labels = quarters(8)
        net = small_network()
        for kind in "bool", "float64":
            words = r"labels are \[N\] of %s and the output has 4 channels; expected classes" % kind
            for call in net.train, net.evaluate:
                with refused(self, Status.INVALID_ARGUMENT, words):
                    call(images, labels.astype(kind))
        words = r"labels are \[N\]\[1\] of float64 and the output has 4 channels; expected classes"
        with refused(self, Status.INVALID_ARGUMENT, words):
            net.train(images, labels[:, None].astype(float))
        wide = glcnn.network((1, 8, 8), lambda x: x.neuron_relu())
        words = r"labels are \[N\] of float64 and the output has 1 channels of 8x8 pixels"
        with refused(self, Status.INVALID_ARGUMENT, words):
            wide.evaluate(images, labels.astype(float), loss=_c.LossType.MEAN_SQUARED_ERROR)

    def test_targets_of_one_channel(self):
        images, _ = quarters(8)
        targets = numpy.arange(8) / 7
        net = glcnn.network((1, 8, 8), lambda x: x.fully_connected(output_feature_channels=1))
        expected = numpy.mean((net.predict(images)[:, 0] - targets) ** 2)
        for labels in targets, targets[:, None], targets[:, None, None, None]:
            score = net.evaluate(images, labels, loss=_c.LossType.MEAN_SQUARED_ERROR)
            self.assertAlmostEqual(score.loss, expected, places=5)
            self.assertIsNone(score.accuracy)
        scores = net.train(images, targets, loss=_c.LossType.MEAN_SQUARED_ERROR, epochs=3)
        self.assertLess(scores[2].loss, scores[0].loss)

    def test_outputs_that_are_not_finite(self):
        images, labels = quarters(8)
        net = small_network()
        images[3, 0, 0] = 3e38
        images[3, 0, 1] = -3e38
        images[5] = numpy.nan
        words = "the output of image 3 .and of 1 more. is NaN or infinite"
        with self.assertWarnsRegex(RuntimeWarning, words):
            output = net.predict(images)
        finite = numpy.isfinite(output).all(axis=1)
        self.assertEqual(list(numpy.flatnonzero(~finite)), [3, 5])
        with refused(self, Status.CHECK_FAILED, words):
            net.evaluate(images, labels)


class Images(unittest.TestCase):
    def test_arrays_come_back(self):
        values = numpy.arange(2 * 5 * 3 * 4).reshape(2, 5, 3, 4)
        for kind in "float32", "float16", "uint8":
            image = glcnn.image(values.astype(kind))
            self.assertEqual(image.shape, (2, 5, 3, 4))
            self.assertEqual(image.read().dtype, kind)
            numpy.testing.assert_array_equal(image.read(), values)
        numpy.testing.assert_array_equal(glcnn.image(values[:, 0].astype(float)).read(),
                                         values[:, :1])

    def test_what_is_no_image(self):
        with refused(self, Status.INVALID_ARGUMENT, r"\[N\]\[C\]\[H\]\[W\].*not of shape \(3,\)"):
            glcnn.image([1, 2, 3])
        with refused(self, Status.INVALID_ARGUMENT, r"image is \(1, 1, 2, 2\) of float32, the array"):
            glcnn.Image((1, 1, 2, 2)).write(numpy.zeros((1, 1, 2, 3), numpy.float32))
        with refused(self, Status.INVALID_ARGUMENT, "float32, float16 or uint8, not"):
            glcnn.Image((1, 1, 2, 2), float)


class Kernels(unittest.TestCase):
    def test_functions_are_what_the_tool_tells(self):
        told = json.loads(subprocess.check_output([os.environ["GLCNN_TOOL"], "kernels", "--json"]))
        self.assertEqual([k["name"] for k in told], kernels.__all__)
        for kernel in told:
            function = getattr(kernels, kernel["name"])
            words = inspect.signature(function).parameters
            for argument in kernel["inputs"]:
                optional = words[argument["name"]].default is None
                self.assertEqual(optional, argument["optional"], kernel["name"])
            for parameter in kernel["parameters"]:
                self.assertEqual(words[parameter["name"]].default, parameter["default"])
                self.assertIn(parameter["text"], function.__doc__)

    def test_a_kernel_computes(self):
        image = numpy.random.default_rng(0).normal(size=(2, 3, 6, 4)).astype(numpy.float32)
        window = dict(kernel_width=2, kernel_height=3, stride_in_pixels_x=2, stride_in_pixels_y=3,
                      padding="valid")
        expected = image.reshape(2, 3, 2, 3, 2, 2).max((3, 5))
        for options in {}, {"reference": True}:
            numpy.testing.assert_array_equal(kernels.pooling_max(image, **window, **options),
                                             expected)
        self.assertEqual(kernels.pooling_max(image, kernel_width=3, kernel_height=3).shape,
                         image.shape)
        numpy.testing.assert_array_equal(kernels.add(image, image), 2 * image)
        half = kernels.pooling_max(image, **window, format=glcnn.ChannelFormat.FLOAT16)
        numpy.testing.assert_array_equal(half, expected.astype(numpy.float16))

    def test_several_outputs_have_names(self):
        y, t = numpy.ones((2, 3, 1, 1)), numpy.zeros((2, 3, 1, 1))
        found = kernels.loss(y, t, loss_type="mean_squared_error",
                             reduction_type=glcnn.ReductionType.SUM, weight=2)
        numpy.testing.assert_array_equal(found.loss.ravel(), [6, 6])
        numpy.testing.assert_array_equal(found.destination_gradient, 4 * y)

    def test_errors_say_what_was_meant(self):
        with refused(self, Status.INVALID_ARGUMENT, 'no parameter "kernel_wdth"; did you mean'):
            kernels.pooling_max(numpy.zeros((1, 1, 2, 2)), kernel_wdth=2)
        with refused(self, Status.INVALID_ARGUMENT, 'no kernel named "pooling_mx".*pooling_max'):
            glcnn.run("pooling_mx", {"source_image": numpy.zeros((1, 1, 2, 2))}, kernel_width=2)
        with refused(self, Status.INVALID_ARGUMENT, "at most 8 dimensions, not 9"):
            kernels.neuron(numpy.zeros((1,) * 9))
        with refused(self, Status.INVALID_ARGUMENT, "takes 1 arrays, not 2"):
            kernels.soft_max(1, 2)

    def test_whole_numbers_of_64_bits_are_exact(self):
        x, seed = numpy.ones((1, 1, 16, 16)), 2**64 - 1
        masks = [kernels.dropout(x, seed=s, keep_probability=0.5) for s in (seed, seed - 1, seed)]
        self.assertFalse((masks[0] == masks[1]).all())
        numpy.testing.assert_array_equal(masks[0], masks[2])


def constructors():
    """(name, method) of all that makes nodes."""
    return [(name, method) for name, method in vars(glcnn._nodes.Nodes).items()
            if not name.startswith("_")]


def shortest(method, other):
    """The fewest arguments that a constructor takes, and those that have no place but a name."""
    numbers = {"int": 1, "float": 0.5, "bool": False, "ImageNode": other}
    places, names = [], {}
    for name, word in list(inspect.signature(method).parameters.items())[1:]:
        if word.default is not word.empty:
            continue
        value = numbers[word.annotation] if word.annotation in numbers else list(
            getattr(_c, word.annotation))[0]
        if word.kind is word.KEYWORD_ONLY:
            names[name] = value
        else:
            places.append(value)
    return places, names


# What the shortest arguments do not do, for two images of four channels of 6x6.
UNDONE = {
    "augment_color": "it must be one pixel of 8 for each image",
    "augment_geometry": "it must be one pixel of 8 for each image",
    "convolution": "kernel_width is 0; it must be a whole number in 1 ..",
    "convolution_transpose": "kernel_width is 0; it must be a whole number in 1 ..",
    "frame_nv12": "there must be 1, of luma, and 2, of chroma",
    "frame_yuyv": "there must be 2, of luma and chroma",
    "fully_connected": "output_feature_channels is 0; it must be a whole number in 1 ..",
    "reshape": "6x6 pixels of 4 channels cannot become 1x1 of 1",
    "slice": "it must be a multiple of 4 below the 4 channels",
    "yolo_loss": "1 anchor boxes need 5 and one for each class",
}


class Constructors(unittest.TestCase):
    def test_each_is_called(self):
        made = [name for name, method in constructors() if self.calls(name, method)]
        self.assertGreater(len(made), 70)
        self.assertEqual(sorted(set(UNDONE) | set(made)), sorted(n for n, _ in constructors()))

    def calls(self, name, method):
        """Whether it computes; all others are refused with the words that are expected of them."""
        net = glcnn.Network()
        x, other = net.image("x", (4, 6, 6)), net.image("other", (4, 6, 6))
        said = str(net.device.error())
        with self.subTest(name):
            if name in UNDONE:
                with refused(self, Status.INVALID_ARGUMENT, UNDONE[name]):
                    self.compute(x, name, *shortest(method, other))
                return False
            self.compute(x, name, *shortest(method, other))
            # No call that asks what the node is leaves an error behind.
            repr(net), net.summary(), self.written(net)
            self.assertEqual(str(net.device.error()), said)
        return True

    def compute(self, x, name, places, names):
        made = getattr(x, name)(*places, **names)
        nodes = [made.result, made.loss] if isinstance(made, glcnn.FilterNode) else [made]
        graph = glcnn.Graph(nodes)
        array = numpy.linspace(0.1, 1, 4 * 36, dtype=numpy.float32).reshape(1, 4, 6, 6)
        for node, found in zip(nodes, graph.execute({s.handle: array for s in graph.sources})):
            self.assertEqual(node.shape, found.shape[1:])
            self.assertTrue(numpy.isfinite(found).all())

    @staticmethod
    def written(net):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "n.glcnn")
            net.save(path)
            net.save_checkpoint(path)
            net.load_checkpoint(path)

    def test_the_shape_of_the_source_is_known(self):
        x = numpy.random.default_rng(0).normal(2, 3, (2, 6, 5, 4)).astype(numpy.float32)
        net = glcnn.Network()
        node = net.image("x", x.shape[1:])
        nodes = [node.layer_normalization(1e-5), node.group_normalization(3, 1e-5),
                 net.image("x").group_normalization(2, 1e-5, width=4, height=5,
                                                    feature_channels=6)]
        # A layer's mean is that of the channels of a pixel, a group's that of all its pixels.
        for axis, parts, found in zip((1, 2, 2), (x, x.reshape(2, 3, -1), x.reshape(2, 2, -1)),
                                      glcnn.Graph(nodes[:2]).execute(x) +
                                      glcnn.Graph(nodes[2:]).execute(x)):
            wanted = (parts - parts.mean(axis, keepdims=True)) / numpy.sqrt(
                parts.var(axis, keepdims=True) + 1e-5)
            numpy.testing.assert_allclose(found, wanted.reshape(x.shape), rtol=1e-4, atol=1e-5)
        for call in (lambda x: x.layer_normalization(1e-5),
                     lambda x: x.group_normalization(3, 1e-5, feature_channels=3, height=2)):
            with refused(self, Status.INVALID_ARGUMENT, "it must be that of the source, none of it 0"):
                call(glcnn.Network().image("x"))

    def test_arrays_of_parameters(self):
        array = numpy.arange(12, dtype=numpy.float32).reshape(1, 1, 3, 4)
        node = glcnn.Network().image("x", (1, 3, 4)).strided_view(
            width=3, height=4, sizes=[4, 3], strides=numpy.array([1, 4]))
        numpy.testing.assert_array_equal(glcnn.Graph([node]).execute(array)[0],
                                         array.transpose(0, 1, 3, 2))
        x = glcnn.Network().image("x", (1, 3, 4))
        for sizes, words in ((range(7), "sizes has 7 elements; at most 6 are taken"),
                             ([1.5], "sizes is 1.5; it must be a whole number")):
            with refused(self, Status.INVALID_ARGUMENT, words):
                x.strided_view(sizes=sizes)


class Nodes(unittest.TestCase):
    def test_shapes_are_those_of_graphs(self):
        def results(x):
            yield x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=6,
                                stride_in_pixels_x=2)
            yield x.pooling_average(3, 3, 2, 2).set(padding="valid")
            yield x.upsampling_bilinear(2, 3, True)
            yield x.slice(4, 1)
            yield x.concatenation(x)
            yield x.axis_concatenation(x, x, axis=glcnn._c.Axis.ROWS)
            yield x.reshape(8 * 7, 5, 1)
            yield x.reduce_row_mean()
            yield x.multiply(x).soft_max()
            yield x.node("pooling_max", kernel_width=2, kernel_height=2, padding="full")
            yield x.convolution_transpose(kernel_width=3, kernel_height=3,
                                          output_feature_channels=2, stride_in_pixels_x=2)
        array = numpy.ones((1, 5, 7, 8), numpy.float32)
        net = glcnn.Network()
        nodes = list(results(net.image("image", (5, 7, 8))))
        for node, made in zip(nodes, glcnn.Graph(nodes).execute(array)):
            self.assertEqual((1,) + node.shape, made.shape, node.filter.label)

    def test_numbers_that_are_left_out(self):
        image = numpy.array([[[[-4., 0, 3, 9]]]], numpy.float32)
        net = glcnn.Network()
        x = net.image("image")
        neurons = [x.neuron_relu(), x.neuron_relu(0.5), x.neuron_relun(), x.neuron_linear(b=1),
                   x.neuron_prelu(slopes=[2]),
                   x.neuron(neuron=glcnn.NeuronDescriptor(glcnn.NeuronType.ABSOLUTE)),
                   x.image_normalization(mean=[1], deviation=[2])]
        expected = [[0, 0, 3, 9], [-2, 0, 3, 9], [0, 0, 3, 6], [-3, 1, 4, 10], [-8, 0, 3, 9],
                    [4, 0, 3, 9], [-2.5, -0.5, 1, 4]]
        # MPS's ReLU-n lets what is negative through.
        expected[2][0] = -4
        for row, found in zip(expected, glcnn.Graph(neurons).execute(image)):
            numpy.testing.assert_allclose(found.ravel(), row)

    def test_parameters_and_vectors(self):
        net = small_network()
        convolution = net.filter("convolution_0")
        weights = convolution.vector("weights")
        self.assertEqual(weights.shape, (4 * 3 * 3,))
        self.assertGreater(numpy.ptp(weights), 0)
        convolution.set_vector("weights", numpy.arange(36).reshape(4, 3, 3, 1))
        numpy.testing.assert_array_equal(convolution.vector("weights"), numpy.arange(36))
        self.assertEqual(convolution["output_feature_channels"], 4)
        self.assertEqual(net.filter("pool").padding, glcnn.Padding.SIZE_VALID_ONLY)
        net.filter("pool")["edge_mode"] = "zero"
        self.assertEqual(net.filter("pool")["edge_mode"], glcnn.EdgeMode.ZERO)
        with refused(self, Status.INVALID_ARGUMENT, "no parameter \"epsilon\""):
            convolution["epsilon"] = 1
        with refused(self, Status.INVALID_ARGUMENT, "weights"):
            convolution.set_vector("weights", [1, 2])
        with refused(self, Status.INVALID_ARGUMENT, "gamma"):
            convolution.vector("gamma")
        with refused(self, Status.INVALID_ARGUMENT, "no padding 'whole'; there are valid, same"):
            net.filter("pool").result.set(padding="whole")
        with refused(self, Status.INVALID_ARGUMENT, "no filter \"x\"; there are convolution_0"):
            net.filter("x")

    def test_seeds_of_64_bits_are_exact(self):
        net, masks = glcnn.Network(), []
        for seed in 2**64 - 1, 2**64 - 2, 2**64 - 1:
            node = net.image(str(seed)).dropout(0.5, 0)
            node.filter["seed"] = seed
            masks += glcnn.Graph([node]).execute(numpy.ones((1, 1, 16, 16), numpy.float32))
        self.assertFalse((masks[0] == masks[1]).all())
        numpy.testing.assert_array_equal(masks[0], masks[2])

    def test_a_node_that_cannot_be_made(self):
        x = glcnn.Network().image("image", (1, 4, 4))
        with refused(self, Status.INVALID_ARGUMENT, "dropout"):
            x.dropout(1.5, 0)
        x = glcnn.Network().image("image", (1, 4, 4))
        with refused(self, Status.INVALID_ARGUMENT, "window of 5x5"):
            x.pooling_max(5, 5, 1, 1).set(padding="valid").shape
        with refused(self, Status.INVALID_ARGUMENT, "another network"):
            x.add(glcnn.Network().image("image"))
        with refused(self, Status.INVALID_ARGUMENT, "of 1 and of 2 numbers"):
            x.image_normalization(mean=[1], deviation=[1, 2])

    def test_graphs_take_their_inputs_by_name(self):
        net = glcnn.Network()
        graph = glcnn.Graph([net.image("a").subtract(net.image("b"))])
        ones = numpy.ones((1, 1, 2, 2), numpy.float32)
        numpy.testing.assert_array_equal(graph.execute({"b": ones, "a": 3 * ones})[0], 2 * ones)
        with refused(self, Status.INVALID_ARGUMENT, "takes a, b, not a, c"):
            graph.execute({"a": ones, "c": ones})

    def test_each_image_makes_crops(self):
        net = glcnn.Network()
        regions = [[0, 0, 0.5, 1], [1, 0, -1, 1]]
        net.output = net.image("x", (1, 2, 3)).crop_and_resize_bilinear(2, 2, 2, regions=regions)
        x = numpy.arange(30, dtype=numpy.float32).reshape(5, 1, 2, 3)
        expected = numpy.stack((x[..., :2], x[..., ::-2]), 1).reshape(10, 1, 2, 2)
        numpy.testing.assert_allclose(net.predict(x, batch=2), expected, rtol=1e-6)
        with refused(self, Status.INVALID_ARGUMENT, "regions has 12 elements; 8 are given"):
            net.image("y", (1, 2, 3)).crop_and_resize_bilinear(2, 2, 3, regions=regions)

    def test_arithmetic_of_nodes(self):
        net = glcnn.Network()
        a, b = net.image("a", (1, 1, 4)), net.image("b", (1, 1, 4))
        x, y = numpy.float32([[[[1, 2, 3, 4]]]]), numpy.float32([[[[5, -6, 7, 8]]]])
        nodes = [a + b, a + 2, 3 + a, a - b, a - 1, 1 - a, a * b, a * 3, 4 * a, a / b, a / 4, -a]
        expected = [x + y, x + 2, 3 + x, x - y, x - 1, 1 - x, x * y, x * 3, 4 * x, x / y, x / 4, -x]
        for found, wanted in zip(glcnn.Graph(nodes).execute({"a": x, "b": y}), expected):
            numpy.testing.assert_allclose(found, wanted, rtol=1e-6)

    def test_a_long_network_has_a_shape(self):
        def layers(x):
            for _ in range(1200):
                x = x.neuron_relu()
            return x
        self.assertEqual(glcnn.network((3, 4, 5), layers).output.shape, (3, 4, 5))


def vectors(net):
    """(name, values) of all that filters keep: weights, and what they measured."""
    return [(f.label + "." + name, f.vector(name)) for f in net.filters
            for name in ("weights", "biases", "gamma", "beta", "mean", "variance", "neuron_data")
            if glcnn._library.c.glcnn_kernel_has_vector(f.kernel, name.encode())]


def net_goals(images):
    """Four numbers for each image, some of its own."""
    return images.reshape(len(images), -1)[:, 26:30]


class Training(unittest.TestCase):
    images, labels = quarters(96)

    def test_it_learns(self):
        net, seen = small_network(), []
        scores = net.train(self.images, self.labels, epochs=6, batch=16,
                           optimizer=Optimizer("adam", learning_rate=0.01),
                           on_epoch=lambda epoch, score: seen.append((epoch, score)))
        self.assertEqual(seen, list(enumerate(scores)))
        self.assertLess(scores[-1].loss, scores[0].loss / 2)
        images, labels = quarters(50, seed=1)
        score = net.evaluate(images, labels, batch=16)
        self.assertGreater(score.accuracy, 0.95)
        output = net.predict(images, batch=16)
        self.assertEqual(output.shape, (50, 4))
        self.assertEqual(score.accuracy, (output.argmax(1) == labels).mean())
        log = output - numpy.log(numpy.exp(output).sum(1, keepdims=True))
        self.assertAlmostEqual(score.loss, -log[numpy.arange(50), labels].mean(), places=4)

    def test_it_is_what_a_graph_by_hand_does(self):
        net, other = small_network(), small_network()
        found = net.train(self.images[:16], self.labels[:16], epochs=3, batch=16,
                          optimizer=Optimizer("stochastic_gradient_descent", learning_rate=0.1))
        loss = other.output.loss(other.image("labels"), glcnn.LossType.SOFT_MAX_CROSS_ENTROPY,
                                 glcnn.ReductionType.SUM)
        loss["weight"] = 1 / 16
        graph = glcnn.TrainingGraph([loss], Optimizer("stochastic_gradient_descent",
                                                      learning_rate=0.1))
        for epoch in range(3):
            order = numpy.random.default_rng((0, epoch)).permutation(16)
            goals = numpy.eye(4, dtype=numpy.float32)[self.labels[order], :, None, None]
            value, = graph.execute({"image": self.images[order], "labels": goals})
            self.assertEqual(found[epoch].loss, value.sum(dtype=float))
        numpy.testing.assert_array_equal(net.filter("convolution_0").vector("weights"),
                                         other.filter("convolution_0").vector("weights"))

    def test_bytes_and_goals_of_numbers(self):
        images = (self.images * 100).clip(0, 255).astype(numpy.uint8)
        net, other = small_network(), small_network()
        same = dict(batch=16, optimizer=Optimizer("rms_prop", learning_rate=0.01))
        score, = net.train(images, self.labels, **same)
        self.assertEqual(other.train(images.astype(numpy.float32) / 255, self.labels, **same)[0]
                         .accuracy, score.accuracy)
        net.train(self.images, self.labels, batch=16)  # floats where bytes were
        goals = numpy.eye(4)[self.labels]
        squares = net.train(self.images, goals, epochs=4, batch=16,
                            loss=glcnn.LossType.MEAN_SQUARED_ERROR)
        self.assertIsNone(squares[0].accuracy)
        self.assertLess(squares[-1].loss, squares[0].loss)

    def test_dense_losses_are_means(self):
        """w x + b towards images, by the gradient of the mean square over pixels and channels."""
        rng = numpy.random.default_rng(3)
        x, goals = rng.standard_normal((8, 1, 6, 5)), rng.standard_normal((8, 3, 6, 5))
        net = glcnn.network((1, 6, 5), lambda x: x.convolution(
            kernel_width=1, kernel_height=1, output_feature_channels=3))
        filter = net.filters[0]
        w, b = filter.vector("weights").astype(float), numpy.zeros(3)
        losses = net.train(x, goals, epochs=5, batch=8, loss=glcnn.LossType.MEAN_SQUARED_ERROR,
                           optimizer=Optimizer("stochastic_gradient_descent", learning_rate=0.1))
        for found in losses:
            e = w[:, None, None] * x + b[:, None, None] - goals
            self.assertAlmostEqual(found.loss, (e ** 2).mean(), places=5)
            w = w - 0.1 * (2 * e * x).sum((0, 2, 3)) / e.size
            b = b - 0.1 * (2 * e).sum((0, 2, 3)) / e.size
        numpy.testing.assert_allclose(filter.vector("weights"), w, atol=1e-6)
        numpy.testing.assert_allclose(filter.vector("biases"), b, atol=1e-6)
        e = w[:, None, None] * x + b[:, None, None] - goals
        square = dict(loss=glcnn.LossType.MEAN_SQUARED_ERROR, batch=3)
        self.assertAlmostEqual(net.evaluate(x, goals, **square).loss, (e ** 2).mean(), places=5)
        self.assertAlmostEqual(net.evaluate(x, goals, reduction="sum", **square).loss,
                               (e ** 2).sum() / 8, places=3)
        each = net.evaluate(x, goals, reduction="none", **square).loss
        numpy.testing.assert_allclose(each, e ** 2, atol=1e-5)
        before = filter.vector("biases")
        step = dict(epochs=1, batch=8, optimizer=Optimizer("stochastic_gradient_descent",
                                                           learning_rate=0.001))
        score, = net.train(x, goals, loss=glcnn.LossType.MEAN_SQUARED_ERROR, reduction="sum",
                           **step)
        self.assertAlmostEqual(score.loss, (e ** 2).sum() / 8, places=3)
        numpy.testing.assert_allclose(before - filter.vector("biases"),
                                      0.001 * (2 * e).sum((0, 2, 3)) / 8, atol=1e-6)

    def test_of_what_a_loss_is_the_mean(self):
        """Of each type the sums of an image, and by how many terms they are divided."""
        rng = numpy.random.default_rng(4)
        x = rng.uniform(0.1, 0.9, (4, 3, 2, 5)).astype(numpy.float32)
        goals = rng.uniform(0.1, 0.9, (4, 3, 2, 5)).astype(numpy.float32)
        net = glcnn.network((3, 2, 5), lambda x: x.neuron_linear(1, 0))
        log = numpy.log(numpy.exp(x).sum(1, keepdims=True)) - x
        images = {"SOFT_MAX_CROSS_ENTROPY": ((goals * log).sum((1, 2, 3)), 10),
                  "CATEGORICAL_CROSS_ENTROPY": (-(goals * numpy.log(x)).sum((1, 2, 3)), 10),
                  "COSINE_DISTANCE": (1 - (x * goals).sum((1, 2, 3)), 1)}
        for loss in glcnn.LossType:
            sums = net.evaluate(x, goals, loss=loss, reduction="sum", batch=3).loss
            wanted, terms = images.get(loss.name, (None, 30))
            if wanted is not None:
                self.assertAlmostEqual(sums, wanted.mean(), places=4)
            mean = net.evaluate(x, goals, loss=loss, batch=3).loss
            self.assertAlmostEqual(mean, sums / terms, places=6, msg=loss.name)

    def test_an_autoencoder_learns_by_plain_descent(self):
        images = numpy.random.default_rng(5).uniform(0, 1, (8, 1, 16, 16)).astype(numpy.float32)

        def layers(x):
            window = dict(kernel_width=3, kernel_height=3)
            x = x.convolution(output_feature_channels=8, **window).neuron_relu()
            return x.convolution(output_feature_channels=1, **window)

        net = glcnn.network((1, 16, 16), layers, seed=1)
        losses = [s.loss for s in net.train(
            images, images, epochs=30, batch=8, loss=glcnn.LossType.MEAN_SQUARED_ERROR,
            optimizer=Optimizer("stochastic_gradient_descent", learning_rate=0.1))]
        self.assertLess(losses[-1], losses[0] / 4)

    def test_reductions_that_there_are_not(self):
        with refused(self, Status.INVALID_ARGUMENT, 'reduction is "mean" or "sum"'):
            small_network().train(self.images, self.labels, reduction="none")
        for method in small_network().train, small_network().evaluate:
            with refused(self, Status.INVALID_ARGUMENT, "there is no reduction 'avg'; there are"):
                method(self.images, self.labels, reduction="avg")

    def test_what_is_frozen_stays(self):
        net = small_network()
        frozen, free = net.filter("convolution_0"), net.filter("fully_connected_0")
        frozen.training_style = glcnn.TrainingStyle.NONE
        before = frozen.vector("weights"), free.vector("weights")
        net.train(self.images, self.labels)
        numpy.testing.assert_array_equal(frozen.vector("weights"), before[0])
        self.assertFalse((free.vector("weights") == before[1]).all())
        frozen.training_style = glcnn.TrainingStyle.GPU
        net.train(self.images, self.labels)
        self.assertFalse((frozen.vector("weights") == before[0]).all())
        net.filter("pool").result.stop_gradient = True
        before = frozen.vector("weights"), free.vector("weights")
        net.train(self.images, self.labels)
        numpy.testing.assert_array_equal(frozen.vector("weights"), before[0])
        self.assertFalse((free.vector("weights") == before[1]).all())

    def test_training_goes_on(self):
        net, other = small_network(), small_network()
        adam = Optimizer("adam", learning_rate=0.01)
        net.train(self.images, self.labels, epochs=2, batch=32, optimizer=adam)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint.safetensors")
            net.save_checkpoint(path, epoch="2")
            other.set_optimizer(adam)
            self.assertEqual(other.load_checkpoint(path)["epoch"], "2")
            with refused(self, Status.IO_ERROR, "missing"):
                other.load_checkpoint(os.path.join(folder, "missing"))
        self.assertEqual(net.train(self.images, self.labels, seed=5),
                         other.train(self.images, self.labels, seed=5, optimizer=adam))
        slow = Optimizer("adam", learning_rate=0)
        before = net.filter("fully_connected_0").vector("weights")
        net.train(self.images, self.labels, optimizer=slow)
        numpy.testing.assert_array_equal(net.filter("fully_connected_0").vector("weights"), before)
        net.train(self.images, self.labels, optimizer="stochastic_gradient_descent")
        self.assertEqual(net.optimizer, "stochastic_gradient_descent")

    def test_files_have_the_network(self):
        net = small_network()
        net.train(self.images, self.labels)
        net.output = net.output.soft_max()
        net.image("labels").add(net.output)  # a filter behind the output
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "network")
            net.save(path)
            read = glcnn.load(path)
            with open(path, "r+b") as file:
                file.truncate(100)
            with refused(self, Status.MALFORMED_DATA, "byte"):
                glcnn.load(path)
        numpy.testing.assert_array_equal(read.predict(self.images), net.predict(self.images))
        numpy.testing.assert_allclose(read.predict(self.images).sum(1), 1, rtol=1e-5)

    def test_a_checkpoint_has_no_network(self):
        net = small_network()
        net.train(self.images, self.labels)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint")
            net.save_checkpoint(path)
            with refused(self, Status.INVALID_ARGUMENT, "without a network.*load_checkpoint"):
                glcnn.load(path)

    def test_files_whose_names_are_not_utf8(self):
        net = small_network()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b"n\xc3\xa4me\xff.glcnn")
            net.save(path)
            with open(path, "rb") as file:
                self.assertIn(b'"model.net":"n\xc3\xa4me\\\\xff"', file.read())
            numpy.testing.assert_array_equal(glcnn.load(path).predict(self.images),
                                             net.predict(self.images))

    def test_what_does_not_fit(self):
        net = small_network()
        with refused(self, Status.INVALID_ARGUMENT, "found 3 image, 96 labels"):
            net.train(self.images[:3], self.labels)
        with refused(self, Status.INVALID_ARGUMENT, "classes from 0 to 3, not 9"):
            net.train(self.images[:3], [0, 9, 1])
        with refused(self, Status.INVALID_ARGUMENT, "takes image, not picture"):
            net.predict({"picture": self.images})
        with refused(self, Status.INVALID_ARGUMENT, 'optimizer_adam has no parameter .learning_rte.; it has learning_rate'):
            net.train(self.images, self.labels, optimizer=Optimizer("adam", learning_rte=1))
        with refused(self, Status.INVALID_ARGUMENT, "there is no optimizer .adm.; there are adam, sgd"):
            net.train(self.images, self.labels, optimizer="adm")
        with refused(self, Status.INVALID_ARGUMENT, "has no filter yet"):
            glcnn.Network().predict(self.images)

    def test_a_loss_that_is_not_finite(self):
        images, count = self.images.copy(), len(self.images)
        images[5, 0, 0], images[5, 0, 1] = 3e38, -3e38
        words = ("epoch 0, step 0: the loss is (nan|inf); weights are as they were before this "
                 "step; no step of this call had changed the weights yet: those that it began with are damaged, or the values of an image or")
        with refused(self, Status.CHECK_FAILED, words):
            small_network().train(images, self.labels, batch=count)
        damaged = small_network()
        convolution = next(f for f in damaged.filters if f.name == "convolution")
        convolution.set_vector("weights", numpy.full_like(convolution.vector("weights"), 3e38))
        with refused(self, Status.CHECK_FAILED, words):
            damaged.train(self.images, self.labels)

    def test_a_learning_rate_that_is_too_large(self):
        words = ("step [1-9].*: the loss is (nan|inf); weights are as they were before this step; a "
                 "smaller learning rate or clip_norm may help")
        net = small_network()
        with refused(self, Status.CHECK_FAILED, words):
            net.train(self.images, self.labels, epochs=3,
                      optimizer=Optimizer("adam", learning_rate=1e30))
        for _, values in vectors(net):
            self.assertTrue(numpy.isfinite(values).all())

    def test_values_that_are_not_finite_are_refused(self):
        for value in numpy.nan, numpy.inf, -numpy.inf:
            images = self.images.copy()
            images[70, 0, 3, 4] = value
            net = small_network()
            net.train(self.images, self.labels, batch=32)
            before = vectors(net)
            batches = [(images[i:i + 32], self.labels[i:i + 32]) for i in (0, 64)]
            for words, call in {
                    "image 70 has a value that is NaN or infinite": lambda: net.train(
                        images, self.labels, epochs=2),
                    "image 6 of step 0 of epoch 0 has": lambda: net.train(batches[1:]),
                    "label 70 has": lambda: net.train(self.images, net_goals(images)),
                    "label 6[^0-9].*has": lambda: net.evaluate(
                        self.images[64:], net_goals(images[64:]), loss="mse")}.items():
                with self.subTest(words), refused(self, Status.INVALID_ARGUMENT, words):
                    call()
                for (name, old), (_, new) in zip(before, vectors(net)):
                    numpy.testing.assert_array_equal(old, new, name)
            with refused(self, Status.INVALID_ARGUMENT, "image 6 of step 1 of epoch 0 has"):
                net.train(batches)

    def test_a_step_by_hand_that_is_not_finite(self):
        net = small_network()
        net.train(self.images, self.labels, batch=32)
        before, bad = vectors(net), self.images[:32].copy()
        bad[3] = numpy.nan
        labels = net.image("labels")
        loss = net.output.loss(labels, glcnn.LossType.MEAN_SQUARED_ERROR, glcnn.ReductionType.SUM)
        graph = glcnn.TrainingGraph([loss])
        goals = numpy.zeros((32, 4, 1, 1), numpy.float32)
        with refused(self, Status.INVALID_STATE, "weights are as they were before this step"):
            graph.execute({"image": bad, "labels": goals})
        for (name, old), (_, new) in zip(before, vectors(net)):
            numpy.testing.assert_array_equal(old, new, name)
        graph.execute({"image": self.images[:32], "labels": goals})
        self.assertFalse(all((old == new).all() for (_, old), (_, new) in zip(
            before, vectors(net))))


CLASSIFIER = os.path.join(os.path.dirname(__file__), "..", "golden", "classifier")


@unittest.skipUnless(_c.FUNCTIONS["glcnn_onnx"] and os.path.isdir(CLASSIFIER),
                     "there is no libglcnn_onnx")
class Onnx(unittest.TestCase):
    """A classifier that tests/golden/classifier/make.py describes in PyTorch too."""

    def setUp(self):
        table = numpy.loadtxt(os.path.join(CLASSIFIER, "train.csv"), delimiter=",", dtype=int)
        self.labels = table[:, 0]
        self.images = table[:, 1:].reshape(-1, 1, 8, 8).astype(numpy.uint8)
        self.model = glcnn.onnx(os.path.join(CLASSIFIER, "classifier.onnx"))

    def test_it_computes_what_pytorch_does(self):
        expected = numpy.loadtxt(os.path.join(CLASSIFIER, "probabilities.txt"))
        numpy.testing.assert_allclose(self.model.predict(self.images), expected, atol=1e-5)
        self.assertEqual(self.model.output.shape, (5, 1, 1))
        score = self.model.evaluate(self.images, self.labels)
        wanted = -numpy.log(expected[numpy.arange(40), self.labels]).mean()
        self.assertAlmostEqual(score.loss, wanted, places=4)

    def test_it_learns_as_pytorch_does(self):
        net = glcnn.onnx(os.path.join(CLASSIFIER, "plain.onnx"))
        scores = net.train(self.images, self.labels, epochs=20, batch=40, optimizer=Optimizer(
            "stochastic_gradient_descent", learning_rate=0.05, momentum_scale=0.9))
        expected = numpy.loadtxt(os.path.join(CLASSIFIER, "losses.txt"))
        numpy.testing.assert_allclose([s.loss for s in scores], expected, rtol=1e-4, atol=1e-4)

    def test_it_comes_back(self):
        self.model.train(self.images, self.labels, epochs=2)
        made = small_network()
        images, _ = quarters(4)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            for net, data in (self.model, self.images), (made, images):
                expected = net.predict(data)
                net.save_onnx(path)
                numpy.testing.assert_allclose(glcnn.onnx(path).predict(data), expected, atol=1e-5)

    def test_inputs_and_outputs_keep_their_names(self):
        net = glcnn.Network()
        left, right = net.image("left", (3, 4, 5)), net.image("right", (3, 4, 5))
        left.node("add", right).set(label="total")
        left.node("reduce_column_mean").set(label="mean")
        arrays = {"left": numpy.random.rand(2, 3, 4, 5), "right": numpy.random.rand(2, 3, 4, 5)}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            net.save_onnx(path)
            back = glcnn.onnx(path)
        self.assertEqual([i.handle for i in back.images if not i.filter], ["left", "right"])
        self.assertEqual(list(back.outputs), ["total.output", "mean.output"])
        found = glcnn.Graph(list(back.outputs.values())).execute(arrays)
        numpy.testing.assert_allclose(found[0], arrays["left"] + arrays["right"], rtol=1e-6)
        numpy.testing.assert_allclose(found[1], arrays["left"].mean(2, keepdims=True), rtol=1e-6)

    def test_a_head_is_added(self):
        net = glcnn.onnx(os.path.join(CLASSIFIER, "two.onnx"), head_classes=3)
        self.assertEqual(net.output.shape, (3, 1, 1))
        numpy.testing.assert_array_equal(net.predict(self.images), numpy.zeros((40, 3)))
        scores = net.train(self.images, self.labels % 3, epochs=4)
        self.assertLess(scores[-1].loss, scores[0].loss)
        with refused(self, Status.INVALID_ARGUMENT, "head_classes is 65536"):
            glcnn.onnx(os.path.join(CLASSIFIER, "two.onnx"), head_classes=65536)

    def test_what_is_no_model(self):
        with refused(self, Status.IO_ERROR, "missing"):
            glcnn.onnx("missing.onnx")
        with refused(self, Status.MALFORMED_DATA, "."):
            glcnn.onnx(__file__)


AXES = {  # outputs of x: (N, 6, 4, 5), by nodes, and as NumPy has them
    "transposed": (["N", 4, 5, 6], [("Transpose", ["x"], {"perm": [0, 2, 3, 1]})], {},
                   lambda x: x.transpose(0, 2, 3, 1)),
    "soft_max": (["N", 6, 4, 5], [("Softmax", ["x"], {"axis": 3})], {},
                 lambda x: numpy.exp(x) / numpy.exp(x).sum(3, keepdims=True)),
    "shuffled": (["N", 6, 4, 5],
                 [("Reshape", ["x", "a"], {}), ("Transpose", ["t0"], {"perm": [0, 2, 1, 3, 4]}),
                  ("Reshape", ["t1", "b"], {})], {"a": [0, 2, 3, 4, 5], "b": [0, 6, 4, 5]},
                 lambda x: x.reshape(-1, 2, 3, 4, 5).swapaxes(1, 2).reshape(x.shape)),
    "rows": (["N", 24, 5], [("Reshape", ["x", "a"], {})], {"a": [0, 24, 5]},
             lambda x: x.reshape(-1, 24, 5)),
    "five": (["N", 2, 3, 4, 5], [("Reshape", ["x", "a"], {})], {"a": [0, 2, 3, 4, 5]},
             lambda x: x.reshape(-1, 2, 3, 4, 5)),
    "folded": (["M", 5], [("Reshape", ["x", "a"], {})], {"a": [-1, 5]}, lambda x: x.reshape(-1, 5)),
    "last": ([6, 4, 5, "N"], [("Transpose", ["x"], {"perm": [1, 2, 3, 0]})], {},
             lambda x: x.transpose(1, 2, 3, 0)),
    "flat": (["N", 120], [("Transpose", ["x"], {"perm": [0, 2, 3, 1]}), ("Flatten", ["t0"], {})], {},
             lambda x: x.transpose(0, 2, 3, 1).reshape(len(x), -1)),
    "pixel": (["N", 6, 1, 1], [("GlobalAveragePool", ["x"], {})], {},
              lambda x: x.mean((2, 3), keepdims=True)),
}


@unittest.skipUnless(_c.FUNCTIONS["glcnn_onnx"], "there is no libglcnn_onnx")
class OnnxAxes(unittest.TestCase):
    """Outputs have the axes of the file, however their images lie."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        self.images = numpy.random.default_rng(5).random((3, 6, 4, 5), numpy.float32)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, batch):
        dims, steps, tensors, _ = AXES[name]
        nodes = [onnx_file.node(kind, inputs, ["y" if i == len(steps) - 1 else "t%d" % i], **more)
                 for i, (kind, inputs, more) in enumerate(steps)]
        onnx_file.write(self.file("m.onnx"), {"x": [batch, 6, 4, 5]}, {"y": dims}, nodes, tensors)

    def test_arrays_are_the_files(self):
        for name, (_, _, _, compute) in AXES.items():
            expected = compute(self.images)
            for batch in "N", 1:
                with self.subTest(name=name, batch=batch):
                    self.write(name, batch)
                    net = glcnn.onnx(self.file("m.onnx"))
                    net.save(self.file("m.glcnn"))
                    for read in net, glcnn.load(self.file("m.glcnn")):
                        for found in (read.predict(self.images),
                                      glcnn.Graph([read.output]).execute(self.images)[0]):
                            self.assertEqual(found.shape, expected.shape)
                            numpy.testing.assert_allclose(found, expected, atol=1e-6)
                        score = read.evaluate(self.images, expected,
                                              loss=glcnn.LossType.MEAN_SQUARED_ERROR)
                        self.assertLess(score.loss, 1e-9)

    def test_axes_of_one_number_beside_the_batch(self):
        for batch, sizes, count in ("N", [1, -1, 24, 5], 3), (1, [2, 1, 3, 4, 5], 1):
            with self.subTest(batch=batch):
                onnx_file.write(self.file("m.onnx"), {"x": [batch, 6, 4, 5]}, {"y": sizes},
                                [onnx_file.node("Reshape", ["x", "sizes"], ["y"])], {"sizes": sizes})
                found = glcnn.onnx(self.file("m.onnx")).predict(self.images[:count])
                numpy.testing.assert_array_equal(found, self.images[:count].reshape(sizes))

    def test_labels_of_another_shape(self):
        self.write("transposed", "N")
        net = glcnn.onnx(self.file("m.onnx"))
        with refused(self, Status.INVALID_ARGUMENT,
                     r'"y" is of shape \(3, 6, 4, 5\); the ONNX file has Nx4x5x6'):
            net.evaluate(self.images, self.images, loss=glcnn.LossType.MEAN_SQUARED_ERROR)

    def test_classes_that_are_no_channels(self):
        """Soft max cross entropy is of channels: those of the file's axis 1, or of what a soft max
        is of."""
        self.write("transposed", "N")
        net = glcnn.onnx(self.file("m.onnx"))
        with refused(self, Status.INVALID_ARGUMENT, 'axis 1 of output "y" is not its image.s channels'):
            net.evaluate(self.images, numpy.ones((3, 4, 5, 6)))
        self.write("soft_max", "N")
        net = glcnn.onnx(self.file("m.onnx"))
        scores, classes = net.predict(self.images), self.images.argmax(3)
        goals = [numpy.eye(5, dtype=numpy.float32)[c] for c in (classes, (classes + 1) % 5)]
        wanted = [-(numpy.log(scores) * g).sum() for g in goals]
        found = [net.evaluate(self.images, g).loss for g in goals]
        self.assertAlmostEqual(found[0] / found[1], wanted[0] / wanted[1], places=5)

    def test_classes_that_are_flattened(self):
        self.write("flat", "N")
        net = glcnn.onnx(self.file("m.onnx"))
        self.assertEqual(net.output.shape, (120, 1, 1))
        right = net.predict(self.images).argmax(1)
        self.assertEqual(net.evaluate(self.images, right).accuracy, 1)

    def test_inputs_of_other_ranks(self):
        onnx_file.write(self.file("m.onnx"), {"x": ["N", 6, 5]}, {"y": ["N", 6, 5]},
                        [onnx_file.node("Neg", ["x"], ["y"])])
        net, rows = glcnn.onnx(self.file("m.onnx")), self.images[:, :, 0]
        for found in net.predict(rows), glcnn.Graph([net.output]).execute(rows)[0]:
            numpy.testing.assert_array_equal(found, -rows)


    def write_pictures(self, dims, between=()):
        """x: N,H,W,C, which goes through operators, a transposition to N,C,H,W and a mean of pixels."""
        names = ["x"] + ["t%d" % i for i in range(len(between))]
        nodes = [onnx_file.node(kind, [names[i], "c"], [names[i + 1]])
                 for i, kind in enumerate(between)]
        nodes += [onnx_file.node("Transpose", [names[-1]], ["y"], perm=[0, 3, 1, 2]),
                  onnx_file.node("GlobalAveragePool", ["y"], ["p"]),
                  onnx_file.node("Flatten", ["p"], ["z"])]
        onnx_file.write(self.file("m.onnx"), {"x": dims}, {"z": ["N", 5]}, nodes,
                        {"c": numpy.arange(1, 6, dtype=numpy.float32)})

    def import_it(self, *more):
        return subprocess.run([os.environ["GLCNN_TOOL"], "import", "--force", self.file("m.onnx"), "-o",
                               self.file("m.glcnn"), *more], capture_output=True, text=True)

    def test_pictures_with_channels_last(self):
        images = self.images  # N,H,W,C
        for between, compute in ((), lambda x: x), (("Sub", "Div"), lambda x: (
                x - numpy.arange(1, 6)) / numpy.arange(1, 6)):
            self.write_pictures(["N", 6, 4, 5], between)
            self.assertIn("images of 4x6x5, 5 classes", self.import_it().stdout)
            expected = compute(images).mean((1, 2))
            for net in glcnn.onnx(self.file("m.onnx")), glcnn.load(self.file("m.glcnn")):
                self.assertEqual(net.images[0].shape, (5, 6, 4))
                for given in images, images.transpose(0, 3, 1, 2):
                    numpy.testing.assert_allclose(net.predict(given), expected, atol=1e-6)
        self.write_pictures(["N", "h", "w", "c"])
        self.assertIn("axis 1 open; option height sets it", self.import_it().stderr)
        done = self.import_it("--size", "4x6", "--channels", "5")
        self.assertIn("images of 4x6x5, 5 classes", done.stdout)

    def test_axes_that_are_taken_for_channels(self):
        onnx_file.write(self.file("m.onnx"), {"x": ["N", 6, 4, 3]}, {"y": ["N", 6, 4, 3]},
                        [onnx_file.node("Neg", ["x"], ["y"])])
        self.assertIn("axes are taken as N,C,H,W; a model with N,H,W,C", self.import_it().stdout)

    def test_more_channels_than_data_have(self):
        onnx_file.write(self.file("m.onnx"), {"x": ["N", 600, 4, 5]}, {"y": ["N", 600, 1, 1]},
                        [onnx_file.node("GlobalAveragePool", ["x"], ["y"])])
        self.assertIn("one number for all 600 channels", self.import_it("--mean", "1,2").stderr)
        done = self.import_it("--mean", "0.25", "--deviation", "0.5")
        self.assertIn("images of 5x4x600, 600 classes", done.stdout)
        self.assertIn("train, evaluate and predict take 512 at most", done.stdout)
        images = numpy.random.default_rng(5).random((3, 600, 4, 5), numpy.float32)
        net = glcnn.load(self.file("m.glcnn"))
        numpy.testing.assert_allclose(net.predict(images)[:, :, 0, 0],
                                      (images.mean((2, 3)) - 0.25) / 0.5, atol=1e-6)
        net.save(self.file("m.glcnn"))
        tool, folder = os.environ["GLCNN_TOOL"], self.path
        for words in ["export", "--force", self.file("m.glcnn"), "-o", self.file("n.onnx")], [
                "predict", self.file("m.glcnn"), self.file("m.onnx")], [
                "evaluate", self.file("m.glcnn"), folder], [
                "train", "--model", self.file("m.glcnn"), "--data", folder]:
            done = subprocess.run([tool, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0 if words[0] == "export" else 1, done.stderr)
            self.assertRegex(done.stdout + done.stderr,
                             "mean and deviation 0.25 / 0.5\n" if words[0] == "export" else
                             "channels is 600; expected 512 at most|600 channels; .* at most 512")


@unittest.skipUnless(_c.FUNCTIONS["glcnn_onnx"], "there is no libglcnn_onnx")
class OnnxOutputs(unittest.TestCase):
    """A model of several outputs: x and -x under two names each, and 2 x, which no filter follows."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        self.images = numpy.random.default_rng(5).random((3, 2, 4, 5), numpy.float32)
        self.expected = {"late": 2 * self.images, "a": -self.images, "b": -self.images,
                         "turned": -self.images.transpose(0, 2, 3, 1), "scores": -4 * self.images}
        nodes = [onnx_file.node("Add", ["x", "x"], ["late"]), onnx_file.node("Neg", ["x"], ["a"]),
                 onnx_file.node("Identity", ["a"], ["b"]),
                 onnx_file.node("Transpose", ["a"], ["turned"], perm=[0, 2, 3, 1]),
                 onnx_file.node("Mul", ["a", "four"], ["scores"])]
        onnx_file.write(self.file("m.onnx"), {"x": ["N", 2, 4, 5]}, {
            "scores": ["N", 2, 4, 5], "late": ["N", 2, 4, 5], "b": ["N", 2, 4, 5],
            "turned": ["N", 4, 5, 2], "a": ["N", 2, 4, 5]}, nodes,
            {"four": numpy.float32([4])})

    def file(self, name):
        return os.path.join(self.path, name)

    def expect_all(self, found):
        self.assertEqual(list(found), ["scores", "late", "b", "turned", "a"])
        for name, array in found.items():
            numpy.testing.assert_array_equal(array, self.expected[name], name)

    def test_all_come_by_name(self):
        net = glcnn.onnx(self.file("m.onnx"))
        self.expect_all(net.predict(self.images))
        subprocess.run([os.environ["GLCNN_TOOL"], "import", "--force", self.file("m.onnx"), "-o",
                        self.file("m.glcnn")], check=True, capture_output=True)
        imported = glcnn.load(self.file("m.glcnn"))
        self.expect_all(imported.predict(self.images))
        imported.save(self.file("n.glcnn"))
        self.expect_all(glcnn.load(self.file("n.glcnn")).predict(self.images))

    def test_one_is_chosen(self):
        net = glcnn.onnx(self.file("m.onnx"))
        with refused(self, Status.INVALID_ARGUMENT,
                     r'has 5 outputs, scores, late, .*net.outputs\["scores"\] selects one'):
            net.evaluate(self.images, self.images)
        net.output = net.outputs["turned"]
        numpy.testing.assert_array_equal(net.predict(self.images), self.expected["turned"])
        score = net.evaluate(self.images, self.expected["turned"],
                             loss=glcnn.LossType.MEAN_SQUARED_ERROR)
        self.assertEqual(score.loss, 0)

    def test_a_graph_is_cut(self):
        net = glcnn.onnx(self.file("m.onnx"), output="a")
        self.assertEqual([f.label for f in net.filters], ["a"])
        numpy.testing.assert_array_equal(net.predict(self.images), self.expected["a"])
        net.save_onnx(self.file("cut.onnx"))
        self.assertEqual(list(glcnn.onnx(self.file("cut.onnx")).outputs), ["a"])
        self.assertLess(os.path.getsize(self.file("cut.onnx")), 120)
        with refused(self, Status.INVALID_ARGUMENT,
                     'output is "c", a value that no node makes; .* are "scores", "late"'):
            glcnn.onnx(self.file("m.onnx"), output="c")


class ModelFiles(unittest.TestCase):
    """Files of the tool, and for it: what it predicts is what the package does."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        table = numpy.loadtxt(os.path.join(CLASSIFIER, "train.csv"), delimiter=",", dtype=int)
        self.labels = table[:, 0]
        self.images = table[:, 1:].reshape(-1, 1, 8, 8).astype(numpy.uint8)
        numpy.save(self.file("images.npy"), self.images)
        with open(self.file("names"), "w") as file:
            file.write("ant\nbee\ncat\ndog\neel\n")

    def file(self, name):
        return os.path.join(self.path, name)

    def table(self):
        """A folder that the tool trains on."""
        os.mkdir(self.file("table"))
        for name in "train", "val":
            numpy.savetxt(self.file("table/%s.csv" % name), numpy.column_stack(
                [self.labels, self.images.reshape(len(self.images), -1)]), "%d", ",")
        return self.file("table")

    def tool(self, *words):
        return subprocess.run([os.environ["GLCNN_TOOL"], *words], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def predicted(self, name):
        told = json.loads(self.tool("predict", "--json", self.file(name), self.file("images.npy")))
        return numpy.array([list(image["probabilities"].values()) for image in told])

    def imported(self):
        self.tool("import", os.path.join(CLASSIFIER, "classifier.onnx"), "-o", self.file("a.glcnn"),
                  "--class-names", self.file("names"), "--mean", "0.25", "--deviation", "0.5",
                  "--resize", "10")
        return glcnn.load(self.file("a.glcnn"))

    @unittest.skipUnless(_c.FUNCTIONS["glcnn_onnx"], "there is no libglcnn_onnx")
    def test_the_tools_files_are_read_and_written(self):
        net = self.imported()
        self.assertEqual(net.classes, ["ant", "bee", "cat", "dog", "eel"])
        self.assertEqual((net.images[0].shape, net.mean.tolist(), net.deviation.tolist()),
                         ((1, 8, 8), [0.25], [0.5]))
        numpy.testing.assert_allclose(net.predict(self.images), self.predicted("a.glcnn"), atol=1e-6)
        before = net.predict(self.images)
        net.train(self.images, self.labels, epochs=2)
        net.save(self.file("b.glcnn"))
        self.assertEqual((net.resize, glcnn.load(self.file("b.glcnn")).resize), (10, 10))
        expected = net.predict(self.images)
        self.assertGreater(abs(expected - before).max(), 0.01)
        numpy.testing.assert_allclose(self.predicted("b.glcnn"), expected, atol=1e-6)
        numpy.testing.assert_array_equal(glcnn.load(self.file("b.glcnn")).predict(self.images),
                                         expected)
        self.tool("export", self.file("b.glcnn"), "-o", self.file("b.onnx"))
        onnx = glcnn.onnx(self.file("b.onnx"))
        self.assertEqual([f.label for f in onnx.filters], [f.label for f in net.filters])
        normalised = (self.images / 255 - 0.25) / 0.5
        numpy.testing.assert_allclose(onnx.predict(normalised), expected, atol=1e-5)

    @unittest.skipUnless(_c.FUNCTIONS["glcnn_onnx"], "there is no libglcnn_onnx")
    def test_a_network_that_is_no_classifier(self):
        self.tool("import", os.path.join(CLASSIFIER, "two.onnx"), "-o", self.file("two.glcnn"))
        net = glcnn.load(self.file("two.glcnn"))
        self.assertEqual(net.classes, [])
        net.output = net.filter("body").result  # pixels, which are trained towards others
        goals = numpy.zeros((40, 16, 4, 4), numpy.float32)
        losses = [s.loss for s in net.train(self.images, goals, epochs=3,
                                            loss=glcnn.LossType.MEAN_SQUARED_ERROR)]
        self.assertLess(losses[-1], losses[0])
        net.save(self.file("two.glcnn"))
        self.tool("export", self.file("two.glcnn"), "-o", self.file("two.onnx"))
        back = glcnn.onnx(self.file("two.onnx"))
        back.output = back.filter("body").result
        numpy.testing.assert_allclose(back.predict(self.images), net.predict(self.images),
                                      atol=1e-5)

    def test_slopes_are_trained_and_kept(self):
        def bent(x):
            x = x.fully_connected(output_feature_channels=6)
            x = x.node("neuron", neuron_type="prelu").set(label="each")
            x = x.node("neuron", neuron_type="scale", shares_data=1).set(label="all")
            return x.fully_connected(output_feature_channels=5)
        adam = glcnn.Optimizer("adam", learning_rate=0.01)
        net = glcnn.network((1, 8, 8), bent, seed=2)
        net.filter("all").set_vector("neuron_data", [0.5])
        net.train(self.images, self.labels, optimizer=adam)
        net.save(self.file("bent.glcnn"))
        again = glcnn.load(self.file("bent.glcnn"))
        for name, count, start in ("each", 6, 0), ("all", 1, 0.5):
            slopes = net.filter(name).vector("neuron_data")
            self.assertEqual(len(slopes), count)
            self.assertTrue((slopes != start).any())
            numpy.testing.assert_array_equal(again.filter(name).vector("neuron_data"), slopes)
        before = net.filter("all").vector("neuron_data")
        net.save_onnx(self.file("bent.onnx"))
        numpy.testing.assert_allclose(glcnn.onnx(self.file("bent.onnx")).predict(self.images),
                                      net.predict(self.images), atol=1e-5)
        self.tool("train", "--model", self.file("bent.glcnn"), "--data", self.table(), "--train",
                  "last", "--epochs", "1", "--batch", "8", "--out", self.file("last.glcnn"))
        numpy.testing.assert_array_equal(
            glcnn.load(self.file("last.glcnn")).filter("all").vector("neuron_data"), before)

    def test_one_value_a_channel_does_not_train(self):
        def squeezed(x):
            x = x.fully_connected(output_feature_channels=6)
            x = x.batch_normalization(1e-5).set(label="squeeze.bn")
            return x.fully_connected(output_feature_channels=5)
        net = glcnn.network((1, 8, 8), squeezed, seed=2)
        with refused(self, Status.INVALID_ARGUMENT, "squeeze.bn .*one value for each channel"):
            net.train(self.images, self.labels, batch=1)
        net.train(self.images, self.labels, batch=2)
        net.predict(self.images[:1], batch=1)
        net.save(self.file("squeezed.glcnn"))
        said = subprocess.run([os.environ["GLCNN_TOOL"], "train", "--model",
                               self.file("squeezed.glcnn"), "--data", self.table(), "--batch", "1",
                               "--epochs", "1"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"squeeze.bn (batch_normalization): the batch has one value", said.stdout)

    def test_frozen_numbers_are_listed(self):
        learned = os.path.join(CLASSIFIER, "..", "learned")
        frozen = glcnn.onnx(os.path.join(learned, "frozen.onnx"))
        self.assertEqual(list(frozen.frozen), ["divisor", "power", "epsilon", "bound", "divisors"])
        self.assertEqual(frozen.frozen["power"], "an exponent does not train")
        frozen.save(self.file("frozen.glcnn"))
        self.assertEqual(glcnn.load(self.file("frozen.glcnn")).frozen, frozen.frozen)
        self.assertEqual(glcnn.onnx(os.path.join(learned, "affine.onnx")).frozen, {})
        self.assertEqual(small_network().frozen, {})

    def test_the_tool_goes_on_with_a_network(self):
        net = glcnn.network((1, 8, 8), lambda x: small(x.batch_normalization(1e-5)), seed=2)
        net.save(self.file("new.glcnn"))  # its normalisation has met no image yet
        net.train(self.images, self.labels % 4)
        net.mean = 0.1
        net.save(self.file("c.glcnn"))
        scores = net.predict(self.images)
        expected = numpy.exp(scores) / numpy.exp(scores).sum(1, keepdims=True)
        numpy.testing.assert_allclose(self.predicted("c.glcnn"), expected, atol=1e-5)
        numpy.savez(self.file("train.npz"), images=self.images, labels=self.labels)
        self.tool("train", "--model", self.file("c.glcnn"), "--data", self.file("train.npz"),
                  "--out", self.file("d.glcnn"), "--epochs", "1", "--batch", "8", "--train", "last")
        tuned = glcnn.load(self.file("d.glcnn"))
        self.assertEqual(tuned.output.shape, (5, 1, 1))
        self.assertAlmostEqual(float(tuned.mean[0]), 0.1, places=6)

    def test_files_that_lie(self):
        net = small_network()
        for name, text in ("channels", "one"), ("classes", "["), ("mean", "x"):
            net.train(*quarters(8))
            entries = {"channels": "1", "width": "8", "height": "8", name: text}
            glcnn.files.save_with(net, self.file("e.glcnn"), entries)
            with refused(self, Status.MALFORMED_DATA, "e.glcnn: its record of images"):
                glcnn.load(self.file("e.glcnn"))


class Lives(unittest.TestCase):
    def test_a_device_ends_behind_its_objects(self):
        device = glcnn.Device()
        image = glcnn.image(numpy.ones((1, 1, 2, 2)), device)
        net = glcnn.network((1, 8, 8), small, device=device)
        net.train(*quarters(8))
        kept = weakref.ref(device), weakref.ref(net)
        del device
        gc.collect()
        self.assertEqual(image.read().sum(), 4)
        self.assertEqual(net.predict(quarters(2)[0]).shape, (2, 4))
        node = net.output
        del net
        gc.collect()
        self.assertEqual(node.shape, (4, 1, 1))  # a node keeps its network
        del node, image
        gc.collect()
        self.assertEqual([k() for k in kept], [None, None])

    def test_what_is_given_up_is_destroyed(self):
        device, destroyed = glcnn.Device(), []
        image = glcnn.image(numpy.ones((1, 1, 2, 2)), device)
        pointer = image.pointer
        thread = threading.Thread(target=lambda images: images.clear(), args=([image],))
        del image
        thread.start()
        thread.join()
        device.give_up(lambda pointer: destroyed.append(threading.get_ident()), pointer)
        self.assertTrue(pointer)
        self.assertEqual(len(device._given_up), 2)
        device.wait()
        self.assertFalse(pointer)  # which the library does as it destroys
        self.assertEqual(destroyed, [threading.get_ident()])

    def test_a_device_belongs_to_a_thread(self):
        device, said = glcnn.Device(), []
        image = glcnn.image(numpy.ones((1, 1, 2, 2)), device)

        def elsewhere(take):
            try:
                if take:
                    device.acquire()
                said.append(image.read().sum())
                device.release()
            except glcnn.Error as error:
                said.append(error)

        def run(take):
            thread = threading.Thread(target=elsewhere, args=(take,))
            thread.start()
            thread.join()

        run(take=False)
        self.assertEqual(said[0].status, Status.INVALID_STATE)
        self.assertIn("belongs to another thread", str(said[0]))
        device.release()
        run(take=True)
        self.assertEqual(said[1], 4)
        device.acquire()
        self.assertEqual(image.read().sum(), 4)

    def test_each_thread_has_a_default_device(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(
            (glcnn.default_device(), glcnn.image(numpy.ones((1, 1, 2, 2))).read().sum())))
        thread.start()
        thread.join()
        self.assertEqual(found[0][1], 4)
        self.assertIsNot(found[0][0], glcnn.default_device())

    def test_devices(self):
        self.assertTrue(any(d.usable for d in glcnn.devices()))
        with refused(self, Status.NO_DEVICE, "no-such-driver"):
            glcnn.Device("no-such-driver")
        lines = []
        device = glcnn.Device(log=lambda level, text: lines.append((level, text)))
        with self.assertRaises(glcnn.Error):
            device.check(glcnn._library.c.glcnn_image_create(device.pointer, None, None))
        self.assertEqual(lines[-1][0], glcnn.LogLevel.ERROR)
        self.assertIn(device.renderer, repr(device))


if __name__ == "__main__":
    unittest.main()
