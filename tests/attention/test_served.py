"""Functions that have queries packed and keys in pages: how they are recognised and asked."""

from typing import Any

import numpy as np
import pytest

from implementations import packed as ours
from spec import certify
from spec.attention.mistakes import served
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.paging import Pages
from spec.attention.plug.serving import served as serving
from spec.attention.plug.trials import square
from spec.attention.small import OF_TEXTS
from spec.backends import Unsuitable
from spec.notation import Array
from tests.attention.test_scripts import found, run
from tests.night import deep

RIGHT: Any = served.program(served.Steps())
FEW: dict[str, Any] = {"profile": "quick", "dtypes": "float32"}


def used(
    q: Array,
    k: Array,
    v: Array,
    max_seqlen_q: int,
    cu_seqlens_q: Array,
    max_seqlen_k: int,
    cu_seqlens_k: Array | None = None,
    seqused_k: Array | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    block_table: Array | None = None,
) -> Array:
    """As vLLM's: lengths of what lies in pages are told by `seqused_k`, and never twice."""
    if (cu_seqlens_k is None) == (seqused_k is None):
        raise ValueError("lengths of keys are told once")
    if seqused_k is not None:
        cu_seqlens_k = np.cumsum([0, *seqused_k])
    options = {"softmax_scale": softmax_scale, "causal": causal, "block_table": block_table}
    starts = cu_seqlens_q, cu_seqlens_k
    return np.asarray(ours.attend(q, k, v, *starts, max_seqlen_q, max_seqlen_k, **options))


def in_pages_alone(
    q: Array,
    k: Array,
    v: Array,
    cu_seqlens_q: Array,
    seqused_k: Array,
    max_seqlen_q: int,
    block_table: Array,
) -> Array:
    return used(q, k, v, max_seqlen_q, cu_seqlens_q, 0, None, seqused_k, block_table=block_table)


def test_queries_lie_as_in_packed_arrays_and_keys_in_pages() -> None:
    problem = square("float32").but(**OF_TEXTS, page=2, seed=3)
    lies = serving(problem, Pages(swapped=True, packed=True))
    assert lies.shape(problem.q.shape) == (8, 3, 2)
    pages, places, *_ = lies.shape(problem.k.shape, "k")
    assert places == 2
    assert pages > 4
    k = lies.put(problem.k, "k")
    table, starts = np.asarray(lies.told["block_table"]), np.asarray(lies.told["cu_seqlens_k"])
    at = ours.places_of(k, table, starts)
    assert np.isfinite(k[at]).all()
    assert np.isnan(k).sum() == k.size - k[at].size
    assert np.diff(starts).tolist() == np.asarray(lies.told["cache_seqlens"]).tolist()


@pytest.mark.quick("in*", "called*")
@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "C", "J"), deep(None)])
@pytest.mark.parametrize("target", [RIGHT, used, in_pages_alone])
def test_it_is_certified(target: Any, clauses: Any) -> None:
    record = implementation(target, backend="numpy")
    assert {Capability.PAGES, Capability.SEGMENTS, Capability.SPARE} <= record.answers
    certificate = certify(target, backend="numpy", **FEW, clauses=clauses)
    assert certificate.passed, str(certificate)
    assert any("and paged keys" in note for note in certificate.notes)


def test_gradients_are_those_of_keys_that_are_packed_as_well() -> None:
    record = implementation(ours.attend)
    assert Capability.PAGES in record.answers
    assert Capability.PAGES not in record.differentiates
    assert Capability.GRADIENTS in record.offers
    assert Capability.GRADIENTS not in implementation(in_pages_alone, backend="numpy").offers


def test_without_lengths_of_keys_nothing_can_be_asked() -> None:
    def lost(q: Any, k: Any, v: Any, cu_seqlens_q: Any, max_seqlen_q: int, block_table: Any) -> Any:
        return q, k, v, cu_seqlens_q, max_seqlen_q, block_table

    with pytest.raises(Unsuitable, match="takes only one of cu_seqlens_q and cu_seqlens_k"):
        implementation(lost, backend="numpy")


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ([[0], [1]], "texts of [3, 1] keys, and room for 2"),
        ([[0, 9], [1, 2]], "pages [0, 1, 9], and there are 3"),
        ([[0, 1]], "a table (1, 2) of 2 texts"),
    ],
)
def test_pages_that_are_none_are_told_in_a_line(table: Any, line: str) -> None:
    x, pages = np.zeros((2, 1, 2)), np.zeros((3, 2, 1, 2))
    starts = np.array([0, 1, 2]), np.array([0, 3, 4])
    with pytest.raises(ValueError, match=r"texts|pages|table") as told:
        ours.attend(x, pages, pages, *starts, 1, 3, block_table=np.array(table))
    assert str(told.value) == line


def test_a_script_says_pages_and_where_texts_start(tmp_path: Any) -> None:
    text = found(
        "A1", "spec.attention.mistakes.served:has_one_row_of_pages_for_all_texts", "float32"
    )
    assert "block_table = np.array(" in text
    assert "cu_seqlens_q = np.array(" in text
    again = run(text, tmp_path)
    assert (again.returncode, again.stderr) == (1, "")
