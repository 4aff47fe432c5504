"""Budgets hold right computations and reject wrong ones.

`Machine` computes attention in a real format, in one of many styles, and can be given
a fault at a named place. Rounding faults are small: whether they show depends on the
problem, so each has the least share of problems on which it must be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

from spec import definition, rounding
from spec.notation import GRADES, Array, Problem
from spec.rounding import rounded

DTYPES_AND_GRADES = [
    ("float64", "strict"),
    ("float32", "strict"),
    *((dtype, grade) for dtype in ("float16", "bfloat16") for grade in GRADES),
]


# Problems


def entries(chance: np.random.Generator, regime: str, shape: tuple[int, ...]) -> Array:
    """Numbers of one kind."""
    x = chance.standard_normal(shape)
    match regime:
        case "lattice":
            x = np.round(2 * x) / 2
        case "constant":
            x = np.full(shape, float(chance.integers(1, 9)) / 7)
        case "heavy":
            x = x / np.maximum(np.abs(chance.standard_normal(shape)), 0.05)
        case "tiny":
            x = x * 1e-5
        case "subnormal":
            x = x * 1e-39
        case "offset":
            x = x + 8.0
        case "cancelling":
            x = x * np.where(np.arange(shape[-1]) % 2 == 0, 30.0, -30.0)
        case "sharp":
            x = x * 4.0
        case "huge":
            x = x * 40.0
        case "ties":
            x = np.sign(x)
        case "rows":
            x = x * np.exp(chance.standard_normal((*shape[:-1], 1)) * 3)
        case "columns":
            x = x * np.exp(chance.standard_normal((1,) * (len(shape) - 1) + shape[-1:]) * 3)
    return x


REGIMES = (
    "normal lattice constant heavy tiny subnormal offset cancelling sharp huge ties rows columns"
).split()


def mask_of(chance: np.random.Generator, B: int, H: int, N: int, M: int, dtype: str) -> Array | None:
    kind = chance.choice(["none", "none", "bool", "bool", "idle", "bias"])
    seen = chance.random((B, 1, N, M)) < 0.7
    if M:
        seen[..., 0] = True
    match kind:
        case "bool":
            return seen
        case "idle":
            return seen & (chance.random((B, 1, N, 1)) < 0.7)
        case "bias":
            slope = 3.0 * 10.0 ** float(chance.integers(0, 4))
            return np.where(seen, rounded(slope * chance.standard_normal((B, H, N, M)), dtype), -np.inf)
    return None


def problem_of(seed: int, dtype: str, rounding_grade: str = "strict", largest: int = 12) -> Problem:
    """A problem in the domain of its dtype; the same for the same seed."""
    chance = np.random.default_rng([seed, rounding.FORMATS[dtype].p])
    while True:
        B, G, group = (int(chance.integers(1, 3)) for _ in range(3))
        N, M, D, E = (int(chance.integers(1, largest + 1)) for _ in range(4))
        regime = str(chance.choice(REGIMES))
        shapes = ((B, G * group, N, D), (B, G, M, D), (B, G, M, E), (B, G * group, N, E))
        q, k, v, dout = (
            rounded(entries(chance, regime if chance.random() < 0.8 else "normal", shape), dtype)
            for shape in shapes
        )
        if chance.random() < 0.1:
            k = np.sort(k, axis=-2)
        mask = mask_of(chance, B, G * group, N, M, dtype)
        scale = [None, None, -0.7, 2.0, 1.0, 0.0][int(chance.integers(6))]
        problem = Problem(
            q, k, v, dout, mask, bool(chance.random() < 0.3), scale, dtype, rounding_grade  # type: ignore[arg-type]
        )
        if rounding.in_domain(problem.but(rounding="eager")):
            return problem


# Computations


@dataclass(frozen=True)
class Style:
    """A right way to compute. tile: keys at a time; parts: merged through their log-sum-exp."""

    scaled: str = "after"
    order: str = "blas"
    softmax: str = "quotient"
    tile: int = 0
    parts: int = 1
    backward: str = "saved"


STYLES = {
    "textbook": Style(),
    "divided": Style(scaled="divided", softmax="late", backward="lse"),
    "both scaled": Style(scaled="both", backward="jacobian"),
    "forwards": Style(scaled="q", order="forwards", softmax="late", backward="lse"),
    "backwards": Style(order="backwards"),
    "log-softmax": Style(softmax="log"),
    "exp2": Style(softmax="exp2", backward="lse", order="backwards"),
    "key by key": Style(softmax="online", tile=1, backward="lse", order="forwards"),
    "tiles of 3": Style(softmax="online", tile=3, backward="lse"),
    "tiles of 16": Style(softmax="online", tile=16, backward="lse", order="backwards"),
    "two parts": Style(softmax="online", tile=3, parts=2, backward="lse"),
    "five parts": Style(softmax="online", tile=1, parts=5, scaled="q", backward="lse"),
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
        self.log2e = self.f(np.log2(np.e))

    def at(self, place: str, x: Array) -> Array:
        fault = self.faults.get(place)
        return x if fault is None else np.asarray(fault(x)).astype(x.dtype)

    def out(self, x: Array) -> Array:
        return rounded(x.astype(np.float64), self.problem.dtype) if self.narrow else x.astype(np.float64)

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
        if how == "both":
            root = np.sqrt(np.abs(scale))
            q, k = self.each(q * (root * np.sign(scale))), self.each(k * root)
        s = self.each(self.product(q, k.swapaxes(-1, -2), backwards))
        if how == "after":
            s = self.each(s * scale)
        if how == "divided":
            s = self.each(s / (1 / scale)) if scale != 0 else s * 0
        if self.problem.mask is not None and self.problem.mask.dtype != bool:
            s = self.each(s + self.problem.bias.astype(self.f))
        return np.where(self.problem.allowed, self.at("s", s), self.f(-np.inf))

    def forward(self) -> dict[str, Array]:
        s = self.scores()
        if self.style.softmax == "online":
            o, lse = self.online(s)
            a = np.exp(s - np.where(np.isneginf(lse), 0, lse))
        else:
            o, lse, a = self.at_once(s)
        self.lse, self.a = lse, self.each(a)
        self.o = self.out(self.at("o", o))
        return {"o": self.o, "weights": self.out(self.a), "lse": lse[..., 0].astype(np.float64)}

    def exponential(self, s: Array, m: Array) -> Array:
        if self.style.softmax == "exp2":
            return np.exp2(s * self.log2e - m * self.log2e)
        return np.exp(self.each(s - m))

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
        o = self.product(self.at("p", self.cast(a)), self.v)
        if self.style.softmax == "log":
            a = self.each(np.exp(s - np.where(total == 0, 0, lse)))
        return o, lse, a

    def sum(self, e: Array) -> Array:
        return self.product(e, np.ones((*e.shape[:-2], e.shape[-1], 1), self.f))

    def online(self, s: Array) -> tuple[Array, Array]:
        edges = np.linspace(0, self.problem.M, min(self.style.parts, self.problem.M) + 1).astype(int)
        parts = [self.part(s[..., x:y], self.v[..., x:y, :]) for x, y in zip(edges, edges[1:])]
        if len(parts) == 1:
            return parts[0]
        os, lses = np.stack([o for o, _ in parts]), np.stack([lse for _, lse in parts])
        top = lses.max(0)
        weigh = np.exp(lses - np.where(np.isneginf(top), 0, top))
        total = weigh.sum(0)
        with np.errstate(divide="ignore"):
            lse = top + np.log(total)
        return (weigh * os).sum(0) / np.where(total == 0, self.f(1), total), lse

    def part(self, s: Array, v: Array) -> tuple[Array, Array]:
        m = np.full((*s.shape[:-1], 1), -np.inf, self.f)
        total, o = np.zeros_like(m), np.zeros((*s.shape[:-1], v.shape[-1]), self.f)
        for j in range(0, s.shape[-1], self.style.tile):
            tile = s[..., j : j + self.style.tile]
            higher = np.maximum(m, tile.max(-1, keepdims=True))
            safe = np.where(np.isneginf(higher), self.f(0), higher)
            e, again = np.exp(tile - safe), np.exp(m - safe)
            total = total * again + e.sum(-1, keepdims=True)
            o = self.at("tile", o * again + self.at("p", self.cast(e)) @ v[..., j : j + self.style.tile, :])
            m = higher
        total = self.at("L", total)
        with np.errstate(divide="ignore"):
            lse = np.where(np.isneginf(m), self.f(0), m) + np.log(total)
        return o / np.where(total == 0, self.f(1), total), lse

    def backward(self) -> dict[str, Array]:
        self.forward()
        a = self.a
        if self.style.backward == "lse" and self.problem.rounding != "eager":
            s = self.scores(backwards=True)
            a = np.exp(s - self.at("lse", np.where(np.isneginf(self.lse), self.f(0), self.lse)))
        da = self.each(self.product(self.dout, self.v.swapaxes(-1, -2)))
        da = self.at("da", np.where(self.problem.allowed, da, self.f(0)))
        if self.style.backward == "lse":
            delta = self.product(self.dout[..., None, :], self.o.astype(self.f)[..., :, None])[..., 0]
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
        return self.gradients(self.cast(self.at("a", a)), self.cast(ds), ds)

    def gradients(self, a: Array, cast_ds: Array, ds: Array) -> dict[str, Array]:
        scale, G = self.scale, self.problem.G
        grouped = definition.gathered
        dq = self.each(self.product(cast_ds, self.k)) * scale
        dk = grouped(self.each(self.product(cast_ds.swapaxes(-1, -2), self.q)), G) * self.at("dk", scale)
        dv = grouped(self.product(a.swapaxes(-1, -2), self.dout), G)
        return {"q": self.out(dq), "k": self.out(dk), "v": self.out(dv), "bias": self.out(ds)}


# Judging


def ratio(got: Array, want: Array, budget: Array) -> float:
    """The largest error in units of its budget; infinite where a budget of zero is exceeded."""
    same = got == want
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(same, 0.0, np.abs(got - want))
        over = np.where(same | np.isposinf(budget), 0.0, error / budget)
    over = np.where(np.isnan(over), np.inf, over)
    return float(over.max(initial=0.0))


def of_forward(problem: Problem, got: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    exact = rounding.reference(problem)
    yield "o", ratio(got["o"], exact.o, rounding.of_output(problem))
    low, high = rounding.admissible(problem)
    inside = (low <= got["o"]) & (got["o"] <= high)
    yield "interval", 0.0 if inside.all() else np.inf
    if "weights" in got:
        yield "weights", ratio(got["weights"], exact.weights, rounding.of_weights(problem))
        sums = got["weights"].sum(-1)
        yield "row sum", ratio(sums, np.where(problem.idle, 0.0, 1.0), rounding.of_row_sum(problem))
    if "lse" in got:
        yield "lse", ratio(got["lse"], exact.lse, rounding.of_lse(problem, "float32" if problem.dtype != "float64" else None))


def of_backward(problem: Problem, got: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    for name in ("q", "k", "v", "bias"):
        yield f"d{name}", ratio(got[name], getattr(exact, name), getattr(budget, name))


def worst(problem: Problem, machine: Machine) -> dict[str, float]:
    with np.errstate(under="ignore"):
        got, grads = machine.forward(), machine.backward()
    return dict(of_forward(problem, got)) | dict(of_backward(problem, grads))


# Faults


def to(dtype: str) -> Callable[[Array], Array]:
    return lambda x: rounded(x.astype(np.float64), dtype)


def truncated(x: Array) -> Array:
    """The leading 16 bits of a float32: a bfloat16 that was cut and not rounded."""
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def tf32(x: Array) -> Array:
    """Eleven bits of precision."""
    return np.ldexp(np.rint(np.ldexp(np.frexp(x)[0], 11)), np.frexp(x)[1] - 11)


# fault -> place, what is done there, and the least share of problems on which it must show,
# forward or backward: float32 strict, bfloat16 strict, float16 strict. Measured: see FAULTS below.
FAULTS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "scores in bfloat16": ("s", to("bfloat16")),
    "scores in float16": ("s", to("float16")),
    "scores in TF32": ("s", tf32),
    "scale in bfloat16": ("scale", to("bfloat16")),
    "weights in bfloat16": ("p", to("bfloat16")),
    "weights in float16": ("p", to("float16")),
    "sum + 1e-5": ("L", lambda x: x + 1e-5),
    "sum + 1e-6": ("L", lambda x: x + 1e-6),
    "tiles in bfloat16": ("tile", to("bfloat16")),
    "output truncated": ("o", truncated),
    "no row term": ("delta", np.zeros_like),
    "row term in bfloat16": ("delta", to("bfloat16")),
    "lse in bfloat16": ("lse", to("bfloat16")),
    "lse in float16": ("lse", to("float16")),
    "ds in bfloat16": ("ds", to("bfloat16")),
    "ds in float16": ("ds", to("float16")),
    "da in bfloat16": ("da", to("bfloat16")),
    "dk not scaled": ("dk", np.ones_like),
}
