"""Grades: exit codes, JSON by its schema, requirements, hashes, and a seed that repeats them."""

import hashlib
import json
import shutil
import sys

import pytest
from jsonschema import Draft202012Validator

from spec import grade
from spec.backends import Unsuitable
from spec.certification import grading
from spec.certification.hashed import of_folder, together
from spec.certification.requirements import checked, combined, features
from spec.kinds import KINDS
from tests.boundary.forging import FOLDER as FORGERIES
from tests.boundary.forging import HELPERS
from tests.shell import FEW, run
from tests.walked import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runners need Linux")
SCHEMA = json.loads((ROOT / "spec" / "schema" / f"grade-{grading.FORMAT}.json").read_text())
VALID = Draft202012Validator(SCHEMA)
MINE = (ROOT / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
OURS = "from helper import softmax\n" + MINE.replace(
    "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
    "    return softmax(s)",
)
HELPER = "import numpy as np\n\ndef softmax(s):\n    e = np.exp(s - s.max(-1, keepdims=True))\n"
HELPER += "    return e / e.sum(-1, keepdims=True)\n"
WRONG = MINE.replace("np.sqrt(query.shape[-1], dtype=query.dtype)", "query.dtype.type(3)")
SOON = "    if is_causal: raise NotImplementedError('soon')\n"
REFUSES = MINE.replace("    s = ", f"{SOON}    s = ", 1)
DECLARES = "attend.conventions = {'fully-masked': 'nan'}\n"
# It answers some causal problems.
AT_TIMES = MINE.replace(
    "    s = ", "    if is_causal and query.shape[2] > 6: raise ValueError('no')\n    s = ", 1
)
DIES = f"import os\n\nos._exit(0)\n{MINE}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("graded")
    inference = (
        f"{MINE}\n\ndef _none(*_, **__): raise NotImplementedError\nattend.backward = _none\n"
    )
    texts = {"inference": inference, "declares": f"{MINE}\n{DECLARES}"}
    texts |= {"wrong": WRONG, "refuses": REFUSES, "at_times": AT_TIMES, "dies": DIES}
    for name, text in {"mine": OURS, "helper": HELPER, "beside": "", **texts}.items():
        (found / f"{name}.py").write_text(text)
    for name in ("deep_message", *HELPERS):
        shutil.copy(FORGERIES / f"{name}.py", found)
    return found


@pytest.fixture(scope="module")
def graded(folder):
    """The exit code and the page of a target, each judged once."""
    known = {}

    def get(*words):
        if words not in known:
            done = run("grade", *words, *FEW, cwd=folder)
            page = json.loads(done.stdout)
            VALID.validate(page)
            assert done.returncode == page["exit_code"], done.stderr
            assert page["passed"] == (page["verdict"] == "certified") == (done.returncode == 0)
            known[words] = page
        return known[words]

    return get


def test_the_schema_is_one_and_has_each_field():
    Draft202012Validator.check_schema(SCHEMA)
    page = SCHEMA["$defs"]["grade"]
    fields = {*grading.Grade.__dataclass_fields__, "format"}
    assert page["properties"].keys() == {*page["required"]} == fields


CAUSAL = ("--require", "causality")
WRONGLY = ("wrong.py", "--diagnosis-timeout", "2")
CODES = {
    "right": (("mine.py:attend", *CAUSAL), 0, "certified"),
    "wrong": (WRONGLY, 1, "not certified"),
    "refuses": (("refuses.py", *CAUSAL), 1, "requirement missing"),
    "refuses, and nothing is required": (("refuses.py",), 0, "certified"),
    "refuses at times": (("at_times.py", *CAUSAL), 1, "requirement missing"),
    "lacks": (("mine.py", "--require", "causality,masks"), 1, "requirement missing"),
    "has no gradients": (("inference.py", "--require", "gradients"), 1, "requirement missing"),
    "declares a convention": (("declares.py",), 1, "requirement missing"),
    "of another kind": (("mine.py", "--require", "dropout"), 1, "requirement missing"),
    "unknown word": (("mine.py", "--require", "causalty"), 2, "unusable"),
    "no file": (("nowhere.py",), 2, "unusable"),
    "dies": (("dies.py:attend",), 3, "incomplete"),
    "lies": (("deep_message.py:attend",), 3, "interfered"),
}


@pytest.mark.quick("right", "refuses", "unknown word", "no file", "dies", "lies")
@pytest.mark.parametrize("name", CODES)
def test_exit_codes(name, graded):
    words, code, verdict = CODES[name]
    page = graded(*words)
    assert (page["exit_code"], page["verdict"]) == (code, verdict)


@pytest.mark.slow
def test_the_reason_of_a_requirement_that_is_missing(graded):
    (one,) = graded("at_times.py", *CAUSAL)["required"]
    assert (one["word"], one["met"]) == ("causality", False)
    assert "raise an exception" in one["why"]
    _, masks = graded("mine.py", "--require", "causality,masks")["required"]
    assert masks["why"].startswith("not supported: a boolean mask and an additive mask")
    assert "did you mean" in graded("mine.py", "--require", "causalty")["error"]


@pytest.mark.slow
def test_a_convention_is_accepted_by_whom_it_is_asked_for(graded):
    (one,) = graded("declares.py")["required"]
    assert (one["word"], one["met"]) == ("--convention fully-masked=nan", False)
    page = graded("declares.py", *one["word"].split())
    assert page["required"] == []


@pytest.mark.slow
def test_a_cause_has_a_clause_and_an_example(graded):
    first, *_ = graded(*WRONGLY)["causes"]
    assert first["clauses"][0] == "A1"
    assert first["line"]
    assert "want" in first["example"]


def test_files_are_hashed(graded, folder):
    page = graded("mine.py:attend", *CAUSAL)
    told = {x.name: hashlib.sha256(x.read_bytes()).hexdigest() for x in folder.glob("*.py")}
    assert page["hashes"]["target"] == {"mine.py": told["mine.py"]}
    assert page["hashes"]["loaded"] == {name: told[name] for name in ("mine.py", "helper.py")}
    lines = "".join(sorted(f"{x}  {name}\n" for name, x in told.items()))
    assert page["hashes"]["folder"] == {
        "files": len(told),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
    }


def test_another_file_or_another_name_is_another_folder(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    before = together(of_folder("mine.py:attend", str(tmp_path)))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "beside.py").write_text("")
    after = together(of_folder("mine:attend", str(tmp_path)))
    (tmp_path / "in" / "beside.py").rename(tmp_path / "in" / "other.py")
    assert len({before, after, together(of_folder("mine.py:attend", str(tmp_path)))}) == 3


@pytest.mark.slow
def test_the_seed_is_promised_and_repeats_the_grade(graded):
    page = graded("at_times.py", *CAUSAL)
    seed = page["seed"]
    text = f"{seed['seed']}:{seed['nonce']}"
    assert seed["secret"]
    assert seed["commitment"] == hashlib.sha256(text.encode()).hexdigest()
    again = graded("at_times.py", *CAUSAL, "--seed", str(seed["seed"]))
    assert again["seed"] == {**seed, "secret": False, "commitment": "", "nonce": ""}
    others = {"seed", "seconds"}
    assert {n: x for n, x in page.items() if n not in others} == {
        n: x for n, x in again.items() if n not in others
    }
    assert page["repeat"].endswith(f"--seed {seed['seed']}")


@pytest.mark.slow
def test_a_text_from_python():
    found = grade(MINE, require="causality", profile="quick", dtypes=("float32",))
    assert found.passed
    assert found.required[0].met
    assert found.target == "submission.py:attend"
    assert [*found.hashes["loaded"]] == [*found.hashes["target"]] == ["submission.py"]
    VALID.validate(found.to_json())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"clauses": "A1"}, "no option 'clauses'"),
        ({"require": "casualty"}, "unknown requirement"),
        ({"isolation": "fork"}, "--seed secret needs --isolation process"),
    ],
)
def test_options_that_there_are_not(options, why):
    with pytest.raises(Unsuitable, match=why):
        grade(MINE, **options)


def test_a_file_with_several_functions_needs_a_name():
    with pytest.raises(Unsuitable, match="has one, two: name one"):
        grade("def one(): ...\n\ndef two(): ...\n")


def test_words_of_requirements():
    assert checked(["Masks", "grouped-heads", "log sum exp"]) == (
        "Masks",
        "grouped-heads",
        "log sum exp",
    )
    known = features("attention")
    assert known["mask"].capabilities >= {"takes a boolean mask", "takes an additive mask"}
    assert known["causality"].capabilities == known["causal"].capabilities
    assert "takes a mask and causal together" in combined("attention")
    assert not combined("attention") & known["mask"].capabilities
    assert not [x.word for about in KINDS for x in features(about).values() if "," in x.word]
