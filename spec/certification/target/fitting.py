"""The library, layout and sizes in which a target is called.

The request's ones are used if its results are right. Otherwise other layouts are tried, in which
the same arrays are another problem: a layout with right results is the intended one. If no call
succeeds, other libraries and narrower sizes are tried too, on a problem whose axes all have
different lengths, so that nothing fits by chance. A note reports the result. A layout that the user
chose is kept.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from spec.abilities import Guarded, Targets, unchanged
from spec.backends import NAMES, Unsuitable, library, likely
from spec.backends.compiling import compiled
from spec.backends.results import WrongArray
from spec.certification.settings import MULTIPLES, Request
from spec.certification.target.shipping import advised, read
from spec.comparison import Violation
from spec.kind import Kind
from spec.kinds import KINDS
from spec.laws import CLAUSES
from spec.notation import DTYPES
from spec.subject import Refused, Subject
from spec.trial import keeps


def suits(request: Request, known: Kind) -> None:
    """Raise Unsuitable for an option of another kind of target."""

    def suited(targets: Targets) -> Mapping[str, Any]:
        sizes = {name: name in targets.multiples for name in MULTIPLES}
        options = {"layout": request.layout in targets.layouts, "description": targets.described}
        return {**options, "api": request.api in targets.spellings, **sizes}

    for name, is_suited in suited(known.targets).items():
        if name in request.asked and not is_suited:
            whose = " or ".join(x.noun for x in KINDS.values() if suited(x.targets)[name])
            raise Unsuitable(f"--{name} {request.asked[name]} is for {whose}, not {known.noun}")


def declared(record: Any, request: Request) -> Any:
    """The record, narrowed to the declared sizes."""
    said = [f"{name} are multiples of {x}, as declared" for name, x in request.multiples.items()]
    notes = tuple(f"{words}: nothing else is tested" for words in said)
    return record.but(multiples=request.multiples, notes=record.notes + notes) if said else record


@dataclass(frozen=True)
class Trial:
    """A target in one library and one layout: its record, or the error."""

    backend: str
    layout: str
    record: Any = None
    complaint: str | None = None

    @property
    def answers(self) -> bool:
        """Whether a call succeeds, with a result of the right form."""
        return self.complaint is None


@dataclass(frozen=True)
class Search:
    """The libraries and layouts to try for a target. guard: wraps it in trials."""

    found: Any
    known: Kind
    request: Request
    options: Mapping[str, Any]
    guard: Guarded

    def tried(self, backend: str, layout: str) -> Trial:
        """The target in a library and a layout, called with the declared sizes."""
        try:
            record = self.plugged(backend, layout)
        except Unsuitable as reason:
            return Trial(backend, layout, complaint=str(reason))
        return Trial(backend, layout, record, _complaint(self.guard(record), self.known))

    def plugged(self, backend: str, layout: str) -> Any:
        """The target in a library and a layout, not yet called. Raises Unsuitable."""
        more = {"layout": layout} if len(self.known.targets.layouts) > 1 else {}
        more |= {"spelling": self.request.api} if self.request.api else {}
        found, way = self.found, self.request.compiled or ""
        if way:
            found = compiled(found, library(backend, self.request.device, found), way)
        record = self.known.load(found, backend=backend, **self.options, **more)
        return declared(record.but(compiled=way), self.request)

    @cached_property
    def likely(self) -> tuple[str, ...]:
        """The libraries that it is likely written for."""
        return (self.request.backend,) if self.request.backend else likely(self.found)

    def usual(self) -> Trial:
        """The target as requested, in the first of these libraries in which a call succeeds."""
        trials = (self.tried(backend, self.request.layout) for backend in self.likely)
        first = next(trials)
        return first if first.answers else next((x for x in trials if x.answers), first)

    def others(self, usual: Trial, fits: bool) -> Iterator[Trial]:
        """Yield other layouts; if no call succeeded, in all libraries.

        fits: whether the usual way does; then the number of axes is known, a letter of a layout for
        each.
        """
        layouts = [x for x in self.known.targets.layouts if x != self.request.layout]
        if usual.answers:
            alike = [x for x in layouts if not fits or len(x) == len(usual.layout)]
            yield from (self.tried(usual.backend, layout) for layout in alike)
            return
        there = [x for x in NAMES if x not in self.likely and is_there(x)]
        beside = [] if self.request.backend else there
        yield from (self.tried(backend, self.request.layout) for backend in beside)
        yield from (self.tried(x, layout) for x in (*self.likely, *beside) for layout in layouts)

    def told(self, usual: Trial) -> Trial:
        """The trial to report if none succeeds: in the library that the usual error names."""
        for name in NAMES if not self.request.backend else ():
            if _names(usual, name) and is_there(name):
                other = self.tried(name, usual.layout)
                if not other.answers and not _names(other, usual.backend):
                    return replace(other, complaint=f"with --backend {name}: {other.complaint}")
        return usual

    def narrower(self) -> Iterator[Trial]:
        """Yield the requested layout with fewer and fewer sizes."""
        for backend in self.likely:
            record = self.tried(backend, self.request.layout).record
            for less in () if record is None else self.known.targets.narrower(record):
                complaint = _complaint(self.guard(less), self.known)
                yield Trial(backend, self.request.layout, less, complaint)

    def otherwise(self, usual: Trial) -> Trial | None:
        """A trial with right results; if the usual one does not fit, the only one that fits."""
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
        """Whether a plain problem has the definition's result, in at least one dtype."""
        clause, seen = CLAUSES[self.known.definition], self.guard(record)
        fitted = self.known.functions.fitted
        plain = (fitted(record, self.known.core(dtype)) for dtype in record.dtypes)
        return any(keeps(clause, seen, problem) for problem in plain)

    def fits(self, record: Any) -> bool:
        """Whether a problem whose axes all differ has a result of the right form."""
        seen, functions = self.guard(record), self.known.functions
        for dtype in record.dtypes:
            with suppress(Refused, Violation):
                functions.put(seen, functions.first, self.known.trials.beyond(dtype))
                return True
        return False

    def noted(self, trial: Trial) -> Subject:
        """The record, with a note about the trial."""
        said = []
        if trial.backend != self.likely[0]:
            said.append(f"takes arrays of {trial.backend}: judged with --backend {trial.backend}")
        if trial.layout != self.request.layout:
            axes = self.known.targets.layouts[trial.layout]
            said.append(f"takes arrays {axes}: judged with --layout {trial.layout}")
        record: Subject = trial.record
        called = {"backend": trial.backend, "layout": trial.layout}
        return record.but(notes=(*record.notes, *said), called=called)


