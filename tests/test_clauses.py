"""Every clause holds for every right implementation that it binds.

The oracles are implementations too. One pytest id is one clause on one
implementation in one format: K2-key_gradients_sum_to_zero-float32-dense.
By default, each clause is put to every fourth implementation that it binds, in
one format of that implementation; implementations and formats take turns. In
`deep`, each clause is put to all of them, and `test_false_alarms` certifies all
of them in all formats.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

import pytest

from implementations import TARGETS
from spec import CLAUSES, about
from spec.backends import library
from spec.certification.as_tests import Run, runs
from spec.clause import Clause
from spec.notation import DTYPES
from tests.judging import found

HAS_TORCH = find_spec("torch") is not None
TURNS = 4
ORACLES = ("oracles.sdpa:math", "oracles.sdpa:flash", "oracles.autograd:attend")


def every() -> Iterator[tuple[str, str, Run]]:
    """Every clause on every implementation that can be loaded here, with name and backend."""
    ours = [(target.name, target.backend) for target in TARGETS]
    oracles = [(name, "torch") for name in ORACLES]
    for place, (name, backend) in enumerate([*ours, *oracles]):
        if backend == "torch" and not HAS_TORCH:
            continue
        formats = DTYPES if backend == "torch" else library(backend).dtypes
        for run in runs(name, profile="quick", dtypes=formats[place % len(formats)]):
            if CLAUSES[run.number].force == "must":
                yield name, backend, run


def bound() -> Iterator[object]:
    """Each clause by default on every fourth implementation that it binds, on one at least."""
    binding = defaultdict[str, list[tuple[str, str, Run]]](list)
    for name, backend, run in every():
        binding[run.number].append((name, backend, run))
    for place, several in enumerate(binding.values()):
        among = min(TURNS, len(several))
        for turn, (name, backend, run) in enumerate(several):
            short = name.removeprefix("implementations.").removesuffix(":attend")
            marks = [pytest.mark.torch] if backend == "torch" else []
            later = [pytest.mark.deep] * (turn % among != place % among)
            yield pytest.param(run, id=f"{run.id}-{short}", marks=[*marks, *later])


@pytest.mark.parametrize("run", list(bound()))
def test_a_right_implementation_keeps_every_clause(run: Run) -> None:
    run()


def some(clauses: Iterable[Clause]) -> Iterator[object]:
    """A sixth of them here, and the others in `deep`, as what has thousands of scores."""
    for place, clause in enumerate(clauses):
        later = place % 6 > 0 or max(clause.over.least) >= 64
        yield pytest.param(clause, id=clause.id, marks=[pytest.mark.deep] * later)


@pytest.mark.parametrize("clause", [*some(about("attention").values())])
def test_many_digits_keep_every_clause(clause: Clause) -> None:
    """The oracle of many digits, on small problems: it takes its time."""
    from oracles.digits import MANY_DIGITS

    if not clause.binds(MANY_DIGITS):
        return
    finding = found(clause, MANY_DIGITS, "float32", examples=2, reach="small")
    assert finding.violation is None
