"""The README is true: its table is the specification's, and what it names exists."""

from __future__ import annotations

import re

from spec.attention.notation import CONVENTIONS
from spec.certification.settings import PROFILES
from spec.positions.alibi.notation import SIDES
from spec.positions.pairing import PAIRINGS
from tests.readme import README, ROOT, filled

TEXT = README.read_text()


def test_the_table_of_clauses_is_the_specification() -> None:
    assert filled(TEXT) == TEXT, "python -m tests.readme"


def test_every_file_it_links_to_exists() -> None:
    links = re.findall(r"\]\((?!http)([^)]+)\)", TEXT)
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_every_environment_it_names_exists() -> None:
    tox = (ROOT / "tox.ini").read_text()
    named = set(re.findall(r"tox run -e (\w+)", TEXT))
    assert named
    assert all(f"[testenv:{name}]" in tox for name in named)


def test_conventions_and_profiles_are_those_there_are() -> None:
    for name, choices in (*CONVENTIONS.items(), ("pairing", PAIRINGS), ("sides", SIDES)):
        assert f"| `{name}` | {', '.join(f'`{choice}`' for choice in choices)}" in TEXT
    assert all(f"`{name}`" in TEXT for name in PROFILES)
