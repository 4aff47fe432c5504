"""Calls as source text: the lines that make their arrays, and the call."""

import inspect
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.backends.calling import BY_PLACE
from spec.backends.compiling import as_source
from spec.backends.library import Library, Unsuitable
from spec.certification.explaining.tape import Called, is_object
from spec.written import array_of

TAKEN = ("np", "torch", "jax", "jnp", "sys", "got", "want", "within", "before")
PLACED = (*BY_PLACE, inspect.Parameter.VAR_POSITIONAL)


@dataclass
class Writer:
    """Writes calls as source text.

    target: what it is called. compiled: in which way, if it is. objects: what the calls at some
    places made is called; names: what the last call was given.
    """

    library: Library
    target: str
    compiled: str = ""
    objects: dict[int, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=lambda: Counter(TAKEN))

    def call(self, place: int, call: Called) -> list[str]:
        """The lines that make its arrays, and the call. Raises Unsuitable: it cannot be written."""
        lines, words, gap = list[str](), list[str](), False
        options: dict[int | str, Any] = {}
        for name, parameter in call.signature.parameters.items():
            gap |= name not in call.given
            for passed, x in _each(name, parameter, call.given):
                is_array = self.library.dtype_of(x) is not None
                text = self._new(passed) if is_array else _option(x)
                lines += [f"{text} = {self._array(x)}"] if is_array else []
                self.names[passed] = text
                in_place = parameter.kind in PLACED and not gap
                options |= {} if is_array else {len(words) if in_place else passed: x}
                words.append(text if in_place else f"{passed}={text}")
        whose = self.target if call.whose is None else self.objects[call.whose]
        called = as_source(self.library.name, self.compiled, f"{whose}{call.name}", options)
        text = f"{called}({', '.join(words)})"
        if is_object(call.answer):
            self.objects[place] = self._new("made")
            text = f"{self.objects[place]} = {text}"
        return [*lines, text]

    def _new(self, name: str) -> str:
        """A name that nothing else has."""
        name = f"{name}_" if name == self.target.partition(".")[0] else name
        self.used[name] += 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name]}"

    def _array(self, x: Any) -> str:
        dtype = self.library.dtype_of(x) or ""
        kind = next((kind for kind in ("bool", "int") if dtype.startswith(kind)), "float")
        numbers = self.library.get(x).astype(kind)
        return array_of(self.library.name, numbers, dtype, self.library.device)


def _each(
    name: str, parameter: inspect.Parameter, given: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What is given for a parameter, which may stand for several, or for none."""
    if name not in given:
        return
    if parameter.kind is parameter.VAR_KEYWORD:
        yield from given[name].items()
    elif parameter.kind is parameter.VAR_POSITIONAL:
        yield from ((f"{name}_{place}", x) for place, x in enumerate(given[name]))
    else:
        yield name, given[name]


def _option(x: Any) -> str:
    """What is no array, as source text. Raises Unsuitable: it has none."""
    if isinstance(x, np.dtype):
        return f"np.dtype({str(x)!r})"
    if isinstance(x, float) and not math.isfinite(x):
        return f"float({str(x)!r})"
    if x is None or isinstance(x, bool | int | float | str | np.generic):
        return repr(x)
    if type(x).__module__ == "torch":
        return str(x)
    if isinstance(x, np.random.Generator) and (seed := _seed(x)) is not None:
        return f"np.random.default_rng({seed})"
    raise Unsuitable(f"{type(x).__name__} is not written out")


def _seed(x: np.random.Generator) -> Any:
    """The seed of a generator of which nothing was drawn; None of any other."""
    seed = getattr(x.bit_generator.seed_seq, "entropy", None)
    return (
        seed if np.random.default_rng(seed).bit_generator.state == x.bit_generator.state else None
    )
