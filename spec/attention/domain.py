"""Where the clauses quantify: attention problems, and how they are drawn.

A domain is data: `Problems(square=True, masks=BOOLEAN)` says which problems a
clause is about, and `problem` makes choices into one of those that an
implementation answers. A domain never filters: what it cannot use it does not
draw.

Small problems are drawn entry by entry, so that they shrink to zeros; larger
ones have their sizes and families drawn, and their entries from a drawn seed.
Sizes shrink to one batch, one head, one query and one key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from spec import entries
from spec.attention import masks as kinds
from spec.attention.notation import UNBOUNDED, Problem, Window, corners
from spec.attention.options import CAUSAL, MASK, WINDOW, Capability, together
from spec.choices import Choices
from spec.domain import Scope
from spec.notation import Array, Memory
from spec.sizes import EDGES, Limits, Sizes, Tiled, sizes
from spec.subject import holding

PLAIN = ("none",)
# A fault that only idle queries show is for the clauses about them and for section A; one at the
# end of many keys is for the clause about tiles. A slight bias is for sizes that come but once.
IDLE, ENDS, SLIGHT = kinds.LEAVE_QUERIES_IDLE, kinds.AT_THE_END, kinds.SLIGHT
BOOLEAN = tuple(x for x in kinds.BOOLEAN if x not in (*IDLE, *ENDS))
ADDITIVE = tuple(x for x in kinds.ADDITIVE if x not in (*IDLE, *ENDS, *SLIGHT))
ANY = (*PLAIN, *BOOLEAN, *ADDITIVE)
EVERY = (*ANY, *IDLE)


@dataclass(frozen=True, kw_only=True)
class Problems:
    """A domain of problems.

    masks: the kinds to draw from. families: of entries. causal: True or False asks
    for one of the two. windows: likewise, and they are not drawn where causality is not: who does
    without one does without places. square: N = M. grouped: G < H. scales: "default" asks for
    none, "asked" for any, ("odd",) for one that is zero or negative. least: the
    smallest B, H, N, M to draw (a clause that moves the second key needs one).
    empty: sizes of zero may occur. equal_widths: D = E. modest: N and M of at
    most 33, for a clause that looks at every weight. tiled: enough "keys" (or
    "queries") for several tiles, and few of the other; "ends": keys as many as tiles hold, and a
    few more. wide: D of 63 and more. each: all sizes in turn, and N = M if it
    is causal, so that the last key is seen. few: in every second problem one option is asked, or
    two.
    """

    masks: tuple[str, ...] = ANY
    families: tuple[str, ...] = entries.ALL
    causal: bool | None = None
    windows: bool | None = None
    square: bool = False
    grouped: bool | None = None
    scales: tuple[str, ...] = ("default", "asked")
    least: tuple[int, int, int, int] = (1, 1, 1, 1)
    empty: bool = False
    equal_widths: bool = False
    modest: bool = False
    tiled: Tiled = ""
    wide: bool = False
    each: bool = False
    few: bool = False
    about: ClassVar[str] = "attention"

    @property
    def needs(self) -> frozenset[str]:
        """What the domain cannot do without, and a clause over it needs as well."""
        masked = "none" not in self.masks
        boolean = any(kind in kinds.BOOLEAN for kind in self.masks)  # asked of who takes these only
        asked = {
            Capability.MASK: masked and boolean,
            Capability.BIAS: masked and not boolean,
            Capability.CAUSAL: self.causal,
            Capability.FUTURE: self.causal is False,
            together(MASK, CAUSAL): masked and self.causal,
            Capability.WINDOW: self.windows,
            together(MASK, WINDOW): masked and self.windows,
            together(CAUSAL, WINDOW): self.causal and self.windows,
            Capability.GROUPS: self.grouped,
            Capability.SCALE: "default" not in self.scales,
            Capability.SEVERAL: self.grouped or max(self.least[:2]) > 1,
            Capability.QUERIES: self.tiled == "queries" or self.least[2] > 1,
        }
        return holding(asked)

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        domain = _with_few_options(choices, self, scope.answers) if self.few else self
        kind, causal = _kind(choices, domain, scope.answers)
        size = sizes(choices, _limits(domain, scope, _asked(kind, causal)))
        scale = _scale(choices, domain, scope.answers, causal)
        seeded = partial(entries.entries, scale=1.0 if scale is None else scale, dtype=scope.dtype)
        q, k, v, dout = entries.drawn(choices, self.families, size.shapes, seeded)
        if size.M == 0:
            q = np.zeros_like(q)  # that nothing of them is read without keys is T10
        window = _window(choices, domain, scope.answers, _asked(kind, causal), size)
        memory = choices.pick(MEMORIES if Capability.STRIDES in scope.answers else DENSE_MEMORIES)
        if memory == "expanded":
            k, v = _alike(k), _alike(v)
        forms = tuple(kinds.FORMS) if Capability.FORMS in scope.answers else ("B 1 1 M",)
        form = choices.pick(forms) if kind != "none" else "N M"
        seed = choices.seed()
        return Problem(
            q,
            k,
            v,
            dout,
            mask=kinds.mask(kind, form, seed, size.scores, scope.dtype, causal=causal),
            causal=causal,
            window=window,
            scale=scale,
            dtype=scope.dtype,
            rounding=scope.rounding,
            **corners(scope.conventions),
            memory=memory,
            seed=choices.places(seed),
        )


BOUNDS = (0, 1, 2, 3, 4, 5, *EDGES)  # of windows: a few keys, and about as many as tiles hold
SCALES = (0.5, 2.0, 0.3, 1.0)
ODD_SCALES = (0.0, -0.25)
TIDY: tuple[Memory, ...] = ("contiguous",) * 4
DENSE_MEMORIES: tuple[Memory, ...] = (*TIDY, "transposed", "offset", "expanded")
MEMORIES: tuple[Memory, ...] = (*DENSE_MEMORIES, "strided")


# What a domain has to say for an option not to be asked, and for it to be.
OPTIONS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    Capability.MASK: ({"masks": PLAIN}, {"masks": (*BOOLEAN, "idle")}),
    Capability.BIAS: ({"masks": PLAIN}, {"masks": (*ADDITIVE, "additive idle", *SLIGHT)}),
    Capability.CAUSAL: ({"causal": False}, {"causal": True}),
    Capability.WINDOW: ({"windows": False}, {"windows": True}),
    Capability.SCALE: ({"scales": ("default",)}, {"scales": ("asked",)}),
    Capability.GROUPS: ({"grouped": False}, {"grouped": True}),
    Capability.WIDTHS: ({"equal_widths": True}, {"equal_widths": False}),
}


def _with_few_options(choices: Choices, domain: Problems, answers: frozenset[str]) -> Problems:
    """The domain, or that part of it in which one option is asked or two, of those answered."""
    there = [option for option in OPTIONS if option in answers]
    if not there or choices.pick((False, True)):
        return domain
    wanted = {choices.pick(there) for _ in range(choices.pick((1, 2)))}
    said: dict[str, Any] = {}
    for asked in (False, True):  # of two kinds of mask the second is had
        for option, ways in OPTIONS.items():
            said |= ways[asked] if (option in wanted) == asked else {}
    masks = tuple(kind for kind in said["masks"] if kind in domain.masks)
    return replace(domain, **said | {"masks": masks or domain.masks})


def _kind(choices: Choices, domain: Problems, answers: frozenset[str]) -> tuple[str, bool]:
    """The kind of mask and whether it is causal, of what the domain and the scope share."""
    allowed = [
        kind
        for kind in domain.masks
        if kind == "none"
        or (kind in kinds.BOOLEAN and Capability.MASK in answers)
        or (kind in kinds.ADDITIVE and Capability.BIAS in answers)
    ]
    if Capability.FORMS not in answers:
        allowed = [kind for kind in allowed if kind not in kinds.OF_ROWS]
    if "none" in allowed:
        allowed += ["none"] * (len(allowed) // 2)  # the plain problem stays frequent
    causal = domain.causal
    if domain.windows and together(MASK, WINDOW) not in answers:
        allowed = ["none"]
    if domain.windows and together(CAUSAL, WINDOW) not in answers:
        causal = False
    if Capability.FUTURE not in answers:
        causal = True
    elif causal is None:
        causal = Capability.CAUSAL in answers and choices.pick((False, True))
    if causal and together(MASK, CAUSAL) not in answers:
        causal = "none" in allowed
        allowed = [kind for kind in allowed if kind == "none" or not causal]
    kind = choices.pick(allowed)
    return choices.vary(kind, [x for x in allowed if kinds.are_alike(x, kind)]), causal


def _window(
    choices: Choices, domain: Problems, answers: frozenset[str], beside: frozenset[str], size: Sizes
) -> Window:
    """The window to ask for: one that ends within the keys more often than not."""
    with_mask = together(MASK, WINDOW) in answers or not beside & {Capability.MASK, Capability.BIAS}
    with_causal = together(CAUSAL, WINDOW) in answers or Capability.CAUSAL not in beside
    drawn = domain.windows or (domain.windows is None and domain.causal is not False)
    if Capability.WINDOW not in answers or not (drawn and with_mask and with_causal):
        return UNBOUNDED
    if not domain.windows and choices.pick((True, True, False)):
        return UNBOUNDED
    within = tuple(x for x in BOUNDS if x < size.M)
    left, right = (choices.pick((*within, max(size.M - 1, 0), size.M, None)) for _ in range(2))
    if domain.windows and left is None is right:
        right = 0
    return left, right


def _scale(
    choices: Choices, domain: Problems, answers: frozenset[str], causal: bool
) -> float | None:
    """The scale to ask for; one that is not positive, and causal, is for the clause about it."""
    if Capability.SCALE not in answers or domain.scales == ("default",):
        return None
    if domain.scales == ("odd",):
        return choices.pick(ODD_SCALES)
    scales = SCALES if causal else (*SCALES, *ODD_SCALES)
    not_asked = (None,) * len(scales) if "default" in domain.scales else ()
    return choices.pick((*not_asked, *scales))


def _asked(kind: str, causal: bool) -> frozenset[str]:
    """What a problem with this kind of mask is, whatever its sizes are."""
    masked = kind != "none"
    asked = {
        Capability.MASK: kind in kinds.BOOLEAN,
        Capability.BIAS: kind in kinds.ADDITIVE,
        Capability.CAUSAL: causal,
        together(MASK, CAUSAL): masked and causal,
    }
    return holding(asked)


def _limits(domain: Problems, scope: Scope, asked: frozenset[str]) -> Limits:
    """What sizes the domain and the scope both allow for what is asked."""
    answers = scope.answers
    square = domain.square or (domain.each and Capability.CAUSAL in asked)
    tiles = [scope.multiples.get(kind, 1) for kind in ("lengths", *asked)]
    return Limits(
        scope.reach,
        domain.least,
        square or Capability.LENGTHS not in answers,
        domain.modest,
        domain.tiled,
        domain.grouped if answers >= {Capability.GROUPS, Capability.SEVERAL} else False,
        Capability.WIDTHS in answers and (domain.each or not domain.equal_widths),
        Capability.EMPTY in answers and domain.empty,
        domain.wide,
        Capability.SEVERAL in answers,
        Capability.QUERIES in answers,
        max(tiles),
        scope.multiples.get("widths", 1),
        domain.each,
    )


def _alike(x: Array) -> Array:
    """The same numbers in every batch element, which a view can have with a stride of zero."""
    return np.repeat(x[:1], len(x), axis=0)
