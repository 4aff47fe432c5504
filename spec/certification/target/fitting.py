"""How a target is to be asked: in which library and layout, and about problems of which sizes.

It is asked as the request says, and that is that if it answers rightly. One that does not is tried
in the other layouts, in which the same arrays are another problem: where it is right, it was meant
so. Where nothing is answered, other libraries and narrower sizes are tried as well, on a problem
whose axes are all of different lengths, so that nothing fits by chance. A note tells what was
found; a layout that somebody asked for is not exchanged for another.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any

from spec.backends import NAMES, Unsuitable, inferred, library
from spec.backends.compiling import compiled
from spec.backends.results import WrongArray
from spec.certification.settings import MULTIPLES, Request
from spec.certification.target.shipping import advised, read
from spec.comparison import Violation
from spec.kind import Guarded, Kind, unchanged
from spec.kinds import KINDS
from spec.laws import CLAUSES
from spec.notation import DTYPES
from spec.subject import Refused, Subject
from spec.trial import keeps


def suits(request: Request, known: Kind) -> None:
    """Raises Unsuitable: an option for targets of another kind."""

    def sized(name: str, kind: Kind) -> bool:
        return name in kind.multiples

    asked: dict[str, Callable[[Kind], Any]] = {
        "layout": lambda kind: request.layout in kind.layouts,
        "api": lambda kind: request.api in kind.spellings,
        "description": lambda kind: kind.described,
        **{name: partial(sized, name) for name in MULTIPLES},
    }
    for name, has in asked.items():
        if name in request.asked and not has(known):
            whose = " or ".join(kind.noun for kind in KINDS.values() if has(kind))
            raise Unsuitable(f"--{name} {request.asked[name]} is for {whose}, not {known.noun}")


def declared(record: Any, request: Request) -> Any:
    """The record asked about the sizes that are declared alone, and saying so."""
    said = [f"{name} are multiples of {x}, as declared" for name, x in request.multiples.items()]
    notes = tuple(f"{words}: nothing else is tested" for words in said)
    return record.but(multiples=request.multiples, notes=record.notes + notes) if said else record


@dataclass(frozen=True)
class Trial:
    """A target in one library and one layout: its record, or what is wrong with it."""

    backend: str
    layout: str
    record: Any = None
    complaint: str | None = None

    @property
    def answers(self) -> bool:
        """Whether anything is answered, in the right form."""
        return self.complaint is None


@dataclass(frozen=True)
class Search:
    """What a target is tried with; guard: what it is seen through."""

    found: Any
    known: Kind
    request: Request
    options: Mapping[str, Any]
    guard: Guarded

    def tried(self, backend: str, layout: str) -> Trial:
        """The target in a library and a layout, asked about the sizes that are declared."""
        try:
            record = self.plugged(backend, layout)
        except Unsuitable as reason:
            return Trial(backend, layout, complaint=str(reason))
        return Trial(backend, layout, record, _complaint(self.guard(record), self.known))

    def plugged(self, backend: str, layout: str) -> Any:
        """The target in a library and a layout, as yet asked nothing. Raises Unsuitable."""
        more = {"layout": layout} if len(self.known.layouts) > 1 else {}
        more |= {"spelling": self.request.api} if self.request.api else {}
        found, way = self.found, self.request.compiled or ""
        if way:
            found = compiled(found, library(backend, self.request.device), way)
        record = self.known.load(found, backend=backend, **self.options, **more)
        return declared(record.but(compiled=way), self.request)

    @cached_property
    def likely(self) -> tuple[str, ...]:
        """The libraries that it is likely written for."""
        return (self.request.backend,) if self.request.backend else inferred(self.found)

    def usual(self) -> Trial:
        """As it is asked for, in the first of these libraries in which it answers."""
        trials = (self.tried(backend, self.request.layout) for backend in self.likely)
        first = next(trials)
        return first if first.answers else next((x for x in trials if x.answers), first)

    def others(self, usual: Trial, fits: bool) -> Iterator[Trial]:
        """In other layouts, and where nothing was answered in any library that there is.

        fits: whether the usual way does; then it has so many axes, and a layout a letter for each.
        """
        layouts = [x for x in self.known.layouts if x != self.request.layout]
        if usual.answers:
            alike = [x for x in layouts if not fits or len(x) == len(usual.layout)]
            yield from (self.tried(usual.backend, layout) for layout in alike)
            return
        there = [x for x in NAMES if x not in self.likely and is_there(x)]
        beside = [] if self.request.backend else there
        yield from (self.tried(backend, self.request.layout) for backend in beside)
        yield from (self.tried(x, layout) for x in (*self.likely, *beside) for layout in layouts)

    def told(self, usual: Trial) -> Trial:
        """The trial to tell of where none answers: in the library that the usual error names."""
        for name in NAMES if not self.request.backend else ():
            if _names(usual, name) and is_there(name):
                other = self.tried(name, usual.layout)
                if not other.answers and not _names(other, usual.backend):
                    return replace(other, complaint=f"with --backend {name}: {other.complaint}")
        return usual

    def narrower(self) -> Iterator[Trial]:
        """In the layout that is asked for, about less and less."""
        for backend in self.likely:
            record = self.tried(backend, self.request.layout).record
            for less in () if record is None else self.known.narrower(record):
                complaint = _complaint(self.guard(less), self.known)
                yield Trial(backend, self.request.layout, less, complaint)

    def otherwise(self, usual: Trial) -> Trial | None:
        """What is right, or where the usual way does not fit, what fits as the only one."""
        fits = usual.answers and self.fits(usual.record)
        found = [trial for trial in self.others(usual, fits) if trial.answers]
        right = next((trial for trial in found if self.right(trial.record)), None)
        if right or fits:
            return right
        fitting = [trial for trial in found if self.fits(trial.record)]
        if fitting or usual.answers:
            return fitting[0] if len(fitting) == 1 else None
        answering = (trial for trial in self.narrower() if trial.answers)
        return next((x for x in answering if self.right(x.record) or self.fits(x.record)), None)

    def right(self, record: Any) -> bool:
        """Whether a plain problem is answered as the definition says, in one dtype at least."""
        clause, seen = CLAUSES[self.known.definition], self.guard(record)
        plain = (self.known.fitted(record, self.known.core(dtype)) for dtype in record.dtypes)
        return any(keeps(clause, seen, problem) for problem in plain)

    def fits(self, record: Any) -> bool:
        """Whether a problem with no two axes alike has an answer of its form."""
        seen = self.guard(record)
        for dtype in record.dtypes:
            with suppress(Refused, Violation):
                self.known.put(seen, self.known.first, self.known.beyond(dtype))
                return True
        return False

    def noted(self, trial: Trial) -> Subject:
        """The record, which says what was found for it."""
        said = []
        if trial.backend != self.likely[0]:
            said.append(f"takes arrays of {trial.backend}: judged with --backend {trial.backend}")
        if trial.layout != self.request.layout:
            axes = self.known.layouts[trial.layout]
            said.append(f"takes arrays {axes}: judged with --layout {trial.layout}")
        record: Subject = trial.record
        return record.but(notes=(*record.notes, *said))


def confirmed(found: Any, known: Kind, request: Request, origin: str, guard: Guarded) -> Subject:
    """The target as it is to be asked. Raises Unsuitable: in no way does it give an answer."""
    search = _search(found, known, request, origin, guard)
    usual = search.usual()
    if usual.answers and (len(known.layouts) == 1 or search.right(usual.record)):
        return search.noted(usual)
    trial = search.otherwise(usual)
    if trial is None and not usual.answers:
        usual = search.told(usual)
        called = usual.record is not None  # else it is not such a target, whatever its names are
        suited = bool(known.described) and called
        raise Unsuitable(advised(usual.complaint or "", found, origin, request, suited))
    if trial is not None and "layout" in request.asked and trial.layout != request.layout:
        axes = f"{trial.record.name} takes arrays {known.layouts[trial.layout]}"
        raise Unsuitable(f"--layout {request.layout}: {axes}: use --layout {trial.layout}")
    return search.noted(trial or usual)


def unasked(found: Any, known: Kind, request: Request, origin: str) -> Subject:
    """The target as it is usually asked, but was not. Raises Unsuitable."""
    search = _search(found, known, request, origin, unchanged)
    record: Subject = search.plugged(search.likely[0], request.layout)
    return record


def _search(found: Any, known: Kind, request: Request, origin: str, guard: Guarded) -> Search:
    options: dict[str, Any] = {"device": request.device, "dtypes": request.dtypes, "origin": origin}
    if request.description and known.described:
        options |= read(known, request.description, found, origin)
    search = Search(found, known, request, options, guard)
    libraries = [library(name, request.device) for name in search.likely if request.compiled]
    if not any(request.compiled in x.compilers for x in libraries) and request.compiled:
        compiled(found, libraries[0], request.compiled)  # which says what it has instead
    return search


def _names(trial: Trial, library: str) -> bool:
    """Whether the error of a trial names something of another library, as a type of its arrays."""
    text = trial.complaint or ""
    return library != trial.backend and re.search(rf"\b{library}\.\w", text) is not None


def is_there(library: str) -> bool:
    """Whether it is installed; a folder that is merely called so, and found first, is not it."""
    found = find_spec(library)
    return found is not None and found.origin is not None


def _complaint(record: Any, known: Kind) -> str | None:
    """Why a record gives no answer to a small problem of the core in any dtype, if it does not."""
    complaint = None
    for dtype in sorted(record.dtypes, key=DTYPES.index):
        try:
            known.put(record, known.first, known.core(dtype))
            with suppress(Refused):
                known.put(record, known.first, known.beyond(dtype))
        except WrongArray as violation:
            several = known.several if "is a tuple of" in str(violation) else ""
            return f"{record.name} cannot be tested as {known.noun}: {violation}{several}"
        except Violation:
            return None
        except Refused as refusal:
            complaint = complaint or f"{record.name} could not be called: {refusal}"
        else:
            return None
    return complaint
