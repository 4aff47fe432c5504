"""A ledger: the results of targets, kept as data, and how they change.

    library = "torch"                       # whose version counts, if no target names another
    profile = "standard"                    # for all of them, as in pyproject.toml

    [targets.sdpa]
    target = "torch.nn.functional:scaled_dot_product_attention"
    budget = 60                             # seconds

Its certificates, in short, are files in the folder of the same name: `torch.toml` has
`torch/sdpa.json`. Judgements of causes stand with the target (`ledger.judgements`).
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import unknown
from spec.certification.attended import certified
from spec.certification.ledger.brief import brief
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.comparison import changes
from spec.certification.ledger.files import in_lines, written
from spec.certification.ledger.judgements import TABLES, Judgement, judgements, mended, unjudged
from spec.certification.ledger.reading import read
from spec.certification.ledger.text import in_short
from spec.certification.pages.judged import Judged, gathered, in_order
from spec.certification.repository import content, request_of, targets
from spec.certification.settings import Request
from spec.certification.several import GRAVITY, table

HEAD = ("target", "verdict", "changes", "seconds")
PATIENCE = 600.0  # seconds for causes: what is recorded must not depend on the machine's speed


@dataclass(frozen=True)
class Entry:
    """A target of a ledger.

    library: its distribution; "" if no version counts. file: the file of its certificate.
    """

    name: str
    request: Request
    library: str
    judgements: tuple[Judgement, ...]
    file: Path

    @cached_property
    def recorded(self) -> Certificate | None:
        """The recorded certificate, or None. Raises Unsuitable if it cannot be read."""
        return read(self.file) if self.file.exists() else None

    def differs(self, found: Certificate) -> Iterator[str]:
        """Yield a line for each difference from the ledger."""
        if self.recorded is None:
            yield "nothing is recorded: --record writes it down"
        else:
            yield from changes(self.recorded, found, {self.library})
        yield from unjudged(found, self.judgements)
        yield from mended(self.judgements, self.file.parent.parent)


def entries(path: str) -> list[Entry]:
    """The entries of a ledger. Raises Unsuitable if it cannot be read or is invalid."""
    file = Path(path)
    said = content(file)
    ours: dict[str, tuple[str, tuple[Judgement, ...]]] = {}
    usual = _library(said.pop("library", ""), f"{file}: library")
    for name, target in _tables(said.get("targets")).items():
        place = f"{file}: targets.{name}"
        ours[name] = (
            _library(target.pop("library", usual), f"{place}.library"),
            judgements(target, place),
        )
        for kind in TABLES:
            target.pop(kind, None)
    found = targets(file, said, str(file), "targets")
    folder = file.with_suffix("")
    return [
        Entry(name, request_of(fields), *ours[name], folder / f"{name}.json")
        for name, fields in found.items()
    ]


def side_by_side(paths: Sequence[str]) -> tuple[Judged, ...]:
    """The certificates of ledgers with judgements of causes, and those in other files.

    Targets without a record are named on standard error. Raises Unsuitable if none has one.
    """
    ledgers = [path for path in paths if path.endswith(".toml")]
    others = [path for path in paths if path not in ledgers]
    listed = [entry for path in ledgers for entry in entries(path)]
    found = [_judged(entry, entry.recorded) for entry in listed if entry.recorded is not None]
    found += gathered(others) if others else ()
    missing = ", ".join(entry.name for entry in listed if entry.recorded is None)
    if not found:
        raise Unsuitable(f"nothing is recorded of {missing}: `ledger --record` writes it down")
    if missing:
        print(f"nothing is recorded of {missing}", file=sys.stderr)
    return in_order(found)


def _judged(entry: Entry, recorded: Certificate) -> Judged:
    """The record of a target, with its judgements."""
    version = recorded.versions.get(entry.library, "")
    causes = tuple(vars(x) for x in entry.judgements)
    return Judged(entry.name, entry.library, version, recorded, causes)


def held(paths: Sequence[str], only: Sequence[str], record: bool) -> int:
    """Test the targets of ledgers, and print changes: 0 none, 1 some, 3 interrupted.

    only: the names of targets to test; empty for all. record: write the results down.
    """
    wanted = [entry for path in paths for entry in entries(path)]
    names = [entry.name for entry in wanted]
    for name in only:
        if name not in names:
            raise unknown("target", name, names)
    chosen = [entry for entry in wanted if not only or entry.name in only]
    for entry in chosen if not record else ():
        _ = entry.recorded  # what cannot be read is told before there is work
    rows: list[tuple[str, ...]] = [HEAD]
    codes = [0]
    try:
        for entry in chosen:
            code, row = _held(entry, record)
            codes.append(code)
            rows.append(row)
    finally:  # whoever interrupts sees what was done by then
        print(table(rows))
    return max(codes, key=GRAVITY.index)


def _held(entry: Entry, record: bool) -> tuple[int, tuple[str, ...]]:
    """The exit code and the row of a target, after its changes are printed."""
    try:
        found = _patiently(entry.request)
    except Unsuitable as reason:
        return 2, (entry.name, f"error: {reason}")
    if stopped := next((v.message for v in found.verdicts if v.outcome == "blocked"), ""):
        print(f"{entry.name}: not all of it was judged: {stopped}", flush=True)
        return 3, (entry.name, in_short(found), "?", f"{found.timings['total']:.1f}")
    if record:
        written(entry.file, in_lines(brief(found)))
    lines = [*entry.differs(found)]
    for line in lines:
        print(f"{entry.name}: {line}", flush=True)
    figures = (str(len(lines)), f"{found.timings['total']:.1f}")
    return 1 if lines else 0, (entry.name, in_short(found), *figures)


def _patiently(request: Request) -> Certificate:
    """The certificate of a request, found with time enough for all causes. Raises Unsuitable."""
    seconds = max(PATIENCE, request.thoroughness.diagnosis)
    found = certified(replace(request, diagnosis_timeout=seconds), sys.stderr)
    return replace(found, command=request.command())


def _library(written: Any, place: str) -> str:
    if not isinstance(written, str):
        raise Unsuitable(f"{place}: got {written!r}, want a string")
    return written


def _tables(written: Any) -> Mapping[str, dict[str, Any]]:
    """The tables of targets; others are left to `repository`, which reports them."""
    found = written if isinstance(written, dict) else {}
    return {name: x for name, x in found.items() if isinstance(x, dict)}
