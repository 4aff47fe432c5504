"""No false alarm: what is right is certified, whatever the seed; what is wrong never is.

By default one mistake of forty is put to the definition and to the clauses that name it, at the
standard profile; `deep` puts all of them to every clause, for more seeds, and certifies what is
right for twenty. That a clause rejects what it names is tested elsewhere, without a certificate.
"""

from importlib.util import find_spec

import numpy as np
import pytest

from implementations import TARGETS
from implementations.dense import attend
from spec import CLAUSES, about, certify
from spec.attention.mistakes import MISTAKES
from spec.attention.plug.trials import core
from spec.backends import Unsuitable, library
from spec.kinds import KINDS
from spec.mistake import Mistake
from spec.notation import DTYPES
from spec.trial import broken

RIGHT = [t.name for t in TARGETS if t.backend == "numpy" or find_spec("torch")]
if find_spec("torch"):
    RIGHT += ["torch.nn.functional:scaled_dot_product_attention"]
    RIGHT += ["oracles.sdpa:math", "oracles.sdpa:flash", "oracles.autograd:attend"]
IN_NUMPY = {t.name for t in TARGETS if t.backend == "numpy"}
OFFERED = [(t, d) for t in RIGHT for d in (library("numpy").dtypes if t in IN_NUMPY else DTYPES)]
WRONG = [m for m in MISTAKES.values() if not m.harmless and m.force == "must"]
CHOICES = [m for m in WRONG if m.convention is not None]


def naming(mistake: Mistake) -> list[str]:
    return [c.number for c in about("attention").values() if mistake.name in c.catches]


def refused(mistake: Mistake, **asked: object) -> bool:
    """Whether there is no certificate, be it that nothing can be judged: a wrong shape."""
    options = {"backend": "numpy", "dtypes": mistake.dtypes, "fail_fast": True, **asked}
    try:
        return not certify(mistake.target, **options).passed
    except Unsuitable:
        return True


@pytest.mark.quick("measures_the*", "takes_the*", "damps*", "bounds*", "takes_padding*")
@pytest.mark.parametrize("mistake", WRONG[::40], ids=lambda mistake: mistake.name)
def test_a_mistake_is_refused(mistake: Mistake) -> None:
    assert refused(mistake, clauses=naming(mistake))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mistake", WRONG, ids=lambda mistake: mistake.name)
def test_a_mistake_is_refused_for_any_seed(mistake: Mistake, seed: int) -> None:
    assert refused(mistake, seed=seed)


def convention_is_judged(mistake: Mistake, profile: str) -> None:
    assert mistake.convention is not None
    name, choice = mistake.convention
    some = naming(mistake)
    options = {"backend": "numpy", "dtypes": mistake.dtypes, "profile": profile}
    more = {**options, "profile": "standard"}  # few clauses see it in a few problems
    undeclared = certify(mistake.target, **more, clauses=some, fail_fast=True)
    assert not undeclared.passed
    word = f"{name}={choice}"
    option = f'"{word}"' if " " in word else word
    assert f"--convention {option}" in " ".join(str(undeclared).split())
    corners = dict.fromkeys(("window-alignment", "slopes-alignment"), "top-left")
    chosen = {**(corners if name == "causal" else {}), name: choice}  # which moves no other corner
    clauses = some if profile == "quick" else ()
    declared = certify(mistake.target, **options, conventions=chosen, clauses=clauses)
    assert declared.passed, str(declared)
    assert declared.conventions[name] == choice


@pytest.mark.quick("gives_idle_queries_nan", "lets_the_last_query_see_the_last_key")
@pytest.mark.parametrize("mistake", CHOICES, ids=lambda mistake: mistake.name)
def test_another_convention_is_refused_until_it_is_declared(mistake: Mistake) -> None:
    convention_is_judged(mistake, "quick")


@pytest.mark.deep
@pytest.mark.parametrize("mistake", CHOICES, ids=lambda mistake: mistake.name)
def test_another_convention_is_certified_once_declared(mistake: Mistake) -> None:
    convention_is_judged(mistake, "standard")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("target", "dtype"), OFFERED)
def test_what_is_right_is_certified_for_any_seed(target: str, dtype: str, seed: int) -> None:
    certificate = certify(target, dtypes=(dtype,), seed=seed)
    assert certificate.passed, str(certificate)


def test_a_result_may_be_rounded_up_to_the_smallest_normal_number() -> None:
    """Half of what is twice as large is then no longer that: V5 is held to the budget there."""
    record = KINDS["attention"].load(attend, backend="numpy")
    smallest, step = 2.0**-14, 2.0**-24
    values = np.array([smallest, smallest - step]).reshape(1, 1, 2, 1)
    problem = core("float16", B=1, H=1, N=1, M=2, D=1).but(q=np.zeros((1, 1, 1, 1)), v=values)

    once, twice = (record.forward(problem.but(v=x)).item() for x in (values, 2 * values))
    assert (once, twice) == (smallest, 2 * smallest - step)
    assert broken(CLAUSES["V5"], record, problem) is None
