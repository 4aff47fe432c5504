"""In the repository, `spec` and `attention_spec` are one package."""

from pathlib import Path

import pytest

from tests import shell

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("names", [("spec", "attention_spec"), ("attention_spec", "spec")])
def test_in_the_repository_two_names_of_ours_are_one_package(names):
    first, second = names
    lines = [
        f"import {first}.subject, {second}.backends, sys",
        f"assert {first} is {second}",
        f"assert {first}.subject.Refused is {second}.subject.Refused",
        f"assert sys.modules['{first}.backends'] is {second}.backends",
        f"assert {second}.backends.__spec__.name == '{first}.backends'",
    ]
    done = shell.started(program=("-P", "-c", "; ".join(lines)), cwd=ROOT)
    assert done.returncode == 0, done.stderr
