"""Problems for the tests of budgets: numbers of every kind, in every format and grade."""

import numpy as np

from spec.attention.notation import Problem
from spec.formats import FORMATS, rounded
from spec.notation import GRADES, Array, Grade
from tests.attention.in_domain import in_domain

DTYPES_AND_GRADES: list[tuple[str, Grade]] = [
    ("float64", "strict"),
    ("float32", "strict"),
    *((dtype, grade) for dtype in ("float16", "bfloat16") for grade in GRADES),
]


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
    chance = np.random.default_rng([seed, FORMATS[dtype].p])
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
        causal = bool(chance.random() < 0.3)
        problem = Problem(q, k, v, dout, mask=mask, causal=causal, scale=scale)
        problem = problem.but(dtype=dtype, rounding=grade)
        if in_domain(problem.but(rounding="eager")):
            return problem
