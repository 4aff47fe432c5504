"""A merge built from steps of which one is wrong.

It is a function of o_1, lse_1, o_2, lse_2 with an attribute `backward`, as a user would write it.
A function for the step "call" receives the correct merge and its arguments. A function for the
step "give_back" receives the correct backward pass and its arguments.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.merging.mistakes import steps
from spec.merging.mistakes.steps import Pass, Sums
from spec.mistake import Steps
from spec.notation import Array

Right = Callable[..., Any]


def passed(steps: Steps, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array) -> tuple[Pass, Array]:
    """The results of the forward pass, in float32 or wider, and the log-sum-exp."""
    wide = np.result_type(o_1.dtype, np.float32)
    empty = np.isinf(lse_1), np.isinf(lse_2)
    o_1, l_1, o_2, l_2 = (x.astype(wide) for x in (o_1, lse_1, o_2, lse_2))
    unit = wide.type(steps.unit())
    l_1, l_2 = steps.understand(l_1) * unit, steps.understand(l_2) * unit
    top = steps.larger(l_1, l_2)
    e_1, e_2 = steps.power(l_1, top), steps.power(l_2, top)
    total = steps.add(e_1, e_2)
    w_1, w_2 = steps.share(e_1, total), steps.share(e_2, total)
    o, lse = steps.mix(w_1, o_1, w_2, o_2), steps.measure(Sums(l_1, l_2, top, total)) / unit
    pairs = zip((o_1, o_2), empty, strict=True)
    o_1, o_2 = (np.where(gone[..., None], 0, x).astype(wide) for x, gone in pairs)
    return Pass(w_1, w_2, o_1, o_2, o, l_1, l_2), lse


def differentiated(steps: Steps, do: Array, dlse: Array, *arrays: Array) -> tuple[Array, ...]:
    """do_1, dlse_1, do_2, dlse_2."""
    seen, _ = passed(steps, *arrays)
    do, dlse = do.astype(seen.o.dtype), dlse.astype(seen.o.dtype) / steps.unit()
    (do_1, do_2), (dl_1, dl_2) = steps.to_outputs(seen, do), steps.to_lse(seen, do, dlse)
    pairs = zip((do_1, dl_1 * steps.unit(), do_2, dl_2 * steps.unit()), arrays, strict=True)
    return tuple(dx.astype(x.dtype) for dx, x in pairs)


def program(steps: Steps) -> Any:
    """A function that merges two states, with its gradients."""

    def right(o_1: Array, lse_1: Array, *others: Array) -> tuple[Array, Array]:
        seen, lse = passed(steps, o_1, lse_1, *others)
        return seen.o.astype(o_1.dtype), lse.astype(lse_1.dtype)

    def merge(o_1: Array, lse_1: Array, o_2: Array, lse_2: Array) -> tuple[Array, Array]:
        return steps.call(right, o_1, lse_1, o_2, lse_2)

    vars(merge).update(backward=partial(steps.give_back, partial(differentiated, steps)))
    return merge


right_steps = mistake.steps(steps, call=mistake.call, give_back=mistake.call)
wrong = partial(mistake.wrong, right_steps, program)
