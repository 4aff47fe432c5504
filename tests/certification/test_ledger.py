"""A ledger: targets are held to what was found about them, and causes to what is said of them."""

import json
import shutil

import numpy as np
import pytest

from spec import CLAUSES, certify
from spec.backends import Unsuitable
from spec.certification.ledger.brief import brief, in_full
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.judgements import mended
from spec.certification.ledgers import entries
from tests.night import deep
from tests.shell import run

LEDGER = """\
profile = "quick"
dtypes = ["float32"]
clauses = ["A1", "A2", "M8"]

[targets.mine]
target = "mine.py:attend"
library = "numpy"
"""
JUDGED = """
[[targets.mine.causes]]
sentence = "where M > 1, gradients are wrong"
kind = "fault"
words = "Takes a (1 - a) for the derivative of the softmax."
script = "mine_is_wrong.py"
"""
SHOWS = "assert 0 == -0.25, 'gradients are wrong'\n"


def with_a_fault(folder):
    """Make the ledger of a target that has a fault, and a script that shows it."""
    (folder / "mine.py").write_text("from tests.targets import elementwise as attend\n")
    (folder / "mine.toml").write_text(LEDGER + JUDGED)
    (folder / "faults").mkdir()
    (folder / "faults" / "mine_is_wrong.py").write_text(SHOWS)
    return folder


@pytest.fixture
def ledger(tmp_path):
    """The folder of a ledger."""
    return with_a_fault(tmp_path)


def held(ledger, *words):
    return run("ledger", "mine.toml", *words, cwd=ledger)


