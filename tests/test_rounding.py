"""Budgets hold right computations and reject wrong ones.

`Machine` computes attention in a real format, in one of many styles, and can be given
a fault at a named place. Rounding faults are small: whether they show depends on the
problem, so each has the least share of problems on which it must be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from spec import definition, rounding
from spec.notation import GRADES, Array, Grade, Problem
from spec.rounding import rounded

DTYPES_AND_GRADES: list[tuple[str, Grade]] = [
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


REGIMES = """
    normal lattice constant heavy tiny subnormal offset cancelling sharp huge ties rows columns
"""


def mask_of(chance: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array | None:
    """A mask for (B, H, N, M), or none; some hide everything from a query."""
    B, H, N, M = shape
    kind = chance.choice(["none", "none", "bool", "bool", "idle", "bias"])
    seen = chance.random((B, 1, N, M)) < 0.7
    seen[..., 0] = True
    match kind:
        case "bool":
            return seen
        case "idle":
            return seen & (chance.random((B, 1, N, 1)) < 0.7)
        case "bias":
            slope = 3.0 * 10.0 ** float(chance.integers(0, 4))
            return np.where(
                seen, rounded(slope * chance.standard_normal((B, H, N, M)), dtype), -np.inf
            )
    return None


def problem_of(seed: int, dtype: str, grade: Grade = "strict", largest: int = 12) -> Problem:
    """A problem in the domain of its dtype; the same for the same seed."""
    chance = np.random.default_rng([seed, rounding.FORMATS[dtype].p])
    while True:
        B, G, group = (int(chance.integers(1, 3)) for _ in range(3))
        N, M, D, E = (int(chance.integers(1, largest + 1)) for _ in range(4))
        regime = str(chance.choice(REGIMES.split()))
        shapes = ((B, G * group, N, D), (B, G, M, D), (B, G, M, E), (B, G * group, N, E))
        q, k, v, dout = (
            rounded(entries(chance, regime if chance.random() < 0.8 else "normal", shape), dtype)
            for shape in shapes
        )
        if chance.random() < 0.1:
            k = np.sort(k, axis=-2)
        mask = mask_of(chance, (B, G * group, N, M), dtype)
        scale = [None, None, -0.7, 2.0, 1.0, 0.0][int(chance.integers(6))]
        problem = Problem(
            q,
            k,
            v,
            dout,
            mask,
            bool(chance.random() < 0.3),
            scale,
            dtype,
            grade,
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
            e, again = np.exp(tile - safe), np.exp(m - safe)
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
        a = self.a
        if self.style.backward == "lse" and self.problem.rounding != "eager":
            s = self.scores(backwards=True)
            a = np.exp(s - self.at("lse", np.where(np.isneginf(self.lse), self.f(0), self.lse)))
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
        return self.gradients(self.cast(self.at("a", a)), self.cast(ds), ds)

    def gradients(self, a: Array, cast_ds: Array, ds: Array) -> dict[str, Array]:
        scale, G = self.scale, self.problem.G
        grouped = definition.gathered
        dq = self.each(self.product(cast_ds, self.k)) * scale
        dk = grouped(self.each(self.product(cast_ds.swapaxes(-1, -2), self.q)), G) * self.at(
            "dk", scale
        )
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
        yield (
            "lse",
            ratio(
                got["lse"],
                exact.lse,
                rounding.of_lse(problem, "float32" if problem.dtype != "float64" else None),
            ),
        )


def of_backward(problem: Problem, got: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    for name in ("q", "k", "v", "bias"):
        yield f"d{name}", ratio(got[name], getattr(exact, name), getattr(budget, name))


def worst(problem: Problem, machine: Machine) -> dict[str, float]:
    with np.errstate(under="ignore"):
        got, grads = machine.forward(), machine.backward()
    return dict(of_forward(problem, got)) | dict(of_backward(problem, grads))


# Formats


def bits_of_bfloat16(x: Array) -> Array:
    """Rounding to bfloat16 on the bits of a float32, to nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.int64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def many_numbers() -> Array:
    """float32 numbers of every size: ties between neighbours, subnormals, the largest, zeros."""
    chance = np.random.default_rng(0)
    bits = chance.integers(0, 2**32, 20_000, dtype=np.uint64).astype(np.uint32)
    bits = np.concatenate([bits, bits & np.uint32(0xFFFF8000), bits & np.uint32(0x807FFFFF)])
    floats = bits.view(np.float32)
    x = floats[np.isfinite(floats)].astype(np.float64)
    return np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, 65519.9, 65520.0, 2.0**-25]])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_rounding_is_that_of_numpy(dtype: str) -> None:
    x = many_numbers() * np.float64(1 + 2.0**-13)
    with np.errstate(over="ignore"):
        want = x.astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(rounded(x, dtype), want)


