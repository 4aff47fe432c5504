"""The array library of a function or a class, inferred where nobody says it."""

import functools
import types

import numpy as np
import pytest
import torch

from spec.backends import inferred
from tests import targets

pytestmark = pytest.mark.torch
sdpa = torch.nn.functional.scaled_dot_product_attention


def test_the_backend_is_told_from_imports():
    assert inferred(sdpa)[0] == "torch"
    assert inferred(targets.right)[0] == "numpy"
    assert inferred(functools.partial(sdpa, scale=1.0))[0] == "torch"


def test_the_backend_of_a_class_is_told_from_the_class_before_its_module():
    """This module imports NumPy and torch, in whatever order."""

    class OfArrays:
        def __call__(self, x):
            return np.array(x)

    class Annotated:
        def __call__(self, x: np.ndarray) -> "np.ndarray":
            return x

    class OfTensors(Annotated):
        def extend(self, x):
            return torch.as_tensor(x)

    class Module(torch.nn.Module):
        def forward(self, x):
            return x / np.sqrt(2)

    class Silent:
        @property
        def width(self):
            return 1

    first = {x.__name__: inferred(x)[0] for x in (OfArrays, Annotated, OfTensors, Module, Silent)}
    assert first == {
        "OfArrays": "numpy",
        "Annotated": "numpy",
        "OfTensors": "torch",
        "Module": "torch",
        "Silent": "torch",
    }
    assert inferred(OfArrays) == ("numpy", "torch")
    assert inferred(OfArrays()) == inferred(OfArrays)


def test_a_function_of_another_module_tells_it_before_the_imports_of_the_own():
    def adapted(q, k, v):
        return helped(q, k, v)  # noqa: F821 - given below

    def with_helpers(**known):
        return types.FunctionType(adapted.__code__, {"np": np, **known}, "adapted")

    assert inferred(with_helpers())[0] == "numpy"
    assert inferred(with_helpers(helped=targets.right)) == ("numpy",)
    assert inferred(with_helpers(helped=uses_torch)) == ("torch", "numpy")


def uses_torch(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v
