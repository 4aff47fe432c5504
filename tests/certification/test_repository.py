"""`[tool.attention-spec]` of a stranger's pyproject.toml: targets by name, and what is no good."""

import json
import re
import sys

import pytest

from spec.backends import Unsuitable
from spec.certification.repository import KEYS, requests
from spec.certification.settings import Request
from tests.shell import NO_CAUSES, run

TARGETS = """\
[tool.attention-spec]
profile = "quick"
dtypes = ["float32"]
clauses = ["A1", "A2", "M8"]

[tool.attention-spec.targets.right]
target = "right.py:attend"

[tool.attention-spec.targets.known]
target = "elementwise.py:attend"
fail-fast = false

[tool.attention-spec.targets.known.deviations]
A2 = "published so"
"""
MORE = """
[tool.attention-spec.targets.wrong]
target = "elementwise.py:attend"

[tool.attention-spec.targets.broken]
target = "broken.py:attend"
"""
RIGHT = """\
from tests.targets import right

def attend(query, key, value, attn_mask=None, is_causal=False):
    return right(query, key, value, attn_mask, is_causal) + 0 * value.sum()
"""  # NaN in hidden places spreads: that is a `should`


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a pyproject.toml, in which one stands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "pyproject.toml").write_text(TARGETS)
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "elementwise.py").write_text("from tests.targets import elementwise as attend\n")
    (tmp_path / "broken.py").write_text("def attend(q k v):\n")
    return tmp_path


@pytest.mark.usefixtures("repository")
def test_what_is_written_is_a_request():
    shared = {"profile": "quick", "dtypes": ("float32",), "clauses": ("A1", "A2", "M8")}
    deviations = {"A2": "published so"}
    assert requests(None, {}) == {
        "right": Request("right.py:attend", **shared),
        "known": Request("elementwise.py:attend", **shared, deviations=deviations),
    }
    assert requests("known", {}) == {"known": requests(None, {})["known"]}


@pytest.mark.usefixtures("repository")
def test_what_is_asked_goes_first_and_tables_are_added_up():
    (known,) = requests("known", {"profile": "deep", "deviations": {"A3": "too"}}).values()
    assert known.profile == "deep"
    assert known.deviations == {"A2": "published so", "A3": "too"}


@pytest.mark.usefixtures("repository")
def test_a_target_that_is_written_out_is_not_looked_up():
    assert requests("x.py:attend", {}) == {"x.py:attend": Request("x.py:attend")}


def test_paths_are_those_from_the_folder_of_the_file(repository, monkeypatch):
    described = '[tool.attention-spec.targets.layer]\ntarget = "a.b:C"\ndescription = "c.toml"\n'
    (repository / "pyproject.toml").write_text(TARGETS + described)
    (repository / "sub" / "sub").mkdir(parents=True)
    (repository / "sub" / "pyproject.toml").write_text("[tool.another]\n")
    monkeypatch.chdir(repository / "sub" / "sub")
    found = requests(None, {})
    assert found["right"].target == "../../right.py:attend"
    assert (found["layer"].target, found["layer"].description) == ("a.b:C", "../../c.toml")
    assert str(repository) in sys.path


def test_the_name_of_a_description_is_no_path_unless_there_is_such_a_file(repository, monkeypatch):
    table = '[tool.attention-spec.targets.layer]\ntarget = "a.b:C"\ndescription = "library/name"\n'
    (repository / "pyproject.toml").write_text(table)
    (below := repository / "library").mkdir()
    monkeypatch.chdir(below)
    assert requests("layer", {})["layer"].description == "library/name"
    (below / "name").touch()
    assert requests("layer", {})["layer"].description == "name"


