"""Targets are judged as users have them judged; one in a runner is forgotten after each test."""

from collections.abc import Iterator

import pytest

from spec.backends import elsewhere


@pytest.fixture(autouse=True)
def nobody_elsewhere(request: pytest.FixtureRequest) -> Iterator[None]:
    request.getfixturevalue("as_users_do")
    yield
    elsewhere.leave()
