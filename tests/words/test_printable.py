"""Text that is shown: what is not printable is written as Python writes it."""

from dataclasses import dataclass

import numpy as np
import pytest

from spec.printable import all_printable, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ≠ and naïve", "plain, ≠ and naïve"),
        ("two\nlines\r\n", r"two\nlines\r\n"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\u202eturned, \u2028parted, \ud800", r"\u202eturned, \u2028parted, \ud800"),
        ("it's \\n", "it's \\n"),
    ],
)
def test_a_text_is_one_printable_line(text, shown):
    assert printable(text) == shown


@dataclass(frozen=True)
class Told:
    name: str
    said: dict[str, tuple[str, ...]]
    x: np.ndarray
    script: str = ""
    inside: "Told | None" = None


def test_records_are_printable_throughout_and_scripts_keep_their_lines():
    x = np.zeros(2)
    inner = Told("\n", {}, x, script="import os\nprint('\x1b')\n")
    told = all_printable(Told("\x1b", {"\n": ("\t", "x")}, x, inside=inner))
    assert (told.name, told.said, told.x is x) == (r"\x1b", {r"\n": (r"\t", "x")}, True)
    assert told.inside.name == r"\n"
    assert told.inside.script == "import os\nprint('\\x1b')\n"


def test_what_is_printable_is_itself_but_for_a_mapping_of_another_class():
    class Turned(dict):
        """A class that could return other text when it is read again."""

    plain = {"a": ("b", 1, None)}
    told = Told("plain", plain, np.zeros(1))
    assert all_printable(told) is told
    assert all_printable(plain) is plain
    assert type(all_printable(Turned(plain))) is dict
