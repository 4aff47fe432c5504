"""What others rely on in a repository says what is so: how to cite it, and what its checks run."""

import re
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GITHUB = ROOT / ".github"
WORKFLOWS = {path.stem: path for path in (GITHUB / "workflows").glob("*.yml")}
FORMS = sorted(x for x in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if x.stem != "config")
PUBLISHING = {"pages": "write", "id-token": "write"}  # what a job needs that publishes the site
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def read(name):
    return yaml.safe_load((ROOT / name).read_text())


def test_what_is_cited_is_this_version():
    cited = read("CITATION.cff")
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]


def test_the_changelog_has_this_version_and_what_is_to_come():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "\n## Unreleased\n" in text
    assert f"\n## {PROJECT['version']}\n" in text


def environments():
    """Those of tox.ini, with their labels."""
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini")
    sections = (name.partition(":")[2] for name in settings.sections())
    labels = {x: settings[f"testenv:{x}"].get("labels", "") for x in sections if x}
    return {name: of for x, of in labels.items() for name in x.strip("{}").split(",")}


def jobs(workflow):
    return read(WORKFLOWS[workflow].relative_to(ROOT))["jobs"]


def asked(workflow):
    """The names of environments that a workflow runs."""
    for job in jobs(workflow).values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            yield from re.findall(r"tox \w+ -e ([\w-]+)", step.get("run", ""))
        more = matrix.get("include", ())
        yield from (*matrix.get("environment", ()), *matrix.get("library", ()))
        yield from (x["environment"] for x in more if "environment" in x)
        commands = " ".join(x["command"] for x in more if "command" in x)
        yield from re.findall(r"tox \w+ -e (\S+)", commands)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_every_environment_of_a_workflow_exists(workflow):
    assert {*asked(workflow)} <= environments().keys()


def test_every_library_is_judged_at_night():
    labelled = {name for name, labels in environments().items() if labels == "backends"}
    assert {*jobs("nightly")["ledger"]["strategy"]["matrix"]["library"]} == labelled


def test_the_job_that_publishes_runs_no_code_of_this_repository():
    """It may write, so it has one step, which is pinned."""
    (step,) = jobs("site")["publish"]["steps"]
    assert "run" not in step


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflow_may_only_read_and_runs_what_is_pinned(workflow):
    whole = read(WORKFLOWS[workflow].relative_to(ROOT))
    assert whole["permissions"] == {"contents": "read"}
    assert whole["concurrency"]
    for name, job in whole["jobs"].items():
        assert job["timeout-minutes"] <= 360
        allowed = PUBLISHING if (workflow, name) == ("site", "publish") else None
        assert job.get("permissions") == allowed
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert used
        assert [action for action in used if not PINNED.fullmatch(action)] == []


def test_python_is_tested_from_the_oldest_to_the_newest():
    versions = jobs("ci")["tests"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert versions == sorted({*versions}, key=lambda x: int(x.partition(".")[2]))


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_what_a_report_needs(form):
    """As GitHub reads it: known keys, each field with a label and an id of its own."""
    written = yaml.safe_load(form.read_text())
    assert written.keys() == {"name", "description", "title", "labels", "body"}
    asked = [field for field in written["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in asked} <= {"input", "textarea"}
    assert len({field["id"] for field in asked}) == len(asked)
    assert all(field["attributes"]["label"] for field in asked)
    assert sum(field.get("validations", {}).get("required", False) for field in asked) >= 3


def hooks():
    (ours,) = read(".pre-commit-config.yaml")["repos"]
    return {hook["id"]: hook for hook in ours["hooks"]}


def test_a_long_subject_is_seen():
    """As pre-commit looks for a pattern in a whole file of bytes."""
    subject = re.compile(hooks()["subject"]["entry"].encode())
    assert subject.search(b"x" * 73 + b"\n")
    assert not subject.search(b"x" * 72 + b"\n\n" + b"x" * 90)


def test_the_tests_that_hooks_run_exist():
    words = [word for hook in hooks().values() for word in hook["entry"].split()]
    named = [word.partition("::") for word in words if word.startswith("tests/")]
    assert named
    for file, _, name in named:
        assert f"def {name}(" in (ROOT / file).read_text() if name else (ROOT / file).exists()
