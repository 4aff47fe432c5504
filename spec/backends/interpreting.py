"""Triton's interpreter, told to replace in its language what is not replaced yet, and no more.

It runs kernels with functions of NumPy in the place of those that a compiler would know. For these
it looks through the whole language at every call of one kernel by another, though while a launched
kernel runs, nothing is left to replace: two fifths of the time of a certificate, as measured.
"""

import inspect
import sys
from typing import Any

TOLD = "told_to_look_once"


def quicken() -> None:
    """Have it look where anything is left; do nothing where it is not loaded, or was told so."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    if interpreter is None or hasattr(interpreter, TOLD):
        return
    kernel, language = interpreter.InterpretedFunction, interpreter.tl
    looked = kernel.__call__

    def left(seen: Any) -> bool:
        """Whether a module that sees the language, or its core, sees it as a compiler does."""
        parts = (x for x in seen.values() if inspect.ismodule(x) and x in (language, language.core))
        return any(language.core.is_builtin(part.load) for part in parts)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if left(self.fn.__globals__):
            return looked(self, *args, **kwargs)
        try:
            return self.rewrite()(*args, **kwargs)
        except Exception as error:
            raise interpreter.InterpreterError(repr(error)) from error

    kernel.__call__ = call
    setattr(interpreter, TOLD, True)
