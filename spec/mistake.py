"""Known bugs: plausible wrong implementations, each with a name and a sentence.

Each kind of subject has a catalogue of them next to its clauses: `<chapter>/mistakes`. There
`steps` has a correct program in named steps, `making` puts it together, and every known bug
replaces one step:

    @wrong("scale", incident="BUG-14", citation="tenstorrent/tt-metal#56789")
    def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
        '''Divides scores by sqrt(H), the root of the number of heads, instead of sqrt(D).'''
        return 1 / np.sqrt(sizes.H) if asked is None else asked

With the decorator, the name stands for the whole program, which can be certified (and rejected)
like any other. Its attribute `mistake` is the record. A few turn out to be correct, and must be
certified.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

Force = Literal["must", "should", "promise"]
Decorator = Callable[[Callable[..., Any]], Any]
PLAUSIBLE = "plausible"  # the incident of a known bug that nobody has reported
Steps = Any  # the steps of a program by name, a dataclass of functions
INCIDENTS = Path(__file__).parent / "incidents.md"


@cache
def titles() -> Mapping[str, str]:
    """The titles of the classes of known bugs, and of published systems that had some."""
    text = INCIDENTS.read_text(encoding="utf-8")
    return dict(re.findall(r'^### <a id="([\w-]+)"></a>\1:? (.+)$', text, re.MULTILINE))


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong implementation.

    sentence: what it does wrong: the first paragraph.
    incident: the class of real bugs that it belongs to (BUG-01 to BUG-45), or the published system
        that has it: an entry of incidents.md, next to this file; or "plausible".
    target: the function or class that is plugged in. spoils: which results of an attention function
        are wrong; in other chapters, the replaced step shows it.
    citation: where it was reported; empty if it is merely plausible.
    where: the problems on which it is wrong, in the words of its chapter (`spec.features`); it is
        right on all others. Empty if these may be any.
    dtypes: the formats in which it shows.
    harmless: it is correct after all, and must be certified.
    replaced: the name of the replaced step, and the replacement. correct: the steps before that.
    convention: it is correct if this convention is declared.
    force: "should" if only a `should` clause can reject it; "promise" if it is right up to rounding
        (so harmless), and breaks a promise of bits.
    """

    name: str
    sentence: str
    incident: str
    target: Any
    spoils: str = ""
    citation: str = ""
    where: str = ""
    dtypes: tuple[str, ...] = ("float32",)
    harmless: bool = False
    replaced: Mapping[str, Callable[..., Any]] = field(default_factory=dict, repr=False)
    correct: Steps = field(default=None, repr=False)
    convention: tuple[str, str] | None = None
    force: Force = "must"

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        plausible = self.incident == PLAUSIBLE
        words = PLAUSIBLE if plausible else f"{self.incident} in spec/incidents.md"
        return f"{words}, e.g. {self.citation}" if self.citation else words

    @property
    def line(self) -> str:
        """Name, source and sentence, in one line."""
        return f"{self.name} ({self.source}): {self.sentence}"


def steps(module: ModuleType, **others: Callable[..., Any]) -> Steps:
    """The correct steps by name: the functions that a module defines, and others."""
    functions = {name: f for name, f in vars(module).items() if isfunction(f)}
    own = {name: f for name, f in functions.items() if f.__module__ == module.__name__}
    fields = [(name, Any, f) for name, f in (own | others).items()]
    return make_dataclass("Steps", fields, frozen=True)()


def wrong(
    right: Steps,
    program: Callable[..., Any],
    step: str,
    *,
    how: Mapping[str, Any] | None = None,
    **facts: Any,
) -> Decorator:
    """Return a decorator: the correct program with one step replaced by the decorated function.

    right: the steps of a chapter. program: makes an ordinary program of some steps, a new one each
    time. Each chapter provides both in its `making`.
    how: further arguments of `program`. facts: further fields of the Mistake.
    """

    def decorate(replacement: Callable[..., Any]) -> Any:
        target = program(replace(right, **{step: replacement}), **(how or {}))
        for name in ("__name__", "__doc__", "__module__"):
            setattr(target, name, getattr(replacement, name))
        target.__qualname__ = name = replacement.__name__
        sentence = " ".join((replacement.__doc__ or "").partition("\n\n")[0].split())
        own = {"replaced": {step: replacement}, "correct": right}
        target.mistake = Mistake(name, sentence, target=target, **own, **facts)
        return target

    return decorate


def call(right: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The step around all others: calls the correct program."""
    return right(*arguments, **options)


def catalogue(*modules: ModuleType) -> dict[str, Mistake]:
    """The known bugs of some modules by name, in the order in which they are defined.

    Raises ValueError if two have the same name.
    """
    values = (value for module in modules for value in vars(module).values())
    found: dict[str, Mistake] = {}
    for record in (getattr(value, "mistake", None) for value in values):
        if isinstance(record, Mistake) and found.setdefault(record.name, record) is not record:
            raise ValueError(f"two mistakes are called {record.name}")
    return found
