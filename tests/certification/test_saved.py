"""What people kept still serves: a certificate and a script of before attention had a chapter."""

from pathlib import Path

from spec.certification.ledger.reading import loaded
from tests.shell import run

SAVED = Path(__file__).parent / "saved"


def test_a_certificate_is_read_and_compared() -> None:
    path = SAVED / "certificate.json"
    found = loaded(path)
    assert found.exit_code == 1
    assert "looks like drops_the_row_term (incident class C21)" in str(found)
    done = run("compare", str(path), str(path))
    assert (done.returncode, done.stdout.strip()) == (0, "nothing changed")


def test_a_script_runs() -> None:
    done = run(program=("-c", (SAVED / "script.txt").read_text()))
    assert (done.returncode, done.stdout.strip()) == (0, "A1 holds here"), done.stderr
