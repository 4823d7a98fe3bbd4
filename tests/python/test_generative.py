"""Networks that make pictures and points: a generative adversarial network, whose two networks are
trained in turns, and a variational autoencoder. test_python.sh runs them."""
import unittest

import numpy

import glcnn


def dense(x, channels):
    return x.fully_connected(output_feature_channels=channels)


class Adversaries(unittest.TestCase):
    """A painter makes points of noise; a judge tells them from points of a normal distribution."""
    MEAN = numpy.float32([1.5, -1])
    MIX = numpy.float32([[0.8, 0], [-0.5, 0.4]])  # of two normal numbers; the covariance is MIX MIX'

    def setUp(self):
        def painter(noise):
            return dense(dense(noise, 16).neuron_relu(), 2)

        def judge(points):
            x = dense(points, 16).neuron_relu(0.2)
            return dense(dense(x, 16).neuron_relu(0.2), 1)

        self.random = numpy.random.default_rng(0)
        self.painter = glcnn.network((4, 1, 1), painter, seed=1)
        self.judge = glcnn.network((2, 1, 1), judge, seed=2)
        self.both = glcnn.network((4, 1, 1), lambda noise: self.judge(
            self.painter(noise), trains=False), seed=3)

    def noise(self, count):
        return self.random.normal(size=(count, 4, 1, 1)).astype(numpy.float32)

    def points(self, count):
        return self.MEAN + self.random.normal(size=(count, 2)).astype(numpy.float32) @ self.MIX.T

    def turn(self, rate, count=64):
        """The judge learns, and then the painter what the judge takes for real."""
        def adam(**more):
            return glcnn.Optimizer("adam", learning_rate=rate, beta1=0.5, **more)
        made = self.painter.predict(self.noise(count), batch=count)
        points = numpy.concatenate([self.points(count), made])[:, :, None, None]
        self.judge.train(points, numpy.repeat([1, 0], count), batch=2 * count, loss="bce",
                         optimizer=adam(weight_decay=1))
        self.both.train(self.noise(count), numpy.ones(count), batch=count, loss="bce",
                        optimizer=adam())

    def distances(self):
        """Of means, and of covariances as a part of the real one."""
        made = self.painter.predict(self.noise(2000), batch=500)
        real = self.MIX @ self.MIX.T
        return (numpy.linalg.norm(made.mean(0) - self.MEAN),
                numpy.linalg.norm(numpy.cov(made.T) - real) / numpy.linalg.norm(real))

    def test_the_painters_points_come_near(self):
        self.assertGreater(self.distances()[0], 1)
        rounds = 200
        for step in range(rounds):
            self.turn(0.02 * (1 - step / rounds))
        mean, covariance = self.distances()
        self.assertLess(mean, 0.4)
        self.assertLess(covariance, 0.4)

    def test_networks_share_their_weights(self):
        def weights(net):
            return [f.vector("weights") for f in net.filters if f.name == "fully_connected"]

        def same(a, b):
            return all((x == y).all() for x, y in zip(a, b))

        noise = self.noise(8)
        painted = self.painter.predict(noise)[:, :, None, None]
        numpy.testing.assert_array_equal(self.both.predict(noise), self.judge.predict(painted))
        painter, judge = weights(self.painter), weights(self.judge)
        self.assertTrue(same(painter + judge, weights(self.both)))
        self.both.train(noise, numpy.ones(8), loss="bce")
        self.assertTrue(same(judge, weights(self.judge)))
        self.assertFalse(same(painter, weights(self.painter)))
        self.assertTrue(same(weights(self.painter) + judge, weights(self.both)))
        painter = weights(self.painter)
        self.judge.train(painted, numpy.zeros(8), loss="bce")
        self.assertTrue(same(painter, weights(self.painter)))
        self.assertFalse(same(judge, weights(self.judge)))
        labels = [f.label for f in self.both.filters]
        self.assertEqual(len(labels), len(set(labels)))
        with self.assertRaisesRegex(glcnn.Error, "called with an image node for each of image, and "
                                    "found ndarray; net.predict"):
            self.judge(painted)


class Autoencoder(unittest.TestCase):
    """Pictures of 8x8 with a bright spot anywhere, by way of four numbers."""
    LATENT = 4

    @staticmethod
    def spots(count, seed):
        random = numpy.random.default_rng(seed)
        y, x = random.uniform(1, 6, (2, count, 1, 1))
        rows, columns = numpy.mgrid[:8, :8]
        found = numpy.exp(-((rows - y) ** 2 + (columns - x) ** 2) / 2)
        return found[:, None].astype(numpy.float32)

    def layers(self, image, noise):
        x = dense(image, 48).neuron_relu()
        mean, log_variance = dense(x, self.LATENT), dense(x, self.LATENT)
        code = mean + (log_variance * 0.5).neuron_exponential() * noise
        scores = dense(dense(code, 48).neuron_relu(), 64).reshape(8, 8, 1)
        return {"scores": scores, "mean": mean, "log_variance": log_variance}

    @staticmethod
    def bound(outputs, pictures):
        """What the evidence lower bound is the negative of: nats of an image."""
        mean, log_variance = outputs["mean"], outputs["log_variance"]
        divergence = (mean * mean + log_variance.neuron_exponential() - log_variance - 1) * 0.5
        return [glcnn.Loss("bce", reduction="sum")(outputs["scores"], pictures),
                glcnn.Loss("value", reduction="sum")(divergence)]

    def batches(self, pictures, seed, count=32):
        """Without end, each with noise of its own."""
        random = numpy.random.default_rng(seed)
        while True:
            chosen = pictures[random.integers(0, len(pictures), count)]
            yield {"image": chosen, "noise": self.noise(count, random)}, chosen

    def noise(self, count, random):
        return random.normal(size=(count, self.LATENT, 1, 1)).astype(numpy.float32)

    def given(self, pictures, seed=5):
        noise = self.noise(len(pictures), numpy.random.default_rng(seed))
        return {"image": pictures, "noise": noise}

    def test_the_bound_rises_and_pictures_come_back(self):
        net = glcnn.network({"image": (1, 8, 8), "noise": (self.LATENT, 1, 1)}, self.layers, seed=1)
        others = self.spots(200, 1)
        history = net.train(self.batches(self.spots(500, 0), 2), epochs=4, steps=60,
                            loss=self.bound, optimizer=glcnn.Optimizer("adam", learning_rate=0.01),
                            schedule="cosine", validation=(self.given(others), others))
        losses = history.values("validation_loss")
        found = {name: array.astype(float) for name, array in net.predict(self.given(others)).items()}
        scores, mean, variance = found["scores"], found["mean"], numpy.exp(found["log_variance"])
        divergence = (mean ** 2 + variance - found["log_variance"] - 1).sum() / 2 / len(others)
        entropy = (numpy.logaddexp(0, scores) - scores * others).sum() / len(others)
        self.assertAlmostEqual(losses[-1], entropy + divergence, places=3)
        average = self.spots(500, 0).mean(0)
        one = -(others * numpy.log(average) + (1 - others) * numpy.log(1 - average)).sum()
        self.assertLess(losses[-1], one / len(others) - 2)  # than one picture for all
        self.assertLess(losses[-1], losses[0] - 0.5)
        self.assertGreater(divergence, 1.5)
        pictures = 1 / (1 + numpy.exp(-scores))
        self.assertGreater(numpy.corrcoef(pictures.ravel(), others.ravel())[0, 1], 0.8)


if __name__ == "__main__":
    unittest.main()
