"""What a figure is: words, a number or several, and what was promised of each."""

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from math import inf, isfinite
from typing import Any, NamedTuple


class Value(NamedTuple):
    """A number and its unit; most: what was promised, where anything was."""

    number: float
    unit: str = ""
    most: float = inf

    def __str__(self) -> str:
        if self.unit == "%":
            return f"{self.number:.1%}".replace(".0%", "%").replace("%", " %")
        digits = f"{self.number:.0f}" if abs(self.number) >= 100 else f"{self.number:.3g}"
        return f"{digits} {self.unit}".strip()


class Measured(NamedTuple):
    """One figure: a row of a table."""

    what: str
    values: tuple[Value, ...]

    @property
    def kept(self) -> bool:
        """Whether all that was promised is kept."""
        return all(value.number <= value.most for value in self.values)

    @property
    def measured(self) -> str:
        """The numbers, in a cell of a table."""
        return ", ".join(map(str, self.values))

    @property
    def promised(self) -> str:
        """The largest numbers that keep the promise, in a cell of a table."""
        most = (value._replace(number=value.most) for value in self.values)
        return ", ".join(str(x) if isfinite(x.number) else "any" for x in most if self.is_promise)

    @property
    def is_promise(self) -> bool:
        """Whether anything was promised."""
        return any(isfinite(value.most) for value in self.values)

    def __str__(self) -> str:
        said = f"{self.what}: {self.measured}"
        if not self.is_promise:
            return f"        {said}"
        return f"{'kept' if self.kept else 'BROKEN':8}{said}; promised {self.promised}"


def is_there(library: str, what: str) -> bool:
    """Whether a library is, without which something cannot be measured; if not, that is said."""
    if find_spec(library) is None:
        print(f"not measured: {what}, as there is no {library}", flush=True)
        return False
    return True


def one(what: str, number: float, unit: str = "", most: float = inf) -> Measured:
    """A figure of one number."""
    return Measured(what, (Value(number, unit, most),))


def times(certificate: Mapping[str, Any]) -> float:
    """How many times a plain loop over the same calls a certificate, read from JSON, took."""
    spent = certificate["timings"]
    work = sum(x for name, x in spent.items() if name not in ("total", "loading"))
    return float(work / spent["implementation"])


def timed(call: Callable[[], object], runs: int = 5) -> float:
    """The least of several times, in seconds; once it is called before."""
    call()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def beside(call: Callable[[], object], other: Callable[[], object], runs: int = 25) -> float:
    """How many times as long as another a call takes, each by the least of times taken in turns.

    Of the processor alone, as calls of milliseconds are measured badly beside other programs.
    """
    least = [inf, inf]
    for _ in range(runs):
        for i, run in enumerate((call, other)):
            start = time.process_time()
            run()
            least[i] = min(least[i], time.process_time() - start)
    return least[0] / least[1]
