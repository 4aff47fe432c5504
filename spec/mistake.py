"""What a mistake is: a plausible wrong implementation, with a name and a sentence.

Each kind of subject has a catalogue of them, beside its clauses: `<chapter>/mistakes`. There
`steps` has a right program in named steps, `making` puts it together, and every mistake
replaces one step:

    @wrong("scale", incident="I14", citation="tenstorrent/tt-metal#56789")
    def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
        '''Divides by the square root of the number of heads, having mixed up two variables.'''
        return 1 / np.sqrt(sizes.H) if asked is None else asked

Decorated, the name stands for the whole program, so that it can be certified (and rejected)
like anybody else's. Its record is its attribute `mistake`. A few are right after all, and
must be certified.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from inspect import isfunction
from types import ModuleType
from typing import Any, Literal

Force = Literal["must", "should"]
Decorator = Callable[[Callable[..., Any]], Any]
Steps = Any  # the steps of a program by name, a dataclass of functions


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong implementation.

    sentence: what it does wrong.
    incident: the class of real bugs that it belongs to (I01 to I45), or the published
        system (S0 to S4) that has it: see incidents.md, beside this file; or "plausible".
    target: what is plugged in, a function or a class. spoils: which results of an
        attention function are wrong; elsewhere the step that is replaced says it.
    citation: where it was reported; empty where it is merely plausible.
    where: the problems that it is wrong on, in the words of its chapter (`spec.features`), and
        right on all others; empty where that may be any.
    dtypes: the formats in which it shows.
    harmless: it is right after all, and must be certified.
    replaced: the step that is replaced, by its name, and what with.
    convention: it is right where this convention is declared.
    force: "should" where only a `should` clause can object.
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
    convention: tuple[str, str] | None = None
    force: Force = "must"

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        numbered = self.incident[1:].isdigit()
        kind = "system" if self.incident[0] == "S" else "incident"
        words = f"{kind} {self.incident}, spec/incidents.md" if numbered else self.incident
        return f"{words}, e.g. {self.citation}" if self.citation else words

    @property
    def line(self) -> str:
        """What it is, in a line that opens with its name."""
        return f"{self.name} ({self.source}): {self.sentence}"


def steps(module: ModuleType, **others: Callable[..., Any]) -> Steps:
    """The right steps by name: the functions that a module defines, and others."""
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
    """The program of the right steps, with one replaced by the decorated function.

    right: the steps of a chapter. program: makes an ordinary program of some steps, a new one
    each time. Both are given by the chapter, in its `making`.
    how: further arguments of `program`. facts: further fields of the Mistake.
    """

    def decorate(replacement: Callable[..., Any]) -> Any:
        target = program(replace(right, **{step: replacement}), **(how or {}))
        for name in ("__name__", "__doc__", "__module__"):
            setattr(target, name, getattr(replacement, name))
        target.__qualname__ = name = replacement.__name__
        sentence = " ".join((replacement.__doc__ or "").partition("\n\n")[0].split())
        own = {step: replacement}
        target.mistake = Mistake(name, sentence, target=target, replaced=own, **facts)
        return target

    return decorate


def call(right: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The step around all others: what the right program answers."""
    return right(*arguments, **options)


def catalogue(*modules: ModuleType) -> dict[str, Mistake]:
    """The mistakes of some modules, by name, in the order in which they stand there.

    Raises ValueError if two have the same name.
    """
    values = (value for module in modules for value in vars(module).values())
    found: dict[str, Mistake] = {}
    for record in (getattr(value, "mistake", None) for value in values):
        if isinstance(record, Mistake) and found.setdefault(record.name, record) is not record:
            raise ValueError(f"two mistakes are called {record.name}")
    return found
