"""What a certificate was made with."""

import platform
import sys
from collections.abc import Mapping
from importlib import metadata

import numpy as np


def versions() -> Mapping[str, str]:
    """Python, NumPy, the libraries that were loaded, and the machine."""
    found = {"python": platform.python_version(), "numpy": np.__version__}
    for name in ("hypothesis", "torch", "jax"):
        if name in sys.modules:
            found[name] = metadata.version(name)
    return {**found, "platform": f"{platform.system()} {platform.machine()}"}
