"""The ledger of other people's attention as data: it is whole, and every script is somebody's."""

import ast
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

from spec import CLAUSES
from spec.certification import ledgers
from spec.certification.ledger.judgements import FAULTS, unjudged
from spec.certification.ledgers import Entry, entries, side_by_side
from spec.certification.pages.matrix_text import markdown
from spec.certification.target import recorded
from spec.kinds import KINDS
from spec.layer.plug.shipped import shipped
from tests.recorded import rows, text

ROOT = Path(__file__).parent.parent.parent
LEDGER = ROOT / "implementations" / "ledger"
FILES = sorted(LEDGER.glob("*.toml"))


@pytest.fixture(scope="module")
def listed(monkeypatch_module) -> dict[str, list[Entry]]:
    monkeypatch_module.chdir(ROOT)
    return {file.stem: entries(str(file.relative_to(ROOT))) for file in FILES}


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as found:
        yield found


def test_every_script_shows_a_fault_that_somebody_has(listed):
    said = {x.script for found in listed.values() for one in found for x in one.judgements}
    there = {path.name for path in (LEDGER / FAULTS).glob("*.py")}
    assert there == said - {""}


def test_every_script_says_what_is_wrong_and_fails_by_what_it_asserts():
    for path in (LEDGER / FAULTS).glob("*.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path.name
        imported = {name for node in ast.walk(tree) for name in _imports(node)}
        assert not {"spec", "implementations", "oracles", "tests"} & imported, path.name


def _imports(node):
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [str(node.module).partition(".")[0]] if isinstance(node, ast.ImportFrom) else []


def test_names_are_given_once_and_each_target_has_a_library(listed):
    names = [one.name for found in listed.values() for one in found]
    assert len(names) == len({*names})
    assert all(one.library for found in listed.values() for one in found)


def test_every_adapter_is_judged(listed):
    asked = {one.request.target.partition(":")[0] for found in listed.values() for one in found}
    text = "".join(path.read_text() for path in (ROOT / "spec/adapters").glob("*.py"))
    for path in (ROOT / "spec/adapters").glob("*.py"):
        module = f"spec.adapters.{path.stem}"
        used = module in asked or f"from {module} import" in text
        assert used or path.stem == "__init__", path.stem


def test_there_is_an_environment_for_every_file():
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini")
    for file in FILES:
        section = settings[f"testenv:{file.stem}"]
        assert section["labels"] == "backends"
        assert "{[ledger]commands}" in section["commands"]


@pytest.mark.slow
def test_of_every_cause_that_is_recorded_it_is_said_what_it_is(listed):
    for found in listed.values():
        for one in found:
            if one.recorded is not None:
                assert not [*unjudged(one.recorded, one.judgements)], one.name


def test_conditions_and_conventions_are_those_that_there_are():
    for file in FILES:
        targets = tomllib.loads(file.read_text(encoding="utf-8"))["targets"].values()
        for target in targets:
            kinds = [kind for kind in KINDS.values() if understood(kind, target)]
            assert kinds, f"{file.name}: {target['target']}"


def understood(kind, target):
    """Whether the words of an entry are those of a kind."""
    choices = kind.truth().choices
    try:
        kind.features.sentence(target.get("where", "float32"))
    except ValueError:
        return False
    said = target.get("conventions", {}).items()
    return all(value in choices.get(name, ()) for name, value in said)


def test_nothing_is_kept_of_a_target_that_is_not_listed(listed):
    kept = {path.relative_to(LEDGER) for path in LEDGER.glob("*/*.json")}
    assert kept <= {
        Path(stem) / f"{one.name}.json" for stem, found in listed.items() for one in found
    }


@pytest.mark.slow
def test_the_targets_that_the_package_lists_are_those_of_what_is_recorded(listed):
    found = rows(one for file in listed.values() for one in file)
    assert text(found) == recorded.FILE.read_text("utf-8"), "python -m tests.recorded"
    assert {x["description"] for x in found} - {""} == {*shipped()}


def test_the_matrix_is_that_of_what_is_recorded(listed, monkeypatch):
    monkeypatch.setattr(ledgers, "entries", lambda path: listed[Path(path).stem])  # read once
    found = side_by_side([str(file.relative_to(ROOT)) for file in FILES])
    written = (LEDGER / "matrix.md").read_text()
    command = "python -m spec compare implementations/ledger/*.toml --markdown"
    assert markdown(found, CLAUSES) == written, f"{command} implementations/ledger/matrix.md"
