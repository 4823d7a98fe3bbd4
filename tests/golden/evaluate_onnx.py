#!/usr/bin/env python3
"""What a model of `glcnn export` gives in another program; for tests/onnx/test_round.sh.

  evaluate_onnx.py pictures FOLDER WIDTH HEIGHT CLASSES   writes bars, parts train and val, as .npz
  evaluate_onnx.py check EVALUATOR                        fails, and says why, where there is none
  evaluate_onnx.py compare EVALUATOR MODEL.onnx PICTURES.npz PREDICTED.json EVALUATED.json

EVALUATOR is onnx, for onnx.reference.ReferenceEvaluator, or torch, for model_steps.py. PREDICTED and
EVALUATED are what `glcnn predict --json` and `glcnn evaluate --json` say of the pictures, which are
normalised to -1 .. 1. Compared are every probability, to 1e-5, and the accuracy, to the last
picture, which is better than chance."""
import json
import pathlib
import sys

import numpy as np

BOUND = 1e-5


def write_pictures(folder, width, height, classes):
    """Bars of a direction and a width for each class, under noise."""
    random = np.random.RandomState(4)
    y, x = np.mgrid[:int(height), :int(width)]
    for part, count in ("train", 48), ("val", 24):
        labels = np.arange(count) % int(classes)
        bars = np.stack([((x, y)[n % 2] + random.randint(8)) // (2 + n // 2) % 2 for n in labels])
        noise = random.randint(0, 196, (count, 3, int(height), int(width)))
        np.savez(pathlib.Path(folder) / f"{part}.npz", labels=labels,
                 images=(bars[:, None] * 60 + noise).astype(np.uint8))


def old_normalization():
    """BatchNormalization to opset 13 as it is in inference: onnx.reference mixes running statistics
    with the batch's there, by a momentum that is of training alone."""
    from onnx.reference.op_run import OpRun
    from onnx.reference.ops.op_batch_normalization import _batchnorm_test_mode

    class BatchNormalization(OpRun):
        def _run(self, x, scale, bias, mean, variance, epsilon=None, **others):
            return (_batchnorm_test_mode(x, scale, bias, mean, variance, epsilon),)
    return BatchNormalization


def by_onnx(path, images):
    import onnx
    from onnx.reference import ReferenceEvaluator
    opset = next(o.version for o in onnx.load(path).opset_import if not o.domain)
    model = ReferenceEvaluator(path, new_ops=[old_normalization()] if opset < 14 else None)
    return np.concatenate([model.run(None, {model.input_names[0]: image[None]})[0]
                           for image in images])


def by_torch(path, images):
    import onnx
    import torch
    import model_steps
    model = onnx.load(path)
    values = model_steps.doubles(model_steps.constants(model))
    scores = model_steps.scores(model, values, torch.tensor(images).double(), False)
    return scores.detach().softmax(1).numpy()


def probabilities(scores):
    """As they are where they are such already."""
    if np.allclose(scores.sum(1), 1, atol=1e-4) and (scores >= 0).all():
        return scores
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def compare(evaluator, model, pictures, predicted, evaluated):
    with np.load(pictures) as data:
        images = (data["images"].astype(np.float32) / 255 - 0.5) / 0.5
        labels = data["labels"]
    made = probabilities({"onnx": by_onnx, "torch": by_torch}[evaluator](model, images))
    with open(predicted) as file:
        said = np.array([list(image["probabilities"].values()) for image in json.load(file)])
    with open(evaluated) as file:
        accuracy = json.load(file)["accuracy"]
    error, right = np.abs(made - said).max(), int((made.argmax(1) == labels).sum())
    print(f"{evaluator}: {len(labels)} pictures, probabilities within {error:.1e} of {BOUND:.0e}, "
          f"accuracy {right / len(labels):.4f} of {accuracy:.4f}")
    learned = accuracy > 1.2 / made.shape[1]  # of what chance gives
    return (made.shape == said.shape and error <= BOUND and learned and
            right == round(accuracy * len(labels)))


if __name__ == "__main__":
    if sys.argv[1] == "pictures":
        write_pictures(*sys.argv[2:])
    elif sys.argv[1] == "check":
        __import__({"onnx": "onnx.reference", "torch": "torch"}[sys.argv[2]])
        __import__("onnx")
    else:
        sys.exit(not compare(*sys.argv[2:]))
