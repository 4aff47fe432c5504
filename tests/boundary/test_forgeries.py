"""Wrong functions that try to be certified, to stop their judge, or to leave something behind.

Each is a file of `forgeries`, whose docstring says what it tries. None is certified, none lasts
longer than a run of the judge does, and nothing of it stays.
"""

from pathlib import Path

import pytest

from spec.runner.confine import confined
from tests.boundary.forged import FORGERIES, Forgery
from tests.boundary.forging import FOLDER, HELPERS, forged

pytestmark = pytest.mark.skipif(confined() == "process", reason="this kernel has no Landlock")


def cases() -> list[object]:
    """Each forgery."""
    return [pytest.param(x, id=x.name, marks=x.marks) for x in FORGERIES]


@pytest.mark.quick(
    "other_function", "odd_arrays", "writes_late", "shadows_judge", "prints_certificate", "daemons"
)  # one of most kinds
@pytest.mark.parametrize("forgery", cases())
def test_a_forgery_is_not_certified(forgery: Forgery, tmp_path: Path) -> None:
    for library in forgery.needs:
        pytest.importorskip(library)
    found = forged(forgery.name, tmp_path, *forgery.words, beside=forgery.beside)
    assert not found.passed
    assert found.code in (1, 2, 3), found.said
    assert found.left == []
    assert found.word in forgery.ends, found.said
    assert found.seconds < forgery.seconds
    assert found.memory < forgery.memory
    assert not [x for x in forgery.lies if x in found.said]


def test_each_file_is_tried() -> None:
    there = {x.stem for x in FOLDER.glob("*.py")} - {*HELPERS}
    assert there == {x.name for x in FORGERIES}
