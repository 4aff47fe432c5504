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
