"""Fixtures of several files."""

import pytest

from spec.certification.isolation import away


@pytest.fixture
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand out few clauses in as many batches as otherwise all are."""
    monkeypatch.setattr(away, "LEAST", 20)
