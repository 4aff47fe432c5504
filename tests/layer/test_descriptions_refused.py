"""A description that says nothing of use is refused in one line, which says what is wrong."""

from pathlib import Path

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.layer.plug import layer
from tests.shell import run

FEW = ("--profile", "quick", "--dtype", "float32")
OTHER = """
import numpy as np

class Right:
    def __init__(self, width, heads):
        self.W_q = self.W_k = self.W_v = self.W_o = np.eye(width)

    def __call__(self, query, key, value):
        return query

class Mine:
    __init__, __call__ = Right.__init__, Right.__call__
"""


@pytest.mark.torch
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("names = 3", "names is 3, want a table"),
        ("nmaes = {}", "unknown key 'nmaes': choose from names, make, inputs"),
        ("inputs = 2", "inputs is 2, want 3 (query, key and value) or 1"),
        ('causal = "sometimes"', "causal is 'sometimes', want optional or always"),
        ("make = 'Block('", "is no expression"),
        ("make = 'Blokc(A)'", "make: 'Blokc' is not defined; it may use A (model width)"),
        ("inputs =", "is no TOML"),
        ("[names]\nw = 'W_q W_k'", "names: W_v has no place"),
        ("[names]\nw = 'W_q W_k W_v W_x'", "unknown name 'W_x': choose from W_q, W_k"),
        ("[names]\nw = 'W_q W_q W_k W_v'", "names: W_q has 2 places"),
        ("[names]\nw = 'W_q W_k W_v'\nb = 'b_o'", "names: b_o has a place, and W_o has none"),
        ("[masks]\nm = 'added (M, B)'", "is no mask"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_description_is_told_in_a_line(text: str | None, line: str, tmp_path: Path) -> None:
    file = tmp_path / "layer.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Unsuitable) as told:
        certify("tests.targets.described:CausalSelfAttention", description=str(file))
    assert line in str(told.value)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.torch
def test_a_bad_description_ends_with_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "layer.toml"
    file.write_text("nmaes = {}")
    words = ("--description", str(file))
    done = run("certify", "implementations.multihead:MultiHead", *FEW, *words)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_description_is_for_layers_alone() -> None:
    with pytest.raises(Unsuitable, match="is for a layer, not a cache"):
        certify("implementations.cached:Growing", kind="cache", description="none.toml")
    with pytest.raises(Unsuitable, match="is a record already"):
        certify("tests.targets.layers:TURNS", description="none.toml")
    names = {"w": "W_q W_k W_v"}
    with pytest.raises(Unsuitable, match="only layers of torch are completed"):
        layer(type("Made", (), {"__call__": len}), names=names, backend="numpy")


@pytest.mark.parametrize("isolation", ["process", "none"])
def test_a_description_that_makes_another_layer_is_refused(isolation: str, tmp_path: Path) -> None:
    """Else the class that it makes would be certified under the name of the target."""
    (tmp_path / "mine.py").write_text(OTHER)
    (tmp_path / "mine.toml").write_text(
        'make = "Right(A, H)"\n[names]\n' + "".join(f'W_{x} = "W_{x}"\n' for x in "qkvo")
    )
    words = ("mine.py:Mine", "--description", "mine.toml", *FEW, "--isolation", isolation)
    done = run("certify", *words, cwd=tmp_path)
    said = "make of the description builds Right, not Mine: copy the description, and let its make"
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: Mine cannot be tested as a layer: {said} build Mine\n"), (
        done.stderr
    )
