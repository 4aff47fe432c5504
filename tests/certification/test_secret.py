"""A secret seed: drawn after the target is hashed, promised before it is judged, then told."""

import hashlib
import json
import re

import pytest

from spec.runner.confine import confined
from tests.shell import FEW, run
from tests.walked import ROOT

pytestmark = pytest.mark.skipif(not confined().startswith("process"), reason="no runners")
APART = (*FEW, "--isolation", "process", "--clause", "A1,S1")
PROMISED = re.compile(r"^commitment to a secret seed: sha256 ([0-9a-f]{64})$", re.MULTILINE)
TOLD = re.compile(
    r'^profile       quick, secret seed (\d+)\ncommitment    sha256 ([0-9a-f]{64})\n +of "(.+)"$',
    re.MULTILINE,
)
MINE = (ROOT / "README.md").read_text().partition("```python\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("mine")
    (found / "mine.py").write_text(MINE)
    return found


@pytest.fixture(scope="module")
def judged(folder):
    """A run with a secret seed."""
    words = ("--seed", "secret", "--json", "secret.json")
    done = run("certify", "mine.py:attend", *APART, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_the_seed_that_is_told_is_the_one_that_was_promised(judged):
    (promised,) = PROMISED.findall(judged.stderr)
    ((seed, commitment, text),) = TOLD.findall(judged.stdout)
    assert commitment == promised == hashlib.sha256(text.encode()).hexdigest()
    assert re.fullmatch(rf"{seed}:[0-9a-f]{{32}}", text)
    assert 0 <= int(seed) < 2**63


def test_json_has_all_of_it(judged, folder):
    assert judged.returncode == 0
    written = json.loads((folder / "secret.json").read_text())
    text = f"{written['seed']}:{written['versions']['nonce']}"
    assert written["versions"]["commitment"] == hashlib.sha256(text.encode()).hexdigest()


def test_anybody_repeats_it_by_the_seed(judged, folder):
    ((seed, *_),) = TOLD.findall(judged.stdout)
    words = ("--seed", seed, "--json", "again.json")
    again = run("certify", "mine.py:attend", *APART, *words, cwd=folder)
    assert f"profile       quick, public seed {seed}\n" in again.stdout
    assert "commitment" not in again.stdout + again.stderr
    before, after = (
        [{**v, "seconds": {}} for v in json.loads((folder / name).read_text())["verdicts"]]
        for name in ("secret.json", "again.json")
    )
    assert before == after


def test_another_run_draws_another_seed(judged, folder):
    again = run("certify", "mine.py:attend", *APART, "--seed", "secret", cwd=folder)
    assert TOLD.findall(again.stdout)[0][0] != TOLD.findall(judged.stdout)[0][0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("--seed", "secret", "--isolation", "fork"),
            "--seed secret needs --isolation process: a target that shares",
        ),
        (("--seed", "secrt"), "argument --seed: 'secrt' is neither a whole number, nor 'secret'"),
    ],
)
def test_where_there_can_be_none_is_said(words, why, folder):
    done = run("certify", "mine.py:attend", *words, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {why}")


@pytest.mark.slow
def test_a_campaign_draws_one_for_each_certificate(folder):
    words = ("--seeds", "secret:2", "--folder", "kept")
    done = run("campaign", "mine.py:attend", *APART, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len({*PROMISED.findall(done.stderr)}) == 2
    told = [json.loads(x.read_text()) for x in sorted(folder.glob("kept/*/secret-*.json"))]
    texts = [f"{x['seed']}:{x['versions']['nonce']}" for x in told]
    hashed = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert len({*hashed}) == 2
    assert hashed == [x["versions"]["commitment"] for x in told] == PROMISED.findall(done.stderr)
    again = run("campaign", "mine.py:attend", *APART, *words, cwd=folder)
    assert "commitment" not in again.stderr
