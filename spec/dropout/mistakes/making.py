"""Attention with dropout, built from steps of which one is wrong.

It is a class as a user would write it: built from a rate, and switched by `train` and `eval`. A
call takes arrays, options and a random generator. The methods `backward` and `weights` take the
same.
"""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from spec import mistake
from spec.attention.mistakes.given import Given
from spec.attention.mistakes.making import RIGHT as ATTENDING
from spec.attention.mistakes.making import forward
from spec.dropout.mistakes import steps
from spec.dropout.mistakes.steps import Chance, Pass
from spec.mistake import Steps
from spec.notation import Array

Triple = tuple[Array, Array, Array]  # q, k, v, or their gradients


def passed(steps: Steps, seen: Pass) -> Pass:
    """The forward pass up to the weights after dropout."""
    seen = replace(seen, rate=steps.rate(seen))
    seen = replace(seen, kept=steps.draw(seen))
    return replace(seen, w=steps.use(seen))


def differentiated(steps: Steps, seen: Pass, dout: Array) -> Triple:
    """dq, dk, dv."""
    of = seen.attention
    dout = dout.astype(of.q.dtype)
    seen = steps.again(seen)
    G = dout @ seen.v.swapaxes(-1, -2)
    da = steps.through_mask(seen, G)
    ds = steps.through_softmax(seen, da, steps.row_term(seen, da, G))
    sigma = of.q.dtype.type(of.sigma)
    return (
        sigma * (ds @ of.k),
        sigma * (ds.swapaxes(-1, -2) @ of.q),
        steps.through_values(seen, dout),
    )


class Attention:
    """Attention with dropout that uses the given steps."""

    steps: ClassVar[Steps]

    def __init__(self, p: float) -> None:
        self.p, self.training, self.memory = p, True, dict[Any, Any]()

    def train(self) -> None:
        self.training = True

    def eval(self) -> None:
        self.training = False

    @np.errstate(all="ignore")
    def __call__(self, q: Array, k: Array, v: Array, *, rng: Chance, **options: Any) -> Array:
        o = self.steps.combine(self.seen((q, k, v), rng, options))
        return np.asarray(self.steps.finish(o, q))

    @np.errstate(all="ignore")
    def weights(self, q: Array, k: Array, v: Array, *, rng: Chance, **options: Any) -> Array:
        w = self.steps.show(self.seen((q, k, v), rng, options))
        return np.asarray(w).astype(q.dtype)

    @np.errstate(all="ignore")
    def backward(
        self, dout: Array, q: Array, k: Array, v: Array, *, rng: Chance, **options: Any
    ) -> tuple[Array, ...]:
        seen = self.seen((q, k, v), rng, options)
        return tuple(x.astype(q.dtype) for x in differentiated(self.steps, seen, dout))

    def seen(self, arrays: Triple, rng: Chance, options: dict[str, Any]) -> Pass:
        """The pass with the rate, the mode and the memory of this instance."""
        attention = forward(Given(*arrays, **options), ATTENDING)
        return passed(self.steps, Pass(self.p, self.training, rng, self.memory, attention))


def program(steps: Steps) -> Any:
    """A class with these steps, whose instances are built from a rate."""
    return type("Attention", (Attention,), {"steps": steps})


wrong = partial(mistake.wrong, mistake.steps(steps), program)
