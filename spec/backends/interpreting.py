"""Triton's interpreter, told to replace in its language what is not replaced yet, and no more.

It runs kernels with functions of NumPy in the place of those that a compiler would know. For these
it looks through the whole language at every call of one kernel by another, though while a launched
kernel runs, nothing is left to replace: two fifths of the time of a certificate, as measured. And
it writes a table of all formats to look one up, for every number that it makes.
"""

import inspect
import os
import sys
from typing import Any

INTERPRETER = "triton.runtime.interpreter"
TOLD = "told_to_look_once"
SEES = "modules_of_the_language"  # that a kernel sees, found when it is called first


def interprets() -> bool:
    """Whether kernels in Triton are interpreted here, where every call takes long."""
    return INTERPRETER in sys.modules and os.environ.get("TRITON_INTERPRET", "0") != "0"


def quicken() -> None:
    """Have it look where anything is left; do nothing if it is not loaded, or already does so."""
    interpreter = sys.modules.get(INTERPRETER)
    if interpreter is None or hasattr(interpreter, TOLD):
        return
    kernel, language = interpreter.InterpretedFunction, interpreter.tl
    looked, format_of = kernel.__call__, interpreter._get_np_dtype
    formats: dict[str, Any] = {}

    def left(self: Any) -> bool:
        """Whether a module that sees the language, or its core, sees it as a compiler does."""
        if not hasattr(self, SEES):
            known = [x for x in self.fn.__globals__.values() if inspect.ismodule(x)]
            setattr(self, SEES, [x for x in known if x in (language, language.core)])
        return any(language.core.is_builtin(part.load) for part in getattr(self, SEES))

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if left(self):
            return looked(self, *args, **kwargs)
        try:
            return self.rewrite()(*args, **kwargs)
        except Exception as error:
            raise interpreter.InterpreterError(repr(error)) from error

    def kept(dtype: Any) -> Any:
        name = dtype.scalar.name
        if name not in formats:
            formats[name] = format_of(dtype)
        return formats[name]

    kernel.__call__ = call
    vars(interpreter).update({"_get_np_dtype": kept, TOLD: True})
