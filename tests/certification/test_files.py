"""Files that are written whole: what they hold, and who may read them."""

import os

from spec.certification.ledger.files import written


def test_a_new_file_may_be_read_as_others_may_and_an_old_one_as_before(tmp_path):
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    old.write_text("before\n")
    old.chmod(0o640)
    before = os.umask(0o022)
    try:
        for file in (new, old):
            written(file, "after\n")
    finally:
        os.umask(before)
    assert (new.stat().st_mode & 0o777, old.stat().st_mode & 0o777) == (0o644, 0o640)
    assert old.read_text() == "after\n"
    assert {file.name for file in tmp_path.iterdir()} == {"new.json", "old.json"}