def entry(ledger):
    (found,) = entries(str(ledger / "mine.toml"))
    return found


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A ledger that was recorded, and what was said of that."""
    folder = with_a_fault(tmp_path_factory.mktemp("once"))
    return folder, held(folder, "--record")


@pytest.fixture
def kept(once, tmp_path):
    """The folder of a ledger that was recorded."""
    return shutil.copytree(once[0], tmp_path, dirs_exist_ok=True)


@pytest.mark.slow
def test_what_is_as_it_was_recorded_is_no_failure_whatever_is_wrong(once):
    ledger, recorded = once
    assert recorded.returncode == 0, recorded.stdout + recorded.stderr
    done = held(ledger)
    assert done.returncode == 0, done.stdout + done.stderr
    head, row = done.stdout.splitlines()
    assert head.split() == ["target", "verdict", "changes", "seconds"]
    assert row.startswith("mine    not certified, for 1 cause        0  ")
    written = json.loads((ledger / "mine" / "mine.json").read_text())
    assert written["causes"][0]["sentence"] == "where M > 1, gradients are wrong"
    example = written["causes"][0]["counterexample"]
    assert example["problem"]
    assert "from mine import attend" in example["script"]
    assert str(ledger) not in json.dumps(written)  # it is the same on any machine
    assert written["outcomes"]["float32"]["violated"] == "A2"


def test_what_is_not_as_it_was_is_said_line_by_line(kept):
    found, file = entry(kept).recorded, kept / "mine" / "mine.json"
    written = json.loads(file.read_text())
    written["versions"]["numpy"] = "1.0"
    written["versions"]["python"] = "2.7"  # which counts for nobody
    del written["conventions"]["tanh"]  # as if there had been none yet, which changes nothing
    written["conventions"]["softcap"] = "after-bias"
    written["causes"][0]["failure"] = "is NaN"
    written["outcomes"]["float32"] = {"holds": "A1-A2", "not offered": "M8"}
    written["region"]["sentence"] = "causal"
    file.write_text(json.dumps(written))
    assert [*entry(kept).differs(found)] == [
        "convention softcap: after-bias -> before-bias",
        f"version of numpy: 1.0 -> {np.__version__}",
        f"A2 {CLAUSES['A2'].name} [float32]: holds -> violated",
        "cause, no more: where M > 1, gradients are NaN",
        "cause, new: where M > 1, gradients are wrong",
        "region: causal -> not (gradients asked for and M > 1)",
    ]


def test_what_was_not_judged_to_its_end_is_neither_compared_nor_recorded(ledger):
    (ledger / "mine.toml").write_text("budget = 0.001\n" + LEDGER + JUDGED)
    done = held(ledger, "--record")
    assert done.returncode == 3, done.stdout + done.stderr
    said, _, row = done.stdout.splitlines()
    assert said.startswith("mine: not all of it was judged: the budget of 0.001 s was spent")
    assert row.startswith("mine    incomplete ")
    assert not (ledger / "mine").exists()


def test_a_cause_of_which_nothing_is_said_is_a_failure_and_so_is_what_is_said_of_none(kept):
    found = entry(kept).recorded
    other = JUDGED.replace("where M > 1", "where M > 2").replace('"fault"', '"precision"')
    (kept / "mine.toml").write_text(LEDGER + other.replace('script = "mine_is_wrong.py"', ""))
    assert [*entry(kept).differs(found)] == [
        "nobody says what it is: where M > 1, gradients are wrong",
        "said of a cause that is there no more: where M > 2, gradients are wrong",
    ]


def test_what_was_found_by_hand_need_be_no_cause_but_has_a_script_that_shows_it(ledger):
    """And whoever records it hears as well that a script does not show it."""
    (ledger / "mine.py").write_text("from tests.targets import repaired as attend\n")
    other = JUDGED.replace("where M > 1", "somewhere").replace(".causes]]", ".by_hand]]")
    (ledger / "mine.toml").write_text(LEDGER + other)
    done = held(ledger, "--record")
    assert done.returncode == 2
    assert done.stderr == "error: mine.toml: targets.mine.by_hand, 1: a fault needs why\n"
    other += 'why = "It comes and goes."\n'
    (ledger / "mine.toml").write_text(LEDGER + other)
    assert held(ledger, "--record").returncode == 0
    (ledger / "faults" / "mine_is_wrong.py").write_text("")
    done = held(ledger, "--record")
    assert done.returncode == 1
    assert "mine: mine_is_wrong.py: it passes, so the fault is mended\n" in done.stdout


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("assert True\n", "it passes, so the fault is mended"),
        ("import nobody_has_this\n", "it fails for another reason: ModuleNotFoundError: No module"),
        ("import os\nos.abort()\n", None),
        ("raise ValueError('no')\n", None),
    ],
)
def test_a_script_has_to_show_its_fault_and_does_if_it_dies_or_raises(script, said, ledger):
    (ledger / "faults" / "mine_is_wrong.py").write_text(script)
    lines = [*mended(entry(ledger).judgements, ledger)]
    assert [line.startswith(f"mine_is_wrong.py: {said}") for line in lines] == [True] * bool(said)


def test_a_ledger_is_shown_side_by_side_with_what_is_said_of_causes(kept, tmp_path_factory):
    new = with_a_fault(tmp_path_factory.mktemp("new"))
    before = run("compare", "mine.toml", cwd=new)
    said = "error: nothing is recorded of mine: `ledger --record` writes it down\n"
    assert (before.returncode, before.stderr) == (2, said)
    done = run("compare", "mine.toml", "--markdown", "all.md", "--html", "all.html", cwd=kept)
    assert done.returncode == 0, done.stderr
    for file in ("all.md", "all.html"):
        text = (kept / file).read_text()
        for words in ("mine", "numpy", np.__version__, "fault", "Takes a (1 - a) for the deriv"):
            assert words in text


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("targets =", "Invalid value"),
        ("", "targets: there are none"),
        ("targets.mine = 1", "targets.mine: got 1, want a table"),
        ("library = 1", "library: got 1, want a string"),
        ("{mine}library = 1", "targets.mine.library: got 1, want a string"),
        ("{mine}target = 'x:y'\nlayuot = 'bhld'", "targets.mine: unknown key 'layuot'"),
        ("{mine}causes = 1", "targets.mine.causes: got 1, want tables"),
        ("{mine}causes = [1]", "targets.mine.causes, 1: got 1, want a table"),
        ("{cause}kind = 'bug'", "kind: got 'bug': choose from fault, choice, convention, prec"),
        ("{cause}kind = 'fault'\nwords = 'x'\nsentence = 'y'", "1: a fault needs script"),
        ("{cause}kind = 'choice'\nwords = 'x'\nsentence = 'y'", "a choice needs documentation"),
        ("{cause}kind = 'precision'\nwords = 'x'", "1: a precision needs sentence"),
        ("{cause}kind = 'precision'\nwords = ' '", "causes, 1.words: got ' ', want a string"),
        ("{cause}kinds = 'fault'", "causes, 1: unknown key 'kinds': choose from sentence, kind"),
    ],
)
def test_what_is_no_good_is_told_with_its_place(written, reason, tmp_path):
    file = tmp_path / "mine.toml"
    written = written.replace("{mine}", "[targets.mine]\n")
    file.write_text(written.replace("{cause}", "[[targets.mine.causes]]\n") + "\n")
    with pytest.raises(Unsuitable) as told:
        entries(str(file))
    assert reason in str(told.value)
    assert str(told.value).startswith(f"{file}: ")
    assert "\n" not in str(told.value)


def test_what_cannot_be_read_is_told_in_one_line_on_the_command_line(ledger):
    (ledger / "mine").mkdir()
    (ledger / "mine" / "mine.json").write_text("{}")
    for words, reason in [
        (("ledger", "none.toml"), "none.toml cannot be read: No such file or directory"),
        (("ledger", "mine.toml", "--only", "y"), "unknown target 'y': choose from mine"),
        (("ledger", "mine.toml"), "mine/mine.json is no certificate: it has no verdicts"),
    ]:
        done = run(*words, cwd=ledger)
        assert (done.returncode, done.stderr) == (2, f"error: {reason}\n")


@pytest.mark.quick("A1,A2,M8-float32-right")
@pytest.mark.parametrize("target", ["elementwise", "right"])
@pytest.mark.parametrize(
    ("clauses", "dtypes"), [("A1,A2,M8", "float32"), deep("A,M,C", "float64,float32")]
)
def test_a_certificate_in_short_says_what_it_said(target, clauses, dtypes):
    settled = {"profile": "quick", "clauses": clauses, "dtypes": dtypes}
    found = certify(f"tests.targets:{target}", **settled, deviations={"M8": "known"})
    again = in_full(json.loads(json.dumps(brief(found))), CLAUSES)
    assert compared(found, again) == "nothing changed"
    of_a_machine = ("import sys", "sys.path", "target        ")
    kept = [line for line in said(found) if not any(word in line for word in of_a_machine)]
    assert said(again) == kept


@pytest.mark.deep
def test_a_clause_that_ends_the_process_is_explained_by_its_cause(ledger):
    dies = LEDGER.replace('"mine.py:attend"', '"tests.targets:aborts_when_causal"\nisolate = true')
    told = JUDGED.replace("M > 1, gradients are wrong", "causal, the process dies of SIGABRT")
    (ledger / "mine.toml").write_text(dies.replace('["A1", "A2", "M8"]', '["C2"]') + told)
    done = held(ledger, "--record")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "incomplete, for 1 cause" in done.stdout


def said(certificate):
    """A certificate as text, but for what is not kept."""
    lines = str(certificate).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(("coverage", "time")))
    last = next(n for n, line in enumerate(lines) if line.startswith("verdicts"))
    return lines[:first] + lines[last:]
