"""Attention computed in a real format, in one of many right styles, with a fault where asked.

A style says in which order sums are taken, where the scale is multiplied, how the softmax is
normalised, how many keys are taken at a time, and what the backward pass goes by. A fault is
a function that spoils what stands at a named place.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import allowed
from spec.formats import rounded
from spec.notation import Array
from tests.targets import through_the_maximum


@dataclass(frozen=True)
class Style:
    """A right way to compute. tile: keys at a time; parts: merged through their log-sum-exp.

    fast: exponentials that become weights of 16 bits are off by as much as they may be.
    """

    scaled: str = "after"
    order: str = "blas"
    softmax: str = "quotient"
    tile: int = 0
    parts: int = 1
    backward: str = "saved"
    fast: bool = False


STYLES = {
    "textbook": Style(),
    "divided": Style(scaled="divided", softmax="late", backward="lse"),
    "both scaled": Style(scaled="both", backward="jacobian"),
    "forwards": Style(scaled="q", order="forwards", softmax="late", backward="lse"),
    "backwards": Style(order="backwards"),
    "log-softmax": Style(softmax="log"),
    "exp2": Style(softmax="exp2", backward="lse", order="backwards"),
    "keys in powers of two": Style(scaled="powers", softmax="exp2", backward="lse"),
    "key by key": Style(softmax="online", tile=1, backward="lse", order="forwards"),
    "tiles of 3": Style(softmax="online", tile=3, backward="lse"),
    "tiles of 16": Style(softmax="online", tile=16, backward="lse", order="backwards"),
    "two parts": Style(softmax="online", tile=3, parts=2, backward="lse"),
    "five parts": Style(softmax="online", tile=1, parts=5, scaled="q", backward="lse"),
    "fast exponentials": Style(softmax="late", backward="lse", fast=True),
    "fast tiles": Style(softmax="online", tile=16, fast=True),
    "through the maximum": Style(backward="maximum"),
    "late, through the maximum": Style(softmax="late", backward="maximum", order="forwards"),
}


Faults = Mapping[str, Callable[[Array], Array]]


@dataclass
class Machine:
    """Attention in the arithmetic of `problem`, in one style, with faults at named places."""

    problem: Problem
    style: Style = field(default_factory=Style)
    faults: Faults = field(default_factory=dict)

    def __post_init__(self) -> None:
        p = self.problem
        self.f = np.float64 if p.dtype == "float64" else np.float32
        self.narrow = p.dtype in ("float16", "bfloat16")
        self.q, self.dout = p.q.astype(self.f), p.dout.astype(self.f)
        self.k, self.v = (definition.shared(x, p.H).astype(self.f) for x in (p.k, p.v))
        self.log2e = self.f(np.log2(math.e))

    def at(self, place: str, x: Array) -> Array:
        fault = self.faults.get(place)
        return x if fault is None else np.asarray(fault(x)).astype(x.dtype)

    def out(self, x: Array) -> Array:
        return (
            rounded(x.astype(np.float64), self.problem.dtype)
            if self.narrow
            else x.astype(np.float64)
        )

    def cast(self, x: Array) -> Array:
        return self.out(x).astype(self.f) if self.problem.rounding != "strict" else x

    def each(self, x: Array) -> Array:
        return self.out(x).astype(self.f) if self.problem.rounding == "eager" else x

    def product(self, x: Array, y: Array, backwards: bool | None = None) -> Array:
        order = self.style.order
        if backwards is not None:
            order = "backwards" if backwards else "forwards"
        if order == "blas":
            return x @ y
        total = np.zeros((*x.shape[:-1], y.shape[-1]), self.f)
        steps = range(x.shape[-1])
        for j in reversed(steps) if order == "backwards" else steps:
            total = total + x[..., :, j, None] * y[..., j, None, :]
        return total

    @property
    def scale(self) -> Array:
        D = self.f(self.problem.D)
        asked = self.problem.scale
        return self.at("scale", np.asarray(1 / np.sqrt(D) if asked is None else self.f(asked)))

    def scores(self, backwards: bool | None = None) -> Array:
        q, k, scale, how = self.q, self.k, self.scale, self.style.scaled
        if how == "q":
            q = self.each(q * scale)
        if how == "powers":  # a kernel, whose scores are never stored
            s = self.product(q, self.in_powers_of_two(), backwards) / self.log2e
        if how == "both":
            root = np.sqrt(np.abs(scale))
            q, k = self.each(q * (root * np.sign(scale))), self.each(k * root)
        if how != "powers":
            s = self.each(self.product(q, k.swapaxes(-1, -2), backwards))
        if how == "after":
            s = self.each(s * scale)
        if how == "divided":
            s = self.each(s / (1 / scale)) if scale != 0 else s * 0
        if self.problem.mask is not None and self.problem.mask.dtype != bool:
            s = self.each(s + self.problem.bias.astype(self.f))
        return np.where(self.problem.allowed, self.at("s", s), self.f(-np.inf))

    def in_powers_of_two(self) -> Array:
        """k scale log2(e), as a kernel that works in powers of two stores it.   (B, H, D, M)"""
        return self.each(self.k * (self.scale * self.log2e)).swapaxes(-1, -2)

    def forward(self) -> dict[str, Array]:
        s = self.scores()
        online = self.style.softmax == "online"
        o, lse, a = self.online(s) if online else self.at_once(s)
        logarithmic = self.each(np.exp(s - np.where(np.isneginf(lse), 0, lse)))
        self.lse, self.a = lse, logarithmic if a is None else a
        self.o = self.out(self.at("o", o))
        handed_out = self.out(logarithmic if self.style.softmax == "log" else self.a)
        return {"o": self.o, "weights": handed_out, "lse": lse[..., 0].astype(np.float64)}

    def exponential(self, s: Array, m: Array) -> Array:
        if self.style.softmax == "exp2":
            return np.exp2(s * self.log2e - m * self.log2e)
        return self.fast(np.exp(self.each(s - m)), s)

    def fast(self, e: Array, s: Array) -> Array:
        """e, or another number as far from it as a fast exponential may be; it depends on s."""
        if not self.style.fast:
            return e
        off = allowed(self.problem).u_exp * np.sign(np.sin(97 * np.where(np.isneginf(s), 0, s)))
        return e * (1 + off).astype(self.f)

    def at_once(self, s: Array) -> tuple[Array, Array, Array]:
        m = s.max(-1, keepdims=True)
        m = np.where(np.isneginf(m), self.f(0), m)
        e = self.each(self.exponential(s, m))
        total = self.each(self.at("L", self.sum(e)))
        safe = np.where(total == 0, self.f(1), total)
        with np.errstate(divide="ignore"):
            lse = m + np.log(total)
        a = self.each(e / safe)
        if self.style.softmax in ("late", "exp2"):
            return self.each(self.product(self.at("p", self.cast(e)), self.v)) / safe, lse, a
        return self.product(self.at("p", self.cast(a)), self.v), lse, a

    def sum(self, e: Array) -> Array:
        return self.product(e, np.ones((*e.shape[:-2], e.shape[-1], 1), self.f))

    def online(self, s: Array) -> tuple[Array, Array, None]:
        M = self.problem.M
        edges = np.linspace(0, M, min(self.style.parts, M) + 1).astype(int)
        parts = [self.part(s[..., x:y], self.v[..., x:y, :]) for x, y in pairwise(edges)]
        if len(parts) == 1:
            return *parts[0], None
        os, lses = np.stack([o for o, _ in parts]), np.stack([lse for _, lse in parts])
        top = lses.max(0)
        weigh = np.exp(lses - np.where(np.isneginf(top), 0, top))
        total = weigh.sum(0)
        with np.errstate(divide="ignore"):
            lse = top + np.log(total)
        return (weigh * os).sum(0) / np.where(total == 0, self.f(1), total), lse, None

    def part(self, s: Array, v: Array) -> tuple[Array, Array]:
        m = np.full((*s.shape[:-1], 1), -np.inf, self.f)
        total, o = np.zeros_like(m), np.zeros((*s.shape[:-1], v.shape[-1]), self.f)
        for j in range(0, s.shape[-1], self.style.tile):
            tile = s[..., j : j + self.style.tile]
            higher = np.maximum(m, tile.max(-1, keepdims=True))
            safe = np.where(np.isneginf(higher), self.f(0), higher)
            e, again = self.fast(np.exp(tile - safe), tile), np.exp(m - safe)
            total = total * again + e.sum(-1, keepdims=True)
            o = self.at(
                "tile", o * again + self.at("p", self.cast(e)) @ v[..., j : j + self.style.tile, :]
            )
            m = higher
        total = self.at("L", total)
        with np.errstate(divide="ignore"):
            lse = np.where(np.isneginf(m), self.f(0), m) + np.log(total)
        return o / np.where(total == 0, self.f(1), total), lse

    def backward(self) -> dict[str, Array]:
        self.forward()
        if self.style.backward == "maximum":
            a, dout, ds = through_the_maximum.score_gradients(self)
            return self.gradients(self.cast(a), self.cast(ds), ds, dout)
        a = self.a
        if self.style.backward == "lse" and self.problem.rounding != "eager":
            s = self.scores(backwards=True)
            lse = self.at("lse", np.where(np.isneginf(self.lse), self.f(0), self.lse))
            a = self.fast(np.exp(s - lse), s)
        da = self.each(self.product(self.dout, self.v.swapaxes(-1, -2)))
        da = self.at("da", np.where(self.problem.allowed, da, self.f(0)))
        if self.style.backward == "lse":
            o = self.o.astype(self.f)[..., :, None]
            delta = self.product(self.dout[..., None, :], o)[..., 0]
        else:
            delta = self.sum(self.each(a * da))
        delta = self.at("delta", self.each(delta))
        if self.style.backward == "jacobian":
            eye = np.eye(self.problem.M, dtype=self.f)
            jacobian = a[..., :, None] * eye - a[..., :, None] * a[..., None, :]
            ds = self.product(jacobian, da[..., None])[..., 0] + 0 * delta
        else:
            ds = self.each(a * self.each(da - delta))
        ds = self.at("ds", ds)
        return self.gradients(self.cast(self.at("a", a)), self.cast(ds), ds, self.dout)

    def gradients(self, a: Array, cast_ds: Array, ds: Array, dout: Array) -> dict[str, Array]:
        scale, G = self.scale, self.problem.G
        grouped = definition.gathered
        if self.style.scaled == "powers":
            dq = self.product(cast_ds, self.in_powers_of_two().swapaxes(-1, -2)) / self.log2e
        else:
            dq = self.each(self.product(cast_ds, self.k)) * scale
        dk = grouped(self.each(self.product(cast_ds.swapaxes(-1, -2), self.q)), G) * self.at(
            "dk", scale
        )
        dv = grouped(self.product(a.swapaxes(-1, -2), dout), G)
        return {"q": self.out(dq), "k": self.out(dk), "v": self.out(dv), "bias": self.out(ds)}
