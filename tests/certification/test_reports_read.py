"""Reports as people read them: scripts that run alone, numbers that add up, readable lists."""

import re
import shlex
import textwrap
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import Counterexample
from spec.certification.ledger.causes import likeness
from spec.certification.ledger.junit import junit
from spec.certification.ledger.untested import in_nouns
from spec.certification.options import Parser, add_options, add_stops, add_work_options, asked
from spec.certification.settings import Request
from spec.comparison import Violation, equal, in_digits
from spec.kinds import KINDS
from tests import shell
from tests.certification.made import certificate as made
from tests.certification.made import verdict

KERNEL = """\
import numpy as np

def attend(query, key, value, attn_mask=None, is_causal=False):
    s = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
    N, M = s.shape[-2:]
    shown = np.tri(N, M, M - N, dtype=bool) if is_causal else np.ones((N, M), dtype=bool)
    s = np.where(shown, s, -np.inf)
    if attn_mask is not None and attn_mask.dtype == bool:
        s = np.where(attn_mask, s, -1e9)
    elif attn_mask is not None:
        s = s + 2 * attn_mask
    top = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value
"""
FAULTS = {"M, M - N": "M, 0", "s, -1e9": "s, -np.inf", "2 * attn": "attn"}  # and what is right
SCRIPT = re.compile(r"^\d\. at .*\n((?:    .*\n)+)", re.MULTILINE)
PLURALS = {
    "tokens",
    "sequences",
    "gradients",
    "masks",
    "values",
    "segments",
    "positions",
    "queries",
    "sizes",
}
FEW = ("--profile", "quick", "--dtype", "float64", "--clause", "A1")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "three_faults.py"
    path.write_text(KERNEL)
    return path


@pytest.fixture(scope="module")
def report(kernel: Path) -> str:
    """What is printed of a function with three faults."""
    done: CompletedProcess[str] = shell.run("certify", f"{kernel}:attend", *FEW)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def alone(script: str, folder: Path) -> CompletedProcess[Any]:
    """A printed script in another folder, in a process that knows no module of this repository."""
    path = folder / "copied.py"
    path.write_text(textwrap.dedent(script))
    done: CompletedProcess[Any] = shell.run(program=(path.name,), cwd=folder, path=[])
    return done


@pytest.mark.slow
def test_each_printed_script_runs_alone_and_passes_once_its_fault_is_mended(
    report: str, kernel: Path, tmp_path: Path
) -> None:
    scripts = SCRIPT.findall(report)
    assert len(scripts) == 3, report
    for script in scripts:
        done = alone(script, tmp_path)
        assert (done.returncode, done.stdout[:4], done.stderr) == (1, "got ", "")
    right = KERNEL
    for wrong, mended in FAULTS.items():
        right = right.replace(wrong, mended)
    kernel.write_text(f"# mended\n{right}")
    try:
        assert [alone(script, tmp_path).returncode for script in scripts] == [0, 0, 0]
    finally:
        kernel.write_text(KERNEL)


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"A1": ("holds", "holds")}, "1 of 1 applies: 1 passes"),
        ({"A1": ("not offered", "not offered")}, "0 of 1 apply"),
        ({"A1": ("blocked", "blocked"), "A2": ("blocked", "blocked")}, "none of 2 was run"),
        (
            {"A1": ("holds", "violated"), "A2": ("refused", "holds"), "A3": ("refused",) * 2},
            "3 of 3 apply: 1 passes, 1 fails, 1 unsupported (raises)",
        ),
        (
            {"A1": ("blocked", "violated"), "A2": ("holds", "not offered"), "A3": ("holds",) * 2},
            "3 of 3 apply: 2 pass, 1 fails",
        ),
        (
            {"A1": ("deviates", "holds"), "A2": ("crashed", "refused"), "M8": ("violated",) * 2},
            "3 of 3 apply: 1 fails (recommended only), 1 is known to fail, 1 crashed",
        ),
    ],
)
def test_the_numbers_of_the_first_lines_add_up(outcomes: Any, words: str) -> None:
    formats = ("float64", "float32")
    found = made(
        *(
            verdict(n, x, d)
            for n, both in outcomes.items()
            for x, d in zip(both, formats, strict=True)
        )
    )
    (line,) = re.findall("^clauses       (.*)$", str(found), re.MULTILINE)
    assert line == words
    head, _, counts = line.partition(": ")
    if counts and "all" not in counts:
        assert int(head.partition(" ")[0]) == sum(map(int, re.findall(r"\d+", counts)))


def test_a_difference_below_the_usual_digits_is_printed() -> None:
    with pytest.raises(Violation, match=r"got 16384\.000000000004, want 16384 within 0"):
        equal(np.array([16384.000000000004]), 16384.0, within=0.0)
    assert in_digits(1 / 3, 0.25) == ("0.333333333", "0.25")
    assert in_digits(0.1, 0.1 + 1e-12) == ("0.1", "0.100000000001")
    assert in_digits(float("nan"), 1.0) == ("nan", "1")


