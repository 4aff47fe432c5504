"""What a compiler of functions did not compile: what ran then is the function as it is written."""

import sys


def not_compiled() -> tuple[str, ...]:
    """Why torch.compile gave up on a function, in its words, so far in this process.

    It says so to its log alone, and goes on with the function as it is written: among others
    after eight shapes that it compiled one by one.
    """
    counting = sys.modules.get("torch._dynamo.utils")
    if counting is None:
        return ()
    reasons = counting.counters["unimplemented"]
    return tuple(words.splitlines()[0] for words in reasons)
