"""Every clause that binds the implementation named by `pytest --implementation TARGET`."""

from collections.abc import Callable


def test_clause(run: Callable[[], None]) -> None:
    run()
