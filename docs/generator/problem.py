"""The texts of docstrings on a problem, and on each field of the records that it consists of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from spec.attention.contents import Conventions, Inputs, Options, Placement
from spec.attention.notation import Problem
from spec.notation import names


def text() -> str:
    """The definition of a problem, in a sentence."""
    return inspect.cleandoc(Problem.__doc__ or "").partition("\n\n")[0]


def described() -> Iterator[tuple[str, str]]:
    """The names of fields, each with its description."""
    for record in (Inputs, Options, Conventions, Placement):
        rest = " ".join(inspect.cleandoc(record.__doc__ or "").split("\n\n")[1].split())
        name = "|".join(names(record))
        parts = re.split(rf"(?:^|(?<=[.)] ))((?:{name})(?:, (?:{name}))*): ", rest)
        yield from zip(parts[1::2], (x.strip() for x in parts[2::2]), strict=True)
