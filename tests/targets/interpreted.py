"""Our kernels in Triton's interpreter, which does not look whether sums of integers overflow.

For that it computes each of them again in 64 bits, a quarter of all time. In one format of three it
still does (tests/implementations/test_fused_triton.py).
"""

from implementations.fused_triton import attend
from implementations.launching_triton import INTERPRETED

if INTERPRETED:
    from triton.runtime import interpreter

    options = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter.interpreter_builder.options = options

__all__ = ("attend",)
