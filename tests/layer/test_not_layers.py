"""Classes that are no layers, and descriptions with names that are not there: one line says why."""

from pathlib import Path

import pytest

from spec import certify
from spec.backends import Unsuitable
from tests.shell import run

PROGRAM = """\
import numpy as np

class Store:
    def grow(self, query, key, value):
        return query

class Layer:
    def __init__(self, width, heads):
        self.width = width

    def __call__(self, x):
        return x
"""


def refused(folder: Path, *words: str) -> str:
    (folder / "mine.py").write_text(PROGRAM)
    done = run("certify", *words, "--profile", "quick", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stdout + done.stderr
    return done.stderr


def test_a_class_that_is_never_called_is_no_layer(tmp_path: Path) -> None:
    said = refused(tmp_path, "mine.py:Store")
    assert "Store has neither forward nor __call__" in said
    assert "a cache has extend(query, key, value)" in said
    assert "--description" not in said


def test_a_cache_that_only_stores_is_told_how_it_is_tested(tmp_path: Path) -> None:
    (tmp_path / "stores.py").write_text(
        "class Store:\n    def update(self, key, value):\n        return key, value\n"
    )
    said = refused(tmp_path, "stores.py:Store")
    assert said == (
        "error: Store stores keys and values (update): write a class with "
        "extend(query, key, value) around it: docs/cache.md has one\n"
    )


@pytest.mark.torch
def test_a_function_of_autograd_is_called_by_another_function() -> None:
    torch = pytest.importorskip("torch")

    class Attention(torch.autograd.Function):
        pass

    with pytest.raises(Unsuitable, match=r"a function that calls Attention.apply\(query, key"):
        certify(Attention)


@pytest.mark.quick("Layer(A, ?x*", "Layer(A, heads*")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("Layer(A, heads)", "make: 'heads' is not defined; it may use A (model width), H (heads)"),
        ("Layer(A, [x for x in (H, n)][0])", "make: 'n' is not defined"),
        (
            "Layer(A, min(H, np.int64(9)))",
            "it has no state_dict; name its attributes",
        ),  # it is made
    ],
)
def test_names_in_a_description_are_those_that_there_are(
    tmp_path: Path, make: str, said: str
) -> None:
    (tmp_path / "mine.toml").write_text(f'make = "{make}"\ninputs = 1\n')
    assert said in refused(tmp_path, "mine.py:Layer", "--description", "mine.toml")
