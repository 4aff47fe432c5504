"""The schemas of files that users write: they are those of the code, and tell right from wrong."""

import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from spec import certify
from spec.backends import Unsuitable
from spec.certification import repository
from spec.certification.offered import OPTIONS
from spec.certification.settings import Request
from spec.layer.plug import described
from spec.layer.plug.shipped import shipped
from tests import schemas
from tests.certification.test_repository import MORE, TARGETS

ROOT = Path(__file__).parent.parent
DESCRIPTIONS = sorted([*shipped().values(), *(ROOT / "examples").glob("*.toml")])
MINE = '[tool.attention-spec.targets.mine]\ntarget = "x:y"\n'


def valid(name):
    return Draft202012Validator(json.loads((schemas.FOLDER / f"{name}-1.json").read_text()))


PYPROJECT, DESCRIPTION = valid("pyproject"), valid("description")


def section(text):
    return tomllib.loads(text)["tool"]["attention-spec"]


def shown(page, word):
    """The blocks of TOML on a page that have a word."""
    blocks = re.findall(r"^```toml\n(.+?)^```", (ROOT / page).read_text(), re.M | re.S)
    found = [block for block in blocks if word in block]
    assert found
    return found


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_schema_is_that_of_the_code(name):
    found = schemas.SCHEMAS[name]()
    Draft202012Validator.check_schema(found)
    written = (schemas.FOLDER / name).read_text(encoding="utf-8")
    assert written == schemas.text(found), "python -m tests.schemas"


def test_an_option_without_an_entry_is_seen(monkeypatch):
    """As it is where a field of a request, or a key of a description, is new."""
    monkeypatch.setitem(repository.KEYS, "colour", repository.FORMS["str"])
    with pytest.raises(KeyError):
        schemas.pyproject()
    monkeypatch.setattr(described, "KEYS", (*described.KEYS, "colour"))
    with pytest.raises(KeyError):
        schemas.description()


def test_every_key_is_known_in_both_spellings():
    options = PYPROJECT.schema["$defs"]["options"]["properties"]
    names = repository.KEYS.keys() - {"target"}
    assert options.keys() == names | {name.replace("_", "-") for name in names}


def test_every_option_is_a_field_of_a_request_and_a_parameter_of_certify():
    fields, own = Request.__dataclass_fields__, {"target", "specification"}
    assert fields.keys() - OPTIONS.keys() == {*own, "secret", "nonce", "replays"}
    parameters = inspect.signature(certify).parameters
    assert parameters.keys() == {*OPTIONS, *own, "executor"}
    unset = {"conventions", "deviations"}  # None for an empty table
    for name in OPTIONS.keys() - unset:
        assert parameters[name].default == fields[name].default


@pytest.mark.parametrize("text", [TARGETS, TARGETS + MORE, MINE])
def test_a_section_that_is_read_is_valid(text):
    PYPROJECT.validate(section(text))


def test_the_sections_that_pages_show_are_valid_and_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in shown("docs/ci.md", "[tool.attention-spec"):
        PYPROJECT.validate(section(text))
        (tmp_path / "pyproject.toml").write_text(text)
        assert repository.requests(None, {})


@pytest.mark.parametrize(
    "text",
    [
        "[tool.attention-spec]\nprofile = 'quick'",
        "[tool.attention-spec]\ntarget = 'x:y'",
        "[tool.attention-spec.targets]",
        "[tool.attention-spec.targets.mine]",
        "[tool.attention-spec.targets.'a/b']\ntarget = 'x:y'",
        "[tool.attention-spec.targets.mine]\ntarget = 'x'",
        *(
            MINE + line
            for line in (
                "layuot = 'bhld'",
                "layout = 'hbld'",
                "dtypes = ['float8']",
                "dtypes = 'float32'",
                "seed = true",
                "jobs = 0",
                "call-timeout = 0",
                "budget = '1'",
                "fail-fast = 1",
                "specification = 'x:y'",
                "deviations = {C14 = 1}",
            )
        ),
    ],
)
def test_a_section_that_is_refused_is_not_valid(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not PYPROJECT.is_valid(section(text))
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(Unsuitable):
        repository.requests(None, {})


@pytest.mark.parametrize("line", ["idle = 'nan'", "causal = 'bottom'"])
def test_a_convention_that_there_is_not_is_not_valid(line):
    assert not PYPROJECT.is_valid(section(f"{MINE}conventions = {{ {line} }}"))


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_description_that_is_used_is_valid(path):
    DESCRIPTION.validate(tomllib.loads(path.read_text()))


def test_the_descriptions_that_pages_show_are_valid():
    for text in shown("docs/layer.md", "[names]"):
        DESCRIPTION.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "colour = 'red'",
        "make = 1",
        "inputs = 2",
        "inputs = '1'",
        "causal = 'sometimes'",
        "rotary = 'thirds'",
        "names = {a = 'W_x'}",
        "names = {a = 1}",
        "masks = {a = 'masked (B, M)'}",
        "masks = {a = 'added (B, N)'}",
        "given = {a = 1}",
    ],
)
def test_a_description_that_is_wrong_is_not_valid(text):
    assert DESCRIPTION.is_valid({})
    assert not DESCRIPTION.is_valid(tomllib.loads(text))
