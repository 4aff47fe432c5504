"""What is no cache is told in a line, and what a class leaves out is not offered."""

from typing import Any

import numpy as np
import pytest

from implementations.cached import Growing
from implementations.rolling import Rolling
from spec import CLAUSES
from spec.backends import Unsuitable
from spec.cache.plug import cache
from spec.cache.record import Capability
from spec.notation import Array


class WithoutExtend:
    pass


class NeedsAModel:
    def __init__(self, model: Any) -> None: ...


class AnswersTooShort:
    def extend(self, query: Array, key: Array, value: Array) -> Array:  # noqa: ARG002
        return query[:, :, :1]


class AnswersInDouble:
    def extend(self, query: Array, key: Array, value: Array) -> Array:  # noqa: ARG002
        return query.astype(np.float64)


class AnswersNothing:
    def extend(self, query: Array, key: Array, value: Array) -> None: ...


class Fails:
    def extend(self, query: Array, key: Array, value: Array) -> Array:  # noqa: ARG002
        raise KeyError("no such page")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (3, "a cache is a class, or a function that makes one; got 3"),
        (WithoutExtend, "WithoutExtend is no cache: it has no method extend"),
        (NeedsAModel, "NeedsAModel requires 'model', which cannot be filled"),
        (AnswersTooShort, "wrong shape: got (2, 3, 1, 4), want (2, 3, 2, 4)"),
        (AnswersInDouble, "wrong dtype: got float64, want float32"),
        (AnswersNothing, "the output is None, want an array of numpy"),
        (
            Fails,
            "Fails is no cache: KeyError: 'no such page' (it was given arrays of numpy in float",
        ),
    ],
)
def test_what_is_no_cache_is_told_in_a_line(target: Any, words: str) -> None:
    with pytest.raises(Unsuitable) as told:
        cache(target, backend="numpy", dtypes=("float32",))
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_library_or_a_dtype_that_is_not_there_is_told() -> None:
    with pytest.raises(Unsuitable, match="has no bfloat16"):
        cache(Growing, dtypes=("bfloat16",))
    with pytest.raises(Unsuitable, match="unknown backend"):
        cache(Growing, backend="fortran")


def test_what_a_class_leaves_out_is_not_offered() -> None:
    class Plain:
        def __init__(self) -> None:
            self.past: list[Array] = []

        def extend(self, query: Array, key: Array, value: Array) -> Array:
            del key, value
            return query

    record = cache(Plain, backend="numpy")
    kinds = {Capability.ROLLBACK, Capability.FORK, Capability.RAGGED, Capability.PERSISTENT}
    assert not record.offers & {*kinds, Capability.FEWER}
    assert not CLAUSES["C23"].binds(record)
    assert CLAUSES["C16"].binds(record)


def test_what_a_class_is_made_with_tells_what_it_is_asked() -> None:
    """A window only of who takes one, and a second width only of who is not told a single one."""

    class OfOneWidth:
        def __init__(self, width: int, window: int | None = None) -> None:
            self.width, self.window = width, window

        def extend(self, query: Array, key: Array, value: Array) -> Array:
            del key, value
            return query

    kinds = {Capability.WINDOW, Capability.WIDTHS}
    assert cache(OfOneWidth, backend="numpy").offers & kinds == {Capability.WINDOW}
    assert cache(Growing).offers & kinds == {Capability.WIDTHS}
    assert cache(Rolling).offers & kinds == kinds
    assert Capability.FEWER in cache(Growing).offers