def test_rounding_to_bfloat16_is_that_of_its_bits() -> None:
    x = many_numbers()
    np.testing.assert_array_equal(rounded(x, "bfloat16"), bits_of_bfloat16(x))


def test_rounding_long_doubles_rounds_once() -> None:
    halfway = np.longdouble(1) + np.longdouble(2) ** -24
    above = halfway + np.longdouble(2) ** -60
    nearest = 1 + 2.0**-23 if above > halfway else 1.0  # where long double is float64, a tie
    assert rounded(np.array([above]), "float32")[0] == nearest
    assert rounded(np.array([halfway]), "float32")[0] == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_formats_are_those_of_numpy(dtype: str) -> None:
    form, info = rounding.FORMATS[dtype], np.finfo(dtype)
    assert (form.u, form.tiny) == (float(info.eps) / 2, float(info.tiny))
    assert (form.sub, form.max) == (float(info.smallest_subnormal), float(info.max))


# Right computations


@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_right_computations_stay_within_their_budgets(dtype: str, grade: Grade) -> None:
    for seed in range(24):
        problem = problem_of(seed, dtype, grade)
        for name, style in STYLES.items():
            for what, share in worst(problem, Machine(problem, style)).items():
                assert share <= 1, (seed, name, what, share)


def test_many_keys_stay_within_their_budgets() -> None:
    chance = np.random.default_rng(0)
    for climbing in (False, True):
        shapes = ((1, 1, 2, 3), (1, 1, 300, 3), (1, 1, 300, 2), (1, 1, 2, 2))
        q, k, v, dout = (rounded(chance.standard_normal(shape), "float32") for shape in shapes)
        k = np.sort(k, axis=-2) if climbing else k
        problem = Problem(q, k, v, dout, dtype="float32")
        for style in ("textbook", "forwards", "key by key", "tiles of 16", "two parts"):
            shares = worst(problem, Machine(problem, STYLES[style]))
            assert max(shares.values()) <= 1, (climbing, style, shares)


def test_the_matrix_form_of_the_centred_sum_bounds_the_sum() -> None:
    for seed in range(50):
        forward = rounding.bounds(problem_of(seed, "float32")).forward
        direct, products = forward.centred, forward._centred_by_products
        assert (products >= direct * (1 - 1e-9)).all(), seed


def by_torch(problem: Problem, bias: Array | None) -> dict[str, Array]:
    """The output and the gradients of torch's attention, with shared keys repeated."""
    import torch

    form, group = getattr(torch, problem.dtype), problem.H // problem.G
    arrays = (problem.q, problem.k, problem.v)
    q, k, v = (torch.tensor(x, dtype=form).requires_grad_() for x in arrays)
    o = torch.nn.functional.scaled_dot_product_attention(
        q,
        k.repeat_interleave(group, 1),
        v.repeat_interleave(group, 1),
        attn_mask=None if bias is None else torch.tensor(bias, dtype=form),
        scale=problem.scale,
    )
    o.backward(torch.tensor(problem.dout, dtype=form))
    got = {"o": o, "q": q.grad, "k": k.grad, "v": v.grad}
    exact = {"bias": np.asarray(rounding.reference(problem).gradients.bias)}
    return {name: x.detach().double().numpy() for name, x in got.items()} | exact


