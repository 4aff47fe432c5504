"""What compilers of functions did not compile, and what they keep."""

import sys

COMPILER = "torch.compile"


def not_compiled() -> tuple[str, ...]:
    """Why the compiler gave up on a function, in its words, so far in this process.

    It says so to its log alone, and goes on with the function as it is written: among others
    after eight shapes that it compiled one by one.
    """
    counting = sys.modules.get("torch._dynamo.utils")
    if counting is None:
        return ()
    reasons = counting.counters["unimplemented"]
    return tuple(words.splitlines()[0] for words in reasons)


def forget_programs() -> None:
    """JAX keeps a program for each shape that it has seen: gigabytes in minutes."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
