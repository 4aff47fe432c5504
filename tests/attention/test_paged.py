"""Functions that read keys from a cache: how they are recognised and asked, and what they see."""

from typing import Any

import numpy as np
import pytest

from implementations import kvcache
from spec import certify
from spec.attention.conventions import as_chosen
from spec.attention.mistakes import appended, paged
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.layouts import LAYOUTS
from spec.attention.plug.packing import CHOICES
from spec.attention.plug.paging import Pages, Paging
from spec.attention.plug.paging import paged as paging_of
from spec.attention.plug.trials import square
from spec.backends import Unsuitable
from spec.certification.command_line import main
from spec.notation import Array
from spec.subject import Refused
from tests.attention.test_scripts import found as script_of
from tests.shell import script_here

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": ["A1", "J2"]}
ENDS = as_chosen(CHOICES)
NUMPY = ("--backend", "numpy")  # which spares the workers torch
TEXTS = {
    "query_segments": np.array([[0, 1, 1, -1], [2, 0, 2, 0]]),
    "key_segments": np.array([[1, 0, 0, 3, -1], [0, 0, 2, -1, 2]]),
}
TABLES, ROOM = Pages(True, tables=(True,)), Pages(True, tables=(False,))
ADDING = Pages(True, adds=(True, False))


def seeds(pages: Pages, **changes: Any) -> list[tuple[Problem, Paging]]:
    """Problems with many seeds, and where their tokens lie."""
    problem = square("float32", M=5).but(**ENDS, **changes)
    sizes = (3, 1, 2, 4) if True in pages.tables else (0,)
    put = [problem.but(seed=seed, page=size) for seed in range(15) for size in sizes]
    return [(one, paging_of(one, pages)) for one in put]


def heads_first(
    q: Array, k_cache: Array, v_cache: Array, cache_seqlens: Array, block_table: Array
) -> Array:
    """With the length behind the heads, in queries and in pages."""
    arrays = (x.swapaxes(1, 2) for x in (q, k_cache, v_cache))
    found: Array = kvcache.attend(*arrays, cache_seqlens, block_table)
    return found.swapaxes(1, 2)


def by_sixteens(
    q: Array, k_cache: Array, v_cache: Array, cache_seqlens: Array, page_table: Array
) -> Array:
    """As kernels do that have a number of places built in."""
    if k_cache.shape[1] != 16:
        raise ValueError("pages have 16 places")
    found: Array = kvcache.attend(q, k_cache, v_cache, cache_seqlens, page_table)
    return found


def with_room(q: Array, k_cache: Array, v_cache: Array, cache_seqlens: Array) -> Array:
    """Without a table."""
    found: Array = kvcache.attend(q, k_cache, v_cache, cache_seqlens)
    return found


