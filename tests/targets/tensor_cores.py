"""Attention and its kin in NumPy whose products of matrices are those of a tensor core.

As `spec.attention.rounding.units` has them, from Khattak and Mikaitis 2025: products of b pairs of
factors are aligned to the largest, and to what there is so far; what lies g bits below a float32 is
cut off, and so is the sum.
"""

from dataclasses import replace
from functools import partial, wraps
from typing import Any, ClassVar

import numpy as np

from implementations import feed_forward as plain
from implementations.multihead import MultiHead
from spec import mistake
from spec.attention.mistakes import making
from spec.attention.mistakes.given import native
from spec.attention.mistakes.numbers import shortened as rounded
from spec.attention.rounding.units import KEPT
from spec.cache.mistakes import making as caches
from spec.dropout.mistakes import making as dropout
from spec.dropout.mistakes import steps
from spec.notation import Array

DIGITS = 24
OF_OTHERS = "bias_gradient", "sink_gradient", "slope_gradient"


def cut(x: Array, bits: Any) -> Array:
    """x cut off at so many bits below the point, toward zero."""
    return np.ldexp(np.trunc(np.ldexp(x, bits)), -bits)


def exponents(x: Array) -> Array:
    """e with |x| in [2^(e - 1), 2^e)."""
    return np.frexp(x)[1]


class Core(np.ndarray):
    """An array that is multiplied as a tensor core does.

    b: products that are added at once. g: further bits. nearest: whether factors are rounded to 11
    bits, or cut off there.
    """

    b: ClassVar[int] = 16
    g: ClassVar[int] = 2
    nearest: ClassVar[bool] = False

    def __matmul__(self, other: Any) -> Any:
        return self.multiplied(np.asarray(self), np.asarray(other))

    def __rmatmul__(self, other: Any) -> Any:
        return self.multiplied(np.asarray(other), np.asarray(self))

    def multiplied(self, x: Array, y: Array) -> Any:
        """x @ y in float32."""
        x, y = (self.shortened(z.astype(np.float64)) for z in (x, y))
        shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        total = np.zeros((*shape, x.shape[-2], y.shape[-1]))
        for k in range(0, x.shape[-1], self.b):
            part = slice(k, k + self.b)
            terms = x[..., :, part, None] * y[..., None, part, :]
            terms = np.concatenate([terms, total[..., None, :]], axis=-2)
            highest = np.where(terms == 0, -999, exponents(terms)).max(axis=-2, keepdims=True)
            total = cut(terms, DIGITS + self.g - highest).sum(axis=-2)
            total = cut(total, DIGITS - exponents(total))
        return total.astype(np.float32).view(type(self))

    def shortened(self, x: Array) -> Array:
        """Factors of 11 bits."""
        return rounded(x, KEPT) if self.nearest else cut(x, KEPT - exponents(x))


class Nearest(Core):
    """As cuBLAS hands numbers to TF32: rounded."""

    b, nearest = 8, True


class CutOff(Core):
    """As Triton does: what they have beyond is not read."""

    b = 8


class Halves(Core):
    """Weights and ds of 16 bits are rounded before."""

    nearest = True


class Oldest(Core):
    """A V100, which keeps no bit beyond a float32, and has factors of 16 bits."""

    b, g, nearest = 4, 0, True


def plain_arrays(x: Any) -> Any:
    """An answer as arrays of NumPy's own type: a judge takes no others."""
    if isinstance(x, tuple):
        made = getattr(x, "_make", tuple)
        return made(map(plain_arrays, x))
    if isinstance(x, dict):
        return {name: plain_arrays(y) for name, y in x.items()}
    return np.asarray(x) if isinstance(x, Core) else x


def plainly(function: Any) -> Any:
    """The function, its answers as plain arrays."""

    @wraps(function)
    def answered(*arrays: Any, **options: Any) -> Any:
        return plain_arrays(function(*arrays, **options))

    return answered


def on(core: type[Core]) -> Any:
    """Attention with the products of that unit, its gradients, weights and log-sum-exp."""

    def read(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
        q, k, v = (x.astype(np.float32).view(core) for x in (query, key, value))
        return q, k, v

    def receive(dout: Array) -> Array:
        found: Array = dout.astype(np.float32).view(core)
        return found

    own = replace(making.RIGHT, read=read, receive=receive)
    found = plainly(native(partial(making.attend, steps=own)))
    found.__name__ = core.__name__.lower()
    for of_dout in (making.backward, *map(partial(getattr, making), OF_OTHERS)):
        setattr(found, of_dout.__name__, plainly(native(partial(of_dout, steps=own), "dout")))
    for shown in (making.weights, making.lse):
        setattr(found, shown.__name__, plainly(native(partial(shown, steps=own))))
    return found


nearest, cut_off, halves, oldest = map(on, (Nearest, CutOff, Halves, Oldest))


def network(*arrays: Array) -> Array:
    """A feed-forward network in float32 whose products are those of TF32."""
    return plain_arrays(plain.feed_forward(*(x.view(Nearest) for x in arrays)))


def back(*arrays: Array) -> tuple[Array, ...]:
    """Its gradients."""
    return plain_arrays(plain.backward(*(x.view(Nearest) for x in arrays)))


vars(network).update(backward=back)


class Layer(MultiHead):
    """A layer in float32 whose products are those of TF32."""

    def __call__(self, query: Array, key: Array, value: Array, *more: Any, **options: Any) -> Any:
        """As that of MultiHead."""
        self.state = {name: x.view(Nearest) for name, x in self.state.items()}
        given = (x.view(Nearest) for x in (query, key, value))
        return plain_arrays(super().__call__(*given, *more, **options))

    def backward(self, dout: Array) -> Any:
        """As that of MultiHead."""
        return plain_arrays(super().backward(dout.view(Nearest)))

    def state_dict(self) -> Any:
        """As that of MultiHead."""
        return plain_arrays(super().state_dict())


class Dropping(dropout.Attention):
    """Attention with dropout in float32 whose products are those of TF32."""

    steps = mistake.steps(steps)

    def seen(self, arrays: Any, rng: Any, options: Any) -> Any:
        """As that of the right one."""
        return super().seen(tuple(x.view(Nearest) for x in arrays), rng, options)

    def backward(self, *arrays: Array, **options: Any) -> Any:
        """As that of the right one."""
        return plain_arrays(super().backward(*arrays, **options))


def fetch(kept: Any) -> tuple[Array, Array]:
    """The keys and values of a cache."""
    return kept.k.astype(np.float32).view(Nearest), kept.v.astype(np.float32).view(Nearest)


cache = caches.program(replace(caches.RIGHT, fetch=fetch, finish=plainly(caches.RIGHT.finish)))
