"""Dropout: every clause holds for what is right."""

from functools import cache
from importlib.util import find_spec

import pytest

import implementations.dropout
from spec.attention.options import Capability
from spec.dropout.notation import Dropout
from spec.dropout.plug import dropout
from tests.judging import QUICK, broken
from tests.night import deep

FORMATS = ("float64", "float32", "float16", "bfloat16")
BY_TORCH = ["torch", "module", "sdpa", "itself", "composed", "multihead"]
RIGHT = ["numpy", *(BY_TORCH if find_spec("torch") else ())]
CASES = [
    (name, dtype) for name in RIGHT for dtype in FORMATS if (name, dtype) != ("numpy", "bfloat16")
]
# One format each: all of them where it is deep.
OTHERS = {"torch": "float64", "composed": "float64", "sdpa": "bfloat16", "multihead": "bfloat16"}
USUAL = [(name, OTHERS.get(name, "float32")) for name in RIGHT]


@cache
def right(name: str) -> Dropout:
    if name == "numpy":
        return dropout(implementations.dropout.attend)
    import torch

    import oracles.dropout as oracle
    from implementations import dropout_torch as ours

    if name == "multihead":
        no_width_of_its_own = frozenset({Capability.WIDTHS, Capability.SCALE})
        return dropout(oracle.Multihead, refuses=no_width_of_its_own)
    targets = {"torch": ours.attend, "module": ours.Attention, "composed": oracle.composed}
    targets |= {"sdpa": oracle.attend, "itself": torch.nn.functional.scaled_dot_product_attention}
    return dropout(targets[name], name=name)


@pytest.mark.quick("itself*")
@pytest.mark.parametrize(
    ("name", "dtype"), [deep(*x) if x[0] in ("composed", "multihead") else x for x in USUAL]
)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    assert not broken(right(name), dtype, QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", RIGHT)
def test_there_are_no_false_alarms(name: str, seed: int) -> None:
    """The dtypes by turns."""
    dtypes = [dtype for case, dtype in CASES if case == name]
    assert not broken(right(name), dtypes[seed % len(dtypes)], seed=seed)
