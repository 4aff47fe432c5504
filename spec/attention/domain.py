"""Where the clauses quantify: attention problems, and how they are drawn.

A domain is data: `Problems(square=True, masks=BOOLEAN)` says which problems a clause is about, and
`problem` makes choices into one of those that an implementation answers. A domain never filters:
what it cannot use it does not draw.

Small problems are drawn entry by entry, so that they shrink to zeros; larger ones have their sizes
and families drawn, and their entries from a drawn seed. Sizes shrink to one batch, one head, one
query and one key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from spec import entries
from spec.attention import asking, held, windows
from spec.attention import masks as kinds
from spec.attention.conventions import as_chosen
from spec.attention.notation import UNBOUNDED, Problem
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
from spec.notation import Memory
from spec.sizes import OF_QUERIES, Limits, Tiled, sizes
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

    masks: the kinds to draw from. families: of entries. cotangents: the log-sum-exp has one too.
    causal: True or False asks for one of the two. windows: likewise, and they are not drawn where
    causality is not: who does without one does without places. firsts: likewise, of keys that stay
    in sight of a window. caps, sinks, slopes, segments, positions: likewise. shifts: something is
    added to all scores of a query, so no sum is capped. square: N = M. grouped: G < H. scales:
    "default" asks for none, "asked" for any, ("odd",) for one that is zero or negative. in_rows:
    row t is place t: where texts start anew, none are drawn. least: the smallest B, H, N, M to draw
    (a clause that moves the second key needs one). empty: sizes of zero may occur. equal_widths: D
    = E. modest: N and M of at most 33, for a clause that looks at every weight. tiled: enough
    "keys" (or "queries") for several tiles, and few of the other; "ends": keys as many as tiles
    hold, and a few more. wide: D of 63 and more. each: all sizes in turn, and N = M if it is
    causal, so that the last key is seen. few: in every second problem one option is asked, or two.
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
    about: ClassVar[str] = "attention"

    @property
    def needs(self) -> frozenset[str]:
        """What the domain cannot do without, and a clause over it needs as well."""
        masked = "none" not in self.masks
        boolean = any(kind in kinds.BOOLEAN for kind in self.masks)  # asked of who takes these only
        others = asking.others(self)
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
            q = np.zeros_like(q)  # that nothing of them is read without keys is T10
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
        memory = choices.pick(MEMORIES if Capability.STRIDES in scope.answers else DENSE_MEMORIES)
        if memory == "expanded":  # the same in every batch element, in a view with a stride of zero
            k, v = (np.repeat(x[:1], len(x), axis=0) for x in (k, v))
        forms = tuple(kinds.FORMS) if Capability.FORMS in scope.answers else ("B 1 1 M",)
        form = choices.pick(forms) if kind != "none" else "N M"
        seed = choices.seed()
        return Problem(
            q,
            k,
            v,
            dout,
            dlse=asking.dlse(choices, domain, size),
            mask=kinds.mask(kind, form, seed, size.scores, scope.dtype, causal=causal),
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


TIDY: tuple[Memory, ...] = ("contiguous",) * 4
DENSE_MEMORIES: tuple[Memory, ...] = (*TIDY, "transposed", "offset", "expanded")
MEMORIES: tuple[Memory, ...] = (*DENSE_MEMORIES, "strided")


# What a domain has to say for an option not to be asked, and for it to be.
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
    """The domain, or that part of it in which one option is asked or two, of those answered.

    What the domain rules out is not one of them.
    """
    there = _options(domain, answers)
    if not there or choices.pick((False, True)):
        return domain
    return _asking(domain, frozenset(choices.pick(there) for _ in range(choices.pick((1, 2)))))


@cache
def _options(domain: Problems, answers: frozenset[str]) -> tuple[str, ...]:
    """Those that are answered, and that a domain does not rule out."""
    asks = {x: [*has.items()] for x, (_, has) in OPTIONS.items() if x in answers}
    out = {(name, True) for name, has in vars(domain).items() if has is False}
    return tuple(x for x, (has,) in asks.items() if has not in out)


@cache
def _asking(domain: Problems, wanted: frozenset[str]) -> Problems:
    """The part of a domain in which some options are asked, and no others."""
    said: dict[str, Any] = {}
    for asked in (False, True):  # of two kinds of mask the second is had
        for option, ways in OPTIONS.items():
            said |= ways[asked] if (option in wanted) == asked else {}
    masks = tuple(kind for kind in said["masks"] if kind in domain.masks)
    return replace(domain, **said | {"masks": masks or domain.masks})


def _limits(domain: Problems, scope: Scope, asked: frozenset[str]) -> Limits:
    """What sizes the domain and the scope both allow for what is asked."""
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
    )
