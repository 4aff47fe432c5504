"""Arrays of NumPy."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..chance import Chance
from ..errors import Absent
from ..memory import FORMATS, name_of_format, strided

NAMES = {dtype: name for name, dtype in FORMATS.items() if name != "bfloat16"}


class Numpy(Chance):
    """NumPy on the CPU, which has no gradients, and compiles nothing."""

    name = "numpy"
    ways: tuple[str, ...] = ()

    def placed(self, flat: Any, told: Any) -> tuple[Any, Any]:
        """The buffer and the view of an array that lies in the shared block."""
        return flat, strided(flat, told)

    def told(self, x: Any) -> dict[str, Any] | None:
        """Format, shape and place of an array; None for anything else, a subclass among them."""
        if type(x) is not np.ndarray:
            return None
        name = NAMES.get(x.dtype) or name_of_format(x.dtype)
        return {"dtype": name, "shape": x.shape, "device": "cpu", "grad": None}

    def raw(self, x: Any) -> Any:
        """The numbers of an array."""
        return np.ascontiguousarray(x)

    def running(self, dtype: str) -> AbstractContextManager[Any]:  # noqa: ARG002
        """The context in which calls are made for a dtype."""
        return np.errstate(all="ignore")

    def recording(self) -> AbstractContextManager[Any]:
        """The context in which gradients are recorded: any, as there are none."""
        return nullcontext()

    def overlap(self, x: Any, y: Any) -> bool:
        """Whether two arrays may share memory."""
        return bool(np.may_share_memory(x, y))

    def integers(self, flat: Any) -> Any:
        """Whole numbers as an array of 64-bit integers."""
        return flat.copy()

    def format(self, name: str) -> Any:
        """A format, as the library calls it."""
        return np.dtype(name)


def library(device: str) -> Numpy:
    """NumPy. Raises Absent for a device other than the CPU."""
    if device != "cpu":
        raise Absent(f"the NumPy backend has no device {device!r}")
    return Numpy()
