"""A dataset in the published format, and what a refusal looks like."""

import json
from pathlib import Path

import pytest

FEW = ("--epochs", "1", "--steps", "2", "--no-pictures")
ROWS = [
    {"text": f"the {word} was {rest} {i}", "label": label, "label_text": name}
    for i in range(12)
    for label, name, word, rest in ((0, "sport", "match", "won"), (1, "tech", "screen", "bright"))
]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS)


def in_folder(folder: Path) -> Path:
    """train.jsonl and test.jsonl."""
    folder.mkdir()
    (folder / "train.jsonl").write_text(TEXT, encoding="utf-8")
    (folder / "test.jsonl").write_text(TEXT[: TEXT.index("\n") + 1] * 6, encoding="utf-8")
    return folder


def refused(capsys: pytest.CaptureFixture[str], message: str) -> None:
    """Nothing was printed but one line."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