def confirmed(found: Any, known: Kind, request: Request, origin: str, guard: Guarded) -> Subject:
    """The record of the target as it will be called. Raises Unsuitable if no call succeeds."""
    search = _search(found, known, request, origin, guard)
    usual = search.usual()
    if usual.answers and (len(known.targets.layouts) == 1 or search.right(usual.record)):
        return search.noted(usual)
    trial = search.otherwise(usual)
    if trial is None and not usual.answers:
        usual = search.told(usual)
        called = usual.record is not None  # else it is not such a target, whatever its names are
        suited = bool(known.targets.described) and called
        raise Unsuitable(advised(usual.complaint or "", found, origin, request, suited))
    if trial is not None and "layout" in request.asked and trial.layout != request.layout:
        axes = f"{trial.record.name} takes arrays {known.targets.layouts[trial.layout]}"
        raise Unsuitable(f"--layout {request.layout}: {axes}: use --layout {trial.layout}")
    return search.noted(trial or usual)


def unasked(found: Any, known: Kind, request: Request, origin: str) -> Subject:
    """The record of the target as requested, not yet called. Raises Unsuitable."""
    search = _search(found, known, request, origin, unchanged)
    record: Subject = search.plugged(search.likely[0], request.layout)
    return record


def _search(found: Any, known: Kind, request: Request, origin: str, guard: Guarded) -> Search:
    options: dict[str, Any] = {"device": request.device, "dtypes": request.dtypes, "origin": origin}
    if request.description and known.targets.described:
        options |= read(known.targets.described, request.description, found, origin)
    search = Search(found, known, request, options, guard)
    libraries = [library(name, request.device, found) for name in search.likely if request.compiled]
    if not any(request.compiled in x.compilers for x in libraries) and request.compiled:
        compiled(found, libraries[0], request.compiled)  # which says what it has instead
    return search


def _names(trial: Trial, library: str) -> bool:
    """Whether the error of a trial names another library, as a type of its arrays."""
    text = trial.complaint or ""
    return library != trial.backend and re.search(rf"\b{library}\.\w", text) is not None


def is_there(library: str) -> bool:
    """Whether a library is installed; a folder of that name does not count."""
    found = find_spec(library)
    return found is not None and found.origin is not None


def _complaint(record: Any, known: Kind) -> str | None:
    """Why a record fails on a small basic problem in every dtype; None if it does not."""
    complaint, functions = None, known.functions
    for dtype in sorted(record.dtypes, key=DTYPES.index):
        try:
            functions.put(record, functions.first, known.core(dtype))
            with suppress(Refused):
                functions.put(record, functions.first, known.trials.beyond(dtype))
        except WrongArray as violation:
            several = known.targets.several if "is a tuple of" in str(violation) else ""
            return f"{record.name} cannot be tested as {known.noun}: {violation}{several}"
        except Violation:
            return None
        except Refused as refusal:
            complaint = complaint or f"{record.name} could not be called: {refusal}"
        else:
            return None
    return complaint
