"""The argument names and values of a library: `--api flash-attn-2`.

The rows are those of `spec.attention.deployed`, each read in its source. A spelling declares every
convention that its library answers in one way, and settles how options are written whose names say
too little: what stands for no bound and for no cap, and whether a window counts the query's own
key. Other questions are decided by names and defaults, as they are without a spelling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.deployed.entry import WITHIN
from spec.attention.libraries import Library
from spec.attention.notation import Problem
from spec.attention.options import CAP, WINDOW
from spec.attention.parameter import UNITS, Parameter, beside, with_itself

NOTHING: Mapping[str, Any] = {"-1": (-1, -1), "None": (None, None)}  # no bound on either side
CAPLESS: Mapping[str, Any] = {"0": 0, "None": None}


@dataclass(frozen=True)
class Spelling:
    """The words of one library. says: its answers that are the same on all its paths."""

    name: str
    says: Mapping[str, str]

    @staticmethod
    def of(library: Library) -> "Spelling":
        """The answers that a row settles."""
        return Spelling(
            library.name, {name: x[0] for name, x in library.says.items() if len(x) == 1}
        )

    @property
    def conventions(self) -> Mapping[str, str]:
        """Those that it declares."""
        return {name: x for name, x in self.says.items() if x in CONVENTIONS.get(name, ())}

    def handed(self, option: Parameter, problem: Problem, name: str, default: Any) -> Any:
        """The value for `problem`, as the library writes it. Raises Refused: it has none."""
        value = option.value(problem)
        if option is CAP:
            default = CAPLESS.get(self.says.get("no-cap", ""), default)
        if option is WINDOW:
            if self.says.get("left-bound") == WITHIN:
                if name in UNITS:
                    return with_itself(value, problem)
                value = (None if value[0] is None else value[0] + 1, value[1])
            if self.says.get("no-bound") == "a large number":
                return beside(value, problem)
            default = NOTHING.get(self.says.get("no-bound", ""), default)
        return option.handed(value, problem, name, default)


def key(library: Library) -> str:
    """The name of a library, without spaces."""
    return library.name.replace(" ", "-")


SPELLINGS: Mapping[str, Spelling] = {key(library): Spelling.of(library) for library in LIBRARIES}
