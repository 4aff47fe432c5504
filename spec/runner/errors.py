"""The exceptions of a runner itself, and any exception as data."""

import os
import sys
from typing import Any

LINE = 200  # letters of a text in an answer


class NoGradient(Exception):
    """A library has no gradient for an input, because the result does not depend on it."""


class Absent(Exception):
    """A library, a device, a way of compiling, or a name is not there; the message says which."""


class Ended(Exception):
    """A program that a runner has started ended by itself. code: how, negative for a signal."""

    def __init__(self, code: int) -> None:
        how = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
        super().__init__(how)
        self.code = code

    def likewise(self) -> None:
        """End this process in the same way."""
        if self.code < 0:
            os.kill(os.getpid(), -self.code)  # of which this process may know nothing
        os._exit(self.code if self.code >= 0 else 1)


def refusal(error: BaseException) -> dict[str, Any]:
    """An exception as data: its type, the first line of what it says, and what kind it is."""
    if isinstance(error, Ended):
        error.likewise()
    if lost(error):
        print(f"DeviceLost: {error}".splitlines()[0], file=sys.stderr, flush=True)
        os._exit(1)
    line = (str(error).splitlines() or [""])[0][:LINE]
    kinds = (NotImplementedError, NoGradient, Absent, AttributeError, ModuleNotFoundError)
    kind = next((x.__name__ for x in kinds if isinstance(error, x)), "")
    missing = getattr(error, "name", None) if kind == "ModuleNotFoundError" else None
    return {"type": type(error).__name__, "line": line, "kind": kind, "missing": missing}


def lost(error: BaseException) -> bool:
    """Whether the device that raised this answers nobody any more, as CUDA after a bad address."""
    torch = sys.modules.get("torch")
    if torch is None or "CUDA error" not in str(error):
        return False
    try:
        torch.cuda.synchronize()
    except Exception:
        return True
    return False


def in_a_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,  # noqa: ARG001 - Python passes it
) -> str:
    """A warning as one line, without the line of code."""
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"
