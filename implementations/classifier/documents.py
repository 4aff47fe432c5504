"""The documents: our own corpus, a folder with two files, or a dataset of the hub.

The source of the text-classifier uses the 1,225 published rows of BBC news (SetFit/bbc-news, part
`train`), in five classes, and keeps a quarter for testing: 918 and 307. Our own corpus has these
sizes, and datasets of the hub are split in this way. A folder has its own split, in train.jsonl and
test.jsonl, or .csv. The format is that of the published dataset: each row has a `text` and a
`label`. If labels are numbers, `label_text` may have their names.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from implementations.classifier.grammar import Text, corpus
from implementations.classifier.hub import Unreachable, fetched, is_named
from implementations.classifier.topics import TOPICS

ROWS, KEPT = 1225, 0.25  # rows of the published dataset; the share for testing
Row = tuple[str, str]


class Unusable(ValueError):
    """An argument that cannot be used; the message is one line."""


class Documents(NamedTuple):
    """Texts for training, texts for testing, and the names of the labels."""

    train: list[Text]
    test: list[Text]
    classes: tuple[str, ...]


def load(name: str | None, seed: int) -> Documents:
    """Return our own corpus, or the documents of `name`: a folder, or a dataset of the hub.

    Raises Unusable if it does not exist, or does not contain texts with labels.
    """
    if name is None:
        texts, tests = corpus(ROWS, seed), ceil(ROWS * KEPT)
        return Documents(texts[:-tests], texts[-tests:], tuple(TOPICS))
    if Path(name).exists():
        return labelled(in_folder(Path(name), "train"), in_folder(Path(name), "test"))
    if not is_named(name):
        raise Unusable(f"{name!r} is neither a folder nor an OWNER/NAME of the hub")
    rows = from_hub(name)
    order, tests = np.random.default_rng(seed).permutation(len(rows)), ceil(len(rows) * KEPT)
    return labelled([rows[i] for i in order[:-tests]], [rows[i] for i in order[-tests:]])


def comma_separated(lines: Iterable[str]) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a file whose first line has the names of the columns."""
    return csv.DictReader(lines)


def json_lines(lines: Iterable[str]) -> Iterable[Any]:
    """Return the rows of a file with one object per line."""
    return (json.loads(line) for line in lines if line.strip())


FORMATS: Mapping[str, Callable[[Iterable[str]], Iterable[Any]]] = {
    "jsonl": json_lines,
    "csv": comma_separated,
}


def in_folder(folder: Path, part: str) -> list[Row]:
    """Return the rows of one file of a folder. Raises Unusable."""
    if not folder.is_dir():
        raise Unusable(f"{folder} is no folder")
    for ending in FORMATS:
        file = folder / f"{part}.{ending}"
        if file.is_file():
            try:
                with file.open(encoding="utf-8-sig", newline="") as lines:
                    return rows_of(lines, ending, file)
            except (OSError, UnicodeError) as error:
                raise Unusable(f"{file} cannot be read: {first_line(error)}") from None
    raise Unusable(f"{folder} has neither {part}.jsonl nor {part}.csv")


def from_hub(name: str) -> list[Row]:
    """Return the rows of the part `train` of a dataset of the hub. Raises Unusable."""
    for ending in FORMATS:
        try:
            text = fetched(name, f"train.{ending}")
        except Unreachable as reason:
            raise Unusable(f"{name} cannot be loaded from the hub: {reason}") from None
        if text is not None:
            return rows_of(StringIO(text, newline=""), ending, f"{name}/train.{ending}")
    raise Unusable(f"the hub has no dataset {name!r} with a train.jsonl or a train.csv")


def rows_of(lines: Iterable[str], ending: str, place: object) -> list[Row]:
    """Return the rows in these lines. Raises Unusable."""
    try:
        return [checked(row, place, n) for n, row in enumerate(FORMATS[ending](lines), 1)]
    except (csv.Error, json.JSONDecodeError) as error:
        raise Unusable(f"{place} is no {ending}: {first_line(error)}") from None


def checked(row: Any, place: object, number: int) -> Row:
    """Return text and label of one row. Raises Unusable if one is missing."""
    for column in ("text", "label"):
        if not isinstance(row, Mapping) or row.get(column) in (None, ""):
            raise Unusable(f"{place}, row {number}, has no {column}")
    if not isinstance(row["text"], str) or not isinstance(row["label"], str | int):
        raise Unusable(f"{place}, row {number}: a text is a string, a label a string or a number")
    return row["text"], str(row.get("label_text") or row["label"])


def labelled(train: Sequence[Row], test: Sequence[Row]) -> Documents:
    """Return documents with numbered labels, in sorted order.

    Raises Unusable if there are too few rows or labels, or if a test label is not in the training
    part.
    """
    classes = sorted({label for _, label in train})
    if len(classes) < 2 or not test:
        raise Unusable(f"{len(train)} + {len(test)} texts with {len(classes)} labels: too few")
    new = {label for _, label in test} - set(classes)
    if new:
        raise Unusable(f"the label {min(new)!r} is tested but never taught")
    taught, tested = (
        [Text(text, classes.index(label)) for text, label in part] for part in (train, test)
    )
    return Documents(taught, tested, tuple(classes))


def first_line(error: BaseException) -> str:
    """Return the type and the message of an exception in one line."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
