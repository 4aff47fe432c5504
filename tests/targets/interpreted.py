"""Our kernels in Triton's interpreter, which does not look whether sums of integers overflow.

For that it computes each of them again in 64 bits, a quarter of all time. It does so still where
our kernels are judged with a mistake in them, or in TF32 (tests/implementations/wrong_kernels.py).
"""

from implementations.fused_triton import attend
from implementations.launching_triton import INTERPRETED

if INTERPRETED:
    from triton.runtime import interpreter

    options = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter.interpreter_builder.options = options

__all__ = ("attend",)
