"""Where the clauses about layers quantify.

Sizes and families are drawn, the entries come from a drawn seed. Weights are scaled so that
projections have about the size of what is projected, but for the family "sharp". A token of zeros
is a token, as padding is. Every query sees the first key unless a kind of mask says "idle".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from spec.attention.conventions import products_as
from spec.choices import Choices
from spec.domain import Scope
from spec.formats import rounded
from spec.layer.notation import GIVEN, INPUTS, Arrays, Asks, LayerProblem, Parameters
from spec.layer.record import BUILT_WITH, FEW, KINDS, SIZED, Capability
from spec.notation import Array
from spec.rows import Numbers, Shape, arrays_of, heavy, normal
from spec.sizes import each
from spec.stream import Stream

# What hides keys, and what an implementation has to take for it.
HIDING: Mapping[str, frozenset[str]] = {
    "none": frozenset(),
    "padding": frozenset({Capability.PADDING}),
    "causal": frozenset({Capability.CAUSAL}),
    "mask": frozenset({Capability.MASK}),
    "bias": frozenset({Capability.BIAS}),
    "mask of heads": frozenset({Capability.MASK, Capability.HEAD_MASK}),
    "bias of heads": frozenset({Capability.BIAS, Capability.HEAD_MASK}),
    "mask and padding": frozenset({Capability.MASK, Capability.PADDING}),
    "bias and padding": frozenset({Capability.BIAS, Capability.PADDING}),
    "causal and padding": frozenset({Capability.CAUSAL, Capability.PADDING}),
    "idle by padding": frozenset({Capability.PADDING}),
    "idle by mask": frozenset({Capability.MASK}),
    "idle by bias": frozenset({Capability.BIAS}),
}
# Which weights are asked for, and what an implementation has to return for it.
SHOWING: Mapping[str, str] = {"mean": Capability.MEAN, "heads": Capability.EACH_HEAD}
IDLE = ("idle by padding", "idle by mask")  # by truth values
LIVE = tuple(kind for kind in HIDING if not kind.startswith("idle"))
EVERY = (*LIVE, *IDLE)
FAMILIES = ("lattice", "normal", "heavy", "sharp", "tiny")
HEADS, HEAD_WIDTHS = (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 8)
SHARING = (1, 2, 3)  # heads to a key head
SHORT, LONG = (1, 2, 3, 4, 5), (7, 8, 9, 16, 17, FEW)
MOST = {"N": 130, "M": 130, "H": 20, "D": 66, "B": 8}  # of the lengths that come in turn
EACH = each(MOST)
EACH_OF_FEW = tuple((axis, size) for axis, size in EACH if axis not in "NM" or size <= FEW)


@dataclass(frozen=True, kw_only=True)
class LayerProblems:
    """A domain of layer problems.

    hiding: the kinds of HIDING to draw from. arrays: how many query, key and value are. square: as
    many queries as keys. biases: those that have to be there, () for none, or (None) all that the
    layer has, or none. own_widths: keys and values of widths of their own. unbatched: without a
    batch axis. grouped: (None) perhaps fewer key heads than heads. asks, training: as in the
    problem; None is either mode. least: the smallest B, H, N, M. families: of entries. each: all
    sizes in turn.
    """

    hiding: tuple[str, ...] = LIVE
    arrays: tuple[Arrays, ...] = (3, 1, 2)
    square: bool = False
    biases: tuple[str, ...] | None = None
    own_widths: bool | None = None
    unbatched: bool | None = False
    grouped: bool | None = None
    asks: tuple[Asks, ...] = ("nothing",)
    training: bool | None = True
    least: tuple[int, int, int, int] = (1, 1, 1, 1)
    families: tuple[str, ...] = FAMILIES
    each: bool = False
    about: ClassVar[str] = "layer"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain requires, and a clause over it needs as well."""
        shared = frozenset.intersection(*(HIDING[kind] for kind in self.hiding))
        hidden = "none" not in self.hiding  # so that there is something to draw
        needs = set(shared or HIDING[self.hiding[0]]) if hidden else set()
        asked = {
            Capability.APART: 1 not in self.arrays,
            Capability.MEAN: self.asks == ("mean",),
            Capability.WIDTHS: self.own_widths,
            Capability.UNBIASED: self.biases == (),
            Capability.UNBATCHED: self.unbatched,
        }
        needs |= {BUILT_WITH[name] for name in self.biases or ()}
        return frozenset(needs.union(need for need, is_asked in asked.items() if is_asked))

    def problem(self, choices: Choices, scope: Scope) -> LayerProblem:
        """A problem of this domain that lies in `scope`."""
        answers = scope.answers & KINDS
        domain = self if Capability.APART in answers else replace(self, arrays=(1,))
        kind = choices.pick(_kinds(domain, answers))
        unbatched = _either(choices, domain.unbatched, Capability.UNBATCHED in answers)
        sizes = _sizes(choices, domain, scope, batches=(1,) if unbatched else (1, 2, 3))
        apart = domain.arrays != (1,)  # one array has one width
        own = apart and _either(choices, domain.own_widths, Capability.WIDTHS in answers)
        square = sizes["N"] == sizes["M"] and not own  # as domain-attention has to be
        count = choices.pick([x for x in domain.arrays if x > 1 or square])
        without = None if domain.biases is None else not domain.biases
        unbiased = _either(choices, without, Capability.UNBIASED in answers)
        biases = [] if unbiased else [name for name in BUILT_WITH if BUILT_WITH[name] in answers]
        family = choices.vary(choices.pick(domain.families), domain.families)
        chance = Stream(choices.seed())
        grouped = domain.grouped is None and Capability.GROUPS in answers
        sharing = choices.pick(SHARING) if grouped else 1
        sizes |= {"G": sizes["H"], "H": sizes["H"] * sharing, "A": sizes["A"] * sharing}
        arrays: dict[str, Any] = _arrays(chance, family, sizes, count, own=own, dtype=scope.dtype)
        return LayerProblem(
            **arrays,
            parameters=_parameters(chance, family, arrays, sizes, biases, scope.dtype),
            heads=sizes["H"],
            **_hidden(chance, kind, sizes, scope.dtype, always=Capability.FUTURE not in answers),
            arrays=count,
            batched=not unbatched,
            training=choices.pick((True, False)) if domain.training is None else domain.training,
            asks=choices.pick(_asks(domain, answers)),
            turn=_turn(scope),  # type: ignore[arg-type]
            dtype=scope.dtype,
            rounding=scope.rounding,
            products=products_as(scope.conventions),
            seed=choices.places(choices.seed()),
        )


