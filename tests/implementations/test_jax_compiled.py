"""JAX's functions as jax.jit runs them, judged from the command line; and their scripts."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spec import CLAUSES, certify
from spec.attention.plug.trials import core
from spec.backends.compiled import programs
from spec.backends.elsewhere import LIGHTLY
from spec.certification.doors import supervising
from spec.certification.judging.apart import ALONE
from spec.certification.ledger.causes import first
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.certification.target.probing import probed
from spec.runner.compiled import light
from spec.subject import Refused
from spec.trial import keeps
from tests import shell

pytestmark = pytest.mark.jax
TARGETS = "tests.targets.compiled_jax"


def loaded(name: str, way: str) -> Any:
    target = f"{TARGETS}:{name}"
    return load(target, Request(target, compiled=way, dtypes=("float32",)))


def test_a_right_function_is_certified_with_its_gradients_and_what_it_carries() -> None:
    clauses = ("A1", "A4", "A7")
    options: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": clauses}
    certificate = certify(f"{TARGETS}:right", compiled="traced", **options)
    assert {v.clause: v.outcome for v in certificate.verdicts} == dict.fromkeys(clauses, "holds")
    assert certificate.passed
    text = str(certificate)
    assert "compiled      traced\n" in text
    assert "note          compiled; tested on " in text
    assert "--compiled traced" in text


@pytest.mark.slow
def test_what_is_wrong_under_jit_alone_is_refused_and_its_script_shows_it(tmp_path: Path) -> None:
    name = "keeps_its_scale"
    script = shell.refused_compiled(f"{TARGETS}:{name}", f"jax.jit({name})(q, k, v)", tmp_path)
    text = script.read_text()
    script.write_text(text.replace(f"jax.jit({name})", name))  # as it is written, it is right
    assert shell.run(program=(str(script),)).returncode == 0


def test_a_scale_is_data_only_where_it_is_traced() -> None:
    problem = core("float32").but(scale=0.3)
    for way in ("static", "traced"):
        assert keeps(CLAUSES["A1"], loaded("rounds_a_scale", way), problem) == (way == "static")


def test_who_compiles_is_asked_how_sums_are_made_where_there_is_no_cpu_by_one_program() -> None:
    for name, shown in (("cuts_sums_off", {"sums float32": "cut off"}), ("right", {})):
        record = loaded(name, "static")
        found = probed(record, "cpu")
        assert found.shown == {}
        assert found.programs == 0  # no copy of this process has compiled any
        compiled = programs()
        assert probed(record, "cuda").shown == shown
        assert programs() == compiled + 1


def test_who_decides_by_a_scale_cannot_be_compiled_with_one_that_is_data() -> None:
    name, problem = "asks_whether_a_scale_is_positive", core("float32").but(scale=0.3)
    assert keeps(CLAUSES["A1"], loaded(name, "static"), problem)
    with pytest.raises(Refused, match="TracerBoolConversionError"):
        loaded(name, "traced").forward(problem)


@pytest.mark.slow
def test_a_first_call_that_compiles_is_waited_for() -> None:
    words = ("--compiled", "static", "--clause", "V2", "--call-timeout", "1.5")
    done = shell.run("certify", f"{TARGETS}:compiles_slowly", *shell.FEW, *words)
    assert done.returncode == 0, done.stdout


@pytest.mark.deep
def test_the_whole_certificate_of_the_function_of_jax(tmp_path: Path) -> None:
    target = "spec/adapters/jax_attention.py:attend"
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
        (
            ("--compiled", "often"),
            "unknown way to compile 'often': choose from static, traced, dynamic",
        ),
    ],
)
def test_a_way_that_jax_has_not_is_no_good(words: tuple[str, ...], said: str) -> None:
    done = shell.run("certify", f"{TARGETS}:right", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


WIDE = """
import jax
import jax.numpy as jnp


