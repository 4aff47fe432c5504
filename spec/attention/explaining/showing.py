"""The lines of a script that show what is wrong with the calls that a clause made.

There is one way for each kind of fault, and the first that finds its fault is taken.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.contents import Placement
from spec.attention.explaining.calls import Asked, Calls, calls_of
from spec.attention.explaining.expected import expected, meant
from spec.attention.explaining.repeating import way_there
from spec.attention.explaining.source import Source
from spec.attention.notation import Problem
from spec.attention.options import PARAMETERS
from spec.attention.plug.keeping import Miswritten
from spec.attention.plug.packing import Uncleared
from spec.attention.record import Implementation
from spec.clause import Clause
from spec.comparison import Violation
from spec.notation import Array, Call
from spec.subject import Refused
from spec.written import CLOSE, NUMBERS, OVERLAP, PRINT, changing, literal, sharing

Way = Callable[[Source, Mapping[str, str], Calls], list[str]]

THIS_ONE = "# The clause compares several calls; this is the one that is wrong."
AFTER = "# An earlier call changes the result, so this comes first."
AT_TIMES = "# The result changes from call to call."
BOTH = 'print(f"got {got}\\nwant {want}")'
ROWS = "# These rows have the same inputs in both calls, so their results are equal bit for bit."


def lines_of_calls(
    clause: Clause, raw: Implementation, declared: Mapping[str, str], problem: Problem
) -> list[str]:
    """The lines of a script that makes the call that is wrong; none where there is no such call."""
    source = Source.of(raw, problem.dtype)
    if source is None:
        return []
    made = calls_of(clause, raw, declared, problem)
    body = shown(source, {**raw.chosen, **declared}, made)
    return [*source.imports(problem.dtype), *body, ""] if body else []


def shown(source: Source, chosen: Mapping[str, str], calls: Calls) -> list[str]:
    """The lines after the imports; none where no fault is found that a script can show."""
    if not calls.made or any(source.callee(asked) is None for asked in calls.made):
        return []
    ways: Sequence[Way] = (
        _without_an_answer,
        _writing,
        _sharing,
        _departing,
        _differing,
        _beyond_the_claim,
    )
    return next(filter(None, (way(source, chosen, calls) for way in ways)), [])


class Body:
    """Lines of a script; an array is assigned where it is needed and not there yet."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines: list[str] = []
        self.held: dict[str, str] = {}

    def arrays(self, asked: Asked) -> None:
        """Have the arrays of a call at hand, and ready for it."""
        for name, text in self.source.arrays(asked).items():
            if self.held.get(name) != text:
                self.lines.append(f"{name} = {text}")
                self.held[name] = text
        prepared = self.source.prepared(asked)
        if prepared:
            self.lines += prepared
            self.held.clear()

    def calls(self, earlier: Sequence[Asked]) -> None:
        """Make calls whose answers do not matter."""
        for asked in earlier:
            self.arrays(asked)
            self.lines.append(self.source.expression(asked))

    def got(self, asked: Asked, name: str, variable: str = "got") -> None:
        """Assign an array of the answer, as numbers."""
        self.arrays(asked)
        self.lines.append(f"{variable} = {self.source.numbers(asked, name)}")


def _without_an_answer(source: Source, _: Mapping[str, str], calls: Calls) -> list[str]:
    """The last call raised an exception, or what it returned has another form."""
    if calls.violation is None:
        return []
    body, last = Body(source), calls.made[-1]
    if len(calls.made) > 1:
        body.lines.append(THIS_ONE)
    if isinstance(last.answer, Refused):
        body.calls([last])
        return body.lines
    if not isinstance(last.answer, Violation) or source.call.library.device != "cpu":
        return []
    body.arrays(last)
    return [*body.lines, *_amiss(source, last, last.answer)]


def _amiss(source: Source, last: Asked, answer: Violation) -> list[str]:
    """The lines that show what a call wrote or left behind, or the form of what it returned."""
    result, numbers = source.expression(last), NUMBERS[source.library].format
    several = last.function in ("backward", "partial")
    same = "raise SystemExit(not np.array_equal(got, want, equal_nan=True))"
    if isinstance(answer, Miswritten):
        got = f"got = {numbers(answer.name)}"
        return [result, got, f"want = {literal(answer.want)}", BOTH, same]
    if isinstance(answer, Uncleared):
        array = f"{result}[{'qkv'.index(answer.like)}]" if several else result
        got = f"got = {numbers(f'{array}[{answer.before}:]')}"
        return [got, "want = np.zeros_like(got)", BOTH, same]
    form = "tuple(x.shape)" if last.function == "lse" else "(str(x.dtype), tuple(x.shape))"
    return [
        f"got = [{form} for x in {result if several else f'[{result}]'}]",
        f"want = {source.forms(last)}",
        BOTH,
        "raise SystemExit(got != want)",
    ]


