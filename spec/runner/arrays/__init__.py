"""The array libraries of a runner: how each makes, reads and differentiates its arrays."""

import importlib
from typing import Any

from ..errors import Absent


def library(name: str, device: str) -> Any:
    """The array library `name` on `device`. Raises Absent: it, or the device, is not there."""
    try:
        module = importlib.import_module(f"{__name__}.for_{name}")
    except ImportError as error:
        raise Absent(f"the {name} backend cannot be loaded: {error}") from None
    return module.library(device)
