"""The domains of attention clauses: which problems a clause is about, and how they are drawn.

A domain is data: `Problems(square=True, masks=BOOLEAN)` says which problems a clause is about, and
`problem` turns choices into one of those that an implementation supports. A domain never filters:
it does not draw what it cannot use.

Small problems are drawn entry by entry, so that they shrink to zeros. Of larger ones, the sizes and
families are drawn, and the entries come from a drawn seed. Sizes shrink to one batch element, one
head, one query and one key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any, ClassVar

import numpy as np

from spec import entries
from spec.attention import asking, held, windows
from spec.attention import masks as kinds
from spec.attention.contents import UNBOUNDED
from spec.attention.conventions import as_chosen
from spec.attention.exact import Exact, exactly
from spec.attention.notation import Problem
from spec.attention.options import (
    CAP,
    CAUSAL,
    FIRST,
    MASK,
    PAIRS,
    QUERY_SEGMENTS,
    SINKS,
    SLOPES,
    WINDOW,
    Capability,
    together,
)
from spec.choices import Choices
from spec.domain import Scope
from spec.sizes import OF_QUERIES, Limits, Tiled, sizes
from spec.subject import holding

PLAIN = ("none",)
# Bugs of fully masked queries are for the clauses about these and for section A; bugs at the end of
# many keys, for the clause about tiles. A slight bias is for sizes that are drawn only once.
IDLE, ENDS, SLIGHT = kinds.LEAVE_QUERIES_IDLE, kinds.AT_THE_END, kinds.SLIGHT
BOOLEAN = tuple(x for x in kinds.BOOLEAN if x not in (*IDLE, *ENDS))
ADDITIVE = tuple(x for x in kinds.ADDITIVE if x not in (*IDLE, *ENDS, *SLIGHT))
ANY = (*PLAIN, *BOOLEAN, *ADDITIVE)
EVERY = (*ANY, *IDLE)


@dataclass(frozen=True, kw_only=True)
class Problems:
    """A domain of problems.

    masks: the kinds to draw from. families: of entries. cotangents: the log-sum-exp has one too.
    causal: True or False requires one of the two. windows: likewise; without True, none are drawn
    if causality is excluded, as such a clause does not use positions. firsts: likewise, for leading
    keys that windows keep visible. caps, sinks, slopes, segments, positions: likewise. shifts:
    something is added to all scores of a query, so no sum is soft-capped. square: N = M. grouped: G
    < H. scales: "default" gives none, "asked" any, ("odd",) zero or a negative one. in_rows: row t
    is position t, so no segments are drawn in which positions restart. least: the smallest B, H, N,
    M (a clause that moves the second key needs two). empty: sizes of zero may occur. equal_widths:
    D = E. modest: N and M of at most 33, for a clause that checks every weight. tiled: enough
    "keys" (or "queries") for several tiles, and few of the other; "ends": a few more keys than
    tiles hold. wide: D of 63 and more. each: all sizes take turns, and N = M if causal, so that the
    last key is visible. few: every second problem has one or two options only. single: of so many
    problems, one has a single query and many keys, as where tokens are generated. mixed: additive
    masks may be in float32 where arrays have 16 bits. exact: "scores" or "gradients" of some
    problems are exact in 16 bits.
    """

    masks: tuple[str, ...] = ANY
    families: tuple[str, ...] = entries.ALL
    causal: bool | None = None
    cotangents: bool = False
    windows: bool | None = None
    firsts: bool | None = None
    caps: bool | None = None
    sinks: bool | None = None
    slopes: bool | None = None
    segments: bool | None = None
    positions: bool | None = None
    in_rows: bool = False
    shifts: bool = False
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
    single: int = 0
    mixed: bool = False
    exact: Exact = ""
    about: ClassVar[str] = "attention"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain always requires, as does every clause over it."""
        masked, others = "none" not in self.masks, asking.others(self)
        boolean = any(kind in kinds.BOOLEAN for kind in self.masks)  # which then suffice
        always = {MASK: masked, CAUSAL: self.causal, **others}
        asked: dict[str, Any] = {
            **{together(x, y): always[x] and always[y] for x, y in PAIRS},
            **{asking.ALONE[x]: has for x, has in others.items()},
            Capability.MASK: masked and boolean,
            Capability.BIAS: masked and not boolean,
            Capability.CAUSAL: self.causal,
            Capability.FUTURE: self.causal is False,
            Capability.GROUPS: self.grouped,
            Capability.SCALE: "default" not in self.scales,
            Capability.BATCHES: self.least[0] > 1,
            Capability.SEVERAL: self.grouped or max(self.least[:2]) > 1,
            Capability.QUERIES: self.tiled in OF_QUERIES or self.least[2] > 1,
        }
        return holding(asked)

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        domain = _with_few_options(choices, self, scope.answers) if self.few else self
        kind, causal = asking.kind(choices, domain, scope.answers)
        beside = asking.asked(kind, causal)
        size = sizes(choices, _limits(domain, scope, beside))
        scale = asking.scale(choices, domain, scope.answers, causal)
        seeded = partial(entries.entries, scale=1.0 if scale is None else scale, dtype=scope.dtype)
        q, k, v, dout = entries.drawn(choices, self.families, size.shapes, seeded)
        if size.M == 0:
            q = np.zeros_like(q)  # T10 tests that they are not read without keys
        window = windows.drawn(choices, domain, scope.answers, beside, size)
        said = {MASK: kind != "none", CAUSAL: causal, WINDOW: window != UNBOUNDED}
        first = windows.first(choices, domain, scope, window, size, said)
        said |= {FIRST: first > 0}
        softcap = asking.cap(choices, domain, scope, said)
        said |= {CAP: softcap is not None}
        sinks = asking.sinks(choices, domain, scope, said, size.H)
        said |= {SINKS: sinks is not None}
        slopes = asking.slopes(choices, domain, scope, said, size)
        said |= {SLOPES: slopes is not None}
        segments = asking.segments(choices, domain, scope, said, size)
        said |= {QUERY_SEGMENTS: bool(segments)}
        positions = asking.positions(choices, domain, scope, said, size)
        memory = held.memory(choices, scope.answers)
        if memory == "expanded":  # the same in every batch element, in a view with a stride of zero
            k, v = (np.repeat(x[:1], len(x), axis=0) for x in (k, v))
        forms = tuple(kinds.FORMS) if Capability.FORMS in scope.answers else ("B 1 1 M",)
        form = choices.pick(forms) if kind != "none" else "N M"
        seed = choices.seed()
        mask = kinds.mask(kind, form, seed, size.scores, scope.dtype, causal=causal)
        posed = Problem(
            q,
            k,
            v,
            dout,
            dlse=asking.dlse(choices, domain, size),
            mask=held.formatted(choices, scope, mask) if self.mixed else mask,
            causal=causal,
            window=window,
            first=first,
            scale=scale,
            softcap=softcap,
            sinks=sinks,
            slopes=slopes,
            **segments,
            **positions,
            dtype=scope.dtype,
            rounding=scope.rounding,
            **as_chosen(scope.conventions),
            memory=memory,
            seed=choices.places(seed),
            **held.drawn(choices, scope.answers),
        )
        return exactly(choices, posed, self.exact, scope)