@pytest.mark.parametrize(
    ("dtype", "grade"),
    [("float64", "strict"), ("float32", "strict"), ("float16", "eager"), ("bfloat16", "eager")],
)
@pytest.mark.torch
def test_torch_with_a_mask_stays_within_its_budgets(dtype: str, grade: Grade) -> None:
    for seed in range(40):
        problem = problem_of(seed, dtype, grade)
        if not problem.idle.any():
            got = by_torch(problem, np.where(problem.allowed, problem.bias, -np.inf))
            shares = dict(of_forward(problem, got)) | dict(of_backward(problem, got))
            assert max(shares.values()) <= 1, (seed, shares)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.torch
def test_the_fused_kernel_of_torch_is_of_the_flash_grade(dtype: str) -> None:
    for seed in range(60):
        problem = problem_of(seed, dtype, "flash").but(mask=None, causal=False)
        values = np.resize(problem.v, problem.k.shape)
        problem = problem.but(v=values, dout=np.resize(problem.dout, problem.q.shape))
        if rounding.in_domain(problem):
            got = by_torch(problem, None)
            shares = dict(of_forward(problem, got)) | dict(of_backward(problem, got))
            assert max(shares.values()) <= 1, (seed, shares)


# What budgets are, and where they are nothing


def budgets_of(problem: Problem) -> dict[str, Array]:
    gradients = rounding.of_gradients(problem)
    assert gradients.bias is not None
    return {
        "o": rounding.of_output(problem),
        "weights": rounding.of_weights(problem),
        "row sum": rounding.of_row_sum(problem),
        "lse": rounding.of_lse(problem),
        "dq": gradients.q,
        "dk": gradients.k,
        "dv": gradients.v,
        "dbias": gradients.bias,
    }