def test_every_option_of_the_command_line_can_be_written():
    not_written = {"replays"}  # are found by campaigns
    # What is judged never chooses these.
    not_written |= {"specification", "isolation", "secret", "nonce"}
    assert {*KEYS} == {*Request.__dataclass_fields__} - not_written


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("profile =", "Invalid value"),
        ('tool = "hammer"', "tool: got 'hammer', want a table"),
        ("[tool]\nattention-spec = 1", "tool.attention-spec: got 1, want a table"),
        ("[tool.attention-spec]", "tool.attention-spec.targets: there are none"),
        ("[tool.attention-spec]\ntarget = 'x:y'", "write target in a table"),
        ("[tool.attention-spec]\ndtype = 'float32'", "unknown key 'dtype': choose from target, "),
        ("[tool.attention-spec.targets]\nmine = 'x:y'", "targets.mine: got 'x:y', want a table"),
        ("[tool.attention-spec.targets.'a/b']", "targets.a/b: a name has letters"),
        ("[tool.attention-spec.targets.mine]", "targets.mine.target: write module:name"),
        ("{mine}target = 'x'", "targets.mine.target: write module:name"),
        ("{mine}target = 1", "targets.mine.target: got 1, want a string"),
        ("[tool.attention-spec]\nspecification = 'x:y'", "spec: specification is an option of the"),
        ("{mine}target = 'x:y'\nspecification = 'x:y'", "mine: specification is an option of the"),
        ("{mine}target = 'x:y'\nlayuot = 'bhld'", "targets.mine: unknown key 'layuot'"),
        ("{mine}target = 'x:y'\nlayout = 'hbld'", "targets.mine: unknown layout 'hbld'"),
        ("{mine}target = 'x:y'\ndtypes = ['float8']", "targets.mine: unknown dtype 'float8'"),
        ("{mine}target = 'x:y'\ndtypes = 'float32'", "dtypes: got 'float32', want a list of"),
        ("{mine}target = 'x:y'\nseed = true", "targets.mine.seed: got True, want a whole number"),
        ("{mine}target = 'x:y'\nbudget = '1'", "targets.mine.budget: got '1', want a number"),
        ("{mine}target = 'x:y'\nclauses = ['Q99']", "targets.mine: unknown clause 'Q99'"),
        ("{mine}target = 'x:y'\ndeviations = {C14 = 1}", "deviations: got {'C14': 1}, want a"),
        ("{mine}target = 'x:y'\ndeviations = {C14 = ' '}", "mine: --deviation C14: say why"),
        ("{mine}target = 'x:y'\ndeviations = {Q99 = 'x'}", "targets.mine: unknown clause 'Q99'"),
        (
            "{mine}target = 'x:y'\ndeviations = {A1 = 'x'}",
            "the definition of an attention function cannot",
        ),
    ],
)
def test_what_is_no_good_is_told_with_its_place(written, reason, repository):
    file = repository / "pyproject.toml"
    file.write_text(written.replace("{mine}", "[tool.attention-spec.targets.mine]\n") + "\n")
    with pytest.raises(Unsuitable) as told:
        requests(None, {})
    assert reason in str(told.value)
    assert str(told.value).startswith(f"{file}: ")
    assert "\n" not in str(told.value)


def test_a_repository_does_not_choose_the_clauses_that_it_is_held_to(repository):
    lax = '[tool.attention-spec.targets.lax]\ntarget = "a:b"\nspecification = "lax:CLAUSES"\n'
    (repository / "pyproject.toml").write_text(lax)
    (repository / "lax.py").write_text('raise SystemExit("it was imported")\n')
    done = run("certify", "lax")
    assert (done.returncode, done.stdout) == (2, "")
    why = "targets.lax: specification is an option of the command line, and no key of a file\n"
    assert done.stderr == f"error: {repository / 'pyproject.toml'}: tool.attention-spec.{why}"


@pytest.mark.usefixtures("repository")
def test_a_name_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(Unsuitable, match="unknown target 'left': choose from right, known"):
        requests("left", {})


def test_all_targets_are_judged_and_told_in_a_table(repository):
    done = run("certify", "--report", "told", *NO_CAUSES)
    assert done.returncode == 0, done.stdout + done.stderr
    head, right, known = (line.split() for line in done.stdout.splitlines())
    assert head == ["target", "verdict", "holds", "violated", "should", "seconds"]
    assert right[:-1] == ["right", "certified", "(quick)", "1", "0", "1"]
    assert known[:-1] == [
        "known",
        "certified",
        "(quick)",
        "but",
        "for",
        "1",
        "deviation",
        "1",
        "0",
        "0",
    ]
    for name in ("right", "known"):
        found = json.loads((repository / "told" / name / "certificate.json").read_text())
        assert found["passed"], name


@pytest.mark.slow
def test_the_worst_decides_and_what_is_not_certified_is_told_in_full(repository):
    (repository / "pyproject.toml").write_text(
        TARGETS.partition("[tool.attention-spec.t")[0] + MORE
    )
    done = run("certify", "--clause", "A2")
    assert done.returncode == 2, done.stdout + done.stderr
    full, _, table = done.stdout.rpartition("target  verdict")
    said = r"dq and dk are wrong in \d+ of \d+ problems with M > 1\n   fails 1 clause: A2"
    assert len(re.findall(said, full)) == 1
    assert "\nwrong   not certified, for 1 cause      1         1       0  " in table
    assert "\nbroken  error: broken.py cannot be imported: SyntaxError: " in table


def test_without_anything_to_judge_and_where_one_is_meant_a_line_says_so(repository):
    done = run("certify", "--json", "x.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--json is for one target" in done.stderr
    (repository / "pyproject.toml").unlink()
    done = run("certify")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: no target: name one, or several in [tool.attention-spec")


@pytest.mark.slow
def test_pytest_takes_a_name_and_one_of_its_tests(repository):
    (repository / "pyproject.toml").write_text(TARGETS + MORE)
    test = "wrong::A2-query_gradient_matches_the_definition-float32"
    words = ("-v", "-p", "pytest_attention_spec", "-p", "no:cacheprovider")
    done = run("--implementation", "wrong", test, *words, program=("-m", "pytest"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"FAILED {test}" in done.stdout
    assert "1 failed in" in done.stdout