# The fields by which a domain excludes an option, and by which it requires one.
OPTIONS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    Capability.MASK: ({"masks": PLAIN}, {"masks": (*BOOLEAN, "idle")}),
    Capability.BIAS: ({"masks": PLAIN}, {"masks": (*ADDITIVE, "additive idle", *SLIGHT)}),
    Capability.CAUSAL: ({"causal": False}, {"causal": True}),
    Capability.WINDOW: ({"windows": False}, {"windows": True}),
    Capability.CAP: ({"caps": False}, {"caps": True}),
    Capability.SINKS: ({"sinks": False}, {"sinks": True}),
    Capability.SLOPES: ({"slopes": False}, {"slopes": True}),
    Capability.SEGMENTS: ({"segments": False}, {"segments": True}),
    Capability.POSITIONED: ({"positions": False}, {"positions": True}),
    Capability.SCALE: ({"scales": ("default",)}, {"scales": ("asked",)}),
    Capability.GROUPS: ({"grouped": False}, {"grouped": True}),
    Capability.WIDTHS: ({"equal_widths": True}, {"equal_widths": False}),
}


def _with_few_options(choices: Choices, domain: Problems, answers: frozenset[str]) -> Problems:
    """The domain, or the part of it with one or two supported options that it does not exclude."""
    if not (there := _options(domain, answers)) or choices.pick((False, True)):
        return domain
    return _asking(domain, frozenset(choices.pick(there) for _ in range(choices.pick((1, 2)))))


@cache
def _options(domain: Problems, answers: frozenset[str]) -> tuple[str, ...]:
    """The supported options that a domain does not exclude."""
    asks = {x: [*has.items()] for x, (_, has) in OPTIONS.items() if x in answers}
    out = {(name, True) for name, has in vars(domain).items() if has is False}
    return tuple(x for x, (has,) in asks.items() if has not in out)


@cache
def _asking(domain: Problems, wanted: frozenset[str]) -> Problems:
    """The part of a domain in which these options are used, and no others."""
    said: dict[str, Any] = {}
    for asked, option in product((False, True), OPTIONS):  # of two kinds of mask, the second wins
        said |= OPTIONS[option][asked] if (option in wanted) == asked else {}
    masks = tuple(kind for kind in said["masks"] if kind in domain.masks)
    return replace(domain, **said | {"masks": masks or domain.masks})


def _limits(domain: Problems, scope: Scope, asked: frozenset[str]) -> Limits:
    """The sizes that the domain and the scope both allow with these options."""
    answers = scope.answers
    square = domain.square or (domain.each and Capability.CAUSAL in asked)
    square = square or bool(domain.segments and Capability.OTHERS not in answers)
    beside = {Capability.WIDTHS_BESIDE} if together(MASK, CAUSAL) in asked else set()
    tiles = [scope.multiples.get(x, 1) for x in ("lengths", *asked)] if scope.multiples else [1]
    return Limits(
        scope.reach,
        domain.least,
        square or Capability.LENGTHS not in answers,
        domain.modest,
        domain.tiled,
        domain.grouped if answers >= {Capability.GROUPS, Capability.SEVERAL} else False,
        {Capability.WIDTHS, *beside} <= answers and (domain.each or not domain.equal_widths),
        Capability.EMPTY in answers and domain.empty,
        domain.wide,
        Capability.BATCHES in answers,
        Capability.SEVERAL in answers,
        Capability.QUERIES in answers,
        max(tiles),
        scope.multiples.get("widths", 1),
        domain.each,
        domain.single,
    )