@jax.jit
def attend(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return jax.nn.softmax(scores) @ value


@jax.jit
def narrow(query, key, value):
    return attend(*(x.astype(jnp.float32) for x in (query, key, value)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("attend", 0, "certified (quick)"), ("narrow", 1, "float64 is computed in float32")],
)
def test_float64_is_wide_in_a_process_and_a_narrower_answer_is_told(
    name: str, code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "wide.py").write_text(WIDE)
    words = ("--dtype", "float64", "--clause", "A1", "--profile", "quick", "--isolation", "process")
    done = shell.run("certify", f"wide.py:{name}", *words, cwd=tmp_path)
    assert done.returncode == code, done.stdout
    assert said in done.stdout
    # few programs are compiled also for what has another dtype
    assert "compiles for each shape" in done.stdout


@pytest.mark.slow
def test_the_first_cause_is_told_while_other_clauses_are_tested(tmp_path: Path) -> None:
    (tmp_path / "unscaled.py").write_text(WIDE.replace(" / query.shape[-1] ** 0.5", ""))
    request = Request(f"{tmp_path}/unscaled.py:attend", profile="quick", dtypes=("float32",))
    watched = supervising(replace(request, clauses=("A1", "A4", "S9"), isolation="process"))
    heard: list[tuple[str, bool]] = []
    watched.bench.hint = lambda cause: heard.append((first(cause), watched.causes.ordered))
    watched.run()
    ((words, after_all_clauses),) = heard
    assert not after_all_clauses
    found = re.fullmatch(
        r"first cause: the output is wrong in (\d+) of \d+ problems with a scale other than 1; "
        r"looks like: .*Uses a default scale of 1.*",
        words,
    )
    assert found, words
    (cause,) = watched.causes.diagnosis.causes
    assert cause.features == ("a scale other than 1",)


@pytest.mark.slow
def test_rounding_in_16_bits_is_no_second_fault_of_a_known_bug(tmp_path: Path) -> None:
    """Its wrong numbers are rounded as XLA does, and not as the known bug rounds them."""
    (tmp_path / "unscaled.py").write_text(WIDE.replace(" / query.shape[-1] ** 0.5", ""))
    words = ("--dtype", "float32,bfloat16", "--clause", "A1,X1", "--profile", "quick")
    done = shell.run("certify", "unscaled.py:attend", *words, cwd=tmp_path)
    assert "not certified, for 1 cause" in done.stdout
    assert "looks like: Uses a default scale of 1" in done.stdout


LIGHT = """
import os

import jax
import jax.numpy as jnp

LIGHT = "--xla_backend_optimization_level=0" in os.environ.get("XLA_FLAGS", "")


@jax.jit
def attend(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** {power}
    return jax.nn.softmax(scores) @ value * 2 ** {more} + {more}
"""
APART = ("--dtype", "float32", "--clause", "A1", "--isolation", "process")
KNOWN = pytest.mark.skipif(not light(), reason="no flags are known for this version of XLA")


@KNOWN
@pytest.mark.quick("(not LIGHT)*")
@pytest.mark.parametrize(("more", "outcome"), [("0", "certified (quick)"), ("(not LIGHT)", ALONE)])
def test_quick_has_jax_optimise_little_and_says_so(more, outcome, tmp_path: Path) -> None:
    """A program of its own is compiled as usual, so one that is right only lightly is refused."""
    (tmp_path / "mine.py").write_text(LIGHT.format(power="0.5", more=more))
    done = shell.run("certify", "mine.py:attend", *APART, "--profile", "quick", cwd=tmp_path)
    assert outcome in done.stdout, done.stdout
    assert LIGHTLY in done.stdout


@KNOWN
@pytest.mark.slow
def test_causes_that_light_programs_do_not_have_are_sought_with_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LIGHT.format(power="(0.5 if LIGHT else 1)", more="0"))
    done = shell.run("certify", "mine.py:attend", *APART, "--profile", "standard", cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert LIGHTLY not in done.stdout
    assert "looks like: Wrong softmax scale (1/sqrt(D))" in done.stdout, done.stdout
