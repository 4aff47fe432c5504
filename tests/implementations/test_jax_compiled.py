"""JAX's functions as jax.jit runs them, judged from the command line; and their scripts."""

import json
from pathlib import Path

import pytest

from spec import certify
from tests import shell

pytestmark = pytest.mark.jax
TARGETS = "tests.targets.compiled_jax"
QUICK = {"profile": "quick", "dtypes": ("float32",)}


def judged(name: str, way: str | None, *clauses: str) -> tuple[int, dict[str, str], str]:
    target = f"{TARGETS}:{name}"
    certificate = certify(target, compiled=way, clauses=clauses, fail_fast=True, **QUICK)  # type: ignore[arg-type]
    return (
        certificate.exit_code,
        {v.clause: v.outcome for v in certificate.verdicts},
        str(certificate),
    )


def test_a_right_function_is_certified_with_its_gradients_and_what_it_carries() -> None:
    clauses = ("A1", "A4", "A7")
    code, outcomes, text = judged("right", "traced", *clauses)
    assert (code, outcomes) == (0, dict.fromkeys(clauses, "holds"))
    assert "compiled      traced\n" in text
    assert "note          is compiled, and is asked in " in text
    assert "--compiled traced" in text


def test_what_is_wrong_under_jit_alone_is_refused_and_its_script_shows_it(tmp_path: Path) -> None:
    name = "keeps_its_scale"
    words = (*shell.FEW, "--clause", "A1", "--fail-fast", "--report", str(tmp_path))
    done = shell.run("certify", f"{TARGETS}:{name}", *words, "--compiled", "static")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compiled      static\n" in done.stdout
    (script,) = tmp_path.glob("*.py")
    text = script.read_text()
    assert f"jax.jit({name})(q, k, v)" in text
    assert "from spec" not in text
    assert shell.run(program=(str(script),)).returncode == 1
    script.write_text(text.replace(f"jax.jit({name})", name))  # as it is written, it is right
    assert shell.run(program=(str(script),)).returncode == 0


def test_a_scale_is_data_only_where_it_is_traced() -> None:
    assert judged("rounds_a_scale", "static", "A1")[:2] == (0, {"A1": "holds"})
    code, outcomes, text = judged("rounds_a_scale", "traced", "A1")
    assert (code, outcomes) == (1, {"A1": "violated"})
    assert "got = np.asarray(jax.jit(rounds_a_scale)(q, k, v, scale=" in text


def test_who_decides_by_a_scale_cannot_be_compiled_with_one_that_is_data() -> None:
    name = "asks_whether_a_scale_is_positive"
    assert judged(name, "static", "A1")[:2] == (0, {"A1": "holds"})
    code, _, text = judged(name, "traced", "A1")
    assert code == 0
    assert "refused: takes a scale" in text
    assert "TracerBoolConversionError" in text


@pytest.mark.deep
def test_the_whole_certificate_of_the_function_of_jax(tmp_path: Path) -> None:
    target = "implementations/adapters/jax_attention.py:attend"
    words = ("--compiled", "traced", "--layout", "blhd", "--json", str(tmp_path / "c"))
    done = shell.run("certify", target, *shell.FEW, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "c").read_text())
    assert found["compiled"] == "traced"
    assert 0 < found["programs"] <= 120
    assert found["ledger"]["holds"] > 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--compiled", "dynamic"), "--compiled dynamic: JAX compiles static or traced"),
        (("--compiled", "often"), "invalid choice: 'often'"),
    ],
)
def test_a_way_that_jax_has_not_is_no_good(words: tuple[str, ...], said: str) -> None:
    done = shell.run("certify", f"{TARGETS}:right", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