@pytest.mark.parametrize("pages", [TABLES, ROOM], ids=["pages", "rows with room"])
@pytest.mark.parametrize("said", [{}, TEXTS], ids=["one text", "several"])
def test_every_key_lies_where_it_is_said_to(pages: Pages, said: dict[str, Any]) -> None:
    """And what lies elsewhere is no number."""
    for problem, found in seeds(pages, **said):
        k = found.put(problem.k, "k")
        assert k.shape == found.shape(problem.k.shape, "k")
        lengths: Any = found.told["cache_seqlens"]
        table: Any = found.told.get("block_table", np.arange(len(lengths))[:, None])
        places = k.shape[1]
        rows = [
            k[table[b, np.arange(n) // places], np.arange(n) % places]
            for b, n in enumerate(lengths)
        ]
        assert lengths.sum() == problem.B * problem.M
        assert sorted(np.concatenate(rows).sum(axis=(1, 2))) == sorted(
            problem.k.sum(axis=(1, 3)).reshape(-1)
        )
        named = {*zip(*map(np.ravel, found.keys), strict=True)}
        numbers = len(named) * problem.G * problem.D
        assert np.isnan(k).sum() == k.size - numbers


def test_queries_come_back_from_where_they_were_put() -> None:
    for problem, found in seeds(TABLES, **TEXTS):
        q = found.put(problem.q, "q")
        assert q.shape == found.shape(problem.q.shape)
        assert (found.back(q, problem.q.shape) == problem.q).all()
        lse = q[..., 0].swapaxes(1, 2)
        assert lse.shape == found.shape(problem.q.shape[:3], "")
        assert (found.back(lse, problem.q.shape[:3], "") == problem.q[..., 0]).all()


def test_pages_are_in_any_order_and_shared_by_who_is_alike() -> None:
    """More of them than are named; and behind the last one a table says anything."""
    tables: list[Any] = [found.told["block_table"] for _, found in seeds(TABLES)]
    assert any((x == -1).any() for x in tables)
    assert any((np.diff(x[0]) < 0).any() for x in tables)
    same = {x: np.ones((2, 3, 5, 2)) for x in "kv"}
    assert all((found.keys[0] == found.keys[0][:1]).all() for _, found in seeds(TABLES, **same))


def test_a_problem_says_in_what_pages() -> None:
    """As far as a function takes any other number of places, and takes pages."""
    problem = square("float32", M=5).but(**ENDS)
    either, sixteen = Pages(True), Pages(True, places=16, tables=(True,))
    for size in (1, 2, 7):
        assert paging_of(problem.but(page=size), either).sizes[1][1] == size
        assert paging_of(problem.but(page=size), sixteen).sizes[1][1] == 16
    assert "block_table" not in paging_of(problem, either).told
    assert paging_of(problem, TABLES).sizes[1][1] == 3
    for other in (problem.but(page=2), problem.but(added=1)):
        with pytest.raises(Refused, match="takes no pages, or no new keys"):
            paging_of(other, ROOM)


def test_fewer_queries_stand_at_the_corner() -> None:
    """Whose corner is the first key has rows that nobody reads behind them, else before."""
    problem = square("float32", M=5).but(**TEXTS, **ENDS)
    _, behind = paging_of(problem, TABLES).rows
    _, before = paging_of(problem.but(corner="top-left"), TABLES).rows
    assert (behind.max(), before.min()) == (1, 0)
    assert (behind >= before).all()
    assert (behind != before).any()
    with pytest.raises(Refused, match="at one corner alone"):
        paging_of(problem.but(window_corner="top-left"), TABLES)


def test_what_it_does_not_take_it_is_not_asked() -> None:
    record = implementation(kvcache.attend)
    assert record.chosen.items() >= CHOICES.items()
    assert Capability.SEGMENTS in record.answers
    assert Capability.LSE in record.offers
    lacking = {Capability.MASK, Capability.POSITIONED, Capability.GRADIENTS}
    assert not lacking & record.offers
    assert "not tested: " not in str(record.notes)


@pytest.mark.parametrize("target", [heads_first, by_sixteens, with_room])
def test_another_layout_of_pages_is_found(target: Any) -> None:
    certificate = certify(target, **FEW)
    assert certificate.passed, str(certificate)
    assert not any(verdict.refused for verdict in certificate.verdicts)
    (asked,) = {heads_first: ["phld"], by_sixteens: ["plhd16"]}.get(target, ["plhd"])
    assert (f"judged with --layout {asked}" in str(certificate)) == (asked != "plhd")


def test_a_cache_has_no_other_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "implementations.kvcache:attend", *NUMPY, "--layout", "blhd"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"attend takes arrays {LAYOUTS['plhd'].words}: use --layout plhd" in line


def test_pages_without_lengths_are_no_cache() -> None:
    def attend(q: Array, k: Array, v: Array, block_table: Array) -> Array:
        return q + k + v + block_table

    with pytest.raises(Unsuitable, match="takes a block_table, but no number of keys"):
        implementation(attend, backend="numpy")


def test_who_is_told_what_is_new_and_not_how_much_there_is_has_no_cache() -> None:
    def attend(query: Array, key: Array, value: Array, k: int) -> Array:
        return query + key + value + k

    with pytest.raises(Unsuitable, match="requires a parameter 'k', which cannot be filled"):
        implementation(attend, backend="numpy")


def test_another_corner_is_declared_and_recognised() -> None:
    target: Any = paged.hangs_queries_at_the_first_key
    how: dict[str, Any] = {**FEW, "clauses": ["A1", "C15"]}
    undeclared = certify(target, **how, fail_fast=True)
    assert not undeclared.passed
    assert "--convention causal=top-left" in str(undeclared)
    assert certify(target, **how, conventions={"causal": "top-left"}).passed


def test_a_script_makes_the_very_call() -> None:
    target = "spec.attention.mistakes.paged:multiplies_what_lies_behind_by_zero"
    script = script_of("A1", target, "float32")
    assert "np.nan" in script
    assert "(q, k_cache, v_cache, cache_seqlens)" in script
    assert script_here(script).returncode is True


@pytest.mark.parametrize("n", [0, 1, 3, 9])
def test_new_keys_are_told_beside_the_cache_and_looked_for_in_it(n: int) -> None:
    """The last ones of each sequence, as many of one as of another."""
    problem = square("float32", M=5)
    for lies in (x for _, x in seeds(ADDING, added=n)):
        count = min(n, 5)
        lengths: Any = lies.told["cache_seqlens"]
        assert (lengths == 5 - count).all()
        assert lies.writes == bool(count)
        new: Any = lies.told.get("new_k", np.zeros((2, 0, 3, 2)))
        assert (new == problem.k[:, :, 5 - count :].swapaxes(1, 2)).all()
        held, full = lies.put(problem.k, "k"), lies.filled(problem.k, np.ones((2, 5), bool))
        assert np.isnan(full).sum() == np.isnan(held).sum() - new.size


WRITERS = ("keeps_nothing_of_what_it_adds", "clears_the_rest_of_the_page")


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_cache_should_hold_is_shown_by_a_script(name: str) -> None:
    script = script_of("T1", f"spec.attention.mistakes.appended:{name}", "float32")
    assert "the cache of k is written wrongly" in script
    done = script_here(script)
    assert done.returncode is True
    got, want = done.stdout.splitlines()[:2]
    assert got != want


@pytest.mark.deep
@pytest.mark.parametrize("name", WRITERS)
def test_what_a_cache_should_hold_is_a_cause(name: str) -> None:
    target = getattr(appended, name)
    certificate = certify(target, profile="quick", dtypes=("float32",), clauses=["T1"])
    (cause,) = certificate.causes
    assert "new keys" in cause.sentence
    assert "the cache of k is written wrongly" in str(certificate)


def test_a_function_that_adds_nothing_right_away_is_asked_with_none() -> None:
    """Who always takes new keys is put some in each problem, if only none."""

    def attend(
        q: Array, k_cache: Array, v_cache: Array, k: Array, v: Array, cache_seqlens: Array
    ) -> Array:
        found: Array = kvcache.attend(q, k_cache, v_cache, cache_seqlens, k=k, v=v)
        return found

    certificate = certify(attend, **FEW)
    assert certificate.passed, str(certificate)
