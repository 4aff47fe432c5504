"""The arrays that a layer without a `state_dict` has as attributes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

DEEP = 2  # attributes of attributes


def arrays(owner: Any, before: str = "", deep: int = DEEP) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The paths of the arrays that an object has, and their shapes."""
    inner = owner if isinstance(owner, Mapping) else getattr(owner, "__dict__", {})
    for name, x in inner.items():
        path, several = f"{before}{name}", isinstance(x, list | tuple) and len(x) > 0
        if isinstance(x, np.ndarray):
            yield path, x.shape
        elif several and all(isinstance(each, np.ndarray) for each in x):
            yield path, (len(x), *x[0].shape)
        elif several and deep > 1:
            found = arrays(x[0], f"{path}.*.", deep - 1)
            yield from ((there, (len(x), *shape)) for there, shape in found)
        elif deep > 1:
            yield from arrays(x, f"{path}.", deep - 1)
