"""Certificates that somebody forged or damaged: one line says so, and nothing is written."""

import json
from pathlib import Path

import pytest

from spec.certification.command_line import main
from spec.certification.judging.verdict import Verdict

SAVED = Path(__file__).parent / "saved" / "certificate.json"


@pytest.fixture
def forged(tmp_path, capsys):
    """What the command line says of a certificate, once something in it is another."""

    def compared(change):
        fields = json.loads(SAVED.read_text())
        change(fields)
        (file := tmp_path / "forged.json").write_text(json.dumps(fields))
        code = main(["compare", str(file), str(SAVED)])
        out, err = capsys.readouterr()
        assert (code, out, err.count("\n")) == (2, "", 1), err
        return err

    return compared


@pytest.mark.parametrize("number", ["../../../ESCAPED", "A1/../../x", "A1\n", "/A1", "A", "1", ""])
def test_a_verdict_is_on_a_clause_whose_number_can_name_a_file(number, forged):
    with pytest.raises(ValueError, match="is not the number of a clause"):
        Verdict(number, "x", "must", "float32", "violated")
    assert "is no certificate" in forged(lambda x: x["verdicts"][0].update(clause=number))


@pytest.mark.parametrize("dtype", ["../float32", "float32\n", "float8", ""])
def test_a_verdict_is_on_a_dtype_that_there_is(dtype, forged):
    with pytest.raises(ValueError, match="is not a dtype"):
        Verdict("A1", "x", "must", dtype, "violated")
    assert "is no certificate" in forged(lambda x: x["verdicts"][0].update(dtype=dtype))


def changed(verdict, **fields):
    """A verdict of the file, changed, or the counterexample of the one that has one."""
    return lambda x: x["verdicts"][verdict].update(fields)


def with_runs(fields):
    """Make an array of a counterexample one that would fill all memory."""
    example = next(x["counterexample"] for x in fields["verdicts"] if x.get("counterexample"))
    example["problem"]["q"] = {"shape": [1, 1, 1, 1], "dtype": "float64", "runs": [[0, 10**13]]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (with_runs, "an array of the shape [1, 1, 1, 1] does not have these numbers"),
        (changed(0, examples="4"), "examples of a Verdict is of another type"),
        (changed(0, outcome="perfect"), "outcome of a Verdict is of another type"),
        (changed(0, unknown=1), "TypeError"),
        (changed(0, causes=[7]), "IndexError"),
        (lambda x: x.pop("passed"), "KeyError"),
        (lambda x: x.update(notes=[1]), "notes of a Certificate is of another type"),
        (lambda x: x.update(timings={"total": "long"}), "timings of a Certificate is of another"),
        (lambda x: x.update(about="astrology"), "KeyError"),
    ],
)
def test_what_is_forged_or_damaged_is_no_certificate(change, why, forged):
    assert f"forged.json is no certificate: {why}" in forged(change)


def test_a_range_of_clauses_ends(tmp_path, capsys):
    ledger = Path(__file__).parents[2] / "implementations" / "ledger" / "torch" / "torch-math.json"
    fields = json.loads(ledger.read_text())
    fields["outcomes"]["float32"] = {"holds": "A1-A999999999999"}
    (file := tmp_path / "forged.json").write_text(json.dumps(fields))
    assert main(["compare", str(file), str(SAVED)]) == 2
    assert "'A1-A999999999999' is no range of clauses" in capsys.readouterr().err
