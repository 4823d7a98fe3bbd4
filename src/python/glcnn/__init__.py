"""GLCNN: convolutional networks trained through OpenGL ES 3.1 compute.

    import glcnn

    def layers(x):
        x = x.convolution(kernel_width=3, kernel_height=3, output_feature_channels=8).neuron_relu()
        x = x.pooling_max(2, 2, 2, 2)
        return x.fully_connected(output_feature_channels=10)

    net = glcnn.network((1, 28, 28), layers, seed=1)
    net.train(images, labels, epochs=5, optimizer=glcnn.Optimizer("adam", learning_rate=0.002))
    classes = net.predict(more).argmax(1)

Arrays are NumPy's, images [N][C][H][W]. What fails raises glcnn.Error, with the library's status and
its message. A device and all that is made on it belong to one thread at a time; each thread has a
default device of its own. The headers in include/glcnn are the manual of what is behind all this.

Room: The package for Python. Uses only the public headers, through ctypes.
"""
from ._c import (ChannelFormat, EdgeMode, LogLevel, LossType, NeuronType, Padding, ReductionType,
                 Status, TrainEventKind, TrainingStyle)
from ._c import glcnn_neuron_descriptor as NeuronDescriptor
from ._library import Error, version
from .dataset import Dataset
from .device import Candidate, Device, default_device, devices
from .graph import Graph, TrainingGraph
from .image import Image, image
from .loss import Loss
from .metrics import History, Score
from .model import Answer, Evaluation, evaluate
from .network import Network, load, network, onnx
from .node import FilterNode, ImageNode
from .optimizer import Optimizer
from .run import run
from .trainer import Event, Setting, Trained, Trainer, settings, train
from . import kernels, tasks

__all__ = ["Answer", "Candidate", "ChannelFormat", "Dataset", "Device", "EdgeMode", "Error",
           "Evaluation", "Event", "FilterNode", "Graph", "History", "Image", "ImageNode",
           "LogLevel", "Loss", "LossType", "Network", "NeuronDescriptor", "NeuronType",
           "Optimizer", "Padding", "ReductionType", "Score", "Setting", "Status", "TrainEventKind",
           "Trained", "Trainer", "TrainingGraph", "TrainingStyle", "default_device", "devices",
           "evaluate", "image", "kernels", "load", "network", "onnx", "run", "settings", "tasks",
           "train", "version"]
