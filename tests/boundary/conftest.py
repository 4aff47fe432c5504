"""A target in a runner is forgotten after each test: others are judged in this process."""

from collections.abc import Iterator

import pytest

from spec.backends import elsewhere


@pytest.fixture(autouse=True)
def nobody_elsewhere() -> Iterator[None]:
    yield
    elsewhere.leave()