@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_budgets_are_zero_where_nothing_is_computed_and_positive_elsewhere(
    dtype: str, grade: Grade
) -> None:
    for seed in range(60):
        problem = problem_of(seed, dtype, grade)
        budgets, allowed = budgets_of(problem), problem.allowed
        keys = definition.gathered(allowed.sum(axis=-2)[..., None], problem.G) > 0
        rows = ~problem.idle
        expected = dict.fromkeys(("o", "dq"), rows[..., None]) | {"dk": keys, "dv": keys}
        expected |= {"row sum": rows, "lse": rows, "weights": allowed, "dbias": allowed}
        for name, there in expected.items():
            assert not np.isnan(budgets[name]).any(), (seed, name)
            assert ((budgets[name] > 0) == there).all(), (seed, name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_grade_allows_all_that_the_last_one_did(dtype: str) -> None:
    for seed in range(100):
        problem = problem_of(seed, dtype)
        strict, flash, eager = (budgets_of(problem.but(rounding=grade)) for grade in GRADES)
        for name in strict:
            assert (strict[name] <= flash[name]).all(), (seed, name)
            assert (flash[name] <= eager[name]).all(), (seed, name)


@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_forbidden_content_enters_no_budget(dtype: str, grade: Grade) -> None:
    poison = {"float16": 6e4}.get(dtype, 1e30)
    for seed in range(40):
        problem = problem_of(seed, dtype, grade)
        seen = np.ones(problem.M, dtype=bool)
        seen[0] = seen[-1] = False
        problem = problem.but(mask=np.broadcast_to(seen, problem.allowed.shape[-2:]))
        unseen, idle = ~seen[:, None], problem.idle[..., None]
        poisoned = problem.but(
            k=np.where(unseen, poison, problem.k),
            v=np.where(unseen, -poison, problem.v),
            q=np.where(idle, poison, problem.q),
            dout=np.where(idle, poison, problem.dout),
        )
        for name, budget in budgets_of(problem).items():
            np.testing.assert_array_equal(budgets_of(poisoned)[name], budget, f"{seed} {name}")


SIZES: list[dict[str, int]] = [
    *({axis: size} for axis in "BNMDE" for size in (0, 1)),
    {"N": 0, "M": 0},
    {"D": 0, "E": 0},
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_sizes_of_zero_and_one_have_budgets(
    sizes: dict[str, int], dtype: str, grade: Grade
) -> None:
    n = {"B": 2, "N": 3, "M": 4, "D": 5, "E": 6} | sizes
    shapes = (n["B"], 4, n["N"], n["D"]), (n["B"], 2, n["M"], n["D"])
    values = (n["B"], 2, n["M"], n["E"]), (n["B"], 4, n["N"], n["E"])
    chance = np.random.default_rng(0)
    q, k, v, dout = (rounded(chance.standard_normal(shape), dtype) for shape in (*shapes, *values))
    problem = Problem(q, k, v, dout, None, True, 0.5, dtype, grade)
    budgets = budgets_of(problem)
    assert budgets["o"].shape == (n["B"], 4, n["N"], n["E"])
    assert budgets["dk"].shape == problem.k.shape
    assert rounding.in_domain(problem)


def test_rows_that_rounding_alone_decides_are_held_to_the_hull() -> None:
    """The first score is ahead by 1024, and what the other may be off by is more than that."""
    q = np.ones((1, 1, 1, 2))
    k = np.array([[[[0.0, 0.0], [2.0**42, -(2.0**42) - 2.0**20]]]])
    v = np.array([[[[1.0], [3.0]]]])
    problem = Problem(q, k, v, v[:, :, :1], scale=2.0**-10, dtype="float32")
    assert rounding.coverage(problem) == rounding.Coverage(rows=1, capped=1, silent=1)
    budget = rounding.of_output(problem)
    assert 2 <= budget[0, 0, 0, 0] < 2.01
    assert np.isposinf(rounding.of_gradients(problem).k).all()


def test_the_reference_is_the_definition() -> None:
    for dtype in ("float32", "float64"):
        for seed in range(20):
            problem = problem_of(seed, dtype)
            asked = definition.wide(problem) if dtype == "float64" else problem
            exact = rounding.reference(problem)
            np.testing.assert_array_equal(exact.o, definition.attention(asked))
            np.testing.assert_array_equal(exact.lse, definition.lse(asked))
            np.testing.assert_array_equal(exact.weights, definition.weights(asked))
            np.testing.assert_array_equal(exact.gradients.k, definition.gradients(asked).k)


def test_most_strict_results_of_16_bits_have_one_admissible_value() -> None:
    single = []
    for seed in range(100):
        low, high = rounding.admissible(problem_of(seed, "bfloat16"))
        single.append((low == high).ravel())
    assert np.concatenate(single).mean() > 0.8


def test_sums_of_a_broadcast_mask_stay_within_their_budget() -> None:
    for dtype in ("float64", "float32", "bfloat16"):
        for seed in range(40):
            problem = problem_of(seed, dtype)
            machine = Machine(problem)
            ds = machine.backward()["bias"]
            want = np.asarray(rounding.reference(problem).gradients.bias)
            budget = np.asarray(rounding.of_gradients(problem).bias)
            for shape in ((problem.N, problem.M), (1, problem.H, 1, problem.M), want.shape, (1,)):
                lead = (1,) * (4 - len(shape)) + shape
                axes = tuple(x for x in range(4) if lead[x] == 1)
                got = machine.out(ds.astype(machine.f).sum(axis=axes, keepdims=True)).reshape(shape)
                total = want.sum(axis=axes, keepdims=True).reshape(shape)
                within = rounding.of_sum(want, budget, shape, problem)
                assert within.shape == shape
                assert ratio(got, total, within) <= 1, (dtype, seed, shape)


def test_what_overflows_is_out_of_the_domain() -> None:
    problem = problem_of(0, "float16")
    assert rounding.in_domain(problem)
    assert not rounding.in_domain(problem.but(v=np.full(problem.v.shape, 6e4)))
    far = problem.but(q=np.full(problem.q.shape, 300.0), k=np.full(problem.k.shape, 300.0))
    assert rounding.in_domain(far.but(dout=far.dout * 0, scale=1.0))
    assert not rounding.in_domain(far.but(dout=far.dout * 0, scale=1.0, rounding="eager"))
    hidden = problem.but(dtype="float32", k=np.full(problem.k.shape, 1e38), mask=np.zeros(1, bool))
    assert not rounding.in_domain(hidden)


# Faults


def to(dtype: str) -> Callable[[Array], Array]:
    return lambda x: rounded(x.astype(np.float64), dtype)


def truncated(x: Array) -> Array:
    """The leading 16 bits of a float32: a bfloat16 that was cut and not rounded."""
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


@dataclass(frozen=True)
class Fault:
    """What is done at a place, in which style, and on how many problems in a hundred it shows.

    shows: in float32 strict, bfloat16 strict, float16 strict and bfloat16 flash, at least.
    """

    place: str
    spoil: Callable[[Array], Array]
    style: str
    shows: tuple[int, int, int, int]


JUDGED: list[tuple[str, Grade]] = [
    ("float32", "strict"),
    ("bfloat16", "strict"),
    ("float16", "strict"),
    ("bfloat16", "flash"),
]

FAULTS: dict[str, Fault] = {
    "scores in bfloat16": Fault("s", to("bfloat16"), "textbook", (59, 51, 57, 51)),
    "scores in float16": Fault("s", to("float16"), "textbook", (59, 51, 51, 51)),
    "scale in bfloat16": Fault("scale", to("bfloat16"), "textbook", (44, 32, 30, 28)),
    "weights in bfloat16": Fault("p", to("bfloat16"), "textbook", (56, 51, 57, 0)),
    "weights in float16": Fault("p", to("float16"), "textbook", (56, 38, 43, 0)),
    "sum + 1e-5": Fault("L", lambda x: x + 1e-5, "textbook", (72, 51, 52, 51)),
    "sum + 1e-6": Fault("L", lambda x: x + 1e-6, "textbook", (57, 9, 11, 9)),
    "tiles in bfloat16": Fault("tile", to("bfloat16"), "tiles of 3", (80, 51, 67, 8)),
    "output truncated": Fault("o", truncated, "textbook", (80, 56, 68, 11)),
    "no row term": Fault("delta", np.zeros_like, "textbook", (76, 75, 68, 73)),
    "row term in bfloat16": Fault("delta", to("bfloat16"), "textbook", (76, 0, 54, 0)),
    "lse in bfloat16": Fault("lse", to("bfloat16"), "exp2", (76, 67, 72, 40)),
    "lse in float16": Fault("lse", to("float16"), "exp2", (76, 49, 62, 25)),
    "ds in bfloat16": Fault("ds", to("bfloat16"), "textbook", (59, 16, 43, 0)),
    "ds in float16": Fault("ds", to("float16"), "textbook", (65, 28, 19, 27)),
    "da in bfloat16": Fault("da", to("bfloat16"), "textbook", (62, 32, 36, 0)),
    "dk not scaled": Fault("dk", np.ones_like, "textbook", (52, 44, 36, 44)),
}


def shown(fault: Fault, dtype: str, grade: Grade, problems: int) -> float:
    """The share of problems, in a hundred, on which a budget is exceeded."""
    seen = 0
    with np.errstate(all="ignore"):
        for seed in range(problems):
            problem = problem_of(seed, dtype, grade)
            machine = Machine(problem, STYLES[fault.style], {fault.place: fault.spoil})
            seen += max(worst(problem, machine).values()) > 1
    return 100 * seen / problems


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_exceeds_budgets_at_least_this_often(name: str) -> None:
    shares = [shown(FAULTS[name], dtype, grade, 50) for dtype, grade in JUDGED]
    for share, least, where in zip(shares, FAULTS[name].shows, JUDGED, strict=True):
        assert share >= least, (where, share)
