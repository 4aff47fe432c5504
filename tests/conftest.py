"""How the tests judge a target where they do not say it: quick tests in copies of a process."""

from collections.abc import Iterator

import pytest

from spec.boundary import choosing
from tests.prepared import judge_by


@pytest.fixture(scope="session", autouse=True)
def in_copies(request: pytest.FixtureRequest) -> None:
    """Judge targets in copies of a process, which takes less time, unless `--slow` is given."""
    if not request.config.getoption("--slow"):
        judge_by(choosing.FORK)


@pytest.fixture
def as_users_do() -> Iterator[None]:
    """Targets have a process of their own where nobody says otherwise, also without `--slow`."""
    before = choosing.DEFAULT
    judge_by(choosing.PROCESS)
    yield
    judge_by(before)