def _kinds(domain: LayerProblems, answers: frozenset[str]) -> list[str]:
    """What may hide keys; nothing does in every third problem, where that is allowed."""
    kinds = [kind for kind in domain.hiding if HIDING[kind] <= answers]
    return kinds + ["none"] * (len(kinds) // 2) if "none" in kinds else kinds


def _asks(domain: LayerProblems, answers: frozenset[str]) -> list[Asks]:
    """Which weights may be asked for, of those of the domain."""
    return [x for x in domain.asks if x not in SHOWING or SHOWING[x] in answers]


def _either(choices: Choices, wanted: bool | None, possible: bool) -> bool:
    """What the domain asks for; where it leaves the choice, what is drawn of the possible."""
    return (possible and choices.pick((False, True, False))) if wanted is None else wanted


def _sizes(
    choices: Choices, domain: LayerProblems, scope: Scope, batches: tuple[int, ...]
) -> dict[str, int]:
    """The lengths of the axes; a long axis comes now and then, and alone."""
    least_b, least_h, least_n, least_m = domain.least
    H, D = max(least_h, choices.pick(HEADS)), choices.pick(HEAD_WIDTHS)
    long = scope.reach != "small" and choices.pick((False, False, False, True))
    N = max(least_n, choices.pick(SHORT))
    M = max(least_m, choices.pick(LONG if long else SHORT))
    square = domain.arrays == (1,) or domain.square or choices.pick((False, True))
    sizes = {"B": max(least_b, choices.pick(batches)), "H": H, "D": D, "N": N, "M": M}
    if domain.each and scope.reach != "small":
        sizes = {axis: min(size, SHORT[1]) for axis, size in sizes.items()}
        many = Capability.MANY_TOKENS in scope.answers
        sizes |= [choices.turn(EACH if many else EACH_OF_FEW)]
    sizes["D"] += sizes["D"] % 2 if _turn(scope) != "none" else 0  # what is turned comes in pairs
    if scope.multiples:  # one object, of these sizes
        A, sizes["H"] = (scope.multiples[name] for name in SIZED)
        sizes["D"] = A // sizes["H"]
    if square:
        sizes["N"] = sizes["M"] = max(sizes["N"], sizes["M"])
    return sizes | {"A": sizes["H"] * sizes.pop("D")}


def _arrays(
    chance: Stream, family: str, sizes: Mapping[str, int], count: Arrays, *, own: bool, dtype: str
) -> dict[str, Array]:
    """query, key and value, of so many arrays, and dout."""
    B, N, M, A = (sizes[axis] for axis in "BNMA")
    K, V = (chance.randrange(1, A + 4) for _ in "KV") if own else (A, A)
    names = [*dict.fromkeys(GIVEN[count])]
    shapes = dict(zip(INPUTS, ((B, N, A), (B, M, K), (B, M, V)), strict=True))
    *made, dout = arrays_of(NUMBERS[family], chance, [*(shapes[x] for x in names), (B, N, A)])
    for x in made:
        x[chance.random(*x.shape[:2]) < 0.1] = 0.0
    found = {name: rounded(x, dtype) for name, x in zip(names, made, strict=True)}
    given = {name: found[x] for name, x in zip(INPUTS, GIVEN[count], strict=True)}
    return given | {"dout": rounded(dout, dtype)}


def _parameters(
    chance: Stream,
    family: str,
    arrays: Mapping[str, Array],
    sizes: Mapping[str, int],
    biases: Sequence[str],
    dtype: str,
) -> Parameters:
    """Weights that keep the size of what they project, or that make scores large."""
    A, of_keys = sizes["A"], sizes["G"] * sizes["A"] // sizes["H"]
    rows = {"q": A, "k": of_keys, "v": of_keys, "o": A}
    widths = {"W_q": A, "W_k": arrays["key"].shape[2], "W_v": arrays["value"].shape[2], "W_o": A}
    shapes: dict[str, Shape] = {name: (rows[name[2]], widths[name]) for name in widths}
    shapes |= {name: (rows[name[2]],) for name in biases}
    drawn = arrays_of(NUMBERS[family], chance, [*shapes.values()])
    found = dict(zip(shapes, drawn, strict=True))
    for name, width in widths.items():
        found[name] *= 2.0 ** -np.round(np.log2(width) / 2)
    if family == "sharp":
        found["W_q"] *= chance.choice((8.0, 64.0, 512.0))
    return Parameters(**{name: rounded(x, dtype) for name, x in found.items()})


NUMBERS: Mapping[str, Numbers] = {
    "lattice": lambda chance, shape: chance.integers(-8, 9, shape) / 4,
    "normal": normal,
    "heavy": lambda chance, shape: np.clip(heavy(chance, shape), -64, 64),
    "sharp": normal,
    "tiny": lambda chance, shape: chance.normal(*shape) / 64,
}


def _hidden(
    chance: Stream, kind: str, sizes: Mapping[str, int], dtype: str, *, always: bool
) -> dict[str, Any]:
    """padding, mask and causal of a kind, or causal in any case; True forbids."""
    B, H, N, M = (sizes[axis] for axis in "BHNM")
    found: dict[str, Any] = {"causal": always or "causal" in kind}
    if "padding" in kind:
        least = 0 if "idle" in kind else 1
        found["padding"] = np.arange(M) >= chance.integers(least, M + 1, B)[:, None]
    if "mask" in kind:
        hidden = chance.random(B * H if "heads" in kind else 1, N, M) < chance.choice((0.3, 0.7))
        hidden[..., 0] = "idle" in kind and hidden[..., 0]
        if "idle" in kind:
            hidden[chance.random(*hidden.shape[:-1]) < 0.3] = True
        found["mask"] = hidden if "heads" in kind else hidden[0]
    if "bias" in kind:
        shape = (B * H, N, M) if "heads" in kind else (N, M)
        bias = rounded(chance.normal(*shape) * chance.choice((1.0, 8.0)), dtype)
        bias[..., 1:][chance.random(*bias[..., 1:].shape) < 0.3] = -np.inf
        if "idle" in kind:
            bias[chance.random(*bias.shape[:-1]) < 0.5] = -np.inf
        found["mask"] = bias
    return found


def _turn(scope: Scope) -> str:
    """How the layer turns its queries and keys."""
    return scope.conventions.get("rotary", LayerProblem.turn)
