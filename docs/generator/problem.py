"""The text of the docstring of `Problem` on a problem, and on each of its fields."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import fields

from spec.attention.notation import Problem


def text() -> str:
    """The definition of a problem, in a sentence."""
    return inspect.cleandoc(Problem.__doc__ or "").partition("\n\n")[0]


def described() -> Sequence[tuple[str, str]]:
    """The names of fields, each with its description."""
    rest = inspect.cleandoc(Problem.__doc__ or "").split("\n\n")[1]
    names = "|".join(x.name for x in fields(Problem))
    parts = re.split(rf"(?:^|(?<=[.)] ))((?:{names})(?:, (?:{names}))*): ", " ".join(rest.split()))
    return [*zip(parts[1::2], (x.strip() for x in parts[2::2]), strict=True)]