def _writing(source: Source, _: Mapping[str, str], calls: Calls) -> list[str]:
    """The last call wrote into one of its inputs."""
    last, library = calls.made[-1], source.library
    if not isinstance(last.answer, Call) or not last.answer.changed or library not in OVERLAP:
        return []
    name, body = last.answer.changed[0], Body(source)
    body.arrays(last)
    return [*body.lines, *changing(library, source.expression(last), name)]


def _sharing(source: Source, _: Mapping[str, str], calls: Calls) -> list[str]:
    """The last call returned memory that is that of an input, or of the output before."""
    last, library = calls.made[-1], source.library
    if not isinstance(last.answer, Call) or library not in OVERLAP:
        return []
    name = next(iter(last.answer.aliased), "again" if last.answer.reused else "")
    if not name:
        return []
    body, result = Body(source), source.expression(last)
    body.arrays(last)
    again = [f"again = {result}"] if name == "again" else []
    return [*body.lines, *again, *sharing(library, result, name)]


def _departing(source: Source, chosen: Mapping[str, str], calls: Calls) -> list[str]:
    """A call gives other numbers than the definition."""
    found = way_there(source.raw, chosen, calls.made)
    if found is None:
        return []
    body = Body(source)
    if found.before:
        body.lines.append(AFTER)
        body.calls(found.before)
    elif found.tries > 1:
        body.lines.append(AT_TIMES)
    elif len(calls.made) > 1:
        body.lines.append(THIS_ONE)
    want, within = expected(found.asked, chosen)[found.name]
    numbers = [f"want = {literal(want)}", f"within = {literal(within)}"]
    if found.tries == 1:
        body.got(found.asked, found.name)
        return [*body.lines, *numbers, PRINT, f"raise SystemExit(not {CLOSE})"]
    body.arrays(found.asked)
    got = f"got = {source.numbers(found.asked, found.name)}"
    loop = [got, f"if not {CLOSE}:", f"    {PRINT}", "    raise SystemExit(1)"]
    tries = [f"for _ in range({found.tries}):", *(f"    {line}" for line in loop)]
    return [*body.lines, *numbers, *tries]


def _differing(source: Source, chosen: Mapping[str, str], calls: Calls) -> list[str]:
    """Two calls have different answers in rows that are asked the same."""
    if chosen["grouping"] != "blocks":
        return []
    forward = [asked for asked in calls.made if asked.function == "forward" and asked.arrays]
    for one, other in itertools.combinations(forward, 2):
        rows = alike(meant(one.problem, chosen), meant(other.problem, chosen))
        if rows.any() and not _same(one.again(source.raw), other.again(source.raw), rows):
            body = Body(source)
            body.got(one, "o", "one")
            body.got(other, "o", "other")
            return [
                ROWS,
                *body.lines,
                f"rows = {literal(rows)}",
                'print(f"one {one[rows].tolist()}\\nother {other[rows].tolist()}")',
                "raise SystemExit(not np.array_equal(one[rows], other[rows], equal_nan=True))",
            ]
    return []


def _beyond_the_claim(source: Source, _: Mapping[str, str], calls: Calls) -> list[str]:
    """The only call gives a number other than the clause itself wants, where it wants more."""
    asked, *others = calls.made
    place = calls.violation.place if calls.violation else None
    if others or place is None or len(asked.arrays) != 1:
        return []
    ((name, got),) = asked.arrays.items()
    bound = f"want {place.said[1]} within" not in str(calls.violation)
    if bound or got.ndim != len(place.index) or got[place.index] != place.got:
        return []
    body = Body(source)
    body.got(asked, name)
    return [
        *body.lines,
        f"got, want, within = got[{place.index}], {place.want!r}, {place.budget!r}",
        'print(f"got {got}\\nwant {want}\\nwithin {within}")',
        "raise SystemExit(not abs(got - want) <= within)",
    ]


def alike(one: Problem, other: Problem) -> Array:
    """True for the rows of the output whose inputs are the same in two problems.   (B, H, N)

    The queries of their head are the same, and so are the keys that they see.
    """
    if _settings(one) != _settings(other):
        return np.zeros(one.q.shape[:3], dtype=bool)
    queries = (one.q == other.q).all(axis=(-2, -1))[..., None]
    masks = ((one.allowed == other.allowed) & (one.bias == other.bias)).all(axis=-1)
    changed = (one.k != other.k).any(axis=-1) | (one.v != other.v).any(axis=-1)
    seen = one.allowed & definition.shared(changed, one.H)[:, :, None]
    return queries & masks & ~seen.any(axis=-1)


def _settings(p: Problem) -> tuple[Any, ...]:
    """What is the same for all rows; that a scale is asked for which would apply is no matter."""
    said = [option.value(p.but(scale=p.sigma)) for option in PARAMETERS if not option.axes]
    return (*map(np.shape, (p.q, p.k, p.v)), *said, p.only(Placement))


def _same(one: Asked, other: Asked, rows: Array) -> bool:
    if not one.arrays or not other.arrays:
        return True
    return np.array_equal(one.arrays["o"][rows], other.arrays["o"][rows], equal_nan=True)