def test_what_is_not_supported_is_one_list_of_nouns() -> None:
    found = made(
        verdict("A1", "holds"),
        verdict("A2", "not offered", message="has gradients of q, k and v; takes a scale"),
        verdict("C1", "not offered", message="can attend to future keys"),
        verdict("C2", "not offered", message="problems where causal and N > M"),
    )
    lines = str(found).splitlines()
    assert (
        "not supported, so not tested: gradients of q, k and v (1 clause), a scale (1 clause), "
        "attending to" in lines
    )
    assert "not tested: 1 clause without problems where causal and N > M" in lines


def test_no_kind_has_a_verb_in_that_list() -> None:
    said = {in_nouns(str(need)) for clause in CLAUSES.values() for need in clause.needs}
    first = {words.partition(" ")[0] for words in said}
    assert {x for x in first if x.endswith("s") and x[-2:] != "ss"} <= PLURALS


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"fail_fast": True}, "--fail-fast"),
        ({"isolate": True}, "--isolate"),
        ({"budget": 60.0}, "--budget 60"),
        ({"call_timeout": 2.5}, "--call-timeout 2.5"),
        ({"diagnosis_timeout": 20}, "--diagnosis-timeout 20"),
        ({"description": "my layers/a.toml"}, "--description 'my layers/a.toml'"),
        ({"where": "not causal"}, "--where 'not causal'"),
    ],
)
def test_the_command_that_repeats_a_run_has_each_option_that_matters(
    option: dict[str, Any], words: str
) -> None:
    request = Request("mine.py:attend", profile="quick", **option)
    command = request.command()
    assert words in command
    options = shlex.split(command)[2 + command.startswith("python") * 2 :]
    parser = Parser("certify")
    add_options(parser), add_work_options(parser), add_stops(parser)
    read, (target,) = parser.parse_known_args(options)
    assert replace(Request(target), **asked(read) | {"target": target}) == request


def test_only_what_is_certified_says_that_it_was_quick() -> None:
    passing, failing = made(verdict("A1", "holds")), made(verdict("A1", "violated"))
    slow = made(verdict("A1", "holds"), request=Request("mine.py:attend"))
    assert [str(x).partition("\n")[0] for x in (passing, failing, slow)] == [
        "mine: certified (quick)",
        "mine: not certified",
        "mine: certified",
    ]
    assert ">certified (quick)<" in passing._repr_html_()
    assert 'name="verdict" value="certified (quick)"' in junit({"mine": passing})


def test_the_legend_explains_what_stands_in_the_table() -> None:
    fraction = "their largest error as a fraction of its bound"
    assert fraction in " ".join(str(made(verdict("A1", "holds"))).split())
    partly = str(made(verdict("A1", "holds"), verdict("A2", "refused")))
    assert fraction not in " ".join(partly.split())
    assert "passed/applicable clauses; raised: unsupported, as the target raises an" in partly


def test_a_convention_to_declare_is_what_to_do_first() -> None:
    looks = "looks like the convention a=b: declare it with --convention a=b if it is meant"
    found = made(verdict("A1", "violated"), advice=(looks,))
    assert f"\nFirst: this {looks}\n" in str(found)
    cause = Cause((), "", "is wrong", clauses=("A1",), dtypes=("float32",), problems=(1, 1))
    caused = made(verdict("A1", "violated"), advice=(looks,), diagnosis=Diagnosis((cause,)))
    told = " ".join(str(caused).split())
    assert f"First: this {looks}, and test again: causes below may follow from it 1. " in told


def test_a_cause_that_a_convention_corrects_says_what_is_expected_otherwise() -> None:
    lens = "correct under the convention causal=bottom-right: declare it with --convention "
    lens += "causal=bottom-right if it is meant"
    cause = Cause(("causal",), "", "is wrong", problems=(1, 1), lens=lens)
    chosen = {"causal": "top-left", "fully-masked": "zero"}
    found = made(verdict("A1", "violated"), conventions=chosen, diagnosis=Diagnosis((cause,)))
    told = " ".join(str(found).split())
    assert "if it is meant; otherwise causal=top-left is expected the output is wrong" in told


def test_several_known_bugs_of_one_class_follow_its_title() -> None:
    def told(*names: str) -> str:
        every = {**KINDS["attention"].mistakes, **KINDS["layer"].mistakes}
        looks = tuple(every[name].line for name in names)
        example = Counterexample(None, "", "", "", "", None, looks, "", True)
        return likeness(Cause((), "", "is wrong", counterexample=example))

    title = "Masking with a finite number such as -1e9 instead of -inf"
    class_of = f"{title} (BUG-11 in spec/incidents.md)"
    both = told("fills_with_minus_1e30", "adds_minus_a_billion")
    assert both.startswith(f"looks like: {class_of}: Fills masked scores with -1e30")
    assert "(fills_with_minus_1e30); or Adds -1e9 to masked scores: " in both
    assert both.endswith("(adds_minus_a_billion)")
    other = told("fills_with_minus_1e30", "skips_the_maximum")
    assert re.fullmatch(r"looks like: Fills .+ \(fills.+\); or .+ \(skips_the_maximum, .+\)", other)
    assert class_of not in other
    assert told() == ""
