"""Certificates to compare: the target, its library, and the judgements of the causes.

A judgement is a mapping with the fields of `ledger.judgements`.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.judging.cause import Cause
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.judgements import NEEDS
from spec.certification.ledger.reading import NoCertificate, read
from spec.runner.foreign import parted

KINDS = (*NEEDS,)
UNJUDGED = "not reviewed"
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Judged:
    """A certificate with its name in the matrix, and the judgements of its causes."""

    name: str
    library: str
    version: str
    certificate: Certificate
    causes: tuple[Mapping[str, str], ...] = ()

    def said(self, cause: Cause) -> Mapping[str, str]:
        """The judgement of a cause; empty if there is none."""
        return next((x for x in self.causes if x.get("sentence") == cause.sentence), NOTHING)

    @property
    def pairs(self) -> tuple[tuple[Cause | None, Mapping[str, str]], ...]:
        """Each cause with its judgement, then the judgements without a known cause."""
        found = [(cause, self.said(cause)) for cause in self.certificate.causes]
        known = {cause.sentence for cause in self.certificate.causes}
        return (*found, *((None, x) for x in self.causes if x.get("sentence") not in known))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the causes, each once."""
        return tuple(dict.fromkeys(said.get("kind", UNJUDGED) for _, said in self.pairs))


def gathered(paths: Sequence[str]) -> tuple[Judged, ...]:
    """The certificates in files and folders. Raises Unsuitable if there are none.

    Other JSON files in a folder are named on standard error and left out.
    """
    found: dict[Path, Judged] = {}
    others: list[str] = []
    for file in dict.fromkeys(file for path in paths for file in _files(Path(path))):
        try:
            found[file] = _judged(file)
        except NoCertificate:
            if file in map(Path, paths):
                raise
            others.append(str(file))
    if not found:
        raise Unsuitable(f"{', '.join(paths)} holds no certificate")
    if others:
        print(f"left out, as no certificates: {', '.join(others)}", file=sys.stderr)
    twice = Counter(x.name for x in found.values())
    named = (
        replace(x, name=str(file.with_suffix(""))) if twice[x.name] > 1 else x
        for file, x in found.items()
    )
    return in_order(named)


def in_order(found: Iterable[Judged]) -> tuple[Judged, ...]:
    """The certificates, sorted by library."""
    return tuple(sorted(found, key=lambda x: (x.library.lower(), x.name.lower())))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(path.rglob("*.json"))
    if not found:
        raise Unsuitable(f"{path} holds no certificate")
    yield from found


def _judged(file: Path) -> Judged:
    """A certificate, named after its file, or after its folder if it belongs to a report."""
    found = read(file)
    name = file.resolve().parent.name if file.stem == "certificate" else file.stem
    library = library_of(found)
    return Judged(name, library, found.versions.get(library, ""), found)


def library_of(certificate: Certificate) -> str:
    """The package, or else the file, of a target, from the command of its certificate."""
    words = shlex.split(certificate.command)
    after = words[words.index("certify") + 1 :] if "certify" in words else []
    target = next(iter(after), "")
    place = target.partition(":")[0]
    is_file = place.endswith(".py") or parted(target) is not None
    return Path(place).name if is_file else place.partition(".")[0]
