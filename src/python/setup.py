"""Builds the package, with what generate.py makes of the headers; pyproject.toml has the rest."""
import os
import sys

import setuptools
from setuptools.command.build_py import build_py

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")


class BuildWithGenerated(build_py):
    def run(self):
        super().run()
        generate.write(INCLUDE, os.path.join(self.build_lib, "glcnn"))

    def get_outputs(self, include_bytecode=1):
        made = [os.path.join(self.build_lib, "glcnn", name) for name in generate.FILES]
        return super().get_outputs(include_bytecode) + made


setuptools.setup(version=generate.version(INCLUDE), cmdclass={"build_py": BuildWithGenerated})
