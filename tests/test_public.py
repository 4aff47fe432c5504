"""What docs/public.md promises is what there is: names, options, and certificates as JSON."""

import json
import re
from copy import deepcopy
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import spec
from spec import certify
from spec.backends import Unsuitable
from spec.certification.command_line import main
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.verdict import OUTCOMES, Counterexample, Verdict
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import FORMAT
from spec.certification.ledger.reading import read
from spec.certification.profiles import PROFILES
from spec.certification.repository import KEYS
from spec.certification.target.probed import Refusal
from spec.comparison import Compared, Place
from spec.notation import DTYPES, GRADES
from tests import targets

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "public.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", PAGE, re.M | re.S))
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.M)
OPTIONS = dict(ROW.findall(SECTIONS["Command line"]))
SCHEMA = json.loads((ROOT / "spec" / "schema" / f"certificate-{FORMAT}.json").read_text())
PARTS = SCHEMA["$defs"]
VALID = Draft202012Validator(SCHEMA)
FEW = {"profile": "quick", "dtypes": ("float32",)}
WRITTEN = {"format", "passed", "ledger", "promises"}  # besides the fields of a certificate


def infinite(query, key, value):
    """Wrong by more than JSON has numbers for."""
    return np.full_like(targets.plain(query, key, value), np.inf)


CERTIFICATES = {
    "right": lambda: certify(targets.right, **FEW, clauses="A,S,M,V"),
    "wrong": lambda: certify(targets.elementwise, **FEW, clauses="A"),
    "wrong as is known": lambda: certify(
        targets.elementwise, **FEW, clauses="A", deviations={"A2": "why"}, fail_fast=True
    ),
    "infinite": lambda: certify(infinite, **FEW, clauses="A1"),
    "in another rounding": lambda: certify(
        "torch.nn.functional:scaled_dot_product_attention",
        profile="quick",
        dtypes=("bfloat16",),
        clauses="A1,V2",
    ),
}


@cache
def judged(name):
    """The certificate of that name."""
    return CERTIFICATES[name]()


WITH_TORCH = [
    pytest.param(name, marks=[pytest.mark.torch] * ("rounding" in name)) for name in CERTIFICATES
]


def test_the_names_are_those_of_the_package():
    names = [name for name, _ in ROW.findall(SECTIONS["Python"])]
    assert sorted(names) == sorted(spec.__all__)


@pytest.mark.parametrize("command", OPTIONS)
def test_the_options_are_those_of_the_command(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out.partition("\noptions:\n")[2]
    there = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.M)
    assert re.findall(r"`(--[a-z-]+)`", OPTIONS[command]) == [x for x in there if x != "--help"]


def test_there_are_no_other_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert re.findall(r"^    (\w+) ", capsys.readouterr().out, re.M) == [*OPTIONS]


def test_the_keys_are_those_that_are_read():
    text = SECTIONS["Command line"].partition("The keys of")[2].partition(";")[0]
    keys = {*re.findall(r"`(\w+)`", text)}
    assert keys == KEYS.keys() - {"specification"}


@pytest.mark.quick("wrong", "right*")
@pytest.mark.parametrize("name", WITH_TORCH)
def test_a_certificate_keeps_to_the_schema(name, tmp_path):
    found = judged(name)
    found.save(tmp_path / "c.json")
    written = json.loads((tmp_path / "c.json").read_text())
    VALID.validate(written)
    assert written["format"] == FORMAT
    assert str(read(tmp_path / "c.json")) == str(found)


def test_the_schema_is_one_and_knows_every_field():
    Draft202012Validator.check_schema(SCHEMA)
    kinds = {
        "verdict": Verdict,
        "cause": Cause,
        "counterexample": Counterexample,
        "region": Region,
        "refusal": Refusal,
        "place": Place,
        "compared": Compared,
    }
    for name, kind in kinds.items():
        more = {"sentence"} if kind is Cause else set()
        assert PARTS[name]["properties"].keys() == {x.name for x in fields(kind)} | more, name
    there = {x.name for x in fields(Certificate)} | WRITTEN
    whole = PARTS["certificate"]
    assert whole["properties"].keys() == {*whole["required"]} == there


def test_the_words_of_the_schema_are_those_there_are():
    verdict, whole = PARTS["verdict"]["properties"], PARTS["certificate"]["properties"]
    assert verdict["outcome"]["enum"] == [*OUTCOMES] == [*whole["ledger"]["properties"]]
    assert PARTS["dtype"]["enum"] == [*DTYPES]
    assert verdict["rounding"]["enum"] == [*GRADES[1:]]
    assert whole["profile"]["enum"] == [*PROFILES]


@pytest.fixture(scope="module")
def wrong():
    return json.loads(json.dumps(judged("wrong").to_json()))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("format",), 2),
        (("colour",), "red"),
        (("specification",), "2026.13"),
        (("verdicts", 0, "outcome"), "fine"),
        (("verdicts", 0, "worst"), "large"),
        (("verdicts", 0, "coverage"), [1, 2]),
        (("causes", 0, "colour"), "red"),
        (("causes", 0, "problems"), [1, 2, 3]),
        (("causes", 0, "counterexample", "compared", "got"), [1.0]),
        (("causes", 0, "counterexample", "place", "index"), [-1]),
        (("region", "but"), ["anything"]),
    ],
)
def test_what_does_not_keep_to_it_is_seen(place, value, wrong):
    VALID.validate(wrong)
    changed = deepcopy(wrong)
    *way, last = place
    inside = changed
    for step in way:
        inside = inside[step]
    inside[last] = value
    assert not VALID.is_valid(changed)


def test_a_later_format_is_told_in_a_line(wrong, tmp_path, capsys):
    file = tmp_path / "c.json"
    file.write_text(json.dumps({**wrong, "format": FORMAT + 1, "colour": "red"}))
    line = f"{file}: format {FORMAT + 1}, this version reads {FORMAT}"
    with pytest.raises(Unsuitable, match=re.escape(line)):
        read(file)
    assert main(["compare", str(file), str(file)]) == 2
    assert capsys.readouterr().err == f"error: {line}\n"
