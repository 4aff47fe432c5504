"""A campaign that was killed goes on; what broke a clause once is put first the next time."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from spec.certification import campaign as module
from spec.certification.doors import requested
from spec.certification.judging.edition import edition
from spec.certification.judging.replaying import HOLDS
from spec.certification.ledger.reading import loaded
from spec.certification.remembered import Remembered, database
from tests import shell
from tests.alike import alike
from tests.night import deep
from tests.shell import run

TARGETS = ("tests.targets:elementwise", "implementations.dense:attend")
FEW = (*shell.FEW, *shell.NO_CAUSES, "--clause", "A2,V2")
WRONG = "tests.targets:elementwise"
ASKED = {"profile": "quick", "dtypes": "float32", "clauses": "A2", "diagnosis_timeout": 1e-9}


def campaign(folder, *words, targets=TARGETS):
    return run("campaign", *targets, *FEW, "--folder", str(folder), *words)


def found(folder):
    files = sorted(folder.glob("*/*.json"))
    return {file.relative_to(folder): alike(loaded(file)) for file in files}


def killed_after(certificates, folder, *words, targets):
    """Start a campaign, and kill it when it has found so many."""
    told = ("campaign", *targets, *FEW, "--folder", str(folder), *words)
    process = subprocess.Popen(
        [sys.executable, "-m", "spec", *told],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    while len([*folder.glob("*/*.json")]) < certificates:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


SEEDS = ("--seeds", "0-3")  # some are left when it is killed, however busy the machine is


@pytest.mark.slow
@pytest.mark.parametrize("targets", [TARGETS[:1], deep(TARGETS)])
def test_a_campaign_that_was_killed_and_goes_on_finds_what_an_undisturbed_one_does(
    targets, tmp_path
):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    undisturbed = campaign(whole, *SEEDS, targets=targets)
    assert undisturbed.returncode == 1, undisturbed.stderr
    killed_after(1, broken, *SEEDS, targets=targets)
    left = len(found(broken))
    assert 1 <= left < 4 * len(targets)
    resumed = campaign(broken, *SEEDS, targets=targets)
    assert found(broken) == found(whole)
    assert resumed.returncode == 1
    assert resumed.stdout.endswith(undisturbed.stdout)  # the same table
    before = [line.split() for line in resumed.stdout.splitlines()[1 : 1 + len(targets)]]
    assert sum(int(row[1].removesuffix("/4")) for row in before) == left
    again = campaign(broken, *SEEDS, targets=targets)
    assert again.stdout == undisturbed.stdout


@pytest.mark.slow
def test_what_broke_a_clause_is_put_first_by_another_campaign(tmp_path, monkeypatch, capsys):
    asked = []
    certified = module.certified
    monkeypatch.setattr(module, "certified", lambda r, _: (asked.append(r), certified(r, _))[1])
    for name, seed in (("first", 1), ("second", 2)):
        folder = tmp_path / name
        folder.mkdir()
        request = requested(WRONG, ASKED)
        assert module.campaign({WRONG: request}, [seed], folder, str(tmp_path / "known")) == 1
    assert [bool(request.replays) for request in asked] == [False, True, False]
    assert f"{WRONG}: A2 float32: 1 of 1 old problems still break it" in capsys.readouterr().out
    assert len(database(str(tmp_path / "known")).words(WRONG, "A2", "float32")[0]) == 2


@pytest.mark.slow
def test_what_is_mended_is_told_and_forgotten(tmp_path):
    target = tmp_path / "mine.py"
    words = ("--database", str(tmp_path / "known"))
    target.write_text("from tests.targets import elementwise as attend\n")
    named = (f"{target}:attend",)
    done = campaign(tmp_path / "first", "--seeds", "0", *words, targets=named)
    assert done.returncode == 1, done.stderr
    target.write_text("from tests.targets import repaired as attend  # mended\n")
    done = campaign(tmp_path / "second", "--seeds", "1", *words, targets=named)
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()[0]
    assert told.startswith(f"{named[0]}: A2 float32: quick 0 ")
    assert told.endswith(HOLDS)
    done = campaign(tmp_path / "third", "--seeds", "2", *words, targets=named)
    assert HOLDS not in done.stdout


@pytest.mark.slow
def test_what_another_specification_found_is_not_taken_for_a_pass(tmp_path, capsys):
    known, folder = database(str(tmp_path / "known")), tmp_path / "folder"
    (key,) = keys(known, f"{WRONG} A2 float32")
    written = {"specification": "another", "problem": "quick 0 1 strict 0123456789ab"}
    known.entries.save(key, json.dumps(written).encode())
    folder.mkdir()
    request = requested(WRONG, {**ASKED, "clauses": "V2"})
    assert module.campaign({WRONG: request}, [0], folder, str(tmp_path / "known")) == 0
    out = capsys.readouterr().out
    assert f"{WRONG}: 1 that another specification found are put no more" in out
    assert HOLDS not in out
    assert [*known.entries.fetch(key)] == []


def keys(known, *names):
    assert isinstance(known, Remembered)
    return [f"attention-spec {name}".encode() for name in names]


@pytest.mark.slow
def test_a_problem_that_can_no_longer_be_drawn_is_told(tmp_path, capsys):
    known, folder = database(str(tmp_path / "known")), tmp_path / "folder"
    (key,) = keys(known, f"{WRONG} A2 float32")
    written = {"specification": edition(), "problem": "quick 0 1 strict 0123456789ab"}
    known.entries.save(key, json.dumps(written).encode())
    folder.mkdir()
    request = requested(WRONG, {**ASKED, "clauses": "V2"})
    module.campaign({WRONG: request}, [0], folder, str(tmp_path / "known"))
    assert "0123456789ab draws another problem now" in capsys.readouterr().out


@pytest.mark.slow
def test_a_folder_holds_one_campaign_of_one_specification(tmp_path):
    assert campaign(tmp_path, "--seeds", "0", targets=TARGETS[1:]).returncode == 0
    done = run(
        "campaign", TARGETS[1], "--profile", "quick", "--folder", str(tmp_path), "--seeds", "0"
    )
    assert done.returncode == 2
    assert "holds a campaign that asks otherwise" in done.stderr
    file = tmp_path / "campaign.json"
    file.write_text(file.read_text().replace(edition(), "another"))
    done = campaign(tmp_path, "--seeds", "0", targets=TARGETS[1:])
    assert done.returncode == 2
    assert "what another version of the specification found" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--seeds", "3-1"), "--seeds 3-1: write A-B"),
        (("--seeds", "0", "--seed", "1"), "--seed is for one certificate"),
        (("--seeds", "0", "--database", "redis://127.0.0.1:1"), "--database redis://127.0.0.1:1: "),
    ],
)
def test_what_is_no_good_is_told_in_a_line(words, reason, tmp_path):
    done = campaign(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {reason}")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_target_that_is_no_good_keeps_nobody_from_the_others(tmp_path):
    done = campaign(tmp_path, "--seeds", "0", targets=("nowhere:attend", TARGETS[1]))
    assert done.returncode == 2
    assert "nowhere:attend: there is no module 'nowhere'" in done.stderr
    assert loaded(tmp_path / "implementations.dense_attend" / "0.json").passed
