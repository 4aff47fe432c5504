"""The values of the command line's options, as tables: `attention-spec list TOPIC`."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from spec.backends import NAMES
from spec.backends.compiling import WAYS
from spec.backends.unknown import unknown
from spec.certification.offered import DIALECTS
from spec.certification.profiles import PROFILES
from spec.certification.requirements import listed as requirements
from spec.certification.target import recorded
from spec.certification.target.versions import versions as known
from spec.kinds import KINDS
from spec.meanings import meaning
from spec.notation import DTYPES
from spec.promises import PROMISES
from spec.runner.foreign import HEADER
from spec.version import CURRENT

Rows = Iterator[tuple[str, str]]  # a word, and what it means or accepts


def listed(topic: str | None) -> str:
    """The table of one topic, or of all under headings. Raises Unsuitable for another topic."""
    topic = "conditions" if topic == "features" else topic  # as a certificate in JSON calls them
    if topic is None:
        return "\n\n".join(f"{name}\n{_table(rows())}" for name, rows in TOPICS.items())
    if topic == "targets":  # as the command of that name: too long to stand among the others
        return recorded.listed(())
    if topic not in TOPICS:
        raise unknown("topic", topic, TOPICS)
    return _table(TOPICS[topic]())


def header_of_c() -> str:
    """The header that a function written in C includes."""
    return HEADER.read_text("utf-8").rstrip()


def versions() -> str:
    """The versions of the package ("none" if not installed), the specification, and Python."""
    package = "attention-spec"
    found = known([package])
    return f"{package} {found[package]}, specification {CURRENT}, python {found['python']}"


class Version(argparse.Action):
    """Prints the versions, which are looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(versions())
        parser.exit()


def _table(rows: Rows) -> str:
    found = [*rows]
    width = max(len(name) for name, _ in found)
    return "\n".join(f"  {name:<{width}}  {words}".rstrip() for name, words in found)


def _kinds() -> Rows:
    return ((name, kind.noun) for name, kind in KINDS.items())


def _layouts() -> Rows:
    for name, kind in KINDS.items():
        yield from ((f"{name}: {layout}", words) for layout, words in kind.targets.layouts.items())


def _conventions() -> Rows:
    for name, kind in KINDS.items():
        choices: Mapping[str, tuple[str, ...]] = kind.truth().choices
        yield from ((f"{name}: {word}", ", ".join(x)) for word, x in choices.items())


def _conditions() -> Rows:
    for name, kind in KINDS.items():
        yield f"{name}: sizes", "compared by < <= = != >= >, with each other or with numbers"
        words = chain(kind.features.letters, kind.features.words)
        yield from ((f"{name}: {word}", meaning(word, kind.meanings)) for word in words)


def _several(names: Callable[[], tuple[str, ...]]) -> Callable[[], Rows]:
    return lambda: ((name, "") for name in names())


TOPICS: Mapping[str, Callable[[], Rows]] = {
    "kinds": _kinds,
    "backends": _several(lambda: NAMES),
    "layouts": _layouts,
    "dtypes": _several(lambda: tuple(DTYPES)),
    "apis": _several(lambda: DIALECTS),
    "compiled": _several(lambda: tuple(WAYS)),
    "profiles": lambda: ((x.name, f"{x.examples} problems a clause") for x in PROFILES.values()),
    "conventions": _conventions,
    "promises": lambda: iter(PROMISES.items()),
    "conditions": _conditions,
    "requirements": requirements,
}
