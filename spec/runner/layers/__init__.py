"""Layers in a runner: how each library makes, loads and differentiates one."""

import importlib
from types import ModuleType


def of_layers(library: str) -> ModuleType:
    """The functions of a library for layers."""
    return importlib.import_module(f"{__name__}.for_{library}")
