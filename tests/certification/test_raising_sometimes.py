"""An exception that a target does not always raise: the report names the problems."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from implementations.dense import attend as dense
from spec import certify
from spec.certification.ledger.reading import loaded
from tests.shell import environment, run

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float64",), "clauses": "A1,S1,C1,X1"}
TARGET = """\
from tests.certification.test_raising_sometimes import raising
attend = raising(lambda n, m, causal: causal and n > m)
"""


def raising(where: Callable[[int, int, bool], bool]) -> Callable[..., Any]:
    """Attention that raises an exception where a condition of N, M and causality holds."""

    def attend(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
        N, M = query.shape[-2], key.shape[-2]
        if where(N, M, is_causal):
            raise ValueError(f"{N} queries and {M} keys")
        return dense(query, key, value, is_causal=is_causal)

    return attend


@pytest.mark.quick("<lambda>-, with M > 8")
@pytest.mark.parametrize(
    ("where", "words"),
    [
        (lambda n, m, causal: causal and n > m, ", with causal and N > M"),
        (lambda _n, m, _: m > 8, ", with M > 8"),
        (lambda n, m, _: (7 * n + 3 * m) % 5 == 1, ""),
    ],
)
def test_the_condition_is_named_if_there_is_one(where: Any, words: str, tmp_path: Any) -> None:
    certificate = certify(raising(where), **FEW)
    (line,) = (x for x in str(certificate).splitlines() if x.startswith("sometimes raises"))
    head, _, message = line.partition(": ")[2].partition(": ")
    assert head.partition(" problems")[2] == words
    assert message.startswith("ValueError: ")
    assert "raised with" not in line
    certificate.save(tmp_path / "c.json")
    assert line in str(loaded(tmp_path / "c.json"))


def test_the_smallest_call_is_shown_and_raises_it(tmp_path: Path) -> None:
    """In the first lines in words, and further below as a script."""
    (tmp_path / "raises_sometimes.py").write_text(TARGET)
    certificate = certify(f"{tmp_path}/raises_sometimes.py:attend", **FEW)
    assert certificate.passed
    head, _, below = str(certificate).partition("conventions")
    assert "\nraises        " in head
    assert "with causal and N > M: ValueError" in " ".join(head.split())
    (script,) = {v.script for v in certificate.verdicts if v.script}
    assert textwrap.indent(script.rstrip(), "    ") in below
    (tmp_path / "script.py").write_text(script)
    command, places = [sys.executable, "script.py"], environment(sys.path)
    done = subprocess.run(
        command, cwd=tmp_path, env=places, capture_output=True, text=True, check=False
    )
    assert "ValueError: 2 queries and 1 keys" in done.stderr
    certificate.save(tmp_path / "c.json")
    assert script in {v.script for v in loaded(tmp_path / "c.json").verdicts}


OWN = """\
import numpy as np

def attend(query, key, value, is_causal=False):
    N, M = query.shape[-2], key.shape[-2]
    if is_causal and N > M:
        raise ValueError(f"{N} queries and {M} keys")
    s = query @ key.swapaxes(-1, -2) / np.sqrt(query.dtype.type(query.shape[-1]))
    if is_causal:
        s = np.where(np.tri(N, M, dtype=bool), s, s.dtype.type(-np.inf))
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ value).astype(value.dtype)
"""


def test_a_target_in_a_process_of_its_own_has_a_script_too(tmp_path: Path) -> None:
    (tmp_path / "raises_alone.py").write_text(OWN)
    certificate = certify(f"{tmp_path}/raises_alone.py:attend", **FEW, isolation="process")
    assert certificate.passed, str(certificate)
    assert any("from raises_alone import attend" in v.script for v in certificate.verdicts)


def test_what_has_no_name_has_no_script() -> None:
    certificate = certify(raising(lambda n, m, causal: causal and n > m), **FEW)
    assert not any(v.script for v in certificate.verdicts)


@pytest.mark.slow
def test_it_is_named_by_workers_too(tmp_path: Any) -> None:
    (tmp_path / "raises_sometimes.py").write_text(TARGET)
    words = ("--profile", "quick", "--dtype", "float64", "--clause", "A1,S1,C1,X1")
    done = run("certify", "raises_sometimes.py:attend", *words, cwd=tmp_path)
    assert " problems, with causal and N > M: ValueError: " in done.stdout, done.stderr


def test_no_problem_is_called_that_where_excludes() -> None:
    """Such a problem may end the process, and is excluded for that reason."""
    widths = set()

    def attend(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
        widths.add(value.shape[-1])
        if is_causal and query.shape[-2] > key.shape[-2]:
            raise ValueError("more queries than keys")
        return dense(query, key, value, is_causal=is_causal)

    assert "sometimes raises" in str(certify(attend, where="E > 0", **FEW))
    assert 0 not in widths


def keyed(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    """Attention that raises an exception if there are no keys."""
    if not key.shape[-2]:
        raise ValueError("no keys")
    return dense(query, key, value, attn_mask)


def test_a_clause_on_whose_problems_it_always_raises_has_the_condition() -> None:
    """Its problems have no keys, and few others have none."""
    found = certify(keyed, profile="quick", dtypes=("float64",), clauses="A1,T8")
    assert {v.clause: v.outcome for v in found.verdicts} == {"A1": "holds", "T8": "refused"}
    assert " problems, with M = 0: ValueError: no keys" in " ".join(str(found).split())
